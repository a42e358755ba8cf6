/** A Redis server on loopback, in a folder of its own. Without the program tests are skipped loudly; in CI that is an error. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";

const PROGRAM = "redis-server";

/** Whether tests can start a server. */
export const HAS_REDIS = hasRedis();

function hasRedis(): boolean {
  if (spawnSync(PROGRAM, ["--version"]).status === 0) return true;
  const text = `no ${PROGRAM}: install it (Debian: redis-server)`;
  if (process.env["CI"]) throw new Error(text);
  console.warn(`\n*** The tests of flowsteer farm are SKIPPED: ${text} ***\n`);
  return false;
}

export class RedisServer {
  readonly url: string;
  readonly #folder: string;
  readonly #port: number;
  #process: ChildProcess;

  /** Starts a server that keeps an append-only file. */
  static async start(): Promise<RedisServer> {
    const folder = mkdtempSync(join(tmpdir(), "flowsteer-redis-"));
    const port = await freePort();
    return new RedisServer(folder, port, await run(folder, port));
  }

  private constructor(folder: string, port: number, process: ChildProcess) {
    this.url = `redis://127.0.0.1:${port}`;
    this.#folder = folder;
    this.#port = port;
    this.#process = process;
  }

  /** Ends it as a power failure does, and starts it again from its append-only file. */
  async restart(): Promise<void> {
    await this.#kill();
    this.#process = await run(this.#folder, this.#port);
  }

  /** Ends it, and removes its files. */
  async end(): Promise<void> {
    await this.#kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #kill(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
  }
}

/** Starts the program and waits until it answers. */
async function run(folder: string, port: number): Promise<ChildProcess> {
  const durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, ...durable];
  const child = spawn(PROGRAM, options, { stdio: "ignore" });
  const redis = new Redis(port, "127.0.0.1", { maxRetriesPerRequest: null, retryStrategy: () => 50 });
  redis.on("error", () => undefined);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${PROGRAM} on port ${port} ended with code ${code}`);
  });
  ended.catch(() => undefined);
  try {
    await Promise.race([redis.ping(), ended]);
  } finally {
    redis.disconnect();
  }
  return child;
}

/** Below those that connections get: one that looks for a server that is gone can take its port, and connects to itself. */
const PORTS = { first: 20_000, last: 32_000 };

async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * (PORTS.last - PORTS.first));
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
