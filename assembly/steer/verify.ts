/**
 * Chains -> rules: the last phase of a lookup round.
 *
 * In: `chosen` keys in PROBED with CANDIDATES. Out: FOUND and BEST where a rule matches that beats what was found, and in
 * ALIVE the keys that have groups left; gives how many.
 */
import { ALIVE, BEST, CANDIDATES, FOUND, HASHES, LANES, PROBED, PROBES, SETS } from "../memory";
import { BRANCH_KEY, BRANCH_LOWER } from "./branch";
import { branchOf } from "./gather";
import { MASK_BYTES, MASK_LANES_COUNT } from "./mask";
import { AMBIGUOUS } from "./probe";
import { bestFrom } from "./prune";
import { inRanges, RULE_MASK, RULE_NEXT, RULE_RANGE_COUNT, RULE_RANK, RULE_VALUE, RULE_WIDE } from "./rule";
import { linkOf, slotsWith, thingAt } from "./slots";

export function verify(list: usize, tables: usize, chosen: u32, stride: usize): u32 {
  let alive: u32 = 0;
  for (let n: usize = 0; n < chosen; n++) {
    const key: usize = load<u32>(PROBED + (n << 2));
    const candidate = load<u32>(CANDIDATES + (n << 2));
    const lanes = LANES + key * stride;
    if (candidate == AMBIGUOUS) everyChain(list, n, key, lanes);
    else if (isSimple(candidate)) single(list, key, lanes, candidate);
    else chain(list, key, lanes, candidate);
    // A key that cannot win any more is written too, and then written over.
    store<u32>(ALIVE + ((<usize>alive) << 2), <u32>key);
    alive += <u32>canWin(tables, key);
  }
  return alive;
}

/** Whether a group is left for a key with a rule that beats what was found. */
// @ts-ignore: decorator
@inline
function canWin(tables: usize, key: usize): bool {
  const low = load<u64>(SETS + (key << 4));
  const high = load<u64>(SETS + (key << 4), 8);
  if (tables == 0) return (low | high) != 0;
  // Without any group this asks for a place beyond the last, where no rank is low enough.
  const place = select<u64>(ctz(low), 64 + ctz(high), low != 0);
  return bestFrom(tables, <usize>place) < load<u64>(BEST + (key << 3));
}

/** Whether a chain is one rule of one lane without ranges. NOTHING is, too. */
// @ts-ignore: decorator
@inline
function isSimple(rule: usize): bool {
  return (load<u32>(rule, RULE_NEXT) | load<u8>(rule, RULE_RANGE_COUNT) | load<u8>(rule, RULE_WIDE)) == 0;
}

/** Such a chain, without a branch on whether it matches. */
// @ts-ignore: decorator
@inline
function single(list: usize, key: usize, lanes: usize, rule: usize): void {
  const rank = load<u64>(rule, RULE_RANK);
  const best = load<u64>(BEST + (key << 3));
  const mask: usize = load<u32>(rule, RULE_MASK);
  const masked = v128.and(v128.load(lanes), v128.load(mask, MASK_BYTES));
  const differs = <u32>v128.any_true(v128.xor(masked, v128.load(rule, RULE_VALUE)));
  const loses = differs | (<u32>(rank >= best)) | (<u32>(rank < load<u64>(branchOf(list, key), BRANCH_LOWER)));
  store<u32>(FOUND + (key << 2), select<u32>(load<u32>(FOUND + (key << 2)), <u32>rule, loses != 0));
  store<u64>(BEST + (key << 3), select<u64>(best, rank, loses != 0));
}

/** All chains with the hash: two in one bucket, or some behind it. */
function everyChain(list: usize, n: usize, key: usize, lanes: usize): void {
  const hash = load<u32>(HASHES + (n << 2));
  for (let bucket: usize = load<u32>(PROBES + (n << 2)); bucket != 0; bucket = linkOf(bucket)) {
    for (let bits = slotsWith(bucket, hash); bits != 0; bits &= bits - 1) {
      chain(list, key, lanes, thingAt(bucket, <u32>ctz(bits)));
    }
  }
}

/** The first rule of a chain that matches and is not below the lower bound, if it beats what was found. */
// @ts-ignore: decorator
@inline
function chain(list: usize, key: usize, lanes: usize, rule: usize): void {
  const branch = branchOf(list, key);
  const lower = load<u64>(branch, BRANCH_LOWER);
  const best = load<u64>(BEST + (key << 3));
  do {
    const rank = load<u64>(rule, RULE_RANK);
    if (rank >= best) return;
    if (matches(rule, lanes) && rank >= lower && inRanges(rule, load<u32>(branch, BRANCH_KEY))) {
      store<u32>(FOUND + (key << 2), <u32>rule);
      store<u64>(BEST + (key << 3), rank);
      return;
    }
    rule = load<u32>(rule, RULE_NEXT);
  } while (rule != 0);
}

/** Whether (lanes & mask) == value. */
// @ts-ignore: decorator
@inline
function matches(rule: usize, lanes: usize): bool {
  const mask: usize = load<u32>(rule, RULE_MASK);
  const first = v128.xor(v128.and(v128.load(lanes), v128.load(mask, MASK_BYTES)), v128.load(rule, RULE_VALUE));
  if (v128.any_true(first)) return false;
  const count = load<u32>(mask, MASK_LANES_COUNT);
  return count == 1 || rest(rule, mask, lanes, count);
}

function rest(rule: usize, mask: usize, lanes: usize, count: u32): bool {
  for (let lane: u32 = 1; lane < count; lane++) {
    const at = (<usize>lane) << 4;
    const masked = v128.and(v128.load(lanes + at), v128.load(mask + at, MASK_BYTES));
    if (v128.any_true(v128.xor(masked, v128.load(rule + at, RULE_VALUE)))) return false;
  }
  return true;
}
