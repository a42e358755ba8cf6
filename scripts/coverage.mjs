#!/usr/bin/env node
/**
 * `npm run coverage [-- --add] [ARGUMENTS OF vitest]` runs the Node tests on the coverage core, and prints the coverage of
 * src/ and of the core. It fails if a test fails, and if a statement or a branch of the core is neither reached nor
 * explained (scripts/coverage-report.mjs), or is reached although it is explained.
 *
 *   --add   adds to what earlier runs on this core have reached
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { divide, explanationsIn } from "./coverage-report.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const BUILT = "build/coverage/";
const REACHED = `${BUILT}reached/`;

/** The points that the compiled core has: it leaves out functions that are not called. */
async function compiledPoints() {
  const { default: binaryen } = await import("assemblyscript/binaryen");
  const text = binaryen.readBinary(readFileSync(`${BUILT}core.wasm`)).emitText();
  const [, hit] = /\(import "coverage" "hit" \(func (\S+)/.exec(text);
  const calls = text.split(`(call ${hit}`).slice(1);
  return new Set(calls.map((call) => Number(/i32\.const (\d+)/.exec(call)[1])));
}

/** @returns {Promise<boolean>} whether each point is either reached or explained */
async function report() {
  const compiled = await compiledPoints();
  const all = JSON.parse(readFileSync(`${BUILT}points.json`, "utf8"));
  const reached = new Set();
  for (const name of readdirSync(REACHED)) {
    JSON.parse(readFileSync(REACHED + name, "utf8")).forEach((one, i) => one > 0 && reached.add(all[i]));
  }
  const files = new Map();
  for (const point of all.filter((_, i) => compiled.has(i))) {
    if (!files.has(point.file)) files.set(point.file, []);
    files.get(point.file).push(point);
  }
  const explained = [];
  const faults = [];
  for (const [file, points] of [...files].sort()) {
    const text = readFileSync(file, "utf8");
    const lines = text.split("\n");
    const divided = divide(points, (point) => reached.has(point), explanationsIn(text));
    explained.push(...divided.explained.map((one) => ({ file, ...one })));
    for (const { line, column, kind } of divided.unexplained)
      faults.push(`${file}:${line}:${column}: no test reaches this ${kind}: ${lines[line - 1].trim()}`);
    for (const { line, reason } of divided.stale) faults.push(`${file}:${line}: reached, but explained: ${reason}`);
  }

  console.log("\nNot reached, with the reason");
  for (const { file, line, reason, points } of explained)
    console.log(`${file}:${line}: ${reason}${points.length === 1 ? "" : ` (${points.length})`}`);
  if (faults.length > 0) console.log(`\n${faults.join("\n")}`);
  console.log("\nCoverage of the core");
  for (const kind of ["statement", "branch"]) {
    const points = [...files.values()].flat().filter((point) => point.kind === kind);
    const hit = points.filter((point) => reached.has(point)).length;
    const told = explained.flatMap((one) => one.points).filter((point) => point.kind === kind).length;
    const name = kind === "branch" ? "branches" : "statements";
    const share = ((100 * hit) / points.length).toFixed(2);
    console.log(
      `${share} % of ${points.length} ${name} reached, ${told} explained, ${points.length - hit - told} neither`,
    );
  }
  return faults.length === 0;
}

/** What was reached on an older core has other numbers. */
function dropOld() {
  if (!existsSync(REACHED)) return;
  const built = statSync(`${BUILT}points.json`).mtimeMs;
  for (const name of readdirSync(REACHED)) if (statSync(REACHED + name).mtimeMs < built) rmSync(REACHED + name);
}

const args = process.argv.slice(2);
const add = args.includes("--add");
if (!add) rmSync(REACHED, { recursive: true, force: true });
mkdirSync(REACHED, { recursive: true });
const { status } = spawnSync(
  process.execPath,
  [
    ...["node_modules/vitest/vitest.mjs", "run", "--project", "node", "--coverage"],
    ...args.filter((one) => one !== "--add"),
  ],
  { stdio: "inherit", env: { ...process.env, FLOWSTEER_CORE: "coverage" } },
);
dropOld();
const complete = await report();
process.exitCode = status !== 0 ? (status ?? 1) : complete ? 0 : 1;
