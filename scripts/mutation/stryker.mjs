/** Mutates the host with Stryker (https://stryker-mutator.io). */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { matchEquivalent, readEquivalent } from "./equivalent.mjs";

const REPORT = "build/mutation/stryker.json";
const CONFIG = "build/mutation/stryker.config.json";

/** Gives the same as `mutateCore`, with the tests below these folders. Stryker draws no samples. */
export function mutateHost(path, tests) {
  const options = {
    mutate: [statSync(path).isDirectory() ? `${path.replace(/\/$/, "")}/**/*.ts` : path],
    testFiles: tests.map((path) => (path.endsWith(".ts") ? path : `${path}/**/*.test.ts`)),
    plugins: ["@stryker-mutator/vitest-runner"],
    testRunner: "vitest",
    vitest: { configFile: "scripts/mutation/vitest.config.ts" },
    // Mutants of what a module does when it is loaded would run all tests.
    ignoreStatic: true,
    // Tests read no pages and no reports.
    ignorePatterns: ["build/mutation", "build/bench", "build/ci", "coverage"],
    tempDirName: "build/mutation/stryker",
    symlinkNodeModules: true,
    concurrency: 1,
    dryRunTimeoutMinutes: 60,
    timeoutMS: 30_000,
    reporters: ["json", "progress"],
    jsonReporter: { fileName: REPORT },
    // Vitest strips types and checks none.
    disableTypeChecks: false,
    allowEmpty: true,
  };
  mkdirSync(dirname(CONFIG), { recursive: true });
  writeFileSync(CONFIG, JSON.stringify(options));
  const { status } = spawnSync(process.execPath, ["node_modules/@stryker-mutator/core/bin/stryker.js", "run", CONFIG], {
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("Stryker failed: see above");
  return read(JSON.parse(readFileSync(REPORT, "utf8")));
}

function read({ files }) {
  const all = Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants.map((one) => ({ ...one, ...named(file, source, one) })),
  );
  const tried = all.filter(({ status }) => !["Ignored", "CompileError", "RuntimeError"].includes(status));
  const { reasons, lost } = matchEquivalent(
    readEquivalent().filter(({ file }) => file in files),
    tried,
  );
  const counted = tried.filter((one) => !reasons.has(one));
  const isCaught = ({ status }) => status === "Killed" || status === "Timeout";
  return {
    tried: counted,
    all: tried.length,
    equivalent: reasons.size,
    lost,
    survivors: counted.filter((one) => !isCaught(one)).map((one) => ({ ...one, reached: one.status !== "NoCoverage" })),
  };
}

/** The place and the change, as those of the core have them. */
function named(file, source, { location: { start, end }, replacement }) {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column - 1);
  lines[0] = lines[0].slice(start.column - 1);
  const from = lines.join(" ").replace(/\s+/g, " ");
  const to = replacement.replace(/\s+/g, " ");
  return { file, line: start.line, function: "", key: `: ${from} → ${to}` };
}
