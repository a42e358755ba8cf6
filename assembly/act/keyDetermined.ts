/** Which rules leave a frame whose next lookup follows from the key that it began with: the cache of decisions asks (walk/recordedLookups.ts). */
import { ACTION_SIZE, Op } from "../../src/abi/engine";
import { actionsOf, RULE_ACTION_COUNT } from "../classify/rule";
import { Required } from "../wire/required";
import { isFunctionOfKey } from "./header/modify";

/**
 * Whether what another lookup finds behind the rule is a function of the key. It is not behind what remembers or is left to chance,
 * nor behind what has headers parsed anew from bytes that the key does not hold. Decided by the actions alone: for one frame
 * they may do nothing, and a lot for the next one of the same key.
 * `state` stands in front of meters, flags and connections.
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
      case Op.sample:
      case Op.esp:
        return false;
      case Op.modify:
        if (!isFunctionOfKey(load<u32>(action, 4), Required.fields)) return false;
        break;
      default:
    }
  }
  return true;
}
