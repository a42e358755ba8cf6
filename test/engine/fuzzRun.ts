/** A run of broken frames through one build of the core. */
import debug from "../../build/debug/core.wasm";
import release from "../../build/release/core.wasm";
import { loadCore } from "../../src/engine/load.js";
import { type Random, randomFrame } from "../oracle/generate.js";
import { broken, cuts, type FoundHeader } from "./fuzzMutate.js";
import { ParseProbe } from "./fuzzProbe.js";
import type { TestFrame } from "./support.js";

/** The published build, and the one with checked casts and assertions. */
export const BUILDS = { release, debug };
export type Build = keyof typeof BUILDS;

export function setting(name: string): string | undefined {
  return typeof process === "undefined" ? undefined : process.env[name];
}

/** Frames of a run: FLOWSTEER_FUZZ in all, over two files and two builds each. */
export const FRAMES = Math.ceil(Number(setting("FLOWSTEER_FUZZ") ?? 50_000) / 2);
/** Generous: a trap is to be reported, not a slow machine. */
export const TIMEOUT = 30_000 + FRAMES * 2;

/** Broken frames made from one whole one. */
const BROKEN_EACH = 12;

export async function openProbe(build: Build, reproduce: string): Promise<ParseProbe> {
  return new ParseProbe(await loadCore(BUILDS[build]), build, reproduce);
}

export function reproduceBy(seed: number, file: string): string {
  const size = `FLOWSTEER_FUZZ=${FRAMES * 2}`;
  return `FLOWSTEER_SEED=${seed} ${size} vitest run --project node test/engine/${file}`;
}

export function* generated(random: Random): Generator<TestFrame, never> {
  for (;;) yield randomFrame(random);
}

/** Checks `count` frames: those of `whole`, and broken ones made from each. Gives how many it checked. */
export function fuzz(probe: ParseProbe, whole: Iterable<TestFrame>, count: number, random: Random): number {
  let done = 0;
  let other: TestFrame | undefined;
  const check = (frame: TestFrame): FoundHeader[] => {
    done++;
    return probe.check(frame, random.below(0x200));
  };
  for (const frame of whole) {
    if (done >= count) break;
    const headers = check(frame);
    for (let i = 0; i < BROKEN_EACH; i++) check(broken(frame, headers, other ?? frame, random));
    if (frame.bytes.length <= 400 && random.chance(0.005)) for (const one of cuts(frame)) check(one);
    other = frame;
  }
  return done;
}
