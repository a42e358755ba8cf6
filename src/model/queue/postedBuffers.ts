/**
 * The receive requests of a queue in order: those of one receive queue, or of a shared one that
 * several receive queues take from.
 */
import { NO_REQUEST } from "../../abi/engine.js";
import type { MemoryRegion } from "../base/context.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { lengthOf } from "./scatter.js";

/** A posted request with the memory views that it named. */
export interface PostedBuffer {
  readonly wr_id: bigint | number;
  readonly views: readonly Uint8Array[];
  /** The regions that the views lie in. */
  readonly regions: readonly MemoryRegion[];
}

/** Whether a region of the request was deregistered after it was posted. */
export function isRevoked({ regions }: Pick<PostedBuffer, "regions">): boolean {
  return regions.some(({ destroyed }) => destroyed);
}

/** The size of the ring in the core: a power of two of at least `requests` entries. */
export function depthOf(requests: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(requests, 1)));
}

export class PostedBuffers {
  private readonly _device: DeviceBase;
  /** The queue's handle in the core. */
  private readonly _handle: number;
  /** Whether the core knows the requests: it then selects the oldest one. */
  private readonly _inCore: boolean;
  private _depth: number;
  private _ring: PostedBuffer[] = [];
  /** Requests posted, and requests taken, counted since the queue was created. */
  private _tail = 0;
  private _head = 0;

  constructor(device: DeviceBase, handle: number, requests: number, inCore: boolean) {
    this._device = device;
    this._handle = handle;
    this._inCore = inCore;
    this._depth = depthOf(requests);
  }

  /** Requests that wait. */
  get waiting(): number {
    return this._tail - this._head;
  }

  /** The lengths of the requests that wait, the oldest first. */
  get lengths(): number[] {
    return Array.from({ length: this.waiting }, (_, n) => {
      return lengthOf((this._ring[(this._head + n) % this._depth] as PostedBuffer).views);
    });
  }

  /** Appends a request. There must be room. */
  push(buffer: PostedBuffer): void {
    this._ring[this._tail++ % this._depth] = buffer;
    if (this._inCore) this._device.core.exports.postBuffer(this._handle, lengthOf(buffer.views));
  }

  /** The request with this number, which the core has taken for a frame. */
  taken(request: number): PostedBuffer | undefined {
    this._head++;
    return this._ring[request % this._depth];
  }

  /** Takes the oldest request; null without one. */
  take(): PostedBuffer | null {
    if (this.waiting === 0) return null;
    // The core may have taken requests for frames that have not reached the host yet.
    const request = this._inCore ? this._device.core.exports.takeBuffer(this._handle) >>> 0 : this._head;
    if (request === NO_REQUEST) return null;
    this._head++;
    return this._ring[request % this._depth] ?? null;
  }

  /** Makes room for so many requests, at least those that wait. @throws ENOMEM */
  resize(requests: number): void {
    const depth = depthOf(requests);
    if (depth === this._depth) return;
    this._device.allocated(Number(this._device.core.exports.resizeQueue(this._handle, depth)));
    const ring: PostedBuffer[] = [];
    for (let i = this._head; i < this._tail; i++) ring[i % depth] = this._ring[i % this._depth] as PostedBuffer;
    this._ring = ring;
    this._depth = depth;
  }

  /** Removes all requests, and returns them. */
  clear(): PostedBuffer[] {
    const rest: PostedBuffer[] = [];
    for (let i = this._head; i < this._tail; i++) rest.push(this._ring[i % this._depth] as PostedBuffer);
    this._device.core.exports.clearQueue(this._handle);
    this._head = this._tail;
    return rest;
  }
}
