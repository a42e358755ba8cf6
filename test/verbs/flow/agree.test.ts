/**
 * Random devices through the C-named functions: flows of all kinds, as objects and as C bytes,
 * direct rules of the root table and of others, host rules, counters, insertions and removals.
 * Received frames, alone and in batches, and frames sent by queue pairs: every outcome, every
 * counter and every refusal agree with the reference.
 * Flows are made for frames; they match them, or miss them by one bit. The tests use these frames,
 * the same with one bit flipped, and others.
 */
import { expect, test } from "vitest";
import { seedFor } from "../../assembly/support/core.js";
import { FLAG, type Flow, TYPE } from "../../oracle/flow/flows.js";
import { Random } from "../../oracle/generate/frame.js";
import { drawFrames, newCounts, steer } from "../support/flowSteer.js";
import { addSome, makeFlow, makeWorld, QUEUES, removeSome, type World } from "../support/flowWorld.js";
import { checkReached, rounds } from "../../support/tier.js";

/** Number of frames. */
const FRAMES = rounds(15_000);
const ROUNDS = 6;

test(`${FRAMES} frames`, async () => {
  const random = new Random(seedFor("flows"));
  const tally = new Map<string, number>();
  const counts = newCounts();
  while (counts.frames < FRAMES) {
    const world = await makeWorld(random, tally);
    for (let round = 0; round < ROUNDS; round++) {
      addSome(world);
      steer(world, drawFrames(world), counts);
      removeSome(world);
    }
    removeSome(world, 1);
    expect(world.device.memoryUsed).toBe(world.empty);
  }
  const { frames, hits, pairs, matching, flowBits, frameBits } = counts;
  const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
  console.log(
    `${frames} frames, of which flows are hit by ${percent(hits, frames)}; ${pairs} pairs of frame and flow: ` +
      `${percent(matching, pairs)} match, ${flowBits} miss by one bit of the flow, ${frameBits} by one of the frame`,
  );
  console.log(
    [...tally]
      .sort()
      .map(([what, times]) => `${what} ${times}`)
      .join(", "),
  );
  checkReached(() => {
    expect(hits / frames).toBeGreaterThan(0.3);
    expect(pairs).toBeGreaterThan(100_000);
    expect(matching / pairs).toBeGreaterThan(0.05);
    expect(flowBits).toBeGreaterThan(800);
    expect(frameBits).toBeGreaterThan(400);
    for (const what of REACHED) expect([...tally.keys()]).toContain(what);
  });
});

const REACHED = [
  ...["normal", "all", "mc", "sniffer", "EEXIST", "EINVAL"].map((what) => `flow ${what}`),
  ...["attach done", "attach EINVAL"],
  ...["deliver", "drop drop_action", "drop no_destination", "drop table_miss", "miss no_rule", "miss default_miss"].map(
    (what) => `received: ${what}`,
  ),
  ...["transmit", "deliver", "drop drop_action"].map((what) => `sent: ${what}`),
];

/**
 * Frames visit at most 65 entries and reach at most 128 destinations: chains of about that many
 * DONT_TRAP flows.
 */
test("frames that visit many entries and reach many queues", async () => {
  const random = new Random(seedFor("flows, limits"));
  const tally = new Map<string, number>();
  const counts = newCounts();
  for (let n = 0; n < rounds(36); n++) {
    const world = await makeWorld(random, tally);
    addChain(world, n % 3 === 0 ? FLAG.EGRESS : 0, random.between(60, 68), 1 + (n % 4));
    if (n % 2 === 0) addSome(world);
    steer(world, drawFrames(world), counts);
    removeSome(world, 1);
    expect(world.device.memoryUsed).toBe(world.empty);
  }
  const limits = ["received: drop hop_limit", "received: drop copy_limit", "sent: drop hop_limit", "copies refused"];
  checkReached(() => expect(limits.filter((what) => !tally.has(what))).toEqual([]));
});

/**
 * A flow of some queue pairs at each of some priorities, and one that takes the frames after them.
 */
function addChain(world: World, flags: number, length: number, queues: number): void {
  const add = (one: Omit<Flow, "id" | "type" | "specs">): void => {
    expect(makeFlow(world, { ...one, id: `f${world.made++}`, type: TYPE.NORMAL, specs: [] })).toBe(true);
  };
  for (const port of [1, 2]) {
    for (let i = 0; i < length; i++)
      for (const qp of QUEUES.slice(0, queues)) add({ port, priority: 10 + i, flags: flags | FLAG.DONT_TRAP, qp });
    add({ port, priority: 100, flags, qp: "d" });
  }
}
