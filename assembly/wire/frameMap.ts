/**
 * Reads a frame map (layout in src/abi/headers.ts): the headers of a frame and their offsets.
 * A scan visits the entries in the order of the frame:
 *
 *     const end = entriesEnd(map);
 *     for (let entry = firstEntry(map); entry < end; entry += MAP_ENTRY_SIZE) ...
 */
import { FRAME_ADDRESS, FRAME_LINK } from "../../src/abi/engine";
import { Header, LEVEL_OUTER, Link, MAP_COUNT, MAP_ENTRY_SIZE, MAP_FIRST } from "../../src/abi/headers";
import { hasMetadata, METADATA_SIZE } from "./ethernet";

/** The offset of a header that the frame does not have. */
export const NOWHERE: u32 = u32.MAX_VALUE;

// @ts-ignore: decorator
@inline
export function firstEntry(map: usize): usize {
  return map + MAP_FIRST;
}

/** The address after the last entry. */
// @ts-ignore: decorator
@inline
export function entriesEnd(map: usize): usize {
  return map + MAP_FIRST + <usize>load<u16>(map, MAP_COUNT) * MAP_ENTRY_SIZE;
}

/** The kind of the header of an entry (Header). */
// @ts-ignore: decorator
@inline
export function kindOf(entry: usize): u32 {
  return load<u8>(entry);
}

/** LEVEL_OUTER or LEVEL_INNER. */
// @ts-ignore: decorator
@inline
export function levelOf(entry: usize): u32 {
  return load<u8>(entry, 1);
}

/** Bytes from the start of the frame to the header. */
// @ts-ignore: decorator
@inline
export function offsetIn(entry: usize): u32 {
  return load<u32>(entry, 4);
}

/** The offset of the first header of a kind at a level; NOWHERE if there is none. */
// @ts-ignore: decorator
@inline
export function findHeader(map: usize, level: u32, kind: u32): u32 {
  return findKinds(map, level, kind, 0);
}

/** The offset of the first IP header of either version at a level; NOWHERE if there is none. */
// @ts-ignore: decorator
@inline
export function findIp(map: usize, level: u32): u32 {
  return findKinds(map, level, Header.ipv4, Header.ipv6 - Header.ipv4);
}

/** The same for the kinds `kind` to `kind + more`. */
function findKinds(map: usize, level: u32, kind: u32, more: u32): u32 {
  const end = entriesEnd(map);
  for (let entry = firstEntry(map); entry < end; entry += MAP_ENTRY_SIZE) {
    if (levelOf(entry) == level && kindOf(entry) - kind <= more) return offsetIn(entry);
  }
  return NOWHERE;
}

/**
 * The offset of the link layer's payload: after Ethernet and its tags, or after the pseudo header
 * of a capture.
 */
export function behindLink(frame: usize, map: usize): u32 {
  const link: u32 = load<u8>(frame, FRAME_LINK);
  if (link == Link.raw_ip || link == Link.ipv4 || link == Link.ipv6) return 0;
  let behind: u32 = 0;
  const end = entriesEnd(map);
  for (let entry = firstEntry(map); entry < end; entry += MAP_ENTRY_SIZE) {
    // Unreached: a header that is none of the link comes before the first inner one.
    if (levelOf(entry) != LEVEL_OUTER) break;
    const kind = kindOf(entry);
    const size = linkSize(kind);
    if (size == 0) break;
    behind = offsetIn(entry) + size;
    if (kind == Header.ethernet && hasMetadata(<usize>load<u32>(frame, FRAME_ADDRESS))) behind += METADATA_SIZE;
  }
  return behind;
}

/**
 * The size of a link header without the metadata element; 0 for every other kind. The entry of a
 * tag begins at its TCI.
 */
function linkSize(kind: u32): u32 {
  switch (kind) {
    case Header.ethernet:
      return 14;
    case Header.vlan:
    case Header.loopback:
      return 4;
    case Header.linux_cooked:
      return 16;
    case Header.linux_cooked_v2:
      return 20;
    default:
      return 0;
  }
}
