/**
 * What a rule set costs beside time: its memory, and the slowest changes while frames are steered. For these, pairs
 * of a delete and an insert, with a batch of keys looked up after every few, run several times; each step counts with its
 * fastest run, so that what the machine does besides falls away.
 */
import { MAX_BATCH } from "../../src/abi/engine.js";
import { numbers } from "../random.js";
import { HEADER_WORDS, readRules, readTrace, type SetName, type SetSize } from "./ruleSets.js";
import { EngineSide, insertAll } from "./sides.js";

const RUNS = 4;
const CHANGES = 50_000;
/** Changes between two batches. */
const BETWEEN = 16;
/** Changes that are not measured: the machine still compiles the core. */
const WARM = 20_000;

/** Microseconds of the changes, and of the batches beside them. */
export async function tails(set: SetName, size: SetSize): Promise<Record<string, number>> {
  const changes = new Float64Array(WARM + CHANGES).fill(Infinity);
  const batches = new Float64Array((WARM + CHANGES) / BETWEEN).fill(Infinity);
  const rules = readRules(set, size);
  const { headers } = readTrace(set, size, "uniform");
  const last = headers.length / HEADER_WORDS - MAX_BATCH;
  for (let run = 0; run < RUNS; run++) {
    const engine = await EngineSide.open(rules, headers);
    insertAll(engine, rules.length);
    const next = numbers(11);
    for (let i = 0; i < WARM + CHANGES; i++) {
      const line = next() % rules.length;
      keep(changes, i, () => {
        engine.remove(line);
        engine.insert(line);
      });
      if (i % BETWEEN === 0) keep(batches, i / BETWEEN, () => engine.look((i * BETWEEN) % last, MAX_BATCH));
    }
  }
  const name = `${set} ${size}, delete and insert while keys are looked up`;
  const [sorted, batch] = [changes.subarray(WARM).sort(), batches.subarray(WARM / BETWEEN).sort()];
  return {
    [`${name}, median, µs`]: rounded(sorted[CHANGES / 2]!),
    [`${name}, 99.9 of 100, µs`]: rounded(sorted[Math.floor(CHANGES * 0.999)]!),
    [`${name}, slowest, µs (at most 50)`]: rounded(sorted[CHANGES - 1]!),
    [`${name}, slowest batch of ${MAX_BATCH}, µs`]: rounded(batch[batch.length - 1]!),
  };
}

/** Bytes a rule, with the candidate bitmaps that lookups make. */
export async function memoryOf(set: SetName, size: SetSize): Promise<Record<string, number>> {
  const rules = readRules(set, size);
  const engine = await EngineSide.open(rules, readTrace(set, size, "uniform").headers);
  const empty = engine.core.exports.arenaUsed() >>> 0;
  insertAll(engine, rules.length);
  for (let pass = 0; pass < 4; pass++) engine.answers(MAX_BATCH);
  const bytes = ((engine.core.exports.arenaUsed() >>> 0) - empty) / rules.length;
  return { [`${set} ${size}, core memory a rule, bytes`]: Math.round(bytes * 10) / 10 };
}

function keep(times: Float64Array, i: number, call: () => void): void {
  const start = performance.now();
  call();
  times[i] = Math.min(times[i]!, (performance.now() - start) * 1000);
}

function rounded(microseconds: number): number {
  return Math.round(microseconds * 10) / 10;
}
