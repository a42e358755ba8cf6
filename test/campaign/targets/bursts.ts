/** Frames by the million through random rules: two devices of the same rules, one of them without the flow cache. */
import { expect } from "vitest";
import { createDevice, type Burst, type DeviceOptions } from "../../../src/index.js";
import { frameText, type TestFrame } from "../../assembly/support/core.js";
import { drawNear, newCounts, plainOutcome, steer } from "../../assembly/support/pipelineSteer.js";
import {
  addRules,
  emptyWorld,
  makePipelineWorld,
  type PipelineWorld,
  syncSome,
} from "../../assembly/support/pipelineWorld.js";
import { Random } from "../../oracle/generate/random.js";
import type { Target } from "../target.js";

const ROUNDS = 512;
/** Frames and their hits, of all bursts: a world whose frames split into many branches has fewer bursts. */
const MAX = 400_000;
/** Where headers usually lie. */
const REACH = 100;

export const bursts: Target = {
  name: "bursts",
  about:
    "as the rules target, by the million: frames that hit rules, with up to two bits flipped, in bursts of two devices " +
    "with and without the flow cache: the same columns and reasons, and one outcome of each burst the same to the last byte",
  unit: "frames",
  guide: "core",
  open: () =>
    Promise.resolve(async (random) => {
      const seed = random.word();
      const entries = random.pick([4, 64, 4096]);
      const worlds = [await worldOf(seed, { entries }), await worldOf(seed, false)] as const;
      const [world] = worlds;
      const near = drawNear(world);
      const counts = newCounts();
      steer(world, near, counts);
      const before = worlds.map(({ device }) => device.reasons());
      const received = near.filter(({ sender }) => sender === null).map(({ frame }) => frame);
      const frames = received.length === 0 ? 0 : run(worlds, received, new Random(random.word()));
      const [ours, theirs] = worlds.map(({ device }, i) => grown(device.reasons(), before[i]!));
      expect(ours).toEqual(theirs);
      for (const one of worlds) emptyWorld(one);
      return counts.frames + frames;
    }),
};

async function worldOf(seed: number, cache: DeviceOptions["cache"]): Promise<PipelineWorld> {
  const options = cache === undefined ? {} : { cache };
  const world = await makePipelineWorld(new Random(seed), new Map(), false, (given) =>
    createDevice({ ...given, ...options }),
  );
  for (let n = 0; n < 3; n++) addRules(world);
  syncSome(world, 1);
  return world;
}

/** @returns how many frames were steered on each device */
function run(worlds: readonly [PipelineWorld, PipelineWorld], received: readonly TestFrame[], random: Random): number {
  const [ours, theirs] = [worlds[0].bursts[0], worlds[1].bursts[0]];
  let [count, work] = [0, 0];
  for (let round = 0; round < ROUNDS && work < MAX; round++) {
    const frames = fill(ours, random.pick([ours.rows, ours.rows, 33, 1]), received, random);
    ours.steer();
    theirs.clear();
    for (const frame of frames) put(theirs, frame);
    theirs.steer();
    compare(worlds, frames);
    const row = random.below(frames.length);
    const [one, other] = [plainOutcome(worlds[0], ours.outcome(row)), plainOutcome(worlds[1], theirs.outcome(row))];
    expect(one, frameText(frames[row]!)).toEqual(other);
    count += frames.length;
    for (let at = 0; at < frames.length; at++) work += 1 + ours.hits[at]!;
  }
  return count;
}

/** Puts up to so many frames into the burst, with up to two bits flipped. */
function fill(burst: Burst, most: number, received: readonly TestFrame[], random: Random): TestFrame[] {
  const frames: TestFrame[] = [];
  burst.clear();
  while (frames.length < most) {
    const whole = random.pick(received);
    const bytes = whole.bytes.slice();
    for (let left = random.below(3); left > 0 && bytes.length > 0; left--)
      bytes[random.below(Math.min(bytes.length, REACH))]! ^= 1 << random.below(8);
    const frame = { ...whole, bytes };
    if (put(burst, frame) < 0) break;
    frames.push(frame);
  }
  return frames;
}

function put(burst: Burst, { bytes, port, linkType, wireLength }: TestFrame): number {
  return burst.put(bytes, port, linkType, wireLength);
}

const COLUMNS = ["verdicts", "reasons", "tagged", "tags", "hits", "rules", "destinations", "kinds"] as const;

function compare(worlds: readonly [PipelineWorld, PipelineWorld], frames: readonly TestFrame[]): void {
  const [ours, theirs] = [worlds[0].bursts[0], worlds[1].bursts[0]];
  const [ourNames, theirNames] = [destinationNames(worlds[0]), destinationNames(worlds[1])];
  for (const name of COLUMNS) {
    const [one, other] = [ours[name], theirs[name]];
    for (let row = 0; row < frames.length; row++) {
      if (one[row] === other[row] || (name === "tags" && ours.tagged[row] === 0)) continue;
      expect.fail(`${name} ${one[row]} with the cache, ${other[row]} without: ${frameText(frames[row]!)}`);
    }
  }
  for (let row = 0; row < frames.length; row++) {
    if (ours.destinations[row] === 0) continue;
    const [one, other] = [ourNames(row), theirNames(row)];
    if (one !== other) expect.fail(`to ${one} with the cache, to ${other} without: ${frameText(frames[row]!)}`);
  }
}

/**
 * The first destination of a row. Queues are numbers of a device, and the same queue may have others on another device:
 * rules fill more memory where their hashes collide, which are random (assembly/hash.ts).
 */
function destinationNames({ device, bursts: [burst] }: PipelineWorld): (row: number) => string {
  const names = new Map<string, string>();
  return (row) => {
    const key = `${burst.kinds[row]} ${burst.queues[row]}`;
    let name = names.get(key);
    if (name === undefined) names.set(key, (name = device.destinationName(burst.queues[row]!, burst.kinds[row]!)));
    return name;
  };
}

function grown(now: Readonly<Record<string, bigint>>, before: Readonly<Record<string, bigint>>): [string, bigint][] {
  return Object.entries(now).map(([name, times]) => [name, times - (before[name] ?? 0n)]);
}
