/** The programs of examples/: all compile; those in C and their TypeScript agree call by call. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { diagnosticsOf, printed } from "./support/programs.js";

const examples = fileURLToPath(new URL("../examples", import.meta.url));
const folder = join(examples, "c");
const read = (file: string): string => readFileSync(join(folder, file), "utf8");

/** What each program prints: the lines of the C program, and those of the frames that it waits for. */
const PRINTED: Readonly<Record<string, string>> = {
  devx_flow_table: "80 table_miss\n443 arrived\n54 bytes for request 1\n",
  dr_pipeline: "tcp drop_action\nudp arrived\nudp table_miss\ntag 0x1234, 42 bytes\n1 packets\n",
  flow_counters: "64 bytes for request 1\n1 packets, 64 bytes\n",
  raw_packet_send: "mlx5_0\non the wire: 60 bytes\n7 success\n",
};
const NAMES = Object.keys(PRINTED);

/** The calls of a program in the order of its text. */
function callsOf(source: string): string[] {
  const code = source.replace(/\/\*[^]*?\*\/|\/\/.*/g, "");
  return [...code.matchAll(/\b((?:ibv|mlx5dv)_\w+)\s*\(/g)].map(([, name]) => name ?? "");
}

test("every program is there in C and in TypeScript", () => {
  const files = NAMES.flatMap((name) => [`${name}.c`, `${name}.ts`]);
  expect(readdirSync(folder).sort()).toEqual(files.sort());
});

test.each(NAMES)("%s: the same calls in the same order", (name) => {
  const calls = callsOf(read(`${name}.c`));
  expect(calls.length).toBeGreaterThan(15);
  expect(callsOf(read(`${name}.ts`))).toEqual(calls);
});

test("all TypeScript of the examples compiles in strict mode", { timeout: 120_000 }, () => {
  const files = readdirSync(examples, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  expect(files.length).toBeGreaterThan(NAMES.length + 3);
  const programs = files.map((name) => ({
    page: `examples/${name}`,
    line: 0,
    source: readFileSync(join(examples, name), "utf8"),
  }));
  expect(diagnosticsOf(programs)).toEqual([]);
});

test.each(NAMES)("%s runs", { timeout: 60_000 }, async (name) => {
  expect(await printed(read(`${name}.ts`))).toBe(PRINTED[name]);
});

test("the fabric of the simulator loses goodput to losses", { timeout: 120_000 }, async () => {
  const source = readFileSync(join(examples, "simulator/fabric.ts"), "utf8");
  expect(await printed(source)).toBe(
    "loss 0.0 %: 656.4 Gb/s\nloss 0.1 %: 425.9 Gb/s\nloss 0.5 %: 286.2 Gb/s\nloss 2.0 %: 28.0 Gb/s\n",
  );
});

const HEADERS = "/usr/include/infiniband/mlx5dv.h";
const hasHeaders = existsSync(HEADERS);
if (!hasHeaders) console.warn(`examples/c is not compiled: no ${HEADERS} (Debian: libibverbs-dev)`);

test.runIf(hasHeaders).each(NAMES)("%s compiles in C without warnings", { timeout: 60_000 }, (name) => {
  const out = mkdtempSync(join(tmpdir(), "programs-"));
  try {
    const args = ["-Wall", "-Werror", join(folder, `${name}.c`), "-o", join(out, name), "-libverbs", "-lmlx5"];
    execFileSync("gcc", args, { stdio: ["ignore", "ignore", "inherit"] });
    expect(existsSync(join(out, name))).toBe(true);
  } finally {
    rmSync(out, { recursive: true });
  }
});
