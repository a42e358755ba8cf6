/** A machine's share of runs: BullMQ takes jobs from the queue and gives them to processes. */
import { hostname } from "node:os";
import { Worker } from "bullmq";
import type { Redis } from "ioredis";
import type { Interruption } from "../../interruption.js";
import { version } from "../../version.js";
import { PREFIX, queueName, type Job } from "../jobs.js";
import { Processes } from "./processes.js";
import { REDIS_URL, VERSIONS } from "../redis.js";

/** How often a job starts again after its machine was lost. A lost machine is no fault of the job. */
const MAX_STALLS = 100;

export interface WorkerSettings {
  readonly url: string;
  /** Processes. */
  readonly processes: number;
  /** Seconds after which the jobs of a machine that is not heard of go to another one. */
  readonly lock: number;
}

/** Takes jobs until a signal comes. Jobs that have begun are done first. `tell` gets what went wrong, in words. */
export async function takeJobs(
  redis: Redis,
  { url, processes, lock }: WorkerSettings,
  interruption: Interruption,
  tell: (text: string) => void,
): Promise<void> {
  await redis.sadd(VERSIONS, version());
  const lockDuration = 1000 * lock;
  const steering = new Processes({ ...process.env, [REDIS_URL]: url });
  const worker = new Worker(queueName(), ({ data }) => steering.run(data as Job), {
    connection: redis,
    prefix: PREFIX,
    name: hostname(),
    concurrency: processes,
    lockDuration,
    stalledInterval: lockDuration / 2,
    maxStalledCount: MAX_STALLS,
  });
  worker.on("error", ({ message }) => tell(message));
  worker.on("failed", (_, { message }) => tell(message));
  await new Promise<void>((resolve) => (interruption.stop = resolve));
  await worker.close();
  steering.end();
}
