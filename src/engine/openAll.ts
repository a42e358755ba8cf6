/** Opens all areas of a core at once, which grow with use otherwise. In any thread. */
import { FRAME_ARENA, MAX_ROWS } from "../abi/engine.js";
import type { CoreExports } from "./coreExports.js";

/**
 * Takes memory for MAX_ROWS frames of FRAME_ARENA bytes and for their sums. On a core without rules
 * the areas are before its arena, and two cores have them at the same addresses.
 * @returns false when memory is full
 */
export function openAll(core: CoreExports): boolean {
  return core.openRows(MAX_ROWS) !== 0 && core.openBytes(FRAME_ARENA) !== 0 && core.openClasses() !== 0;
}
