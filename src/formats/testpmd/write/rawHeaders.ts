/** Bytes of an encapsulation as the items of `set raw_encap`. */
import { ETHERTYPES, PROTOCOLS, UDP_PORTS, headerBy } from "../../../headers/announcers.js";
import { formatIpv4, formatIpv6, formatMac } from "../../../packet/addresses.js";
import { readBits } from "../../../packet/bytes.js";
import { NotExported } from "../../writing/terms.js";
import { ITEMS } from "../fields/items.js";
import type { ItemField, ItemKind, ValueKind } from "../fields/kind.js";

interface Header {
  /** Bits that testpmd or the device fill in, and what else must be as it is here. */
  readonly fixed?: readonly (readonly [at: number, bits: number, value: bigint])[];
  readonly next: (bytes: Uint8Array) => string | undefined;
}

const at16 = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
/** Items of an encapsulation have the names of headers, but one. */
const overUdp = (port: number): string | undefined => {
  const header = headerBy(UDP_PORTS, port);
  return header === "gtpu" ? "gtp" : header;
};
const last = (): undefined => undefined;

const HEADERS: Readonly<Record<string, Header>> = {
  eth: { next: (bytes) => headerBy(ETHERTYPES, at16(bytes, 12)) },
  vlan: { next: (bytes) => headerBy(ETHERTYPES, at16(bytes, 2)) },
  ipv4: { fixed: [[0, 8, 0x45n]], next: (bytes) => headerBy(PROTOCOLS, bytes[9] ?? 0) },
  ipv6: { next: (bytes) => headerBy(PROTOCOLS, bytes[6] ?? 0) },
  udp: { fixed: [[48, 16, 0n]], next: (bytes) => overUdp(at16(bytes, 2)) },
  vxlan: { fixed: [[0, 32, 0x08000000n]], next: last },
  gre: { next: (bytes) => (at16(bytes, 0) === 0x2000 ? "gre_key" : undefined) },
  gre_key: { next: last },
  geneve: {
    fixed: [
      [0, 16, 0n],
      [56, 8, 0n],
    ],
    next: last,
  },
  gtp: { fixed: [[16, 16, 0n]], next: last },
};

/** @throws NotExported bytes that no items make */
export function itemsOf(bytes: Uint8Array): string {
  const items: string[] = [];
  let rest = bytes;
  let name: string | undefined = "eth";
  while (rest.length > 0) {
    const header: Header | undefined = name === undefined ? undefined : HEADERS[name];
    const { fields, length = 0 }: Partial<ItemKind> = ITEMS[name ?? ""] ?? {};
    if (name === undefined || header === undefined || fields === undefined || rest.length < length) {
      throw new NotExported("testpmd has no items for all headers of the encapsulation");
    }
    items.push(itemOf(name, header, fields, rest));
    name = header.next(rest);
    rest = rest.subarray(length);
  }
  return items.join(" / ");
}

function itemOf(name: string, { fixed = [] }: Header, fields: ItemKind["fields"], bytes: Uint8Array): string {
  for (const [at, bits, value] of fixed) {
    if (readBits(bytes, at, bits) !== value) throw new NotExported(`testpmd does not make this ${name} header`);
  }
  const covered = fixed.map(([at, bits]) => [at, at + bits] as const);
  const parts = [name];
  for (const [key, { at = -1, bits, kind = "number" }] of Object.entries(fields).sort(byPlace)) {
    if (at < 0 || covered.some(([from, to]) => from <= at && at < to)) continue;
    covered.push([at, at + bits]);
    const value = readBits(bytes, at, bits);
    const text = ADDRESSES[kind]?.(value) ?? (value === 0n ? undefined : String(value));
    if (text !== undefined) parts.push(`${key} is ${text}`);
  }
  return parts.join(" ");
}

const ADDRESSES: Readonly<Partial<Record<ValueKind, (value: bigint) => string>>> = {
  mac: formatMac,
  ipv4: formatIpv4,
  ipv6: formatIpv6,
};

const byPlace = ([, { at: a = 0 }]: [string, ItemField], [, { at: b = 0 }]: [string, ItemField]): number => a - b;
