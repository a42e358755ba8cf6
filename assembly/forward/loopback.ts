/**
 * Frames that a port loops back: whether a rule answers its own sender.
 *
 * A queue's own rules answer its frames only where they say so (ALLOW_LOOP_BACK). Those that do not name their queue in the
 * operations made for that: a rule that has no other destination, or whose drop is that queue's, is passed over.
 */
import { ACTION_SIZE, Op } from "../../src/abi/engine";
import { actionsOf, RULE_ACTION_COUNT } from "../classify/rule";

/** Whether `rule` answers a frame of `sender`, which is not 0. */
export function answers(rule: usize, sender: u32): bool {
  let own = false;
  let action = actionsOf(rule);
  const last = action + <usize>load<u8>(rule, RULE_ACTION_COUNT) * ACTION_SIZE;
  for (; action < last; action += ACTION_SIZE) {
    const owner = load<u32>(action, 4);
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
      case Op.copy_spread:
      case Op.spread:
        return true;
    }
  }
  return !own;
}
