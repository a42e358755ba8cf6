/**
 * Packet reformat: adds headers around a frame, or removes them (docs/rules.md, "Packet reformat";
 * records in src/abi/reformat.ts).
 *
 *     L2_TO_L2_TUNNEL   data | whole frame              L2_TUNNEL_TO_L2          inner Ethernet ...
 *     L2_TO_L3_TUNNEL   data | after L2                 L3_TUNNEL_TO_L2   data | inner IP ...
 */
import { FRAME_ADDRESS, FRAME_LINK, FRAME_WIRE_LENGTH } from "../../../src/abi/engine";
import { Reason } from "../../../src/abi/outcome";
import { Header, LEVEL_INNER, Link } from "../../../src/abi/headers";
import {
  L2_TO_L2_TUNNEL,
  L2_TUNNEL_TO_L2,
  L3_TUNNEL_TO_L2,
  REFORMAT_DATA,
  REFORMAT_ENTROPY,
  REFORMAT_IP,
  REFORMAT_LENGTH,
  REFORMAT_TYPE,
  REFORMAT_UDP,
  REFORMAT_VERSION,
} from "../../../src/abi/reformat";
import { drop } from "../../branch/outcome";
import { BRANCH_FRAME } from "../../branch/branch";
import { headerChecksum } from "../../wire/checksum";
import { moveStart, copyOnWrite } from "../../branch/bytes";
import { entropyPort } from "./sourcePort";
import { freshMap } from "../../branch/refresh";
import { behindLink, findHeader, findIp, NOWHERE } from "../../wire/frameMap";

const IPV6_SIZE: u32 = 40;

/** Runs a reformat record; false if the frame has ended. */
export function reformat(branch: usize, record: usize): bool {
  const type: u32 = load<u8>(record, REFORMAT_TYPE);
  const map = freshMap(branch);
  if (type == L2_TUNNEL_TO_L2 || type == L3_TUNNEL_TO_L2) {
    const offset = innerOffset(map, type == L2_TUNNEL_TO_L2);
    return offset == NOWHERE ? drop(branch, Reason.not_a_tunnel) : putInFront(branch, record, offset, 0);
  }
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const port: u32 = load<u8>(record, REFORMAT_ENTROPY) ? entropyPort(frame, map) : 0;
  return putInFront(branch, record, type == L2_TO_L2_TUNNEL ? 0 : behindLink(frame, map), port);
}

/** Whether an action removes headers, which requires the inner packet from the parser. */
export function takesOff(record: usize): bool {
  const type: u32 = load<u8>(record, REFORMAT_TYPE);
  return type == L2_TUNNEL_TO_L2 || type == L3_TUNNEL_TO_L2;
}

/** Removes `strip` bytes, and puts the data of the record in their place. */
function putInFront(branch: usize, record: usize, strip: u32, port: u32): bool {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const length: u32 = load<u16>(record, REFORMAT_LENGTH);
  const wire: u64 = <u64>(load<u32>(frame, FRAME_WIRE_LENGTH) - strip) + <u64>length;
  if (tooLong(record, wire)) return drop(branch, Reason.frame_too_long);
  moveStart(branch, strip);
  store<u8>(frame, Link.ethernet, FRAME_LINK);
  if (length == 0) return true;
  if (!copyOnWrite(branch, length)) return false;
  moveStart(branch, -(<i32>length));
  const at: usize = load<u32>(frame, FRAME_ADDRESS);
  memory.copy(at, record + REFORMAT_DATA, length);
  if (load<u8>(record, REFORMAT_VERSION) != 0) fixUp(at, record, <u32>wire, port);
  return true;
}

/**
 * Whether a length does not fit its field in the new headers; if all fit, the frame fits too.
 * Decapsulation makes no frame longer.
 */
function tooLong(record: usize, wire: u64): bool {
  const version: u32 = load<u8>(record, REFORMAT_VERSION);
  if (version == 0) return false;
  const packet = wire - <u64>load<u16>(record, REFORMAT_IP);
  return (version == 6 ? packet - <u64>IPV6_SIZE : packet) > 0xffff;
}

/** Writes the lengths and the IPv4 header checksum of the new headers. */
function fixUp(at: usize, record: usize, wire: u32, port: u32): void {
  const offset: u32 = load<u16>(record, REFORMAT_IP);
  const ip = at + <usize>offset;
  const packet = wire - offset;
  if (load<u8>(record, REFORMAT_VERSION) == 6) {
    store<u16>(ip, bswap<u16>(<u16>(packet - IPV6_SIZE)), 4);
  } else {
    store<u16>(ip, bswap<u16>(<u16>packet), 2);
    store<u16>(ip, 0, 10);
    store<u16>(ip, headerChecksum(ip), 10);
  }
  const udpOffset: u32 = load<u16>(record, REFORMAT_UDP);
  if (udpOffset == 0) return;
  const udp = at + <usize>udpOffset;
  store<u16>(udp, bswap<u16>(<u16>(wire - udpOffset)), 4);
  if (port != 0) store<u16>(udp, bswap<u16>(<u16>port));
}

/** The offset of the inner Ethernet header, or of the inner IP header. */
function innerOffset(map: usize, ethernet: bool): u32 {
  return ethernet ? findHeader(map, LEVEL_INNER, Header.ethernet) : findIp(map, LEVEL_INNER);
}
