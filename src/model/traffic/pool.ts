/** A device whose frames several cores steer: docs/frames.md, "Several cores". */
import { WorkerPool } from "../../engine/workerPool.js";
import { loadCore, loadFirstCore } from "../../engine/load.js";
import { coresHere, threadsMissing } from "../../engine/thread.js";
import { refuse } from "../../errors.js";
import { Device, deviceParts, openCore, type DeviceOptions, type CheckedParts } from "../device/device.js";
import { unsigned } from "../../checks.js";
import type { PrintedFields } from "../../printable.js";
import { PoolTraffic } from "./poolTraffic.js";
import { Traffic } from "./receive.js";
import type { Core } from "../../engine/core.js";

export interface PoolOptions extends DeviceOptions {
  /** Cores, the thread of the caller with them: 1 to 64. @default as many as the machine has, 16 at the most */
  workers?: number;
  /** @internal Frames of a call that are worth waking others for. */
  few?: number;
}

/** Over how many cores frames are spread. */
export interface Distribution {
  /** 1: the first of them steers all frames. */
  readonly workers: number;
  /** What keeps them there; null where nothing does. */
  readonly why: string | null;
}

const MOST_WORKERS = 64;
const MOST_BY_DEFAULT = 16;
const FEW = 32;

/** What `createDevicePool` does (loadPool.ts). */
export async function openPool(options: PoolOptions): Promise<DevicePool> {
  const call = "createDevicePool";
  const parts = deviceParts(call, options, { workers: "number", few: "number" });
  const workers = unsigned(call, "workers", options.workers ?? Math.min(coresHere(), MOST_BY_DEFAULT), 32);
  if (workers < 1 || workers > MOST_WORKERS) {
    const hint = `1 to ${MOST_WORKERS}`;
    refuse({ code: "EINVAL", call, reason: "out_of_range", path: "workers", value: workers, hint });
  }
  const missing = workers === 1 ? "there is one worker" : threadsMissing();
  const first = missing === null ? await loadFirstCore(options.core) : null;
  if (first === null) {
    const why = missing ?? "the core is a compiled module: bring its bytes, or a URL";
    return new DevicePool(openCore(await loadCore(options.core), parts, options), parts, options, null, why);
  }
  const pool = await WorkerPool.create(first, workers);
  return new DevicePool(openCore(pool.core, parts, options), parts, options, pool, null);
}

export class DevicePool extends Device {
  /** Cores, the thread of the caller with them. */
  readonly workers: number;
  readonly #pool: WorkerPool | null;
  /** Why there is one core. */
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

  /** Over how many cores frames that come in now are spread, and what keeps them at the first one. */
  get distribution(): Distribution {
    const why = this.traffic instanceof PoolTraffic ? this.traffic.why : this.#alone;
    return { workers: why === null ? this.workers : 1, why };
  }

  /** Frames of batches that were spread, for each core, the first one first. */
  get steered(): readonly number[] {
    return this.#pool?.steered.slice() ?? [];
  }

  /** @internal Those of them that other threads were to steer and this one has, because they were not let run. */
  get takenOver(): number {
    return this.#pool?.takenOver ?? 0;
  }

  protected override printedFields(): PrintedFields {
    return { ...super.printedFields(), workers: this.workers };
  }

  /** Ends the threads too. @throws SteeringError EBUSY while a context is open */
  override close(): void {
    super.close();
    this.#pool?.end();
  }
}
