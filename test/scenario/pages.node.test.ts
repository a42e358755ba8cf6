/** The pages that are made from the definitions of scenarios. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { scenarioPages } from "../../scripts/scenarioPages.js";

const pages = Object.entries(scenarioPages());

it.each(pages)("%s is up to date: npm run docs:pages", (path, text) => {
  expect(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")).toBe(text);
});
