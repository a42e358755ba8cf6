/**
 * The slowest changes of a large table while frames are steered: pairs of a delete and an insert, a batch of keys looked
 * up after every few. The same sequence runs several times, and each step counts with its fastest run: what the machine
 * does besides falls away.
 */
import { MAX_BATCH } from "../../src/abi/engine.js";
import { numbers } from "../random.js";
import { readRules, readTrace, type SetName, type SetSize } from "./ruleSets.js";
import { EngineSide, insertAll } from "./sides.js";

const RUNS = 4;
const CHANGES = 50_000;
/** Changes between two batches. */
const BETWEEN = 16;

/** Microseconds of the changes, and of the batches beside them. */
export async function tails(set: SetName, size: SetSize): Promise<Record<string, number>> {
  const changes = new Float64Array(CHANGES).fill(Infinity);
  const batches = new Float64Array(CHANGES / BETWEEN).fill(Infinity);
  const rules = readRules(set, size);
  const { headers } = readTrace(set, size, "uniform");
  for (let run = 0; run < RUNS; run++) {
    const engine = await EngineSide.open(rules, headers);
    insertAll(engine, rules.length);
    const next = numbers(11);
    for (let i = 0; i < CHANGES; i++) {
      const line = next() % rules.length;
      keep(changes, i, () => {
        engine.remove(line);
        engine.insert(line);
      });
      if (i % BETWEEN === 0) keep(batches, i / BETWEEN, () => engine.look((i * MAX_BATCH) % headers.length, MAX_BATCH));
    }
  }
  const name = `${set} ${size}, delete and insert while keys are looked up`;
  const [sorted, batch] = [changes.sort(), batches.sort()];
  return {
    [`${name}, median, µs`]: rounded(sorted[CHANGES / 2]!),
    [`${name}, 99.9 of 100, µs`]: rounded(sorted[Math.floor(CHANGES * 0.999)]!),
    [`${name}, slowest, µs (at most 50)`]: rounded(sorted[CHANGES - 1]!),
    [`${name}, slowest batch of ${MAX_BATCH}, µs`]: rounded(batch[batch.length - 1]!),
  };
}

function keep(times: Float64Array, i: number, call: () => void): void {
  const start = performance.now();
  call();
  times[i] = Math.min(times[i]!, (performance.now() - start) * 1000);
}

function rounded(microseconds: number): number {
  return Math.round(microseconds * 10) / 10;
}
