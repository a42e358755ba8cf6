/**
 * Fast path of the parser: bytes to key in one pass, for the most frequent frames.
 *
 *     Ethernet II -> [ one customer tag ] -> IPv4 without options, no fragment -+-> TCP
 *                                            IPv6 without extension headers    -+-> UDP of unknown ports
 * It first checks what the parser (parse.ts) would find out header by header: the headers are
 * whole, their lengths are valid, and the parser reads nothing after them. Then it writes every 16
 * bytes of key and map once. It leaves any other frame to the parser and writes nothing. For the
 * frames it takes, it writes the same bits as the parser.
 * It compares and cuts words of a frame in memory order: the first byte on the wire is the lowest.
 */
import {
  FRAME_ADDRESS,
  FRAME_LENGTH,
  FRAME_LINK,
  FRAME_METADATA,
  FRAME_PORT,
  FRAME_SQN,
  FRAME_VPORT,
  FRAME_WIRE_LENGTH,
  VPORT_UPLINK,
} from "../../src/abi/engine";
import { Header, Link, MAP_ENTRY_SIZE, MAP_FIRST, MAP_PAYLOAD } from "../../src/abi/headers";
import {
  EXT,
  GROUP_INNER,
  GROUP_MISC,
  GROUP_MISC2,
  GROUP_MISC3,
  GROUP_MISC4,
  GROUP_MISC5,
  GROUP_OUTER,
  PRESENT_ETH,
  PRESENT_ETHERTYPE,
  PRESENT_IPV4,
  PRESENT_IPV6,
  PRESENT_L3,
  PRESENT_PROTOCOL,
  PRESENT_TCP,
  PRESENT_UDP,
  PRESENT_VLAN,
  INNER,
  LAYER_DMAC,
  LAYER_DST,
  LAYER_PROTOCOL,
  LAYER_SRC,
  MISC,
  MISC2,
  MISC3,
  MISC5,
  OK_L3,
  OK_L4,
  OUTER,
  DIRECTION_VPORT,
  DIRECTION_WIRE,
  STATE_CVLAN,
  STATE_VERSION_SHIFT,
  NEEDS_INNER_IPV4_CHECKSUM,
  NEEDS_INNER_L4_CHECKSUM,
  NEEDS_OUTER_IPV4_CHECKSUM,
  NEEDS_OUTER_L4_CHECKSUM,
} from "../../src/abi/key";
import {
  ETHERTYPE_IPV4,
  ETHERTYPE_IPV6,
  PORT_ESP,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
  TPID_CVLAN,
} from "../../src/abi/protocols";
import { be16 } from "./cursor";
import { leadsOn } from "./udp";

/** Required fields that need bytes after the headers: samples, checksums. */
const BEYOND: u32 =
  (1 << GROUP_MISC4) |
  NEEDS_OUTER_IPV4_CHECKSUM |
  NEEDS_OUTER_L4_CHECKSUM |
  NEEDS_INNER_IPV4_CHECKSUM |
  NEEDS_INNER_L4_CHECKSUM;

/** Groups that few rules read. */
const REST: u32 = (1 << GROUP_MISC) | (1 << GROUP_INNER) | (1 << GROUP_MISC2) | (1 << GROUP_MISC3) | (1 << GROUP_MISC5);

/** EtherTypes and the TPID of a customer tag, in memory order. */
const IPV4: u32 = ((ETHERTYPE_IPV4 & 0xff) << 8) | (ETHERTYPE_IPV4 >> 8);
const IPV6: u32 = ((ETHERTYPE_IPV6 & 0xff) << 8) | (ETHERTYPE_IPV6 >> 8);
const TAG: u32 = ((TPID_CVLAN & 0xff) << 8) | (TPID_CVLAN >> 8);
/** The UDP source port that can select a header, in memory order. */
const SOURCE_ESP: u32 = ((PORT_ESP & 0xff) << 8) | (PORT_ESP >> 8);

