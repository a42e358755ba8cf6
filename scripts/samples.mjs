#!/usr/bin/env node
/**
 * Keeps the outputs and tables in README.md and docs/ equal to what the programs print.
 *
 *   node scripts/samples.mjs                    writes them into the pages
 *   node scripts/samples.mjs --check [PAGE...]  fails where a page differs
 *
 * - `<!-- output: flowsteer ARGS -->` above a fenced block: the block holds what the command prints.
 *   `| flowsteer ARGS` pipes it on; `| head -n N` keeps the first N lines.
 * - `<!-- output: ts -->`: the block holds what the TypeScript block before it prints.
 * - `<!-- figures: NAME -->` to `<!-- end -->`: a table from bench/results (figures.mjs).
 * - `<!-- errors: NAME -->` to `<!-- end -->`: a table of reasons or errno values (errorTables.mjs).
 *
 * Programs and commands run on the built package: `npm run build:quick` first.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { transformSync } from "esbuild";
import { format, resolveConfig } from "prettier";
import { errorTable } from "./errorTables.mjs";
import { figures } from "./figures.mjs";
import { pages, programs } from "./pages.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const run = promisify(execFile);

const OUTPUT = /<!-- output: (.+?) -->\n\n```(\w+)\n[\s\S]*?\n```/g;
const TABLE = /<!-- (figures|errors): (.+?) -->\n[\s\S]*?<!-- end -->/g;

const { values, positionals } = parseArgs({ options: { check: { type: "boolean" } }, allowPositionals: true });
for (const page of positionals.length > 0 ? positionals : pages()) {
  const before = readFileSync(page, "utf8");
  const after = await written(page, before);
  if (before === after) continue;
  if (values.check) {
    console.error(`${page} differs from what its commands print: node scripts/samples.mjs writes it`);
    process.exitCode = 1;
  } else writeFileSync(page, after);
}

/** The page with true outputs and tables. */
async function written(page, text) {
  const outputs = [...text.matchAll(OUTPUT)].map(async ([, command], i, all) => {
    return command === "ts" ? program(page, text.slice(0, all[i].index)) : shell(page, command);
  });
  const shown = await Promise.all(outputs);
  let next = 0;
  const filled = text
    .replace(OUTPUT, (_, command, language) => {
      return `<!-- output: ${command} -->\n\n\`\`\`${language}\n${shown[next++].trimEnd()}\n\`\`\``;
    })
    .replace(TABLE, (_, kind, name) => {
      const table = kind === "figures" ? figures(name) : errorTable(name);
      return `<!-- ${kind}: ${name} -->\n\n${table}\n\n<!-- end -->`;
    });
  return filled === text ? text : format(filled, { parser: "markdown", ...(await resolveConfig(page)) });
}

/** What `flowsteer ...` prints, on standard error too. */
async function shell(page, command) {
  const [, args, lines] = /^flowsteer (.+?)(?: \| head -n (\d+))?$/.exec(command) ?? [];
  if (args === undefined) throw new Error(`${page}: not a flowsteer command: ${command}`);
  const line = `flowsteer ${args}`.replaceAll(/(^|\| )flowsteer /g, "$1node dist/cli.js ");
  const { stdout } = await run("sh", ["-c", `${line} 2>&1 || true`]);
  return lines === undefined ? stdout : stdout.split("\n").slice(0, Number(lines)).join("\n");
}

/** What the last TypeScript block of a text prints. It runs inside the package, so that it can import it by name. */
async function program(page, text) {
  const source = programs(text).at(-1)?.source;
  if (source === undefined) throw new Error(`${page}: no TypeScript before the output`);
  mkdirSync("build", { recursive: true });
  const folder = mkdtempSync(join("build", "sample-"));
  try {
    const file = join(folder, "sample.mjs");
    writeFileSync(file, transformSync(source, { loader: "ts", format: "esm", target: "es2022" }).code);
    return (await run(process.execPath, [file])).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
