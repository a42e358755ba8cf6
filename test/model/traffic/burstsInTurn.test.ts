/**
 * Bursts that are started and waited for (docs/frames.md): the same on one device alone and on
 * several cores.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadScenario, type LoadedScenario } from "../../../src/scenario/index.js";
import { createDevice, createDevicePool, VERDICTS, type Burst, type Device } from "../../../src/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import { COUNTER, FIRST, framesOf, PORTS, SCENARIO } from "../support/pool.js";

const why = (run: () => unknown): string => {
  const error = refused(run);
  return error === undefined ? "taken" : `${error.code} ${error.reason} ${error.path}`;
};

describe.each([1, 2, 3])("%i workers", (workers) => {
  let device: Device;
  let loaded: LoadedScenario;
  let one: Burst;
  let other: Burst;
  beforeEach(async () => {
    device = await (workers === 1 ? createDevice(SCENARIO.device) : createDevicePool({ ...SCENARIO.device, workers }));
    loaded = await loadScenario(SCENARIO, {}, () => Promise.resolve(device));
    [one, other] = [device.openBurst(), device.openBurst()];
  });
  afterEach(() => {
    // Contexts of a scenario stay open.
    device.users = 0;
    device.close();
  });

  /** Frames from number `from` on, as many as fit, at most `most`. */
  function fill(burst: Burst, from: number, most = Infinity): Uint8Array[] {
    const frames = framesOf(Math.min(most, burst.rows), from);
    burst.clear();
    for (const [row, frame] of frames.entries()) expect(burst.put(frame)).toBe(row);
    return frames;
  }

  /**
   * Compares the columns with those of such frames; frames for the ports in `gone` have no rule.
   */
  function hold(burst: Burst, from: number, gone: ReadonlySet<number> = new Set()): void {
    for (let row = 0; row < burst.count; row++) {
      const n = (from + row) % (PORTS + 1);
      const found = n < PORTS && !gone.has(n);
      expect([VERDICTS[burst.verdicts[row]!], burst.tags[row], burst.hits[row]]).toEqual(
        found ? ["deliver", FIRST + n, 2] : ["drop", 0, 1],
      );
    }
  }

  const counted = (): number[] =>
    Array.from({ length: PORTS }, (_, n) => Number(loaded.counters.get(COUNTER)!.read(n).packets));

  /** The number of frames for each port. */
  const due = (frames: number): number[] => {
    const counts = Array<number>(PORTS + 1).fill(0);
    for (let i = 0; i < frames; i++) counts[i % (PORTS + 1)]!++;
    return counts.slice(0, PORTS);
  };

  test("two in turn, of any number of frames", () => {
    let [burst, next] = [one, other];
    let from = 0;
    fill(burst, 0);
    burst.start();
    for (const most of [Infinity, 1, 31, 32, 100, Infinity, 300, 7, Infinity, 0, 5, Infinity]) {
      const frames = fill(next, from + burst.count, most);
      expect(next.count).toBe(frames.length);
      expect(burst.steer()).toBe(burst.count);
      next.start();
      hold(burst, from);
      from += burst.count;
      [burst, next] = [next, burst];
    }
    burst.steer();
    hold(burst, from);
    expect(counted()).toEqual(due(from + burst.count));
  });

  test("is steered by the rules that were there when it was started", () => {
    const gone = new Set<number>();
    let from = 0;
    for (let n = 0; n < 30; n++) {
      fill(one, from);
      const before = new Set(gone);
      one.start();
      loaded.rules.get(`rule ${n}`)!.destroy();
      gone.add(n);
      fill(other, from + one.count);
      one.steer();
      hold(one, from, before);
      expect(why(() => one.outcome(0))).toBe("EBUSY in_use burst");
      from += one.count;
    }
  });

  test("counters and reasons count the frames of a burst that is under way", () => {
    for (let pass = 1; pass <= 20; pass++) {
      fill(one, 0);
      one.start();
      if (pass % 2 === 0) expect(counted()).toEqual(due(one.count).map((count) => pass * count));
      const missed = Math.floor(one.count / (PORTS + 1));
      expect(device.reasons().table_miss).toBe(BigInt(pass * missed));
      one.steer();
      hold(one, 0);
      expect(counted()).toEqual(due(one.count).map((count) => pass * count));
    }
  });

  test("outcomes of frames that were begun and waited for", () => {
    const frames = fill(one, 0);
    one.start();
    one.steer();
    for (const [row, { length }] of frames.entries()) {
      const outcome = one.outcome(row);
      const arrived = outcome.to.map(({ name, frame }) => [name, frame.length]);
      const n = row % (PORTS + 1);
      // Frames for odd ports have a VLAN tag more.
      expect(arrived).toEqual(n === PORTS ? [] : [n % 2 === 0 ? ["qp:even", length] : ["qp:odd", length + 4]]);
    }
    loaded.rules.get("rule 1")!.destroy();
    expect(why(() => one.outcome(0))).toBe("EBUSY in_use burst");
  });

  test("other calls run frames while it is under way, and take the place of what it says of them", () => {
    const frames = fill(one, 0);
    one.start();
    const outcomes = device.receiveBatch(2, framesOf(500, 7));
    expect(outcomes.map(({ tag }) => tag)).toEqual(
      framesOf(500, 7).map((_, i) => ((7 + i) % (PORTS + 1) < PORTS ? FIRST + ((7 + i) % (PORTS + 1)) : null)),
    );
    expect(one.steer()).toBe(frames.length);
    hold(one, 0);
    expect(why(() => one.outcome(0))).toBe("EBUSY in_use burst");
  });

  test("another that is started brings it to its end; its columns stay", () => {
    fill(one, 0);
    one.start();
    fill(other, 5);
    other.start();
    expect([one.steer(), other.steer()]).toEqual([one.rows, other.rows]);
    hold(one, 0);
    hold(other, 5);
    expect(why(() => one.outcome(3))).toBe("EBUSY in_use burst");
    expect(other.outcome(3).tag).toBe(FIRST + 8);
  });

  test("cleared while it is under way, it is empty, and its frames were steered", () => {
    fill(one, 0);
    one.start();
    one.clear();
    expect(one.count).toBe(0);
    expect(counted()).toEqual(due(one.rows));
    fill(one, 9, 50);
    expect(one.steer()).toBe(50);
    hold(one, 9);
  });

  test("a device that is closed meanwhile: what became of its frames is known, and nothing else is started", () => {
    fill(one, 0);
    one.start();
    fill(other, 0);
    device.users = 0;
    device.close();
    expect(one.steer()).toBe(one.rows);
    hold(one, 0);
    expect(why(() => other.start())).toBe("EINVAL object_destroyed device");
    expect(why(() => other.steer())).toBe("EINVAL object_destroyed device");
    expect(counted()).toEqual(due(one.rows));
  });

  test("what is refused changes nothing", () => {
    fill(one, 0, 60);
    expect(why(() => one.outcome(0))).toBe("EINVAL burst_state burst");
    one.start();
    const started = [
      () => one.start(),
      () => one.put(new Uint8Array(64)),
      () => one.add(0, 64),
      () => one.stamp(0, 0n),
      () => one.outcome(0),
    ];
    expect(started.map(why)).toEqual(started.map(() => "EINVAL burst_state burst"));
    fill(other, 0, 40);
    expect([one.count, one.steer(), one.count]).toEqual([60, 60, 60]);
    expect([() => one.start(), () => one.steer()].map(why)).toEqual([
      "EINVAL burst_state burst",
      "EINVAL burst_state burst",
    ]);
    hold(one, 0);
    expect(why(() => one.outcome(1))).toBe("EBUSY in_use burst");
    one.clear();
    expect(other.count).toBe(0);
    const taken = [() => other.start(), () => other.steer(), () => other.put(new Uint8Array(64))];
    expect(taken.map(why)).toEqual(taken.map(() => "EBUSY in_use burst"));
    expect(one.put(framesOf(1)[0]!)).toBe(0);
    expect(one.steer()).toBe(1);
    hold(one, 0);
  });
});

test("a thread that is late: the first worker steers what it was to", async () => {
  const pool = await createDevicePool({ ...SCENARIO.device, workers: 3 });
  await loadScenario(SCENARIO, {}, () => Promise.resolve(pool));
  const burst = pool.openBurst();
  const frames = framesOf(48);
  for (let pass = 0; pool.takenOver === 0; pass++) {
    // Threads that have slept for long take long to wake up.
    await new Promise((resolve) => setTimeout(resolve, 5));
    burst.clear();
    for (const frame of frames) burst.put(frame);
    burst.start();
    expect(burst.steer()).toBe(48);
    for (let row = 0; row < 48; row++) expect(burst.outcome(row).tag).toBe(FIRST + row);
    expect(burst.tags.subarray(0, 48)).toEqual(Uint32Array.from(frames, (_, n) => FIRST + n));
  }
  pool.users = 0;
  pool.close();
});
