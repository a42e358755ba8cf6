/**
 * Random devices and frames: what a repair promises is true. With the repaired frame, or with the
 * repaired rule, the frame hits the rule, in the device and in the reference.
 */
import { expect, test } from "vitest";
import { openExplainer } from "../../src/explain/index.js";
import { Random } from "../oracle/generate/random.js";
import { drawNear, withOthers } from "../assembly/support/pipelineSteer.js";
import { addRules, emptyWorld, makePipelineWorld } from "../assembly/support/pipelineWorld.js";
import { seedFor } from "../assembly/support/core.js";
import { checkReached, rounds } from "../support/tier.js";
import { repairAll } from "./support/promises.js";

const REPAIRS = rounds(500, "FLOWSTEER_REPAIRS");
/** Frames for a device. */
const OF_DEVICE = 12;

test(`${REPAIRS} repairs do what they promise`, async () => {
  const random = new Random(seedFor("repairs"));
  const kinds = new Map<string, number>();
  for (let repaired = 0; repaired < REPAIRS;) {
    const world = await makePipelineWorld(random, new Map());
    if (world.waiting !== null) continue;
    for (let n = 0; n < 3; n++) addRules(world);
    const explainer = await openExplainer(world.device);
    const bases = random.shuffle(withOthers(world, drawNear(world)));
    for (const base of bases.slice(0, OF_DEVICE)) {
      repaired += repairAll(world, explainer, base, bases, kinds);
    }
    emptyWorld(world);
  }
  console.log([...kinds].map(([kind, times]) => `${kind} ${times}`).join(", "));
  checkReached(() =>
    expect([...kinds.keys()]).toEqual(
      expect.arrayContaining(["frame", "frame sent", "rule: safe", "rule: widens", "rule: disables", "rule: priority"]),
    ),
  );
});