const SOURCE: usize = 6;
const ETHERTYPE: usize = 12;
const ETHERNET_SIZE: u32 = 14;
const TAG_SIZE: u32 = 4;
const IPV4_SIZE: u32 = 20;
const IPV6_SIZE: u32 = 40;
const TCP_SIZE: u32 = 20;
const UDP_SIZE: u32 = 8;
/** The size of Ethernet, IPv4 and UDP headers. */
const MIN_LENGTH: u32 = 42;

/** The first 8 bytes of an IPv4 header: version 4, IHL 5, MF and fragment offset 0. */
const WHOLE_IPV4: u64 = 0x45;
const WHOLE_IPV4_MASK: u64 = 0xff3f0000000000ff;
/** The first 8 bytes of an IPv6 header: version 6. The flow label is in the first word. */
const VERSION_6: u64 = 0x60;
const VERSION_MASK: u64 = 0xf0;
const FLOW_LABEL: u32 = 0xffff0f00;
/** The first six of eight bytes. */
const SIX: u64 = 0xffffffffffff;

/**
 * Writes key and map of a frame of the fast path. For any other frame it writes nothing and returns
 * false.
 */
// @ts-ignore: decorator
@inline
export function parseFast(descriptor: usize, key: usize, map: usize, wanted: u32): bool {
  if (wanted & BEYOND || <u32>load<u8>(descriptor, FRAME_LINK) != Link.ethernet) return false;
  const frame: usize = load<u32>(descriptor, FRAME_ADDRESS);
  if (load<u32>(descriptor, FRAME_LENGTH) < MIN_LENGTH) return false;
  const type: u32 = load<u16>(frame, ETHERTYPE);
  return type == IPV4
    ? packet(descriptor, key, map, wanted, frame, IPV4, false)
    : parseFastRest(descriptor, key, map, wanted, frame, type);
}

/** A function of its own, so that the code for the most frequent frames stays short. */
function parseFastRest(descriptor: usize, key: usize, map: usize, wanted: u32, frame: usize, type: u32): bool {
  if (type == IPV6) return packet(descriptor, key, map, wanted, frame, IPV6, false);
  if (type != TAG) return false;
  type = load<u16>(frame + TAG_SIZE, ETHERTYPE);
  if (type != IPV4 && type != IPV6) return false;
  return packet(descriptor, key, map, wanted, frame, type, true);
}

