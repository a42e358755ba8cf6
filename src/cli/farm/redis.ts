/** The connection of a farm to Redis. Only code that is loaded on demand imports this file. */
import { Redis } from "ioredis";
import { badUsage } from "../refusal.js";

/** Tells the processes of a worker where Redis is: a URL can hold a password, which command lines would show. */
export const REDIS_URL = "FLOWSTEER_FARM_REDIS";

/** The key of the set of versions whose workers have been here. */
export const VERSIONS = "flowsteer:versions";

/** Milliseconds between attempts to connect again. */
const RETRY = 500;
/** Milliseconds in which Redis answers a new connection. */
const PATIENCE = 10_000;

/** The key of a scenario's text. */
export function scenarioKey(hash: string): string {
  return `flowsteer:scenario:${hash}`;
}

/**
 * Connects. Later losses of the connection are waited out.
 * @throws CommandRefusal there is no Redis
 */
export async function connect(url: string): Promise<Redis> {
  if (!/^rediss?:\/\//.test(url))
    throw badUsage(`--redis ${shown(url)}`, "expected redis://HOST:PORT, or rediss://HOST:PORT for TLS");
  let isThere = false;
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: null,
    retryStrategy: () => (isThere ? RETRY : null),
  });
  let problem: Error | null = null;
  redis.on("error", (error: Error) => (problem = error));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const silent = new Error(`it accepts connections, but has not answered in ${PATIENCE / 1000} s`);
    timer = setTimeout(() => reject(silent), PATIENCE);
  });
  try {
    await Promise.race([redis.connect(), late]);
  } catch (error) {
    redis.disconnect();
    throw badUsage(`--redis ${shown(url)}`, `Redis cannot be reached: ${messageOf(problem ?? (error as Error))}`);
  } finally {
    clearTimeout(timer);
  }
  isThere = true;
  return redis;
}

/** The URL without its password. */
export function shown(url: string): string {
  return url.replace(/\/\/[^@/]*@/, "//");
}

function messageOf(error: Error): string {
  const first: unknown = (error as Partial<AggregateError>).errors?.[0];
  return error.message || (first instanceof Error ? first.message : error.name);
}
