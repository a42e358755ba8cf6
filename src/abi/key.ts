/**
 * The key: a frame's own match parameters, 512 bytes.
 * Seven groups of 64 bytes in the layout of the device (its fields: test/vectors/match-params.json;
 * big-endian words, bits counted from the most significant), then `ext` for fields that the device
 * format lacks. Masks and values have the same layout.
 *
 *     0      64     128    192    256    320    384    448    512
 *     | outer | misc | inner| misc2| misc3| misc4| misc5| ext  |
 * Both compilers read this file: numeric constants only, no imports.
 */

export const KEY_SIZE = 512;
export const GROUP_SIZE = 64;

/** Bytes of the key that are in the device format: all groups except `ext`. */
export const DEVICE_KEY_SIZE = 448;

export const GROUP_OUTER = 0;
export const GROUP_MISC = 1;
export const GROUP_INNER = 2;
export const GROUP_MISC2 = 3;
export const GROUP_MISC3 = 4;
export const GROUP_MISC4 = 5;
export const GROUP_MISC5 = 6;
export const GROUP_EXT = 7;

/** Every group, as a set of required groups; bit n is group n. */
export const ALL_GROUPS = 0xff;
/**
 * Required fields in addition to the groups: the inner packet; checksums, verified only if some
 * rule matches them.
 */
export const NEEDS_INNER = 0x100;
export const NEEDS_OUTER_IPV4_CHECKSUM = 0x200;
export const NEEDS_OUTER_L4_CHECKSUM = 0x400;
export const NEEDS_INNER_IPV4_CHECKSUM = 0x800;
export const NEEDS_INNER_L4_CHECKSUM = 0x1000;
export const NEEDS_ALL = 0x1fff;
/**
 * Requirements on the walk: room for forks, if some rule splits frames; the order of frames, if
 * some action is stateful.
 */
export const NEEDS_BRANCHES = 0x10000;
export const NEEDS_ORDER = 0x20000;
/** Some rule has an ESP action: consecutive frames through ESP form a batch (assembly/walk/espBatch.ts). */
export const NEEDS_ESP = 0x40000;
/** Some rule changes header fields: the outcome depends on which headers are present (assembly/walk/flowCacheKey.ts). */
export const NEEDS_CHANGES = 0x80000;

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
/** STATE_* */
export const LAYER_STATE = 18;
export const LAYER_TCP_FLAGS = 19;
export const LAYER_TCP_PORTS = 20;
/** OK_* */
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
export const STATE_VERSION = 0x1e;
export const STATE_VERSION_SHIFT = 1;
/** LAYER_STATE and LAYER_TCP_FLAGS as one number: nine flags. */
export const STATE_TCP_FLAGS = 0x01ff;
export const OK_IHL = 0xf0;
export const OK_L3 = 0x08;
export const OK_L4 = 0x04;
export const OK_IPV4_CHECKSUM = 0x02;
export const OK_L4_CHECKSUM = 0x01;

/*
 * Group misc, by byte in the key:
 *
 *     64    | bits 1 | source SQN 3 | eSwitch owner 2 | source port 2 |
 *     72    | outer second TCI 2 | inner second TCI 2 | tags 1 | reserved 1 | GRE protocol 2 |
 *     80    | GRE key 4 | VXLAN VNI 3 | BTH opcode 1 |
 *     88    | Geneve VNI 3 | Geneve bits 1 | outer flow label 4 |
 *     96    | inner flow label 4 | reserved 1 | Geneve option length 1 | Geneve protocol 2 |
 *     104   | reserved 1 | BTH destination QP 3 | inner ESP SPI 4 |
 *     112   | outer ESP SPI 4 | reserved 12 |
 */
