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
import { COUNTERS, statefulFrame, statefulScenario, TAGS, type ScenarioText } from "./support/statefulScenario.js";

const SCENARIOS = rounds(240, "FLOWSTEER_STATEFUL");
const FRAMES = 5;
/** Frames that the standing of a repair is held to. */
const OTHERS = 2;
const REACHED = ["tag", "counter"].flatMap((kind) => [`${kind} reached`, `${kind} not reached`]);
/** Between two frames, in nanoseconds. */
const APART = 100_000n;

type Frames = readonly Uint8Array[];

interface Last {
  readonly outcome: Outcome;
  /** The counters that counted it. */
  readonly counted: readonly string[];
}

/** What the last frame did after the others, and the paths of those. */
async function lastOf(document: object, frames: Frames): Promise<{ last: Last; before: string }> {
  const { device, counters } = await loadScenario(document);
  const receive = (bytes: Uint8Array, n: number): Outcome => device.receive(1, bytes, { time: BigInt(n) * APART });
  const before = frames.slice(0, -1).map(receive);
  const counts = (): bigint[] => [...counters.values()].map((one) => one.read().packets);
  const were = counts();
  const outcome = receive(frames.at(-1) as Uint8Array, frames.length - 1);
  const are = counts();
  const counted = [...counters.keys()].filter((_, n) => were[n] !== are[n]);
  return { last: { outcome, counted }, before: before.map(pathOf).join(" ") };
}

function isReached({ outcome, counted }: Last, target: Target): boolean {
  return target.kind === "counter" ? counted.includes(target.name) : reached(outcome, target);
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
  const [now, then] = [await lastOf(document, frames), await lastOf(changed, frames)];
  // A repair is about this frame in the state that the frames before left: they leave another one if they go otherwise.
  if (now.before !== then.before) return;
  expect(isReached(then.last, target), text).toBe(true);
  if (repair.standing !== "safe" && repair.standing !== "corrects") return;
  for (const other of frames.slice(0, OTHERS)) {
    const alone = [...frames.slice(0, -1), other];
    const [was, is] = [(await lastOf(document, alone)).last.outcome, (await lastOf(changed, alone)).last.outcome];
    if (pathOf(was) === pathOf(is)) continue;
    const names = [...was.rules, ...is.rules].map(({ name }) => name);
    expect(names, `${text}\n${pathOf(was)} -> ${pathOf(is)}`).toContain(repair.rule);
  }
}

test(`explanations and repairs of ${SCENARIOS} scenarios with state are true`, { timeout: 7_200_000 }, async () => {
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
      const rules: Target[] = missed.map(({ name }) => ({ kind: "rule", name }));
      const written: Target[] = [
        ...TAGS.map((tag): Target => ({ kind: "tag", tag })),
        ...COUNTERS.map((name): Target => ({ kind: "counter", name })),
      ];
      const { last } = await lastOf(document, frames.slice(0, at + 1));
      for (const target of [...random.shuffle(rules).slice(0, 2), random.pick(written)]) {
        const explanation = explainer.why(1, bytes, target, { time });
        expect(explanation.reached, JSON.stringify({ document, explanation })).toBe(isReached(last, target));
        confirm(explanation, trace).forEach(count);
        count(`${target.kind} ${explanation.reached ? "" : "not "}reached`);
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
  checkReached(() => expect([...kinds.keys()]).toEqual(expect.arrayContaining([...wanted, ...REACHED, "rule: safe"])));
});
