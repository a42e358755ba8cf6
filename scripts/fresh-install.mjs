/** A packed tarball in an empty project, installed by npm: the program of the README runs there. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { transformSync } from "esbuild";

/** The first program of a page, and what it prints. */
const PROGRAM = /```ts\n([\s\S]*?)```\s+<!-- output: ts -->\s+```text\n([\s\S]*?)```/;

/**
 * Installs a tarball and runs the program of its README.
 * @param {string} tarball
 * @param {(folder: string) => void} [more] work in the folder of the project
 * @returns {string[]} problems
 */
export function problemsOfInstall(tarball, more = () => undefined) {
  const folder = mkdtempSync(join(tmpdir(), "flowsteer-fresh-"));
  const run = (command, ...args) => spawnSync(command, args, { cwd: folder, encoding: "utf8", timeout: 600_000 });
  try {
    writeFileSync(join(folder, "package.json"), '{ "name": "fresh", "version": "1.0.0", "private": true }\n');
    const { status, stderr } = run("npm", "install", "--no-audit", "--no-fund", resolve(tarball));
    if (status !== 0) return [`npm install ends with ${status}: ${stderr.trim()}`];
    const problems = stderr.trim() === "" ? [] : [`npm install says: ${stderr.trim()}`];
    const [, program, expected] = PROGRAM.exec(readFileSync("README.md", "utf8")) ?? [];
    if (program === undefined) return [...problems, "README.md has no program with its output"];
    writeFileSync(join(folder, "program.mjs"), transformSync(program, { loader: "ts", format: "esm" }).code);
    const ran = run(process.execPath, "program.mjs");
    const printed = ran.stdout.replace(/ +$/gm, "");
    if (ran.status !== 0) problems.push(`the program of README.md fails: ${ran.stderr.trim()}`);
    else if (printed !== expected) problems.push(`the program of README.md prints ${JSON.stringify(printed)}`);
    more(folder);
    return problems;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
