/** flowsteer cover: for each rule of a scenario a frame that hits it, or a proof that there is none. */
import { cover as coverOf, type Cover } from "../../explain/index.js";
import { rulePointers, type LoadedScenario } from "../../scenario/index.js";
import { readCommandLine, type CommandLine } from "../commandLine.js";
import { checkInputOnce } from "../input/captures.js";
import { Progress } from "../input/progress.js";
import { RULE_OPTIONS } from "../input/rules/options.js";
import { loadRules, type Rules, rulesOf } from "../input/rules/rules.js";
import { exitCodeOf, Interruption } from "../interruption.js";
import { Output } from "../output/output.js";
import { writeWitnesses } from "../output/witnessFiles.js";
import { badUsage, EXIT } from "../refusal.js";
import { coverLines, type CoverCounts, type CoverLine } from "../report/coverLines.js";
import { coverText } from "../report/coverText.js";
import { elementsOfRules } from "../report/elements.js";
import { notImportedLines } from "../report/notImported.js";
import { notesText } from "../report/report.js";
import { painter, printable } from "../text.js";

const OPTIONS = { ...RULE_OPTIONS, out: "value", "fail-on": "value", json: "flag" } as const;
/** What makes the command fail, and the answers that do. */
const FAIL_ON = { dead: ["dead"], unknown: ["dead", "unknown"] } as const;

/** @returns the exit code */
export async function cover(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "cover", OPTIONS);
  if (line.operands.length === 0) throw badUsage("cover", "name a scenario or rules: flowsteer cover RULES...");
  checkInputOnce(line.operands);
  const failing = failingStates(line);
  const interruption = new Interruption();
  try {
    const rules = await rulesOf(line.operands, line);
    const loaded = await loadRules(rules);
    const found = await search(loaded, interruption, line.flags.has("quiet"));
    const partial = interruption.signal === null ? null : `interrupted by ${interruption.signal}`;
    const counts = await report(line, rules, loaded, found, partial);
    if (!line.flags.has("quiet")) writeNotes(loaded, found);
    const folder = line.values.get("out");
    if (folder !== undefined) await write(line, folder, rules, found);
    if (interruption.signal !== null) return exitCodeOf(interruption.signal);
    return failing.some((status) => counts[status] > 0) ? EXIT.failed : 0;
  } finally {
    interruption.end();
  }
}

function failingStates(line: CommandLine): readonly (keyof CoverCounts)[] {
  const text = line.values.get("fail-on");
  if (text === undefined) return [];
  if (text !== "dead" && text !== "unknown") throw badUsage(`--fail-on ${text}`, "expected dead or unknown");
  return FAIL_ON[text];
}

/** A signal ends the search early: rules whose turn had not come are left out. */
async function search({ device }: LoadedScenario, interruption: Interruption, quiet: boolean): Promise<Cover> {
  const stop = new AbortController();
  interruption.stop = () => {
    stop.abort();
  };
  let progress: Progress | null = null;
  let seen = 0;
  const onProgress = (done: number, total: number): void => {
    progress ??= new Progress(process.stderr, quiet ? null : total, "rule");
    progress.read(done - seen);
    progress.show(done);
    seen = done;
  };
  try {
    return await coverOf(device, { onProgress, signal: stop.signal });
  } finally {
    interruption.stop = null;
    (progress as Progress | null)?.clear();
  }
}

/** @returns the counts of rules */
async function report(
  line: CommandLine,
  rules: Rules,
  { device, scenario }: LoadedScenario,
  found: Cover,
  partial: string | null,
): Promise<CoverCounts> {
  const output = new Output();
  const paint = painter(process.stdout);
  const json = line.flags.has("json");
  let last: CoverLine | null = null;
  for (const one of coverLines(found, rulePointers(scenario), partial)) {
    last = one;
    const { imported } = rules;
    const own = imported?.words.areTried === true ? imported.inOwnNames(one) : one;
    const named = { ...own, ...elementsOfRules(one, rules) };
    if (json) await output.write(`${JSON.stringify(named)}\n`);
    else if (!line.flags.has("quiet")) await output.write(coverText(paint, device, named));
  }
  await output.flush();
  if (last?.kind !== "sum") throw new Error("the last line of a cover is its sum");
  return last.rules;
}

/** Tells of rules that an import did not carry over wholly: the device may treat their frames otherwise. */
function writeNotes({ scenario }: LoadedScenario, { rules }: Cover): void {
  const covered = new Set(
    rules.flatMap(({ rule: { kind, name } }) => (kind === "rule" ? [name, ...name.split(" = ")] : [])),
  );
  const lines = notImportedLines(scenario, (name) => covered.has(name));
  process.stderr.write(notesText(painter(process.stderr), lines));
}

async function write(line: CommandLine, folder: string, rules: Rules, found: Cover): Promise<void> {
  const { written, notes } = await writeWitnesses(folder, line.operands, rules, found);
  if (line.flags.has("quiet")) return;
  const output = new Output(line.flags.has("json") ? process.stderr : process.stdout);
  for (const { path, frames } of written) await output.write(`wrote ${printable(path)}: ${frames}\n`);
  await output.flush();
  process.stderr.write(notesText(painter(process.stderr), notes));
}
