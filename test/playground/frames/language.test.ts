/** The language of the filter: what it says, what it refuses, and that every filter can be written in it. */
import { describe, expect, it } from "vitest";
import type { FrameFilter } from "../../../playground/src/engine/api.js";
import { filterText, parseFilter, VERDICTS } from "../../../playground/src/frames/filter/language.js";
import { suggestionsOf } from "../../../playground/src/frames/filter/suggest.js";
import { Random } from "../../oracle/generate/random.js";

describe("parseFilter", () => {
  it.each<[string, FrameFilter]>([
    ["", {}],
    ["  10.0.0.7   vxlan ", { text: "10.0.0.7 vxlan" }],
    [
      'verdict:miss,drop rule:"net 5001" to:qp:blue reason:no_rule changed tcp',
      { verdicts: ["miss", "drop"], rule: "net 5001", to: "qp:blue", reason: "no_rule", changed: true, text: "tcp" },
    ],
    ["VERDICT:Miss", { verdicts: ["miss"] }],
    ["fe80::1 dead:beef::2 2001:db8::", { text: "fe80::1 dead:beef::2 2001:db8::" }],
    ['"changed" "rule:x"', { text: "changed rule:x" }],
    ['rule:"a \\"b\\" \\\\"', { rule: 'a "b" \\' }],
  ])("%s", (text, filter) => {
    expect(parseFilter(text)).toEqual({ error: null, filter });
  });

  it.each([
    ["tcp verdict:mist", 4, 16, /"mist" is not a verdict: use deliver/],
    ["tcp:443", 0, 7, /unknown condition "tcp"/],
    ["rule:a rule:b", 7, 13, /given twice/],
    ["to: x", 0, 3, /needs a value/],
    ['rule:"net', 0, 9, /quote is not closed/],
  ])("refuses %s", (text, from, to, message) => {
    const { error } = parseFilter(text);
    expect(error).toEqual({ from, to, text: expect.stringMatching(message) });
  });

  it("reads what filterText writes", () => {
    const random = new Random(21);
    const letters = ["a", "B", "7", ":", '"', "\\", ",", ".", "-", "changed", "rule:", "to"];
    const word = (): string => Array.from({ length: random.below(4) + 1 }, () => random.pick(letters)).join("");
    const some = (): string => Array.from({ length: random.below(3) + 1 }, word).join(" ");
    for (let i = 0; i < 5000; i++) {
      const verdicts = VERDICTS.filter(() => random.chance(0.4));
      const filter: FrameFilter = {
        ...(verdicts.length > 0 && random.chance(0.5) && { verdicts }),
        ...(random.chance(0.5) && { rule: some() }),
        ...(random.chance(0.5) && { to: some() }),
        ...(random.chance(0.3) && { change: JSON.stringify([some(), null]) }),
        ...(random.chance(0.3) && { changed: true }),
        ...(random.chance(0.5) && { text: some() }),
      };
      const text = filterText(filter);
      expect(parseFilter(text), text).toEqual({ error: null, filter });
    }
  });
});

describe("suggestionsOf", () => {
  it("suggests conditions, and writes one in place of what was begun", () => {
    expect(suggestionsOf("tcp ver x", 7, null, false)).toEqual([
      expect.objectContaining({ text: "verdict:", from: 4, to: 7, more: true }),
    ]);
    expect(suggestionsOf("cha", 3, null, false)).toEqual([]);
    expect(suggestionsOf("cha", 3, null, true).map(({ text }) => text)).toEqual(["changed "]);
  });
});
