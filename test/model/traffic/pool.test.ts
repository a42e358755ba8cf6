/** A device of several cores (docs/frames.md): order, counters, changes, close, failures. */
import { expect, test } from "vitest";
import { loadScenario } from "../../../src/scenario/index.js";
import { createDevice, createDevicePool, createSink, VERDICTS, type Device, type Outcome } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { FlowCounter } from "../../../src/model/action/counter.js";
import { ibv_open_device } from "../../../src/verbs/index.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";
import { close, COUNTER, FIRST, framesOf, open, PORTS, SCENARIO } from "../support/pool.js";

const plain = ({ verdict, reason, tag, rules, to }: Outcome): unknown => ({
  verdict,
  reason,
  tag,
  rules: rules.length,
  to: to.map(({ name, frame, tag }) => [name, Array.from(frame), tag]),
});

test("frames become what they become on one core, in their order; counters and reasons are summed", async () => {
  const one = await loadScenario(SCENARIO);
  const both = await open();
  const { pool, loaded } = both;
  expect(pool.distribution).toEqual({ workers: 3, why: null });
  for (const count of [31, 32, 33, 600, 1801]) {
    const frames = framesOf(count, count);
    expect(pool.receiveBatch(2, frames).map(plain)).toEqual(one.device.receiveBatch(2, frames).map(plain));
    for (let n = 0; n < PORTS; n++) {
      expect(loaded.counters.get(COUNTER)!.read(n)).toEqual(one.counters.get(COUNTER)!.read(n));
    }
    expect(pool.reasons()).toEqual(one.device.reasons());
  }
  // Of 600 frames 24 are left after each core has had its part: too few for all.
  expect(pool.steered.reduce((sum, rows) => sum + rows)).toBe(32 + 33 + 576 + 1801);
  expect(pool.steered.every((rows) => rows > 200)).toBe(true);
  close(both);
});

test("threads do their part, as soon as they are let run", async () => {
  const both = await open({ workers: 2 });
  const { pool } = both;
  const frames = framesOf(300);
  while (pool.steered[1] === pool.takenOver) expect(pool.receiveBatch(1, frames)[299]!.tag).toBe(FIRST + 299);
  close(both);
});

test("a burst has its columns and its outcomes in the order of its rows", async () => {
  const both = await open();
  const { pool } = both;
  const burst = pool.openBurst();
  const frames = framesOf(burst.rows);
  expect(burst.rows).toBeGreaterThan(256);
  for (let pass = 0; pass < 5; pass++) {
    burst.clear();
    const count = pass === 4 ? 40 : frames.length;
    for (let i = 0; i < count; i++) expect(burst.put(frames[i]!)).toBe(i);
    if (count === burst.rows) expect(burst.put(frames[0]!)).toBe(-1);
    expect(burst.steer()).toBe(count);
    for (let i = 0; i < count; i++) {
      const n = i % (PORTS + 1);
      const found = n < PORTS;
      expect([VERDICTS[burst.verdicts[i]!], burst.tags[i], burst.hits[i]]).toEqual(
        found ? ["deliver", FIRST + n, 2] : ["drop", 0, 1],
      );
      expect(burst.outcome(i).tag).toBe(found ? FIRST + n : null);
      if (!found) continue;
      expect(pool.destinationName(burst.queues[i]!, burst.kinds[i]!)).toBe(n % 2 === 0 ? "qp:even" : "qp:odd");
      expect(burst.outcome(i).to[0]!.frame.length).toBe(frames[i]!.length + (n % 2 === 0 ? 0 : 4));
    }
  }
  expect(pool.steered.filter((rows) => rows === 0)).toEqual([]);
  close(both);
});

test("frames that lie in the area of a burst are steered where they lie, in any order", async () => {
  const both = await open();
  const burst = both.pool.openBurst();
  const frames = framesOf(burst.rows);
  burst.clear();
  frames.forEach((frame, i) => burst.bytes.set(frame, 70 * (frames.length - i) + (i % 5)));
  frames.forEach((frame, i) => burst.add(70 * (frames.length - i) + (i % 5), frame.length, 1 + (i % 2)));
  burst.steer();
  frames.forEach((_, i) => expect(burst.tags[i]).toBe(i % (PORTS + 1) < PORTS ? FIRST + (i % (PORTS + 1)) : 0));
  close(both);
});

test("what changes is seen by all cores with the next frames, and nothing that was counted is lost", async () => {
  const one = await loadScenario(SCENARIO);
  const both = await open();
  const { loaded, pool } = both;
  const frames = framesOf(400);
  // Byte counts over 32 bits.
  const options = { wireLength: 3_000_000_000 };
  const sides = [one, loaded];
  for (let n = 0; n < PORTS; n += 3) {
    const [expected, outcomes] = sides.map(({ device }) => device.receiveBatch(1, frames, options).map(plain));
    expect(outcomes).toEqual(expected);
    for (const { rules, counters } of sides) {
      rules.get(`rule ${n}`)!.destroy();
      if (n % 30 === 0) counters.get(COUNTER)!.clear(n + 1);
    }
  }
  const counts = sides.map(({ counters }) => Array.from({ length: PORTS }, (_, n) => counters.get(COUNTER)!.read(n)));
  expect(counts[1]).toEqual(counts[0]);
  expect(pool.reasons()).toEqual(one.device.reasons());
  expect(pool.steered.filter((rows) => rows === 0)).toEqual([]);
  close(both);
});