/** BITS_* */
export const MISC_BITS = 64;
export const MISC_SOURCE_SQN = 65;
export const MISC_SOURCE_ESWITCH = 68;
export const MISC_SOURCE_PORT = 70;
export const MISC_OUTER_TCI2 = 72;
export const MISC_INNER_TCI2 = 74;
/** TAGS2_* */
export const MISC_TAGS2 = 76;
export const MISC_GRE_PROTOCOL = 78;
export const MISC_GRE_KEY = 80;
export const MISC_VXLAN_VNI = 84;
export const MISC_BTH_OPCODE = 87;
export const MISC_GENEVE_VNI = 88;
/** GENEVE_OPTION_0_EXISTS, GENEVE_OAM */
export const MISC_GENEVE_BITS = 91;
/** The low bits (FLOW_LABEL) of a word. */
export const MISC_OUTER_FLOW_LABEL = 92;
export const MISC_INNER_FLOW_LABEL = 96;
/** The low bits (GENEVE_OPT_LEN) of a byte. */
export const MISC_GENEVE_OPT_LEN = 101;
export const MISC_GENEVE_PROTOCOL = 102;
export const MISC_BTH_DST_QP = 105;
export const MISC_INNER_ESP_SPI = 108;
export const MISC_OUTER_ESP_SPI = 112;

export const BITS_GRE_C = 0x80;
export const BITS_BTH_A = 0x40;
export const BITS_GRE_K = 0x20;
export const BITS_GRE_S = 0x10;
export const BITS_SOURCE_VHCA_PORT = 0x0f;
export const TAGS2_OUTER_CVLAN = 0x80;
export const TAGS2_INNER_CVLAN = 0x40;
export const TAGS2_OUTER_SVLAN = 0x20;
export const TAGS2_INNER_SVLAN = 0x10;
export const TAGS2_OUTER_EMD = 0x08;
export const GENEVE_OPTION_0_EXISTS = 0x02;
export const GENEVE_OAM = 0x01;
export const GENEVE_OPT_LEN = 0x3f;
export const FLOW_LABEL = 0xfffff;

/** Group misc2: first MPLS label stack entries as on the wire, label 20, exp 3, s_bos 1, ttl 8. */
export const MISC2_OUTER_MPLS = 192;
export const MISC2_INNER_MPLS = 196;
export const MISC2_MPLS_OVER_GRE = 200;
export const MISC2_MPLS_OVER_UDP = 204;

/** Metadata registers: C7 down to C0, then A. */
export const MISC2_REGISTER_C_7 = 208;
export const MISC2_REGISTER_C_0 = 236;
export const MISC2_REGISTER_A = 240;
/** Register B, for which the device format has no field. */
export const EXT_REGISTER_B = 492;

/** Group misc3. */
export const MISC3_INNER_SEQ = 256;
export const MISC3_OUTER_SEQ = 260;
export const MISC3_INNER_ACK = 264;
export const MISC3_OUTER_ACK = 268;
export const MISC3_GPE_VNI = 273;
export const MISC3_GPE_NEXT_PROTOCOL = 276;
export const MISC3_GPE_FLAGS = 277;
export const MISC3_ICMP_DATA = 280;
export const MISC3_ICMPV6_DATA = 284;
export const MISC3_ICMP_TYPE = 288;
export const MISC3_ICMPV6_TYPE = 290;

export const MISC3_GENEVE_OPTION_0_DATA = 292;
export const MISC3_GTPU_TEID = 296;
export const MISC3_GTPU_MSG_TYPE = 300;
export const MISC3_GTPU_MSG_FLAGS = 301;
export const MISC3_GTPU_DW_2 = 304;
export const MISC3_GTPU_FIRST_EXT_DW_0 = 308;
export const MISC3_GTPU_DW_0 = 312;

/**
 * Group misc4: eight samples, each | value 4 | id 4 |. In a key, sample n is at index n, and ids
 * are 0.
 */
export const SAMPLE_COUNT = 8;
export const MISC4_SAMPLE_SIZE = 8;
export const MISC4_SAMPLE_ID = 4;

/** Group misc5. */
export const MISC5_MACSEC_TAG = 384;
export const MISC5_TUNNEL_HEADER = 400;

