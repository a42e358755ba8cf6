/** Places in documents, and edits that change only what they say. */
import * as fc from "fast-check";
import { applyEdits } from "jsonc-parser";
import { expect, test } from "vitest";
import { addFrame, addRule, remove, replaceFrame, setValue } from "../../../playground/src/state/edits.js";
import { documentOf, editsBetween } from "../../../playground/src/text/json.js";
import {
  nearestPlace,
  objectAt,
  pathAt,
  pathOf,
  placeOf,
  rangeOf,
  type Steps,
} from "../../../playground/src/text/places.js";
import { below } from "../../../src/scenario/schema/path.js";

/** Keys as documents have them: with dots, and some that paths quote. */
const KEY = fc.oneof(
  fc.constantFrom("rules", "match", "outer.ipv4_dst", "outer", "outer.tcp_dport", "a.b", "a", "b", "$ref", "x-1"),
  fc.string({ maxLength: 4 }).filter((key) => key !== "__proto__"),
);

const DOCUMENT = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue({ maxDepth: 0 }),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("object"),
  ),
  object: fc.dictionary(KEY, tie("value"), { maxKeys: 5 }),
})).object;

/** Ways in which a document is written. */
const TEXT = fc
  .tuple(DOCUMENT, fc.constantFrom<string | number>(0, 2, 4, "\t"), fc.constantFrom("\n", "\r\n"))
  .map(([document, indent, line]) => ({
    document: JSON.parse(JSON.stringify(document)) as Record<string, unknown>,
    text: JSON.stringify(document, null, indent).replaceAll("\n", line),
  }));

interface Found {
  readonly steps: Steps;
  readonly path: string;
  readonly value: unknown;
}

/** Every value below the document. */
function valuesOf(value: unknown, steps: Steps = [], path = ""): Found[] {
  const own = path === "" ? [] : [{ steps, path, value }];
  if (typeof value !== "object" || value === null) return own;
  const entries: (readonly [string | number, unknown])[] = Array.isArray(value)
    ? value.map((one, i) => [i, one] as const)
    : Object.entries(value);
  return [...own, ...entries.flatMap(([key, one]) => valuesOf(one, [...steps, key], below(path, key)))];
}

/** A path can mean two places where keys contain dots: then the engine means one of them. */
const isUnique = (all: readonly Found[], path: string): boolean => all.filter((one) => one.path === path).length === 1;

test("a path finds the text of its value, and the text its path", () => {
  fc.assert(
    fc.property(TEXT, ({ document, text }) => {
      const all = valuesOf(document);
      for (const { path, steps, value } of all) {
        expect(pathOf(steps)).toBe(path);
        if (!isUnique(all, path)) continue;
        const range = rangeOf(text, path);
        expect(range, path).not.toBeNull();
        const { from, to } = range ?? { from: 0, to: 0 };
        expect(JSON.parse(text.slice(from, to))).toEqual(value);
        expect(pathAt(text, from)).toSatisfy((at: string) => at.startsWith(path));
        const key = placeOf(text, path)?.key;
        if (typeof steps.at(-1) === "number") expect(key).toBeNull();
        else expect(JSON.parse(text.slice(key?.from, key?.to))).toBe(steps.at(-1));
        expect(rangeOf(text, `${path}.nowhere at all`)).toBeNull();
      }
    }),
  );
});

test("a path that the document does not have finds what is above it", () => {
  const text = '{"rules": [{"name": "a", "match": {"outer.ipv4_dst": 1}}]}';
  expect(nearestPlace(text, "rules[0].match.outer.ipv4_dst")?.path).toBe("rules[0].match.outer.ipv4_dst");
  expect(nearestPlace(text, "rules[0].match.outer.ipv4_src")?.path).toBe("rules[0].match");
  expect(nearestPlace(text, "rules[0].table")?.path).toBe("rules[0]");
  expect(nearestPlace(text, "rules[3].name")?.path).toBe("rules");
  expect(nearestPlace(text, "queues")?.path).toBe("");
  expect(nearestPlace("", "queues")).toBeNull();
});

test("the object at an offset is one of a section", () => {
  const text = '{"title": "x", "rules": [{"name": "a"}, {"name": "b"}], "device": {"ports": 2}}';
  expect(objectAt(text, text.indexOf('"b"'))).toBe("rules[1]");
  expect(objectAt(text, text.indexOf('"x"'))).toBeNull();
  expect(objectAt(text, text.indexOf("ports"))).toBeNull();
  expect(objectAt(text, text.indexOf('"rules"'))).toBeNull();
});

