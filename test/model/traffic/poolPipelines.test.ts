/**
 * Random devices of several cores (docs/frames.md): every outcome, counter, reason and the state of
 * every object agree with the reference, while rules are inserted and removed between batches.
 * Frames are spread wherever they can reach no stateful action.
 */
import { expect, test } from "vitest";
import { createDevicePool, type DevicePool } from "../../../src/index.js";
import { drawNear, newCounts, report, steer, withOthers } from "../../assembly/support/pipelineSteer.js";
import {
  addRules,
  emptyWorld,
  makePipelineWorld,
  modifyMeters,
  removeMatchers,
  removeRules,
  syncSome,
} from "../../assembly/support/pipelineWorld.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/frame.js";
import { checkReached, rounds } from "../../support/tier.js";

/** The number of frames. */
const FRAMES = rounds(1_000, "FLOWSTEER_PIPELINES");
const ROUNDS = 5;
const WORKERS = 3;

test.each([false, true])(`${FRAMES} frames, remembering: %s`, async (remembers) => {
  const random = new Random(seedFor(`pools${remembers ? " with state" : ""}`));
  const tally = new Map<string, number>();
  const counts = newCounts();
  const steered = Array<number>(WORKERS).fill(0);
  const whys = new Map<string, number>();
  while (counts.frames < FRAMES) {
    const pools: DevicePool[] = [];
    const world = await makePipelineWorld(random, tally, remembers, async (options) => {
      const pool = await createDevicePool({ ...options, workers: WORKERS, few: 3 });
      pools.push(pool);
      return pool;
    });
    const [pool] = pools as [DevicePool];
    const near = drawNear(world);
    for (let round = 0; round < ROUNDS; round++) {
      // A world without rules reaches nothing.
      if (round > 0) addRules(world);
      syncSome(world);
      if (remembers) modifyMeters(world);
      steer(world, withOthers(world, near), counts);
      const why = pool.distribution.why ?? "spread";
      whys.set(why, (whys.get(why) ?? 0) + 1);
      removeRules(world);
      syncSome(world, 0.3);
      removeMatchers(world);
    }
    emptyWorld(world);
    for (const [worker, rows] of pool.steered.entries()) steered[worker] = (steered[worker] ?? 0) + rows;
    // Its contexts are still open.
    pool.users = 0;
    pool.close();
  }
  report(counts, tally);
  console.log(`frames of each core: ${steered.join(", ")}; ${[...whys].map(([why, n]) => `${why} ${n}`).join("; ")}`);
  checkReached(() => expect(steered.filter((rows) => rows === 0)).toEqual([]));
});
