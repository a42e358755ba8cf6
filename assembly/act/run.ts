/**
 * Rule -> changed branch: runs its actions.
 *
 * Actions change the branch, end it, or name the table that it goes on to; they never choose one themselves.
 */
import { ACTION_SIZE, DEST_QUEUE, Op, Reason, TABLE_ROOT, Verdict } from "../../src/abi/engine";
import { deliverTo, end, tag } from "../out/outcome";
import { BRANCH_FRAME, BRANCH_INDEX } from "../steer/branch";
import { RULE_ACTION_COUNT, RULE_ACTIONS } from "../steer/rule";
import { TABLE_FLAGS } from "../steer/table";
import { count } from "./count";

/** Runs the actions of `rule`; gives the table to go on with, 0 when the branch has ended. */
export function run(branch: usize, table: usize, rule: usize): usize {
  const index = load<u32>(branch, BRANCH_INDEX);
  let action: usize = load<u32>(rule, RULE_ACTIONS);
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
      case Op.drop:
        end(index, Verdict.drop, Reason.drop_action);
        return 0;
      case Op.default_miss:
        end(index, load<u32>(table, TABLE_FLAGS) & TABLE_ROOT ? Verdict.miss : Verdict.drop, Reason.default_miss);
        return 0;
      case Op.queue:
        deliverTo(index, DEST_QUEUE, operand, load<u32>(branch, BRANCH_FRAME));
        return 0;
      case Op.table:
        return operand;
      default:
        // The host stages no other operation.
        unreachable();
    }
  }
  end(index, Verdict.drop, Reason.no_destination);
  return 0;
}
