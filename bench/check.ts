/**
 * `lint` beside `cover` on rule sets, and on many tables, each in a process of its own:
 * `node --import tsx bench/check.ts [CASE...]`. The goals: at most twice the CPU time of `cover`, and nearly linear in tables.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { cover, lint } from "../src/explain/index.js";
import { loadScenario, type Scenario } from "../src/scenario/index.js";
import { readRules, type SetName } from "./classify/ruleSets.js";
import { setScenario } from "./cover/scenarios.js";

const SETS = ["acl1", "fw1", "ipc1"] as const satisfies readonly SetName[];
const TABLES = [10_000, 20_000, 40_000] as const;
const WORK = { cover, check: lint };

/** Each rule of the first table leads to a table of its own, with one rule. */
function manyTables(count: number): Scenario {
  const names = Array.from({ length: count }, (_, n) => `table ${n}`);
  const address = (n: number): string => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
  return {
    flowsteer: 1,
    queues: [{ name: "all" }],
    tables: [{ name: "root", level: 0 }, ...names.map((name) => ({ name, level: 1 }))],
    rules: [
      ...names.map((table, n) => ({
        name: `to ${n}`,
        table: "root",
        match: { "outer.ipv4_dst": address(n) },
        actions: [{ table }],
      })),
      ...names.map((table, n) => ({ name: `in ${n}`, table, match: {}, actions: [{ queue: "all" }] })),
    ],
  };
}

function scenarioOf(name: string): Scenario {
  const set = SETS.find((one) => one === name);
  return set === undefined ? manyTables(Number(name)) : setScenario(readRules(set, "100k"));
}

async function run(work: keyof typeof WORK, name: string): Promise<void> {
  const { device } = await loadScenario(scenarioOf(name));
  const start = process.cpuUsage();
  await WORK[work](device);
  const { user, system } = process.cpuUsage(start);
  console.log(JSON.stringify({ seconds: (user + system) / 1e6, memory: process.resourceUsage().maxRSS / 1024 }));
}

function measured(work: keyof typeof WORK, name: string): { seconds: number; memory: number } {
  const [file, tsx] = [fileURLToPath(import.meta.url), ["--import", "tsx", "--max-old-space-size=8000"]];
  const out = execFileSync(process.execPath, [...tsx, file, "--run", work, name], { encoding: "utf8" });
  const found = JSON.parse(out) as { seconds: number; memory: number };
  console.log(
    `${name.padEnd(6)} ${work.padEnd(5)} ${found.seconds.toFixed(1)} s of CPU, ${Math.round(found.memory)} MB`,
  );
  return found;
}

const [mode, work, name] = process.argv.slice(2);
if (mode === "--run") await run(work as keyof typeof WORK, name as string);
else {
  const asked = process.argv.slice(2);
  const isAsked = (one: string): boolean => asked.length === 0 || asked.includes(one);
  for (const set of SETS.filter(isAsked)) {
    const [a, b] = [measured("cover", set), measured("check", set)];
    console.log(`${set.padEnd(6)} check takes ${(b.seconds / a.seconds).toFixed(2)} x the time of cover`);
  }
  for (const tables of TABLES.map(String).filter(isAsked)) measured("check", tables);
}
