/** JSON text: the values of JSON.parse, and the place of what is wrong. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJson } from "../../src/scenario/json.js";
import { rounds } from "../support/tier.js";
import { inCall } from "../../src/errors.js";

const read = (text: string): unknown => inCall("test", () => parseJson(text));

describe("parseJson", () => {
  it("reads what JSON.parse reads", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 2, "\t"), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(read(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: rounds(500) },
    );
  });

  it("refuses what JSON.parse refuses", () => {
    const pieces = [
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"',
      "1",
      "-",
      "01",
      "true",
      "nul",
      " ",
      "\\",
      "'x'",
      "1e5",
      ".5",
    ];
    const key = '"k":1';
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces, key), { maxLength: 8 }), (parts) => {
        const text = parts.join("");
        let expected: { value: unknown } | undefined;
        try {
          expected = { value: JSON.parse(text) };
        } catch {
          // No JSON.
        }
        const twice = (text.match(/"k":/g) ?? []).length > 1 || (text.match(/"a"/g) ?? []).length > 1;
        if (expected === undefined) expect(() => read(text), text).toThrow();
        else if (!twice) expect(read(text), text).toEqual(expected.value);
      }),
      { numRuns: rounds(3000) },
    );
  });

  it.each([
    ["", "test: line 1, column 1: the text is not JSON (EINVAL); the text ends before the document does"],
    [
      '{\n  "a": 1,\n}',
      'test: line 3, column 1 = "}": the text is not JSON (EINVAL); a key in double quotes stands here; no comma follows the last one',
    ],
    ['{"a" 1}', 'test: line 1, column 6 = "1": the text is not JSON (EINVAL); a colon follows the key "a"'],
    [
      '{"a": 1 "b": 2}',
      'test: line 1, column 9 = "\\"b\\"": the text is not JSON (EINVAL); a comma or } follows the value of "a"',
    ],
    ["[1 2]", 'test: line 1, column 4 = "2": the text is not JSON (EINVAL); a comma or ] follows a value of a list'],
    [
      "[1,]",
      'test: line 1, column 4 = "]": the text is not JSON (EINVAL); a value is text in double quotes, a number, true, false, null, { or [',
    ],
    ["{} {}", 'test: line 1, column 4 = "{": the text is not JSON (EINVAL); one document ends here, and more follows'],
    [
      '{"x": [{"a": 1,\n "a": 2}]}',
      "test: x[0].a (line 2, column 2): two objects have the same name (EINVAL); write the key once",
    ],
  ])("says where: %j", (text, message) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ message }));
  });

  it("refuses what is deeper than any document", () => {
    expect(() => read("[".repeat(100_000))).toThrow(/at most 64 levels deep/);
  });
});
