/**
 * Receive side scaling: a hash over header fields selects one of several queues. In: a branch and
 * an RSS record (src/abi/state.ts). Out: the queue (docs/queues.md).
 *
 * The hash runs over | addresses | ports | SPI | of the outer packet, then of the inner one: the
 * selected fields that are present.
 */
import { FRAME_ADDRESS } from "../../src/abi/engine";
import {
  HASH_TOEPLITZ,
  HASH_XOR8,
  RSS_DESTINATION,
  RSS_DESTINATION_PORT,
  RSS_FUNCTION,
  RSS_INNER,
  RSS_IPV6,
  RSS_KEY,
  RSS_KEY_SIZE,
  RSS_MASK,
  RSS_OUTER,
  RSS_QUEUES,
  RSS_SOURCE,
  RSS_SOURCE_PORT,
  RSS_SPI,
  RSS_SYMMETRIC,
  RSS_UDP,
} from "../../src/abi/state";
import { Header, LEVEL_INNER, LEVEL_OUTER, MAP_ENTRY_SIZE } from "../../src/abi/headers";
import { HASHED_ABSENT, HASHED_FRAGMENT } from "../../src/abi/trace";
import { BRANCH_FRAME } from "../branch/branch";
import { noteHash, noteHashed, noteLeftOut } from "../branch/events";
import { freshMap } from "../branch/refresh";
import { be16 } from "../wire/cursor";
import { entriesEnd, firstEntry, kindOf, levelOf, offsetIn } from "../wire/frameMap";

const ADDRESSES: u32 = RSS_SOURCE | RSS_DESTINATION;
const PORTS: u32 = RSS_SOURCE_PORT | RSS_DESTINATION_PORT;

/** Two addresses, SPI and ports of both packets at most. */
const INPUT: usize = memory.data(80, 8);

namespace Input {
  export let length: usize = 0;
}

/** The queue for the frame of the branch. */
export function rssQueue(branch: usize, record: usize): u32 {
  const hash = hashOf(branch, record);
  const number = hash & load<u32>(record, RSS_MASK);
  if (TRACED) noteHash(record, hash, number, INPUT, Input.length);
  return load<u32>(<usize>load<u32>(record, RSS_QUEUES) + ((<usize>number) << 2));
}

/** Whether fields of the inner packet are selected. */
export function hashesInner(record: usize): bool {
  return load<u8>(record, RSS_INNER) != 0;
}

function hashOf(branch: usize, record: usize): u32 {
  const map = freshMap(branch);
  const frame: usize = load<u32>(load<u32>(branch, BRANCH_FRAME), FRAME_ADDRESS);
  const symmetric = load<u8>(record, RSS_SYMMETRIC) != 0;
  Input.length = 0;
  gather(frame, map, LEVEL_OUTER, load<u8>(record, RSS_OUTER), symmetric);
  gather(frame, map, LEVEL_INNER, load<u8>(record, RSS_INNER), symmetric);
  switch (<i32>load<u8>(record, RSS_FUNCTION)) {
    case HASH_TOEPLITZ:
      return toeplitz(record + RSS_KEY);
    case HASH_XOR8:
      return xor8();
    default:
      return 0;
  }
}

