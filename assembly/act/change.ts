/** Other actions for a rule that is there: the next frame runs all of them, or, when memory is full, all of the old ones. */
import { STAGE_ACTIONS } from "../../src/abi/engine";
import { STAGING } from "../memory";
import { outdate } from "../classify/epoch";
import { replaceActions } from "../classify/rule";
import { wantFor } from "../classify/table";
import { actionsWant } from "./requirements";

/**
 * Gives a rule the staged actions; false when memory is full, never for as many actions as it has
 * or fewer.
 */
export function changeActions(rule: usize, count: u32): bool {
  const actions = STAGING + STAGE_ACTIONS;
  if (!replaceActions(rule, actions, count)) return false;
  wantFor(rule, actionsWant(actions, count));
  outdate();
  return true;
}
