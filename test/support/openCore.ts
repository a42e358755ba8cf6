/** A core for tests that write frames, keys and jobs into its memory themselves. */
import type { Core } from "../../src/engine/core.js";
import { loadCore, type CoreSource } from "../../src/engine/load.js";

/** A core with all of its areas, which grow with use otherwise. */
export async function loadOpenCore(source?: CoreSource): Promise<Core> {
  const core = await loadCore(source);
  if (!core.openAll()) throw new Error("no memory for the areas of a core");
  return core;
}