/** Adds the selected fields of a level, from the first header that has them. */
function gather(frame: usize, map: usize, level: u32, fields: u32, symmetric: bool): void {
  const ip: u32 = fields & RSS_IPV6 ? Header.ipv6 : Header.ipv4;
  const upper: u32 = fields & RSS_UDP ? Header.udp : Header.tcp;
  let left = fields & (ADDRESSES | PORTS | RSS_SPI);
  const end = entriesEnd(map);
  for (let entry = firstEntry(map); entry < end && left != 0; entry += MAP_ENTRY_SIZE) {
    if (levelOf(entry) != level) continue;
    const kind = kindOf(entry);
    const at = frame + <usize>offsetIn(entry);
    // Ports of fragments are not hashed, so that all fragments of a packet reach one queue.
    if (
      kind == Header.ipv4 ? load<u16>(at, 6) & 0xff3f : kind == Header.ipv6_fragment ? load<u16>(at, 2) & 0xf9ff : 0
    ) {
      if (TRACED) noteLeftOut(level, left & PORTS, HASHED_FRAGMENT, fragmentOffset(kind, at));
      left &= ~PORTS;
    }
    if (kind == ip) {
      const size: usize = kind == Header.ipv6 ? 16 : 4;
      if (TRACED) notePair(level, kind, at + (size == 16 ? 8 : 12), size, left & RSS_SOURCE, left & RSS_DESTINATION);
      pair(at + (size == 16 ? 8 : 12), size, left & RSS_SOURCE, left & RSS_DESTINATION, symmetric);
      left &= ~ADDRESSES;
    } else if (kind == Header.esp && left & RSS_SPI) {
      if (TRACED) noteHashed(level, RSS_SPI, kind, at, 4);
      add(at, 4);
      left &= ~RSS_SPI;
    } else if (kind == upper) {
      if (TRACED) notePair(level, kind, at, 2, left & RSS_SOURCE_PORT, left & RSS_DESTINATION_PORT);
      pair(at, 2, left & RSS_SOURCE_PORT, left & RSS_DESTINATION_PORT, symmetric);
      left &= ~PORTS;
    }
  }
  if (TRACED) noteLeftOut(level, left, HASHED_ABSENT, 0);
}

/** The fragment offset in bytes that an IPv4 header or an IPv6 fragment header has. For the traced core only. */
function fragmentOffset(kind: u32, at: usize): u32 {
  return kind == Header.ipv4 ? (be16(at + 6) & 0x1fff) << 3 : be16(at + 2) & 0xfff8;
}

/** Notes the selected fields of a pair. For the traced core only. */
function notePair(level: u32, kind: u32, at: usize, size: usize, source: u32, destination: u32): void {
  if (source != 0) noteHashed(level, source, kind, at, size);
  if (destination != 0) noteHashed(level, destination, kind, at + size, size);
}

/**
 * Adds the source at `at` and the destination after it. For a symmetric hash over both it adds
 * their OR and XOR instead.
 */
function pair(at: usize, size: usize, source: u32, destination: u32, symmetric: bool): void {
  if (symmetric && source != 0 && destination != 0) {
    const to = INPUT + Input.length;
    for (let i: usize = 0; i < size; i++) {
      const one = load<u8>(at + i);
      const other = load<u8>(at + size + i);
      store<u8>(to + i, one | other);
      store<u8>(to + size + i, one ^ other);
    }
    Input.length += 2 * size;
    return;
  }
  if (source != 0) add(at, size);
  if (destination != 0) add(at + size, size);
}

// @ts-ignore: decorator
@inline
function add(at: usize, size: usize): void {
  memory.copy(INPUT + Input.length, at, size);
  Input.length += size;
}

/**
 * For each set bit of the input, from the first on, XORs the 32 bits of the key that begin there.
 * The key repeats.
 */
function toeplitz(key: usize): u32 {
  let hash: u32 = 0;
  let window = bswap(load<u64>(key));
  let next: usize = 8;
  for (let i: usize = 0; i < Input.length; i++) {
    const byte: u32 = load<u8>(INPUT + i);
    for (let bit: u32 = 0x80; bit != 0; bit >>= 1) {
      if (byte & bit) hash ^= <u32>(window >> 32);
      window <<= 1;
    }
    window |= <u64>load<u8>(key + next);
    next = next + 1 == <usize>RSS_KEY_SIZE ? 0 : next + 1;
  }
  return hash;
}

/** The XOR of all bytes, inverted. */
function xor8(): u32 {
  let hash: u32 = 0xff;
  for (let i: usize = 0; i < Input.length; i++) hash ^= load<u8>(INPUT + i);
  return hash;
}