/** Inlined, so that `type` and `tagged` are constants at each call. */
// @ts-ignore: decorator
@inline
function packet(descriptor: usize, key: usize, map: usize, wanted: u32, frame: usize, type: u32, tagged: bool): bool {
  const at = tagged ? ETHERNET_SIZE + TAG_SIZE : ETHERNET_SIZE;
  const ip = frame + at;
  const word = load<u64>(ip);
  let protocol: u32;
  let total: u32;
  if (type == IPV4) {
    if ((word & WHOLE_IPV4_MASK) != WHOLE_IPV4) return false;
    total = be16(ip + 2);
    protocol = load<u8>(ip, 9);
  } else {
    if ((word & VERSION_MASK) != VERSION_6) return false;
    // Length 0 (a jumbogram) leaves no room for an upper layer here.
    total = IPV6_SIZE + be16(ip + 4);
    protocol = (<u32>(word >> 48)) & 0xff;
  }
  if (total > load<u32>(descriptor, FRAME_WIRE_LENGTH) - at) return false;
  const end = min(total, load<u32>(descriptor, FRAME_LENGTH) - at);

  // | protocol 1 | TOS 1 | state 1 | TCP flags 1 | TCP ports 4 | - 2 | IHL and ok 1 | TTL 1 | UDP ports 4 |
  let low = <u64>(protocol | typeOfService(word, type) | (tagged ? STATE_CVLAN << 16 : 0));
  let high = <u64>hopsAndLengths(ip, word, type);
  let here: u32 = PRESENT_ETH | PRESENT_ETHERTYPE | PRESENT_L3 | PRESENT_PROTOCOL;
  here |= (type == IPV4 ? PRESENT_IPV4 : PRESENT_IPV6) | (tagged ? PRESENT_VLAN : 0);
  const size = type == IPV4 ? IPV4_SIZE : IPV6_SIZE;
  const upper = ip + size;
  let payload: u32;
  let kind: u32;
  if (protocol == PROTOCOL_TCP) {
    if (end < size + TCP_SIZE) return false;
    const offsetAndFlags: u32 = load<u16>(upper, 12);
    payload = size + ((offsetAndFlags & 0xf0) >> 2);
    if (payload < size + TCP_SIZE || payload > end) return false;
    low |= ((<u64>load<u32>(upper)) << 32) | (<u64>((offsetAndFlags & 0xff01) << 16));
    here = bswap(here | PRESENT_TCP);
    kind = Header.tcp;
  } else if (protocol == PROTOCOL_UDP) {
    if (end < size + UDP_SIZE) return false;
    const length = be16(upper + 4);
    const ports = load<u32>(upper);
    if (length < UDP_SIZE || length > total - size || leadsOn(be16(upper + 2))) return false;
    if ((ports & 0xffff) == SOURCE_ESP) return false;
    payload = size + UDP_SIZE;
    high |= (<u64>ports) << 32;
    here = bswap(here | PRESENT_UDP);
    kind = Header.udp;
  } else {
    return false;
  }

  if (wanted & (1 << GROUP_OUTER)) {
    const layer = key + OUTER;
    writeEthernet(layer, frame, type, tagged);
    store<u64>(layer, low, LAYER_PROTOCOL);
    store<u64>(layer, high, LAYER_PROTOCOL + 8);
    writeAddresses(layer, ip, type);
  }
  writeExt(descriptor, key + EXT, here, type == IPV4 ? (<u32>(word >> 48)) & 0xc0 : 0);
  if (wanted & REST) {
    writeRest(descriptor, key, wanted, type == IPV6 ? (<u32>word) & FLOW_LABEL : 0, kind == Header.tcp ? upper : 0);
  }
  const entry = writeMap(map, tagged, (<u64>(at + payload)) | ((<u64>(at + end)) << 32));
  store<u64>(entry, (<u64>(type == IPV4 ? Header.ipv4 : Header.ipv6)) | ((<u64>at) << 32));
  store<u64>(entry, (<u64>kind) | ((<u64>(at + size)) << 32), MAP_ENTRY_SIZE);
  return true;
}

/** TOS or traffic class, and the IP version. */
// @ts-ignore: decorator
@inline
function typeOfService(word: u64, type: u32): u32 {
  const first = <u32>word;
  if (type == IPV4) return (first & 0xff00) | (4 << (16 + STATE_VERSION_SHIFT));
  return ((first & 0x0f) << 12) | ((first & 0xf000) >> 4) | (6 << (16 + STATE_VERSION_SHIFT));
}

/** IHL of IPv4, the bits for valid lengths, TTL or hop limit. */
// @ts-ignore: decorator
@inline
function hopsAndLengths(ip: usize, word: u64, type: u32): u32 {
  if (type == IPV4) return ((<u32>load<u8>(ip, 8)) << 24) | ((0x50 | OK_L3 | OK_L4) << 16);
  return ((<u32>(word >> 56)) << 24) | ((OK_L3 | OK_L4) << 16);
}

/**
 * In the key: | source 6 | EtherType 2 | destination 6 | TCI 2 |. On the wire the destination comes
 * first.
 */
// @ts-ignore: decorator
@inline
function writeEthernet(layer: usize, frame: usize, type: u32, tagged: bool): void {
  const source = load<u64>(frame, SOURCE);
  store<u64>(layer, tagged ? (source & SIX) | ((<u64>type) << 48) : source);
  const tci = tagged ? (<u64>load<u16>(frame, ETHERNET_SIZE)) << 48 : 0;
  store<u64>(layer, (load<u64>(frame) & SIX) | tci, LAYER_DMAC);
}

/** An IPv4 address takes the last four bytes of its field. */
// @ts-ignore: decorator
@inline
function writeAddresses(layer: usize, ip: usize, type: u32): void {
  if (type == IPV4) {
    v128.store(layer, v128.load_lane<u32>(ip, i64x2.splat(0), 3, 12), LAYER_SRC);
    v128.store(layer, v128.load_lane<u32>(ip, i64x2.splat(0), 3, 16), LAYER_DST);
  } else {
    v128.store(layer, v128.load(ip, 8), LAYER_SRC);
    v128.store(layer, v128.load(ip, 24), LAYER_DST);
  }
}

