/**
 * The key of an entry of the flow cache: where the frame came in, and all bytes of its key that
 * rules read. In: the definers of all tables. Out: lanes, hashes and heads of frames, and their
 * comparison with an entry.
 *
 *     0     4      8            11     12      14                   16
 *     | epoch | root | port, link | kind | vport | epoch, high part | lanes ... |
 *
 * The kind is not compared: it says what follows the lanes (fastPath.ts). The lanes come from a
 * definer with the bytes of all tables' definers, which is made again when one of them changes.
 */
import { FRAME_PORT, FRAME_SIZE } from "../../src/abi/engine";
import { EXT_PRESENT_INNER, EXT_PRESENT_OUTER, EXT_PRESENT_TUNNEL, KEY_SIZE, NEEDS_CHANGES } from "../../src/abi/key";
import { DEFINER_SIZE, TABLE_DEFINER, TABLE_NEXT } from "../../src/abi/table";
import { CACHE_MAX_LANES, HASHES } from "../memory";
import { Rows } from "../rows";
import { addBytes, addRangedDwords, Definers, LAID_SIZE, layOut } from "../classify/definer";
import { gatherTo } from "../classify/lookup/gather";
import { Epoch, invalidate } from "../epoch";
import { productOfLane } from "../hash";
import { Required } from "../wire/required";
import { Tables } from "../classify/tables";

/** The offset of the lanes in an entry. */
export const ENTRY_LANES: usize = 16;
export const ENTRY_KIND: usize = 11;

const DEFINER: usize = memory.data(<i32>DEFINER_SIZE, 16);
const PROGRAM: usize = memory.data(<i32>LAID_SIZE, 16);
const KEY_MASK: usize = memory.data(KEY_SIZE, 16);
const SPREAD: u64 = 0x9e3779b97f4a7c15;
/** Port, link type and vport of a frame descriptor, without its flags. */
const PORT_LINK_VPORT: u64 = 0x0000ffff_00ffffff;

export namespace CacheKey {
  /** The size of the lanes. */
  export let stride: usize = 0;
  /** Whether the rules read more than CACHE_MAX_LANES lanes. */
  export let tooWide: bool = false;
  /** The required fields when the definer was made. */
  export let required: u32 = 0;
}

/** Updates the definer to the present rules; false if they read too many bytes. */
export function renewCacheKey(): bool {
  if (!Definers.changed && CacheKey.required == Required.fields) return !CacheKey.tooWide;
  // Present entries have other lanes. This holds too if a rule that did not fit has left bytes in a
  // definer.
  invalidate();
  CacheKey.required = Required.fields;
  memory.fill(KEY_MASK, 0, KEY_SIZE);
  for (let table = Tables.first; table != 0; table = load<u32>(table, TABLE_NEXT))
    addBytes(table + TABLE_DEFINER, KEY_MASK);
  addRangedDwords(KEY_MASK, Required.fields);
  if (Required.fields & NEEDS_CHANGES) {
    store<u32>(KEY_MASK, -1, EXT_PRESENT_OUTER);
    store<u32>(KEY_MASK, -1, EXT_PRESENT_INNER);
    store<u32>(KEY_MASK, -1, EXT_PRESENT_TUNNEL);
  }
  const lanes = <usize>layOut(DEFINER, PROGRAM, KEY_MASK);
  CacheKey.stride = lanes << 4;
  CacheKey.tooWide = lanes > CACHE_MAX_LANES;
  Definers.changed = false;
  return !CacheKey.tooWide;
}

/** Writes the lanes of a list of branches to CACHE_LANES and their hashes to HASHES. */
export function hashAll(list: usize, count: u32, root: usize): void {
  const stride = CacheKey.stride;
  gatherTo(Rows.cacheLanes, DEFINER, list, count, stride);
  const seed = seedOf(root);
  const last = Rows.cacheLanes + <usize>count * stride;
  let hash = HASHES;
  let from = list;
  for (let lanes: usize = Rows.cacheLanes; lanes < last; hash += 8, from += 4) {
    const end = lanes + stride;
    store<u64>(hash, hashOf(seed, ingressOf(load<u32>(from)), lanes, end));
    lanes = end;
  }
}

// @ts-ignore: decorator
@inline
function seedOf(root: usize): u64 {
  return Epoch.number ^ ((<u64>root) << 32);
}

/** Every bit of the hash depends on all bytes: its high half chooses the bucket, its low half is the tag. */
// @ts-ignore: decorator
@inline
function hashOf(seed: u64, ingress: u64, lanes: usize, end: usize): u64 {
  let sum = seed ^ (ingress * SPREAD);
  for (let at: usize = 0; lanes < end; lanes += 16, at += 32) sum += productOfLane(v128.load(lanes), at);
  sum = (sum ^ (sum >> 32)) * SPREAD;
  return sum ^ (sum >> 32);
}

/** The hash of the frames of an entry of this epoch. */
export function hashOfEntry(entry: usize): u64 {
  const lanes = entry + ENTRY_LANES;
  const ingress = load<u64>(entry, 8) & PORT_LINK_VPORT;
  return hashOf(seedOf(load<u32>(entry, 4)), ingress, lanes, lanes + CacheKey.stride);
}

/** Whether an entry is of this epoch. */
export function isPresent(entry: usize): bool {
  const epoch = Epoch.number;
  return load<u32>(entry) == <u32>epoch && <u64>load<u16>(entry, 14) == ((epoch >> 32) & 0xffff);
}

/** The ingress port, link type and vport of a frame. */
// @ts-ignore: decorator
@inline
function ingressOf(number: u32): u64 {
  return load<u64>(Rows.frames + <usize>number * FRAME_SIZE, FRAME_PORT) & PORT_LINK_VPORT;
}

/** The head of an entry for a frame. */
// @ts-ignore: decorator
@inline
export function headOf(number: u32, root: usize): v128 {
  const epoch = Epoch.number;
  const low = (epoch & 0xffffffff) | ((<u64>root) << 32);
  return i64x2.replace_lane(i64x2.splat(low), 1, ingressOf(number) | ((epoch >> 32) << 48));
}

/** Whether an entry has the head and the lanes of a frame. */
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
