/**
 * Keys -> lanes: the first phase of a lookup. In: a definer and a list of branches. Out: in LANES,
 * `stride` bytes for each of the list.
 */
import { BRANCH_SIZE } from "../../memory";
import { Lanes, Rows } from "../../rows";
import { BRANCH_KEY } from "../../branch/branch";
import { definerLanes, definerSteps, gather, stepBlock, stepPattern } from "../definer";

/** The number of steps that gatherFew handles. */
const FEW_STEPS: u32 = 4;

export function gatherAll(definer: usize, list: usize, count: u32, stride: usize): void {
  gatherTo(Lanes.start, definer, list, count, stride);
}

/** Gathers to another address, which is a constant in the caller. */
// @ts-ignore: decorator
@inline
export function gatherTo(to: usize, definer: usize, list: usize, count: u32, stride: usize): void {
  if (definerLanes(definer) == 1 && definerSteps(definer) <= FEW_STEPS) {
    gatherFew(to, definer, list, count);
    return;
  }
  for (let i: usize = 0; i < count; i++) gather(definer, keyOf(list, i), to + i * stride);
}

/**
 * One lane from at most FEW_STEPS blocks, like that of a 5-tuple: offsets and patterns stay in
 * registers.
 */
// @ts-ignore: decorator
@inline
function gatherFew(to: usize, definer: usize, list: usize, count: u32): void {
  const block0 = stepBlock(definer, 0);
  const block1 = stepBlock(definer, 1);
  const block2 = stepBlock(definer, 2);
  const block3 = stepBlock(definer, 3);
  const pattern0 = stepPattern(definer, 0);
  const pattern1 = stepPattern(definer, 1);
  const pattern2 = stepPattern(definer, 2);
  const pattern3 = stepPattern(definer, 3);
  for (let i: usize = 0; i < count; i++) {
    const key = keyOf(list, i);
    const low = v128.or(
      i8x16.swizzle(v128.load(key + block0), pattern0),
      i8x16.swizzle(v128.load(key + block1), pattern1),
    );
    const high = v128.or(
      i8x16.swizzle(v128.load(key + block2), pattern2),
      i8x16.swizzle(v128.load(key + block3), pattern3),
    );
    v128.store(to + (i << 4), v128.or(low, high));
  }
}

// @ts-ignore: decorator
@inline
export function branchOf(list: usize, i: usize): usize {
  return Rows.branches + <usize>load<u32>(list + (i << 2)) * BRANCH_SIZE;
}

// @ts-ignore: decorator
@inline
function keyOf(list: usize, i: usize): usize {
  return load<u32>(branchOf(list, i), BRANCH_KEY);
}
