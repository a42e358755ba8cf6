/**
 * Measures one kind of frame: as a whole, its stages by samples, and the parts that can run alone.
 */
import { MAX_BATCH } from "../../src/abi/engine.js";
import type { Burst, DeviceOptions } from "../../src/index.js";
import { VERDICTS } from "../../src/index.js";
import { cpuSeconds, expectEqual, median } from "../harness.js";
import { sampled, type FunctionShare } from "./cpu.js";
import type { Kind, Opened } from "./kinds.js";
import { HOST } from "./stages.js";

/** Times in nanoseconds a frame. */
export interface Profile {
  kind: Kind;
  whole: number;
  /** The same frames with the flow cache, which has entries for all of them. */
  cached: number;
  shares: readonly FunctionShare[];
  /** Exports of the core, each run by itself over the same batch; null where that cannot be. */
  alone: { parse: number; classify: number; steer: number; writeColumns: number } | null;
}

const ROUNDS = 9;
/** Seconds of a round, and of sampling. */
const ROUND = 0.1;
const SAMPLING = 3;

export async function profileOf(kind: Kind, options: DeviceOptions, quick: boolean): Promise<Profile> {
  const cached = await kind.open(options, quick);
  const plain = await kind.open({ ...options, cache: false }, quick);
  for (const one of [cached, plain, cached]) check(kind, one);
  const drive = driver(plain);
  const times = interleaved([drive, driver(cached)], plain.frames.length, quick);
  const shares = await sampled(() => repeat(drive, quick ? 0.02 : SAMPLING), Object.keys(HOST));
  return { kind, whole: times[0]!, cached: times[1]!, shares, alone: alone(plain, quick) };
}

/** Every frame is delivered, with its tag. */
function check({ name }: Kind, { device, frames, tags }: Opened): void {
  const burst = device.openBurst();
  for (let first = 0; first < frames.length; first += MAX_BATCH) {
    putRows(burst, frames, first);
    for (let i = 0, count = steerRows(burst); i < count; i++) {
      const seen = [VERDICTS[burst.verdicts[i]!], burst.tagged[i] === 1 ? burst.tags[i] : null];
      expectEqual(`${name}, frame ${first + i}`, seen, ["deliver", tags[first + i]]);
    }
  }
}

// Samples are told apart by the names of these three (stages.ts).

function putRows(burst: Burst, frames: readonly Uint8Array[], first: number): void {
  burst.clear();
  const end = Math.min(first + MAX_BATCH, frames.length);
  for (let i = first; i < end; i++) burst.put(frames[i]!);
}

function steerRows(burst: Burst): number {
  return burst.steer();
}

function readRows({ verdicts, tags, queues }: Burst, count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += verdicts[i]! + tags[i]! + queues[i]!;
  return sum;
}

function driver({ device, frames }: Opened): () => void {
  const burst = device.openBurst();
  return () => {
    // Another burst may have used the device.
    for (let first = 0; first < frames.length; first += MAX_BATCH) {
      putRows(burst, frames, first);
      readRows(burst, steerRows(burst));
    }
  };
}

/** Medians of rounds in which all take turns, nanoseconds a frame. */
function interleaved(runs: readonly (() => void)[], frames: number, quick: boolean): number[] {
  const rounds: number[][] = [];
  // The first is in the compiler's slow tier.
  for (let i = 0; i <= (quick ? 0 : ROUNDS); i++) {
    rounds.push(runs.map((run) => repeat(run, quick ? 0 : ROUND)));
  }
  const counted = quick ? rounds : rounds.slice(1);
  return runs.map((_, n) => (median(counted.map((round) => round[n]!)) * 1e9) / frames);
}

/** Runs for this many seconds; returns the CPU seconds of one run. */
function repeat(run: () => void, seconds: number): number {
  const start = cpuSeconds();
  const until = performance.now() + 1000 * seconds;
  let times = 0;
  do {
    run();
    times++;
  } while (performance.now() < until);
  return (cpuSeconds() - start) / times;
}

/** The first batch, repeatedly and unchanged. */
function alone({ device, frames, alone }: Opened, quick: boolean): Profile["alone"] {
  if (alone === undefined) return null;
  const { exports } = device.core;
  const burst = device.openBurst();
  putRows(burst, frames, 0);
  const count = burst.count;
  burst.steer();
  const [parse, classify, steer, writeColumns] = interleaved(
    [
      () => exports.parse(count, alone.wanted),
      () => exports.classify(alone.table, count, 0, 0),
      () => exports.steer(device.function(0).pipeline.received, count),
      () => exports.writeColumns(count),
    ],
    count,
    quick,
  ) as [number, number, number, number];
  return { parse, classify, steer, writeColumns };
}
