/** The rows of a batch from bytes to what a burst says of them, in whatever thread. */
import type { CoreExports } from "./coreExports.js";

/** Steers the first `count` frames, writes their columns, and sums them with `sums` (outcomeClasses.ts); gives SOME_*. */
export function steerRows(core: CoreExports, root: number, count: number, sums: boolean): number {
  if (sums) core.keepLengths(count);
  core.steer(root, count);
  if (sums) core.sumOutcomeClasses(0, count);
  return core.writeColumns(count);
}
