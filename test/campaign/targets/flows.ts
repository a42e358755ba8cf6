/** Flows of the verbs. */
import { expect } from "vitest";
import { drawFrames, newCounts, steer } from "../../verbs/support/flowSteer.js";
import { addSome, makeWorld, removeSome } from "../../verbs/support/flowWorld.js";
import type { Target } from "../target.js";

export const flows: Target = {
  name: "flows",
  about:
    "flows of all kinds as objects and as C bytes, direct rules and host rules, inserted and removed: outcomes, counters " +
    "and refusals as in the reference",
  unit: "frames",
  guide: "host",
  open: () =>
    Promise.resolve(async (random) => {
      const world = await makeWorld(random, new Map());
      const counts = newCounts();
      for (let left = random.between(1, 4); left > 0; left--) {
        addSome(world);
        steer(world, drawFrames(world), counts);
        removeSome(world);
      }
      removeSome(world, 1);
      expect(world.device.memoryUsed).toBe(world.empty);
      return counts.frames;
    }),
};
