/**
 * The IP packet that an ESP action changes: the offsets of its parts, and the updates when its size
 * changes.
 *
 *     | link, tags | IP header, extension headers | what they carry ...        | Ethernet padding |
 *     0            ip             protocolAt      next                        end
 */
import { FRAME_ADDRESS, FRAME_LENGTH, FRAME_LINK, FRAME_WIRE_LENGTH } from "../../src/abi/engine";
import { Header, LEVEL_OUTER, Link, MAP_ENTRY_SIZE } from "../../src/abi/headers";
import {
  ETHERTYPE_IPV4,
  ETHERTYPE_IPV6,
  PROTOCOL_AH,
  PROTOCOL_DESTINATION,
  PROTOCOL_FRAGMENT,
  PROTOCOL_HOP_BY_HOP,
  PROTOCOL_IPV4,
  PROTOCOL_IPV6,
  PROTOCOL_ROUTING,
  PROTOCOL_UDP,
} from "../../src/abi/protocols";
import { freshMap } from "../branch/refresh";
import { BRANCH_FLAGS, BRANCH_FRAME, CHANGED, STALE_KEY, STALE_MAP } from "../branch/branch";
import { headerChecksum } from "../wire/checksum";
import { be16 } from "../wire/cursor";
import { behindLink, entriesEnd, firstEntry, kindOf, levelOf, offsetIn } from "../wire/frameMap";

const IPV4_SIZE: u32 = 20;
const IPV6_SIZE: u32 = 40;
const COOKED_V2_SIZE: u32 = 20;
/** MF and the offset of an IPv4 header, as on the wire. */
const PARTS: u32 = 0x3fff;

/** Offsets are from the start of the frame. */
export namespace Packet {
  export let ip: u32 = 0;
  /** 4 or 6. */
  export let version: u32 = 0;
  /** The offset of the byte with the next header, and its value. */
  export let protocolAt: u32 = 0;
  export let protocol: u32 = 0;
  export let next: u32 = 0;
  /** The end of the packet by its own length; 0 if the length is missing or invalid. */
  export let end: u32 = 0;
  /** Whether the packet is a fragment, and whether it is not the first one. */
  export let fragment: bool = false;
  export let later: bool = false;
}

/**
 * Finds the packet after the link header of a branch; false if there is none. `toSend`: the walk
 * passes destination options only before a routing header (RFC 4303, 3.1.1).
 */
export function findPacket(branch: usize, toSend: bool): bool {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const map = freshMap(branch);
  Packet.ip = behindLink(frame, map);
  const kind = kindAt(map, Packet.ip);
  const at = <usize>load<u32>(frame, FRAME_ADDRESS);
  const captured = load<u32>(frame, FRAME_LENGTH);
  if (kind == Header.ipv4) return findIpv4(at, captured);
  return kind == Header.ipv6 && findIpv6(at, captured, toSend);
}

/** The kind of the header that the parser found at an offset of the outer packet. */
function kindAt(map: usize, offset: u32): u32 {
  const end = entriesEnd(map);
  for (let entry = firstEntry(map); entry < end; entry += MAP_ENTRY_SIZE) {
    // Unreached: the header after the link is an outer one.
    if (offsetIn(entry) == offset) return levelOf(entry) == LEVEL_OUTER ? kindOf(entry) : Header.none;
  }
  return Header.none;
}

/** Requires that the parser has read the whole IPv4 header. */
function findIpv4(frame: usize, captured: u32): bool {
  const ip = frame + Packet.ip;
  const size = ((<u32>load<u8>(ip)) & 15) << 2;
  const total = be16(ip + 2);
  const parts = be16(ip + 6) & PARTS;
  Packet.version = 4;
  Packet.protocolAt = Packet.ip + 9;
  Packet.protocol = load<u8>(ip, 9);
  Packet.next = Packet.ip + size;
  Packet.end = total < size || Packet.ip + total > captured ? 0 : Packet.ip + total;
  Packet.fragment = parts != 0;
  Packet.later = (parts & 0x1fff) != 0;
  return true;
}

/**
 * A cut extension header ends the walk: the rest may not be ESP, and is not whole. Headers after
 * the place of ESP can still mark the packet as a fragment.
 */
