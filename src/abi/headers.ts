/**
 * The frame map, which the parser writes in addition to the key.
 *
 *     0      2     3      4             8        12       16        20        24            28          32
 *     | count| stop| why  | stop offset | wanted | had    | payload | payload | inner       | inner     |
 *     |      | hdr |      |             |        |        | offset  | end     | payload off | payload e |
 *     32 + 8 n: | kind 1 | level 1 | reserved 2 | offset 4 |       n < MAP_ENTRIES
 * Offsets are bytes from the start of the frame. The payload of a level begins after its last
 * header that was read. It ends with its packet, or with the captured bytes. The header of a tunnel
 * belongs to the outer level. Headers beyond MAP_ENTRIES are parsed but not listed. Both compilers
 * read this file: numeric constants only, no imports.
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
  /** IP with a version nibble other than 4 and 6, when no lower header announced a version. */
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
  /** The SecTAG after its EtherType. */
  macsec = 29,
  /** The network service header, after its EtherType or in VXLAN-GPE. */
  nsh = 30,
}

/** The reason why parsing stopped before the end. */
export enum Stop {
  none = 0,
  /** The captured bytes end inside the header. */
  truncated = 1,
  /** The header reaches beyond the packet that carries it. */
  beyond_packet = 2,
  /** The version nibble differs from the version that the lower layer announced. */
  bad_version = 3,
  /** An invalid length: an IHL below 5, a GTP-U extension header of no words. */
  bad_header_length = 4,
}

/** Levels. */
export const LEVEL_OUTER = 0;
export const LEVEL_INNER = 1;

/** The first header of a frame. */
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
