/**
 * Sums of frames by outcome class: frames of one class have the same outcome, but for tags, bytes and lengths. Each core
 * counts for itself; a burst hands its reader the classes of the core that has steered the rows.
 */
import type { Core } from "../../engine/core.js";
import { OutcomeClasses } from "../../engine/outcomeClasses.js";

export type { OutcomeClasses };

const OF_CORE = new WeakMap<Core, OutcomeClasses>();

/** The outcome classes of a core: the same object for each call. */
export function classesOf(core: Core): OutcomeClasses {
  let classes = OF_CORE.get(core);
  if (classes === undefined) OF_CORE.set(core, (classes = new OutcomeClasses(core)));
  return classes;
}
