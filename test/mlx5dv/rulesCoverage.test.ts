/** Every function of mlx5dv_dr that this release has, under every profile; docs/rules-coverage.md says what ran. */
import { describe, expect, test } from "vitest";
import page from "../../docs/rules-coverage.md?raw";
import * as dv from "../../src/mlx5dv/index.js";
import { nameOf, PROFILES, rowOf } from "./rulesCoverage/record.js";
import { CASES, coveragePage } from "./rulesCoverage/table.js";

describe.each(PROFILES)("%s", (profile) => {
  for (const one of CASES) {
    test(nameOf(one), async () => {
      const results = await rowOf(one, profile);
      const counts = results.filter((result) => /^(destination|bytes|register|errno)/.test(result));
      expect(counts, "the row asserts no destination, bytes, register or errno").not.toEqual([]);
    });
  }
});

test("every function has rows, and no row is there twice", () => {
  const names = CASES.map(nameOf);
  expect(new Set(names).size).toBe(names.length);
  const functions = Object.keys(dv).filter((name) => /^mlx5dv_(dr_|create_flow_action_)/.test(name));
  expect(functions.length).toBeGreaterThan(25);
  const covered = new Set(CASES.map(({ call }) => call));
  expect(functions.filter((name) => !covered.has(name.replace("mlx5dv_dr_", "")))).toEqual([]);
});

test("docs/rules-coverage.md is what was asserted", async () => {
  const message = "docs/rules-coverage.md is out of date: run node --import tsx scripts/rules-coverage.mjs";
  expect(page, message).toBe(await coveragePage());
}, 120_000);
