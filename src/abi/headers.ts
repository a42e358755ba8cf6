/**
 * What the parser says of a frame beside its key: the frame map.
 *
 *     0      2     3      4             8        12       16        20        24            28          32
 *     | count| stop| why  | stop offset | wanted | had    | payload | payload | inner       | inner     |
 *     |      | hdr |      |             |        |        | offset  | end     | payload off | payload e |
 *     32 + 8 n: | kind 1 | level 1 | reserved 2 | offset 4 |       n < MAP_ENTRIES
 *
 * Offsets are bytes from the start of the frame. A level's payload begins behind its last header that was read, and
 * ends where its packet does, or the captured bytes do; a tunnel's own header is of the outer level. Headers beyond MAP_ENTRIES are parsed but not listed.
 * Read by both compilers: numeric constants only, no imports.
 */

export const MAP_SIZE = 256;
export const MAP_ENTRIES = 28;
export const MAP_COUNT = 0;
export const MAP_STOP_HEADER = 2;
export const MAP_STOP_WHY = 3;
export const MAP_STOP_OFFSET = 4;
export const MAP_STOP_WANTED = 8;
export const MAP_STOP_HAD = 12;
export const MAP_PAYLOAD = 16;
export const MAP_PAYLOAD_END = 20;
export const MAP_INNER_PAYLOAD = 24;
export const MAP_INNER_PAYLOAD_END = 28;
export const MAP_FIRST = 32;
export const MAP_ENTRY_SIZE = 8;

/** Kinds of header. */
export enum Header {
  none = 0,
  ethernet = 1,
  vlan = 2,
  loopback = 3,
  linux_cooked = 4,
  linux_cooked_v2 = 5,
  arp = 6,
  ipv4 = 7,
  ipv6 = 8,
  ipv6_hop_by_hop = 9,
  ipv6_routing = 10,
  ipv6_destination = 11,
  ipv6_fragment = 12,
  ah = 13,
  tcp = 14,
  udp = 15,
  icmp = 16,
  icmpv6 = 17,
  vxlan = 18,
  /** IP whose version nibble is neither 4 nor 6, where nothing below announced one. */
  ip = 19,
  sctp = 20,
  gre = 21,
  vxlan_gpe = 22,
  geneve = 23,
  gtpu = 24,
  /** A GTP-U extension header. */
  gtpu_extension = 25,
  /** One label stack entry. */
  mpls = 26,
  esp = 27,
  /** The base transport header of RoCEv2. */
  bth = 28,
  /** The SecTAG behind its EtherType. */
  macsec = 29,
}

/** Why parsing stopped before the end. */
export enum Stop {
  none = 0,
  /** The captured bytes end inside the header. */
  truncated = 1,
  /** The header reaches beyond the packet that carries it. */
  beyond_packet = 2,
  /** The version nibble is not what the layer below announced. */
  bad_version = 3,
  /** A length that cannot be: an IHL below 5, a GTP-U extension header of no words. */
  bad_header_length = 4,
}

/** Levels. */
export const LEVEL_OUTER = 0;
export const LEVEL_INNER = 1;

/** What a frame begins with. */
export enum Link {
  ethernet = 0,
  raw_ip = 1,
  ipv4 = 2,
  ipv6 = 3,
  /** BSD null: a protocol family in the byte order of the capturing host. */
  null_loopback = 4,
  /** OpenBSD loop: the same, big-endian. */
  loop = 5,
  linux_cooked = 6,
  linux_cooked_v2 = 7,
}
