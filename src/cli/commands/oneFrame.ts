/** What `trace` and `why` have in common: one frame of a scenario, an answer as text or as a line of JSON. */
import { loadScenario, type LoadedScenario } from "../../scenario/index.js";
import type { CommandLine } from "../commandLine.js";
import { CaptureLog, checkInputOnce } from "../input/captures.js";
import { chooseFrame, type ChosenFrame } from "../input/chosenFrame.js";
import { inputName, textOf } from "../input/chunks.js";
import { Output } from "../output/output.js";
import { badUsage, EXIT, withFile } from "../refusal.js";
import type { ExplainLine } from "../report/explainLines.js";
import { notesText } from "../report/report.js";
import { NO_PAINT, painter } from "../text.js";

/** An answer; `text` is for people. */
export interface Answer {
  readonly record: ExplainLine;
  text(colour: boolean): string;
}

/** The scenario that the command line names. */
export function scenarioOf(command: string, { operands }: CommandLine): string {
  const [file] = operands;
  if (file === undefined) throw badUsage(command, `name a scenario: flowsteer ${command} SCENARIO [CAPTURE] --frame N`);
  checkInputOnce(operands);
  return file;
}

/** @returns the exit code */
export async function answerOne(
  command: string,
  line: CommandLine,
  check: (loaded: LoadedScenario) => (frame: ChosenFrame) => Promise<Answer>,
): Promise<number> {
  const file = scenarioOf(command, line);
  const text = await textOf(file);
  const loaded = await withFile(inputName(file), () => loadScenario(text));
  const answer = check(loaded);
  const log = new CaptureLog();
  const frame = await chooseFrame(command, line, loaded, log);
  const found = await withFile(inputName(file), () => answer(frame));
  const output = new Output();
  const colour = painter(process.stdout) !== NO_PAINT;
  await output.write(`${line.flags.has("json") ? JSON.stringify(found.record) : found.text(colour)}\n`);
  await output.flush();
  if (!line.flags.has("quiet")) process.stderr.write(notesText(painter(process.stderr), log.notes));
  return log.broken.length > 0 ? EXIT.cut : 0;
}
