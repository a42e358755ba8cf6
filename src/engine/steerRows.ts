/** Steers the rows of a batch and writes their columns, in any thread. */
import type { CoreExports } from "./coreExports.js";

/**
 * Steers the first `count` frames and writes their columns.
 * @param sums whether frames are also summed by outcome class (outcomeClasses.ts)
 * @returns SOME_*
 */
export function steerRows(core: CoreExports, root: number, count: number, sums: boolean): number {
  if (sums) core.keepLengths(count);
  core.steer(root, count);
  if (sums) core.sumOutcomeClasses(0, count);
  return core.writeColumns(count);
}
