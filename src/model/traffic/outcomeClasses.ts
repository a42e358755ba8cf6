/**
 * Sums of frames by outcome class. Frames of one class have the same outcome except for tags, bytes
 * and lengths. Each core sums for itself; a burst gives its reader the classes of the core that
 * steered the rows.
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
