/**
 * Memory exhaustion at every possible point: whichever allocation fails, the call fails with ENOMEM
 * and holds no memory, existing flows work as before, and each of them can be destroyed without
 * free memory.
 * Each point has one slab of 64 KiB; counters fill it except for the last bytes, 16 more each time.
 */
import { expect, test } from "vitest";
import type { Device } from "../../../src/index.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";
import { ALL, count, DONT_TRAP, EGRESS, FlowBench, MC, outcomeText, SNIFFER, tag, TCP } from "../support/flows.js";
import { DEEP } from "../../support/tier.js";

const SLAB = 65_536;
const BLOCK = 16;
/** Enough for any single object of this test. */
const MAX = 9_000;

const FRAME = ipv4Frame();
const MULTICAST = Uint8Array.from(FRAME, (byte, i) => (i === 0 ? 1 : byte));

/** Takes all memory except for `rest` bytes in one piece; returns the amount. */
function fill(device: Device, rest: number): number {
  const { exports } = device.core;
  const before = exports.arenaUsed();
  exports.limitArena(0);
  fillUp(device);
  // One more slab, of which this takes the first line.
  for (let limit = 0; exports.createCounters(4) === 0; limit += 1024) exports.limitArena(limit);
  for (let left = SLAB - 64 - rest; left > 0; left -= 64 * BLOCK) {
    expect(exports.createCounters(Math.min(left, 64 * BLOCK) / BLOCK)).not.toBe(0);
  }
  return exports.arenaUsed() - before;
}

/** Takes the rest. */
function fillUp({ core }: Device): number {
  const before = core.exports.arenaUsed();
  for (let size = 64; size > 0; size--) while (core.exports.createCounters(size) !== 0);
  return core.exports.arenaUsed() - before;
}

/** The objects of each call, and their effect on the frames. */
type Made = Set<string>;

function expected(made: Made, multicast: boolean): string {
  const list = (...names: string[]): string[] => names.filter((name) => made.has(name));
  const copies = [...list("s").map(() => "(s3)"), ...list("d").map(() => "(d)")];
  const normal = list("a", "b", "c");
  if (normal.length > 0) return [...copies, ...normal, "deliver"].join(" ");
  if (made.has("host")) return [...copies, "host:7", "deliver"].join(" ");
  const defaults = list(...(multicast ? ["all", "mc"] : ["all"]));
  if (defaults.length > 0) return [...copies, ...defaults, "deliver"].join(" ");
  return [...copies, "miss no_rule"].join(" ");
}

function check(bench: FlowBench, made: Made): void {
  const { device } = bench;
  const text = device.receiveBatch(1, [FRAME, MULTICAST]).map(outcomeText);
  expect(text).toEqual([expected(made, false), expected(made, true)]);
  const sent = bench.sent(FRAME);
  expect(sent.tag).toBe(made.has("egress") ? 9 : null);
  expect(sent.copies.length).toBe(made.has("s") ? 1 : 0);
}

/** The calls in this order; each returns its undo function. */
type Step = readonly [name: string, make: (bench: FlowBench, counters: Counters) => () => void];
type Counters = ReturnType<FlowBench["counters"]>;
type Flow = ReturnType<FlowBench["flow"]>;

const flow = (name: string, specs: (counters: Counters) => readonly object[], over = {}): Step => [
  name,
  (bench, counters) => {
    const one = bench.flow(name, specs(counters), over);
    return () => v.ibv_destroy_flow(one);
  },
];

/** A flow of ALL_DEFAULT that one step creates for the next one. */
let onTwoEntries: Flow;

