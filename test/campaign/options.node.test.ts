/** The command line of a campaign. */
import { expect, it, test } from "vitest";
import { BadUsage, readOptions, usage } from "./runner/options.js";
import { STAGES } from "./runner/stages.js";
import { TARGETS } from "./targets/index.js";

test("without options: all targets for an hour", () => {
  const { seed, ...rest } = readOptions([]);
  expect(rest).toEqual({ targets: TARGETS, hours: 1, jobs: 1, stages: STAGES, until: Infinity });
  expect(Number.isInteger(seed)).toBe(true);
});

test("with options", () => {
  const line = "rules --hours 0.1 parser --seed 7 --jobs 2 --stage checked --stage release --until 1e6";
  const { targets, ...rest } = readOptions(line.split(" "));
  expect(targets.map(({ name }) => name)).toEqual(["rules", "parser"]);
  expect(rest).toEqual({ hours: 0.1, seed: 7, jobs: 2, stages: ["checked", "release"], until: 1e6 });
});

it.each([
  [["--hour", "1"], /^Unknown option '--hour'/],
  [["--hours"], /^Option '--hours <value>' argument missing/],
  [["--hours", "long"], /^--hours long: a number, 0 to 1000000$/],
  [["--seed", "-1"], /^Option '--seed' argument is ambiguous/],
  [["--jobs", "1.5"], /^--jobs 1.5: a whole number$/],
  [["--stage", "fast"], /^--stage fast: guided, checked, release$/],
  [["rules", "times", "--stage", "checked"], /^--stage checked: times has release$/],
  [["--until", "0"], /^--until 0: a number, 1 to Infinity$/],
  [["ruels"], /^no target ruels: parser, frames, /],
])("refuses %j in one line", (args, message) => {
  const read = (): unknown => readOptions(args);
  expect(read).toThrow(BadUsage);
  expect(read).toThrow(message);
  expect(read).not.toThrow(/\n/);
});

test("usage names every option and every target with what must hold", () => {
  const text = usage().replace(/\s+/g, " ");
  for (const option of ["--hours", "--seed", "--jobs", "--stage", "--until", "--report", "--help"])
    expect(text).toContain(` ${option} `);
  for (const { name, about } of TARGETS) expect(text).toContain(` ${name} ${about.replace(/\s+/g, " ")}`);
  expect(
    Math.max(
      ...usage()
        .split("\n")
        .map(({ length }) => length),
    ),
  ).toBeLessThanOrEqual(104);
});
