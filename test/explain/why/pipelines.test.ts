/**
 * Random devices and frames: for each rule of a table that a frame visited and did not hit, the
 * explanation names a true reason, judged by the reference: fields that differ, or the earlier rule
 * that took the frame.
 */
import { expect, test } from "vitest";
import { openExplainer } from "../../../src/explain/index.js";
import { Random } from "../../oracle/generate/random.js";
import { drawNear, withOthers } from "../../assembly/support/pipelineSteer.js";
import { addRules, emptyWorld, makePipelineWorld, syncSome } from "../../assembly/support/pipelineWorld.js";
import { seedFor } from "../../assembly/support/core.js";
import { rounds } from "../../support/tier.js";
import { explainMisses } from "./support/trueReasons.js";

const EXPLANATIONS = rounds(5_000, "FLOWSTEER_EXPLANATIONS");
/** Frames for a device. */
const OF_DEVICE = 20;

test(`${EXPLANATIONS} explanations`, async () => {
  const random = new Random(seedFor("explanations"));
  const kinds = new Map<string, number>();
  for (let made = 0; made < EXPLANATIONS;) {
    const world = await makePipelineWorld(random, new Map(), random.chance(0.3));
    for (let n = 0; n < 3; n++) addRules(world);
    syncSome(world, 0.8);
    const explainer = await openExplainer(world.device);
    for (const base of random.shuffle(withOthers(world, drawNear(world))).slice(0, OF_DEVICE)) {
      made += explainMisses(world, explainer, base, kinds);
    }
    emptyWorld(world);
  }
  console.log(
    [...kinds]
      .sort()
      .map(([kind, times]) => `${kind} ${times}`)
      .join(", "),
  );
  expect(kinds.get("no match")).toBeGreaterThan(0);
  expect(kinds.get("earlier rule")).toBeGreaterThan(0);
});
