/**
 * Moves a branch from its table to the next: by an action, by a miss, or to its end. In: a branch
 * and its table. Out: its table and lower bound for the next lookup; the result says whether it
 * goes on. Hops and misses are limited, so every walk ends.
 */
import {
  HOP_LIMIT,
  MISS_LIMIT,
  RANK_SLOT,
  TABLE_FDB,
  TABLE_LOOPED,
  TABLE_ROOT,
  TABLE_SEND,
  TABLE_TO_STAGE,
} from "../../src/abi/engine";
import { OUTCOME_MISSED, OUTCOME_MISSED_FDB, OUTCOME_VERDICT, Reason, Verdict } from "../../src/abi/outcome";
import { answers } from "./loopback";
import { outcomeAt, setVerdict } from "../branch/outcome";
import {
  ASIDE,
  BRANCH_FLAGS,
  BRANCH_HOPS,
  BRANCH_INDEX,
  BRANCH_LOWER,
  BRANCH_MISSES,
  BRANCH_REASON,
  BRANCH_TABLE,
  BRANCH_VPORT,
  FDB_MISSED,
  HAS_TAG,
} from "../branch/branch";
import { EMPTY_TABLE } from "../classify/table";
import { egress, missFdb } from "./eswitch";
import { note } from "../branch/events";
import { Move, TraceEvent } from "../../src/abi/trace";
import { RULE_RANK } from "../../src/abi/rule";
import { TABLE_FLAGS, TABLE_MISS } from "../../src/abi/table";

export namespace Walk {
  /** The queue whose frames the port loops back; 0 for other frames. */
  export let sender: usize = 0;
  /** Whether a rule must be admitted before it is hit (`admit`). */
  export let mustAdmit: bool = false;
}

/** One hop to all rules of a table; false and dropped if it is one too many. */
// @ts-ignore: decorator
@inline
export function jump(branch: usize, table: usize): bool {
  const hops: u32 = load<u16>(branch, BRANCH_HOPS);
  if (hops >= <u32>HOP_LIMIT) {
    setVerdict(branch, Verdict.drop, Reason.hop_limit);
    return false;
  }
  if (TRACED) note(TraceEvent.move, branch, <u32>table, Move.jump);
  store<u16>(branch, <u16>(hops + 1), BRANCH_HOPS);
  store<u8>(branch, 0, BRANCH_MISSES);
  store<u32>(branch, <u32>table, BRANCH_TABLE);
  store<u64>(branch, 0, BRANCH_LOWER);
  return true;
}

/** One hop to the rules of a table from a slot on. */
export function jumpTo(branch: usize, table: usize, slot: u32): bool {
  if (!jump(branch, table)) return false;
  store<u64>(branch, (<u64>slot) << RANK_SLOT, BRANCH_LOWER);
  return true;
}

/**
 * One hop to the rules after the slot of a rule. One hop too many ends the branch only if it hits a
 * further rule.
 */
export function resume(branch: usize, rule: usize): void {
  const hops = load<u16>(branch, BRANCH_HOPS) + 1;
  store<u16>(branch, hops, BRANCH_HOPS);
  store<u64>(branch, ((load<u64>(rule, RULE_RANK) >> RANK_SLOT) + 1) << RANK_SLOT, BRANCH_LOWER);
  if (<u32>hops > <u32>HOP_LIMIT) Walk.mustAdmit = true;
  if (TRACED) note(TraceEvent.move, branch, load<u32>(branch, BRANCH_TABLE), Move.resume);
}

/** What follows from a rule that a lookup found. */
export enum Admitted {
  yes,
  /** The rule does not apply to the sender: the next lookup starts after it. */
  passed_over,
  /** The rule is one hop too many: the branch was dropped. */
  no,
}

/**
 * Whether a branch hits a rule. A skipped rule raises the lower bound, so this ends
 * after the rules of the table.
 */
export function admit(branch: usize, rule: usize): Admitted {
  if (Walk.sender != 0 && !answers(rule, <u32>Walk.sender)) {
    if (TRACED) note(TraceEvent.move, branch, load<u32>(branch, BRANCH_TABLE), Move.passed_over);
    store<u64>(branch, load<u64>(rule, RULE_RANK) + 1, BRANCH_LOWER);
    return Admitted.passed_over;
  }
  if (<u32>load<u16>(branch, BRANCH_HOPS) <= <u32>HOP_LIMIT) return Admitted.yes;
  setVerdict(branch, Verdict.drop, Reason.hop_limit);
  return Admitted.no;
}

/**
 * The table that unmatched frames of `table` go to; 0 for none. Looped frames skip tables without
 * TABLE_LOOPED.
 */
