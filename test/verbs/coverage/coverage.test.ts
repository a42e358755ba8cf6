/** Every field of every filter, every action, type and flag, under every profile. The page flow-coverage.md lists what they assert. */
import { describe, expect, test } from "vitest";
import { ACTION_LAYOUTS, specLayouts } from "../../../src/model/match/flowSpec.js";
import { EMPTY, shortName } from "./support/fieldCases.js";
import { nameOf, PROFILES, rowOf } from "./support/record.js";
import { CASES, coveragePage } from "./support/table.js";
import { DEEP } from "../../support/tier.js";

/** The default profile, and the one that most others resemble. */
const SOME = PROFILES.filter((profile) => profile === "manual" || profile === "connectx7");

describe.each(DEEP ? PROFILES : SOME)("%s", (profile) => {
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

test("the page has a row a case, and a cell a profile", async () => {
  const rows = ["ETH dst_mac outer", "ACTION_TAG another one on an identical flow"].map(
    (name) => CASES.find((one) => nameOf(one) === name)!,
  );
  const lines = (await coveragePage([["Rows", "What they are.", rows]])).trimEnd().split("\n").slice(-8);
  expect(lines.map((line) => line.replace(/ +/g, " "))).toEqual([
    "## Rows",
    "",
    "What they are.",
    "",
    "| spec | field | level | manual | connectx5 | connectx6dx | connectx7 | connectx8 |",
    expect.stringMatching(/^(\| -+ ){8}\|$/),
    `| \`ETH\` | \`dst_mac\` | outer |${" tag |".repeat(5)}`,
    `| \`ACTION_TAG\` | another one on an identical flow | |${" tag, EEXIST |".repeat(5)}`,
  ]);
});
