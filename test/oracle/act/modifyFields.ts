// The fields that a modify-header action can name: ids and widths from the device's table, and
// positions in the header (RFC 791, RFC 8200, RFC 9293, RFC 768, IEEE 802.3, IEEE 802.1Q, 3GPP TS
// 29.281).

import { type Level } from "../wire/packet.js";

/**
 * Bits of a big-endian number of `size` bytes, `byte` bytes into a header: `width` bits, starting
 * at bit `shift`.
 */
export interface Bits {
  byte: number;
  size: number;
  shift: number;
}

export interface ModifyField {
  id: number;
  width: number;
  /** A metadata register: "C0" .. "C7", "A", "B". */
  register?: string;
  level: Level;
  /** By header kind, as the parser lists it; a field of IP has a position in both versions. */
  places: ReadonlyMap<string, Bits>;
}

type Places = Record<string, readonly [byte: number, size: number, shift?: number]>;
type Row = readonly [id: number, name: string, width: number, places: Places];

/**
 * Kind "ethertype" is no header: it means the two type bytes that follow the MACs or the last tag.
 */
const OUTER: readonly Row[] = [
  [0x01, "OUT_SMAC_47_16", 32, { ethernet: [6, 4] }],
  [0x02, "OUT_SMAC_15_0", 16, { ethernet: [10, 2] }],
  [0x03, "OUT_ETHERTYPE", 16, { ethertype: [0, 2] }],
  [0x04, "OUT_DMAC_47_16", 32, { ethernet: [0, 4] }],
  [0x05, "OUT_DMAC_15_0", 16, { ethernet: [4, 2] }],
  [0x06, "OUT_IP_DSCP", 6, { ipv4: [1, 1, 2], ipv6: [0, 2, 6] }],
  [0x07, "OUT_TCP_FLAGS", 9, { tcp: [12, 2] }],
  [0x08, "OUT_TCP_SPORT", 16, { tcp: [0, 2] }],
  [0x09, "OUT_TCP_DPORT", 16, { tcp: [2, 2] }],
  [0x0a, "OUT_IP_TTL", 8, { ipv4: [8, 1] }],
  [0x0b, "OUT_UDP_SPORT", 16, { udp: [0, 2] }],
  [0x0c, "OUT_UDP_DPORT", 16, { udp: [2, 2] }],
  [0x0d, "OUT_SIPV6_127_96", 32, { ipv6: [8, 4] }],
  [0x0e, "OUT_SIPV6_95_64", 32, { ipv6: [12, 4] }],
  [0x0f, "OUT_SIPV6_63_32", 32, { ipv6: [16, 4] }],
  [0x10, "OUT_SIPV6_31_0", 32, { ipv6: [20, 4] }],
  [0x11, "OUT_DIPV6_127_96", 32, { ipv6: [24, 4] }],
  [0x12, "OUT_DIPV6_95_64", 32, { ipv6: [28, 4] }],
  [0x13, "OUT_DIPV6_63_32", 32, { ipv6: [32, 4] }],
  [0x14, "OUT_DIPV6_31_0", 32, { ipv6: [36, 4] }],
  [0x15, "OUT_SIPV4", 32, { ipv4: [12, 4] }],
  [0x16, "OUT_DIPV4", 32, { ipv4: [16, 4] }],
];

const SINGLE: readonly Row[] = [
  [0x17, "OUT_FIRST_VID", 16, { vlan: [0, 2] }],
  [0x47, "OUT_IPV6_HOPLIMIT", 8, { ipv6: [7, 1] }],
  [0x48, "IN_IPV6_HOPLIMIT", 8, { ipv6: [7, 1] }],
  [0x59, "OUT_TCP_SEQ_NUM", 32, { tcp: [4, 4] }],
  [0x5a, "IN_TCP_SEQ_NUM", 32, { tcp: [4, 4] }],
  [0x5b, "OUT_TCP_ACK_NUM", 32, { tcp: [8, 4] }],
  [0x5c, "IN_TCP_ACK_NUM", 32, { tcp: [8, 4] }],
  [0x6e, "GTPU_TEID", 32, { gtpu: [4, 4] }],
  [0x73, "OUT_IP_ECN", 2, { ipv4: [1, 1], ipv6: [0, 2, 4] }],
];

/** The same fields of the inner packet; their ids are larger by 0x30. */
const INNER = OUTER.map(([id, name, width, places]): Row => [id + 0x30, name.replace("OUT_", "IN_"), width, places]);

const REGISTERS: readonly (readonly [number, string, string])[] = [
  [0x49, "METADATA_REG_A", "A"],
  [0x50, "METADATA_REG_B", "B"],
  ...Array.from({ length: 8 }, (_, n) => [0x51 + n, `METADATA_REG_C_${n}`, `C${n}`] as const),
];

const placesOf = (places: Places): ModifyField["places"] =>
  new Map(Object.entries(places).map(([kind, [byte, size, shift = 0]]) => [kind, { byte, size, shift }]));

export const MODIFY_FIELDS: ReadonlyMap<string, ModifyField> = new Map<string, ModifyField>([
  ...[...OUTER, ...INNER, ...SINGLE].map(([id, name, width, places]): [string, ModifyField] => [
    name,
    { id, width, level: name.startsWith("IN_") ? "inner" : "outer", places: placesOf(places) },
  ]),
  ...REGISTERS.map(([id, name, register]): [string, ModifyField] => [
    name,
    { id, width: 32, register, level: "outer", places: new Map() },
  ]),
]);

export function modifyField(name: string): ModifyField {
  const field = MODIFY_FIELDS.get(name);
  if (!field) throw new Error(`no field ${name}`);
  return field;
}

/** One action of a list. `length` 0, or omitted, means 32 bits. */
export type Modify =
  | { type: "set"; field: string; data: number; offset?: number; length?: number }
  | { type: "add"; field: string; data: number }
  | { type: "copy"; field: string; src_offset?: number; length?: number; to: string; dst_offset?: number };

/**
 * Device format: | type 4 | field 12 | 0 3 | offset 5 | 0 3 | length 5 | data 32 |; the low half of
 * COPY is
 * | 0 4 | field 12 | 0 3 | offset 5 | 0 8 |.
 */
export function modifyWord(action: Modify): bigint {
  const head = (type: number, field: string, offset = 0, length = 0): bigint =>
    BigInt((type << 28) | (modifyField(field).id << 16) | (offset << 8) | (length & 31)) << 32n;
  switch (action.type) {
    case "set":
      return head(1, action.field, action.offset, action.length) | BigInt(action.data >>> 0);
    case "add":
      return head(2, action.field) | BigInt(action.data >>> 0);
    case "copy": {
      const to = (modifyField(action.to).id << 16) | ((action.dst_offset ?? 0) << 8);
      return head(3, action.field, action.src_offset, action.length) | BigInt(to);
    }
  }
}
