/**
 * Random devices with a small or large flow cache. Few frames come often, in batches and alone,
 * received and sent, while rules of every kind are inserted and removed. Every outcome, every
 * counter and all state agree with the reference, which has no cache.
 */
import { expect, test } from "vitest";
import { createDevice } from "../../../src/index.js";
import { Random } from "../../oracle/generate/frame.js";
import type { Base } from "../../oracle/generate/pipeline.js";
import { drawNear, newCounts, report, steer, withOthers } from "../support/pipelineSteer.js";
import {
  addRules,
  emptyWorld,
  makePipelineWorld,
  modifyMeters,
  removeMatchers,
  removeRules,
  syncSome,
} from "../support/pipelineWorld.js";
import { seedFor } from "../support/core.js";
import { checkReached, rounds } from "../../support/tier.js";

/** The number of frames. */
const FRAMES = rounds(6_000, "FLOWSTEER_PIPELINES");
const ROUNDS = 4;
/** Frames of a round: those that come often, and all. */
const OFTEN = 5;
const AGAIN = 60;
/** A world in which frames go in circles and split at each turn ends here. */
const LOOKUPS = 10_000;

test(`${FRAMES} frames`, async () => {
  const random = new Random(seedFor("pipelines with a cache"));
  const tally = new Map<string, number>();
  const counts = newCounts();
  let hits = 0;
  let misses = 0;
  while (counts.frames < FRAMES) {
    const remembers = random.chance(0.3);
    const cache = { entries: random.pick([1, 2, 4, 64, 65_536]) };
    const world = await makePipelineWorld(random, tally, remembers, (options) => createDevice({ ...options, cache }));
    const near = drawNear(world);
    const { lookups } = counts;
    for (let round = 0; round < ROUNDS && counts.lookups - lookups < LOOKUPS; round++) {
      addRules(world);
      syncSome(world);
      modifyMeters(world);
      steer(world, again(random, withOthers(world, near)), counts);
      removeRules(world);
      syncSome(world, 0.3);
      removeMatchers(world);
    }
    hits += Number(world.device.cache.hits);
    misses += Number(world.device.cache.misses);
    emptyWorld(world);
  }
  report(counts, tally);
  console.log(`${hits} frames found in the cache, ${misses} not`);
  checkReached(() => {
    expect(hits).toBeGreaterThan(FRAMES / 10);
    expect(misses).toBeGreaterThan(FRAMES / 10);
  });
});

/** Frames of which a few come often. */
function again(random: Random, drawn: readonly Base[]): Base[] {
  const often = Array.from({ length: OFTEN }, () => random.pick(drawn));
  return Array.from({ length: AGAIN }, () => ({ ...random.pick(random.chance(0.7) ? often : drawn) }));
}