const STEPS: readonly Step[] = [
  flow("a", () => [TCP]),
  flow("b", (counters) => [TCP, count(counters)]),
  flow("all", (counters) => [count(counters)], ALL),
  flow("mc", () => [], MC),
  flow("s", (counters) => [tag(3), count(counters)], SNIFFER),
  flow("d", () => [TCP], DONT_TRAP),
  flow("egress", () => [tag(9)], EGRESS),
  [
    "host",
    ({ device }) => {
      const rule = device.hostRules.add({ application: "tc", port: 1, action: { queue: 7 } });
      return () => rule.remove();
    },
  ],
  flow("c", (counters) => [TCP, count(counters)]),
  [
    "defaults of port 2",
    (bench) => {
      const flows: Flow[] = [];
      const undo = (): void => flows.splice(0).forEach((one) => v.ibv_destroy_flow(one));
      const refusal = refused(() => {
        for (const name of ["a", "b"]) flows.push(bench.flow(name, [], { ...ALL, port: 2 }));
        for (const name of ["c", "d", "s"]) flows.push(bench.flow(name, [], { ...MC, port: 2 }));
        [onTwoEntries] = flows as [Flow];
      });
      if (refusal === undefined) return undo;
      undo();
      throw refusal;
    },
  ],
  [
    "attached to what counts",
    ({ device }, counters) => {
      // The second of its entries is smaller: memory may be enough for the first one only.
      const points = { counter_desc: v.IBV_COUNTER_PACKETS, index: 4 };
      const refusal = refused(() => v.ibv_attach_counters_point_flow(counters, points, onTwoEntries));
      if (refusal === undefined) return () => undefined;
      const before = counters.read();
      device.receiveBatch(2, [FRAME, MULTICAST]);
      expect(counters.read()).toEqual(before);
      throw refusal;
    },
  ],
  [
    "attached",
    (bench) => {
      // A flow of two entries that does not count yet; its counters object has no counts either.
      const [one, counters] = [bench.flow("all", [], { ...ALL, port: 2 }), bench.counters()];
      const points = { counter_desc: v.IBV_COUNTER_PACKETS, index: 4 };
      const undo = (): void => {
        v.ibv_destroy_flow(one);
        v.ibv_destroy_counters(counters);
      };
      const refusal = refused(() => v.ibv_attach_counters_point_flow(counters, points, one));
      if (refusal === undefined) return undo;
      expect([one.counts, counters.users, counters.address]).toEqual([null, 0, 0]);
      undo();
      throw refusal;
    },
  ],
];

/**
 * Runs all steps before one with enough memory, that one with `rest` bytes; returns whether it
 * succeeded.
 */
async function run(step: number, rest: number): Promise<boolean> {
  const bench = await FlowBench.open();
  const { device } = bench;
  for (const [name] of STEPS) bench.qp(name);
  const base = device.memoryUsed;
  const counters = bench.counters();
  const made: Made = new Set();
  const undo: (() => void)[] = [];
  const take = (n: number): void => {
    const [name, make] = STEPS[n] as Step;
    undo.push(make(bench, counters));
    made.add(name);
  };
  for (let n = 0; n < step; n++) take(n);

  const taken = fill(device, rest);
  const [before, address] = [bench.state(), counters.address];
  const refusal = refused(() => take(step));
  if (refusal !== undefined)
    expect([refusal.code, bench.state(), counters.address]).toEqual(["ENOMEM", before, address]);
  check(bench, made);

  // Everything can be destroyed without free memory.
  const more = fillUp(device);
  for (const [n, destroy] of undo.entries()) {
    destroy();
    made.delete((STEPS[n] as Step)[0]);
  }
  check(bench, made);
  v.ibv_destroy_counters(counters);
  expect(device.memoryUsed).toBe(base + taken + more);
  return refusal === undefined;
}

test.each(STEPS.map(([name], n) => [name, n] as const))("every allocation fails cleanly: %s", async (_name, step) => {
  let rest = 0;
  while (!(await run(step, rest))) rest += DEEP ? BLOCK : 8 * BLOCK;
  expect(rest).toBeGreaterThan(0);
  expect(rest).toBeLessThan(MAX);
});
