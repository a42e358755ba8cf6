/**
 * The receive requests of a queue in order: those of one receive queue, or of a shared one that
 * several receive queues take from.
 */
import { NO_REQUEST } from "../../abi/engine.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { lengthOf } from "./scatter.js";

/** A posted request with the memory views that it named. */
export interface PostedBuffer {
  readonly wr_id: bigint | number;
  readonly views: readonly Uint8Array[];
}

/** The size of the ring in the core: a power of two of at least `requests` entries. */
export function depthOf(requests: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(requests, 1)));
}

export class PostedBuffers {
  readonly #device: DeviceBase;
  /** The queue's handle in the core. */
  readonly #handle: number;
  /** Whether the core knows the requests: it then selects the oldest one. */
  readonly #inCore: boolean;
  #depth: number;
  #ring: PostedBuffer[] = [];
  /** Requests posted, and requests taken, counted since the queue was created. */
  #tail = 0;
  #head = 0;

  constructor(device: DeviceBase, handle: number, requests: number, inCore: boolean) {
    this.#device = device;
    this.#handle = handle;
    this.#inCore = inCore;
    this.#depth = depthOf(requests);
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#tail - this.#head;
  }

  /** Appends a request. There must be room. */
  push(buffer: PostedBuffer): void {
    this.#ring[this.#tail++ % this.#depth] = buffer;
    if (this.#inCore) this.#device.core.exports.postBuffer(this.#handle, lengthOf(buffer.views));
  }

  /** The request with this number, which the core has taken for a frame. */
  taken(request: number): PostedBuffer | undefined {
    this.#head++;
    return this.#ring[request % this.#depth];
  }

  /** Takes the oldest request; null without one. */
  take(): PostedBuffer | null {
    if (this.waiting === 0) return null;
    // The core may have taken requests for frames that have not reached the host yet.
    const request = this.#inCore ? this.#device.core.exports.takeBuffer(this.#handle) >>> 0 : this.#head;
    if (request === NO_REQUEST) return null;
    this.#head++;
    return this.#ring[request % this.#depth] ?? null;
  }

  /** Makes room for so many requests, at least those that wait. @throws ENOMEM */
  resize(call: string, requests: number): void {
    const depth = depthOf(requests);
    if (depth === this.#depth) return;
    this.#device.allocated(call, Number(this.#device.core.exports.resizeQueue(this.#handle, depth)));
    const ring: PostedBuffer[] = [];
    for (let i = this.#head; i < this.#tail; i++) ring[i % depth] = this.#ring[i % this.#depth] as PostedBuffer;
    this.#ring = ring;
    this.#depth = depth;
  }

  /** Removes all requests, and returns them. */
  clear(): PostedBuffer[] {
    const rest: PostedBuffer[] = [];
    for (let i = this.#head; i < this.#tail; i++) rest.push(this.#ring[i % this.#depth] as PostedBuffer);
    this.#device.core.exports.clearQueue(this.#handle);
    this.#head = this.#tail;
    return rest;
  }
}
