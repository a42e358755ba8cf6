/**
 * ESP in batches: consecutive frames whose first rule has an ESP action are prepared in order,
 * encrypted or decrypted in one call, and finished in order. In: the first rule of each frame, in
 * FIRST_RULES. Out: the same as one frame after the other.
 *
 * The result is the same because actions before the cipher do not depend on it, and actions after
 * it lead to no other rule (`isEligible`), so the frame does not use these associations again.
 */
import { ACTION_OPERAND, ACTION_SIZE, Op } from "../../src/abi/engine";
import { JOB_SIZE } from "../../src/abi/cipher";
import { ESP_ENCRYPT, ESP_FLAGS } from "../../src/abi/esp";
import { RULE_ID, RULE_ACTION_COUNT } from "../../src/abi/rule";
import { runBefore, runFrom } from "../act/run";
import { openMany, sealMany } from "../crypto/gcm";
import { FIRST_RULES, PREPARED } from "../memory";
import { Rows } from "../rows";
import { hit } from "../branch/outcome";
import { branchAt } from "../branch/branch";
import { actionsOf } from "../classify/rule";
import { esp, finish, prepare } from "../esp/action";
import { Prepared } from "../esp/end";

namespace Run {
  /** The job of the next prepared frame. */
  export let job: usize = 0;
}

/**
 * The number of frames from `first` on, before `end`, that form a batch; 1 for none but the first.
 */
export function runOf(first: u32, end: u32): u32 {
  const action = espOf(ruleOf(first));
  if (action == 0) return 1;
  const way = wayOf(action);
  let next = first + 1;
  while (next < end) {
    const other = espOf(ruleOf(next));
    if (other == 0 || wayOf(other) != way) break;
    next++;
  }
  return next - first;
}

/** Prepares frames, and encrypts or decrypts their packets. */
export function prepareRun(table: usize, first: u32, count: u32): void {
  Run.job = Rows.jobs;
  for (let i = first; i < first + count; i++) {
    const rule = ruleOf(i);
    const action = espOf(rule);
    const branch = branchAt(i);
    hit(i, load<u32>(rule, RULE_ID));
    const here = runBefore(branch, table, rule, action);
    // Unreached: what can end a branch comes after the decryption (docs/rules.md).
    const prepared = here ? prepare(branch, load<u32>(action, ACTION_OPERAND), Run.job) : Prepared.ended;
    if (prepared == Prepared.ready) Run.job += JOB_SIZE;
    store<u8>(PREPARED + i, <u8>prepared);
  }
  const jobs = <u32>((Run.job - Rows.jobs) / JOB_SIZE);
  Run.job = Rows.jobs;
  // Unreached: frames are sent one by one, and received ones are only decrypted.
  if (wayOf(espOf(ruleOf(first)))) sealMany(Rows.jobs, jobs);
  else openMany(Rows.jobs, jobs);
}

/** Finishes the next frame of the batch; whether it goes on. */
export function finishNext(table: usize, i: u32): bool {
  const branch = branchAt(i);
  const rule = ruleOf(i);
  const action = espOf(rule);
  const association: usize = load<u32>(action, ACTION_OPERAND);
  const prepared: u32 = load<u8>(PREPARED + i);
  if (prepared == Prepared.ended) return false;
  if (prepared == Prepared.alone) {
    if (!esp(branch, association)) return false;
  } else {
    const job = Run.job;
    Run.job = job + JOB_SIZE;
    if (!finish(branch, association, job)) return false;
  }
  return runFrom(branch, table, rule, action + ACTION_SIZE);
}

// @ts-ignore: decorator
@inline
function ruleOf(i: u32): usize {
  return load<u32>(FIRST_RULES + ((<usize>i) << 2));
}

// @ts-ignore: decorator
@inline
function wayOf(action: usize): bool {
  return (load<u32>(load<u32>(action, ACTION_OPERAND), ESP_FLAGS) & ESP_ENCRYPT) != 0;
}

/** The only ESP action of a rule whose actions allow a batch; 0 for none. */
function espOf(rule: usize): usize {
  if (rule == 0) return 0;
  let found: usize = 0;
  let action = actionsOf(rule);
  const end = action + <usize>load<u8>(rule, RULE_ACTION_COUNT) * ACTION_SIZE;
  for (; action < end; action += ACTION_SIZE) {
    const op = load<u32>(action);
    if (op == Op.esp) {
      // Unreached: the host refuses two ESP actions in a rule.
      if (found != 0) return 0;
      found = action;
    } else if (!isEligible(op)) return 0;
  }
  return found;
}

/** Whether an action changes or delivers a frame and leads to no other rule. */
function isEligible(op: u32): bool {
  switch (op) {
    case Op.none:
    case Op.untag:
    case Op.tag:
    case Op.count:
    case Op.drop:
    case Op.copy_queue:
    case Op.copy_from_others:
    case Op.queue:
    case Op.queue_from_others:
    case Op.modify:
    case Op.push_vlan:
    case Op.pop_vlan:
    case Op.reformat:
    case Op.rss:
    case Op.copy_rss:
      return true;
    default:
      return false;
  }
}
