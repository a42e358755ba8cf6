/** A process that does the jobs of a worker, one at a time (processes.ts). */
import { Redis } from "ioredis";
import type { Job } from "../jobs.js";
import type { Answer } from "./processes.js";
import { REDIS_URL, scenarioKey } from "../redis.js";
import { Steering } from "./steering.js";
import { work } from "./work.js";

let redis: Redis | null = null;

const steering = new Steering(async (hash) => {
  redis ??= new Redis(process.env[REDIS_URL] ?? "", { maxRetriesPerRequest: null });
  const text = await redis.get(scenarioKey(hash));
  if (text === null) throw new Error("Redis has lost the scenario of the run");
  return text;
});

async function answerTo(job: Job): Promise<Answer> {
  try {
    return { value: await work(job, steering) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

// The worker is gone, and with it the lock of the job; or it has no more jobs.
process.once("disconnect", () => process.exit());
// Signals to all processes of a terminal or a service are for the worker, which waits for this job.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
process.on("message", (job: Job) => void answerTo(job).then((answer) => process.send?.(answer)));
