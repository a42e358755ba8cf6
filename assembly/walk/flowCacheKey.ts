/**
 * What the cache of decisions knows a frame by: where it came in, and all bytes of its key that rules of the device ask about.
 *
 *     0            4      8            11     12      14                     16
 *     | generation | root | port, link | kind | vport | generation: its rest | lanes ... |
 *
 * The kind is no part of the key: it says what an entry has behind its lanes (recordedLookups.ts).
 * The lanes are those of a definer that has the bytes of all tables' definers. It is made anew when one of these has other bytes.
 */
import { FRAME_PORT, FRAME_SIZE } from "../../src/abi/engine";
import { EXT_HERE_INNER, EXT_HERE_OUTER, EXT_HERE_TUNNEL, KEY_SIZE, NEEDS_CHANGES } from "../../src/abi/key";
import { CACHE_LANES, CACHE_MAX_LANES, FRAMES, HASHES } from "../memory";
import { addBytes, addRanged, Definers, DEFINER_SIZE, LAID_SIZE, layOut } from "../classify/definer";
import { gatherTo } from "../classify/gather";
import { Epoch, invalidate } from "../epoch";
import { SEED, stirred } from "../classify/mask";
import { Required } from "../wire/required";
import { TABLE_DEFINER, TABLE_NEXT, Tables } from "../classify/tableLayout";

/** Bytes in front of the lanes. */
export const ENTRY_LANES: usize = 16;
export const ENTRY_KIND: usize = 11;

const DEFINER: usize = memory.data(<i32>DEFINER_SIZE, 16);
const PROGRAM: usize = memory.data(<i32>LAID_SIZE, 16);
const ASKED: usize = memory.data(KEY_SIZE, 16);
/** Port and link layer of a frame descriptor, and behind them its vport, of 16 bits; not its flags. */
const PORT_LINK_VPORT: u64 = 0x0000ffff_00ffffff;

export namespace CacheKey {
  /** Bytes of the lanes. */
  export let stride: usize = 0;
  /** They would be too many. */
  export let tooWide: bool = false;
  /** What rules asked for when the definer was made. */
  export let wanted: u32 = 0;
}

/** Makes the definer that the rules ask for now; false where it is too wide. */
export function renewCacheKey(): bool {
  if (!Definers.changed && CacheKey.wanted == Required.fields) return !CacheKey.tooWide;
  // Entries that are there have other lanes, also where a rule that did not fit has left its bytes.
  invalidate();
  CacheKey.wanted = Required.fields;
  memory.fill(ASKED, 0, KEY_SIZE);
  for (let table = Tables.first; table != 0; table = load<u32>(table, TABLE_NEXT))
    addBytes(table + TABLE_DEFINER, ASKED);
  addRanged(ASKED, Required.fields);
  if (Required.fields & NEEDS_CHANGES) {
    store<u32>(ASKED, -1, EXT_HERE_OUTER);
    store<u32>(ASKED, -1, EXT_HERE_INNER);
    store<u32>(ASKED, -1, EXT_HERE_TUNNEL);
  }
  const lanes = <usize>layOut(DEFINER, PROGRAM, ASKED);
  CacheKey.stride = lanes << 4;
  CacheKey.tooWide = lanes > CACHE_MAX_LANES;
  Definers.changed = false;
  return !CacheKey.tooWide;
}

/** Lanes of the keys of a list of branches, their hashes behind them: all that follows from where they begin is in the hash. */
export function hashAll(list: usize, count: u32, root: usize): void {
  const stride = CacheKey.stride;
  gatherTo(CACHE_LANES, DEFINER, list, count, stride);
  const seed = SEED ^ Epoch.number ^ ((<u64>root) << 32);
  const last = CACHE_LANES + <usize>count * stride;
  let hash = HASHES;
  let from = list;
  for (let lanes: usize = CACHE_LANES; lanes < last; hash += 8, from += 4) {
    let mixed = seed ^ (whence(load<u32>(from)) * 0x9e3779b97f4a7c15);
    const end = lanes + stride;
    for (; lanes < end; lanes += 16) mixed = stirred(mixed, v128.load(lanes));
    store<u64>(hash, mixed ^ (mixed >> 29));
  }
}

/** The port that the frame of a branch came in by, its link layer, and who brought it. */
// @ts-ignore: decorator
@inline
function whence(number: u32): u64 {
  return load<u64>(FRAMES + <usize>number * FRAME_SIZE, FRAME_PORT) & PORT_LINK_VPORT;
}

/** What an entry for the frame of a branch begins with. */
// @ts-ignore: decorator
@inline
export function headOf(number: u32, root: usize): v128 {
  const generation = Epoch.number;
  const low = (generation & 0xffffffff) | ((<u64>root) << 32);
  return i64x2.replace_lane(i64x2.splat(low), 1, whence(number) | ((generation >> 32) << 48));
}

/** Whether an entry is that of a frame. */
// @ts-ignore: decorator
@inline
export function isEntryOf(entry: usize, head: v128, lanes: usize, stride: usize): bool {
  const own = v128.andnot(v128.xor(v128.load(entry), head), i32x4(0, 0, 0xff000000, 0));
  let differs = v128.or(own, v128.xor(v128.load(entry, ENTRY_LANES), v128.load(lanes)));
  for (let at: usize = 16; at < stride; at += 16) {
    differs = v128.or(differs, v128.xor(v128.load(entry + at, ENTRY_LANES), v128.load(lanes + at)));
  }
  return !v128.any_true(differs);
}
