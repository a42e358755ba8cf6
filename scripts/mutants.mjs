#!/usr/bin/env node
/**
 * Plants faults, one at a time, and asks whether the tests notice: each fault that none notices is a hole in them.
 *
 *   node scripts/mutants.mjs               all of them
 *   node scripts/mutants.mjs --only id     one, or several: --only a,b
 *   node scripts/mutants.mjs --list        what there is
 *   node scripts/mutants.mjs --jobs 4      so many at a time, 2 by default
 *
 * Works on copies in a temporary directory; the checkout stays as it is. Exits 1 when a fault survives, and 2 when the
 * list is wrong: a search text that does not occur once, a fault that does not compile, tests that fail without one.
 */
import { spawn } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CACHE_OF_DECISIONS } from "./mutants/cache.mjs";
import { CONNTRACK } from "./mutants/conntrack.mjs";
import { CLI } from "./mutants/cli.mjs";
import { BRANCHES } from "./mutants/branches.mjs";
import { BURSTS } from "./mutants/bursts.mjs";
import { CORE } from "./mutants/core.mjs";
import { CREATE_FLOW } from "./mutants/createFlow.mjs";
import { CRYPTO } from "./mutants/crypto.mjs";
import { DEVX } from "./mutants/devx.mjs";
import { ENTRIES } from "./mutants/entries.mjs";
import { ESP } from "./mutants/esp.mjs";
import { FLOWS } from "./mutants/flows.mjs";
import { FRAMES } from "./mutants/frames.mjs";
import { FUNCTIONS } from "./mutants/functions.mjs";
import { HEADERS } from "./mutants/headers.mjs";
import { HOST } from "./mutants/host.mjs";
import { MATCHERS } from "./mutants/matchers.mjs";
import { PACKET } from "./mutants/packet.mjs";
import { POOL } from "./mutants/pool.mjs";
import { QUEUES } from "./mutants/queues.mjs";
import { REACH_OF_FRAMES } from "./mutants/reach.mjs";
import { REWRITE } from "./mutants/rewrite.mjs";
import { ROCE } from "./mutants/roce.mjs";
import { RULES } from "./mutants/rules.mjs";
import { STATE } from "./mutants/state.mjs";
import { STEER } from "./mutants/steer.mjs";
import { WALK } from "./mutants/walk.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const SUITE = ["test/engine", "test/model", "test/mlx5dv", "test/verbs", "test/oracle"];
const COPIED = [
  "src",
  "assembly",
  "bench",
  "test",
  "docs",
  "examples",
  "scripts",
  "package.json",
  "asconfig.json",
  "vitest.config.ts",
];
/** The same run each time: a fault is either noticed or not. */
const ENV = { ...process.env, FLOWSTEER_SEED: "20261121", FLOWSTEER_FUZZ: "8000", CI: "" };
/** A fault may make the core loop without end: twice what the tests take without one is too long. */
let timeoutMs = 900_000;
const LEAST_TIMEOUT_MS = 180_000;

const { values: args } = parseArgs({
  options: {
    only: { type: "string" },
    list: { type: "boolean", default: false },
    jobs: { type: "string", default: "2" },
  },
});

const only = args.only?.split(",");
const mutants = [
  ...BRANCHES,
  ...BURSTS,
  ...CLI,
  ...CACHE_OF_DECISIONS,
  ...CORE,
  ...STEER,
  ...WALK,
  ...CREATE_FLOW,
  ...DEVX,
  ...HEADERS,
  ...HOST,
  ...FLOWS,
  ...ENTRIES,
  ...FRAMES,
  ...FUNCTIONS,
  ...MATCHERS,
  ...PACKET,
  ...CONNTRACK,
  ...POOL,
  ...QUEUES,
  ...REACH_OF_FRAMES,
  ...REWRITE,
  ...ROCE,
  ...RULES,
  ...STATE,
  ...ESP,
  ...CRYPTO,
].filter(({ id }) => only === undefined || only.includes(id));
checkList();
if (args.list) {
  for (const { id, file, breaks } of mutants) console.log(`${id.padEnd(24)} ${file.padEnd(30)} ${breaks}`);
  process.exit(0);
}

const directory = mkdtempSync(join(tmpdir(), "flowsteer-mutants-"));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));

const copies = [];
for (let i = 0; i < Math.min(Number(args.jobs), mutants.length); i++) copies.push(await makeCopy(i));
await baseline(copies[0]);

const queue = [...mutants];
const results = [];
await Promise.all(copies.map(work));
report();

/** Every fault can be planted, and is another one. */
function checkList() {
  if (mutants.length === 0) fail(`no mutant ${args.only}`);
  const ids = new Set();
  for (const { id, file, search, replace } of mutants) {
    const found = readFileSync(join(root, file), "utf8").split(search).length - 1;
    if (found !== 1) fail(`${id}: its text occurs ${found} times in ${file}`);
    if (search === replace || ids.has(id)) fail(`${id}: changes nothing, or is there twice`);
    ids.add(id);
  }
}

async function makeCopy(number) {
  const copy = join(directory, String(number));
  mkdirSync(join(copy, "node_modules"), { recursive: true });
  const tsconfigs = readdirSync(root).filter((name) => /^tsconfig.*\.json$/.test(name));
  for (const name of [...COPIED, ...tsconfigs]) cpSync(join(root, name), join(copy, name), { recursive: true });
  // The packages, but not the caches of the test runner.
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name.startsWith(".vite")) continue;
    symlinkSync(join(root, "node_modules", name), join(copy, "node_modules", name));
  }
  const built = await buildCore(copy);
  if (!built.ok) fail(`the core does not compile without a fault: ${built.text}`);
  copyFileSync(join(copy, "build/debug/core.wasm"), join(copy, "core.wasm"));
  return copy;
}

