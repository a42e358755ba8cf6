/** Frames through random devices: direct rules, flows and host rules of all domains, with every action. */
import { createDevice } from "../../../src/index.js";
import { drawNear, newCounts, steer, withOthers } from "../../assembly/support/pipelineSteer.js";
import {
  addRules,
  emptyWorld,
  makePipelineWorld,
  modifyMeters,
  removeMatchers,
  removeRules,
  syncSome,
} from "../../assembly/support/pipelineWorld.js";
import type { Random } from "../../oracle/generate/random.js";
import type { Target } from "../target.js";

/** Worlds in which frames go in circles and split at each turn end here. */
const LOOKUPS = 4_000;

/** A device, its rules, and frames while rules come and go. */
async function life(random: Random, remembers: boolean): Promise<number> {
  const cache = random.pick([{}, false as const, { entries: random.pick([1, 4, 64]) }]);
  const world = await makePipelineWorld(random, new Map(), remembers, (options) => createDevice({ ...options, cache }));
  const near = drawNear(world);
  const counts = newCounts();
  for (let left = random.between(1, 4); left > 0 && counts.lookups < LOOKUPS; left--) {
    addRules(world);
    syncSome(world);
    modifyMeters(world);
    steer(world, withOthers(world, near), counts);
    removeRules(world);
    syncSome(world, 0.3);
    removeMatchers(world);
  }
  emptyWorld(world);
  return counts.frames;
}

export const rules: Target = {
  name: "rules",
  about:
    "random rules, flows and actions of three functions, and frames that hit them or miss by one bit: outcomes, bytes, " +
    "counters and reasons as in the reference, and no memory kept",
  unit: "frames",
  guide: "core",
  open: () => Promise.resolve((random) => life(random, false)),
};

export const state: Target = {
  name: "state",
  about: "the same with meters, first-hit flags, connection tracking and samplers, whose state agrees too",
  unit: "frames",
  guide: "core",
  open: () => Promise.resolve((random) => life(random, true)),
};
