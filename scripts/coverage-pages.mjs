#!/usr/bin/env node
/**
 * Writes what the tests assert of each field, function and action under each profile: build/pages/flow-coverage.md and
 * build/pages/rules-coverage.md. Runs the cases that test/verbs/coverage and test/mlx5dv/coverage run; a case that fails
 * ends it.
 *
 *     npm run coverage:pages
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { coveragePage as rulesPage } from "../test/mlx5dv/coverage/support/table.ts";
import { coveragePage as flowPage } from "../test/verbs/coverage/support/table.ts";

const folder = new URL("../build/pages/", import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [name, page] of [
  ["flow-coverage.md", flowPage],
  ["rules-coverage.md", rulesPage],
]) {
  writeFileSync(new URL(name, folder), await page());
}
