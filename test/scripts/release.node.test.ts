/** What `npm run release` refuses before it does anything. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { ROOT } from "../support/root.js";

test.each([
  ["no version", ["--dry-run"], /usage: npm run release -- VERSION/],
  ["a bad version", ["next", "--dry-run"], /usage: npm run release -- VERSION/],
  ["a version that the changelog does not have", ["999.0.0", "--dry-run"], /write what 999\.0\.0 brings/],
])("refuses %s", (_, args, text) => {
  const { status, stderr } = spawnSync(process.execPath, ["scripts/release.mjs", ...args], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect(stderr).toMatch(text);
  expect(status).toBe(1);
});
