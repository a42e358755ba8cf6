// Runs rdma-core's own flow-steering tests on flowsteer and prints a table (test/rdma-core/README.md):
//
//     node --import tsx scripts/rdma-core-tests.mjs [--tests FOLDER] [--profile NAME]... [--verbose]
//         [--golden] [NAME]...
//
// FOLDER has rdma-core's folder `tests`; without it, the pinned commit is fetched into build/. NAMEs
// are modules or tests. --golden writes test/golden/rdma-core.json.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { findPython, MODULES, RDMA_CORE_COMMIT, runTests } from "../test/rdma-core/runTests.ts";

const PROFILES = ["manual", "connectx5", "connectx6dx", "connectx7", "connectx8"];
const SIGNS = { passed: "ok", skipped: "skip", failed: "FAIL" };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tests: { type: "string" },
    profile: { type: "string", multiple: true },
    verbose: { type: "boolean", default: false },
    golden: { type: "boolean", default: false },
  },
});

const python = findPython();
if (python === undefined) throw new Error("no Python 3.10 with scapy: install python3-scapy, or set PYTHON");
const folder = values.tests ?? fetched();
const profiles = values.profile ?? PROFILES;
const names = positionals.length > 0 ? positionals : MODULES;

const columns = profiles.map((profile) => runTests(python, folder, profile, names));
const tests = (columns[0] ?? []).map(({ test }) => test);

const width = Math.max(...tests.map((test) => test.length));
console.log(["".padEnd(width), ...profiles].join("  "));
for (const [i, test] of tests.entries()) {
  const signs = columns.map((column, j) => SIGNS[column[i].outcome].padEnd(profiles[j].length));
  console.log([test.padEnd(width), ...signs].join("  "));
}
const passed = columns.map((column) => column.filter(({ outcome }) => outcome === "passed").length);
const sums = passed.map((count, i) => `${count} of ${tests.length}`.padEnd(profiles[i].length));
console.log(["passed".padEnd(width), ...sums].join("  "));
for (const [i, column] of columns.entries()) {
  for (const { test, outcome, reason } of notPassed(column)) {
    console.log(`\n${profiles[i]} ${test}: ${outcome}: ${values.verbose ? `\n${reason}` : lastLine(reason)}`);
  }
}
if (values.golden) writeGolden();
process.exitCode = passed.every((count) => count === tests.length) ? 0 : 1;

function notPassed(column) {
  return column.filter(({ outcome }) => outcome !== "passed");
}

function lastLine(reason) {
  return reason.trim().split("\n").at(-1);
}

function writeGolden() {
  const others = columns.map((column) =>
    notPassed(column).map((one) => [one.test, { outcome: one.outcome, reason: lastLine(one.reason) }]),
  );
  const golden = {
    source: `tests of https://github.com/linux-rdma/rdma-core at ${RDMA_CORE_COMMIT}`,
    command: "node --import tsx scripts/rdma-core-tests.mjs --golden",
    tests,
    notPassed: Object.fromEntries(profiles.map((profile, i) => [profile, Object.fromEntries(others[i])])),
  };
  writeFileSync("test/golden/rdma-core.json", `${JSON.stringify(golden, null, 2)}\n`);
}

/** The folder with the tests of the pinned commit. */
function fetched() {
  const path = `build/rdma-core/${RDMA_CORE_COMMIT}`;
  if (existsSync(`${path}/tests`)) return path;
  mkdirSync(path, { recursive: true });
  const git = (...args) => execFileSync("git", ["-C", path, ...args], { stdio: ["ignore", "ignore", "inherit"] });
  git("init", "--quiet");
  git("sparse-checkout", "set", "tests");
  git(
    "fetch",
    "--quiet",
    "--depth=1",
    "--filter=blob:none",
    "https://github.com/linux-rdma/rdma-core",
    RDMA_CORE_COMMIT,
  );
  git("checkout", "--quiet", "FETCH_HEAD");
  return path;
}
