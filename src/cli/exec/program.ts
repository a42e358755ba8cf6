/** Runs a program under the library, with the terminal of this process. */
import { spawn, type ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { badUsage, refusalLines } from "../refusal.js";
import { painter } from "../text.js";
import type { Library } from "./library.js";

/** Exit codes that shells use for a program that cannot be started. */
const CANNOT_START: Readonly<Record<string, readonly [number, string]>> = {
  ENOENT: [127, "no such program"],
  EACCES: [126, "permission denied"],
  ENOEXEC: [126, "not a program"],
};

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

/** The environment of programs whose calls go to the host at this socket. */
export function environmentOf({ preload }: Library, socket: string, env = process.env): NodeJS.ProcessEnv {
  return {
    ...env,
    LD_PRELOAD: before(preload, env["LD_PRELOAD"]),
    FLOWSTEER_SOCKET: socket,
  };
}

function before(path: string, others = ""): string {
  return others === "" ? path : `${path}:${others}`;
}

/** @returns the exit status: 128 and the number of the signal where one ended it */
export async function runProgram({ command, args }: Program, env: NodeJS.ProcessEnv): Promise<number> {
  let child: ChildProcess | null = null;
  const forward = (signal: NodeJS.Signals): void => {
    // A terminal sends SIGINT to all processes of its foreground group.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child?.kill(signal);
  };
  const signals: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
  // Before the program starts: it may signal this process at once.
  for (const signal of signals) process.on(signal, forward);
  try {
    return await new Promise<number>((resolve, reject) => {
      child = spawn(command, args, { stdio: "inherit", env });
      child.once("exit", (code, signal) => resolve(signal === null ? (code ?? 0) : 128 + constants.signals[signal]));
      child.once("error", reject);
    });
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    const [status, text] = CANNOT_START[code] ?? [126, message];
    process.stderr.write(refusalLines(painter(process.stderr), badUsage(command, text)));
    return status;
  } finally {
    for (const signal of signals) process.off(signal, forward);
  }
}
