/** Rows of the list of frames. */
import type { Device } from "flowsteer";
import { cannotRun } from "flowsteer/scenario";
import type { FrameRow } from "../api.js";
import type { Comparison } from "../answers/changes.js";
import type { Run } from "../steer/run.js";
import { secondsOf } from "./frames.js";
import { summaryOf } from "./summary.js";

/** @param numbers in ascending order */
export async function rowsOf(run: Run, comparison: Comparison | null, numbers: readonly number[]): Promise<FrameRow[]> {
  const { frames, outcomes, loaded } = run;
  const bytes = await frames.bytes(numbers);
  return numbers.map((number, i) => {
    const { time, length, wireLength, linkType, name } = frames.head(number);
    const outcome = outcomes.of(number)?.outcome;
    return {
      number,
      time: secondsOf(frames, time),
      length,
      wireLength,
      name,
      summary: lineOf(loaded.device, bytes[i] ?? new Uint8Array(), linkType),
      changed: comparison !== null && comparison.changeOf(number) !== null,
      verdict: outcome?.verdict ?? null,
      reason: outcome?.reason ?? null,
      to: outcome?.to ?? [],
      copies: outcome?.copies ?? [],
      rules: outcome?.rules ?? [],
      unclaimed: outcome?.unclaimed ?? false,
      skipped: outcome?.skipped ?? null,
    };
  });
}

function lineOf(device: Device, bytes: Uint8Array, linkType: number): string {
  if (cannotRun(linkType, bytes.length) !== null) return `${bytes.length} bytes`;
  const [parsed] = device.parseHeaders([bytes], { linkType });
  return parsed === undefined ? "" : summaryOf(bytes, parsed);
}
