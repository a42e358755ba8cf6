/**
 * The flow cache: 64-byte frames against a rule set, on a device with the cache and on one without.
 * Frames come from one block of memory, as from a file; a burst copies them in one call.
 */
import { MAX_BATCH } from "../../src/abi/engine.js";
import type { Burst } from "../../src/index.js";
import { hold } from "../classify/lookups.js";
import { readRules, type SetRule, type SetSize, type Trace } from "../classify/ruleSets.js";
import { expectEqual, repeated, timed, type Target, type TimedCase, type Workload } from "../harness.js";
import { RteAcl } from "../peers/rteAcl.js";
import { AclDevice, countedSince, WITHOUT_CACHE } from "./acl.js";
import { randomFlows, zipf } from "./flows.js";
import { SKEWED_GOAL, UNIFORM_GOAL } from "./goals.js";
import { FRAME_BYTES, framesOf } from "./stream.js";

const OFF = "engine, cache off";
const EXPONENT = 0.99;
const FLOWS = 100_000;
/** More frames than any cache has entries, before the sequence repeats. */
const LENGTH = 2 ** 20;
const QUICK_FLOWS = 2000;
const QUICK_LENGTH = 2 ** 14;

export async function* cached(size: SetSize, quick: boolean, program: string | undefined): AsyncGenerator<Workload> {
  const rules = readRules("acl1", size);
  const [flows, length] = quick ? [QUICK_FLOWS, QUICK_LENGTH] : [FLOWS, LENGTH];
  const [on, off] = [await AclDevice.open(rules), await AclDevice.open(rules, WITHOUT_CACHE)];
  const skewed = zipf(randomFlows(rules, flows, 11), length, EXPONENT, 12);
  const name = `acl1 ${size}, Zipf(${EXPONENT}) over ${flows.toLocaleString("en")} flows`;
  const acl = program === undefined ? undefined : await RteAcl.start(program, rules, skewed);
  const peers: TimedCase[] =
    acl === undefined
      ? []
      : (["scalar", "vector"] as const).map((method) => ({
          name: `rte_acl, ${method === "scalar" ? method : acl.vector}, keys ready`,
          peer: true,
          seconds: repeated((times) => acl.seconds(method, times)),
        }));
  try {
    yield workload(name, on, off, skewed, SKEWED_GOAL, peers);
  } finally {
    acl?.stop();
  }
  yield uniform(rules, size, length, on, off);
}

/** No flow occurs twice. */
function uniform(rules: readonly SetRule[], size: SetSize, length: number, on: AclDevice, off: AclDevice): Workload {
  const trace = randomFlows(rules, length, 13);
  return workload(`acl1 ${size}, uniform over ${length.toLocaleString("en")} flows`, on, off, trace, UNIFORM_GOAL, []);
}

function workload(
  name: string,
  on: AclDevice,
  off: AclDevice,
  trace: Trace,
  goal: number,
  peers: TimedCase[],
): Workload {
  const bytes = framesOf(trace.headers);
  const targets: Record<string, Target> = { [OFF]: { goal } };
  const began = { hits: on.device.cache.hits, misses: on.device.cache.misses };
  const sides = [on, off].map((acl) => new Stream(acl, bytes));
  return {
    name,
    unit: "frame",
    units: trace.expected.length,
    check() {
      const lines = new Int32Array(trace.expected.length);
      const before = sides.map(({ acl }) => acl.counts());
      for (const [n, side] of sides.entries()) {
        // Once more, with a warm cache.
        for (let time = 0; time < 2; time++) {
          lines.fill(-2);
          side.run((burst, row, frame) => (lines[frame] = burst.tagged[row] === 1 ? burst.tags[row]! : -1));
          hold(`${name}, cache ${n === 0 ? "on" : "off"}`, lines, trace);
        }
      }
      const [counted, expected] = sides.map(({ acl }, n) => countedSince(before[n]!, acl.counts()));
      expectEqual(`${name}, counters`, counted, expected);
    },
    cases: [
      { name: "engine, cache on", seconds: timed(() => sides[0]!.run()), targets },
      { name: OFF, peer: true, seconds: timed(() => sides[1]!.run()) },
      ...peers,
    ],
    facts: {
      get [`${name}, share that the cache answers, %`]() {
        const [hits, misses] = [on.device.cache.hits - began.hits, on.device.cache.misses - began.misses];
        return hits + misses === 0n ? 0 : Number((1000n * hits) / (hits + misses)) / 10;
      },
    },
  };
}

class Stream {
  readonly acl: AclDevice;
  readonly #bytes: Uint8Array;
  readonly #burst: Burst;

  constructor(acl: AclDevice, bytes: Uint8Array) {
    this.acl = acl;
    this.#bytes = bytes;
    this.#burst = acl.device.openBurst();
  }

  run(read?: (burst: Burst, row: number, frame: number) => void): number {
    const burst = this.#burst;
    const bytes = this.#bytes;
    let sum = 0;
    for (let from = 0; from < bytes.length; from += MAX_BATCH * FRAME_BYTES) {
      const some = bytes.subarray(from, from + MAX_BATCH * FRAME_BYTES);
      burst.clear();
      burst.bytes.set(some);
      for (let at = 0; at < some.length; at += FRAME_BYTES) burst.add(at, FRAME_BYTES);
      const count = burst.steer();
      const { verdicts, tags, queues } = burst;
      for (let i = 0; i < count; i++) sum += verdicts[i]! + tags[i]! + queues[i]!;
      if (read !== undefined) for (let i = 0; i < count; i++) read(burst, i, from / FRAME_BYTES + i);
    }
    return sum;
  }
}
