/** Other frames that a change of a rule affects, described. */
import { packetLine } from "../../explain/print/packetLine.js";
import type { Trace } from "../../explain/trace/trace.js";
import type { Witness } from "../../explain/trace/witness.js";
import { differentKinds } from "../difference/compare.js";
import { differenceSentence } from "../difference/sentences.js";
import { treatmentOf } from "../difference/treatment.js";
import type { Found } from "../path/search.js";
import { witnessOf } from "../path/witness.js";
import type { World } from "../path/world.js";

export type FoundFrame = Extract<Found, { readonly kind: "frame" }>;

/** A frame that takes another path after the change. */
export interface Affected {
  /** `frames to TCP port 80 that no rule took are now sent to queue "web" by rule "web", such as ...`. */
  readonly sentence: string;
  readonly witness: Witness;
}

/**
 * @param world the device before the change
 * @param after the trace of the frame after it
 * @param frames which frames, such as "frames to TCP port 80"
 * @returns null if the change does not affect the frame
 */
export function affected(world: World, found: FoundFrame, after: Trace, frames: string): Affected | null {
  const { last } = found;
  const [was, is] = [treatmentOf(world.walk(last, found.before).trace), treatmentOf(after)];
  const kinds = differentKinds(was, is, { rules: true });
  if (kinds.length === 0) return null;
  const [parsed] = world.tracer.device.parseBatch([last.frame]);
  const example = parsed === undefined ? "" : `, such as ${packetLine(last.frame, parsed)}`;
  return { sentence: differenceSentence(frames, kinds, was, is, []) + example, witness: witnessOf(found) };
}
