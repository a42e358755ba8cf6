/** Rules on a device, and what happened to the frames there. */
import type { CoreSource } from "flowsteer";
import { cannotRun, loadScenario, type FrameInput, type LoadedScenario } from "flowsteer/scenario";
import type { Progress } from "../api.js";
import type { CaptureFrames, FrameRange } from "../frames/captureFrames.js";
import { DocumentFrames } from "../frames/documentFrames.js";
import type { Pace } from "../work/lane.js";
import { Outcomes } from "./outcomes.js";

/** Frames of a document that are steered at a time. */
const PIECE = 64;

export interface Run {
  readonly text: string;
  readonly loaded: LoadedScenario;
  readonly frames: DocumentFrames | CaptureFrames;
  readonly outcomes: Outcomes;
}

/**
 * Loads rules and steers frames.
 * @param others null for the frames of the document
 * @param range the frames of a capture that are steered, if not all
 * @throws SteeringError the rules are refused
 */
export async function runRules(
  text: string,
  core: CoreSource,
  others: DocumentFrames | CaptureFrames | null,
  pace: Pace,
  progress: Progress,
  range?: FrameRange,
): Promise<Run> {
  const loaded = await loadScenario(text, { core });
  pace.check();
  const frames = others ?? new DocumentFrames(loaded.frames);
  const outcomes = new Outcomes(loaded, frames.count);
  if (frames.capture === null) {
    await steerDocument(loaded, frames, outcomes, frames.inputs === loaded.frames, pace, progress);
  } else await frames.steer(loaded, outcomes, pace, progress, range);
  return { text, loaded, frames, outcomes };
}

/** @param own whether the frames are those of the same document */
async function steerDocument(
  loaded: LoadedScenario,
  { inputs }: DocumentFrames,
  outcomes: Outcomes,
  own: boolean,
  pace: Pace,
  progress: Progress,
): Promise<void> {
  // Messages are sent before the first frame, also where there is none.
  if (inputs.length === 0) loaded.run();
  const piece = own ? PIECE : 1;
  for (let first = 0; first < inputs.length; first += piece) {
    progress(first, inputs.length, "Steering frames");
    steerPiece(loaded, inputs, first, Math.min(first + piece, inputs.length), outcomes);
    await pace.rest();
  }
}

/** Frames of other rules can name queues, ports and actions that these rules do not have. */
function steerPiece(
  loaded: LoadedScenario,
  inputs: readonly FrameInput[],
  first: number,
  end: number,
  outcomes: Outcomes,
): void {
  const some = inputs.slice(first, end).map((input, i) => ({ ...input, number: first + i + 1 }));
  const wrong = some.flatMap(({ linkType = 1, bytes }) => cannotRun(linkType, bytes.length) ?? []);
  if (wrong.length > 0 && some.length > 1) {
    for (let at = first; at < end; at++) steerPiece(loaded, inputs, at, at + 1, outcomes);
    return;
  }
  try {
    if (wrong[0] !== undefined) throw new Error(wrong[0]);
    for (const [i, outcome] of loaded.run(some).entries())
      outcomes.set(first + i + 1, outcomes.classOf(outcome), outcome.tag);
  } catch (error) {
    if (some.length > 1) throw error;
    outcomes.set(first + 1, outcomes.skipped(error instanceof Error ? error.message : String(error)));
  }
}
