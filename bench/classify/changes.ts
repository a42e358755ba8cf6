/**
 * Inserts a whole rule set into an empty table, then deletes and inserts pairs while the other
 * rules stay.
 */
import { MAX_BATCH } from "../../src/abi/engine.js";
import { cpuSeconds, repeated, type TimedCase, type Workload } from "../harness.js";
import { numbers } from "../random.js";
import { INSERT_GOAL, PAIR_GOAL } from "./goals.js";
import { hold, PLAIN } from "./lookups.js";
import { readRules, readTrace, type SetName, type SetSize } from "./ruleSets.js";
import { EngineSide, insertAll, PlainSide, type Side } from "./sides.js";

/** Pairs of one run. */
const PAIRS = 1000;
/** Lines removed at a time, so that an inserted line is not the last deleted one. */
const OUT = 64;

export async function* changes(set: SetName, size: SetSize): AsyncGenerator<Workload> {
  const rules = readRules(set, size);
  const trace = readTrace(set, size, "uniform");
  const engine = await EngineSide.open(rules, trace.headers);
  const plain = new PlainSide(rules, trace.headers);
  const order = shuffled(rules.length);

  const cases = (goal: number, work: (side: Side) => (times: number) => number): TimedCase[] => [
    { name: "engine, insertRule", seconds: repeated(work(engine)), targets: { [PLAIN]: { goal } } },
    { name: PLAIN, peer: true, seconds: repeated(work(plain)) },
  ];
  const whole = (): void => {
    for (const side of [engine, plain]) {
      side.renew();
      insertAll(side, rules.length);
    }
  };
  yield {
    name: `${set} ${size}, insert all`,
    unit: "rule",
    units: rules.length,
    check() {
      whole();
      hold(`${set} ${size}, engine`, engine.answers(MAX_BATCH), trace);
      hold(`${set} ${size}, ${PLAIN}`, plain.answers(), trace);
    },
    cases: cases(INSERT_GOAL, (side) => (times) => {
      let sum = 0;
      for (let i = 0; i < times; i++) {
        side.renew();
        const start = cpuSeconds();
        insertAll(side, rules.length);
        sum += cpuSeconds() - start;
      }
      return sum;
    }),
  };

  yield {
    name: `${set} ${size}, delete and insert`,
    unit: "pair",
    units: PAIRS,
    check() {
      whole();
      const steps = [stepper(engine, order), stepper(plain, order)];
      // More than one full cycle: every line has been deleted and inserted.
      for (let pairs = 0; pairs < rules.length + OUT; pairs += PAIRS) for (const step of steps) step();
      hold(`${set} ${size}, while lines are out`, engine.answers(MAX_BATCH), { expected: plain.answers() });
      whole();
    },
    cases: cases(PAIR_GOAL, (side) => {
      let step: (() => void) | undefined;
      return (times) => {
        step ??= stepper(side, order);
        const start = cpuSeconds();
        for (let i = 0; i < times; i++) step();
        return cpuSeconds() - start;
      };
    }),
  };
}

/**
 * Removes OUT lines; the result removes one and reinserts the one removed longest ago, PAIRS times.
 */
function stepper(side: Side, order: Uint32Array): () => void {
  for (let i = 0; i < OUT; i++) side.remove(order[i]!);
  let at = OUT;
  return () => {
    for (let i = 0; i < PAIRS; i++, at++) {
      side.remove(order[at % order.length]!);
      side.insert(order[(at - OUT) % order.length]!);
    }
  };
}

function shuffled(count: number): Uint32Array {
  const next = numbers(7);
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const other = next() % (i + 1);
    [order[i], order[other]] = [order[other]!, order[i]!];
  }
  return order;
}
