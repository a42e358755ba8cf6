/** The built command (scripts/tests-setup.mjs). */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setting } from "../../support/tier.js";
import { isShort, runWarm } from "./warm.js";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

const COMMAND = join(root, "dist/cli.js");

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

export interface Surroundings {
  stdin?: Uint8Array;
  env?: Record<string, string>;
}

/** Starts `flowsteer ...args` in the project's root; `command` is the file of another package. */
export function start(
  args: readonly string[],
  env: Record<string, string> = {},
  command = COMMAND,
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [command, ...args], { cwd: root, env: { ...process.env, ...env } });
}

/** Runs it to its end, in a process of its own where it needs one and with FLOWSTEER_PROCESSES=1. */
export async function flowsteer(args: readonly string[], { stdin, env }: Surroundings = {}): Promise<Ended> {
  if (env === undefined && isShort(args) && setting("FLOWSTEER_PROCESSES") !== "1") return runWarm(args, stdin);
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
// Test files of one process share this module.
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

/** A path in a folder that is removed when the process of the tests ends. */
export function scratch(name: string, contents?: string | Uint8Array): string {
  const path = join(folder, name);
  if (contents !== undefined) writeFileSync(path, contents);
  return path;
}
