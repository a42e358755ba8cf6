/** A device of several cores (docs/frames.md): order, counters, changes, its end, and what goes wrong. */
import { describe, expect, test } from "vitest";
import { loadScenario, type LoadedScenario } from "../../src/formats/index.js";
import {
  createDevicePool,
  VERDICTS,
  type Device,
  type DevicePool,
  type Outcome,
  type PoolOptions,
} from "../../src/index.js";
import { ipv4Frame, refused } from "../mlx5dv/support.js";

const FIRST = 1000;
const PORTS = 300;
const COUNTER = "lines";

/** For each port a rule that counts, tags with its number and leads to a queue; those of odd ports put a VLAN tag on. */
const SCENARIO = {
  flowsteer: 1,
  device: { ports: 2 },
  queues: [{ name: "even" }, { name: "odd" }, { name: "rest" }],
  counters: [{ name: COUNTER, flow_counter_bulk_log_size: 9 }],
  tables: [
    { name: "root", level: 0 },
    { name: "inner", level: 1 },
  ],
  rules: [
    { name: "on", table: "root", match: {}, actions: [{ table: "inner" }] },
    ...Array.from({ length: PORTS }, (_, n) => ({
      name: `rule ${n}`,
      table: "inner",
      match: { "outer.tcp_dport": FIRST + n },
      actions: [
        { tag: FIRST + n },
        ...(n % 2 === 0 ? [] : [{ push_vlan: { vid: 5 } }]),
        { count: COUNTER, offset: n },
        { queue: n % 2 === 0 ? "even" : "odd" },
      ],
    })),
  ],
};

/** Frames to all those ports, and to one more, again and again; the lengths differ. */
function framesOf(count: number, from = 0): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => {
    const n = (from + i) % (PORTS + 1);
    return ipv4Frame({ dport: FIRST + n, length: 60 + (n % 7) });
  });
}

interface Loaded {
  loaded: LoadedScenario;
  pool: DevicePool;
}

async function open(options: PoolOptions = {}, scenario = SCENARIO): Promise<Loaded> {
  const pool = await createDevicePool({ workers: 3, ...scenario.device, ...options });
  return { loaded: await loadScenario(scenario, {}, () => Promise.resolve(pool)), pool };
}

function close({ pool }: Loaded): void {
  // Contexts of a scenario stay open.
  pool.users = 0;
  pool.close();
}

const plain = ({ verdict, reason, tag, rules, to }: Outcome): unknown => ({
  ...{ verdict, reason, tag },
  rules: rules.length,
  to: to.map(({ name, frame, tag }) => [name, Array.from(frame), tag]),
});

test("frames become what they become on one core, in their order; counters and reasons are summed", async () => {
  const one = await loadScenario(SCENARIO);
  const both = await open();
  const { pool, loaded } = both;
  expect(pool.spreading).toEqual({ workers: 3, why: null });
  for (const count of [31, 32, 33, 600, 1801]) {
    const frames = framesOf(count, count);
    expect(pool.receiveBatch(2, frames).map(plain)).toEqual(one.device.receiveBatch(2, frames).map(plain));
    for (let n = 0; n < PORTS; n++) {
      expect(loaded.counters.get(COUNTER)!.read(n)).toEqual(one.counters.get(COUNTER)!.read(n));
    }
    expect(pool.reasons()).toEqual(one.device.reasons());
  }
  // Of 600 frames 24 are left when each core has had its part: too few for all.
  expect(pool.steered.reduce((sum, rows) => sum + rows)).toBe(32 + 33 + 576 + 1801);
  expect(pool.steered.every((rows) => rows > 200)).toBe(true);
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

describe("changes are seen by all cores with the next frames", () => {
  const tagsOf = (device: Device): (number | null)[] => device.receiveBatch(1, framesOf(400)).map(({ tag }) => tag);

  test("rules that go, and counters that begin anew", async () => {
    const both = await open();
    const { loaded, pool } = both;
    const counter = loaded.counters.get(COUNTER)!;
    for (let n = 0; n < PORTS; n += 3) {
      const before = tagsOf(pool);
      expect(before[n]).toBe(FIRST + n);
      counter.clear(n + 1);
      loaded.rules.get(`rule ${n}`)!.destroy("destroy");
      expect(tagsOf(pool)[n]).toBe(null);
      expect(counter.read(n + 1).packets).toBe(n + 1 + PORTS + 1 < 400 ? 2n : 1n);
    }
    expect(pool.steered.filter((rows) => rows === 0)).toEqual([]);
    close(both);
  });
});

test("what keeps frames at the first core is named", async () => {
  const scenario = { ...SCENARIO, queues: [{ name: "even" }, { name: "odd", buffers: 4 }, { name: "rest" }] };
  const both = await open({ workers: 2 }, scenario);
  const { pool } = both;
  expect(pool.spreading).toEqual({ workers: 1, why: "frames can reach queues with receive buffers" });
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
  expect(pool.spreading).toEqual({ workers: 1, why: "there is one worker" });
  expect(pool.receiveBatch(1, framesOf(100)).every(({ reason }) => reason === "no_rule")).toBe(true);
  pool.close();
});

test("a pool that is closed takes no frames, and keeps its counts", async () => {
  const pool = await createDevicePool({ workers: 2 });
  pool.receiveBatch(1, framesOf(100));
  pool.close();
  expect(pool.reasons().no_rule).toBe(100n);
  expect(refused(() => pool.receiveBatch(1, framesOf(100)))?.reason).toBe("object_destroyed");
});
