/** Counts the calls that may change the memory of a core, for a copy that is made again only after a change. */
import { allExports } from "./calls.js";
import type { Core } from "./core.js";
import type { CoreExports } from "./coreExports.js";

/** Exports that change no state of objects. */
const READING: ReadonlySet<string> = new Set<keyof CoreExports>([
  ...(["openMemory", "areaAddress", "arenaUsed", "arenaTop", "emptyTable", "emptySendTable", "stageValue"] as const),
  ...(["rowsOpen", "bytesOpen", "openRows", "openBytes", "openClasses"] as const),
  ...(["firstOutside", "reachable", "isCachePaused", "parse", "classify", "writeColumns", "keepLengths"] as const),
  ...(["sumOutcomeClasses", "seal", "open", "sealMany", "openMany", "clearCache", "dropCache", "limitCache"] as const),
]);

const WATCHED = new WeakSet<Core>();

/**
 * Counts mutating calls from now on, in `core.version`. Calls take a little longer then, so only a
 * device whose frames are explained is watched.
 */
export function watch(core: Core): void {
  if (WATCHED.has(core)) return;
  WATCHED.add(core);
  const { exports } = core;
  const watched = allExports(exports);
  for (const [name, call] of Object.entries(watched)) {
    if (typeof call !== "function" || READING.has(name)) continue;
    watched[name] = (...parameters: number[]): unknown => {
      core.version++;
      return (call as (...parameters: number[]) => unknown)(...parameters);
    };
  }
  core.exports = watched as unknown as CoreExports;
}
