/** The core alone, for suites that run in a browser too. */
import type { Core } from "../src/engine/core.js";
import { loadCore as load, type CoreSource } from "../src/engine/load.js";

/** A core with all of its areas: suites write frames and keys into its memory. */
export async function loadCore(source?: CoreSource): Promise<Core> {
  const core = await load(source);
  if (!core.openAll()) throw new Error("no memory for the areas of a core");
  return core;
}
