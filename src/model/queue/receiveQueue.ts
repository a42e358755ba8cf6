/**
 * The receive queue of a queue pair or a work queue: it holds the buffers for incoming frames. The
 * core knows the lengths of the buffers and selects one for each frame; this class writes the
 * bytes.
 */
import { Reason } from "../../abi/outcome.js";
import { IBV_WC_LOC_LEN_ERR, IBV_WC_RECV, IBV_WC_SUCCESS, IBV_WC_WR_FLUSH_ERR } from "../../abi/verbs.js";
import { IBV_WC_LOC_PROT_ERR } from "../../abi/verbsConstants.js";
import type { BatchDestination } from "../../engine/batch.js";
import { refuse } from "../../errors.js";
import { completion, type CompletionQueue, type WorkCompletion } from "./completionQueue.js";
import type { ProtectionDomain } from "../base/context.js";
import type { Handle } from "../base/handle.js";
import { isRevoked, PostedBuffers, type PostedBuffer } from "./postedBuffers.js";
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
  /** Reads a datagram, for an owner that takes them. */
  datagramIn?(frame: Uint8Array): ArrivedDatagram;
}

/** A datagram, as its receiver gets it. */
export interface ArrivedDatagram {
  /** The GRH, 40 bytes, and the payload. */
  readonly bytes: Uint8Array;
  readonly fields: Partial<WorkCompletion>;
  /** Whether the sender asked for an event. */
  readonly solicited: boolean;
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
  /** @internal */
  readonly buffers: PostedBuffers;
  /** @internal A queue has taken a request. */
  requestTaken(): void;
}

/**
 * A request whose memory the device may write. @throws EINVAL for memory that it may not write
 */
export function receiveBuffer(pd: ProtectionDomain, wr: ReceiveRequest, max_sge: number): PostedBuffer {
  const views = viewsOf(wr, max_sge);
  const hint = "the bytes must lie in the region of the lkey, which must allow IBV_ACCESS_LOCAL_WRITE";
  const regions = checkViews(pd, wr, views, (region, view) => region.takes(view), hint);
  return { wr_id: wr.wr_id, views, regions };
}

const TOO_SHORT: number = Reason.receive_buffer_too_short;

export class ReceiveQueue {
  private readonly _owner: Receiver;
  private readonly _completions: CompletionQueue;
  private readonly _most: ReceiveLimits;
  private readonly _buffers: PostedBuffers;
  /** Null for a queue with requests of its own. */
  private readonly _shared: SharedBuffers | null;
  /** The request of the message that is arriving; null between messages. */
  private _current: PostedBuffer | null = null;
  /** Whether a frame found memory that is not registered any more, and the owner has not failed yet. */
  private _broken = false;

  /** @param buffers its own requests, or the shared receive queue that it takes requests from */
  constructor(
    owner: Receiver,
    completions: CompletionQueue,
    most: ReceiveLimits,
    buffers: PostedBuffers | SharedBuffers,
  ) {
    this._owner = owner;
    this._completions = completions;
    this._most = most;
    this._shared = buffers instanceof PostedBuffers ? null : buffers;
    this._buffers = buffers instanceof PostedBuffers ? buffers : buffers.buffers;
  }

  /** The lengths of the buffers that wait, the oldest first. */
  get lengths(): number[] {
    return this._buffers.lengths;
  }

  /**
   * Posts one request. @throws EINVAL in RESET, or for memory that the device may not write; ENOMEM
   * when the queue is full
   */
  post(wr: ReceiveRequest): void {
    const { pd, posting, argument } = this._owner;
    if (this._shared !== null) {
      const hint = "its requests are those of its shared receive queue: ibv_post_srq_recv";
      refuse({ code: "EINVAL", reason: "bad_object", path: argument, value: this._owner, hint });
    }
    if (pd === null || posting === "refused") {
      const hint = argument === "qp" ? "move it to INIT first" : "move it to RDY first";
      refuse({ code: "EINVAL", reason: "bad_state", path: argument, value: "RESET", hint });
    }
    const buffer = receiveBuffer(pd, wr, this._most.max_recv_sge);
    if (this._buffers.waiting + (this._current === null ? 0 : 1) >= this._most.max_recv_wr) {
      const full = `max_recv_wr is ${this._most.max_recv_wr}: frames must use posted requests first`;
      refuse({ code: "ENOMEM", reason: "queue_full", path: argument, value: this._owner, hint: full });
    }
    if (posting === "flushed") this._flushed(wr);
    else this._buffers.push(buffer);
  }

  /**
   * Writes a frame to the buffer that the core selected, and makes the completion.
   * @returns false when the memory of the buffer is not registered any more: the owner must fail
   */
  arrive({ request, status: taken, esp, isDatagram, frame }: BatchDestination, tag: number): boolean {
    const buffer = this._buffers.taken(request);
    if (buffer === undefined) return true;
    const revoked = isRevoked(buffer);
    let status = taken === TOO_SHORT ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
    if (this._broken) status = IBV_WC_WR_FLUSH_ERR;
    else if (revoked) status = IBV_WC_LOC_PROT_ERR;
    this._broken ||= revoked;
    const datagram = isDatagram && status === IBV_WC_SUCCESS ? this._owner.datagramIn?.(frame) : undefined;
    const length = status === IBV_WC_SUCCESS ? scatter(buffer.views, datagram?.bytes ?? frame) : 0;
    const wc = this._completion(buffer.wr_id, status, length, tag);
    wc.vendor_err = esp;
    if (datagram !== undefined) Object.assign(wc, datagram.fields);
    this._completions.push(wc, null, datagram?.solicited === true);
    this._shared?.requestTaken();
    return !revoked;
  }

  /**
   * Takes the oldest request for a message, unless the request of a message that was lost is there.
   * @returns false without a request, or without room for its completion
   */
  begin(): boolean {
    if (this._completions.full) return false;
    if (this._current !== null) return true;
    this._current = this._buffers.take();
    if (this._current === null) return false;
    this._shared?.requestTaken();
    return true;
  }

  /** The size of the request of the message that is arriving, in bytes; 0 between messages. */
  get room(): number {
    return this._current === null ? 0 : lengthOf(this._current.views);
  }

  /** Whether the memory of that request is not registered any more. */
  get isRevoked(): boolean {
    return this._current !== null && isRevoked(this._current);
  }

  /** Completes the request of the message that has arrived. */
  complete(status: number, bytes: Uint8Array, message: Partial<WorkCompletion>, solicited = false): void {
    const { wr_id, views } = this._current as PostedBuffer;
    this._current = null;
    const length = scatter(views, bytes);
    this._completions.add({ ...this._completion(wr_id, status, length, 0), ...message }, null, solicited);
  }

  /** Removes all posted requests without completions. Those of a shared queue stay there. */
  forget(): void {
    this._current = null;
    this._broken = false;
    if (this._shared === null) this._buffers.clear();
  }

  /** Completes all posted requests with a flush error. Those of a shared queue stay there. */
  flush(): void {
    const current = this._current;
    this._current = null;
    this._broken = false;
    if (current !== null) this._flushed(current);
    if (this._shared === null) for (const buffer of this._buffers.clear()) this._flushed(buffer);
  }

  private _flushed({ wr_id }: Pick<PostedBuffer, "wr_id">): void {
    this._completions.add(this._completion(wr_id, IBV_WC_WR_FLUSH_ERR, 0, 0));
  }

  private _completion(wr_id: bigint | number, status: number, length: number, tag: number): WorkCompletion {
    return completion(wr_id, status, IBV_WC_RECV, length, this._owner.number, tag);
  }
}
