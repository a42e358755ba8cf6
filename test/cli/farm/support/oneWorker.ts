/** A Redis server and a worker of two processes, for all tests of a group. */
import { afterAll, beforeAll } from "vitest";
import { RedisServer } from "./redis.js";
import { FarmWorker } from "./workers.js";

/** Call it in `describe`. @returns the URL of the server, from `beforeAll` on */
export function withOneWorker(): () => string {
  let redis: RedisServer | undefined;
  let worker: FarmWorker | undefined;
  beforeAll(async () => {
    redis = await RedisServer.start();
    worker = await FarmWorker.start(redis.url, ["--workers", "2"]);
  });
  afterAll(async () => {
    await worker?.stop();
    await redis?.end();
  });
  return () => (redis as RedisServer).url;
}
