/**
 * Converts a record of the plain parser to a key and its list to a frame map, to compare the
 * answers of both.
 */
import {
  MAP_ENTRY_SIZE,
  MAP_FIRST,
  MAP_INNER_PAYLOAD,
  MAP_INNER_PAYLOAD_END,
  MAP_PAYLOAD,
  MAP_PAYLOAD_END,
  MAP_STOP_HAD,
  MAP_STOP_HEADER,
  MAP_STOP_OFFSET,
  MAP_STOP_WANTED,
  MAP_STOP_WHY,
} from "../../src/abi/headers.js";
import * as key from "../../src/abi/key.js";
import type { PlainParser } from "./parser.js";
import * as at from "./record.js";

/** The key that the core would have filled: the groups in `wanted`. */
export function asKey(parser: PlainParser, i: number, wanted: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(key.KEY_SIZE));
  const word = (n: number): number => parser.fields[i * at.RECORD_WORDS + n]!;
  view.setInt32(key.EXT_PRESENT_TUNNEL, word(at.TUNNELS));
  view.setUint16(key.EXT_PORT, word(at.PORT));
  view.setUint8(key.EXT_DIRECTION, word(at.PORT) >>> 16);
  writeLayer(view, key.OUTER, (n) => word(at.OUTER_WORDS + n));
  view.setInt32(key.EXT_PRESENT_OUTER, word(at.OUTER_WORDS + at.HERE));
  view.setUint8(key.EXT_OUTER_IPV4_FLAGS, word(at.OUTER_WORDS + at.IPV4_FLAGS));
  if (wanted & (1 << key.GROUP_MISC)) {
    // source_vhca_port is the port; no queue pair has sent the frame.
    view.setUint8(key.MISC_BITS, word(at.PORT) & 0xf);
    view.setUint16(key.MISC_SOURCE_PORT, word(at.VPORT));
  }
  if ((wanted & key.NEEDS_INNER) === 0) return ofGroups(new Uint8Array(view.buffer), wanted);

  const inner = (n: number): number => word(at.INNER_WORDS + n);
  writeLayer(view, key.INNER, inner);
  view.setInt32(key.EXT_PRESENT_INNER, inner(at.HERE));
  view.setUint8(key.EXT_INNER_IPV4_FLAGS, inner(at.IPV4_FLAGS));
  view.setUint16(key.MISC_OUTER_TCI2, word(at.TCI2));
  view.setUint16(key.MISC_INNER_TCI2, inner(at.TCI2));
  view.setUint8(key.MISC_TAGS2, word(at.TAGS2));
  view.setInt32(key.MISC_VXLAN_VNI, word(at.VNI) << 8);
  view.setInt32(key.MISC_OUTER_FLOW_LABEL, word(at.FLOW_LABEL));
  view.setInt32(key.MISC_INNER_FLOW_LABEL, inner(at.FLOW_LABEL));
  view.setInt32(key.MISC3_OUTER_SEQ, word(at.SEQ));
  view.setInt32(key.MISC3_INNER_SEQ, inner(at.SEQ));
  view.setInt32(key.MISC3_OUTER_ACK, word(at.ACK));
  view.setInt32(key.MISC3_INNER_ACK, inner(at.ACK));
  view.setUint16(key.MISC3_ICMP_TYPE, word(at.ICMP_TYPE));
  view.setInt32(key.MISC3_ICMP_DATA, word(at.ICMP_DATA));
  view.setUint16(key.MISC3_ICMPV6_TYPE, word(at.ICMPV6_TYPE));
  view.setInt32(key.MISC3_ICMPV6_DATA, word(at.ICMPV6_DATA));
  view.setInt32(key.MISC_GENEVE_VNI, word(at.GENEVE_VNI) << 8);
  view.setUint8(key.MISC_GENEVE_BITS, word(at.GENEVE_BITS));
  view.setUint8(key.MISC_GENEVE_OPT_LEN, word(at.GENEVE_OPT_LEN));
  view.setUint16(key.MISC_GENEVE_PROTOCOL, word(at.GENEVE_PROTOCOL));
  view.setInt32(key.MISC3_GENEVE_OPTION_0_DATA, word(at.GENEVE_OPTION_0));
  for (let n = 0; n < 4; n++) view.setInt32(key.MISC5_TUNNEL_HEADER + 4 * n, word(at.TUNNEL_HEADER + n));
  return ofGroups(new Uint8Array(view.buffer), wanted);
}

