/** flowsteer why: why a frame did not come to a rule, or ended as it did. */
import { printExplanation, type Explanation, type Target } from "../../explain/index.js";
import type { LoadedScenario } from "../../scenario/index.js";
import { numberOption, readCommandLine, type CommandLine } from "../commandLine.js";
import { FRAME_OPTIONS, type ChosenFrame } from "../input/chosenFrame.js";
import { RULE_OPTIONS } from "../input/rules/options.js";
import type { Rules } from "../input/rules/rules.js";
import { namesRule, notImportedLines } from "../report/notImported.js";
import { ConnectionWatch, failedByConnection, withFrames } from "../report/since.js";
import { badUsage } from "../refusal.js";
import { explanationOf, traceOf } from "./explainCalls.js";
import { answerOne, checkRulesNamed, type SteerAgain } from "./oneFrame.js";
import { whyAll } from "./whyAll.js";

const NAMED = ["rule", "flow", "table", "queue", "counter"] as const;
const TARGETS = {
  rule: "value",
  flow: "value",
  table: "value",
  queue: "value",
  counter: "value",
  tag: "value",
  vport: "value",
  twice: "flag",
} as const;
const OPTIONS = { ...FRAME_OPTIONS, ...RULE_OPTIONS, ...TARGETS, all: "flag", limit: "value", json: "flag" } as const;

/** @returns the exit code */
export async function why(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "why", OPTIONS);
  if (line.flags.has("all")) {
    checkRulesNamed("why", line);
    const other = [...line.values.keys(), ...line.flags].find((name) => name in TARGETS || OF_ONE_FRAME.includes(name));
    if (other !== undefined) throw badUsage(null, `--${other} and --all cannot be used together`);
    return whyAll(line);
  }
  if (line.values.has("limit")) throw badUsage(null, "--limit needs --all");
  return answerOne("why", line, (loaded, rules) => {
    const target = placed(targetOf(line, loaded.device.vports), rules);
    return async (frame, steerAgain) => {
      const explanation = await sinceWhen(loaded, await explanationOf(loaded, frame, target), frame, steerAgain);
      const lacking = await lackingOnWay(loaded, frame, explanation);
      const own = rules.imported?.inOwnWords(explanation) ?? explanation;
      const nameOf = rules.imported?.namesOfFields(explanation) ?? ((field: string) => field);
      return {
        record: { kind: "why", frame: frame.number, explanation: own },
        text: (colour) =>
          [printExplanation(own, { colour, nameOf }), ...lacking.map((one) => `Note: ${one}`)].join("\n"),
      };
    };
  });
}

/** More earlier frames than these are not steered again. */
const MAX_AGAIN = 100_000;

/** Names the frames that left the numbers of a connection that the frame failed a check against. */
async function sinceWhen(
  loaded: LoadedScenario,
  explanation: Explanation,
  frame: ChosenFrame,
  steerAgain: SteerAgain,
): Promise<Explanation> {
  if (frame.number === null || frame.number > MAX_AGAIN || loaded.asoObjects.size === 0) return explanation;
  const checks = failedByConnection(explanation, await traceOf(loaded, frame));
  if (checks.size === 0) return explanation;
  let watch: ConnectionWatch | undefined;
  await steerAgain((again) => {
    const own = (watch = new ConnectionWatch(again, checks.keys()));
    return (number) => {
      own.after(number);
    };
  });
  return watch === undefined ? explanation : withFrames(explanation, checks, watch);
}

/** What an import left out of the rules that the frame hits or that the explanation names. */
async function lackingOnWay(loaded: LoadedScenario, frame: ChosenFrame, explanation: Explanation): Promise<string[]> {
  const { scenario } = loaded;
  if (!scenario.rules?.some(({ notImported }) => notImported !== undefined)) return [];
  const named = [explanation, await traceOf(loaded, frame)];
  return notImportedLines(scenario, (rule) => namesRule(named, rule));
}

/** The rule of a text that `--rule` names by its place; the folder of its file can be left out, and it may be a flow. */
function placed(target: Target, { imported }: Rules): Target {
  if (imported === null || target.kind !== "rule") return target;
  const places = [...imported.elements.keys()];
  const isIt = (place: string): boolean => place === target.name || place.endsWith(`/${target.name}`);
  const [name, ...others] = places.includes(target.name) ? [target.name] : places.filter(isIt);
  if (name === undefined) {
    const finding = imported.findings.find(({ file, line }) => isIt(`${file}:${line}`));
    if (finding === undefined) return target;
    throw badUsage(
      `--rule ${target.name}`,
      `no rule of the device is of this line: ${finding.text}: ${finding.reason}`,
    );
  }
  if (others.length > 0) return target;
  const { rules = [], hostRules = [] } = imported.scenario;
  return { kind: [...rules, ...hostRules].some((rule) => rule.name === name) ? "rule" : "flow", name };
}

const OF_ONE_FRAME: readonly string[] = ["frame", "hex", "packet", "from"];

/** The place that the frame was expected at; without one, its end. */
function targetOf(line: CommandLine, vports: number): Target {
  const given = [...line.values.keys(), ...line.flags].filter((name) => name in TARGETS);
  if (given.length > 1)
    throw badUsage(null, `only one target can be given: ${given.map((name) => `--${name}`).join(", ")}`);
  const vport = numberOption(line, "vport", 0, vports, "0 is the PF, 1 the first VF of the scenario's device");
  if (vport !== undefined) return { kind: "vport", vport };
  const tag = numberOption(line, "tag", 0, 0xffffffff);
  if (tag !== undefined) return { kind: "tag", tag };
  const kind = NAMED.find((one) => one === given[0]);
  if (kind !== undefined) return { kind, name: line.values.get(kind) as string };
  return { kind: line.flags.has("twice") ? "twice" : "end" };
}