/** The debug flavour, which takes a tenth of the time, also where tests look for the published one. */
async function buildCore(copy) {
  const built = await run(copy, ["scripts/build.mjs", "--wasm", "debug", "--force"]);
  if (built.code === 0) useCore(copy, join(copy, "build/debug/core.wasm"));
  return { ok: built.code === 0, text: built.text };
}

function useCore(copy, wasm) {
  for (const flavour of ["release", "debug"]) {
    const target = join(copy, "build", flavour, "core.wasm");
    mkdirSync(join(target, ".."), { recursive: true });
    if (target !== wasm) copyFileSync(wasm, target);
  }
}

async function baseline(copy) {
  const started = Date.now();
  const outcome = await test(copy, SUITE, []);
  if (outcome.kind !== "passed") fail(`without a fault: ${outcome.text}`);
  timeoutMs = Math.max(2 * (Date.now() - started), LEAST_TIMEOUT_MS);
  process.stderr.write(`mutants: ${mutants.length} to plant; without one the tests pass in ${since(started)} s\n`);
}

async function work(copy) {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const started = Date.now();
    const result = { ...mutant, ...(await tryOne(copy, mutant)), seconds: since(started) };
    results.push(result);
    process.stderr.write(`${row(result)}\n`);
  }
}

async function tryOne(copy, { file, search, replace, sees }) {
  const path = join(copy, file);
  const text = readFileSync(path, "utf8");
  const ofCore = file.startsWith("assembly/");
  writeFileSync(
    path,
    text.replace(search, () => replace),
  );
  try {
    if (ofCore) {
      const built = await buildCore(copy);
      if (!built.ok) return { kind: "error", text: `does not compile: ${built.text.trim().slice(0, 400)}` };
    }
    const first = (sees ?? []).filter((name) => existsSync(join(copy, name)));
    if (first.length > 0) {
      const outcome = await test(copy, first, []);
      if (outcome.kind !== "passed") return outcome;
    }
    return await test(copy, SUITE, first);
  } finally {
    writeFileSync(path, text);
    if (ofCore) useCore(copy, join(copy, "core.wasm"));
  }
}

/** Runs tests until one fails; `seen` are files that have passed already. */
async function test(copy, names, seen) {
  const existing = names.filter((name) => existsSync(join(copy, name)));
  const output = join(copy, "result.json");
  rmSync(output, { force: true });
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--project", "node", "--bail", "1"];
  const passed = seen.filter((name) => name.endsWith(".ts")).flatMap((name) => ["--exclude", name]);
  const { code, text, late } = await run(copy, [
    ...vitest,
    ...["--reporter", "json", "--outputFile", output],
    ...passed,
    ...existing,
  ]);
  if (late) return { kind: "caught", text: `no end within ${Math.round(timeoutMs / 1000)} s` };
  if (code === 0) return { kind: "passed", text: "" };
  if (!existsSync(output)) return { kind: "error", text: text.trim().slice(-400) };
  const { testResults } = JSON.parse(readFileSync(output, "utf8"));
  for (const { name, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === "failed");
    if (failed === undefined) continue;
    const where = name.slice(name.indexOf("/test/") + "/test/".length);
    return { kind: "caught", text: `${where}: ${failed.fullName.trim()}`, why: failed.failureMessages?.[0] };
  }
  const broken = testResults.find(({ status }) => status === "failed");
  return { kind: "error", text: `no test failed: ${broken?.message ?? text.trim().slice(-400)}` };
}

/** Runs a script of the copy, in a process group of its own: the test runner has children. */
function run(copy, argv) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, argv, { cwd: copy, env: ENV, detached: true });
    const chunks = [];
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      process.kill(-child.pid, "SIGKILL");
    }, timeoutMs);
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => chunks.push(chunk));
    child.on("close", (code) => {
      globalThis.clearTimeout(timer);
      resolve({ code, late, text: Buffer.concat(chunks).toString() });
    });
  });
}

function report() {
  const order = new Map(mutants.map(({ id }, i) => [id, i]));
  results.sort((a, b) => order.get(a.id) - order.get(b.id));
  console.log(["| fault | file | caught by | s |", "| --- | --- | --- | --- |", ...results.map(row)].join("\n"));
  const survivors = results.filter(({ kind }) => kind === "passed");
  const errors = results.filter(({ kind }) => kind === "error");
  console.log(`\n${results.length - survivors.length - errors.length} of ${results.length} caught`);
  for (const { id, breaks } of survivors) console.log(`survived: ${id} (${breaks})`);
  process.exit(errors.length > 0 ? 2 : survivors.length > 0 ? 1 : 0);
}

function row({ id, file, kind, text, seconds }) {
  const by = kind === "caught" ? text : kind === "passed" ? "SURVIVED" : `ERROR ${text}`;
  return `| ${id} | ${file} | ${by.replaceAll("\n", " ").slice(0, 160)} | ${seconds} |`;
}

function since(started) {
  return ((Date.now() - started) / 1000).toFixed(1);
}

function fail(text) {
  process.stderr.write(`mutants: ${text}\n`);
  process.exit(2);
}
