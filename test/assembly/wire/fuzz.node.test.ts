/**
 * No bytes make the parser trap or read beside the frame: captures, and broken frames made from them.
 *
 * FLOWSTEER_CAPTURES=directory adds the captures there. The other settings are those of fuzz.test.ts.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { SteeringError } from "../../../src/errors.js";
import { hasParser } from "../../../src/model/traffic/links.js";
import { readCapture } from "../../../src/packet/capture/read.js";
import { Random } from "../../oracle/generate/frame.js";
import { type Build, BUILDS, FRAMES, fuzz, openProbe, reproduceBy } from "./support/run.js";
import { seedFor, type TestFrame } from "../support/core.js";
import { setting } from "../../support/tier.js";

/** Of a large capture the first frames serve. */
const FRAMES_EACH = 2000;

const frames: TestFrame[] = [];
const linkTypes = new Set<number>();

async function readAll(directory: string): Promise<void> {
  for (const name of readdirSync(directory).sort()) {
    if (!/\.(pcap|pcapng|cap)$/.test(name)) continue;
    try {
      await readOne(join(directory, name));
    } catch (error) {
      if (!(error instanceof SteeringError)) throw error;
    }
  }
}

async function readOne(file: string): Promise<void> {
  const before = frames.length;
  for await (const batch of readCapture(readFileSync(file))) {
    for (const { bytes, linkType, wireLength } of batch) {
      if (frames.length - before === FRAMES_EACH) return;
      if (!hasParser(linkType)) continue;
      linkTypes.add(linkType);
      frames.push({ bytes: bytes.slice(), linkType, wireLength: Math.max(wireLength, bytes.length) });
    }
  }
}

beforeAll(async () => {
  await readAll(new URL("../../captures", import.meta.url).pathname);
  const more = setting("FLOWSTEER_CAPTURES");
  if (more !== undefined) await readAll(more);
});

/** All frames once in random order, then again and again: each time they break otherwise. */
function* shuffled(random: Random): Generator<TestFrame, never> {
  for (;;) yield* random.shuffle(frames);
}

describe.each(Object.keys(BUILDS) as Build[])("%s core", (build) => {
  test("captured frames, whole and broken", async () => {
    expect([...linkTypes]).toEqual(expect.arrayContaining([1, 101, 228]));
    const seed = seedFor(`fuzz of captures, ${build}`);
    const random = new Random(seed);
    const probe = await openProbe(build, "bounds", reproduceBy(seed, "fuzz.node.test.ts"));
    expect(fuzz(probe, shuffled(random), FRAMES, random)).toBeGreaterThanOrEqual(FRAMES);
  });
});
