/** docs/check.md lists every identity of a finding with its severity, and no other. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { IDENTITIES } from "../../src/cli/check/identities.js";
import { root } from "./support/command.js";

it("lists every identity once, with its severity", () => {
  const page = readFileSync(join(root, "docs/check.md"), "utf8");
  const listed = [...page.matchAll(/^### `([\w-]+)` \((error|warning|note)(?:, repaired)?\)$/gm)];
  expect(listed.map(([, id, severity]) => ({ id, severity })).sort(byId)).toEqual([...IDENTITIES].sort(byId));
  expect([...page.matchAll(/^### /gm)].length).toBe(listed.length);
});

function byId(a: { readonly id?: string | undefined }, b: { readonly id?: string | undefined }): number {
  return (a.id ?? "") < (b.id ?? "") ? -1 : 1;
}
