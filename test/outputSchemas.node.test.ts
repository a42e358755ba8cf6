/** schema/: what commands print with --json. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { outputSchemas } from "../scripts/output-schemas.mjs";

test("schemas are made from the types of the lines (node scripts/output-schemas.mjs)", () => {
  const all = outputSchemas();
  expect(all.length).toBeGreaterThan(3);
  for (const [name, text] of all) {
    const file = new URL(`../schema/${name}.schema.json`, import.meta.url);
    expect(readFileSync(file, "utf8"), name).toBe(text);
  }
});
