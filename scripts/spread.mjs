#!/usr/bin/env node
/**
 * Writes bench/results/spread.json: the goals of docs/performance.md in several runs of the benchmarks.
 *
 *   node scripts/spread.mjs FOLDER...    each with classify.json, calls.json, frames.json and esp.json of one run
 *
 * `npm run bench -- classify --json FOLDER/classify.json` makes the first, `change calls flows steer` the second, `frames`
 * and `esp` the others. The worst of several sets counts.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { format } from "prettier";

const JAVASCRIPT = "plain JavaScript, a Map a mask";
const VECTOR = "rte_acl, AVX-512 x 32";
const LOOKUP = "engine, batch of 256";

/** `command`: what measures it, in a minute or two. `atMost`: less is better; without it a goal is a ratio. */
const ROWS = [
  ...[
    ["1k", 0.9],
    ["10k", 1.25],
    ["100k", 1.5],
    ["10k mix", 0.6],
  ].map(([size, goal]) => ({
    what: `lookups beside rte_acl with AVX-512, ${size}`,
    command: `classify --sizes ${size.split(" ")[0]}`,
    goal,
    of: (run) => worst(run.classify, new RegExp(`^\\w+ ${size}$`), LOOKUP, VECTOR),
  })),
  {
    what: "insert all, the core beside plain JavaScript",
    command: "change",
    goal: 1.5,
    of: (run) => worst(run.calls, /10k, insert all$/, "engine, insertRule", JAVASCRIPT),
  },
  {
    what: "delete and insert beside plain JavaScript, 10k",
    command: "change",
    goal: 2,
    of: (run) => worst(run.calls, /10k, delete and insert$/, "engine, insertRule", JAVASCRIPT),
  },
  atMost("`mlx5dv_dr_rule_create`", "change", 800, "insert 100,000", "engine, mlx5dv_dr_rule_create"),
  atMost("`createRules`, a rule", "change", 300, "insert 100,000", "engine, createRules"),
  atMost(
    "`ibv_create_flow` and destroy",
    "flows",
    3000,
    "create and destroy 2,000",
    "engine, ibv_create_flow of objects",
  ),
  atMost("`matchParameters`", "calls", 2000, "matchParameters of two fields", "engine"),
  atMost("`buildFrame`", "calls", 4000, "buildFrame of 64 bytes of TCP", "engine"),
  ...["device.receive, one a call", "device.receiveBatch, 256 a call"].map((name) => ({
    what: `outcome objects beside plain JavaScript: \`${name.split(",")[0]}\``,
    command: "steer",
    goal: 1.2,
    of: (run) => caseOf(run.calls, "outcomes as objects", name).ratio,
  })),
  {
    what: "bursts beside the best JavaScript, acl1 10k, uniform",
    command: "frames",
    goal: 8,
    of: (run) =>
      ratioOf(
        caseOf(run.frames, "acl1 10k, uniform trace", "engine, burst of 256, add"),
        "plain JavaScript, typed arrays",
      ),
  },
  {
    what: "two workers beside one: bursts",
    command: "frames",
    goal: 1.7,
    of: (run) => ratioOf(caseOf(run.frames, "acl1 10k, uniform trace, 2 workers", "2 workers, add"), "one worker, add"),
  },
  {
    what: "two workers beside one: `flowsteer run`, 1 GB",
    command: "frames",
    goal: 1.7,
    of: (run) => {
      const capture = "a capture of 1,000 MB, 1,000 rules, wall time";
      const one = caseOf(run.frames, capture, "flowsteer run").nanoseconds;
      return one / caseOf(run.frames, capture, "flowsteer run --workers 2").nanoseconds;
    },
  },
  ...[
    ["64", 5],
    ["576", 2.2],
    ["1,400", 1.5],
    ["9,000", 0.7],
  ].map(([bytes, goal]) => ({
    what: `frames of ESP beside node:crypto by hand, ${bytes} bytes`,
    command: "esp",
    goal,
    of: (run) => worst(run.esp, new RegExp(`^frames of ESP, ${bytes} bytes$`), /receiveBatch/, "node:crypto by hand"),
  })),
  {
    what: "start beside an empty process",
    command: "frames",
    goal: 1.5,
    atMost: true,
    unit: "×",
    of: (run) => {
      const start = "start: import, a device, ten rules, one frame, wall time";
      return 1 / ratioOf(caseOf(run.frames, start, "engine"), "a process that does nothing");
    },
  },
  ...[
    ["1k", 250],
    ["100k", 80],
  ].map(([size, goal]) => ({
    what: `bytes a rule, ${size}`,
    command: "change",
    goal,
    atMost: true,
    unit: "bytes",
    of: ({ calls }) =>
      Math.max(
        ...Object.entries(calls.facts.change)
          .filter(([name]) => new RegExp(`^\\w+ ${size}, core memory a rule`).test(name))
          .map(([, bytes]) => bytes),
      ),
  })),
];

const folders = process.argv.slice(2);
if (folders.length === 0) throw new Error("folders of runs: node scripts/spread.mjs FOLDER...");
const runs = folders.map((folder) =>
  Object.fromEntries(
    ["classify", "calls", "frames", "esp"].map((name) => [
      name,
      JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8")),
    ]),
  ),
);
const { cpu, threads, node } = runs[0].classify.machine;
const spread = {
  date: runs[0].classify.date.slice(0, 10),
  machine: { cpu, threads, node },
  runs: folders.map((folder) => basename(folder)),
  rows: ROWS.map(({ of, ...row }) => ({ ...row, values: runs.map((run) => Number(of(run).toPrecision(3))) })),
};
writeFileSync("bench/results/spread.json", await format(JSON.stringify(spread), { parser: "json", printWidth: 120 }));

/** A row of a time in nanoseconds. */
function atMost(what, command, goal, workload, name) {
  return { what, command, goal, atMost: true, unit: "ns", of: (run) => caseOf(run.calls, workload, name).nanoseconds };
}

function caseOf({ results }, workload, name) {
  const found = results.find((one) => one.workload === workload && one.case === name);
  if (found === undefined) throw new Error(`no ${name} of ${workload}`);
  return found;
}

function ratioOf({ workload, against }, peer) {
  const found = against.find((one) => one.peer === peer);
  if (found === undefined) throw new Error(`${workload} has no ${peer}`);
  return found.ratio;
}

/** The least ratio to a peer of the workloads whose name matches. */
function worst({ results }, pattern, name, peer) {
  const cases = results.filter((one) => pattern.test(one.workload) && (name.test?.(one.case) ?? one.case === name));
  if (cases.length === 0) throw new Error(`no workload matches ${pattern}`);
  return Math.min(...cases.map((one) => ratioOf(one, peer)));
}
