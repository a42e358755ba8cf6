/**
 * The bits of a key by what they are about: the way of the frame, the outer packet, the packet inside. Most bits of the outer
 * packet have a bit of the inner packet with the same meaning (src/abi/key.ts).
 */
import {
  EXT_DIRECTION,
  EXT_INNER_ESP_SEQ,
  EXT_INNER_IPV4_FLAGS,
  EXT_INNER_MPLS_OVER_GRE,
  EXT_INNER_MPLS_OVER_UDP,
  EXT_INNER_SCTP_PORTS,
  EXT_OUTER_ESP_SEQ,
  EXT_OUTER_IPV4_FLAGS,
  EXT_OUTER_SCTP_PORTS,
  EXT_PORT,
  EXT_PRESENT_INNER,
  EXT_PRESENT_OUTER,
  EXT_PRESENT_TUNNEL,
  EXT_REGISTER_B,
  GROUP_SIZE,
  INNER,
  KEY_SIZE,
  LAYER_DMAC,
  LAYER_ETHERTYPE,
  LAYER_SMAC,
  LAYER_STATE,
  LAYER_TCI,
  MISC2_INNER_MPLS,
  MISC2_MPLS_OVER_GRE,
  MISC2_MPLS_OVER_UDP,
  MISC2_OUTER_MPLS,
  MISC2_REGISTER_A,
  MISC2_REGISTER_C_7,
  MISC3_INNER_ACK,
  MISC3_INNER_SEQ,
  MISC3_OUTER_ACK,
  MISC3_OUTER_SEQ,
  MISC4,
  MISC_BITS,
  MISC_INNER_ESP_SPI,
  MISC_INNER_FLOW_LABEL,
  MISC_INNER_TCI2,
  MISC_OUTER_ESP_SPI,
  MISC_OUTER_FLOW_LABEL,
  MISC_OUTER_TCI2,
  MISC_SOURCE_ESWITCH,
  MISC_SOURCE_PORT,
  MISC_SOURCE_SQN,
  MISC_TAGS2,
  OUTER,
  PRESENT_ETH,
  PRESENT_ETHERTYPE,
  PRESENT_ICMP,
  PRESENT_ICMPV6,
  PRESENT_INNER_MPLS_OVER_GRE,
  PRESENT_INNER_MPLS_OVER_UDP,
  PRESENT_MPLS,
  PRESENT_MPLS_OVER_GRE,
  PRESENT_MPLS_OVER_UDP,
  PRESENT_SAMPLE,
  PRESENT_VLAN,
  PRESENT_VLAN2,
  SAMPLE_COUNT,
} from "../../abi/key.js";

const BITS = KEY_SIZE * 8;

/** The bit of the inner packet with the meaning of a bit of the outer packet, and the other way round; -1 for none. */
export const INNER_OF = new Int16Array(BITS).fill(-1);
export const OUTER_OF = new Int16Array(BITS).fill(-1);
/** 1 for bits that say where a frame comes from, and for registers: no header has them. */
export const IS_PATH = new Uint8Array(BITS);
/** 1 for bits of the Ethernet header and its tags, of the outer packet. */
export const IS_LINK = new Uint8Array(BITS);

/** A presence bit of a word of the key (EXT_PRESENT_*). */
export function presenceBit(word: number, bit: number): number {
  return 8 * word + Math.clz32(bit);
}

/** Whether a bit is of a programmable sample: its value, or its presence. */
export function isSample(bit: number): boolean {
  const first = presenceBit(EXT_PRESENT_TUNNEL, PRESENT_SAMPLE);
  return bit >> 3 >= MISC4 && bit >> 3 < MISC4 + GROUP_SIZE ? true : bit <= first && bit > first - SAMPLE_COUNT;
}

function pair(outer: number, inner: number, bits: number): void {
  for (let i = 0; i < bits; i++) {
    INNER_OF[outer + i] = inner + i;
    OUTER_OF[inner + i] = outer + i;
  }
}

