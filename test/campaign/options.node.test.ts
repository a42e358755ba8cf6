/** The command line of a campaign. */
import { expect, it, test } from "vitest";
import { BadUsage, readOptions, usage } from "./runner/options.js";
import { TARGETS } from "./targets/index.js";

test("without options: all targets for an hour", () => {
  const { seed, ...rest } = readOptions([]);
  expect(rest).toEqual({ targets: TARGETS, hours: 1, jobs: 1 });
  expect(Number.isInteger(seed)).toBe(true);
});

test("with options", () => {
  const { targets, ...rest } = readOptions(["rules", "--hours", "0.1", "parser", "--seed", "7", "--jobs", "2"]);
  expect(targets.map(({ name }) => name)).toEqual(["rules", "parser"]);
  expect(rest).toEqual({ hours: 0.1, seed: 7, jobs: 2 });
});

it.each([
  [["--hour", "1"], /^Unknown option '--hour'/],
  [["--hours"], /^Option '--hours <value>' argument missing/],
  [["--hours", "long"], /^--hours long: a number, 0 to 1000000$/],
  [["--seed", "-1"], /^Option '--seed' argument is ambiguous/],
  [["--jobs", "1.5"], /^--jobs 1.5: a whole number$/],
  [["ruels"], /^no target ruels: parser, frames, /],
])("refuses %j in one line", (args, message) => {
  const read = (): unknown => readOptions(args);
  expect(read).toThrow(BadUsage);
  expect(read).toThrow(message);
  expect(read).not.toThrow(/\n/);
});

test("usage names every option and every target with what must hold", () => {
  const text = usage().replace(/\s+/g, " ");
  for (const option of ["--hours", "--seed", "--jobs", "--report", "--help"]) expect(text).toContain(` ${option} `);
  for (const { name, about } of TARGETS) expect(text).toContain(` ${name} ${about.replace(/\s+/g, " ")}`);
  expect(
    Math.max(
      ...usage()
        .split("\n")
        .map(({ length }) => length),
    ),
  ).toBeLessThanOrEqual(104);
});