/** The groups of a key in `wanted`; the others, which an earlier parse may have filled, are 0. */
export function ofGroups(whole: Uint8Array, wanted: number): Uint8Array {
  const some = whole.slice();
  for (let group = 0; group < key.KEY_SIZE / key.GROUP_SIZE; group++) {
    if ((wanted & (1 << group)) === 0) some.fill(0, group * key.GROUP_SIZE, (group + 1) * key.GROUP_SIZE);
  }
  return some;
}

function writeLayer(view: DataView, base: number, word: (n: number) => number): void {
  view.setUint16(base + key.LAYER_SMAC, word(at.SMAC_HIGH));
  view.setInt32(base + key.LAYER_SMAC + 2, word(at.SMAC_LOW));
  view.setUint16(base + key.LAYER_DMAC, word(at.DMAC_HIGH));
  view.setInt32(base + key.LAYER_DMAC + 2, word(at.DMAC_LOW));
  view.setUint16(base + key.LAYER_ETHERTYPE, word(at.ETHERTYPE));
  view.setUint16(base + key.LAYER_TCI, word(at.TCI));
  view.setUint8(base + key.LAYER_PROTOCOL, word(at.PROTOCOL));
  view.setUint8(base + key.LAYER_TOS, word(at.TOS));
  view.setUint8(base + key.LAYER_STATE, word(at.STATE));
  view.setUint8(base + key.LAYER_TCP_FLAGS, word(at.TCP_FLAGS));
  view.setInt32(base + key.LAYER_TCP_PORTS, word(at.TCP_PORTS));
  view.setUint8(base + key.LAYER_OK, word(at.OK));
  view.setUint8(base + key.LAYER_TTL, word(at.TTL));
  view.setInt32(base + key.LAYER_UDP_PORTS, word(at.UDP_PORTS));
  for (let n = 0; n < 4; n++) {
    view.setInt32(base + key.LAYER_SRC + 4 * n, word(at.SRC + n));
    view.setInt32(base + key.LAYER_DST + 4 * n, word(at.DST + n));
  }
}

/** The numbers of a frame map of the core, in the order of the plain parser's list. */
export function mapAsList(map: DataView): number[] {
  const count = map.getUint16(0, true);
  const stop = [MAP_STOP_HEADER, MAP_STOP_WHY].map((offset) => map.getUint8(offset));
  const words = [
    MAP_STOP_OFFSET,
    MAP_STOP_WANTED,
    MAP_STOP_HAD,
    MAP_PAYLOAD,
    MAP_PAYLOAD_END,
    MAP_INNER_PAYLOAD,
    MAP_INNER_PAYLOAD_END,
  ].map((offset) => map.getUint32(offset, true));
  const entries = Array.from({ length: count }, (_, n) => [
    map.getUint16(MAP_FIRST + n * MAP_ENTRY_SIZE, true),
    map.getUint32(MAP_FIRST + n * MAP_ENTRY_SIZE + 4, true),
  ]);
  return [count, ...stop, ...words, ...entries.flat()];
}

/** The list of record `i`, as far as it is used. */
export function listOf(parser: PlainParser, i: number): number[] {
  const list = i * at.LIST_WORDS;
  const count = parser.lists[list]!;
  return Array.from(parser.lists.subarray(list, list + at.LIST_FIRST + 2 * count));
}