/** Presence bits, the port of the frame and its direction. */
// @ts-ignore: decorator
@inline
function writeExt(descriptor: usize, ext: usize, here: u32, ipv4Flags: u32): void {
  const side: u32 = load<u32>(descriptor, FRAME_VPORT) == VPORT_UPLINK ? DIRECTION_WIRE : DIRECTION_VPORT;
  const way = (<u32>bswap<u16>(load<u16>(descriptor, FRAME_PORT))) | (side << 16);
  store<u64>(ext, here);
  store<u64>(ext, (<u64>way) << 32, 8);
  store<u64>(ext, ipv4Flags, 16);
  store<u64>(ext, 0, 24);
  v128.store(ext, i64x2.splat(0), 32);
  v128.store(ext, i64x2.splat(0), 48);
}

/** Writes the groups that few rules read. */
function writeRest(descriptor: usize, key: usize, wanted: u32, flowLabel: u32, tcp: usize): void {
  const zero = i64x2.splat(0);
  if (wanted & (1 << GROUP_MISC)) {
    const port: u32 = load<u16>(descriptor, FRAME_PORT);
    // | source_vhca_port 1 | source_sqn 3 | - 2 | source_port 2 |
    const from = bswap(((port < 16 ? port : 0) << 24) | (load<u32>(descriptor, FRAME_SQN) & 0xffffff));
    const vport = <u32>bswap<u16>(load<u16>(descriptor, FRAME_VPORT));
    const head = firstHalf((<u64>from) | ((<u64>vport) << 48));
    writeGroup(key + MISC, head, i32x4.replace_lane(zero, 3, flowLabel), zero);
  }
  if (wanted & (1 << GROUP_MISC2)) {
    writeGroup(key + MISC2, zero, zero, firstHalf(bswap(load<u32>(descriptor, FRAME_METADATA))));
  }
  if (wanted & (1 << GROUP_MISC3)) {
    // Sequence and acknowledgement numbers, each after the field of the inner packet.
    const numbers =
      tcp == 0
        ? zero
        : i8x16.swizzle(v128.load_zero<u64>(tcp, 4), i8x16(-1, -1, -1, -1, 0, 1, 2, 3, -1, -1, -1, -1, 4, 5, 6, 7));
    writeGroup(key + MISC3, numbers, zero, zero);
  }
  if (wanted & (1 << GROUP_MISC5)) writeGroup(key + MISC5, zero, zero, zero);
  if (wanted & (1 << GROUP_INNER)) writeGroup(key + INNER, zero, zero, zero);
}

/** Writes the first, second and last 16 bytes of a group; the third 16 bytes are 0. */
// @ts-ignore: decorator
@inline
function writeGroup(at: usize, first: v128, second: v128, last: v128): void {
  v128.store(at, first);
  v128.store(at, second, 16);
  v128.store(at, i64x2.splat(0), 32);
  v128.store(at, last, 48);
}

/** A value in the first 8 bytes, 0 in the others. */
// @ts-ignore: decorator
@inline
function firstHalf(value: u64): v128 {
  return i64x2.replace_lane(i64x2.splat(0), 0, value);
}

/**
 * Writes the payload offsets and the headers up to the tag; returns the place of the next entry.
 */
// @ts-ignore: decorator
@inline
function writeMap(map: usize, tagged: bool, payload: u64): usize {
  store<u64>(map, tagged ? 4 : 3);
  store<u64>(map, 0, 8);
  store<u64>(map, payload, MAP_PAYLOAD);
  store<u64>(map, 0, MAP_PAYLOAD + 8);
  store<u64>(map, Header.ethernet, MAP_FIRST);
  if (!tagged) return map + MAP_FIRST + MAP_ENTRY_SIZE;
  store<u64>(map, (<u64>Header.vlan) | ((<u64>ETHERNET_SIZE) << 32), MAP_FIRST + MAP_ENTRY_SIZE);
  return map + MAP_FIRST + 2 * MAP_ENTRY_SIZE;
}
