/**
 * Chains -> rules: the last phase of a lookup round.
 *
 * In: `probed` keys in PROBED with CANDIDATES. Out: FOUND and BEST where a rule matches that beats what was found, and in
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

export function verify(list: usize, tables: usize, probed: u32, stride: usize): u32 {
  let alive: u32 = 0;
  for (let n: usize = 0; n < probed; n++) {
    const key: usize = load<u32>(PROBED + (n << 2));
    const candidate = load<u32>(CANDIDATES + (n << 2));
    const lanes = LANES + key * stride;
    if (candidate == AMBIGUOUS) everyChain(list, n, key, lanes);
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

/** All chains with the hash: two in one bucket, or some behind it. */
function everyChain(list: usize, n: usize, key: usize, lanes: usize): void {
  const hash = load<u32>(HASHES + (n << 2));
  for (let bucket: usize = load<u32>(PROBES + (n << 2)); bucket != 0; bucket = linkOf(bucket)) {
    for (let bits = slotsWith(bucket, hash); bits != 0; bits &= bits - 1) {
      chain(list, key, lanes, thingAt(bucket, <u32>ctz(bits)));
    }
  }
}

/**
 * The first rule of a chain that matches and is not below the lower bound, if it beats what was found. Most chains are one
 * rule of one lane without ranges: for those nothing branches on whether it matches.
 */
// @ts-ignore: decorator
@inline
function chain(list: usize, key: usize, lanes: usize, rule: usize): void {
  const branch = branchOf(list, key);
  const rank = load<u64>(rule, RULE_RANK);
  const best = load<u64>(BEST + (key << 3));
  const mask: usize = load<u32>(rule, RULE_MASK);
  const masked = v128.and(v128.load(lanes), v128.load(mask, MASK_BYTES));
  const differs = <u32>v128.any_true(v128.xor(masked, v128.load(rule, RULE_VALUE)));
  let loses = differs | (<u32>(rank >= best)) | (<u32>(rank < load<u64>(branch, BRANCH_LOWER)));
  const more = (<u32>load<u8>(rule, RULE_RANGE_COUNT)) | (<u32>load<u8>(rule, RULE_WIDE));
  if ((more & (loses - 1)) != 0) loses = <u32>!matchesRest(rule, mask, lanes, load<u32>(branch, BRANCH_KEY));
  store<u32>(FOUND + (key << 2), select<u32>(load<u32>(FOUND + (key << 2)), <u32>rule, loses != 0));
  store<u64>(BEST + (key << 3), select<u64>(best, rank, loses != 0));
  if ((load<u32>(rule, RULE_NEXT) & (0 - loses)) != 0) restOfChain(branch, key, lanes, load<u32>(rule, RULE_NEXT));
}

function restOfChain(branch: usize, key: usize, lanes: usize, rule: usize): void {
  const lower = load<u64>(branch, BRANCH_LOWER);
  const best = load<u64>(BEST + (key << 3));
  for (; rule != 0; rule = load<u32>(rule, RULE_NEXT)) {
    const rank = load<u64>(rule, RULE_RANK);
    if (rank >= best) return;
    const mask: usize = load<u32>(rule, RULE_MASK);
    const masked = v128.and(v128.load(lanes), v128.load(mask, MASK_BYTES));
    if (rank < lower || v128.any_true(v128.xor(masked, v128.load(rule, RULE_VALUE)))) continue;
    if (!matchesRest(rule, mask, lanes, load<u32>(branch, BRANCH_KEY))) continue;
    store<u32>(FOUND + (key << 2), <u32>rule);
    store<u64>(BEST + (key << 3), rank);
    return;
  }
}

/** Whether the lanes behind the first match, and the key is in all ranges. */
function matchesRest(rule: usize, mask: usize, lanes: usize, key: usize): bool {
  const count = load<u32>(mask, MASK_LANES_COUNT);
  for (let lane: u32 = 1; lane < count; lane++) {
    const at = (<usize>lane) << 4;
    const masked = v128.and(v128.load(lanes + at), v128.load(mask + at, MASK_BYTES));
    if (v128.any_true(v128.xor(masked, v128.load(rule + at, RULE_VALUE)))) return false;
  }
  return inRanges(rule, key);
}
