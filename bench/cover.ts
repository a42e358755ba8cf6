/**
 * Dead rules and witnesses of rule sets in one table, beside boxes taken out of boxes in plain JavaScript, and of a pipeline
 * of four tables. A search runs once.
 */
import { cover as coverOf, type Cover } from "../src/explain/index.js";
import { loadScenario, type LoadedScenario, type Scenario } from "../src/scenario/index.js";
import { FEW_SETS, SETS, SIZES, readRules, type SetName, type SetRule, type SetSize } from "./classify/ruleSets.js";
import { pipelineScenario, setScenario } from "./cover/scenarios.js";
import { cpuSeconds, type Suite, type Workload } from "./harness.js";
import { Boxes, type BoxAnswer } from "./peers/boxes.js";

/** Lines of a set that the peer answers: its time grows with the square of the lines. */
const PEER_LINES = 500;
/** Seconds of CPU time that a search may take. */
const GOALS: Readonly<Record<SetSize, number>> = { "1k": 2, "10k": 30, "100k": 600 };
const PIPELINE = 1000;
const PIPELINE_GOAL = 30;

export const cover: Suite = {
  name: "cover",
  title: "Cover: a frame for each rule, or a proof that it is dead",
  async *workloads(quick, { sets, sizes }) {
    for (const size of SIZES) {
      if (sizes.length > 0 ? !sizes.includes(size) : quick && size !== "1k") continue;
      for (const set of sets.length > 0 ? SETS : FEW_SETS) {
        if (sets.length > 0 ? !sets.includes(set) : quick && set !== "acl1") continue;
        yield await oneSet(set, size);
      }
    }
    if (sets.length + sizes.length === 0) yield await pipeline(quick ? PIPELINE / 10 : PIPELINE);
  },
};

interface Searched {
  readonly loaded: LoadedScenario;
  readonly found: Cover;
  readonly seconds: number;
  readonly facts: Record<string, number>;
}

async function search(name: string, scenario: Scenario, goal: number): Promise<Searched> {
  const loaded = await loadScenario(scenario);
  const start = cpuSeconds();
  const found = await coverOf(loaded.device);
  const seconds = cpuSeconds() - start;
  const counted = (status: string): number => found.rules.filter(({ coverage }) => coverage.status === status).length;
  const megabytes = Math.round(process.resourceUsage().maxRSS / 1024);
  const facts = {
    [`${name}, rules`]: found.rules.length,
    [`${name}, seconds (at most ${goal})`]: Math.round(seconds * 100) / 100,
    [`${name}, dead`]: counted("none"),
    [`${name}, unknown`]: counted("unknown"),
    [`${name}, most memory of the process so far, MB`]: megabytes,
  };
  return { loaded, found, seconds, facts };
}

async function oneSet(set: SetName, size: SetSize): Promise<Workload> {
  const rules = readRules(set, size);
  const name = `${set} ${size}`;
  const { loaded, found, seconds, facts } = await search(name, setScenario(rules), GOALS[size]);
  const step = Math.max(1, Math.ceil(rules.length / PEER_LINES));
  const lines = rules.map((_, i) => i).filter((i) => i % step === 0);
  const boxes = new Boxes(rules);
  const start = cpuSeconds();
  const answers = lines.map((line) => [line, boxes.answer(line)] as const);
  const peerSeconds = ((cpuSeconds() - start) * rules.length) / lines.length;
  const givenUp = answers.filter(([, { state }]) => state === "unknown").length;
  return {
    name: `${name}, one table`,
    unit: "rule",
    units: rules.length,
    rounds: 1,
    facts: { ...facts, [`${name}, boxes: given up of ${lines.length}`]: givenUp },
    check() {
      checkWitnesses(loaded, found);
      checkDead(rules, found, answers);
    },
    cases: [
      { name: "cover", seconds: () => seconds },
      { name: `boxes, ${lines.length} lines, scaled`, peer: true, seconds: () => peerSeconds },
    ],
  };
}

async function pipeline(size: number): Promise<Workload> {
  const name = `four tables of ${size}`;
  const { loaded, found, seconds, facts } = await search(name, pipelineScenario(size), PIPELINE_GOAL);
  return {
    name,
    unit: "rule",
    units: found.rules.length,
    rounds: 1,
    facts,
    check() {
      checkWitnesses(loaded, found);
      for (const { rule, coverage } of found.rules) {
        const hidden = rule.name.endsWith("9");
        if (coverage.status !== "unknown" && hidden !== (coverage.status === "none"))
          throw new Error(`bench: ${rule.name} is ${coverage.status}`);
      }
    },
    cases: [{ name: "cover", seconds: () => seconds }],
  };
}

function checkWitnesses({ device }: LoadedScenario, { rules }: Cover): void {
  for (const { rule, coverage } of rules) {
    if (coverage.status !== "witness") continue;
    const { bytes, from } = coverage.witness;
    const frame = Uint8Array.from(bytes.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    const hit = device.receive(from.port, frame).rules;
    if (!hit.some(({ name }) => name === rule.name))
      throw new Error(`bench: the witness of ${rule.name} does not hit it`);
  }
}

/** A dead line is dead for the peer, and a line that the peer calls dead has only witnesses that are no plain 5-tuples. */
function checkDead(
  rules: readonly SetRule[],
  { rules: found }: Cover,
  answers: readonly (readonly [number, BoxAnswer])[],
): void {
  const dead = new Set(found.filter(({ coverage }) => coverage.status === "none").map(({ rule }) => rule.name));
  for (const [line, { state }] of answers) {
    if (state === "live" && dead.has(`rule ${line}`))
      throw new Error(`bench: line ${line} of ${rules.length} is not dead`);
  }
}
