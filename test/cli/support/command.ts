/** The command as a child process: its source in one file, which starts faster than a hundred. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll } from "vitest";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

mkdirSync(join(root, "build"), { recursive: true });
/** As deep below the root as the source is, so that what it reads beside itself is found. */
const bundle = mkdtempSync(join(root, "build", "cli-"));
afterAll(() => rmSync(bundle, { recursive: true, force: true }));
await build({
  entryPoints: [join(root, "src/cli/start.ts")],
  outfile: join(bundle, "main.mjs"),
  bundle: true,
  format: "esm",
  platform: "node",
  packages: "external",
  logLevel: "warning",
});

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

export interface Surroundings {
  stdin?: Uint8Array;
  env?: Record<string, string>;
}

/** Starts `flowsteer ...args` in the project's root. */
export function start(args: readonly string[], env: Record<string, string> = {}): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [join(bundle, "main.mjs"), ...args], { cwd: root, env: { ...process.env, ...env } });
}

/** Runs it to its end. */
export async function flowsteer(args: readonly string[], { stdin, env }: Surroundings = {}): Promise<Ended> {
  const child = start(args, env);
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdin.on("error", () => undefined);
  child.stdin.end(stdin);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, out, err };
}

const folder = mkdtempSync(join(tmpdir(), "flowsteer-cli-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A path in a folder that is removed after the tests of the file. */
export function scratch(name: string, contents?: string | Uint8Array): string {
  const path = join(folder, name);
  if (contents !== undefined) writeFileSync(path, contents);
  return path;
}
