#!/usr/bin/env node
/**
 * Plants faults and asks whether the tests notice: each one that they do not is a hole in them.
 *
 *   npm run test:mutants -- PATH...           files or folders of assembly/ or src/
 *
 *   --sample N       mutants of each path of assembly/, drawn at random; all by default
 *   --seed S         draws the same again
 *   --again          those mutants of the paths of assembly/ that survived the last run
 *   --budget S       seconds of tests that a mutant of assembly/ has to survive; 20 by default
 *   --tests PATH     runs only these tests, may stand several times; by default all for assembly/, and test/X for src/X/...
 *   --fresh          records again which tests reach which mutants of assembly/
 *   --least PERCENT  exits 1 below this score
 *
 * Prints the survivors and a score for each path. scripts/mutation/equivalent.json lists the mutants that no test can notice.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { mutateCore } from "./mutation/core.mjs";
import { mutateHost } from "./mutation/stryker.mjs";

const { values: options, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: "string", default: "Infinity" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    again: { type: "boolean", default: false },
    budget: { type: "string", default: "20" },
    tests: { type: "string", multiple: true, default: [] },
    fresh: { type: "boolean", default: false },
    least: { type: "string", default: "0" },
  },
});
if (paths.length === 0 || paths.some((path) => !/^(assembly|src)(\/|$)/.test(path))) {
  process.stderr.write("mutants: give files or folders of assembly/ or src/\n");
  process.exit(2);
}
// The compiler looks for options of its own among the arguments.
process.argv.length = 2;
const { status } = spawnSync(process.execPath, ["scripts/build.mjs", "--tests"], { stdio: "inherit" });
if (status !== 0) process.exit(2);

const rows = [];
for (const path of paths) {
  const { all, tried, survivors, equivalent, lost } = await mutate(path);
  for (const { file, mutant } of lost) console.log(`equivalent.json: no mutant, or several: ${file}  ${mutant}`);
  for (const { file, line, key, reached } of survivors) {
    console.log(`${file}:${line}  ${key}${reached ? "" : "  (no test reaches it)"}`);
  }
  const caught = tried.length - survivors.length;
  const score = tried.length === 0 ? 100 : (100 * caught) / tried.length;
  rows.push([path, all, tried.length, caught, equivalent, `${score.toFixed(1)} %`]);
  if (score < Number(options.least)) process.exitCode = 1;
}
console.log("\n| path | mutants | tried | caught | equivalent | score |\n| --- | --- | --- | --- | --- | --- |");
for (const row of rows) console.log(`| ${row.join(" | ")} |`);

/** The folders of tests of a folder of `src/`. */
function testsOf(room) {
  if (room === "formats") return ["test/import", "test/export"];
  return [existsSync(`test/${room}`) ? `test/${room}` : "test"];
}

function mutate(path) {
  if (path.startsWith("src")) {
    return mutateHost(path, options.tests.length > 0 ? options.tests : testsOf(path.split("/")[1]));
  }
  process.stderr.write(`mutants: ${path}, --seed ${options.seed}\n`);
  return mutateCore(path, {
    sample: Number(options.sample),
    random: randomFrom(Number(options.seed)),
    budget: Number(options.budget) * 1000,
    tests: options.tests.length > 0 ? options.tests : ["test"],
    fresh: options.fresh,
    again: options.again,
  });
}

function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