pair(8 * OUTER, 8 * INNER, 8 * GROUP_SIZE);
for (const [outer, inner, bytes] of [
  [MISC_OUTER_TCI2, MISC_INNER_TCI2, 2],
  [MISC_OUTER_FLOW_LABEL, MISC_INNER_FLOW_LABEL, 4],
  [MISC_OUTER_ESP_SPI, MISC_INNER_ESP_SPI, 4],
  [MISC2_OUTER_MPLS, MISC2_INNER_MPLS, 4],
  [MISC2_MPLS_OVER_UDP, EXT_INNER_MPLS_OVER_UDP, 4],
  [MISC2_MPLS_OVER_GRE, EXT_INNER_MPLS_OVER_GRE, 4],
  [MISC3_OUTER_SEQ, MISC3_INNER_SEQ, 4],
  [MISC3_OUTER_ACK, MISC3_INNER_ACK, 4],
  [EXT_OUTER_IPV4_FLAGS, EXT_INNER_IPV4_FLAGS, 1],
  [EXT_OUTER_ESP_SEQ, EXT_INNER_ESP_SEQ, 4],
  [EXT_OUTER_SCTP_PORTS, EXT_INNER_SCTP_PORTS, 4],
] as const)
  pair(8 * outer, 8 * inner, 8 * bytes);
// TAGS2_INNER_* are one bit below TAGS2_OUTER_*.
pair(8 * MISC_TAGS2, 8 * MISC_TAGS2 + 1, 1);
pair(8 * MISC_TAGS2 + 2, 8 * MISC_TAGS2 + 3, 1);
for (let bit = PRESENT_ETH; bit <= PRESENT_MPLS; bit *= 2) {
  // Of the inner packet ICMP fills nothing.
  if (bit === PRESENT_ICMP || bit === PRESENT_ICMPV6) continue;
  pair(presenceBit(EXT_PRESENT_OUTER, bit), presenceBit(EXT_PRESENT_INNER, bit), 1);
}
for (const [tunnel, inner] of [
  [PRESENT_MPLS_OVER_UDP, PRESENT_INNER_MPLS_OVER_UDP],
  [PRESENT_MPLS_OVER_GRE, PRESENT_INNER_MPLS_OVER_GRE],
] as const)
  pair(presenceBit(EXT_PRESENT_TUNNEL, tunnel), presenceBit(EXT_PRESENT_INNER, inner), 1);

function mark(list: Uint8Array, from: number, bits: number): void {
  list.fill(1, from, from + bits);
}

for (const [byte, bytes] of [
  [MISC_SOURCE_SQN, 3],
  [MISC_SOURCE_ESWITCH, 2],
  [MISC_SOURCE_PORT, 2],
  [MISC2_REGISTER_C_7, MISC2_REGISTER_A + 4 - MISC2_REGISTER_C_7],
  [EXT_PORT, 2],
  [EXT_DIRECTION, 2],
  [EXT_REGISTER_B, 4],
] as const)
  mark(IS_PATH, 8 * byte, 8 * bytes);
// BITS_SOURCE_VHCA_PORT.
mark(IS_PATH, 8 * MISC_BITS + 4, 4);

for (const [byte, bytes] of [
  [LAYER_SMAC, 6],
  [LAYER_ETHERTYPE, 2],
  [LAYER_DMAC, 6],
  [LAYER_TCI, 2],
  [MISC_OUTER_TCI2, 2],
] as const)
  mark(IS_LINK, 8 * (OUTER + byte), 8 * bytes);
mark(IS_LINK, 8 * (OUTER + LAYER_STATE), 2);
mark(IS_LINK, 8 * MISC_TAGS2, 1);
mark(IS_LINK, 8 * MISC_TAGS2 + 2, 1);
for (const bit of [PRESENT_ETH, PRESENT_ETHERTYPE, PRESENT_VLAN, PRESENT_VLAN2])
  mark(IS_LINK, presenceBit(EXT_PRESENT_OUTER, bit), 1);
