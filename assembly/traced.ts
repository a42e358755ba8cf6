/**
 * The exports that only the traced core has, besides those of index.ts: the events of a frame, and
 * the rules of a table as the engine holds them (src/engine/tracedCore.ts).
 */
import { actionsOf } from "./classify/rule";

export { eventsEnd, eventsLost } from "./branch/events";
export { listNearest, listRules, ruleCount, stageRule } from "./classify/listRules";
export { openCopy, openTrace } from "./walk/openTrace";

/** The address of the actions of a rule. */
export function actionsAt(rule: usize): usize {
  return actionsOf(rule);
}