function findIpv6(frame: usize, captured: u32, toSend: bool): bool {
  const ip = frame + Packet.ip;
  const payload = be16(ip + 4);
  const end = Packet.ip + IPV6_SIZE + payload;
  Packet.version = 6;
  Packet.end = payload == 0 || end > captured ? 0 : end;
  Packet.fragment = false;
  Packet.later = false;
  let at = Packet.ip + IPV6_SIZE;
  let protocolAt = Packet.ip + 6;
  let next: u32 = load<u8>(ip, 6);
  let stopped = false;
  const limit = Packet.end == 0 ? captured : Packet.end;
  while (at + 8 <= captured) {
    const header = frame + at;
    const behind: u32 = load<u8>(header);
    let size = (<u32>load<u8>(header, 1) + 1) << 3;
    if (next == PROTOCOL_FRAGMENT) {
      const parts = be16(header + 2) & 0xfff9;
      size = 8;
      if (parts != 0 && at + 8 <= limit) Packet.fragment = true;
      Packet.later = parts >> 3 != 0;
    } else if (next == PROTOCOL_AH) {
      size = (<u32>load<u8>(header, 1) + 2) << 2;
    } else if (next != PROTOCOL_HOP_BY_HOP && next != PROTOCOL_ROUTING && next != PROTOCOL_DESTINATION) {
      break;
    }
    if (at + size > captured) break;
    if (!stopped && (next == PROTOCOL_AH || (toSend && next == PROTOCOL_DESTINATION && behind != PROTOCOL_ROUTING))) {
      stopped = true;
      place(at, next, protocolAt);
    }
    protocolAt = at;
    next = behind;
    at += size;
    if (Packet.later) break;
  }
  if (!stopped) place(at, next, protocolAt);
  if (Packet.end < Packet.next) Packet.end = 0;
  return true;
}

/** The place of the ESP header. */
function place(at: u32, protocol: u32, protocolAt: u32): void {
  Packet.next = at;
  Packet.protocol = protocol;
  Packet.protocolAt = protocolAt;
}

/**
 * The length in the header of an IP packet or UDP datagram at `at`; 0 if it cannot be read or is
 * invalid.
 */
export function ownLength(at: usize, available: u32, protocol: u32): u32 {
  let length: u32 = 0;
  let least: u32 = 0;
  if (protocol == PROTOCOL_IPV4) {
    if (available < IPV4_SIZE || load<u8>(at) >> 4 != 4) return 0;
    least = ((<u32>load<u8>(at)) & 15) << 2;
    if (least < IPV4_SIZE) return 0;
    length = be16(at + 2);
  } else if (protocol == PROTOCOL_IPV6) {
    least = IPV6_SIZE;
    if (available < least || load<u8>(at) >> 4 != 6) return 0;
    length = IPV6_SIZE + be16(at + 4);
  } else if (protocol == PROTOCOL_UDP) {
    least = 8;
    if (available < least) return 0;
    length = be16(at + 4);
  }
  return length < least || length > available ? 0 : length;
}

/** Whether the length field of an IP header at an address can hold a packet of `bytes` bytes. */
// @ts-ignore: decorator
@inline
export function lengthFits(version: u32, bytes: u32): bool {
  return (version == 6 ? bytes - IPV6_SIZE : bytes) <= 0xffff;
}

/** Sets the length in the IP header at `ip`. */
export function setLength(ip: usize, version: u32, bytes: u32): void {
  if (version == 6) {
    store<u16>(ip, bswap<u16>(<u16>(bytes - IPV6_SIZE)), 4);
    return;
  }
  store<u16>(ip, bswap<u16>(<u16>bytes), 2);
  store<u16>(ip, 0, 10);
  store<u16>(ip, headerChecksum(ip), 10);
}

/** Sets the bytes of the frame, which makes its key and map stale. */
export function reshape(branch: usize, start: usize, length: u32): void {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  store<u32>(frame, <u32>start, FRAME_ADDRESS);
  store<u32>(frame, length, FRAME_LENGTH);
  store<u32>(frame, length, FRAME_WIRE_LENGTH);
  store<u32>(branch, load<u32>(branch, BRANCH_FLAGS) | CHANGED | STALE_KEY | STALE_MAP, BRANCH_FLAGS);
}

/**
 * Sets the EtherType of the link header of `size` bytes at `start` to this IP version. If the link
 * header has no EtherType, the frame begins after it. Returns the start of the frame.
 */
export function announce(frame: usize, start: usize, size: u32, version: u32): usize {
  const ethertype = bswap<u16>(<u16>(version == 6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4));
  switch (<u32>load<u8>(frame, FRAME_LINK)) {
    case Link.ethernet:
    case Link.linux_cooked:
      store<u16>(start + size - 2, ethertype);
      return start;
    case Link.linux_cooked_v2:
      // After tags, the EtherType follows the last one.
      store<u16>(size == COOKED_V2_SIZE ? start : start + size - 2, ethertype);
      return start;
    default:
      store<u8>(frame, Link.raw_ip, FRAME_LINK);
      return start + size;
  }
}
