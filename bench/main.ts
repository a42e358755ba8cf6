/**
 * Measures the engine against plain JavaScript doing the same job.
 *
 *     npm run bench -- [SUITE...] [--json FILE] [--list] [--quick]
 *
 * A table on standard output; with --json, the same figures and what they were measured on in a file. --quick checks
 * the answers on small tables and measures for an instant: it shows that everything runs, its figures mean nothing.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, cpus, platform } from "node:os";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { format } from "prettier";
import { change } from "./change.js";
import { classify } from "./classify.js";
import { measure, type Result, type Suite } from "./harness.js";
import { parse } from "./parse.js";
import { steer } from "./steer.js";

const SUITES: readonly Suite[] = [parse, classify, steer, change];

interface Report {
  date: string;
  command: string;
  quick: boolean;
  machine: Record<string, string | number>;
  results: Result[];
  facts: Record<string, Record<string, number>>;
}

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const known = SUITES.map(({ name }) => name).join(", ");
  let options;
  try {
    options = parseArgs({
      args,
      allowPositionals: true,
      options: {
        json: { type: "string" },
        list: { type: "boolean", default: false },
        quick: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    console.error(`bench: ${(error as Error).message}`);
    return 2;
  }
  const { values, positionals } = options;
  const unknown = positionals.find((name) => !SUITES.some((suite) => suite.name === name));
  if (unknown !== undefined) {
    console.error(`bench: no suite ${unknown}; there are ${known}`);
    return 2;
  }
  const chosen = SUITES.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  if (values.list) {
    for (const { name, title } of chosen) console.log(`${name.padEnd(10)} ${title}`);
    return 0;
  }
  const report: Report = {
    date: new Date().toISOString(),
    command: ["npm run bench", ...(args.length > 0 ? ["--", ...args] : [])].join(" "),
    quick: values.quick,
    machine: machine(),
    results: [],
    facts: {},
  };
  const { cpu, threads, node, v8 } = report.machine;
  console.log(`${cpu}, ${threads} threads; Node ${node}, V8 ${v8}${values.quick ? "; --quick: no figures" : ""}`);
  for (const suite of chosen) await run(suite, report);
  if (values.json !== undefined) {
    mkdirSync(dirname(values.json), { recursive: true });
    // As the formatter would have it, so that a file kept in the project passes the lint.
    writeFileSync(values.json, await format(JSON.stringify(report), { parser: "json", printWidth: 120 }));
  }
  return 0;
}

async function run(suite: Suite, report: Report): Promise<void> {
  console.log(`\n${suite.title}`);
  for await (const workload of suite.workloads(report.quick)) {
    const results = await measure(suite.name, workload, report.quick);
    report.results.push(...results);
    console.log(`  ${workload.name}`);
    for (const result of results) console.log(`    ${line(result)}`);
  }
  const facts = await suite.facts?.(report.quick);
  if (facts === undefined) return;
  report.facts[suite.name] = facts;
  for (const [name, value] of Object.entries(facts)) console.log(`  ${name.padEnd(54)} ${value.toLocaleString("en")}`);
}

function line({ case: name, unit, nanoseconds, ratio }: Result): string {
  const time = `${nanoseconds.toFixed(nanoseconds < 100 ? 1 : 0)} ns/${unit}`;
  return `${name.padEnd(42)} ${time.padStart(16)}${ratio === null ? "" : `${ratio.toFixed(2).padStart(8)} x`}`;
}

function machine(): Record<string, string | number> {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    threads: availableParallelism(),
    platform: `${platform()} ${arch()}`,
    node: process.versions.node,
    v8: process.versions.v8,
  };
}
