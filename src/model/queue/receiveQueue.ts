/**
 * The receive queue of a queue pair or a work queue: it holds the buffers for incoming frames. The
 * core knows the lengths of the buffers and selects one for each frame; this class writes the
 * bytes.
 */
import { Reason } from "../../abi/engine.js";
import { IBV_WC_LOC_LEN_ERR, IBV_WC_RECV, IBV_WC_SUCCESS, IBV_WC_WR_FLUSH_ERR } from "../../abi/verbs.js";
import type { BatchDestination } from "../../engine/batch.js";
import { refuse } from "../../errors.js";
import { joined } from "../../packet/bytes.js";
import { completion, type CompletionQueue, type WorkCompletion } from "./completionQueue.js";
import type { ProtectionDomain } from "../base/context.js";
import type { Handle } from "../base/handle.js";
import { checkViews, lengthOf, scatter, viewsOf, type WorkRequest } from "./scatter.js";

/** `struct ibv_recv_wr` */
export interface ReceiveRequest extends WorkRequest {
  next?: ReceiveRequest | null | undefined;
}

/** A posted request with the memory views that it named. */
interface PostedBuffer {
  readonly wr_id: bigint | number;
  readonly views: readonly Uint8Array[];
}

/** The owner of a receive queue. */
export interface Receiver extends Handle {
  /** The name of the owner's argument in calls and errors. */
  readonly argument: "qp" | "wq";
  /** Null for an owner without a receive queue. */
  readonly pd: ProtectionDomain | null;
  /** The queue's handle in the core. */
  readonly handle: number;
  /** `qp_num` in completions. */
  readonly number: number;
  /** Whether the core delivers frames to it; the core then has to know its buffers. */
  readonly takesFrames: boolean;
  /** What happens to a request that is posted now. */
  readonly posting: Posting;
  /** Whether the sender of a frame asked for an event. */
  isSolicited(frame: Uint8Array): boolean;
}

/**
 * A queue in its first state refuses requests; in the error state requests complete at once with a
 * flush error.
 */
export type Posting = "refused" | "kept" | "flushed";

/** The size of the ring in the core: a power of two of at least `requests` entries. */
export function depthOf(requests: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(requests, 1)));
}

export class ReceiveQueue {
  readonly #owner: Receiver;
  readonly #completions: CompletionQueue;
  readonly #most: { max_recv_wr: number; max_recv_sge: number };
  readonly #depth: number;
  readonly #posted: PostedBuffer[] = [];
  /** Requests posted and requests used, counted since the queue was created. */
  #tail = 0;
  #head = 0;

  constructor(owner: Receiver, completions: CompletionQueue, most: { max_recv_wr: number; max_recv_sge: number }) {
    this.#owner = owner;
    this.#completions = completions;
    this.#most = most;
    this.#depth = depthOf(most.max_recv_wr);
  }

  /**
   * Posts one request. @throws EINVAL in RESET, or for memory that the device may not write; ENOMEM
   * when the queue is full
   */
  post(call: string, wr: ReceiveRequest): void {
    const { pd, posting, argument, device, handle, takesFrames } = this.#owner;
    if (pd === null || posting === "refused") {
      const hint = argument === "qp" ? "move it to INIT first" : "move it to RDY first";
      refuse({ code: "EINVAL", call, reason: "bad_state", path: argument, value: "RESET", hint });
    }
    const views = viewsOf(call, wr, this.#most.max_recv_sge);
    const hint = "the bytes must lie in the region of the lkey, which must allow IBV_ACCESS_LOCAL_WRITE";
    checkViews(call, pd, wr, views, (region, view) => region.takes(view), hint);
    if (this.#tail - this.#head >= this.#most.max_recv_wr) {
      const full = `max_recv_wr is ${this.#most.max_recv_wr}: frames must use posted requests first`;
      refuse({ code: "ENOMEM", call, reason: "queue_full", path: argument, value: this.#owner, hint: full });
    }
    if (posting === "flushed") {
      this.#completions.add(this.#completion(wr.wr_id, IBV_WC_WR_FLUSH_ERR, 0, 0));
      return;
    }
    this.#posted[this.#tail % this.#depth] = { wr_id: wr.wr_id, views };
    this.#tail++;
    if (takesFrames) device.core.exports.postBuffer(handle, lengthOf(views));
  }

  /** Writes a frame to the buffer that the core selected, and makes the completion. */
  arrive(destination: BatchDestination, tag: number): void {
    const buffer = this.#posted[destination.request % this.#depth];
    if (buffer === undefined) return;
    this.#head++;
    const tooShort = destination.status === (Reason.receive_buffer_too_short as number);
    const length = tooShort ? 0 : scatter(buffer.views, destination.frame);
    const status = tooShort ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
    const wc = this.#completion(buffer.wr_id, status, length, tag);
    wc.vendor_err = destination.esp;
    const solicited = this.#completions.readsSolicited && this.#owner.isSolicited(destination.frame);
    this.#completions.push(wc, null, solicited);
  }

  /** The size of the oldest request in bytes; null without a request. */
  get room(): number | null {
    const buffer = this.#tail === this.#head ? undefined : this.#posted[this.#head % this.#depth];
    return buffer === undefined ? null : lengthOf(buffer.views);
  }

  /** Whether the completion queue has no room for another completion. */
  get completionsFull(): boolean {
    return this.#completions.full;
  }

  /** Completes the oldest request with a message, given in parts. There must be a request. */
  complete(status: number, parts: readonly Uint8Array[], message: Partial<WorkCompletion>, solicited = false): void {
    const { wr_id, views } = this.#posted[this.#head % this.#depth] as PostedBuffer;
    this.#head++;
    const length = scatter(views, joined(...parts));
    this.#completions.add({ ...this.#completion(wr_id, status, length, 0), ...message }, null, solicited);
  }

  /** Removes all posted requests without completions. */
  forget(): void {
    this.#owner.device.core.exports.clearQueue(this.#owner.handle);
    this.#head = this.#tail;
  }

  /** Completes all posted requests with a flush error. */
  flush(): void {
    for (let i = this.#head; i < this.#tail; i++) {
      const buffer = this.#posted[i % this.#depth];
      if (buffer !== undefined) this.#completions.add(this.#completion(buffer.wr_id, IBV_WC_WR_FLUSH_ERR, 0, 0));
    }
    this.forget();
  }

  #completion(wr_id: bigint | number, status: number, length: number, tag: number): WorkCompletion {
    return completion(wr_id, status, IBV_WC_RECV, length, this.#owner.number, tag);
  }
}
