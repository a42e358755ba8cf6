/** Bytes of an encapsulation as the items of `set raw_encap`. */
import { ETHERTYPES, PROTOCOLS, UDP_PORTS, headerBy } from "../../../headers/announcers.js";
import { formatIpv4, formatIpv6, formatMac } from "../../../packet/addresses.js";
import { readBits } from "../../../packet/bytes.js";
import { NotExported } from "../../writing/terms.js";

type Kind = "number" | "mac" | "ipv4" | "ipv6";
interface Field {
  readonly name: string;
  readonly at: number;
  readonly bits: number;
  readonly kind?: Kind;
}

interface Header {
  readonly length: number;
  readonly fields: readonly Field[];
  /** Bits that testpmd or the device fill in, and what else must be as it is here. */
  readonly fixed?: readonly (readonly [at: number, bits: number, value: bigint])[];
  readonly next: (bytes: Uint8Array) => string | undefined;
}

const field = (name: string, at: number, bits: number, kind: Kind = "number"): Field => ({ name, at, bits, kind });
const at16 = (bytes: Uint8Array, at: number): number => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
/** Items of an encapsulation have the names of headers, but one. */
const overUdp = (port: number): string | undefined => {
  const header = headerBy(UDP_PORTS, port);
  return header === "gtpu" ? "gtp" : header;
};

const HEADERS: Readonly<Record<string, Header>> = {
  eth: {
    length: 14,
    fields: [field("dst", 0, 48, "mac"), field("src", 48, 48, "mac"), field("type", 96, 16)],
    next: (bytes) => headerBy(ETHERTYPES, at16(bytes, 12)),
  },
  vlan: {
    length: 4,
    fields: [field("tci", 0, 16), field("inner_type", 16, 16)],
    next: (bytes) => headerBy(ETHERTYPES, at16(bytes, 2)),
  },
  ipv4: {
    length: 20,
    fields: [
      ...[field("tos", 8, 8), field("packet_id", 32, 16), field("fragment_offset", 48, 16), field("ttl", 64, 8)],
      ...[field("proto", 72, 8), field("src", 96, 32, "ipv4"), field("dst", 128, 32, "ipv4")],
    ],
    fixed: [[0, 8, 0x45n]],
    next: (bytes) => headerBy(PROTOCOLS, bytes[9] ?? 0),
  },
  ipv6: {
    length: 40,
    fields: [
      ...[field("tc", 4, 8), field("flow", 12, 20), field("proto", 48, 8), field("hop", 56, 8)],
      ...[field("src", 64, 128, "ipv6"), field("dst", 192, 128, "ipv6")],
    ],
    next: (bytes) => headerBy(PROTOCOLS, bytes[6] ?? 0),
  },
  udp: {
    length: 8,
    fields: [field("src", 0, 16), field("dst", 16, 16)],
    fixed: [[48, 16, 0n]],
    next: (bytes) => overUdp(at16(bytes, 2)),
  },
  vxlan: {
    length: 8,
    fields: [field("vni", 32, 24), field("last_rsvd", 56, 8)],
    fixed: [[0, 32, 0x08000000n]],
    next: () => undefined,
  },
  gre: {
    length: 4,
    fields: [field("c_rsvd0_ver", 0, 16), field("protocol", 16, 16)],
    next: (bytes) => (at16(bytes, 0) === 0x2000 ? "gre_key" : undefined),
  },
  gre_key: { length: 4, fields: [field("value", 0, 32)], next: () => undefined },
  geneve: {
    length: 8,
    fields: [field("vni", 32, 24), field("protocol", 16, 16)],
    fixed: [
      [0, 16, 0n],
      [56, 8, 0n],
    ],
    next: () => undefined,
  },
  gtp: {
    length: 8,
    fields: [field("v_pt_rsv_flags", 0, 8), field("msg_type", 8, 8), field("teid", 32, 32)],
    fixed: [[16, 16, 0n]],
    next: () => undefined,
  },
};

/** @throws NotExported bytes that no items make */
export function itemsOf(bytes: Uint8Array): string {
  const items: string[] = [];
  let rest = bytes;
  let name: string | undefined = "eth";
  while (rest.length > 0) {
    const header: Header | undefined = name === undefined ? undefined : HEADERS[name];
    if (name === undefined || header === undefined || rest.length < header.length) {
      throw new NotExported("testpmd has no items for all headers of the encapsulation");
    }
    items.push(itemOf(name, header, rest));
    name = header.next(rest);
    rest = rest.subarray(header.length);
  }
  return items.join(" / ");
}

function itemOf(name: string, header: Header, bytes: Uint8Array): string {
  for (const [at, bits, value] of header.fixed ?? []) {
    if (readBits(bytes, at, bits) !== value) throw new NotExported(`testpmd does not make this ${name} header`);
  }
  const parts = header.fields.flatMap(({ name: key, at, bits, kind }) => {
    const value = readBits(bytes, at, bits);
    return value === 0n && kind === "number" ? [] : [`${key} is ${valueText(value, kind)}`];
  });
  return [name, ...parts].join(" ");
}

function valueText(value: bigint, kind: Kind = "number"): string {
  if (kind === "mac") return formatMac(value);
  if (kind === "ipv4") return formatIpv4(value);
  return kind === "ipv6" ? formatIpv6(value) : String(value);
}
