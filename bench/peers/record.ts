/**
 * What the plain parser fills for a frame: signed 32-bit words in host order, one or a few for each field, and a list
 * of the headers. V8 keeps such words unboxed, which numbers from 2^31 up are not.
 *
 *     0       28      56     74
 *     | outer | inner | rest |       fields
 */

/** Words of a layer, from the first word of `outer` or `inner`. */
export const SMAC_HIGH = 0;
export const SMAC_LOW = 1;
export const DMAC_HIGH = 2;
export const DMAC_LOW = 3;
export const ETHERTYPE = 4;
export const TCI = 5;
export const PROTOCOL = 6;
export const TOS = 7;
/** cvlan_tag 0x80, svlan_tag 0x40, frag 0x20, ip_version 0x1e, the ninth TCP flag 0x01: one byte of the key. */
export const STATE = 8;
export const TCP_FLAGS = 9;
export const TCP_PORTS = 10;
/** ipv4_ihl 0xf0, l3_ok 0x08, l4_ok 0x04, ipv4_checksum_ok 0x02, l4_checksum_ok 0x01: one byte of the key. */
export const OK = 11;
export const TTL = 12;
export const UDP_PORTS = 13;
/** Four words; IPv4 addresses are in the last one. */
export const SRC = 14;
export const DST = 18;
export const HERE = 22;
export const LAYER_CORE = 23;
/** Fields of other groups of the key. */
export const TCI2 = 23;
export const FLOW_LABEL = 24;
export const SEQ = 25;
export const ACK = 26;
export const IPV4_FLAGS = 27;
export const LAYER_WORDS = 28;

export const OUTER_WORDS = 0;
export const INNER_WORDS = LAYER_WORDS;

/** Words of the frame. */
export const TUNNELS = 56;
/** Port in the low half; the direction of the frame above it. */
export const PORT = 57;
/** Of group misc. */
export const TAGS2 = 58;
export const VNI = 59;
export const GENEVE_VNI = 60;
/** geneve_tlv_option_0_exist 0x02, geneve_oam 0x01: one byte of the key. */
export const GENEVE_BITS = 61;
export const GENEVE_OPT_LEN = 62;
export const GENEVE_PROTOCOL = 63;
/** Of groups misc3 and misc5. */
export const ICMP_TYPE = 64;
export const ICMP_DATA = 65;
export const ICMPV6_TYPE = 66;
export const ICMPV6_DATA = 67;
export const GENEVE_OPTION_0 = 68;
/** Four words. */
export const TUNNEL_HEADER = 69;
/** Of group misc: the origin of the frame. */
export const VPORT = 73;
export const RECORD_WORDS = 74;

/** The list of headers: | count | stop header | why | offset | wanted | had | payload 2 | inner payload 2 | entries |. */
export const LIST_COUNT = 0;
export const LIST_STOP = 1;
export const LIST_PAYLOAD = 6;
export const LIST_INNER_PAYLOAD = 8;
export const LIST_FIRST = 10;
export const LIST_ENTRIES = 28;
/** An entry is | kind, level << 8 | offset |. */
export const LIST_WORDS = LIST_FIRST + 2 * LIST_ENTRIES;
