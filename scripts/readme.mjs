#!/usr/bin/env node
/**
 * What the README shows is what happens.
 *
 *   node scripts/readme.mjs           writes the outputs into README.md
 *   node scripts/readme.mjs --check   fails where they differ
 *
 * Between `<!-- figures: SUITE -->` and `<!-- end -->` stands what bench/results/SUITE.json says of goals, in a table.
 *
 * A fenced block behind `<!-- output: COMMAND -->` holds what the command prints; `<!-- output: ts -->` what the
 * TypeScript block before it prints. Commands are run by the built package: `npm run build` first.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import { format, resolveConfig } from "prettier";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const MARK = /<!-- output: (.+?) -->\n\n```(\w+)\n[\s\S]*?\n```/g;

const before = readFileSync("README.md", "utf8");
const shown = before.replace(MARK, (_, command, language, offset) => {
  const text = (command === "ts" ? program(before.slice(0, offset)) : shell(command)).trimEnd();
  return `<!-- output: ${command} -->\n\n\`\`\`${language}\n${text}\n\`\`\``;
});
const FIGURES = /<!-- figures: (\w+) -->\n[\s\S]*?<!-- end -->/g;
const after = await format(
  shown.replace(FIGURES, (_, suite) => `<!-- figures: ${suite} -->\n\n${figures(suite)}\n\n<!-- end -->`),
  { parser: "markdown", ...(await resolveConfig("README.md")) },
);
if (!process.argv.includes("--check")) writeFileSync("README.md", after);
else if (before !== after) {
  console.error("README.md shows other outputs than the commands print: node scripts/readme.mjs writes them");
  process.exitCode = 1;
}

/** `flowsteer ...`, with `| head -n N` at most; what it says on standard error counts too. */
function shell(command) {
  const [, args, lines] = /^flowsteer (.+?)(?: \| head -n (\d+))?$/.exec(command) ?? [];
  if (args === undefined) throw new Error(`README.md: not a flowsteer command: ${command}`);
  const output = execFileSync("sh", ["-c", `node dist/cli.js ${args} 2>&1 || true`], { encoding: "utf8" });
  return lines === undefined ? output : output.split("\n").slice(0, Number(lines)).join("\n");
}

/** Runs the last TypeScript block of a text, in a folder inside the package, whose name it imports. */
function program(text) {
  const source = [...text.matchAll(/```ts\n([\s\S]*?)\n```/g)].at(-1)?.[1];
  if (source === undefined) throw new Error("README.md: no TypeScript before the output");
  const folder = mkdtempSync(join("build", "readme-"));
  try {
    const file = join(folder, "example.mjs");
    writeFileSync(file, transformSync(source, { loader: "ts", format: "esm" }).code);
    return execFileSync(process.execPath, [file], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What a report says of every case that has a goal: its time, and its ratio to each of its peers. */
function figures(suite) {
  const file = `bench/results/${suite}.json`;
  const { command, date, machine, results, facts } = JSON.parse(readFileSync(file, "utf8"));
  const on = `\`${command}\`, ${machine.cpu}, ${machine.threads} threads, Node ${machine.node}, ${date.slice(0, 10)} ([the figures](${file})).`;
  const wanted = results.filter(({ against = [] }) => against.some(({ goal }) => goal !== undefined));
  const rows = wanted.flatMap(({ workload, case: name, unit, nanoseconds, against }) =>
    against.map(({ peer, ratio, goal }, i) => [
      i === 0 ? `${workload}: ${name.replace(/^engine, /, "")}` : "",
      i === 0 ? `${duration(nanoseconds)} a ${unit}` : "",
      peer,
      `${ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(0)} ×`,
      goal === undefined ? "" : `${goal} ×`,
    ]),
  );
  const lines = [["", "", "beside", "", "goal"], ["---", "---", "---", "---:", "---:"], ...rows];
  const numbers = Object.entries(facts[suite] ?? {}).map(([name, value]) => `- ${name}: ${value.toLocaleString("en")}`);
  return `${on}\n\n${lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n\n${numbers.join("\n")}`;
}

function duration(nanoseconds) {
  return nanoseconds < 1e6
    ? `${Math.round(nanoseconds).toLocaleString("en")} ns`
    : `${(nanoseconds / 1e6).toFixed(0)} ms`;
}
