/**
 * Rule -> changed branch: runs its actions.
 *
 * Actions change the branch, end it, or name the table that it goes on to; they never choose one themselves.
 */
import { ACTION_SIZE, DEST_COPY, Op, Reason, TABLE_SEND, Verdict } from "../../src/abi/engine";
import { deliverTo, end, isOpen, tag, untag } from "../out/outcome";
import { BRANCH_FRAME, BRANCH_INDEX, BRANCH_WHY } from "../steer/branch";
import { jump, leave, resume, Walk } from "../steer/onward";
import { actionsOf, RULE_ACTION_COUNT } from "../steer/rule";
import { TABLE_FLAGS } from "../steer/table";
import { count } from "./count";

/** Runs the actions of `rule`; whether the branch goes on. */
// @ts-ignore: decorator
@inline
export function run(branch: usize, table: usize, rule: usize): bool {
  const index = load<u32>(branch, BRANCH_INDEX);
  let action = actionsOf(rule);
  const last = action + <usize>load<u8>(rule, RULE_ACTION_COUNT) * ACTION_SIZE;
  for (; action < last; action += ACTION_SIZE) {
    const operand = load<u32>(action, 4);
    switch (load<u32>(action)) {
      case Op.tag:
        tag(index, operand);
        break;
      case Op.count:
        count(operand, load<u32>(branch, BRANCH_FRAME));
        break;
      case Op.queue_from_others:
        if (<usize>operand == Walk.sender) break;
      // falls through
      case Op.queue:
        deliverTo(index, operand, 0, load<u32>(branch, BRANCH_FRAME));
        break;
      case Op.table:
        return jump(branch, operand);
      default: {
        const then = seldom(branch, table, rule, action);
        if (then == Then.next_but_one) action += ACTION_SIZE;
        else if (then != Then.next) return then == Then.elsewhere;
      }
    }
  }
  return endOfRecord(index, table);
}

/** What an action leads to. */
enum Then {
  next,
  next_but_one,
  elsewhere,
  end,
}

/** The actions that most frames do not meet, apart so that the others stay short. */
function seldom(branch: usize, table: usize, rule: usize, action: usize): Then {
  const index = load<u32>(branch, BRANCH_INDEX);
  const operand = load<u32>(action, 4);
  switch (load<u32>(action)) {
    case Op.none:
      return Then.next;
    case Op.not_for:
      return <usize>operand == Walk.sender ? Then.next_but_one : Then.next;
    case Op.untag:
      untag(index);
      return Then.next;
    case Op.drop:
      end(index, Verdict.drop, Reason.drop_action);
      return Then.end;
    case Op.default_miss:
      store<u8>(branch, Reason.default_miss, BRANCH_WHY);
      return thenIf(leave(branch, table));
    case Op.copy_from_others:
      if (<usize>operand == Walk.sender) return Then.next;
    // falls through
    case Op.copy_queue:
      deliverTo(index, operand, DEST_COPY, load<u32>(branch, BRANCH_FRAME));
      return Then.next;
    case Op.resume:
      untag(index);
      resume(branch, rule);
      return Then.elsewhere;
    case Op.pass:
      untag(index);
      return thenIf(leave(branch, table));
    default:
      // The host stages no other operation.
      return unreachable();
  }
}

// @ts-ignore: decorator
@inline
function thenIf(goesOn: bool): Then {
  return goesOn ? Then.elsewhere : Then.end;
}

/** All actions have run, and none has sent the branch elsewhere. */
function endOfRecord(index: u32, table: usize): bool {
  if (isOpen(index)) {
    if (load<u32>(table, TABLE_FLAGS) & TABLE_SEND) end(index, Verdict.transmit, Reason.none);
    else end(index, Verdict.drop, Reason.no_destination);
  }
  return false;
}