// @ts-ignore: decorator
@inline
function missTable(table: usize): u32 {
  const next = load<u32>(table, TABLE_MISS);
  if (Walk.sender == 0 || next == 0 || !(load<u32>(table, TABLE_FLAGS) & TABLE_ROOT)) return next;
  return load<u32>(next, TABLE_FLAGS) & TABLE_LOOPED ? next : 0;
}

/** Whether a miss at this table ends the branch, and not only its domain, and changes nothing else. */
// @ts-ignore: decorator
@inline
export function missEndsHere(table: usize): bool {
  return missTable(table) == 0 && !(load<u32>(table, TABLE_FLAGS) & (TABLE_SEND | TABLE_FDB | TABLE_TO_STAGE));
}

/**
 * Handles a branch without a rule at its table: it goes to the next table or the next domain, or
 * ends. The host links at most MISS_LIMIT tables; a longer chain ends there.
 */
export function miss(branch: usize, table: usize): bool {
  const flags = load<u32>(table, TABLE_FLAGS);
  if (flags & TABLE_TO_STAGE) untag(branch);
  // The last hop does not count, since it led to no rule.
  store<u16>(branch, <u16>min<u32>(load<u16>(branch, BRANCH_HOPS), HOP_LIMIT), BRANCH_HOPS);
  const next = missTable(table);
  const misses: u32 = load<u8>(branch, BRANCH_MISSES);
  if (next == 0 || misses >= <u32>MISS_LIMIT) {
    if (flags & TABLE_FDB) {
      noteFdbMiss(branch, table);
      return missFdb(branch, flags);
    }
    if (flags & TABLE_SEND) return egress(branch);
    const why: u32 = load<u8>(branch, BRANCH_REASON);
    const reason = missReason(table);
    endMissAt(branch, table, missVerdict(table), why != 0 && reason != Reason.none ? why : reason);
    return false;
  }
  if (TRACED) note(TraceEvent.move, branch, next, Move.miss);
  store<u8>(branch, <u8>(misses + 1), BRANCH_MISSES);
  store<u32>(branch, next, BRANCH_TABLE);
  store<u64>(branch, 0, BRANCH_LOWER);
  return true;
}

/** The flow table that leads to a stage, after `table` and the tables of its misses. */
export function lastOfChain(table: usize): usize {
  while (!(load<u32>(table, TABLE_FLAGS) & TABLE_TO_STAGE)) table = load<u32>(table, TABLE_MISS);
  return table;
}

/** Takes the tag from a branch: it belongs to the destinations of the rule that set it. */
export function untag(branch: usize): void {
  store<u32>(branch, load<u32>(branch, BRANCH_FLAGS) & ~HAS_TAG, BRANCH_FLAGS);
}

/** Sets the verdict of a branch that missed at its last table, and notes the table for the host. */
export function endMissAt(branch: usize, table: usize, verdict: u32, reason: u32): void {
  const outcome = outcomeAt(load<u32>(branch, BRANCH_INDEX));
  const before: u32 = load<u8>(outcome, OUTCOME_VERDICT);
  setVerdict(branch, verdict, reason);
  // Of branches with equal verdicts the first counts. A sampled copy sets no verdict.
  if (before == verdict || <u32>load<u8>(outcome, OUTCOME_VERDICT) != verdict) return;
  const flags = load<u32>(branch, BRANCH_FLAGS);
  store<u32>(outcome, missedPlace(table, load<u8>(branch, BRANCH_VPORT)), OUTCOME_MISSED);
  if (!(flags & FDB_MISSED)) store<u32>(outcome, 0, OUTCOME_MISSED_FDB);
}

/** The place of a miss, as outcomes note it: tables of functions without rules are one table. */
// @ts-ignore: decorator
@inline
export function missedPlace(table: usize, vport: u32): u32 {
  return table == EMPTY_TABLE ? vport + 1 : <u32>table;
}

/** Of several branches the last one is noted. A default miss action is no miss. */
function noteFdbMiss(branch: usize, table: usize): void {
  const flags = load<u32>(branch, BRANCH_FLAGS);
  if (flags & ASIDE || load<u8>(branch, BRANCH_REASON) != 0) return;
  store<u32>(branch, flags | FDB_MISSED, BRANCH_FLAGS);
  store<u32>(outcomeAt(load<u32>(branch, BRANCH_INDEX)), <u32>table, OUTCOME_MISSED_FDB);
}

/** The verdict of a miss at the last table. */
export function missVerdict(table: usize): u32 {
  return load<u32>(table, TABLE_FLAGS) & TABLE_ROOT ? Verdict.miss : Verdict.drop;
}

/**
 * The reason of a miss, unless an action has set one. A looped frame has none: it leaves the port.
 */
export function missReason(table: usize): u32 {
  if (!(load<u32>(table, TABLE_FLAGS) & TABLE_ROOT)) return Reason.table_miss;
  return Walk.sender != 0 ? Reason.none : Reason.no_rule;
}
