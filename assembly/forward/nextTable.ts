/**
 * Where a branch goes from the table that it stands at: on by an action, past the table when nobody there wants it, or to
 * its end. Every way on is counted, so that every walk ends.
 */
import {
  HOP_LIMIT,
  MISS_LIMIT,
  RANK_SLOT,
  Reason,
  TABLE_FDB,
  TABLE_LOOPED,
  TABLE_ROOT,
  TABLE_SEND,
  Verdict,
} from "../../src/abi/engine";
import { answers } from "./loopback";
import { setVerdict } from "../branch/outcome";
import { BRANCH_HOPS, BRANCH_LOWER, BRANCH_MISSES, BRANCH_TABLE, BRANCH_WHY } from "../branch/branch";
import { egress, missFdb } from "./eswitch";
import { RULE_RANK } from "../classify/rule";
import { TABLE_FLAGS, TABLE_MISS } from "../classify/tableLayout";

export namespace Walk {
  /** The queue whose frames are looped back to the port; 0 for frames that come in, or go out. */
  export let sender: usize = 0;
  /** Whether what a lookup finds may still be none of the branch's business (admits). */
  export let careful: bool = false;
}

/** One hop, to all rules of a table; false when it is one too many, and the branch has ended. */
// @ts-ignore: decorator
@inline
export function jump(branch: usize, table: usize): bool {
  const hops: u32 = load<u16>(branch, BRANCH_HOPS);
  if (hops >= <u32>HOP_LIMIT) {
    setVerdict(branch, Verdict.drop, Reason.hop_limit);
    return false;
  }
  store<u16>(branch, <u16>(hops + 1), BRANCH_HOPS);
  store<u8>(branch, 0, BRANCH_MISSES);
  store<u32>(branch, <u32>table, BRANCH_TABLE);
  store<u64>(branch, 0, BRANCH_LOWER);
  return true;
}

/** One hop, to the rules of a table from a slot on. */
export function jumpTo(branch: usize, table: usize, slot: u32): bool {
  if (!jump(branch, table)) return false;
  store<u64>(branch, (<u64>slot) << RANK_SLOT, BRANCH_LOWER);
  return true;
}

/** One hop, to what comes behind the slot of a rule. One too many ends the branch only where there is such a rule. */
export function resume(branch: usize, rule: usize): void {
  const hops = load<u16>(branch, BRANCH_HOPS) + 1;
  store<u16>(branch, hops, BRANCH_HOPS);
  store<u64>(branch, ((load<u64>(rule, RULE_RANK) >> RANK_SLOT) + 1) << RANK_SLOT, BRANCH_LOWER);
  if (<u32>hops > <u32>HOP_LIMIT) Walk.careful = true;
}

/** What comes of a rule that a lookup has found for a branch. */
export enum Admitted {
  yes,
  /** It does not answer the sender: on with the next one, as if it were not there. */
  passed_over,
  /** It is one too many, and the branch has ended. */
  no,
}

/** Whether the rule is hit. Each one passed over raises the bound, so that this ends with the rules of the table. */
export function admit(branch: usize, rule: usize): Admitted {
  if (Walk.sender != 0 && !answers(rule, <u32>Walk.sender)) {
    store<u64>(branch, load<u64>(rule, RULE_RANK) + 1, BRANCH_LOWER);
    return Admitted.passed_over;
  }
  if (<u32>load<u16>(branch, BRANCH_HOPS) <= <u32>HOP_LIMIT) return Admitted.yes;
  setVerdict(branch, Verdict.drop, Reason.hop_limit);
  return Admitted.no;
}

/** The table that gets what nobody at `table` wants; 0 for none. Frames that are looped back are not for all stages. */
// @ts-ignore: decorator
@inline
function missTable(table: usize): u32 {
  const next = load<u32>(table, TABLE_MISS);
  if (Walk.sender == 0 || next == 0 || !(load<u32>(table, TABLE_FLAGS) & TABLE_ROOT)) return next;
  return load<u32>(next, TABLE_FLAGS) & TABLE_LOOPED ? next : 0;
}

/** Whether a branch that nobody at the table wants is at its end there, and not only at the end of a domain. */
// @ts-ignore: decorator
@inline
export function missEndsHere(table: usize): bool {
  return missTable(table) == 0 && !(load<u32>(table, TABLE_FLAGS) & (TABLE_SEND | TABLE_FDB));
}

/**
 * Nobody at the table wants the branch: it goes to the table behind, to the next domain, or ends. The host makes no chain of
 * more than MISS_LIMIT tables; it would end there.
 */
export function miss(branch: usize, table: usize): bool {
  const flags = load<u32>(table, TABLE_FLAGS);
  // The hop that led to no rule of this table is none.
  store<u16>(branch, <u16>min<u32>(load<u16>(branch, BRANCH_HOPS), HOP_LIMIT), BRANCH_HOPS);
  const next = missTable(table);
  const misses: u32 = load<u8>(branch, BRANCH_MISSES);
  if (next == 0 || misses >= <u32>MISS_LIMIT) {
    if (flags & TABLE_FDB) return missFdb(branch, flags);
    if (flags & TABLE_SEND) return egress(branch);
    const why: u32 = load<u8>(branch, BRANCH_WHY);
    const reason = missReason(table);
    setVerdict(branch, missVerdict(table), why != 0 && reason != Reason.none ? why : reason);
    return false;
  }
  store<u8>(branch, <u8>(misses + 1), BRANCH_MISSES);
  store<u32>(branch, next, BRANCH_TABLE);
  store<u64>(branch, 0, BRANCH_LOWER);
  return true;
}

/** What becomes of a branch that nobody wants, at the last table. */
export function missVerdict(table: usize): u32 {
  return load<u32>(table, TABLE_FLAGS) & TABLE_ROOT ? Verdict.miss : Verdict.drop;
}

/** Why, where no action has asked for the miss. A frame that is looped back is not at its end: it leaves the port. */
export function missReason(table: usize): u32 {
  if (!(load<u32>(table, TABLE_FLAGS) & TABLE_ROOT)) return Reason.table_miss;
  return Walk.sender != 0 ? Reason.none : Reason.no_rule;
}
