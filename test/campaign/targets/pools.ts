/** Devices of several cores. */
import { createDevicePool, type DevicePool } from "../../../src/index.js";
import { drawNear, newCounts, steer, withOthers } from "../../assembly/support/pipelineSteer.js";
import {
  addRules,
  emptyWorld,
  makePipelineWorld,
  removeMatchers,
  removeRules,
  syncSome,
} from "../../assembly/support/pipelineWorld.js";
import type { Target } from "../target.js";

const LOOKUPS = 3_000;

export const pools: Target = {
  name: "pools",
  about: "the rules target on devices of two or three cores, whose workers steer parts of a batch",
  unit: "frames",
  guide: "host",
  open: () =>
    Promise.resolve(async (random) => {
      const made: DevicePool[] = [];
      const workers = random.between(1, 2);
      const few = random.pick([1, 2, 3, 8]);
      const counts = newCounts();
      try {
        const world = await makePipelineWorld(random, new Map(), random.chance(0.3), async (options) => {
          const pool = await createDevicePool({ ...options, workers, few });
          made.push(pool);
          return pool;
        });
        const near = drawNear(world);
        for (let left = random.between(1, 3); left > 0 && counts.lookups < LOOKUPS; left--) {
          addRules(world);
          syncSome(world);
          steer(world, withOthers(world, near), counts);
          removeRules(world);
          removeMatchers(world);
        }
        emptyWorld(world);
      } finally {
        for (const pool of made) {
          // Its contexts are still open.
          pool.users = 0;
          pool.close();
        }
      }
      return counts.frames;
    }),
};
