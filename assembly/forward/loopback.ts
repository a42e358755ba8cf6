/**
 * Frames that a port loops back: whether a rule applies to its own sender. In: a rule and the queue
 * that sent the frame. Out: whether the frame hits the rule.
 *
 * The rules of a queue apply to its own frames only with ALLOW_LOOP_BACK. Other rules name their
 * queue in operations made for that (copy_from_others, queue_from_others, drop). A rule that has no
 * other destination, or that drops, is skipped for that queue.
 */
import { ACTION_OPERAND, ACTION_SIZE, Op } from "../../src/abi/engine";
import { RULE_ACTION_COUNT } from "../../src/abi/rule";
import { actionsOf } from "../classify/rule";

/** Whether `rule` applies to a frame of `sender`, which is not 0. */
export function answers(rule: usize, sender: u32): bool {
  let own = false;
  let action = actionsOf(rule);
  const last = action + <usize>load<u8>(rule, RULE_ACTION_COUNT) * ACTION_SIZE;
  for (; action < last; action += ACTION_SIZE) {
    const owner = load<u32>(action, ACTION_OPERAND);
    switch (load<u32>(action)) {
      case Op.drop:
        return owner != sender;
      case Op.copy_from_others:
      case Op.queue_from_others:
        if (owner != sender) return true;
        own = true;
        break;
      case Op.copy_queue:
      case Op.queue:
      case Op.copy_rss:
      case Op.rss:
        return true;
    }
  }
  return !own;
}
