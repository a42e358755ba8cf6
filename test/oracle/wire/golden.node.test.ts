// Compares the reference parser with tshark, frame by frame, on captures from outside this project.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { framesOf, goldenFiles } from "../../golden/support/frames.js";
import { headersMade } from "../../golden/support/makeHeaders.js";
import { type Ruling, RULINGS, compareWithGolden, isKnown, rulingsUsed } from "../../golden/support/rulings.js";
import { FIELD_WIDTHS } from "./fields.js";
import { parseReference } from "./parse.js";

describe("the reference parser agrees with tshark", () => {
  const used = new Set<Ruling>();

  for (const { golden, path } of goldenFiles()) {
    test.skipIf(path === undefined)(golden.capture, async () => {
      const frames = await framesOf(path ?? "");
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

  test("headers-made.pcap is what test/golden/support/makeHeaders.ts makes", () => {
    const path = goldenFiles().find(({ golden }) => golden.capture === "headers-made.pcap")?.path;
    expect(new Uint8Array(readFileSync(path ?? ""))).toEqual(headersMade());
  });

  test("tshark saw every field that it has a name for", () => {
    const names = new Set(
      goldenFiles().flatMap(({ golden }) => golden.frames.flatMap(({ fields }) => Object.keys(fields))),
    );
    expect([...FIELD_WIDTHS.keys()].filter((field) => isKnown(field) && !names.has(field))).toEqual([]);
  });

  test("every ruling is needed by some frame", () => {
    expect(RULINGS.filter((ruling) => !used.has(ruling)).map((ruling) => ruling.why)).toEqual([]);
  });
});
