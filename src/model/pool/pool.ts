/** A device whose frames several cores steer (docs/frames.md, "Several cores"). */
import { WorkerPool } from "../../engine/workerPool.js";
import { loadCore, loadFirstCore } from "../../engine/load.js";
import { coresHere, threadsMissing } from "../../engine/thread.js";
import { inAsyncCall, refuse } from "../../errors.js";
import { Device } from "../device/device.js";
import { deviceParts, openCore, type DeviceOptions, type CheckedParts } from "../device/options.js";
import { unsigned } from "../../base/checks.js";
import type { PrintedFields } from "../../base/printable.js";
import { PoolTraffic } from "./poolTraffic.js";
import { Traffic } from "../traffic/receive.js";
import type { Core } from "../../engine/core.js";

export interface PoolOptions extends DeviceOptions {
  /**
   * The number of cores, 1 to 64, the calling thread included. @default the cores of the machine,
   * at most 16
   */
  workers?: number;
  /** @internal The smallest number of frames in a call that is divided among cores. */
  few?: number;
}

/** How the frames of a call are divided among the cores. */
export interface Distribution {
  /** The number of cores in use; 1 when the first core steers all frames. */
  readonly workers: number;
  /** The reason why only one core steers; null when all cores do. */
  readonly why: string | null;
}

const MAX_WORKERS = 64;
const DEFAULT_MAX = 16;
const FEW = 32;

/** Implements `createDevicePool` (loadPool.ts). */
export async function openPool(options: PoolOptions): Promise<DevicePool> {
  return inAsyncCall("createDevicePool", async () => {
    const parts = deviceParts(options, { workers: "number", few: "number" });
    const workers = unsigned("workers", options.workers ?? Math.min(coresHere(), DEFAULT_MAX), 32);
    if (workers < 1 || workers > MAX_WORKERS) {
      const hint = `1 to ${MAX_WORKERS}`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "workers", value: workers, hint });
    }
    const missing = workers === 1 ? "there is one worker" : threadsMissing();
    const first = missing === null ? await loadFirstCore(options.core) : null;
    if (first === null) {
      const why = missing ?? "the option core is a compiled module: give its bytes or a URL";
      return new DevicePool(openCore(await loadCore(options.core), options), parts, options, null, why);
    }
    const pool = await WorkerPool.create(first, workers);
    return new DevicePool(openCore(pool.core, options), parts, options, pool, null);
  });
}

export class DevicePool extends Device {
  /** The number of cores, the calling thread included. */
  readonly workers: number;
  readonly #pool: WorkerPool | null;
  /** The reason why the pool has one core; null when it has several. */
  readonly #alone: string | null;

  /** @internal */
  constructor(core: Core, parts: CheckedParts, options: PoolOptions, pool: WorkerPool | null, alone: string | null) {
    super(core, parts, options, (device) =>
      pool === null ? new Traffic(device) : new PoolTraffic(device, pool, options.few ?? FEW),
    );
    this.#pool = pool;
    this.#alone = alone;
    this.workers = pool?.steered.length ?? 1;
  }

  /** The number of cores that steer the next frames, and the reason if it is one. */
  get distribution(): Distribution {
    const why = this.traffic instanceof PoolTraffic ? this.traffic.why : this.#alone;
    return { workers: why === null ? this.workers : 1, why };
  }

  /**
   * The number of frames that each core has steered in divided batches; the first core comes first.
   */
  get steered(): readonly number[] {
    return this.#pool?.steered.slice() ?? [];
  }

  /**
   * @internal Frames that the calling thread has steered for worker threads that did not get to
   *   run.
   */
  get takenOver(): number {
    return this.#pool?.takenOver ?? 0;
  }

  protected override printedFields(): PrintedFields {
    return { ...super.printedFields(), workers: this.workers };
  }

  /**
   * Closes the device and ends the worker threads. @throws SteeringError EBUSY while a context is
   * open
   */
  override close(): void {
    super.close();
    this.#pool?.end();
  }
}
