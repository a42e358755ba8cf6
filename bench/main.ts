/**
 * Measures the engine against plain JavaScript doing the same job.
 *
 *     npm run bench -- [SUITE...] [--sets acl1,fw1] [--sizes 1k,10k,100k] [--json FILE] [--list] [--quick]
 *     npm run bench -- --page FILE
 *
 * A table on standard output; the same figures and what they were measured on in a file, build/bench/report.json where
 * --json names none. Where rule sets were measured, a page of plots lies beside it, .html for .json; --page makes one of
 * an earlier report. --sets and --sizes choose rule sets of `classify` and `cover`, and leave out what is of no set. --quick checks
 * the answers on small tables and measures for an instant: it shows that everything runs, its figures mean nothing, and
 * no file is written that is not named.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { format } from "prettier";
import { calls } from "./calls.js";
import { change } from "./change.js";
import { classify } from "./classify.js";
import { SETS, SIZES } from "./classify/ruleSets.js";
import { cover } from "./cover.js";
import { devices } from "./devices.js";
import { esp } from "./esp.js";
import { exec } from "./exec.js";
import { explain } from "./explain.js";
import { fabric } from "./fabric.js";
import { messages } from "./messages.js";
import { flows } from "./flows.js";
import { frames } from "./frames.js";
import { machine } from "./machine.js";
import { measure, type Parts, type Report, type Result, type Suite } from "./harness.js";
import { parse } from "./parse.js";
import { pipeline } from "./pipeline.js";
import { page } from "./plots.js";
import { steer } from "./steer.js";

const SUITES: readonly Suite[] = [
  parse,
  classify,
  steer,
  pipeline,
  flows,
  frames,
  esp,
  calls,
  change,
  explain,
  cover,
  devices,
  fabric,
  messages,
  exec,
];

const REPORT = "build/bench/report.json";

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
        page: { type: "string" },
        sets: { type: "string", default: "" },
        sizes: { type: "string", default: "" },
        list: { type: "boolean", default: false },
        quick: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    console.error(`bench: ${(error as Error).message}`);
    return 2;
  }
  const { values, positionals } = options;
  if (values.page !== undefined) {
    await writePage(values.page, JSON.parse(readFileSync(values.page, "utf8")) as Report);
    return 0;
  }
  const parts: Parts = { sets: listed(values.sets), sizes: listed(values.sizes) };
  const wrong = [...unlisted(parts.sets, SETS), ...unlisted(parts.sizes, SIZES)][0];
  if (wrong !== undefined) {
    console.error(`bench: no rule set or size ${wrong}; there are ${SETS.join(", ")} and ${SIZES.join(", ")}`);
    return 2;
  }
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
  for (const suite of chosen) await run(suite, report, parts);
  const json = values.json ?? (values.quick ? undefined : REPORT);
  if (json === undefined) return 0;
  mkdirSync(dirname(json), { recursive: true });
  // As the formatter would have it, so that a file kept in the project passes the lint.
  writeFileSync(json, await format(JSON.stringify(report), { parser: "json", printWidth: 120 }));
  await writePage(json, report);
  return 0;
}

/** Beside the report, where there is something to plot. */
async function writePage(json: string, report: Report): Promise<void> {
  const html = page(report);
  if (html === undefined) return;
  const file = `${json.replace(/\.json$/, "")}.html`;
  writeFileSync(file, await format(html, { parser: "html", printWidth: 120 }));
  console.log(`\n${file}`);
}

function listed(text: string): string[] {
  return text.split(",").filter((one) => one !== "");
}

function unlisted(names: readonly string[], known: readonly string[]): string[] {
  return names.filter((name) => !known.includes(name));
}

async function run(suite: Suite, report: Report, parts: Parts): Promise<void> {
  console.log(`\n${suite.title}`);
  const facts: Record<string, number> = {};
  for await (const workload of suite.workloads(report.quick, parts)) {
    const results = await measure(suite.name, workload, report.quick);
    report.results.push(...results);
    Object.assign(facts, workload.facts);
    console.log(`  ${workload.name}`);
    for (const result of results) for (const text of lines(result)) console.log(`    ${text}`);
  }
  Object.assign(facts, await suite.facts?.(report.quick, parts));
  if (Object.keys(facts).length === 0) return;
  report.facts[suite.name] = facts;
  for (const [name, value] of Object.entries(facts)) console.log(`  ${name.padEnd(54)} ${value.toLocaleString("en")}`);
}

function lines({ case: name, unit, nanoseconds, ratio, against }: Result): string[] {
  const time =
    nanoseconds < 1e6 ? `${nanoseconds.toFixed(nanoseconds < 100 ? 1 : 0)} ns` : `${(nanoseconds / 1e6).toFixed(1)} ms`;
  const first = `${name.padEnd(42)} ${`${time}/${unit}`.padStart(16)}`;
  if (against === undefined) return [`${first}${ratio === null ? "" : `${ratio.toFixed(2).padStart(8)} x`}`];
  return against.map(({ peer, ratio: to, goal, floor }, i) => {
    const wanted = [goal === undefined ? "" : `goal ${goal}`, floor === undefined ? "" : `floor ${floor}`];
    const target = wanted.filter((text) => text !== "").join(", ");
    const text = `${to.toFixed(2).padStart(8)} x ${peer}${target === "" ? "" : ` (${target})`}`;
    return `${i === 0 ? first : "".padEnd(first.length)}${text}`;
  });
}
