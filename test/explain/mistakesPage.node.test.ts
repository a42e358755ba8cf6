/** docs/why.md lists every known mistake, and no other. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { MISTAKE_NAMES } from "../../src/explain/repair/mistake.js";

it("lists every known mistake once", () => {
  const page = readFileSync(new URL("../../docs/why.md", import.meta.url), "utf8");
  const [, section = ""] = /\n## Known mistakes\n(.*?)\n## /s.exec(page) ?? [];
  const listed = [...section.matchAll(/^\|(.+?)\|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([\w-]+)`/g)].map(([, name]) => name),
  );
  expect(listed.sort()).toEqual([...MISTAKE_NAMES].sort());
});
