/** A process that runs commands one after the other: the start of a process takes a third of a second. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ROOT } from "../../support/root.js";
import type { Ended } from "./command.js";

/** Commands that read, answer and end. */
const SHORT = ["check", "cover", "diff", "export", "fields", "help", "import", "parse", "run", "trace", "why"];
/** Devices are freed late, and the addresses of a process are limited. */
const MAX_COMMANDS = 100;

interface Warm {
  readonly child: ChildProcess;
  readonly gone: Promise<never>;
  commands: number;
}

let warm: Warm | null = null;
let last: Promise<unknown> = Promise.resolve();

/** Whether a command needs no process of its own, as for threads and the files of the process. */
export function isShort([command = "", ...rest]: readonly string[]): boolean {
  return SHORT.includes(command) && !rest.some((arg) => /^(--color|--workers|\/dev\/|\/proc\/)/.test(arg));
}

/** Runs a command, after those before it. */
export function runWarm(args: readonly string[], stdin: Uint8Array | undefined): Promise<Ended> {
  const ended = last.then(() => ask(args, stdin));
  last = ended.catch(() => undefined);
  return ended;
}

async function ask(args: readonly string[], stdin: Uint8Array | undefined): Promise<Ended> {
  const used = (warm ??= begin());
  const { child, gone } = used;
  const answer = once(child, "message");
  child.send({ args, stdin });
  const [ended] = (await Promise.race([answer, gone])) as [Ended];
  if (++used.commands === MAX_COMMANDS) {
    child.disconnect();
    warm = null;
  }
  return ended;
}

function begin(): Warm {
  const child = fork(fileURLToPath(new URL("warmCommand.mjs", import.meta.url)), {
    cwd: ROOT,
    serialization: "advanced",
  });
  // It ends when this process does.
  child.unref();
  child.channel?.unref();
  const gone = once(child, "exit").then(([code]) => {
    throw new Error(`the process of the commands ended with ${code}`);
  });
  gone.catch(() => {
    if (warm?.child === child) warm = null;
  });
  return { child, gone, commands: 0 };
}
