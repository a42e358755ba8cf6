// The reference parser against tshark, frame by frame, on captures that nobody in this project wrote.

import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readCapture } from "../../src/packet/capture.js";
import { type GoldenFile, type Ruling, RULINGS, compareWithGolden, rulingsUsed } from "../golden/rulings.js";
import { parseReference } from "./parse.js";

const KEYS = new URL("../golden/keys/", import.meta.url);
const CAPTURES = new URL("../captures/", import.meta.url);

async function framesOf(capture: string) {
  const frames = [];
  for await (const batch of readCapture(readFileSync(new URL(capture, CAPTURES)))) {
    // The bytes of a batch are views that the next one may overwrite.
    frames.push(...batch.map((frame) => ({ ...frame, bytes: frame.bytes.slice() })));
  }
  return frames;
}

describe("the reference parser agrees with tshark", () => {
  const used = new Set<Ruling>();

  for (const file of readdirSync(KEYS).sort()) {
    const golden = JSON.parse(readFileSync(new URL(file, KEYS), "utf8")) as GoldenFile;
    test(golden.capture, async () => {
      const frames = await framesOf(golden.capture);
      expect(frames.length).toBe(golden.frames.length);
      const differences = golden.frames.flatMap((expected, index) => {
        const { bytes, linkType, wireLength } = frames[index]!;
        const { fields } = parseReference(bytes, { linkType, wireLength });
        for (const ruling of rulingsUsed(fields, expected)) used.add(ruling);
        return compareWithGolden(fields, expected);
      });
      expect(differences).toEqual([]);
    });
  }

  test("every ruling is needed by some frame", () => {
    expect(RULINGS.filter((ruling) => !used.has(ruling)).map((ruling) => ruling.why)).toEqual([]);
  });
});
