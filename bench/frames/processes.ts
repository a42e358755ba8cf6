/** Runs processes and measures their time from start to end. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The project's folder; the same path from here and from the bundle in build/bench/. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

export interface Ended {
  code: number | null;
  out: string;
  err: string;
  /** What it wrote to its third descriptor. */
  more: string;
  /** Wall time. */
  seconds: number;
}

/**
 * CPU seconds of a program in all its threads, until it ends, its output thrown away.
 * @throws where it fails
 */
export async function cpuSecondsOf(program: string, args: readonly string[]): Promise<number> {
  // The shell's own times of its children: POSIX, times.
  const { out } = await runWell("sh", ["-c", '"$@" >/dev/null 2>&1 || exit 1; times', "sh", program, ...args]);
  const children = /\n(\d+)m([\d.]+)s (\d+)m([\d.]+)s/.exec(out);
  if (children === null) throw new Error(`bench: the shell does not say the times of its children: ${out}`);
  const [user = 0, seconds = 0, system = 0, more = 0] = children.slice(1).map(Number);
  return 60 * (user + system) + seconds + more;
}

/** Time limit of a process in milliseconds. */
const PATIENCE = 600_000;

/**
 * Removes settings that make every Node process of a machine load more: that time would be part of
 * all competitors.
 */
const ENVIRONMENT = { ...process.env, NODE_EXTRA_CA_CERTS: undefined, NODE_OPTIONS: undefined };

/** Runs a program in the folder of the project. @throws where it cannot be started */
export function runProcess(program: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const stdio = ["ignore", "pipe", "pipe", "pipe"] as const;
    const child = spawn(program, args, { cwd: root, env: ENVIRONMENT, stdio: [...stdio] });
    const patience = setTimeout(() => child.kill(), PATIENCE);
    const texts = ["", "", "", ""] as [string, string, string, string];
    for (const n of [1, 2, 3] as const) child.stdio[n]?.on("data", (data: Buffer) => (texts[n] += data.toString()));
    // A program that is missing only says so here.
    child.on("error", (error) => {
      clearTimeout(patience);
      reject(error);
    });
    child.on("close", (code) => {
      clearTimeout(patience);
      const [, out, err, more] = texts;
      resolve({ code, out, err, more, seconds: (performance.now() - start) / 1000 });
    });
  });
}

/** The same; throws if it fails. */
export async function runWell(program: string, args: readonly string[]): Promise<Ended> {
  const ended = await runProcess(program, args);
  if (ended.code === 0) return ended;
  const how = ended.code === null ? `is ended after ${Math.round(ended.seconds)} s` : `ends with ${ended.code}`;
  throw new Error(`bench: ${program} ${args.join(" ")} ${how}: ${ended.err}${ended.out.slice(-2000)}`);
}
