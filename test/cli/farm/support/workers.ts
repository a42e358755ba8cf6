/** Workers of a farm as processes, which tests end, pause and start again. */
import { execFileSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { start } from "../../support/command.js";

export class FarmWorker {
  readonly #process: ChildProcess;
  #err = "";

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#err += text));
  }

  /** Starts a worker, and waits until it serves the queue. */
  static async start(
    url: string,
    options: readonly string[] = [],
    env: Record<string, string> = {},
    command?: string,
  ): Promise<FarmWorker> {
    const args = ["farm", "worker", "--redis", url, "--lock", "1", ...options];
    const worker = new FarmWorker(start(args, env, command));
    await worker.says(" serves ");
    return worker;
  }

  /** Waits for a text on standard error. */
  async says(text: string): Promise<void> {
    while (!this.#err.includes(text)) {
      if (this.#process.exitCode !== null) throw new Error(`the worker has ended: ${this.#err}`);
      await once(this.#process.stderr as NodeJS.ReadableStream, "data");
    }
  }

  /** The processes that steer. */
  get children(): number[] {
    try {
      const list = execFileSync("pgrep", ["-P", String(this.#process.pid)], { encoding: "utf8" });
      return list.trim().split("\n").map(Number);
    } catch {
      return [];
    }
  }

  /** Sends a signal to the worker and its processes. */
  signalAll(signal: NodeJS.Signals): void {
    for (const pid of [this.#process.pid as number, ...this.children]) trySignal(pid, signal);
  }

  /** Ends one of its processes, as a fault of memory does. */
  killChild(which: number): void {
    const { children } = this;
    const pid = children[which % Math.max(1, children.length)];
    if (pid !== undefined) trySignal(pid, "SIGKILL");
  }

  /** Ends it as a power failure does. */
  async kill(): Promise<void> {
    const ended = this.#ended();
    this.signalAll("SIGKILL");
    await ended;
  }

  /** Ends it as systemd does. @returns the exit code */
  async stop(): Promise<number | null> {
    const ended = this.#ended();
    this.#process.kill("SIGTERM");
    await ended;
    return this.#process.exitCode;
  }

  async #ended(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, "exit");
  }
}

function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It may have ended by itself.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
