/** Ports that have names instead of numbers. */
export const RESERVED: Readonly<Record<string, string>> = {
  NORMAL: "learning of MAC addresses: the device has rules only",
  FLOOD: "the flows do not say which ports the bridge floods",
  ALL: "the flows do not say which ports the bridge has",
  CONTROLLER: "the device has no OpenFlow controller",
  TABLE: "it is for frames that a controller sends",
};

const NUMBERS: Readonly<Record<string, string>> = {
  65528: "IN_PORT",
  65529: "TABLE",
  65530: "NORMAL",
  65531: "FLOOD",
  65532: "ALL",
  65533: "CONTROLLER",
  65534: "LOCAL",
  65535: "NONE",
  4294967288: "IN_PORT",
  4294967290: "NORMAL",
  4294967291: "FLOOD",
  4294967292: "ALL",
  4294967293: "CONTROLLER",
  4294967294: "LOCAL",
  4294967295: "ANY",
};

const NAMES = ["IN_PORT", "LOCAL", "NONE", "ANY", ...Object.keys(RESERVED)];

/** The name of a reserved port in capitals; other ports as they are. */
export function portWord(text: string): string {
  const plain = text.replace(/^(["'])(.*)\1$/, "$2");
  const number = /^0x[\da-f]+$/i.test(plain) ? String(Number(plain)) : plain;
  const capitals = number.toUpperCase();
  return NUMBERS[number] ?? (NAMES.includes(capitals) ? capitals : number);
}
