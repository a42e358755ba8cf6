/** What tshark has read in annotated captures (scripts/golden-comments.mjs): the captures are the same, byte by byte. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { annotated, textOf } from "./support/annotated.js";
import { blocksOf, commentsOf } from "./support/blocks.js";
import { caseOf, COMMENT_CASES } from "./support/commentCases.js";

interface Golden {
  name: string;
  sha256: string;
  comments: readonly (readonly string[])[];
}

const GOLDEN = JSON.parse(
  readFileSync(new URL("../golden/comments.json", import.meta.url), "utf8"),
) as readonly Golden[];

it("has all cases", () => {
  expect(GOLDEN.map(({ name }) => name)).toEqual(COMMENT_CASES);
});

it.each(GOLDEN)("$name", ({ name, sha256, comments }) => {
  const copy = annotated(caseOf(name));
  const packets = blocksOf(copy).filter(({ type }) => type === 6 || type === 2);
  expect(packets.map(commentsOf)).toEqual(comments);
  expect(comments.map(([first]) => first)).toEqual(comments.map((_, i) => textOf(i + 1)));
  expect(createHash("sha256").update(copy).digest("hex")).toBe(sha256);
});
