/**
 * The UDP source port of a tunnel, for the entropy of ECMP (docs/rules.md; RFC 7348 section 5). In:
 * the inner packet. Out: a port from 49152 on.
 * The hash is FNV-1a of 32 bits over both addresses, the protocol, and the ports of TCP and UDP.
 */
import { FRAME_ADDRESS, FRAME_LENGTH, FRAME_LINK } from "../../../src/abi/engine";
import { Header, LEVEL_OUTER, Link, MAP_ENTRY_SIZE } from "../../../src/abi/headers";
import { entriesEnd, firstEntry, kindOf, levelOf, offsetIn } from "../../wire/frameMap";

const OFFSET_BASIS: u32 = 0x811c9dc5;
const PRIME: u32 = 0x01000193;
const FIRST_PORT: u32 = 0xc000;

export function entropyPort(frame: usize, map: usize): u32 {
  const hash = hashOf(frame, map);
  return FIRST_PORT | ((hash ^ (hash >> 14) ^ (hash >> 28)) & 0x3fff);
}

function hashOf(frame: usize, map: usize): u32 {
  const at: usize = load<u32>(frame, FRAME_ADDRESS);
  let hash = OFFSET_BASIS;
  let header: usize = 0;
  let protocol: u32 = 0;
  const end = entriesEnd(map);
  for (let entry = firstEntry(map); entry < end; entry += MAP_ENTRY_SIZE) {
    if (levelOf(entry) != LEVEL_OUTER) break;
    const kind = kindOf(entry);
    const here = at + <usize>offsetIn(entry);
    if (kind == Header.ipv4) {
      hash = over(hash, here + 12, 8);
      header = here;
      protocol = load<u8>(here, 9);
    } else if (kind == Header.ipv6) {
      hash = over(hash, here + 8, 32);
      header = here;
      protocol = load<u8>(here, 6);
    } else if (header != 0 && isExtension(kind)) {
      protocol = load<u8>(here);
    } else if (header != 0 && (kind == Header.tcp || kind == Header.udp)) {
      return over(one(hash, protocol), here, 4);
    }
  }
  if (header != 0) return one(hash, protocol);
  const macs = load<u8>(frame, FRAME_LINK) == Link.ethernet ? min<u32>(load<u32>(frame, FRAME_LENGTH), 12) : 0;
  return over(hash, at, macs);
}

function isExtension(kind: u32): bool {
  return kind >= <u32>Header.ipv6_hop_by_hop && kind <= <u32>Header.ah;
}

function over(hash: u32, at: usize, bytes: u32): u32 {
  for (let i: usize = 0; i < bytes; i++) hash = one(hash, load<u8>(at + i));
  return hash;
}

// @ts-ignore: decorator
@inline
function one(hash: u32, byte: u32): u32 {
  return (hash ^ byte) * PRIME;
}
