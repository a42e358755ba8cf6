/** flowsteer check: checks scenario files and shows what they contain. */
import { checkScenario, type Scenario } from "../../scenario/index.js";
import { readCommandLine } from "../commandLine.js";
import { checkInputOnce } from "../input/captures.js";
import { inputName, textOf } from "../input/chunks.js";
import { Output } from "../output/output.js";
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
const LEAST_WIDTH = 9;
const NAMES_WIDTH = 80;

/** @returns the exit code */
export async function check(args: readonly string[]): Promise<number> {
  const { operands, flags } = readCommandLine(args, "check", {});
  if (operands.length === 0) throw badUsage("check", "name a scenario: flowsteer check SCENARIO...");
  const output = new Output();
  const paint = painter(process.stdout);
  checkInputOnce(operands);
  const texts: (readonly [name: string, text: string])[] = [];
  for (const file of operands) texts.push([inputName(file), await textOf(file)]);
  let refused = 0;
  for (const [name, text] of texts) {
    const { scenario, refusals } = await checkScenario(text);
    refused += refusals.length;
    if (scenario === null) {
      // In the order of the files on a terminal that shows both.
      await output.flush();
      for (const refusal of refusals)
        process.stderr.write(refusalLines(painter(process.stderr), new CommandRefusal(name, refusal)));
    } else if (!flags.has("quiet")) {
      await output.write(`${printable(name)}: ${paint("green", "good")}\n${contents(scenario)}`);
    }
  }
  await output.flush();
  if (refused > 1 && !flags.has("quiet")) process.stderr.write(`${grouped(refused)} errors\n`);
  return refused > 0 ? EXIT.refused : 0;
}

function contents(scenario: Scenario): string {
  const lines: string[] = [];
  const held = LISTS.filter((key) => (scenario[key] ?? []).length > 0);
  const width = Math.max(LEAST_WIDTH, ...held.map(({ length }) => length));
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
