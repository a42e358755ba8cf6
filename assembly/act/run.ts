/**
 * Runs the actions of a rule, in the order of its record. In: a branch and the rule that it hit.
 * Out: the branch changed; it has a verdict, or continues at a table that an action named.
 * Actions never choose a table themselves. A branch that continues has the key of its bytes.
 */
import { ACTION_OPERAND, ACTION_SIZE, Op, TABLE_FDB, TABLE_SEND } from "../../src/abi/engine";
import { DEST_COPY, Reason } from "../../src/abi/outcome";
import { esp } from "../esp/action";
import { deliverTo, drop } from "../branch/outcome";
import { BRANCH_FLAGS, BRANCH_FRAME, BRANCH_TAG, HAS_TAG, HAS_VERDICT } from "../branch/branch";
import { egress, missFdb } from "../forward/eswitch";
import { jump, lastOfChain, miss, resume, untag, Walk } from "../forward/nextTable";
import { actionsOf } from "../classify/rule";
import { count } from "./count";
import { firstHit } from "./stateful/firstHit";
import { meter } from "./stateful/meter";
import { modify } from "./header/modify";
import { reformat } from "./header/reformat";
import { fresh } from "../branch/refresh";
import { runSampler } from "./stateful/sampler";
import { split } from "./split";
import { terminal } from "./terminal";
import { rssQueue } from "./rss";
import { stateFlags, State, writeRegisterC } from "./stateful/registerC";
import { track } from "./stateful/connection";
import { popVlan, pushVlan } from "./header/vlan";
import { TraceEvent } from "../../src/abi/trace";
import { RULE_ACTION_COUNT } from "../../src/abi/rule";
import { TABLE_FLAGS } from "../../src/abi/table";
import { note, noteActing, noteSnapshot } from "../branch/events";

/** Runs the actions of `rule`; returns whether the branch continues. */
// @ts-ignore: decorator
@inline
export function run(branch: usize, table: usize, rule: usize): bool {
  let action = actionsOf(rule);
  const last = action + <usize>load<u8>(rule, RULE_ACTION_COUNT) * ACTION_SIZE;
  for (; action < last; action += ACTION_SIZE) {
    const operand = load<u32>(action, ACTION_OPERAND);
    if (TRACED) noteAction(branch, rule, action);
    switch (load<u32>(action)) {
      case Op.tag:
        setTag(branch, operand);
        break;
      case Op.count:
        count(operand, load<u32>(branch, BRANCH_FRAME));
        break;
      case Op.queue_from_others:
        if (<usize>operand == Walk.sender) break;
      // falls through
      case Op.queue:
        deliverTo(branch, operand, 0);
        break;
      case Op.table:
        return jump(branch, operand) && fresh(branch);
      default: {
        const then = slowPath(branch, table, rule, action);
        if (TRACED) {
          if (changesBranch(load<u32>(action))) noteSnapshot(TraceEvent.changed, branch);
        }
        if (then == Then.next_but_one) action += ACTION_SIZE;
        else if (then != Then.next) return then == Then.elsewhere && fresh(branch);
      }
    }
  }
  return !(load<u32>(branch, BRANCH_FLAGS) & HAS_VERDICT) && byDefault(branch, table) && fresh(branch);
}

/** Notes that an action begins. */
function noteAction(branch: usize, rule: usize, action: usize): void {
  noteActing(branch);
  const index = <u32>((action - actionsOf(rule)) / ACTION_SIZE);
  note(TraceEvent.action, branch, <u32>rule, index, load<u32>(action), load<u32>(action, ACTION_OPERAND));
}

/** Whether an operation can change bytes or registers of the branch itself. */
function changesBranch(op: u32): bool {
  switch (op) {
    case Op.modify:
    case Op.reformat:
    case Op.push_vlan:
    case Op.pop_vlan:
    case Op.esp:
    case Op.meter:
    case Op.first_hit:
    case Op.track:
    case Op.sampler:
      return true;
    default:
      return false;
  }
}

/**
 * Runs the actions of a rule before those of another rule; returns whether the branch still exists.
 * None of them sends it to a table.
 */
export function runBefore(branch: usize, table: usize, rule: usize, end: usize): bool {
  for (let action = actionsOf(rule); action < end; action += ACTION_SIZE) {
    // Unreached: what can end a branch comes after the decryption (docs/rules.md).
    if (step(branch, table, rule, action) != Then.next) return false;
  }
  return true;
}

