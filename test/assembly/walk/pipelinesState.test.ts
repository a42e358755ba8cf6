/**
 * Random devices with stateful and random actions: meters, first-hit flags, connections and
 * samplers beside every other action, in all domains. The clock stands still and jumps; times of frames go back too.
 * Meters and actions are modified while rules use them. Every outcome, copies included, and the
 * state of every object agree with the reference.
 */
import { expect, test } from "vitest";
import { Random } from "../../oracle/generate/frame.js";
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
const FRAMES = rounds(10_000, "FLOWSTEER_PIPELINES");
const ROUNDS = 6;
/** A world in which frames go in circles and split at each turn ends here. */
const LOOKUPS = 10_000;

const REACHED = [
  ...["firstHit", "meter", "track", "flowMeter", "sampler"].map((kind) => `action ${kind}`),
  ...["qp", "host", "port"].map((name) => `sampled to ${name}`),
  ...["active", "cbs", "cir", "ebs", "eir"].map((name) => `modified ${name}`),
  ...["0", "1"].map((value) => `firstHit says 0x${value}`),
  ...["meter", "flowMeter"].flatMap((kind) => ["0", "1", "2"].map((value) => `${kind} says 0x${value}`)),
  ...["0", "2", "40", "41", "80"].map((value) => `track says 0x${value}`),
  ...["modified an ASO action", "connection of another domain", "connection in use", "dropped by state", "flow hit"],
];

test(`${FRAMES} frames`, async () => {
  const random = new Random(seedFor("pipelines with state"));
  const tally = new Map<string, number>();
  const counts = newCounts();
  while (counts.frames < FRAMES) {
    const world = await makePipelineWorld(random, tally, true);
    const near = drawNear(world);
    const { lookups } = counts;
    for (let round = 0; round < ROUNDS && counts.lookups - lookups < LOOKUPS; round++) {
      addRules(world);
      syncSome(world);
      modifyMeters(world);
      steer(world, withOthers(world, near), counts);
      removeRules(world);
      syncSome(world, 0.3);
      removeMatchers(world);
    }
    for (const [what, times] of world.world.state.told) tally.set(what, (tally.get(what) ?? 0) + times);
    emptyWorld(world);
  }
  report(counts, tally);
  checkReached(() => {
    expect(counts.hits / counts.lookups).toBeGreaterThan(0.3);
    expect(counts.bits / counts.lookups).toBeGreaterThan(0.2);
    expect(REACHED.filter((what) => !tally.has(what))).toEqual([]);
  });
});
