/** flowsteer check: finds faults in scenario files and shows what they contain. */
import type { Scenario } from "../../scenario/index.js";
import { checkFile, checkRules, notImportedFile, respelledLine, type CheckedFile } from "../check/findings.js";
import { fixedText } from "../check/fix.js";
import type { FindingLine } from "../report/checkLines.js";
import { findingLines, fixedLine, jsonLines, summary } from "../report/findingText.js";
import { readCommandLine, type CommandLine } from "../commandLine.js";
import { checkInputOnce } from "../input/captures.js";
import { RULE_OPTIONS } from "../input/rules/options.js";
import { ImportRefusal, readRules, respelledRules, type Rules } from "../input/rules/rules.js";
import { Output } from "../output/output.js";
import { writeOutput } from "../output/wholeFile.js";
import { badUsage, CommandRefusal, EXIT, refusalLines } from "../refusal.js";
import { grouped, painter, printable } from "../text.js";

const LISTS = [
  "queues",
  "indirectionTables",
  "rqts",
  "tirs",
  "asoObjects",
  "counters",
  "flowCounters",
  "flowActions",
  "tables",
  "matchers",
  "actions",
  "rules",
  "flows",
  "flowTables",
  "steeringAnchors",
  "flowEntries",
  "deviceFlows",
  "hostRules",
  "messages",
  "frames",
] as const;
const MIN_WIDTH = 9;
const NAMES_WIDTH = 80;

const FAIL_ON = ["error", "warning", "note", "never"] as const;
type FailOn = (typeof FAIL_ON)[number];

/** @returns the exit code */
export async function check(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "check", { ...RULE_OPTIONS, json: "flag", fix: "flag", "fail-on": "value" });
  const { operands, flags } = line;
  if (operands.length === 0) throw badUsage("check", "name scenarios or rules: flowsteer check RULES...");
  const failOn = failOnOf(line.values.get("fail-on"));
  const output = new Output();
  checkInputOnce(operands);
  if (flags.has("fix") && operands.includes("-"))
    throw badUsage("--fix", "standard input cannot be written; name a file");
  const all: (readonly [file: string, rules: Rules])[] = [];
  const respelled = new Map<string, readonly FindingLine[]>();
  let notImported = 0;
  for (const file of operands) {
    try {
      if (flags.has("fix")) {
        respelled.set(file, await respell(file, line));
        if (!flags.has("json")) await output.write(fixedLines(respelled.get(file)));
        await output.flush();
      }
      all.push([file, await readRules(file, line)]);
    } catch (error) {
      // The other files are checked all the same.
      if (!(error instanceof ImportRefusal)) throw error;
      process.stderr.write(refusalLines(painter(process.stderr), error));
      if (flags.has("json")) await output.write(jsonLines(notImportedFile(error), respelled.get(file) ?? []));
      notImported++;
    }
  }
  const checked: CheckedFile[] = [];
  for (const [file, rules] of all) {
    const { name, text } = rules;
    let found = await checkRules(rules);
    let fixed = respelled.get(file) ?? [];
    const repairs = flags.has("fix") && rules.imported === null ? await fixedText(found) : { fixed: [], text };
    if (repairs.fixed.length > 0) {
      fixed = repairs.fixed;
      writeOutput(file, repairs.text);
      found = await checkFile(name, repairs.text, rules.device);
    }
    checked.push(found);
    if (flags.has("json")) await output.write(jsonLines(found, fixed));
    else await print(output, found, repairs.fixed, flags.has("quiet"));
  }
  await output.flush();
  const refused = checked.reduce((sum, { refusals }) => sum + refusals.length, 0);
  if (refused > 1 && !flags.has("quiet") && !flags.has("json")) process.stderr.write(`${grouped(refused)} errors\n`);
  if (failOn === "never") return 0;
  if (refused + notImported > 0) return EXIT.refused;
  const bad = FAIL_ON.slice(0, FAIL_ON.indexOf(failOn) + 1);
  return checked.some(({ findings }) => findings.some(({ severity }) => bad.includes(severity))) ? EXIT.failed : 0;
}

function fixedLines(fixed: readonly FindingLine[] = []): string {
  const paint = painter(process.stdout);
  return fixed.map((finding) => fixedLine(paint, finding)).join("");
}

/** Corrects the misspelled words of rules that other programs wrote. @returns what was corrected */
async function respell(file: string, line: CommandLine): Promise<readonly FindingLine[]> {
  const found = await respelledRules(file, line);
  if (found === null || found.made.length === 0) return [];
  writeOutput(file, found.text);
  return found.made.map(respelledLine);
}

function failOnOf(text = "warning"): FailOn {
  const found = FAIL_ON.find((one) => one === text);
  if (found === undefined) throw badUsage(`--fail-on ${text}`, `expected one of ${FAIL_ON.join(", ")}`);
  return found;
}

async function print(
  output: Output,
  checked: CheckedFile,
  fixed: readonly FindingLine[],
  quiet: boolean,
): Promise<void> {
  const { name, refusals, scenario, findings } = checked;
  const paint = painter(process.stdout);
  if (scenario === null) {
    // In the order of the files on a terminal that shows both.
    await output.flush();
    for (const refusal of refusals)
      process.stderr.write(refusalLines(painter(process.stderr), new CommandRefusal(name, refusal)));
    return;
  }
  await output.write(fixedLines(fixed));
  if (!quiet) await output.write(`${printable(name)}: ${paint(...summary(findings))}\n${contents(scenario)}`);
  for (const finding of findings) await output.write(findingLines(paint, finding));
}

function contents(scenario: Scenario): string {
  const lines: string[] = [];
  const held = LISTS.filter((key) => (scenario[key] ?? []).length > 0);
  const width = Math.max(MIN_WIDTH, ...held.map(({ length }) => length));
  for (const key of held) {
    const list = scenario[key] ?? [];
    let names = list.flatMap(({ name }) => (name === undefined ? [] : [printable(name)])).join(", ");
    if (names.length > NAMES_WIDTH) names = `${names.slice(0, NAMES_WIDTH - 3)}...`;
    lines.push(`  ${key.padEnd(width)}${String(list.length).padStart(5)}  ${names}`.trimEnd());
  }
  const {
    messages = [],
    frames = [],
    counters = {},
    asoObjects = {},
    flowCounters = {},
    totals = {},
  } = scenario.expect ?? {};
  const { verdicts = {}, to = {}, copies = {}, rules = {}, ...plain } = totals;
  const sums = [verdicts, to, copies, rules, plain].reduce((n, one) => n + Object.keys(one).length, 0);
  const counted = [counters, asoObjects, flowCounters].reduce((n, one) => n + Object.keys(one).length, 0);
  const expected = messages.length + frames.length + counted + sums;
  if (expected > 0) lines.push(`  ${"expect".padEnd(width)}${String(expected).padStart(5)}`);
  return lines.map((line) => `${line}\n`).join("");
}