/*
 * Group ext, ours:
 *
 *     448             452             456             460     462 463 464 465 466     468
 *     | present outer | present inner | p. tunnels    | port  |dir|- |of |if | gre   |
 *     468             472             476             480             484
 *     | outer ESP seq | inner ESP seq | outer SCTP    | inner SCTP    |
 *     484             488             492             496
 *     | inner MPLS/UDP| inner MPLS/GRE| register B    | free ... 512
 *
 * `present` words: one presence bit a header, big-endian. dir: DIRECTION_WIRE or DIRECTION_VPORT.
 * of, if: the IPv4 flags of the outer and of the inner packet, in the top three bits. gre: the
 * first two bytes of the GRE header. SCTP: both ports. MPLS over UDP or GRE inside a tunnel: the
 * first label stack entry as on the wire.
 */
export const EXT_PRESENT_OUTER = 448;
export const EXT_PRESENT_INNER = 452;
export const EXT_PRESENT_TUNNEL = 456;
export const EXT_PORT = 460;
export const EXT_DIRECTION = 462;
export const EXT_OUTER_IPV4_FLAGS = 464;
export const EXT_INNER_IPV4_FLAGS = 465;
export const EXT_GRE_FLAGS = 466;
export const EXT_OUTER_ESP_SEQ = 468;
export const EXT_INNER_ESP_SEQ = 472;
export const EXT_OUTER_SCTP_PORTS = 476;
export const EXT_INNER_SCTP_PORTS = 480;
export const EXT_INNER_MPLS_OVER_UDP = 484;
export const EXT_INNER_MPLS_OVER_GRE = 488;

export const DIRECTION_WIRE = 1;
export const DIRECTION_VPORT = 2;

/** Presence bits of one level (`present outer`, `present inner`). */
export const PRESENT_ETH = 1;
export const PRESENT_ETHERTYPE = 2;
export const PRESENT_VLAN = 4;
export const PRESENT_VLAN2 = 8;
/** IPv4 or IPv6. */
export const PRESENT_L3 = 16;
export const PRESENT_IPV4 = 32;
export const PRESENT_IPV6 = 64;
/**
 * The upper-layer protocol is known: for IPv6, the parser walked the extension headers to their
 * end.
 */
export const PRESENT_PROTOCOL = 128;
export const PRESENT_TCP = 256;
export const PRESENT_UDP = 512;
export const PRESENT_ICMP = 1024;
export const PRESENT_ICMPV6 = 2048;
export const PRESENT_SCTP = 4096;
export const PRESENT_ESP = 8192;
/** MPLS directly over this level's link layer. */
export const PRESENT_MPLS = 16384;
/**
 * MPLS inside a tunnel of the inner packet, which is payload except the first entry: of `present
 * inner` only.
 */
export const PRESENT_INNER_MPLS_OVER_UDP = 32768;
export const PRESENT_INNER_MPLS_OVER_GRE = 65536;

/**
 * Presence bits of `present tunnels`: tunnel headers, and headers that have fields for the outer
 * packet only.
 */
export const PRESENT_VXLAN = 1;
/**
 * First dword of the tunnel header; each of the next three has twice the value of the one before.
 */
export const PRESENT_TUNNEL_DWORD = 2;
export const PRESENT_GRE = 32;
export const PRESENT_GRE_KEY = 64;
export const PRESENT_VXLAN_GPE = 128;
export const PRESENT_GENEVE = 256;
/** Option 0 is present and has data. */
export const PRESENT_GENEVE_OPTION_0 = 512;
export const PRESENT_GTPU = 1024;
export const PRESENT_GTPU_DW_2 = 2048;
export const PRESENT_GTPU_EXTENSION = 4096;
export const PRESENT_MPLS_OVER_GRE = 8192;
export const PRESENT_MPLS_OVER_UDP = 16384;
export const PRESENT_BTH = 32768;
export const PRESENT_MACSEC = 65536;
/** The SecTAG names its channel: dwords 2 and 3. */
export const PRESENT_MACSEC_SCI = 131072;
/** Programmable sample 0; each of the next seven has twice the value of the one before. */
export const PRESENT_SAMPLE = 262144;
