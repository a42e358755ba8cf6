/** Every field of every filter, every action, type and flag, under every profile; docs/flow-coverage.md says what ran. */
import { describe, expect, test } from "vitest";
import page from "../../../docs/flow-coverage.md?raw";
import { ACTION_LAYOUTS, specLayouts } from "../../../src/model/flow/spec.js";
import { EMPTY, shortName } from "./support/fieldCases.js";
import { nameOf, PROFILES, rowOf } from "./support/record.js";
import { CASES, coveragePage } from "./support/table.js";

describe.each(PROFILES)("%s", (profile) => {
  for (const one of CASES) {
    test(nameOf(one), async () => {
      const { results } = await rowOf(one, profile);
      expect(results, "the row asserts no destination, tag, counter or errno").not.toEqual([]);
    });
  }
});

test("every field, and every action, has a row of its own, outer and inner", () => {
  const names = CASES.map(nameOf);
  expect(new Set(names).size).toBe(names.length);
  const wanted = specLayouts().flatMap((layout) =>
    [...layout.fields.map(({ name }) => name), EMPTY].flatMap((field) =>
      ["outer", "inner"].map((level) => `${shortName(layout)} ${field} ${level}`),
    ),
  );
  const actions = ACTION_LAYOUTS.map(
    ({ name, field }) => `${name.replace("IBV_FLOW_SPEC_", "")} ${field ?? "(no field)"}`,
  );
  expect([...wanted, ...actions].filter((name) => !names.includes(name))).toEqual([]);
});

test("docs/flow-coverage.md is what was asserted", async () => {
  const message = "docs/flow-coverage.md is out of date: run node --import tsx scripts/flow-coverage.mjs";
  expect(page, message).toBe(await coveragePage());
});
