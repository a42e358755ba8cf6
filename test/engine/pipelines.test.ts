/**
 * Random devices through the C-named functions: direct rules of all domains on three functions, with every action, that
 * come and go. Frames received on ports, alone and in batches, and sent by queue pairs: every outcome, to the last byte
 * that arrives somewhere, every counter and every reason agree with the reference.
 *
 * Rules are made for frames where these come by, and hit them there or miss them by one bit. Frames are those, the same
 * with one bit flipped, and others.
 */
import { expect, test } from "vitest";
import { Random } from "../oracle/generate.js";
import type { Base } from "../oracle/generatePipeline.js";
import { drawNear, newCounts, steer, withOthers } from "./pipelineSteer.js";
import {
  addRules,
  emptyWorld,
  makePipelineWorld,
  removeMatchers,
  removeRules,
  syncSome,
  type PipelineWorld,
} from "./pipelineWorld.js";
import { seedFor } from "./support.js";

/** Frames that are steered. */
const FRAMES = 50_000;
const ROUNDS = 6;

test(`${FRAMES} frames`, async () => {
  const random = new Random(seedFor("pipelines"));
  const tally = new Map<string, number>();
  const counts = newCounts();
  while (counts.frames < FRAMES) {
    const world = await makePipelineWorld(random, tally);
    const near = drawNear(world);
    for (let round = 0; round < ROUNDS; round++) oneRound(world, near, counts);
    emptyWorld(world);
  }
  const { frames, lookups, hits, bits, split } = counts;
  const percent = (part: number, whole: number): number => Math.round((1000 * part) / whole) / 10;
  console.log(
    `${frames} frames, ${percent(split, frames)} % split; ${lookups} tables come to: ${percent(hits, lookups)} % hit, ` +
      `${percent(bits, lookups)} % miss a rule by one bit`,
  );
  console.log(
    [...tally]
      .sort()
      .map(([what, times]) => `${what} ${times}`)
      .join(", "),
  );
  expect(percent(hits, lookups)).toBeGreaterThan(30);
  expect(percent(bits, lookups)).toBeGreaterThan(20);
  expect(percent(split, frames)).toBeGreaterThan(2);
  expect(REACHED.filter((what) => !tally.has(what))).toEqual([]);
}, 240_000);

function oneRound(world: PipelineWorld, near: readonly Base[], counts: ReturnType<typeof newCounts>): void {
  addRules(world);
  syncSome(world);
  steer(world, withOthers(world, near), counts);
  removeRules(world);
  syncSome(world, 0.3);
  removeMatchers(world);
}

const ACTIONS = [
  ...["drop", "defaultMiss", "tag", "counter", "qp", "table", "rootTable", "vport", "port", "array"],
  ...["modify", "popVlan", "pushVlan", "reformat"],
];
const REASONS = [
  ...["no_rule", "table_miss", "default_miss", "drop_action", "no_destination", "hop_limit", "queue_not_ready"],
  ...["no_receive_buffer", "copy_limit", "not_a_tunnel", "frame_too_long", "wire_to_wire"],
];
const REACHED = [
  ...ACTIONS.map((kind) => `action ${kind}`),
  ...REASONS.map((reason) => `reason ${reason}`),
  ...["A", "B", "C0", "C1", "C2", "C3", "C4", "C5", "C6", "C7"].map((name) => `register ${name}`),
  ...["received: deliver", "received: forward", "received: miss no_rule", "received: miss default_miss"],
  ...["sent: deliver", "sent: transmit", "sent: miss no_rule", "sent: drop drop_action"],
  ...["host rule", "changes synced"],
];
