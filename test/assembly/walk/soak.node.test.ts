/**
 * A soak test: devices that live as long as the run, under random rules, flows and actions that
 * come and go while frames are received and sent. Every outcome agrees with the reference, memory
 * is given back after each span of a life, and neither the engine's memory nor the heap of the
 * process grows with time.
 *
 * FLOWSTEER_SOAK=600 sets the number of seconds; without it every life has one span.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { createDevice, createDevicePool, type DeviceOptions } from "../../../src/index.js";
import { DevicePool } from "../../../src/model/pool/pool.js";
import { Random } from "../../oracle/generate/random.js";
import { espLife, flowLife, type Life, type Open, pipelineLife } from "./support/soakLives.js";
import { seedFor } from "../support/core.js";
import { setting } from "../../support/tier.js";

const SECONDS = Number(setting("FLOWSTEER_SOAK") ?? 0);
/** The number of spans if no time is given. */
const SPANS = 4;
/** How often a run samples memory. */
const LOOKS = 60;

/** Device options that outcomes must not depend on. */
const OPENS: readonly Open[] = [
  createDevice,
  (options) => createDevice({ ...options, cache: false }),
  // Entries replace each other all the time.
  (options) => createDevice({ ...options, cache: { entries: 16 } }),
  // Batches of two frames are spread.
  (options) => createDevicePool({ ...options, workers: 2, few: 2 }),
];

const collectGarbage = ((): (() => void) => {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
})();

interface Look {
  second: number;
  spans: number;
  frames: number;
  /** Bytes on the heap of the process and in typed arrays. */
  heap: number;
  /** Bytes of linear memory of all devices. */
  linear: number;
}

test(SECONDS > 0 ? `${SECONDS} seconds` : "a span of each", { timeout: 0 }, async () => {
  const random = new Random(seedFor("soak"));
  const lives = await makeLives(random);
  const spans = new Map<Life, number>();
  const looks: Look[] = [];
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  let frames = 0;
  for (let n = 0; SECONDS > 0 ? seconds() < SECONDS : n < SPANS; n++) {
    // Without a time every life has its turn.
    const life = SECONDS > 0 ? random.pick(lives) : lives[n % lives.length]!;
    try {
      frames += life.live();
    } catch (error) {
      console.log(`span ${n + 1}: ${titleOf(life)}`);
      throw error;
    }
    spans.set(life, (spans.get(life) ?? 0) + 1);
    if (SECONDS > 0 && seconds() >= ((looks.length + 1) * SECONDS) / LOOKS)
      looks.push(lookAt(lives, { second: seconds(), spans: n + 1, frames }));
  }
  for (const { second, spans: done, heap, linear, frames: steered } of looks)
    console.log(
      `${second.toFixed(0)} s: ${done} spans, ${steered} frames, heap ${mb(heap)}, linear memory ${mb(linear)}`,
    );
  console.log([...spans].map(([life, times]) => `${titleOf(life)} ${times}`).join(", "), `${frames} frames`);
  for (const { device } of lives) {
    // Their contexts are still open.
    device.users = 0;
    device.close();
  }
  expect(spans.size).toBe(lives.length);
  expect(frames).toBeGreaterThan(SPANS * 10);
  if (looks.length >= 8) expectFlat(looks);
});

/** Every kind of life on every kind of device; without a time each on one of them. */
async function makeLives(random: Random): Promise<Life[]> {
  const lives: Life[] = [];
  for (const one of OPENS.slice(SECONDS > 0 ? 0 : -1)) {
    const open = SECONDS > 0 ? one : (options: DeviceOptions) => random.pick(OPENS)(options);
    lives.push(await pipelineLife(random, open, false), await pipelineLife(random, open, true));
    lives.push(await flowLife(random, open), await espLife(random, open));
  }
  return lives;
}

const titleOf = ({ name, device }: Life): string =>
  `${name}${device instanceof DevicePool ? " on two cores" : ""}, cache of ${device.cache.entries}`;

function lookAt(lives: readonly Life[], so: Pick<Look, "second" | "spans" | "frames">): Look {
  collectGarbage();
  const { heapUsed } = process.memoryUsage();
  const linear = lives.reduce((sum, { device }) => sum + device.core.exports.memory.buffer.byteLength, 0);
  return { ...so, heap: heapUsed, linear };
}

/**
 * In the second half of a run the end has no more than the beginning. Random noise is allowed for.
 */
function expectFlat(looks: readonly Look[]): void {
  const quarter = Math.floor(looks.length / 4);
  const middle = looks.slice(2 * quarter, 3 * quarter);
  const end = looks.slice(-quarter);
  for (const what of ["heap", "linear"] as const) {
    const [before, after] = [middle, end].map((some) => median(some.map((look) => look[what]))) as [number, number];
    console.log(`${what}: ${mb(before)} in the third quarter, ${mb(after)} in the last`);
    expect(after, what).toBeLessThan(before * 1.05 + 1e6);
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}

const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
