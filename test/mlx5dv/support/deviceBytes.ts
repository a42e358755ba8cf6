/**
 * Device bytes built from test/vectors/match-params.json only: bit offset, width and value, without
 * names or positions of the model.
 */
import table from "../../vectors/match-params.json" with { type: "json" };

/**
 * A field of the table: `group.name`, its position, and the bit of its group in
 * match_criteria_enable.
 */
export interface Row {
  readonly name: string;
  readonly bit: number;
  readonly width: number;
  readonly criteria: number;
}

const GROUPS = ["outer", "misc", "inner", "misc2", "misc3", "misc4", "misc5"];

type TableRow = [group: string, name: string, bit: number, width: number, reserved: boolean];

export const ROWS: readonly Row[] = (table.fields as TableRow[])
  .filter(([, , , , reserved]) => !reserved)
  .map(([group, name, bit, width]) => ({
    name: `${group}.${name}`,
    bit,
    width,
    criteria: 1 << GROUPS.indexOf(group),
  }));

export function row(name: string): Row {
  const found = ROWS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`the table has no field ${name}`);
  return found;
}

/** Every bit of a field. */
export function ones({ width }: Row): bigint {
  return (1n << BigInt(width)) - 1n;
}

/** `length` bytes with these fields in them. */
export function deviceBytes(fields: Readonly<Record<string, bigint | number>>, length = 448): Uint8Array {
  const bytes = new Uint8Array(length);
  for (const [name, value] of Object.entries(fields)) {
    const { bit, width } = row(name);
    for (let n = 0; n < width; n++) {
      if (((BigInt(value) >> BigInt(width - 1 - n)) & 1n) === 0n) continue;
      const at = (bit + n) >> 3;
      bytes[at] = (bytes[at] ?? 0) | (0x80 >> ((bit + n) & 7));
    }
  }
  return bytes;
}

/** match_criteria_enable for these fields. */
export function criteriaOf(fields: Readonly<Record<string, unknown>>): number {
  return Object.keys(fields).reduce((bits, name) => bits | row(name).criteria, 0);
}

const QUARTERS: Readonly<Record<string, bigint>> = { "127_96": 96n, "95_64": 64n, "63_32": 32n, "31_0": 0n };

/**
 * The value of a field of the table in a frame, from the fields of the reference (complete
 * addresses, a complete GRE key); undefined if the frame does not have it.
 */
export function valueIn({ name, width }: Row, found: ReadonlyMap<string, bigint>): bigint | undefined {
  const part = (whole: string, below: bigint): bigint | undefined => {
    const value = found.get(whole);
    return value === undefined ? undefined : (value >> below) & ((1n << BigInt(width)) - 1n);
  };
  const mac = /^(.*mac)_(47_16|15_0)$/.exec(name);
  if (mac !== null) return part(mac[1] ?? "", mac[2] === "15_0" ? 0n : 16n);
  const address = /^(.*)\.(src|dst)_ip_(.*)$/.exec(name);
  if (address !== null) {
    const below = QUARTERS[address[3] ?? ""] ?? 0n;
    const ipv4 = below === 0n ? part(`${address[1]}.ipv4_${address[2]}`, 0n) : undefined;
    return ipv4 ?? part(`${address[1]}.ipv6_${address[2]}`, below);
  }
  const key = /^misc\.gre_key_(h|l)$/.exec(name);
  if (key !== null) return part("misc.gre_key", key[1] === "h" ? 8n : 0n);
  return part(name, 0n);
}