test("text that is not whole has the places that it has", () => {
  const text = '{"rules": [{"name": "a", "match": {';
  expect(pathAt(text, text.indexOf('"a"'))).toBe("rules[0].name");
  expect(rangeOf(text, "rules[0].name")).toEqual({ from: text.indexOf('"a"'), to: text.indexOf('"a"') + 3 });
  expect(pathAt("[".repeat(1_000_000), 5)).toBe("");
});

test("an edit changes only what it says", () => {
  fc.assert(
    fc.property(TEXT, fc.nat(), fc.jsonValue({ maxDepth: 2 }), ({ document, text }, drawn, value) => {
      const all = valuesOf(document);
      const found = all[drawn % Math.max(all.length, 1)];
      if (found === undefined || !isUnique(all, found.path)) return;
      const after = applyEdits(text, setValue(text, found.path, value) ?? []);
      expect(JSON.parse(after)).toEqual(withAt(document, found.steps, value));
      const less = applyEdits(text, remove(text, found.path) ?? []);
      expect(JSON.parse(less)).toEqual(withAt(document, found.steps, undefined));
    }),
  );
});

/** A copy of the document with a value put at a place, or taken away. */
function withAt(document: unknown, [step, ...rest]: Steps, value: unknown): unknown {
  if (step === undefined) return JSON.parse(JSON.stringify(value));
  if (Array.isArray(document)) {
    if (rest.length === 0 && value === undefined) return document.toSpliced(step as number, 1);
    return document.with(step as number, withAt(document[step as number], rest, value));
  }
  const entries = Object.entries(document as object);
  return Object.fromEntries(
    entries.flatMap(([key, one]) => {
      if (key !== step) return [[key, one]];
      return rest.length === 0 && value === undefined ? [] : [[key, withAt(one, rest, value)]];
    }),
  );
}

test("rules and frames come last, in a section that is made where it is missing", () => {
  fc.assert(
    fc.property(TEXT, fc.boolean(), ({ document, text }, empty) => {
      const rule = { name: "new", table: "root", match: { "outer.tcp_dport": 80 }, actions: [{ queue: "web" }] };
      const given = Array.isArray(document["rules"]) ? document["rules"] : [];
      const before = empty ? '{ "flowsteer": 1 }' : applyEdits(text, setValue(text, "rules", given) ?? []);
      const after = applyEdits(before, addRule(before, rule) ?? []);
      const list = (JSON.parse(before) as { rules?: unknown[] }).rules ?? [];
      expect(JSON.parse(after)).toEqual({ ...(JSON.parse(before) as object), rules: [...list, rule] });
    }),
  );
});

const WRITTEN = `{
  "flowsteer": 1,
  "queues": [{ "name": "web" }],
  "frames": [
    {
      "name": "first",
      "hex": "00"
    }
  ]
}
`;

test("the document keeps its style", () => {
  expect(applyEdits(WRITTEN, addFrame(WRITTEN, { name: "second", hex: "0102" }) ?? [])).toBe(
    WRITTEN.replace("    }\n  ]", '    },\n    { "name": "second", "hex": "0102" }\n  ]'),
  );
  expect(applyEdits(WRITTEN, setValue(WRITTEN, "queues[0].name", "db") ?? [])).toBe(WRITTEN.replace("web", "db"));
  expect(applyEdits(WRITTEN, replaceFrame(WRITTEN, 1, { hex: "ff" }) ?? [])).toContain('    { "hex": "ff" }\n');
  const long = Array.from({ length: 4 }, (_, i) => ({ header: `header number ${i}` }));
  expect(applyEdits(WRITTEN, addFrame(WRITTEN, { headers: long }) ?? [])).toContain(
    `    },
    {
      "headers": [
        { "header": "header number 0" },
`,
  );
});

test("text of which nothing can be read takes no edit", () => {
  for (const text of ["", "[", "[]", "1"]) expect(addRule(text, { name: "x" })).toBeNull();
  expect(remove(WRITTEN, "rules[7]")).toBeNull();
});

test("the edit between two texts makes one of the other", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (begin, one, other, end) => {
      const [before, after] = [begin + one + end, begin + other + end];
      expect(applyEdits(before, editsBetween(before, after))).toBe(after);
    }),
  );
});

test("a document that is no scenario is no trap", () => {
  expect(documentOf('{"__proto__": {"x": 1}}')).not.toHaveProperty("x");
});
