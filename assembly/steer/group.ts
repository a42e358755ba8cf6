/**
 * A group: the rules of a table that have one mask, in a hash table over their values.
 *
 *     0       4       8        12     16      20      24         32      36   48
 *     | lanes | slots | capacity | used | rules | table | best rank | hash |    | mask lanes ... |
 *
 *     a slot: | hash 4 | first rule of the chain 4 |, rule 0 where empty
 *
 * Linear probing, no tombstones: deletion moves the slots behind it forward. The table doubles above three quarters and
 * halves below one eighth. `best rank` is never above the rank of any rule of the group.
 */
import { allocate, release } from "../arena";
import { link, RULE_GROUP, RULE_HASH, RULE_NEXT, RULE_PREVIOUS, RULE_RANK, RULE_VALUE, unlink } from "./rule";

export const GROUP_LANES: usize = 0;
export const GROUP_SLOTS: usize = 4;
export const GROUP_CAPACITY: usize = 8;
const GROUP_USED: usize = 12;
export const GROUP_RULES: usize = 16;
export const GROUP_TABLE: usize = 20;
export const GROUP_BEST: usize = 24;
export const GROUP_MASK_HASH: usize = 32;
export const GROUP_MASK: usize = 48;

const SLOT_SIZE: u32 = 8;
const FIRST_CAPACITY: u32 = 8;

/** An empty group for the mask in `lanes` lanes at `mask`; 0 when memory is full. */
export function createGroup(table: usize, lanes: u32, mask: usize, maskHash: u32): usize {
  const group = allocate(groupBytes(lanes));
  if (group == 0) return 0;
  const slots = allocate(FIRST_CAPACITY * SLOT_SIZE);
  if (slots == 0) {
    release(group, groupBytes(lanes));
    return 0;
  }
  memory.fill(slots, 0, FIRST_CAPACITY * SLOT_SIZE);
  store<u32>(group, lanes, GROUP_LANES);
  store<u32>(group, <u32>slots, GROUP_SLOTS);
  store<u32>(group, FIRST_CAPACITY, GROUP_CAPACITY);
  store<u32>(group, 0, GROUP_USED);
  store<u32>(group, 0, GROUP_RULES);
  store<u32>(group, <u32>table, GROUP_TABLE);
  store<u64>(group, u64.MAX_VALUE, GROUP_BEST);
  store<u32>(group, maskHash, GROUP_MASK_HASH);
  memory.copy(group + GROUP_MASK, mask, (<usize>lanes) << 4);
  return group;
}

export function releaseGroup(group: usize): void {
  release(load<u32>(group, GROUP_SLOTS), load<u32>(group, GROUP_CAPACITY) * SLOT_SIZE);
  release(group, groupBytes(load<u32>(group, GROUP_LANES)));
}

// @ts-ignore: decorator
@inline
function groupBytes(lanes: u32): u32 {
  return <u32>GROUP_MASK + (lanes << 4);
}

/** Hash of `lanes` lanes of (bytes & mask). */
// @ts-ignore: decorator
@inline
export function hashLanes(bytes: usize, mask: usize, lanes: u32): u32 {
  let hash = HASH_SEED;
  const end = bytes + ((<usize>lanes) << 4);
  while (bytes < end) {
    hash = mix(hash, load<u64>(bytes) & load<u64>(mask), load<u64>(bytes, 8) & load<u64>(mask, 8));
    bytes += 16;
    mask += 16;
  }
  return <u32>(hash ^ (hash >> 32));
}

/** The same of one lane that is masked already. */
// @ts-ignore: decorator
@inline
export function hashLane(masked: v128): u32 {
  const hash = mix(HASH_SEED, i64x2.extract_lane(masked, 0), i64x2.extract_lane(masked, 1));
  return <u32>(hash ^ (hash >> 32));
}

const HASH_SEED: u64 = 0x9e3779b97f4a7c15;

// @ts-ignore: decorator
@inline
function mix(hash: u64, low: u64, high: u64): u64 {
  hash = (hash ^ low) * 0xff51afd7ed558ccd;
  hash ^= hash >> 32;
  hash = (hash ^ high) * 0xc4ceb9fe1a85ec53;
  return hash ^ (hash >> 29);
}

/** The hash in a slot. */
// @ts-ignore: decorator
@inline
export function hashAt(slots: usize, at: u32): u32 {
  return load<u32>(slots + <usize>at * SLOT_SIZE);
}

/** The first rule in a slot, 0 where it is empty. */
// @ts-ignore: decorator
@inline
export function ruleAt(slots: usize, at: u32): usize {
  return load<u32>(slots + <usize>at * SLOT_SIZE, 4);
}

/** Whether (bytes & mask) == value in every lane. */
// @ts-ignore: decorator
@inline
export function equalLanes(bytes: usize, mask: usize, value: usize, lanes: u32): bool {
  const end = bytes + ((<usize>lanes) << 4);
  while (bytes < end) {
    const difference = v128.xor(v128.and(v128.load(bytes), v128.load(mask)), v128.load(value));
    if (v128.any_true(difference)) return false;
    bytes += 16;
    mask += 16;
    value += 16;
  }
  return true;
}

