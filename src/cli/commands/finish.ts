/** The end of a run: closes files and prints the report. */
import { basename } from "node:path";
import type { Failure } from "../../scenario/index.js";
import { exitCodeOf } from "../interruption.js";
import { linesOfHitRules } from "../report/notImported.js";
import { neverHitText } from "../report/neverHit.js";
import { failuresText, notesText, reportText } from "../report/report.js";
import type { SteeredRun } from "./session.js";
import { EXIT } from "../refusal.js";
import { counted, painter, printable } from "../text.js";
import type { CaptureLog } from "../input/captures.js";

/**
 * Prints the report and returns the exit code. `sources` describes the origin of the frames;
 * `checkExpectations` says whether the expectations are about them.
 */
export async function finish(
  session: SteeredRun,
  file: string,
  sources: string,
  checkExpectations: boolean,
): Promise<number> {
  const { loaded, interrupted, outputs, log } = session;
  const { notes, broken, failed } = log;
  // Such a run lacks frames that expectations are about.
  const checked = checkExpectations && interrupted === null && failed.length === 0;
  if (interrupted !== null)
    notes.push(`interrupted by ${interrupted}: what was read until then was run, the rest was not`);
  notes.push(...linesOfHitRules(loaded));
  const partial = partialText(session);
  await report(session, partial === null ? sources : `${sources}, partial: ${partial}`, partial);
  const paint = painter(process.stderr);
  if (!outputs.quiet) process.stderr.write(notesText(paint, notes));
  process.stderr.write(failed.map((text) => `${paint(["red", "bold"], "failed:")} ${printable(text)}\n`).join(""));
  const failures: readonly Failure[] = [...loaded.disagreements, ...(checked ? loaded.failures() : [])];
  if (failures.length > 0) process.stderr.write(failuresText(paint, file, failures));
  else if (checked && loaded.scenario.expect !== undefined && isForPeople(session)) {
    await session.output.write("\nAll expectations are met.\n");
    await session.output.flush();
  }
  if (interrupted !== null) return exitCodeOf(interrupted);
  if (failed.length > 0) return EXIT.incomplete;
  if (broken.length > 0) return EXIT.cut;
  return failures.length > 0 ? EXIT.failed : 0;
}

/**
 * Whether the expectations are about the frames that were steered; else a note says so. They are about the document's own
 * frames, where it has any.
 * @param captured whether the frames came from captures
 * @param only whether one frame alone was steered
 */
export function expectationsApply(
  { loaded, log }: Pick<SteeredRun, "loaded" | "log">,
  file: string,
  captured: boolean,
  only: boolean,
): boolean {
  const { frames, expect } = loaded.scenario;
  const applies = (!captured || frames === undefined) && !only;
  if (expect !== undefined && !applies) {
    const about = only ? "all frames" : "its own frames";
    log.notes.push(`expectations of ${basename(file)} are about ${about}: not checked`);
  }
  return applies;
}

/** Why the results are those of a part of the input; null where they are not. */
function partialText({ interrupted, log: { broken, failed } }: SteeredRun): string | null {
  if (interrupted !== null) return `interrupted by ${interrupted}`;
  if (failed.length > 0) return `${counted(failed.length, "piece")} failed`;
  return broken.length === 0 ? null : `${broken.map(({ file }) => printable(file)).join(", ")} cut off`;
}

/** On standard output, and in files. */
async function report(session: SteeredRun, sources: string, partial: string | null): Promise<void> {
  const { loaded, outputs, output, skipped, interrupted, log } = session;
  const written: { path: string; frames: number }[] = outputs.files?.close() ?? [];
  await outputs.rows?.end(interrupted ?? partial);
  if (outputs.annotated !== null) written.push(await outputs.annotated.end());
  if (isForPeople(session)) {
    const { imported } = outputs;
    const paint = painter(process.stdout);
    await output.write(reportText(paint, loaded, sources, skipped, imported?.elements ?? null));
    if (interrupted === null) {
      const never = await neverHitText(paint, loaded, imported);
      if (never !== "") await output.write(`\n${never}`);
    }
    const lines = written.map(({ path, frames }) => `wrote ${printable(path)}: ${frames}\n`).join("");
    if (lines !== "") await output.write(`\n${lines}`);
  } else if (outputs.json && partial !== null) {
    await output.write(partialLine(interrupted, log, loaded.tally.all.frames));
  }
  await output.flush();
}

/** The last line of JSON after a part of the input. */
export function partialLine(interrupted: string | null, { broken }: CaptureLog, frames: number): string {
  const captures = broken.length > 0 ? { broken } : {};
  return `${JSON.stringify({ partial: interrupted ?? "broken capture", frames, ...captures })}\n`;
}

function isForPeople({ outputs }: SteeredRun): boolean {
  return !outputs.quiet && !outputs.json && outputs.rows === null && !outputs.annotated?.isStandardOutput;
}
