/**
 * Which rules leave the next lookup of a frame a function of its key: only such lookups are
 * recorded for the flow cache. In: a rule. Out: whether recording may continue after it
 * (walk/recordedLookups.ts).
 */
import { ACTION_OPERAND, ACTION_SIZE, Op } from "../../src/abi/engine";
import { RULE_ACTION_COUNT } from "../../src/abi/rule";
import { actionsOf } from "../classify/rule";
import { Required } from "../wire/required";
import { isFunctionOfKey } from "./header/modify";

/**
 * Whether the next lookup after the rule depends on the key alone. It does not after stateful or
 * random actions, nor after actions that parse headers again from bytes outside the key. The
 * actions alone decide, since the effect of an action may differ between frames of one key. `state`
 * precedes meters, flags and connections.
 */
export function leavesFunction(rule: usize): bool {
  let action = actionsOf(rule);
  const end = action + <usize>load<u8>(rule, RULE_ACTION_COUNT) * ACTION_SIZE;
  for (; action < end; action += ACTION_SIZE) {
    switch (load<u32>(action)) {
      case Op.push_vlan:
      case Op.pop_vlan:
      case Op.reformat:
      case Op.state:
      case Op.sampler:
      case Op.esp:
        return false;
      case Op.modify:
        if (!isFunctionOfKey(load<u32>(action, ACTION_OPERAND), Required.fields)) return false;
        break;
      default:
    }
  }
  return true;
}