/** The slot that holds rules of this value, else the empty one where they would stand. */
export function findSlot(group: usize, hash: u32, value: usize): usize {
  const slots: usize = load<u32>(group, GROUP_SLOTS);
  const wrap = load<u32>(group, GROUP_CAPACITY) - 1;
  const lanes = load<u32>(group, GROUP_LANES);
  const mask = group + GROUP_MASK;
  let at = hash & wrap;
  while (true) {
    const slot = slots + <usize>at * SLOT_SIZE;
    const rule: usize = load<u32>(slot, 4);
    if (rule == 0) return slot;
    if (load<u32>(slot) == hash && equalLanes(value, mask, rule + RULE_VALUE, lanes)) return slot;
    at = (at + 1) & wrap;
  }
}

/** Takes in a rule whose value lies behind it; false when memory is full, and then nothing has changed. */
export function addToGroup(group: usize, rule: usize): bool {
  const lanes = load<u32>(group, GROUP_LANES);
  const hash = hashLanes(rule + RULE_VALUE, group + GROUP_MASK, lanes);
  store<u32>(rule, <u32>group, RULE_GROUP);
  store<u32>(rule, hash, RULE_HASH);
  let slot = findSlot(group, hash, rule + RULE_VALUE);
  const first: usize = load<u32>(slot, 4);
  if (first != 0) {
    store<u32>(slot, <u32>link(first, rule), 4);
  } else {
    const used = load<u32>(group, GROUP_USED);
    const capacity = load<u32>(group, GROUP_CAPACITY);
    if ((used + 1) * 4 > capacity * 3) {
      // Without memory for a larger table this one serves while a slot stays empty, which ends every probe.
      if (resize(group, capacity * 2)) slot = findSlot(group, hash, rule + RULE_VALUE);
      else if (used + 2 > capacity) return false;
    }
    store<u32>(slot, hash);
    store<u32>(slot, <u32>alone(rule), 4);
    store<u32>(group, used + 1, GROUP_USED);
  }
  store<u32>(group, load<u32>(group, GROUP_RULES) + 1, GROUP_RULES);
  const rank = load<u64>(rule, RULE_RANK);
  if (rank < load<u64>(group, GROUP_BEST)) store<u64>(group, rank, GROUP_BEST);
  return true;
}

export function removeFromGroup(group: usize, rule: usize): void {
  const slot = findSlot(group, load<u32>(rule, RULE_HASH), rule + RULE_VALUE);
  const first = unlink(load<u32>(slot, 4), rule);
  store<u32>(group, load<u32>(group, GROUP_RULES) - 1, GROUP_RULES);
  if (first != 0) {
    store<u32>(slot, <u32>first, 4);
    return;
  }
  closeGap(group, slot);
  const used = load<u32>(group, GROUP_USED) - 1;
  const capacity = load<u32>(group, GROUP_CAPACITY);
  store<u32>(group, used, GROUP_USED);
  if (capacity > FIRST_CAPACITY && used * 8 < capacity) resize(group, capacity / 2);
}

/** Moves a rule to another place of its chain. */
export function moveInGroup(group: usize, rule: usize, rank: u64): void {
  const slot = findSlot(group, load<u32>(rule, RULE_HASH), rule + RULE_VALUE);
  const rest = unlink(load<u32>(slot, 4), rule);
  store<u64>(rule, rank, RULE_RANK);
  store<u32>(slot, <u32>(rest == 0 ? alone(rule) : link(rest, rule)), 4);
  if (rank < load<u64>(group, GROUP_BEST)) store<u64>(group, rank, GROUP_BEST);
}

// @ts-ignore: decorator
@inline
function alone(rule: usize): usize {
  store<u32>(rule, 0, RULE_NEXT);
  store<u32>(rule, <u32>rule, RULE_PREVIOUS);
  return rule;
}

/** Empties a slot and moves those behind it forward, so that every probe still finds its rule. */
function closeGap(group: usize, slot: usize): void {
  const slots: usize = load<u32>(group, GROUP_SLOTS);
  const wrap = load<u32>(group, GROUP_CAPACITY) - 1;
  let gap = <u32>((slot - slots) / SLOT_SIZE);
  for (let at = (gap + 1) & wrap; ; at = (at + 1) & wrap) {
    const candidate = slots + <usize>at * SLOT_SIZE;
    if (load<u32>(candidate, 4) == 0) break;
    const home = load<u32>(candidate) & wrap;
    // It may move to the gap unless its home lies behind the gap on the way to it.
    if (((at - home) & wrap) < ((at - gap) & wrap)) continue;
    store<u64>(slots + <usize>gap * SLOT_SIZE, load<u64>(candidate));
    gap = at;
  }
  store<u64>(slots + <usize>gap * SLOT_SIZE, 0);
}

function resize(group: usize, capacity: u32): bool {
  const slots = allocate(capacity * SLOT_SIZE);
  if (slots == 0) return false;
  memory.fill(slots, 0, <usize>capacity * SLOT_SIZE);
  const old: usize = load<u32>(group, GROUP_SLOTS);
  const oldCapacity = load<u32>(group, GROUP_CAPACITY);
  const wrap = capacity - 1;
  const end = old + <usize>oldCapacity * SLOT_SIZE;
  for (let slot = old; slot < end; slot += SLOT_SIZE) {
    if (load<u32>(slot, 4) == 0) continue;
    let at = load<u32>(slot) & wrap;
    while (load<u32>(slots + <usize>at * SLOT_SIZE, 4) != 0) at = (at + 1) & wrap;
    store<u64>(slots + <usize>at * SLOT_SIZE, load<u64>(slot));
  }
  release(old, oldCapacity * SLOT_SIZE);
  store<u32>(group, <u32>slots, GROUP_SLOTS);
  store<u32>(group, capacity, GROUP_CAPACITY);
  return true;
}
