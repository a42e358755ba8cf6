import { expect, test } from "vitest";
import { jsonPieces } from "../../src/cli/output/jsonPieces.js";

test.each([
  {},
  { a: 1, b: "two\nlines", c: null, d: true },
  { empty: [], none: {}, nested: { list: [1, { x: [] }] } },
  { list: [1, "text\n", [], [2, { y: { z: "\\n" } }], {}] },
])("pieces of %j make the text of JSON.stringify", (document) => {
  expect([...jsonPieces(document)].join("")).toBe(`${JSON.stringify(document, null, 2)}\n`);
});

test("a long document is several pieces", () => {
  const document = { rules: Array.from({ length: 100_000 }, (_, n) => ({ name: `rule ${n}` })) };
  const pieces = [...jsonPieces(document)];
  expect(pieces.length).toBeGreaterThan(2);
  expect(pieces.join("")).toBe(`${JSON.stringify(document, null, 2)}\n`);
});
