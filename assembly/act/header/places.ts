/**
 * Places of headers in a frame. In: a frame and its map. Out: the offset of each place, found once
 * per action.
 * A place is | level * PLACE_INNER + header |; the first header of a kind and level counts
 * (docs/rules.md, "Modify header").
 */
import { PLACE_INNER, Place } from "../../../src/abi/program";
import { Header, LEVEL_INNER, MAP_ENTRY_SIZE } from "../../../src/abi/headers";
import { hasMetadata, METADATA_SIZE } from "../../wire/ethernet";
import { entriesEnd, firstEntry, kindOf, levelOf, offsetIn } from "../../wire/frameMap";

/**
 * Places of headers that programs do not change, but whose checksums or segments matter. Their
 * numbers follow those of Place.
 */
export const PLACE_ICMPV6: u32 = 9;
export const PLACE_GRE: u32 = 10;
export const PLACE_ROUTING: u32 = 11;
const PLACES: u32 = 2 * PLACE_INNER;
const SEGMENTS_LEFT: usize = 3;

/** For each place | offset in the frame + 1 |, 0 if the frame does not have it. */
const OFFSETS: usize = memory.data(<i32>(PLACES * 4), 16);
const NONE: u32 = 255;

/** Stores the offsets of the headers of the frame at `frame`, from its map. */
export function find(map: usize, frame: usize): void {
  memory.fill(OFFSETS, 0, PLACES * 4);
  const end = entriesEnd(map);
  for (let entry = firstEntry(map); entry < end; entry += MAP_ENTRY_SIZE) {
    const kind = kindOf(entry);
    const base: u32 = levelOf(entry) == LEVEL_INNER ? PLACE_INNER : 0;
    const offset = offsetIn(entry) + 1;
    const place = placeOf(kind);
    // Only a routing header with segments left counts.
    if (place == PLACE_ROUTING && load<u8>(frame + <usize>offsetIn(entry), SEGMENTS_LEFT) == 0) continue;
    if (place != NONE) noteFirst(base + place, offset);
    if (kind == Header.ipv4 || kind == Header.ipv6) noteFirst(base + Place.ip, offset);
    // The EtherType follows the addresses and the metadata element of ESP actions, or the last tag.
    if (kind == Header.ethernet) {
      const metadata = hasMetadata(frame + <usize>offsetIn(entry)) ? METADATA_SIZE : 0;
      set(base + Place.ethertype, offset + 12 + metadata);
    }
    if (kind == Header.vlan && offsetOf(base + Place.ethertype) != 0) set(base + Place.ethertype, offset + 2);
  }
}

/** The offset of a place in the frame + 1; 0 if the frame does not have it. */
// @ts-ignore: decorator
@inline
export function offsetOf(place: u32): u32 {
  return load<u32>(OFFSETS + ((<usize>place) << 2));
}

// @ts-ignore: decorator
@inline
function set(place: u32, offset: u32): void {
  store<u32>(OFFSETS + ((<usize>place) << 2), offset);
}

// @ts-ignore: decorator
@inline
function noteFirst(place: u32, offset: u32): void {
  if (offsetOf(place) == 0) set(place, offset);
}

function placeOf(kind: u32): u32 {
  switch (kind) {
    case Header.ethernet:
      return Place.ethernet;
    case Header.vlan:
      return Place.vlan;
    case Header.ipv4:
      return Place.ipv4;
    case Header.ipv6:
      return Place.ipv6;
    case Header.tcp:
      return Place.tcp;
    case Header.udp:
      return Place.udp;
    case Header.gtpu:
      return Place.gtpu;
    case Header.icmpv6:
      return PLACE_ICMPV6;
    case Header.gre:
      return PLACE_GRE;
    case Header.ipv6_routing:
      return PLACE_ROUTING;
    default:
      return NONE;
  }
}
