/** The queue of a run: puts jobs, and gives what has become of them. */
import { Queue, QueueEvents } from "bullmq";
import type { Redis } from "ioredis";
import { hashOf, identityOf, PREFIX, queueName, type Job } from "../jobs.js";
import { scenarioKey, VERSIONS } from "../redis.js";
import { version } from "../../version.js";

/** Times that a job is tried, if it fails or its process ends. */
export const ATTEMPTS = 3;
/** Seconds for which Redis keeps results, and scenarios after their last use. */
const KEPT = 7 * 24 * 3600;
/** Jobs that are put at a time. */
const BULK = 500;
/** Milliseconds after which a job is asked about although no event has told of it. */
const ASK_AGAIN = 2000;

const LOST = "Redis has lost the job";

/** What has become of a job. */
export type Ended = { readonly value: unknown } | { readonly failed: string };

export class Farm {
  readonly #redis: Redis;
  /** Waits for events, so nothing else can use it. */
  readonly #eventsRedis: Redis;
  readonly #queue: Queue<Job>;
  readonly #events: QueueEvents;
  /** By the identity of a job: wakes who waits for it. */
  readonly #waiting = new Map<string, () => void>();
  /** Jobs that events have told of, and nobody has asked about since. */
  readonly #told = new Set<string>();
  #stopped = false;
  /** Jobs that ended since the farm was opened, and that failed. */
  readonly counts = { done: 0, failed: 0 };

  /** @param redis a connection of `connect`, which `close` ends */
  static async open(redis: Redis, tell: (text: string) => void): Promise<Farm> {
    const farm = new Farm(redis, tell);
    await farm.#events.waitUntilReady();
    return farm;
  }

  private constructor(redis: Redis, tell: (text: string) => void) {
    const options = { connection: redis, prefix: PREFIX };
    this.#redis = redis;
    this.#eventsRedis = redis.duplicate({ lazyConnect: false });
    this.#queue = new Queue<Job>(queueName(), options);
    this.#events = new QueueEvents(queueName(), { ...options, connection: this.#eventsRedis });
    this.#queue.on("error", ({ message }) => tell(message));
    this.#events.on("error", ({ message }) => tell(message));
    this.#events.on("completed", ({ jobId }) => this.#wake(jobId, "done"));
    this.#events.on("failed", ({ jobId }) => this.#wake(jobId, "failed"));
  }

  /** Keeps the text of a scenario for workers. Gives its hash. */
  async keepScenario(text: string): Promise<string> {
    const hash = hashOf(text);
    await this.#redis.set(scenarioKey(hash), text, "EX", KEPT);
    return hash;
  }

  /**
   * Puts jobs into the queue, or before all others there. A job that is there stays, with its result; one that has failed
   * begins anew.
   */
  async put(jobs: readonly Job[], before = false): Promise<string[]> {
    const identities = jobs.map(identityOf);
    for (let first = 0; first < jobs.length; first += BULK) {
      const some = identities.slice(first, first + BULK);
      await Promise.all(some.map((identity) => this.#forgetFailed(identity)));
      await this.#queue.addBulk(
        some.map((jobId, i) => ({
          name: (jobs[first + i] as Job).kind,
          data: jobs[first + i] as Job,
          opts: {
            jobId,
            lifo: before,
            attempts: ATTEMPTS,
            removeOnComplete: { age: KEPT },
            removeOnFail: { age: KEPT },
          },
        })),
      );
    }
    return identities;
  }

  /** Waits for the end of a job. Null after `stop`. */
  async ended(identity: string): Promise<Ended | null> {
    while (!this.#stopped) {
      this.#told.delete(identity);
      const state = await this.#queue.getJobState(identity);
      if (state === "unknown") return { failed: LOST };
      if (state === "completed" || state === "failed") {
        // Read after its state: it holds the result now.
        const job = await this.#queue.getJob(identity);
        if (job === undefined) return { failed: LOST };
        return state === "completed" ? { value: job.returnvalue as unknown } : { failed: job.failedReason };
      }
      await this.#event(identity);
    }
    return null;
  }

  /** Ends all waiting. */
  stop(): void {
    this.#stopped = true;
    for (const wake of this.#waiting.values()) wake();
  }

  /** Takes jobs back that nobody does yet, and forgets results. */
  async forget(identities: readonly string[]): Promise<void> {
    for (let first = 0; first < identities.length; first += BULK) {
      // A job that is being done cannot be removed: its result is kept for the next run.
      await Promise.allSettled(identities.slice(first, first + BULK).map((identity) => this.#queue.remove(identity)));
    }
  }

  /** Machines that take jobs of this version. */
  async workers(): Promise<number> {
    return this.#queue.getWorkersCount();
  }

  /** Other versions that have workers now. */
  async otherVersions(): Promise<string[]> {
    const known = await this.#redis.smembers(VERSIONS);
    const others: string[] = [];
    for (const other of known.filter((one) => one !== version())) {
      const queue = new Queue(queueName(other), { connection: this.#redis, prefix: PREFIX, skipMetasUpdate: true });
      if ((await queue.getWorkersCount()) > 0) others.push(other);
    }
    return others.sort();
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#events.close(), this.#queue.close()]);
    for (const redis of [this.#redis, this.#eventsRedis]) redis.disconnect();
  }

  async #forgetFailed(identity: string): Promise<void> {
    if ((await this.#queue.getJobState(identity)) === "failed") await this.#queue.remove(identity);
  }

  /** Waits for an event of the job, or for some time: events may be lost while Redis restarts. */
  async #event(identity: string): Promise<void> {
    if (this.#told.has(identity) || this.#stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ASK_AGAIN);
      this.#waiting.set(identity, () => {
        clearTimeout(timer);
        resolve();
      });
    });
    this.#waiting.delete(identity);
  }

  #wake(identity: string, how: "done" | "failed"): void {
    this.counts[how]++;
    this.#told.add(identity);
    this.#waiting.get(identity)?.();
  }
}
