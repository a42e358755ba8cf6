/** docs/security.md: each promise names a test that is there. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/root.js";

const page = readFileSync(join(ROOT, "docs/security.md"), "utf8");

test("each row of a promise or a limit names a test that is there", () => {
  const rows = page.split("\n").filter((line) => line.startsWith("|") && !/^\|\s*(-|input|who)/.test(line));
  expect(rows.length).toBeGreaterThan(15);
  for (const row of rows) {
    const tests = [...row.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path]) => path ?? "");
    expect(tests.length, row).toBeGreaterThan(0);
    for (const path of tests) expect(existsSync(join(ROOT, path)), path).toBe(true);
  }
});
