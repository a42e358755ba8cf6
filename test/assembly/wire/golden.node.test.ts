/** The engine's parser against tshark, frame by frame, on captures that nobody in this project wrote. */
import { beforeAll, describe, expect, test } from "vitest";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { framesOf, goldenFiles } from "../../golden/support/frames.js";
import { compareWithGolden } from "../../golden/support/rulings.js";
import { fieldsOf, parseAll } from "../support/core.js";

let core: Core;
beforeAll(async () => {
  core = await loadOpenCore();
});

describe("the engine agrees with tshark", () => {
  for (const { golden, path } of goldenFiles()) {
    test.skipIf(path === undefined)(golden.capture, async () => {
      const frames = await framesOf(path ?? "");
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
