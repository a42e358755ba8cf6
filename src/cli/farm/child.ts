/** A process that does the jobs of a worker, one at a time. BullMQ starts it, and starts another one where it ends. */
import { Redis } from "ioredis";
import type { Job } from "./jobs.js";
import { REDIS_URL, scenarioKey } from "./redis.js";
import { Steering } from "./steering.js";
import { work } from "./work.js";

let redis: Redis | null = null;

const steering = new Steering(async (hash) => {
  redis ??= new Redis(process.env[REDIS_URL] ?? "", { maxRetriesPerRequest: null });
  const text = await redis.get(scenarioKey(hash));
  if (text === null) throw new Error("Redis has lost the scenario of the run");
  return text;
});

// The worker is gone, and with it the lock of the job.
process.once("disconnect", () => process.exit());

export default (job: { readonly data: Job }): Promise<unknown> => work(job.data, steering);
