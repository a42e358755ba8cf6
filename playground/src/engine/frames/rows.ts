/** Rows of the list of frames. */
import type { Device, ParsedHeaders } from "flowsteer";
import { cannotRun } from "flowsteer/scenario";
import type { FrameRow } from "../api.js";
import type { Comparison } from "../answers/changes.js";
import type { Run } from "../steer/run.js";
import { secondsOf } from "./frames.js";
import { summaryOf } from "./summary.js";

/**
 * Rows in the order of `numbers`.
 * @param columns as in `Engine.rows`
 */
export async function rowsOf(
  run: Run,
  comparison: Comparison | null,
  numbers: readonly number[],
  columns: readonly string[] = [],
): Promise<FrameRow[]> {
  const { frames, outcomes, loaded } = run;
  // Frames that lie near to each other in a file are read at once.
  const ascending = [...numbers].sort((a, b) => a - b);
  const read = await frames.bytes(ascending);
  const bytes = new Map(ascending.map((number, i) => [number, read[i] ?? new Uint8Array()]));
  const cells = columns.length === 0 ? null : (await import("./cells.js")).cellsOf(columns, run);
  return numbers.map((number) => {
    const { time, length, wireLength, linkType, name } = frames.head(number);
    const outcome = outcomes.of(number)?.outcome;
    const own = bytes.get(number) ?? new Uint8Array();
    const parsed = parse(loaded.device, own, linkType);
    return {
      number,
      time: secondsOf(frames, time),
      length,
      wireLength,
      name,
      summary: parsed === null ? `${own.length} bytes` : summaryOf(own, parsed),
      changed: comparison !== null && comparison.changeOf(number) !== null,
      verdict: outcome?.verdict ?? null,
      reason: outcome?.reason ?? null,
      to: outcome?.to ?? [],
      copies: outcome?.copies ?? [],
      rules: outcome?.rules ?? [],
      unclaimed: outcome?.unclaimed ?? false,
      skipped: outcome?.skipped ?? null,
      cells: cells?.(number, own, parsed) ?? {},
    };
  });
}

/** Null for a frame that cannot be steered. */
function parse(device: Device, bytes: Uint8Array, linkType: number): ParsedHeaders | null {
  if (cannotRun(linkType, bytes.length) !== null) return null;
  return device.parseHeaders([bytes], { linkType })[0] ?? null;
}
