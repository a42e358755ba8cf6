/** What other rules would change for the frames of the list. */
import { SteeringError, type CoreSource } from "flowsteer";
import type { RulesEffect } from "../api.js";
import { runRules, type Run } from "../steer/run.js";
import type { Pace } from "../work/lane.js";
import { Comparison } from "./changes.js";

/** Frames that are steered for it. */
const MAX_FRAMES = 100_000;
/** Numbers of frames that are returned. */
const MAX_NUMBERS = 1000;

/**
 * Steers the first frames by other rules.
 * @param own a frame that is to change, which is not counted; null for none
 * @returns null if the rules are refused
 */
export async function effectOf(
  run: Run,
  text: string,
  own: number | null,
  core: CoreSource,
  pace: Pace,
): Promise<RulesEffect | null> {
  const { frames } = run;
  const looked = frames.capture === null ? frames.count : Math.min(frames.count, MAX_FRAMES);
  try {
    const other = await runRules(text, core, frames, pace, () => undefined, { from: 1, end: looked + 1 });
    const comparison = await Comparison.of(run, other, pace);
    const numbers: number[] = [];
    for (let frame = 1; frame <= looked && numbers.length < MAX_NUMBERS; frame++) {
      if (frame !== own && comparison.changeOf(frame) !== null) numbers.push(frame);
    }
    const ownGroup = own === null ? null : comparison.changeOf(own);
    const groups = comparison.groups.map((group) =>
      group.id === ownGroup ? { ...group, frames: group.frames - 1 } : group,
    );
    const changed = comparison.changed - (ownGroup === null ? 0 : 1);
    return { changed, groups: groups.filter((group) => group.frames > 0), numbers, looked };
  } catch (error) {
    if (error instanceof SteeringError) return null;
    throw error;
  }
}
