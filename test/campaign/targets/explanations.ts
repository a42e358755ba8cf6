/** Explanations and repairs on random devices. */
import { openExplainer } from "../../../src/explain/index.js";
import { drawNear, withOthers } from "../../assembly/support/pipelineSteer.js";
import { addRules, emptyWorld, makePipelineWorld, syncSome } from "../../assembly/support/pipelineWorld.js";
import { repairAll } from "../../explain/support/promises.js";
import { explainMisses } from "../../explain/why/support/trueReasons.js";
import type { Target } from "../target.js";

/** Frames of a run. */
const FRAMES = 12;

export const explanations: Target = {
  name: "explanations",
  about:
    "why frames did not hit rules of tables that they came to: the reason is true in the reference, and a repair makes the " +
    "frame hit the rule",
  unit: "explanations",
  guide: "host",
  open: () =>
    Promise.resolve(async (random) => {
      const repairs = random.chance(0.5);
      const world = await makePipelineWorld(random, new Map(), !repairs && random.chance(0.4));
      if (repairs && world.waiting !== null) return 0;
      for (let left = random.between(1, 3); left > 0; left--) addRules(world);
      syncSome(world, 0.8);
      const explainer = await openExplainer(world.device);
      const bases = random.shuffle(withOthers(world, drawNear(world)));
      let explained = 0;
      for (const base of bases.slice(0, FRAMES))
        explained += repairs
          ? repairAll(world, explainer, base, bases, new Map())
          : explainMisses(world, explainer, base, new Map());
      emptyWorld(world);
      return explained;
    }),
};
