/** The end of a run: closes files and prints the report. */
import type { Failure } from "../../scenario/index.js";
import { exitCodeOf } from "../interruption.js";
import { linesOfHitRules } from "../report/notImported.js";
import { failuresText, notesText, reportText } from "../report/report.js";
import type { Session } from "./session.js";
import { EXIT } from "../refusal.js";
import { painter, printable } from "../text.js";
import type { CaptureLog } from "../input/captures.js";

/**
 * Prints the report and returns the exit code. `sources` describes the origin of the frames;
 * `checkExpectations` says whether the expectations are about them.
 */
export async function finish(
  session: Session,
  file: string,
  sources: string,
  checkExpectations: boolean,
): Promise<number> {
  const { loaded, interrupted, outputs, log } = session;
  const { notes, broken } = log;
  // An interrupted run lacks frames that expectations are about.
  const checked = checkExpectations && interrupted === null;
  if (interrupted !== null)
    notes.push(`interrupted by ${interrupted}: what was read until then was run, the rest was not`);
  notes.push(...linesOfHitRules(loaded));
  const partial = partialText(session);
  await report(session, partial === null ? sources : `${sources}, partial: ${partial}`, partial);
  const paint = painter(process.stderr);
  if (!outputs.quiet) process.stderr.write(notesText(paint, notes));
  const failures: readonly Failure[] = [...loaded.disagreements, ...(checked ? loaded.failures() : [])];
  if (failures.length > 0) process.stderr.write(failuresText(paint, file, failures));
  else if (checked && loaded.scenario.expect !== undefined && isForPeople(session)) {
    await session.output.write("\nAll expectations are met.\n");
    await session.output.flush();
  }
  if (interrupted !== null) return exitCodeOf(interrupted);
  if (broken.length > 0) return EXIT.cut;
  return failures.length > 0 ? EXIT.failed : 0;
}

/** Why the results are those of a part of the input; null where they are not. */
function partialText({ interrupted, log: { broken } }: Session): string | null {
  if (interrupted !== null) return `interrupted by ${interrupted}`;
  return broken.length === 0 ? null : `${broken.map(({ file }) => printable(file)).join(", ")} cut off`;
}

/** On standard output, and in files. */
async function report(session: Session, sources: string, partial: string | null): Promise<void> {
  const { loaded, outputs, output, skipped, interrupted, log } = session;
  const written = outputs.files?.close() ?? [];
  await outputs.rows?.end(interrupted ?? partial);
  if (outputs.annotated !== null) written.push(await outputs.annotated.end());
  if (isForPeople(session)) {
    await output.write(reportText(painter(process.stdout), loaded, sources, skipped));
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

function isForPeople({ outputs }: Session): boolean {
  return !outputs.quiet && !outputs.json && outputs.rows === null && !outputs.annotated?.isStandardOutput;
}
