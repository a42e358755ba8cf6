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
import { PostedBuffers, type PostedBuffer } from "./postedBuffers.js";
import { checkViews, lengthOf, scatter, viewsOf, type WorkRequest } from "./scatter.js";

/** `struct ibv_recv_wr` */
export interface ReceiveRequest extends WorkRequest {
  next?: ReceiveRequest | null | undefined;
}

/** The owner of a receive queue. */
export interface Receiver extends Handle {
  /** The name of the owner's argument in calls and errors. */
  readonly argument: "qp" | "wq";
  /** Null for an owner without a receive queue. */
  readonly pd: ProtectionDomain | null;
  /** `qp_num` in completions. */
  readonly number: number;
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

/** The sizes of a receive queue. */
export interface ReceiveLimits {
  readonly max_recv_wr: number;
  readonly max_recv_sge: number;
}

/** A shared receive queue, as the queues that take from it know it. */
export interface SharedBuffers {
  readonly buffers: PostedBuffers;
  /** A queue has taken a request. */
  requestTaken(): void;
}

/**
 * The views of a request whose memory the device may write. @throws EINVAL for memory that it may
 * not write
 */
export function receiveViews(call: string, pd: ProtectionDomain, wr: ReceiveRequest, max_sge: number): Uint8Array[] {
  const views = viewsOf(call, wr, max_sge);
  const hint = "the bytes must lie in the region of the lkey, which must allow IBV_ACCESS_LOCAL_WRITE";
  checkViews(call, pd, wr, views, (region, view) => region.takes(view), hint);
  return views;
}

export class ReceiveQueue {
  readonly #owner: Receiver;
  readonly #completions: CompletionQueue;
  readonly #most: ReceiveLimits;
  readonly #buffers: PostedBuffers;
  /** Null for a queue with requests of its own. */
  readonly #shared: SharedBuffers | null;
  /** The request of the message that is arriving; null between messages. */
  #current: PostedBuffer | null = null;

  /** @param buffers its own requests, or the shared receive queue that it takes requests from */
  constructor(
    owner: Receiver,
    completions: CompletionQueue,
    most: ReceiveLimits,
    buffers: PostedBuffers | SharedBuffers,
  ) {
    this.#owner = owner;
    this.#completions = completions;
    this.#most = most;
    this.#shared = buffers instanceof PostedBuffers ? null : buffers;
    this.#buffers = buffers instanceof PostedBuffers ? buffers : buffers.buffers;
  }

  /**
   * Posts one request. @throws EINVAL in RESET, or for memory that the device may not write; ENOMEM
   * when the queue is full
   */
  post(call: string, wr: ReceiveRequest): void {
    const { pd, posting, argument } = this.#owner;
    if (this.#shared !== null) {
      const hint = "its requests are those of its shared receive queue: ibv_post_srq_recv";
      refuse({ code: "EINVAL", call, reason: "bad_object", path: argument, value: this.#owner, hint });
    }
    if (pd === null || posting === "refused") {
      const hint = argument === "qp" ? "move it to INIT first" : "move it to RDY first";
      refuse({ code: "EINVAL", call, reason: "bad_state", path: argument, value: "RESET", hint });
    }
    const views = receiveViews(call, pd, wr, this.#most.max_recv_sge);
    if (this.#buffers.waiting + (this.#current === null ? 0 : 1) >= this.#most.max_recv_wr) {
      const full = `max_recv_wr is ${this.#most.max_recv_wr}: frames must use posted requests first`;
      refuse({ code: "ENOMEM", call, reason: "queue_full", path: argument, value: this.#owner, hint: full });
    }
    if (posting === "flushed") this.#flushed(wr);
    else this.#buffers.push({ wr_id: wr.wr_id, views });
  }

  /** Writes a frame to the buffer that the core selected, and makes the completion. */
  arrive(destination: BatchDestination, tag: number): void {
    const buffer = this.#buffers.taken(destination.request);
    if (buffer === undefined) return;
    const tooShort = destination.status === (Reason.receive_buffer_too_short as number);
    const length = tooShort ? 0 : scatter(buffer.views, destination.frame);
    const status = tooShort ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
    const wc = this.#completion(buffer.wr_id, status, length, tag);
    wc.vendor_err = destination.esp;
    const solicited = this.#completions.readsSolicited && this.#owner.isSolicited(destination.frame);
    this.#completions.push(wc, null, solicited);
    this.#shared?.requestTaken();
  }

  /**
   * Takes the oldest request for a message, unless the request of a message that was lost is there.
   * @returns false without a request, or without room for its completion
   */
  begin(): boolean {
    if (this.#completions.full) return false;
    if (this.#current !== null) return true;
    this.#current = this.#buffers.take();
    if (this.#current === null) return false;
    this.#shared?.requestTaken();
    return true;
  }

  /** The size of the request of the message that is arriving, in bytes; 0 between messages. */
  get room(): number {
    return this.#current === null ? 0 : lengthOf(this.#current.views);
  }

  /** Completes the request of the message that is arriving, given in parts. */
  complete(status: number, parts: readonly Uint8Array[], message: Partial<WorkCompletion>, solicited = false): void {
    const { wr_id, views } = this.#current as PostedBuffer;
    this.#current = null;
    const length = scatter(views, joined(...parts));
    this.#completions.add({ ...this.#completion(wr_id, status, length, 0), ...message }, null, solicited);
  }

  /** Removes all posted requests without completions. Those of a shared queue stay there. */
  forget(): void {
    this.#current = null;
    if (this.#shared === null) this.#buffers.clear();
  }

  /** Completes all posted requests with a flush error. Those of a shared queue stay there. */
  flush(): void {
    const current = this.#current;
    this.#current = null;
    if (current !== null) this.#flushed(current);
    if (this.#shared === null) for (const buffer of this.#buffers.clear()) this.#flushed(buffer);
  }

  #flushed({ wr_id }: Pick<PostedBuffer, "wr_id">): void {
    this.#completions.add(this.#completion(wr_id, IBV_WC_WR_FLUSH_ERR, 0, 0));
  }

  #completion(wr_id: bigint | number, status: number, length: number, tag: number): WorkCompletion {
    return completion(wr_id, status, IBV_WC_RECV, length, this.#owner.number, tag);
  }
}
