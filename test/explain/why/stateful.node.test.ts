/**
 * Random scenarios with state: what explanations say is in the record of the traced core, and every repair of a rule, written
 * into the scenario, brings the frame to the target and moves no other frames than its standing says.
 */
import { expect, test } from "vitest";
import { openExplainer, openTracer, type Repair, type Target } from "../../../src/explain/index.js";
import { buildFrame, type Layer } from "../../../src/packet/index.js";
import { loadScenario } from "../../../src/scenario/index.js";
import type { Outcome } from "../../../src/model/traffic/outcome.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { checkReached, rounds } from "../../support/tier.js";
import { reached } from "../catalogue/support/reached.js";
import { confirm } from "./support/confirmed.js";
import { statefulFrame, statefulScenario, type ScenarioText } from "./support/statefulScenario.js";

const SCENARIOS = rounds(120, "FLOWSTEER_STATEFUL");
const FRAMES = 5;
/** Frames that the standing of a repair is held to. */
const OTHERS = 2;
/** Between two frames, in nanoseconds. */
const APART = 100_000n;

type Frames = readonly Uint8Array[];

/** The outcome of the last frame after the others, and the paths of those. */
async function outcomeOf(document: object, frames: Frames): Promise<{ last: Outcome; before: string }> {
  const { device } = await loadScenario(document);
  const outcomes = frames.map((bytes, n) => device.receive(1, bytes, { time: BigInt(n) * APART }));
  return { last: outcomes.pop() as Outcome, before: outcomes.map(pathOf).join(" ") };
}

/** The scenario with the rule as the repair prints it. */
function repaired(document: ScenarioText, { rule, fields }: Repair): ScenarioText {
  const rules = document.rules.map((one) => {
    if (one.name !== rule) return one;
    const match = new Map(Object.entries(one.match));
    let { priority } = one;
    for (const { field, after } of fields) {
      if (field === "priority") priority = Number(after);
      else if (after === null) match.delete(field);
      else match.set(field, after);
    }
    return { ...one, priority, match: Object.fromEntries(match) };
  });
  return { ...document, rules };
}

const pathOf = ({ verdict, rules }: Outcome): string => [verdict, ...rules.map(({ name }) => name)].join();

async function checkRepair(document: ScenarioText, frames: Frames, target: Target, repair: Repair): Promise<void> {
  const text = JSON.stringify({ rules: document.rules, target, repair });
  const changed = repaired(document, repair);
  const [now, then] = [await outcomeOf(document, frames), await outcomeOf(changed, frames)];
  // A repair is about this frame in the state that the frames before left: they leave another one if they go otherwise.
  if (now.before !== then.before) return;
  expect(reached(then.last, target), text).toBe(true);
  if (repair.standing !== "safe" && repair.standing !== "corrects") return;
  for (const other of frames.slice(0, OTHERS)) {
    const alone = [...frames.slice(0, -1), other];
    const [{ last: was }, { last: is }] = [await outcomeOf(document, alone), await outcomeOf(changed, alone)];
    if (pathOf(was) === pathOf(is)) continue;
    const names = [...was.rules, ...is.rules].map(({ name }) => name);
    expect(names, `${text}\n${pathOf(was)} -> ${pathOf(is)}`).toContain(repair.rule);
  }
}

test(`explanations and repairs of ${SCENARIOS} scenarios with state are true`, async () => {
  const random = new Random(seedFor("stateful"));
  const kinds = new Map<string, number>();
  const count = (kind: string): unknown => kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  for (let n = 0; n < SCENARIOS; n++) {
    const document = statefulScenario(random);
    const frames = Array.from({ length: FRAMES }, () => buildFrame(statefulFrame(random) as Layer[]));
    const { device } = await loadScenario(document);
    const [explainer, tracer] = [await openExplainer(device), await openTracer(device)];
    for (const [at, bytes] of frames.entries()) {
      const time = BigInt(at) * APART;
      const trace = tracer.trace(1, bytes, { time });
      const missed = document.rules.filter(({ name }) => !trace.outcome.rules.includes(name));
      const targets: Target[] = missed.map(({ name }) => ({ kind: "rule", name }));
      for (const target of random.shuffle(targets).slice(0, 2)) {
        const explanation = explainer.why(1, bytes, target, { time });
        confirm(explanation, trace).forEach(count);
        for (const repair of explanation.repairs) {
          count(`${repair.of}: ${repair.standing}`);
          if (repair.of === "rule") await checkRepair(document, frames.slice(0, at + 1), target, repair);
        }
      }
      confirm(explainer.why(1, bytes, { kind: "end" }, { time, repairs: false }), trace).forEach(count);
      device.receive(1, bytes, { time });
    }
  }
  console.log(
    [...kinds]
      .sort()
      .map(([kind, times]) => `${kind} ${times}`)
      .join(", "),
  );
  const wanted = ["changed on the way", "earlier rule", "lost", "no match", "not reached", "state", "written"];
  checkReached(() => expect([...kinds.keys()]).toEqual(expect.arrayContaining([...wanted, "rule: safe"])));
});
