/**
 * The processes of a worker, which do its jobs. BullMQ can start processes too, but waits without end for one that ends
 * while it starts.
 */
import { fork, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Job } from "../jobs.js";

/** What a process answers: a result, or why there is none. */
export type Answer = { readonly value: unknown } | { readonly error: string };

export class Processes {
  readonly #file = processorFile();
  readonly #env: NodeJS.ProcessEnv;
  readonly #idle = new Set<ChildProcess>();

  /** @param env the variables of the processes */
  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** Has a process do a job: one that has nothing to do, else a new one. @throws Error the job failed, or its process ended */
  async run(job: Job): Promise<unknown> {
    const child = this.#take();
    const answer = await answerOf(child, job);
    this.#idle.add(child);
    if ("error" in answer) throw new Error(answer.error);
    return answer.value;
  }

  /** Ends all processes. Call it when no job is under way. */
  end(): void {
    for (const child of this.#idle) if (child.connected) child.disconnect();
    this.#idle.clear();
  }

  #take(): ChildProcess {
    for (const child of this.#idle) {
      this.#idle.delete(child);
      // Others have ended meanwhile.
      if (child.connected) return child;
    }
    return fork(this.#file, { env: this.#env });
  }
}

/** Gives a job to a process. @throws Error the process ended */
function answerOf(child: ChildProcess, job: Job): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    const ended = (code: number | null, signal: string | null): void => {
      reject(
        new Error(signal === null ? `its process ended with exit code ${code}` : `its process was ended by ${signal}`),
      );
    };
    child.once("exit", ended).once("error", reject);
    child.once("message", (answer: Answer) => {
      child.off("exit", ended).off("error", reject);
      resolve(answer);
    });
    // A process that is gone says so by `exit`.
    child.send(job, () => undefined);
  });
}

/** The bundle of child.ts. */
function processorFile(): string {
  const file = new URL("./farm-child.js", import.meta.url);
  if (!existsSync(file)) throw new Error(`${fileURLToPath(file)} is missing: a farm runs from the built package`);
  return fileURLToPath(file);
}