test("counters that are freed and created again start at zero", async () => {
  const both = await open();
  const { pool } = both;
  const context = ibv_open_device(pool);
  const { match_criteria_enable, mask, value } = dv.matchParameters({ "outer.tcp_dport": FIRST - 1 });
  const frames = Array.from({ length: 300 }, () => ipv4Frame({ dport: FIRST - 1 }));
  for (let pass = 0; pass < 3; pass++) {
    const counter = new FlowCounter(context, 1);
    const matcher = dv.mlx5dv_dr_matcher_create(both.loaded.tables.get("inner")!, 9, match_criteria_enable, mask);
    const actions = [dv.mlx5dv_dr_action_create_flow_counter(counter, 0), dv.mlx5dv_dr_action_create_drop()];
    const rule = dv.mlx5dv_dr_rule_create(matcher, value, 2, actions);
    pool.receiveBatch(1, frames);
    if (pass === 2) expect(counter.read()).toEqual({ packets: 300n, bytes: 300n * 64n });
    dv.mlx5dv_dr_rule_destroy(rule);
    dv.mlx5dv_dr_matcher_destroy(matcher);
    for (const action of actions) dv.mlx5dv_dr_action_destroy(action);
    counter.destroy();
  }
  close(both);
});

test("frames have the numbers of one device when rules that chance decides about come later", async () => {
  const sampled = (device: Device): boolean[] => {
    const context = ibv_open_device(device);
    const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
    device.receiveBatch(1, framesOf(500));
    const all = dv.matchParameters({});
    const [root, next] = [dv.mlx5dv_dr_table_create(domain, 0), dv.mlx5dv_dr_table_create(domain, 1)];
    const sampler = dv.mlx5dv_dr_action_create_flow_sampler({
      sample_ratio: 4,
      default_next_table: next,
      num_sample_actions: 1,
      sample_actions: [dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, "sampled"))],
    });
    const matcher = dv.mlx5dv_dr_matcher_create(root, 0, all.match_criteria_enable, all.mask);
    dv.mlx5dv_dr_rule_create(matcher, all.value, 1, [sampler]);
    return device.receiveBatch(1, framesOf(500)).map(({ copies }) => copies.length > 0);
  };
  const pool = await createDevicePool({ workers: 2, seed: 5 });
  const expected = sampled(await createDevice({ seed: 5 }));
  expect(sampled(pool)).toEqual(expected);
  expect(expected).toContain(true);
  expect(pool.distribution.why).toBe("frames can reach samplers");
  pool.users = 0;
  pool.close();
});

test("what keeps frames at the first core is named", async () => {
  const scenario = { ...SCENARIO, queues: [{ name: "even" }, { name: "odd", buffers: 4 }, { name: "rest" }] };
  const both = await open({ workers: 2 }, scenario);
  const { pool } = both;
  expect(pool.distribution).toEqual({ workers: 1, why: "frames can reach queues with receive buffers" });
  close(both);
});

test.each([
  [{ workers: 0 }, "createDevicePool: workers = 0: outside the range"],
  [{ workers: 65 }, "createDevicePool: workers = 65: outside the range"],
  [{ workers: 2, ports: 0 }, "createDevicePool: ports = 0: outside the range"],
])("options %j are refused", async (options, message) => {
  const error = await createDevicePool(options).catch((caught: unknown) => caught);
  expect((error as Error).message).toContain(message);
});

test("one worker is a device alone, and says so", async () => {
  const pool = await createDevicePool({ workers: 1 });
  expect(pool.workers).toBe(1);
  expect(pool.distribution).toEqual({ workers: 1, why: "there is one worker" });
  expect(pool.receiveBatch(1, framesOf(100)).every(({ reason }) => reason === "no_rule")).toBe(true);
  pool.close();
});

test.each(["release", "debug"])("the %s flavour of the core is rewritten for many", async (flavour) => {
  const core = new URL(`../../../build/${flavour}/core.wasm`, import.meta.url);
  const pool = await createDevicePool({ workers: 2, core });
  expect(pool.receiveBatch(1, framesOf(100)).length).toBe(100);
  expect(pool.reasons().no_rule).toBe(100n);
  expect(pool.steered.filter((rows) => rows === 0)).toEqual([]);
  pool.close();
});

test("a pool that is closed takes no frames, and keeps its counts", async () => {
  const pool = await createDevicePool({ workers: 2 });
  pool.receiveBatch(1, framesOf(100));
  pool.close();
  expect(pool.reasons().no_rule).toBe(100n);
  expect(refused(() => pool.receiveBatch(1, framesOf(100)))?.reason).toBe("object_destroyed");
});