/** Runs the actions of a rule from one on; returns whether the branch continues. */
export function runFrom(branch: usize, table: usize, rule: usize, action: usize): bool {
  const last = actionsOf(rule) + <usize>load<u8>(rule, RULE_ACTION_COUNT) * ACTION_SIZE;
  for (; action < last; action += ACTION_SIZE) {
    const then = step(branch, table, rule, action);
    // Unreached: actions of a batch lead to no other rule (walk/espBatch.ts).
    if (then != Then.next) return then == Then.elsewhere && fresh(branch);
  }
  // Unreached: only received frames are in a batch; without a destination they end.
  return !(load<u32>(branch, BRANCH_FLAGS) & HAS_VERDICT) && byDefault(branch, table) && fresh(branch);
}

/** Tag and flags are adjacent. */
// @ts-ignore: decorator
@inline
function setTag(branch: usize, tag: u32): void {
  store<u64>(branch, (<u64>tag) | ((<u64>(load<u32>(branch, BRANCH_FLAGS) | HAS_TAG)) << 32), BRANCH_TAG);
}

/**
 * One action of a rule in an ESP batch (walk/espBatch.ts). The frame is not looped back. The switch of `run`, inlined here
 * too, would make the core 268 bytes larger.
 */
function step(branch: usize, table: usize, rule: usize, action: usize): Then {
  const operand = load<u32>(action, ACTION_OPERAND);
  switch (load<u32>(action)) {
    case Op.tag:
      setTag(branch, operand);
      return Then.next;
    case Op.count:
      count(operand, load<u32>(branch, BRANCH_FRAME));
      return Then.next;
    case Op.queue_from_others:
      deliverTo(branch, operand, 0);
      return Then.next;
    default:
      return slowPath(branch, table, rule, action);
  }
}

/** The result of an action. */
enum Then {
  next,
  next_but_one,
  elsewhere,
  end,
}

/** The rare actions, in a function of their own so that the frequent ones stay short. */
function slowPath(branch: usize, table: usize, rule: usize, action: usize): Then {
  const operand = load<u32>(action, ACTION_OPERAND);
  switch (load<u32>(action)) {
    case Op.none:
      return Then.next;
    case Op.not_for:
      return <usize>operand == Walk.sender ? Then.next_but_one : Then.next;
    case Op.untag:
      untag(branch);
      return Then.next;
    case Op.modify:
      return modify(branch, operand) ? Then.next : Then.end;
    case Op.reformat:
      return reformat(branch, operand) ? Then.next : Then.end;
    case Op.push_vlan:
      return pushVlan(branch, operand) ? Then.next : Then.end;
    case Op.pop_vlan:
      return popVlan(branch) ? Then.next : Then.end;
    case Op.state:
      State.operand = operand;
      return Then.next;
    case Op.meter:
      meter(branch, operand);
      return Then.next;
    case Op.esp:
      return esp(branch, operand) ? Then.next : Then.end;
    case Op.first_hit:
      firstHit(branch, operand);
      return Then.next;
    case Op.track:
      writeRegisterC(branch, track(branch, operand, stateFlags()));
      return Then.next;
    case Op.sampler:
      return thenIf(runSampler(branch, table, operand));
    case Op.copy_from_others:
      if (<usize>operand == Walk.sender) return Then.next;
    // falls through
    case Op.copy_queue:
      deliverTo(branch, operand, DEST_COPY);
      return Then.next;
    case Op.rss:
      deliverTo(branch, rssQueue(branch, operand), 0);
      return Then.next;
    case Op.copy_rss:
      deliverTo(branch, rssQueue(branch, operand), DEST_COPY);
      return Then.next;
    case Op.array:
      return split(branch, table, operand) ? Then.end : Then.next;
    case Op.resume:
      untag(branch);
      resume(branch, rule);
      return Then.elsewhere;
    case Op.pass:
      untag(branch);
      return thenIf(miss(branch, table));
    case Op.pass_chain:
      return thenIf(miss(branch, lastOfChain(table)));
    default:
      return thenIf(terminal(branch, table, load<u32>(action), operand));
  }
}

// @ts-ignore: decorator
@inline
function thenIf(goesOn: bool): Then {
  return goesOn ? Then.elsewhere : Then.end;
}

/** All actions have run without a destination: the default of the domain applies. */
function byDefault(branch: usize, table: usize): bool {
  const flags = load<u32>(table, TABLE_FLAGS);
  if (flags & TABLE_SEND) return egress(branch);
  if (flags & TABLE_FDB) return missFdb(branch, flags);
  return drop(branch, Reason.no_destination);
}
