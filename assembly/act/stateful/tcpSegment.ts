/**
 * The TCP segment of a frame's outer packet, as connection tracking reads it (docs/conntrack.md;
 * RFC 9293 section 3.1).
 * In: a frame and its map. Out: Segment, whose options are whole in the captured bytes.
 */
import { FRAME_ADDRESS, FRAME_LENGTH, FRAME_WIRE_LENGTH } from "../../../src/abi/engine";
import { SegmentKind } from "../../../src/abi/connection";
import { Check } from "../../../src/abi/trace";
import { Header, LEVEL_OUTER, MAP_ENTRY_SIZE } from "../../../src/abi/headers";
import { noteCheck } from "../../branch/events";
import { be16, be32 } from "../../wire/cursor";
import { entriesEnd, firstEntry, kindOf, levelOf, offsetIn } from "../../wire/frameMap";

const FIN: u32 = 1;
const SYN: u32 = 2;
const RST: u32 = 4;
const ACK: u32 = 16;

const TCP_SIZE: u32 = 20;
const IPV6_SIZE: u32 = 40;
/** More fragments, or a fragment offset: in IPv4, and in the fragment header of IPv6. */
const FRAGMENT4: u32 = 0x3fff;
const FRAGMENT6: u32 = 0xfff9;

const OPTION_END: u32 = 0;
const OPTION_NOP: u32 = 1;
const OPTION_SCALE: u32 = 3;
const OPTION_SACK_PERMITTED: u32 = 4;
const OPTION_SACK: u32 = 5;
/** The largest shift (RFC 7323 section 2.3). */
const MAX_SCALE: u32 = 14;

export namespace Segment {
  /** A SegmentKind. */
  export let kind: u32 = 0;
  export let hasAck: bool = false;
  export let seq: u32 = 0;
  /** The sequence number after the segment: payload, SYN and FIN take numbers. */
  export let end: u32 = 0;
  /** 0 without ACK. */
  export let ack: u32 = 0;
  /** As in the header, not scaled. */
  export let window: u32 = 0;
  export let options: usize = 0;
  export let optionsEnd: usize = 0;
}

/** Compares sequence numbers modulo 2^32 (RFC 9293 section 3.4). */
// @ts-ignore: decorator
@inline
export function isAfter(a: u32, b: u32): bool {
  return <i32>(a - b) > 0;
}

/** Reads the segment of a frame; false if the frame is bad. */
export function readSegment(frame: usize, map: usize): bool {
  const begin: usize = load<u32>(frame, FRAME_ADDRESS);
  const captured = load<u32>(frame, FRAME_LENGTH);
  const onWire = max(load<u32>(frame, FRAME_WIRE_LENGTH), captured);
  const end = entriesEnd(map);
  let packetEnd: u32 = 0;
  for (let entry = firstEntry(map); entry < end; entry += MAP_ENTRY_SIZE) {
    if (levelOf(entry) != LEVEL_OUTER) break;
    const offset = offsetIn(entry);
    const at = begin + <usize>offset;
    switch (kindOf(entry)) {
      case Header.ipv4:
        if (be16(at + 6) & FRAGMENT4) {
          if (TRACED) noteCheck(Check.fragment);
          return false;
        }
        packetEnd = endOf(offset, be16(at + 2), 0, onWire);
        break;
      case Header.ipv6:
        packetEnd = endOf(offset, be16(at + 4), IPV6_SIZE, onWire);
        break;
      case Header.ipv6_fragment:
        if (be16(at + 2) & FRAGMENT6) {
          if (TRACED) noteCheck(Check.fragment);
          return false;
        }
        break;
      case Header.tcp:
        if (packetEnd > onWire) {
          if (TRACED) noteCheck(Check.packet_beyond_frame, packetEnd, onWire);
          return false;
        }
        return readTcp(at, offset, packetEnd, captured);
      default:
        break;
    }
  }
  if (TRACED) noteCheck(Check.no_tcp);
  return false;
}

/** The end of the packet. With a length of 0 it is the end of the frame. */
function endOf(offset: u32, length: u32, beside: u32, onWire: u32): u32 {
  return length == 0 ? onWire : offset + length + beside;
}

function readTcp(at: usize, offset: u32, packetEnd: u32, captured: u32): bool {
  const size = (<u32>(load<u8>(at, 12) >> 4)) << 2;
  if (size < TCP_SIZE) {
    if (TRACED) noteCheck(Check.tcp_data_offset, size >> 2);
    return false;
  }
  if (offset + size > min(packetEnd, captured)) {
    if (TRACED) noteCheck(Check.tcp_header_cut, offset + size, min(packetEnd, captured));
    return false;
  }
  const flags: u32 = load<u8>(at, 13);
  const kind = segmentKind(flags);
  if (kind == SegmentKind.none) {
    if (TRACED) noteCheck(Check.tcp_flags, flags);
    return false;
  }
  Segment.kind = kind;
  Segment.hasAck = (flags & ACK) != 0;
  Segment.seq = be32(at + 4);
  Segment.end = Segment.seq + (packetEnd - offset - size) + (flags & (SYN | FIN) ? 1 : 0);
  Segment.ack = Segment.hasAck ? be32(at + 8) : 0;
  Segment.window = be16(at + 14);
  Segment.options = at + <usize>TCP_SIZE;
  Segment.optionsEnd = at + <usize>size;
  return true;
}

function segmentKind(flags: u32): u32 {
  switch (flags & (SYN | FIN | RST)) {
    case SYN:
      return flags & ACK ? SegmentKind.syn_ack : SegmentKind.syn;
    case RST:
      return SegmentKind.rst;
    case FIN:
      return flags & ACK ? SegmentKind.fin : SegmentKind.none;
    case 0:
      return flags & ACK ? SegmentKind.ack : SegmentKind.none;
    default:
      return SegmentKind.none;
  }
}

/**
 * The first option at or after `from` with this kind and length; 0 for none. Length 0 matches any
 * length.
 */
function optionFrom(from: usize, kind: u32, length: usize): usize {
  let at = from;
  const end = Segment.optionsEnd;
  while (at < end) {
    const here: u32 = load<u8>(at);
    if (here == OPTION_END) return 0;
    if (here == OPTION_NOP) {
      at++;
      continue;
    }
    if (end - at < 2) return 0;
    const size = <usize>load<u8>(at, 1);
    if (size < 2 || size > end - at) return 0;
    if (here == kind && (length == 0 || size == length)) return at;
    at += size;
  }
  return 0;
}

/** The window scale of a SYN (RFC 7323 section 2.2); `none` if it has no such option. */
export function scaleOption(none: u32): u32 {
  const option = optionFrom(Segment.options, OPTION_SCALE, 3);
  return option == 0 ? none : min<u32>(load<u8>(option, 2), MAX_SCALE);
}

/** Whether a SYN permits SACK (RFC 2018 section 2). */
export function permitsSack(): bool {
  return optionFrom(Segment.options, OPTION_SACK_PERMITTED, 2) != 0;
}

/**
 * The acknowledgement number, or the furthest right edge of a SACK block after it (RFC 2018 section
 * 3).
 */
export function reachWithSack(): u32 {
  let reach = Segment.ack;
  let option = optionFrom(Segment.options, OPTION_SACK, 0);
  while (option != 0) {
    const size = <usize>load<u8>(option, 1);
    if (size > 2 && (size - 2) % 8 == 0) {
      for (let edge = option + 6; edge < option + size; edge += 8) {
        const right = be32(edge);
        if (isAfter(right, reach)) reach = right;
      }
    }
    option = optionFrom(option + size, OPTION_SACK, 0);
  }
  return reach;
}
