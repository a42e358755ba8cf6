/** Numbers and words of the totals. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { objectOf } from "../../../playground/src/answers/expectationPath.js";
import { REASON_TEXTS } from "../../../playground/src/answers/reasons.js";
import { sharesText, shareText, timeText, tookText } from "../../../playground/src/parts/format.js";

test.each([
  [0, 86, "0 %"],
  [0, 0, "0 %"],
  [86, 86, "100 %"],
  [43, 86, "50 %"],
  [1, 3, "33 %"],
  [2, 10_000, "0.02 %"],
  [1, 2_588_514, "< 0.01 %"],
  [2_588_513, 2_588_514, "> 99.99 %"],
  [9_996, 10_000, "99.96 %"],
  [995, 1000, "99.5 %"],
  [5, 1000, "0.5 %"],
])("%i of %i are %s: only nothing is 0 %, only everything is 100 %", (part, whole, text) => {
  expect(shareText(part, whole)).toBe(text);
});

test.each([
  [
    [1, 1, 1],
    ["34 %", "33 %", "33 %"],
  ],
  [
    [2, 1],
    ["67 %", "33 %"],
  ],
  [[86], ["100 %"]],
  [
    [0, 0],
    ["0 %", "0 %"],
  ],
  [
    [9_999, 1],
    ["99.99 %", "0.01 %"],
  ],
])("parts of %j are %j", (parts, texts) => {
  const whole = parts.reduce((sum, one) => sum + one, 0);
  expect(sharesText(parts, whole)).toEqual(texts);
});

test("no share of a large number but nothing and everything is said to be nothing or everything", () => {
  const parts = Array.from({ length: 99_999 }, (_, i) => i + 1);
  expect(parts.filter((part) => /^(0|100) %$/.test(shareText(part, 100_000)))).toEqual([]);
});

test.each([
  [0.4, "under 1 ms"],
  [4.4, "4 ms"],
  [999, "999 ms"],
  [1300, "1.3 s"],
])("work of %d milliseconds took %s", (milliseconds, text) => {
  expect(tookText(milliseconds)).toBe(text);
});

test.each([
  [0.000_512, "512 µs"],
  [0.0205, "20.5 ms"],
  [1.5, "1.5 s"],
])("%d seconds are %s", (seconds, text) => {
  expect(timeText(seconds)).toBe(text);
});

test("reasons have the words of docs/errors.md", () => {
  const page = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| \d+ +\| `(\w+)` +\| (.*?) +\|$/gm)].slice(-Object.keys(REASON_TEXTS).length);
  expect(Object.fromEntries(rows.map(([, reason, text]) => [reason, text]))).toEqual(REASON_TEXTS);
});

test.each([
  ["expect.frames[2].verdict", "expect.frames[2]"],
  ["expect.frames[2].beyond.port:1.to", "expect.frames[2]"],
  ["expect.counters.web-frames.packets", "expect.counters.web-frames"],
  ['expect.counters["a b"].packets', 'expect.counters["a b"]'],
])("%s belongs to %s", (path, object) => {
  expect(objectOf(path)).toBe(object);
});
