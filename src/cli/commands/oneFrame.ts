/** What `trace` and `why` have in common: one frame of a scenario, an answer as text or as a line of JSON. */
import type { LoadedScenario } from "../../scenario/index.js";
import type { CommandLine } from "../commandLine.js";
import { CaptureLog, checkInputOnce } from "../input/captures.js";
import { isRegular } from "../input/chunks.js";
import { chooseFrame, type ChosenFrame, type Steered } from "../input/chosenFrame.js";
import { loadRules, readRulesAndCaptures, type Rules } from "../input/rules/rules.js";
import { Output } from "../output/output.js";
import { badUsage, EXIT, withFile } from "../refusal.js";
import type { ExplainLine } from "../report/explainLines.js";
import { elementsOfRules, elementsText } from "../report/elements.js";
import { notesText } from "../report/report.js";
import { NO_PAINT, painter } from "../text.js";

/** An answer; `text` is for people. */
export interface Answer {
  readonly record: ExplainLine;
  text(colour: boolean): string;
}

/** Steers the frames before the chosen one once more, on a device of its own; nothing where its captures can be read only once. */
export type SteerAgain = (watch: (again: LoadedScenario) => Steered) => Promise<void>;

/** Refuses a command line without rules. */
export function checkRulesNamed(command: string, { operands }: CommandLine): void {
  if (operands.length === 0)
    throw badUsage(command, `name a scenario or rules: flowsteer ${command} RULES [CAPTURE] --frame N`);
  checkInputOnce(operands);
}

/** @returns the exit code */
export async function answerOne(
  command: string,
  line: CommandLine,
  check: (loaded: LoadedScenario, rules: Rules) => (frame: ChosenFrame, steerAgain: SteerAgain) => Promise<Answer>,
): Promise<number> {
  checkRulesNamed(command, line);
  const [rules, captures] = await readRulesAndCaptures(line);
  const loaded = await loadRules(rules);
  const answer = check(loaded, rules);
  const log = new CaptureLog();
  const frame = await chooseFrame(command, line, captures, rules, loaded, log);
  const steerAgain: SteerAgain = async (watch) => {
    if (!captures.every(isRegular)) return;
    const again = await loadRules(rules);
    await chooseFrame(command, line, captures, rules, again, new CaptureLog(), watch(again));
  };
  const found = await withFile(rules.name, () => answer(frame, steerAgain));
  const output = new Output();
  const paint = painter(process.stdout);
  const elements = elementsOfRules(found.record, rules);
  await output.write(
    line.flags.has("json")
      ? `${JSON.stringify({ ...found.record, ...elements })}\n`
      : `${found.text(paint !== NO_PAINT)}\n${elementsText(paint, elements)}`,
  );
  await output.flush();
  if (!line.flags.has("quiet")) process.stderr.write(notesText(painter(process.stderr), log.notes));
  return log.broken.length > 0 ? EXIT.cut : 0;
}
