/** The end of a run: closes files and prints the report. */
import type { Failure } from "../../scenario/index.js";
import { exitCodeOf } from "../interruption.js";
import { failuresText, notesText, reportText } from "../report/report.js";
import type { Session } from "./session.js";
import { painter, printable } from "../text.js";

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
  const { loaded, interrupted, notes } = session;
  // An interrupted run lacks frames that expectations are about.
  const checked = checkExpectations && interrupted === null;
  if (interrupted !== null)
    notes.push(`interrupted by ${interrupted}: what was read until then was run, the rest was not`);
  await report(session, interrupted === null ? sources : `${sources}, partial: interrupted by ${interrupted}`);
  const paint = painter(process.stderr);
  process.stderr.write(notesText(paint, notes));
  const failures: readonly Failure[] = [...loaded.disagreements, ...(checked ? loaded.failures() : [])];
  if (failures.length > 0) process.stderr.write(failuresText(paint, file, failures));
  else if (checked && loaded.scenario.expect !== undefined && isForPeople(session)) {
    await session.output.write("\nAll expectations are met.\n");
    await session.output.flush();
  }
  if (interrupted !== null) return exitCodeOf(interrupted);
  return failures.length > 0 ? 1 : 0;
}

/** On standard output, and in files. */
async function report(session: Session, sources: string): Promise<void> {
  const { loaded, outputs, output, skipped, interrupted } = session;
  const written = outputs.files?.close() ?? [];
  await outputs.rows?.end(interrupted);
  if (isForPeople(session)) {
    await output.write(reportText(painter(process.stdout), loaded, sources, skipped));
    const lines = written.map(({ path, frames }) => `wrote ${printable(path)}: ${frames}\n`).join("");
    if (lines !== "") await output.write(`\n${lines}`);
  } else if (outputs.json && interrupted !== null) {
    await output.write(`${JSON.stringify({ partial: interrupted, frames: loaded.tally.all.frames })}\n`);
  }
  await output.flush();
}

function isForPeople({ outputs }: Session): boolean {
  return !outputs.json && outputs.rows === null;
}
