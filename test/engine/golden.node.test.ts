/** The engine's parser against tshark, frame by frame, on captures that nobody in this project wrote. */
import { readFileSync, readdirSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import type { Core } from "../../src/engine/core.js";
import { loadCore } from "../../src/engine/load.js";
import { readCapture } from "../../src/packet/capture.js";
import { compareWithGolden, type GoldenFile } from "../golden/rulings.js";
import { fieldsOf, parseAll, type TestFrame } from "./support.js";

const KEYS = new URL("../golden/keys/", import.meta.url);
const CAPTURES = new URL("../captures/", import.meta.url);

let core: Core;
beforeAll(async () => {
  core = await loadCore();
});

describe("the engine agrees with tshark", () => {
  for (const file of readdirSync(KEYS).sort()) {
    const golden = JSON.parse(readFileSync(new URL(file, KEYS), "utf8")) as GoldenFile;
    test(golden.capture, async () => {
      const frames: TestFrame[] = [];
      for await (const batch of readCapture(readFileSync(new URL(golden.capture, CAPTURES)))) {
        frames.push(...batch.map((frame) => ({ ...frame, bytes: frame.bytes.slice() })));
      }
      expect(frames.length).toBe(golden.frames.length);
      const differences: string[] = [];
      parseAll(core, frames, (i, key) => {
        const expected = golden.frames[i];
        if (expected !== undefined) differences.push(...compareWithGolden(fieldsOf(key), expected));
      });
      expect(differences).toEqual([]);
    });
  }
});
