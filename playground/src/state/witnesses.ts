/** Frames that hit a rule, as frames of the document. */
import type { WitnessFrame } from "flowsteer/explain";
import type { ScenarioFrame } from "flowsteer/scenario";
import { applyEdits } from "jsonc-parser";
import type { LiveRule } from "../proof/api.js";
import { rules } from "./document.js";
import { addFrame } from "./edits.js";
import { nodeAt } from "./places.js";
import { selectedFrame } from "./selection.js";

/** Adds the witness of a rule, after the frames that must come before it, and selects it. */
export function addWitness({ name, witness }: LiveRule): void {
  const before = rules.peek();
  // Later frames go by the clock of those before them.
  const first = (nodeAt(before, "frames")?.children?.length ?? 0) === 0;
  const frames = [...witness.before, witness].map((frame) => frameOf(frame, first));
  let text = before;
  for (const [i, frame] of frames.entries()) {
    const isLast = i === frames.length - 1;
    const about = isLast ? `Hits "${name}".` : `Comes before the frame that hits "${name}".`;
    const edits = addFrame(text, { description: about, ...frame });
    if (edits === null) return;
    text = applyEdits(text, [...edits]);
  }
  rules.value = text;
  selectedFrame.value = nodeAt(text, "frames")?.children?.length ?? null;
}

function frameOf({ bytes, from, time, metadata }: WitnessFrame, timed: boolean): ScenarioFrame {
  return {
    hex: bytes,
    ...(from.kind === "queue" ? { send: from.queue.replace(/^qp:/, "") } : from.port !== 1 && { port: from.port }),
    ...(metadata !== undefined && from.kind === "queue" && { metadata }),
    ...(time !== undefined && timed && { time: Number(time) }),
  };
}
