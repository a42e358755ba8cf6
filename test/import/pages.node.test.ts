/** The tables of docs/import/ are those of the importers. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { importPages } from "../../scripts/importPages.js";

const pages = Object.entries(await importPages());

it.each(pages)("%s is up to date: npm run docs:pages", (path, text) => {
  expect(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")).toBe(text);
});
