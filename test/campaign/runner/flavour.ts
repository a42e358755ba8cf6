/** Which core `loadCore()` and `createDevice()` take. */
import type { Flavour } from "../target.js";

/** From now on, in this process. */
export function useCore(flavour: Flavour): void {
  // The same object as process.env in the bundle and in Vitest.
  (import.meta.env as Record<string, string>)["FLOWSTEER_CORE"] = flavour;
}
