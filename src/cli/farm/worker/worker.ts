/** A machine's share of runs: BullMQ takes jobs from the queue and gives them to processes. */
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "bullmq";
import type { Redis } from "ioredis";
import type { Interruption } from "../../interruption.js";
import { version } from "../../version.js";
import { PREFIX, queueName, type Job } from "../jobs.js";
import { Processes } from "./processes.js";
import { REDIS_URL, VERSIONS } from "../redis.js";

/** How often a job starts again after its machine was lost. A lost machine is no fault of the job. */
const MAX_STALLS = 100;

/** Milliseconds in which a worker without jobs takes leave of Redis. */
const GRACE = 2000;

export interface WorkerSettings {
  readonly url: string;
  /** Processes. */
  readonly processes: number;
  /** Seconds after which the jobs of a machine that is not heard of go to another one. */
  readonly lock: number;
}

/**
 * Takes jobs until a signal comes. Jobs that have begun are done first.
 * @param tell gets what went wrong, in words
 * @returns whether its connections are closed; otherwise they keep the process
 */
export async function takeJobs(
  redis: Redis,
  { url, processes, lock }: WorkerSettings,
  interruption: Interruption,
  tell: (text: string) => void,
): Promise<boolean> {
  await redis.sadd(VERSIONS, version());
  const lockDuration = 1000 * lock;
  const steering = new Processes({ ...process.env, [REDIS_URL]: url });
  const begun = new Set<Promise<unknown>>();
  const steer = ({ data }: { data: Job }): Promise<unknown> => {
    const job = steering.run(data).finally(() => begun.delete(job));
    begun.add(job);
    return job;
  };
  const worker = new Worker<Job>(queueName(), steer, {
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
  const isClosed = await ended(worker, begun);
  steering.end();
  return isClosed;
}

/** Closes a worker once its jobs are done. BullMQ waits without end for a connection that is being made again. */
async function ended(worker: Worker<Job>, begun: ReadonlySet<Promise<unknown>>): Promise<boolean> {
  const closed = worker.close().then(() => true);
  const patience = new AbortController();
  try {
    for (;;) {
      await Promise.allSettled(begun);
      if (await Promise.race([closed, wait(GRACE, false, patience)])) return true;
      if (begun.size === 0) return false;
    }
  } finally {
    patience.abort();
  }
}
