/**
 * Devices that live long. In a span of a life rules are inserted, frames are received and sent
 * while rules change, every outcome is compared with the reference; then everything is destroyed
 * and all memory is free.
 */
import { expect } from "vitest";
import type { Device, DeviceOptions } from "../../../../src/index.js";
import type { Random } from "../../../oracle/generate/random.js";
import {
  drawFrames as drawFlowFrames,
  newCounts as newFlowCounts,
  steer as steerFlows,
} from "../../../verbs/support/flowSteer.js";
import { addSome, drawBases, makeWorld, removeSome } from "../../../verbs/support/flowWorld.js";
import { EspBench } from "../../esp/support/bench.js";
import { openSome, sealSome, Tally } from "../../esp/support/turns.js";
import { drawNear, newCounts, steer, withOthers } from "../../support/pipelineSteer.js";
import {
  addRules,
  drawFrames,
  emptyWorld,
  makePipelineWorld,
  modifyMeters,
  removeMatchers,
  removeRules,
  syncSome,
} from "../../support/pipelineWorld.js";

export interface Life {
  readonly name: string;
  readonly device: Device;
  /** Runs a span; returns the number of frames. */
  live(): number;
}

/** Makes a device with some options beside those that a test needs. */
export type Open = (options: DeviceOptions) => Promise<Device>;

const ROUNDS = 3;
/** Worlds in which frames go in circles end a span here. */
const LOOKUPS = 5_000;

/** Frames, the first of them far more often than the last. */
function skewed<T extends object>(random: Random, frames: readonly T[]): T[] {
  const often = Array.from(frames, () => frames[Math.floor(frames.length * (random.word() / 2 ** 32) ** 4)] as T);
  return random.shuffle([...frames, ...often].map((one) => ({ ...one })));
}

/**
 * Direct rules of all domains, flows and host rules on three functions; with stateful actions if
 * `remembers` is set.
 */
export async function pipelineLife(random: Random, open: Open, remembers: boolean): Promise<Life> {
  const world = await makePipelineWorld(random, new Map(), remembers, open);
  const live = (): number => {
    const counts = newCounts();
    if (remembers) world.world.state.now += random.bits(40);
    drawFrames(world);
    const near = drawNear(world);
    for (let round = 0; round < ROUNDS && counts.lookups < LOOKUPS; round++) {
      addRules(world);
      syncSome(world);
      modifyMeters(world);
      steer(world, skewed(random, withOthers(world, near)), counts);
      removeRules(world);
      syncSome(world, 0.3);
      removeMatchers(world);
    }
    emptyWorld(world);
    for (const made of [world.names, world.flowMasks, world.tally, world.world.state.told]) made.clear();
    return counts.frames;
  };
  return { name: remembers ? "rules that remember" : "direct rules", device: world.device, live };
}

/** Flows of all kinds, direct rules of the root table, host rules. */
export async function flowLife(random: Random, open: Open): Promise<Life> {
  const world = await makeWorld(random, new Map(), open);
  const live = (): number => {
    const counts = newFlowCounts();
    world.bases = drawBases(random);
    for (let round = 0; round < ROUNDS; round++) {
      addSome(world);
      steerFlows(world, skewed(random, drawFlowFrames(world)), counts);
      removeSome(world);
    }
    removeSome(world, 1);
    expect(world.device.memoryUsed).toBe(world.empty);
    world.names.clear();
    world.tally.clear();
    return counts.frames;
  };
  return { name: "flows", device: world.device, live };
}

/** ESP actions and the flows that lead to them. */
export async function espLife(random: Random, open: Open): Promise<Life> {
  const bench = await EspBench.open(open);
  const empty = bench.device.memoryUsed;
  const live = (): number => {
    const tally = new Tally();
    for (let round = 0; round < ROUNDS; round++) (random.chance(0.5) ? sealSome : openSome)(random, bench, tally);
    expect(bench.device.memoryUsed).toBe(empty);
    return tally.frames;
  };
  return { name: "ESP", device: bench.device, live };
}
