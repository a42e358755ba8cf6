/** A core of a pool that fails is an error (docs/frames.md). */
import { expect, test } from "vitest";
import type { Start } from "../../../src/engine/workerControl.js";
import { createDevicePool, createSink } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { ibv_open_device } from "../../../src/verbs/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";

const frames = Array.from({ length: 100 }, () => ipv4Frame());

/** A thread that a test can reach. */
interface CaughtThread {
  readonly start: Start;
  /** Ends it abruptly; resolves when that is known. */
  kill(): Promise<unknown>;
}

interface AnyWorker {
  postMessage(start: Start): void;
  terminate(): unknown;
}

/** Runs a function that starts threads; returns its result and the threads. */
async function caught<T>(work: () => Promise<T>): Promise<{ result: T; threads: CaughtThread[] }> {
  const home = process.getBuiltinModule("node:worker_threads") as { Worker: unknown };
  const Worker = home.Worker as new (...parameters: unknown[]) => AnyWorker;
  const threads: CaughtThread[] = [];
  home.Worker = class extends Worker {
    override postMessage(start: Start): void {
      threads.push({ start, kill: () => Promise.resolve(this.terminate()) });
      super.postMessage(start);
    }
  };
  try {
    return { result: await work(), threads };
  } finally {
    home.Worker = Worker;
  }
}

test("a thread that has ended", async () => {
  const { result: pool, threads } = await caught(() => createDevicePool({ workers: 2 }));
  pool.receiveBatch(1, frames);
  await threads[0]!.kill();
  expect(() => pool.receiveBatch(1, frames)).toThrow(/a worker of the pool has failed.*it has ended/);
  expect(pool.receive(1, frames[0]!).reason).toBe("no_rule");
  pool.close();
});

test("a trap", async () => {
  const { result: pool, threads } = await caught(() => createDevicePool({ workers: 3, cache: false }));
  const context = ibv_open_device(pool);
  const root = dv.mlx5dv_dr_table_create(dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX), 0);
  const { match_criteria_enable, mask, value } = dv.matchParameters({ "outer.tcp_dport": 80 });
  const matcher = dv.mlx5dv_dr_matcher_create(root, 0, match_criteria_enable, mask);
  dv.mlx5dv_dr_rule_create(matcher, value, 1, [dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, "web"))]);
  pool.receiveBatch(1, frames);
  const { arena } = pool.core;
  new Uint8Array(threads[1]!.start.memory.buffer).fill(0xff, arena, arena + 1_000_000);
  // Whichever thread failed.
  const failed = /out of bounds|unreachable/;
  expect(() => pool.receiveBatch(1, frames)).toThrow(failed);
  expect(() => pool.receiveBatch(1, frames)).toThrow(failed);
  pool.users = 0;
  pool.close();
});
