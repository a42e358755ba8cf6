/**
 * The position of the parser in a frame.
 * In: the bytes of the frame. Every header function reads from `at`, never at or past `end`, and
 * moves `at` past its header.
 *
 *     frame                at                          end              wireEnd
 *     | headers read       | to be read                | not captured   |
 * Always `end <= wireEnd`: `end` bounds reads; `wireEnd` is the end of the packet on the wire,
 * which lengths are checked against. SPEC: a header is parsed whole or not at all
 * (docs/parsing.md). One call of `has` before its fields makes all reads of a header safe.
 */
import {
  MAP_COUNT,
  MAP_ENTRIES,
  MAP_ENTRY_SIZE,
  MAP_FIRST,
  MAP_STOP_HAD,
  MAP_STOP_HEADER,
  MAP_STOP_OFFSET,
  MAP_STOP_WANTED,
  MAP_STOP_WHY,
  Stop,
} from "../../src/abi/headers";
import { PRESENT_TUNNEL_DWORD, MISC5_TUNNEL_HEADER } from "../../src/abi/key";

export namespace Cursor {
  export let frame: usize = 0;
  export let at: usize = 0;
  export let end: usize = 0;
  export let wireEnd: usize = 0;
  /** LEVEL_OUTER or LEVEL_INNER. */
  export let level: u32 = 0;
  /** The frame map being written. */
  export let map: usize = 0;
  /** Checksums to verify at this level (checksum.ts). */
  export let checks: u32 = 0;
  /** Presence bits found at this level. */
  export let present: u32 = 0;
  /** Presence bits of tunnels. */
  export let tunnels: u32 = 0;
}

/** The groups of this frame's key. A group that no rule reads goes to the scratch key. */
export namespace Key {
  /** The group outer or inner, by the current level. */
  export let layer: usize = 0;
  export let outer: usize = 0;
  export let inner: usize = 0;
  // Base addresses: `base + key offset` is the field, in the key or in the scratch key.
  export let misc: usize = 0;
  export let misc2: usize = 0;
  export let misc3: usize = 0;
  export let misc4: usize = 0;
  export let misc5: usize = 0;
  export let ext: usize = 0;
}

/** Big-endian reads. */
// @ts-ignore: decorator
@inline
export function be16(address: usize): u32 {
  const word: u32 = load<u16>(address);
  return ((word & 0xff) << 8) | (word >> 8);
}

// @ts-ignore: decorator
@inline
export function be32(address: usize): u32 {
  return bswap(load<u32>(address));
}

/** Lists a header that begins at `at`. */
// @ts-ignore: decorator
@inline
export function note(kind: u32, at: usize): void {
  const map = Cursor.map;
  const count: u32 = load<u16>(map, MAP_COUNT);
  if (count >= <u32>MAP_ENTRIES) return;
  const entry = map + <usize>count * MAP_ENTRY_SIZE;
  store<u32>(entry, kind | (Cursor.level << 8), MAP_FIRST);
  store<u32>(entry, <u32>(at - Cursor.frame), MAP_FIRST + 4);
  store<u16>(map, <u16>(count + 1), MAP_COUNT);
}

/** Stores the first four dwords of a tunnel header at `at`, or fewer if it is shorter. */
export function tunnelDwords(at: usize, count: usize): void {
  const dwords = min<usize>(count, 4);
  for (let n: usize = 0; n < dwords; n++)
    store<u32>(Key.misc5 + (n << 2), load<u32>(at + (n << 2)), MISC5_TUNNEL_HEADER);
  Cursor.tunnels |= ((1 << (<u32>dwords)) - 1) * PRESENT_TUNNEL_DWORD;
}

/**
 * Whether `bytes` more can be read at `at`. If not, the map records the header that stopped the
 * parse.
 */
// @ts-ignore: decorator
@inline
export function has(header: u32, bytes: usize): bool {
  if (Cursor.end - Cursor.at >= bytes) return true;
  short(header, bytes);
  return false;
}

/**
 * Records that the header needs `bytes` at `at` that are missing: the capture cut them, or they are
 * beyond the packet that carries the header.
 */
export function short(header: u32, bytes: usize): void {
  const at = Cursor.at;
  stop(header, Cursor.wireEnd - at >= bytes ? Stop.truncated : Stop.beyond_packet, bytes, Cursor.end - at);
}

/** Ends the parse at `at`. */
export function stop(header: u32, why: u32, wanted: usize, had: usize): void {
  const map = Cursor.map;
  store<u8>(map, <u8>header, MAP_STOP_HEADER);
  store<u8>(map, <u8>why, MAP_STOP_WHY);
  store<u32>(map, <u32>(Cursor.at - Cursor.frame), MAP_STOP_OFFSET);
  store<u32>(map, <u32>wanted, MAP_STOP_WANTED);
  store<u32>(map, <u32>had, MAP_STOP_HAD);
}
