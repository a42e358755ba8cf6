/**
 * The key: a frame's own match parameters, 512 bytes.
 *
 * Seven groups of 64 bytes as the device lays them out (match-params table: big-endian words, bits counted from
 * the most significant), then `ext`, which holds what that format lacks. A mask and a value lie in the same layout.
 *
 *     0      64     128    192    256    320    384    448    512
 *     | outer | misc | inner| misc2| misc3| misc4| misc5| ext  |
 *
 * Read by both compilers: numeric constants only, no imports.
 */

export const KEY_SIZE = 512;
export const GROUP_SIZE = 64;

/** Bytes of the key that the device format knows: all groups but `ext`. */
export const DEVICE_KEY_SIZE = 448;

export const GROUP_OUTER = 0;
export const GROUP_MISC = 1;
export const GROUP_INNER = 2;
export const GROUP_MISC2 = 3;
export const GROUP_MISC3 = 4;
export const GROUP_MISC4 = 5;
export const GROUP_MISC5 = 6;
export const GROUP_EXT = 7;

/** Every group, as the set of groups that a parse fills; bit n is group n. */
export const ALL_GROUPS = 0xff;
/** Beside the groups: the inner packet is wanted. */
export const WANT_INNER = 0x100;
export const WANT_ALL = 0x1ff;

export const OUTER = 0;
export const MISC = 64;
export const INNER = 128;
export const MISC2 = 192;
export const MISC3 = 256;
export const MISC4 = 320;
export const MISC5 = 384;
export const EXT = 448;

/*
 * Groups outer and inner, by byte:
 *
 *      0               4       6       8              12      14
 *     | source MAC            | etype | destination MAC      | TCI   |
 *     16      17      18                      19      20      22      24
 *     | proto | tos   |c|s|f|version| flags   8 low  | sport | dport |   TCP
 *     24              26                      27      28      30      32
 *     | reserved      | ihl   |3|4|c|C|       | ttl   | sport | dport |   UDP
 *     32                              48                              64
 *     | source address                | destination address           |   IPv4: the last four bytes
 */
export const LAYER_SMAC = 0;
export const LAYER_ETHERTYPE = 6;
export const LAYER_DMAC = 8;
/** First tag: PCP 3 bits, DEI 1, VID 12, as on the wire. */
export const LAYER_TCI = 14;
export const LAYER_PROTOCOL = 16;
export const LAYER_TOS = 17;
/** cvlan_tag 0x80, svlan_tag 0x40, frag 0x20, ip_version 0x1e, the ninth TCP flag 0x01. */
export const LAYER_STATE = 18;
export const LAYER_TCP_FLAGS = 19;
export const LAYER_TCP_PORTS = 20;
/** ipv4_ihl 0xf0, l3_ok 0x08, l4_ok 0x04, ipv4_checksum_ok 0x02, l4_checksum_ok 0x01. */
export const LAYER_OK = 26;
export const LAYER_TTL = 27;
export const LAYER_UDP_PORTS = 28;
export const LAYER_SRC = 32;
export const LAYER_SRC_IPV4 = 44;
export const LAYER_DST = 48;
export const LAYER_DST_IPV4 = 60;

export const STATE_CVLAN = 0x80;
export const STATE_SVLAN = 0x40;
export const STATE_FRAG = 0x20;
export const STATE_VERSION_SHIFT = 1;
export const OK_L3 = 0x08;
export const OK_L4 = 0x04;

/** Group misc, by byte in the key. */
export const MISC_OUTER_TCI2 = 72;
export const MISC_INNER_TCI2 = 74;
/** outer_second_cvlan_tag 0x80, inner_ 0x40, outer_second_svlan_tag 0x20, inner_ 0x10. */
export const MISC_TAGS2 = 76;
export const MISC_VXLAN_VNI = 84;
export const MISC_OUTER_FLOW_LABEL = 92;
export const MISC_INNER_FLOW_LABEL = 96;

/** Group misc3. */
export const MISC3_INNER_SEQ = 256;
export const MISC3_OUTER_SEQ = 260;
export const MISC3_INNER_ACK = 264;
export const MISC3_OUTER_ACK = 268;
export const MISC3_ICMP_DATA = 280;
export const MISC3_ICMPV6_DATA = 284;
export const MISC3_ICMP_TYPE = 288;
export const MISC3_ICMPV6_TYPE = 290;

/** Group misc5. */
export const MISC5_TUNNEL_HEADER = 400;

/*
 * Group ext, ours:
 *
 *     448             452             456             460     462 463 464 465
 *     | here: outer   | here: inner   | here: tunnels | port  |side|-|of |if |
 *
 * `here` words hold one presence bit for each header (big-endian words); of, if: the three IPv4 flag bits of the
 * outer and of the inner packet in the top bits. Behind byte 466 is room for what the verbs ask and the device
 * format lacks: ESP sequence numbers, the GRE flag word, inner MPLS.
 */
export const EXT_HERE_OUTER = 448;
export const EXT_HERE_INNER = 452;
export const EXT_HERE_TUNNEL = 456;
export const EXT_PORT = 460;
export const EXT_SIDE = 462;
export const EXT_OUTER_IPV4_FLAGS = 464;
export const EXT_INNER_IPV4_FLAGS = 465;

/** Presence bits of one level (`here: outer`, `here: inner`). */
export const HERE_ETH = 1;
export const HERE_ETHERTYPE = 2;
export const HERE_VLAN = 4;
export const HERE_VLAN2 = 8;
/** IPv4 or IPv6. */
export const HERE_L3 = 16;
export const HERE_IPV4 = 32;
export const HERE_IPV6 = 64;
/** The upper-layer protocol is known: for IPv6, the extension headers were walked to their end. */
export const HERE_PROTOCOL = 128;
export const HERE_TCP = 256;
export const HERE_UDP = 512;
export const HERE_ICMP = 1024;
export const HERE_ICMPV6 = 2048;

/** Presence bits of `here: tunnels`. */
export const HERE_VXLAN = 1;
/** First dword of the tunnel's own header; the next three follow at twice the value each. */
export const HERE_TUNNEL_DWORD = 2;
