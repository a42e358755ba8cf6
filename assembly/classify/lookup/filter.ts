/**
 * Lanes -> candidate bitmaps: the second phase of a lookup. In: LANES, `stride` bytes for each of
 * `count` keys, and the bitmaps of the table (candidates.ts). Out: in BITMAPS, for each key, the
 * tuples that can have a rule for it, as a subset of the bits in `low` and `high`.
 */
import { BITMAPS } from "../../memory";
import { Lanes } from "../../rows";
import { entriesIn, entryMaskOf, quadAt, quadCount } from "../bitmaps/candidates";
import { QUAD_LANE, QUAD_TABLES } from "../bitmaps/candidatesLayout";

export function filterAll(bitmaps: usize, count: u32, stride: usize, low: u64, high: u64): void {
  const end = (<usize>count) << 4;
  const all = i64x2.replace_lane(i64x2.splat(low), 1, high);
  for (let bitmap: usize = 0; bitmap < end; bitmap += 16) v128.store(bitmap, all, BITMAPS);
  const quads = quadCount(bitmaps);
  for (let n: u32 = 0; n < quads; n++) narrow(quadAt(bitmaps, n), entryMaskOf(bitmaps), end, stride);
}

/** Applies four chunks to every key. */
function narrow(quad: usize, entryMask: u32, end: usize, stride: usize): void {
  const bytes = v128.load(quad);
  const tables = v128.load(quad, QUAD_TABLES);
  const mask = i32x4.splat(entryMask);
  let lane = Lanes.start + <usize>load<u32>(quad, QUAD_LANE);
  for (let bitmap: usize = 0; bitmap < end; bitmap += 16, lane += stride) {
    const entries = i32x4.add(entriesIn(lane, bytes, mask), tables);
    const one = v128.and(said(i32x4.extract_lane(entries, 0)), said(i32x4.extract_lane(entries, 1)));
    const two = v128.and(said(i32x4.extract_lane(entries, 2)), said(i32x4.extract_lane(entries, 3)));
    v128.store(bitmap, v128.and(v128.load(bitmap, BITMAPS), v128.and(one, two)), BITMAPS);
  }
}

// @ts-ignore: decorator
@inline
function said(entry: u32): v128 {
  return v128.load(<usize>entry);
}
