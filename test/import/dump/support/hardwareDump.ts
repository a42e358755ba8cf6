/** Small dumps of hardware steering, as DPDK's driver and the public steering dump tool write them. */

export interface Entry {
  /** Words of actions; there are three. */
  readonly words: readonly string[];
  /** The address after it. */
  readonly to: number;
  readonly counter?: number;
  /** The value of the word that the definer has. */
  readonly tag?: string;
}

export interface Dump {
  /** Of the table: 0 NIC RX, 2 FDB. */
  readonly type?: number;
  /** The word of the header layout that entries hold beside the kind of packet, and its mask. */
  readonly word?: number;
  readonly mask?: string;
  /** Whether entries ask for IPv4. */
  readonly layer3?: boolean;
  readonly entries: readonly Entry[];
  /** Those of the transmit side. */
  readonly transmit?: readonly Entry[];
  /** Entries that only act. */
  readonly behind?: readonly (Entry & { readonly at: number })[];
  /** Whether frames that match nothing go to the second table. */
  readonly miss?: boolean;
  readonly more?: readonly string[];
}

const IPV4 = "00100000";
const DEFINER = 0x29;
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");

/** An entry's 64 bytes: control, three words of actions, words 5 to 0, bytes. */
export function entryHex({ words, to, counter = 0, tag = "0a010203" }: Entry, layer3 = true): string {
  const low = ((to % 2 ** 26) * 2 + 1) * 32;
  const control = `04${hex(counter, 6)}0000${hex(DEFINER, 2)}2800001dc0000001${hex(Math.floor(to / 2 ** 26), 2)}${hex(low, 8)}`;
  const head = `${control.slice(0, 24)}0007${control.slice(28)}`;
  const actions = [...words, "00000000", "00000000", "00000000"].slice(0, 3).join("");
  return `${head}${actions}${"0".repeat(32)}${tag}${layer3 ? IPV4 : "00000000"}${"0".repeat(16)}`;
}

/** A dump with two tables and one matcher, whose definer has the kind of packet and one more word. */
export function hardwareDump({
  type = 0,
  word = 64,
  mask = "ffffffff",
  layer3 = true,
  entries,
  transmit = [],
  behind = [],
  miss = false,
  more = [],
}: Dump): string {
  const list = (owner: number, first: number, of: readonly Entry[]): string[] => [
    `4920,${owner}`,
    ...of.map((one, n) => `4930,0x${hex(first + n, 8)},${owner},0x${entryHex(one, layer3)}`),
  ];
  return [
    "4000,0x4455660,1,mlx5_1,1.0",
    "4001,0x4455660,35,1,64,None,7,65535",
    "4002,0x4455660,28.39.2048,1,1,25,24,1167,3,3,0,17,0,4,136,137,135,134,255,1,255,1,0",
    `4100,0x9a001000,0x4455660,17,${type},${type},1,0,0x40000100,0x0,0x0,0x0,${miss ? "0x9a002000" : "0x0"}`,
    "4200,0x9b000000,0x9a001000,1,144,0x0,1,300,2,301,0,-1,0,-1,0,0x0,0x0",
    "4201,0x9b000000,3,0,4,1,0,0,0,0",
    "4202,0x9c000000,0x9b000000,2,0",
    `4203,0x9d000000,0x9c000000,${DEFINER},0,0x2-0x${word.toString(16)}-0x0-0x0-0x0-0x0-0x0-0x0-0x0,0x0-0x0-0x0-0x0-0x0-0x0-0x0-0x0,${"0".repeat(56)}${mask}${layer3 ? "00300000" : "00000000"}${"0".repeat(16)}`,
    "4204,0x9e000000,0x9b000000,1,0,1,TIR",
    `4100,0x9a002000,0x4455660,18,${type},${type},2,0,0x40000200,0x0,0x0,0x0`,
    "4900",
    "4910,0x50000001,TIR,0x171",
    ...more,
    ...list(300, 0x10000000, entries),
    ...list(301, 0x20000000, transmit),
    "4920,400",
    ...behind.map((one) => `4930,0x${hex(one.at, 8)},400,0x${entryHex(one, layer3)}`),
    "4901",
    "",
  ].join("\n");
}
