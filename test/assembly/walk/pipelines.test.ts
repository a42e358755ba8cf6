/**
 * Random devices through the C-named functions: direct rules of all domains on three functions,
 * with every action, inserted and removed. Frames are received on ports, alone and in batches, and
 * sent by queue pairs. Every outcome, to the last byte that arrives, every counter and every reason
 * agree with the reference.
 *
 * Rules are made for frames that reach their table; they match, or miss by one bit. Frames are
 * those, the same with one bit flipped, and others.
 */
import { expect, test } from "vitest";
import { DECLARED, type GeneratedFrame, KINDS, Random, randomFrameOf } from "../../oracle/generate/frame.js";
import { randomModify, randomReshape } from "../../oracle/generate/actions.js";
import { type Base, drawBase } from "../../oracle/generate/pipeline.js";
import type { PipelineAction } from "../../oracle/walk/pipeline.js";
import { drawNear, flip, newCounts, report, steer, withOthers } from "../support/pipelineSteer.js";
import {
  addRules,
  emptyWorld,
  makePipelineWorld,
  makeRule,
  removeMatchers,
  removeRules,
  syncSome,
  type PipelineWorld,
} from "../support/pipelineWorld.js";
import { seedFor } from "../support/core.js";
import { checkReached, rounds } from "../../support/tier.js";

/** The number of frames. */
const FRAMES = rounds(25_000, "FLOWSTEER_PIPELINES");
const ROUNDS = 6;
/** The number of frames that one rule changes. */
const REWRITTEN = rounds(10_000);

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
  report(counts, tally);
  checkReached(() => {
    expect(counts.hits / counts.lookups).toBeGreaterThan(0.3);
    expect(counts.bits / counts.lookups).toBeGreaterThan(0.2);
    expect(counts.split / counts.frames).toBeGreaterThan(0.02);
    expect(REACHED.filter((what) => !tally.has(what))).toEqual([]);
  });
});

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
  ...[
    "host rule",
    "changes synced",
    "synced by destroying an action",
    "rules made at once",
    "layout",
    "duplicate refused",
    "flow",
    "egress flow",
    "flow hit",
    "rule by names",
    "rule with ranges",
  ],
];

/**
 * GRE, whose headers can put the inner packet at an odd offset, as often as the five others
 * together.
 */
const OUTCOME_CLASSES = [...KINDS, "gre", "gre", "gre", "gre"] as const;

/** One rule that changes frames in many ways, again and again. */
test(`${REWRITTEN} frames through one rule`, async () => {
  const random = new Random(seedFor("rewrites"));
  const counts = newCounts();
  const tally = new Map<string, number>();
  const world = await makePipelineWorld(random, tally);
  const matcher = { name: "all", table: "nic_rx:0", priority: 0, masks: [] };
  for (let n = 0; counts.frames < REWRITTEN; n++) {
    const base = { frame: randomFrameOf(random, random.pick(OUTCOME_CLASSES)), sender: null, metadata: 0 };
    makeRule(world, { id: `r${n}`, matcher, terms: [], ranges: [], actions: randomRewrites(random, base.frame) });
    const flipped = Array.from({ length: 7 }, () => flip(base, world));
    steer(world, [base, ...flipped, drawBase(world), drawBase(world)], counts);
    removeRules(world, 1);
  }
  emptyWorld(world);
  checkReached(() => {
    for (const what of ["modify", "popVlan", "pushVlan", "reformat"])
      expect(tally.get(`action ${what}`)).toBeGreaterThan(100);
  });
});

/** Actions that change frames, and a queue for the result. */
function randomRewrites(random: Random, given: GeneratedFrame): PipelineAction[] {
  const frame = { ...given, parser: DECLARED };
  const domain = { domain: "nic_rx" } as const;
  const lists = Array.from({ length: random.pick([1, 1, 2]) }, () => randomModify(random, frame, domain));
  const other = random.chance(0.5) ? [randomReshape(random, frame)] : [];
  return [...lists.map((list): PipelineAction => ({ kind: "modify", list })), ...other, { kind: "qp", qp: "pf" }];
}
