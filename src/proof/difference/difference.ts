/** `difference`: which frames two devices treat differently, each shown by a frame that both have steered, or a proof that there is none. */
import { inAsyncCall } from "../../errors.js";
import { checkOptions, wrongType } from "../../base/checks.js";
import { openTracer, type Tracer, type TracerOptions } from "../../explain/trace/tracer.js";
import { Device } from "../../model/device/device.js";
import type { DifferenceResult } from "../answer.js";
import { graphOf } from "../path/deviceGraph.js";
import { Changes, type Suspect } from "./changes.js";
import { BEHAVIOUR_TYPES, type Behaviour } from "./compare.js";
import { DifferenceFinder, type Judged } from "./finder.js";
import { pairTables, Side } from "./sides.js";

export interface DifferenceOptions extends Behaviour, TracerOptions {
  /** Called now and then with the changes that are done. */
  onProgress?: ((done: number, total: number) => void) | undefined;
  /** Ends the work: changes that are left are unknown. */
  signal?: AbortSignal | undefined;
}

const STOPPED: Judged = { effect: "unknown", tried: "nothing: the search ended first" };

/** Milliseconds of work between two turns of the event loop. */
const TURN = 50;

/**
 * Finds the frames that two devices treat differently. Objects are matched by their names. The devices stay as they are.
 * @param old the device before the change
 * @param changed the device after it
 * @returns groups of frames with a witness each; `equal` is true only where it is proved that there are none
 * @throws TypeError no devices, or an unknown option; SteeringError ENOMEM: no room for the copy of a device
 * @example
 *     const { equal, groups } = await difference(old, changed, { ignore: ["counters"] });
 *     for (const { sentence, witness } of groups) console.log(sentence, witness.bytes);
 */
export async function difference(
  old: Device,
  changed: Device,
  options: DifferenceOptions = {},
): Promise<DifferenceResult> {
  return inAsyncCall("difference", async () => {
    for (const [name, device] of Object.entries({ old, changed }))
      if (!(device instanceof Device)) wrongType(name, "a Device", device);
    checkOptions("", options, { ...BEHAVIOUR_TYPES, onProgress: "function", signal: "any" });
    const { core, onProgress, signal, ...behaviour } = options;
    const [a, b] = [await openTracer(old, { core }), await openTracer(changed, { core })];
    for (const tracer of [a, b]) tracer.refresh();
    const { sides, suspects } = compared(a, b, behaviour);
    const finder = new DifferenceFinder(sides, suspects, behaviour);
    const changes = [];
    let turn = Date.now();
    for (const [done, suspect] of suspects.entries()) {
      if (Date.now() - turn > TURN) {
        onProgress?.(done, suspects.length);
        await new Promise((go) => setTimeout(go));
        turn = Date.now();
      }
      const { goals, ...change } = suspect;
      const judged = signal?.aborted === true ? STOPPED : finder.effectOf(goals);
      changes.push({ ...change, ...judged });
    }
    return { equal: changes.every(({ effect }) => effect === "same"), groups: finder.groups, changes };
  });
}

/** @internal Both devices, and what may make a difference between them. The tracers must have copied them. */
export function compared(
  a: Tracer,
  b: Tracer,
  behaviour: Behaviour,
): { readonly sides: { readonly old: Side; readonly changed: Side }; readonly suspects: readonly Suspect[] } {
  const tables = pairTables(graphOf(a), graphOf(b), [a, b]);
  const names = (side: "old" | "changed") => new Map(tables.map((pair) => [pair[side], pair.name]));
  const own = ({ device }: Tracer, table: number): string => device.tables.get(table)?.object?.name ?? "";
  const renamed = new Map(tables.map((pair) => [own(b, pair.changed), own(a, pair.old)]));
  const sides = {
    old: new Side(a, names("old"), "old", behaviour),
    changed: new Side(b, names("changed"), "new", behaviour, renamed),
  };
  return { sides, suspects: new Changes(sides.old, sides.changed).list(tables) };
}
