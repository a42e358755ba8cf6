/** The memory for the receive requests of a queue: buffers of one size, side by side. */
import { IBV_ACCESS_LOCAL_WRITE } from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import { MemoryRegion, type ProtectionDomain } from "../../model/base/context.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { WorkQueue } from "../../model/queue/workQueue.js";

const DEFAULT_SIZE = 2048;
/** The most bytes of all receive buffers of a queue. */
const MAX_MEMORY = 2 ** 28;

export class ReceiveMemory {
  readonly #count: number;
  readonly #size: number;
  readonly #memory: Uint8Array;
  readonly #lkey: number;

  /**
   * @param count requests to post
   * @throws ENOMEM more bytes than a queue of a scenario may have
   */
  constructor(pd: ProtectionDomain, count: number, bufferSize = DEFAULT_SIZE) {
    if (count * bufferSize > MAX_MEMORY) {
      const hint = `buffers times bufferSize is at most ${MAX_MEMORY} bytes`;
      refuse({ code: "ENOMEM", reason: "no_memory", path: "bufferSize", value: bufferSize, hint });
    }
    this.#count = count;
    this.#size = bufferSize;
    this.#memory = new Uint8Array(count * bufferSize);
    this.#lkey = new MemoryRegion(pd, this.#memory, undefined, IBV_ACCESS_LOCAL_WRITE).lkey;
  }

  /** Posts a request for each buffer, numbered from 0. */
  post(to: QueuePair | WorkQueue): void {
    for (let i = 0; i < this.#count; i++) {
      to.post({ wr_id: i, sg_list: [{ addr: this.buffer(i), lkey: this.#lkey }] });
    }
  }

  /** The buffer of a request. */
  buffer(i: bigint | number): Uint8Array {
    const first = Number(i) * this.#size;
    return this.#memory.subarray(first, first + this.#size);
  }
}
