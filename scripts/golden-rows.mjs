#!/usr/bin/env node
// Writes test/golden/rows.json: what pyarrow and DuckDB read in the rows that `flowsteer run --format` writes of shipped examples.
//
//     node scripts/golden-rows.mjs [python3]
//
// Made with pyarrow 25.0.1 and DuckDB 1.5.6 (`pip install pyarrow duckdb`), Python 3.11. It wants the built command (npm run build).

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [python = "python3"] = process.argv.slice(2);
const root = fileURLToPath(new URL("..", import.meta.url));
/** With times of a capture; with copies; with frames that are sent, and have no port; with tags and reasons. */
const EXAMPLES = [
  ["examples/everyday.json", "examples/everyday.pcap"],
  ["examples/flows-copies.json"],
  ["examples/flows-sending.json"],
  ["examples/state-firewall.json"],
];

const folder = mkdtempSync(join(tmpdir(), "flowsteer-golden-"));
const sha256 = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");
const cases = EXAMPLES.map((operands) => {
  const [parquet, csv] = ["parquet", "csv"].map((format) => {
    const path = join(folder, `rows.${format}`);
    const args = ["dist/cli.js", "run", ...operands, "--format", format, "--output", path];
    execFileSync(process.execPath, args, { cwd: root });
    return path;
  });
  const read = JSON.parse(execFileSync(python, [join(root, "scripts/golden-rows.py"), parquet, csv]));
  return { operands, sha256: { parquet: sha256(parquet), csv: sha256(csv) }, ...read };
});
rmSync(folder, { recursive: true });
// A row a line.
writeFileSync(join(root, "test/golden/rows.json"), `${JSON.stringify(cases).replaceAll("],[", "],\n[")}\n`);
