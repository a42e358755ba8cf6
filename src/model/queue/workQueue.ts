/**
 * Work queues (ibv_create_wq(3)): receive queues without a queue pair. Indirection tables and TIRs
 * lead to them.
 */
import { QUEUE_READY } from "../../abi/engine.js";
import {
  IBV_WQ_ATTR_CURR_STATE,
  IBV_WQ_ATTR_STATE,
  IBV_WQ_INIT_ATTR_FLAGS,
  IBV_WQS_ERR,
  IBV_WQS_RDY,
  IBV_WQS_RESET,
  IBV_WQT_RQ,
} from "../../abi/verbs.js";
import type { BatchDestination } from "../../engine/batch.js";
import { refuse } from "../../errors.js";
import { CompletionQueue } from "./completionQueue.js";
import { Context, ProtectionDomain } from "../base/context.js";
import { checkObject, unsigned, member } from "../../base/checks.js";
import { Handle, living, retire } from "../base/handle.js";
import { bounded } from "../base/limits.js";
import { checkQueueNumber } from "./numbers.js";
import { depthOf, PostedBuffers } from "./postedBuffers.js";
import { ReceiveQueue, type Posting, type Receiver, type ReceiveRequest } from "./receiveQueue.js";
import { postList, type BadRequest } from "./scatter.js";

/** `struct ibv_wq_init_attr`. MODEL: a work queue gets exactly these sizes, not larger ones. */
export interface WorkQueueAttributes {
  wq_context?: unknown;
  /** IBV_WQT_RQ */
  wq_type: number;
  max_wr: number;
  max_sge: number;
  pd: ProtectionDomain;
  cq: CompletionQueue;
  comp_mask?: number | undefined;
  /**
   * Bits IBV_WQ_FLAGS_..., read with IBV_WQ_INIT_ATTR_FLAGS in `comp_mask`. The device supports
   * none.
   */
  create_flags?: number | undefined;
}

/** `struct ibv_wq_attr` */
export interface WorkQueueChange {
  /** Bits IBV_WQ_ATTR_... */
  attr_mask: number;
  wq_state?: number | undefined;
  curr_wq_state?: number | undefined;
}

const STATE_NAMES = ["RESET", "RDY", "ERR"];
const POSTING: readonly Posting[] = ["refused", "kept", "flushed"];

export class WorkQueue extends Handle implements Receiver {
  readonly argument = "wq";
  readonly isSink = false;
  /** Its number, and that of its receive queue. */
  readonly wq_num: number;
  readonly wq_type = IBV_WQT_RQ;
  readonly wq_context: unknown;
  readonly context: Context;
  readonly pd: ProtectionDomain;
  readonly cq: CompletionQueue;
  readonly handle: number;
  /** Its name in outcomes: `wq:NAME`. */
  readonly label: string;
  /** The core chooses the receive requests of its frames. */
  readonly takesFrames = true;
  /** The most requests that it holds. */
  readonly max_wr: number;
  private readonly _receive: ReceiveQueue;
  private _state = IBV_WQS_RESET;

  private constructor(context: Context, attributes: WorkQueueAttributes, handle: number, name?: string) {
    const { device } = context;
    const number = device.nextNumber("qp") + 1;
    super(device, name ?? `wq${number}`);
    const { pd, cq, max_wr, max_sge } = attributes;
    this.wq_num = number;
    this.wq_context = attributes.wq_context ?? null;
    this.context = context;
    this.pd = pd;
    this.cq = cq;
    this.max_wr = max_wr;
    this.handle = handle;
    this.label = `wq:${this.name}`;
    const buffers = new PostedBuffers(device, handle, max_wr, true);
    this._receive = new ReceiveQueue(this, cq, { max_recv_wr: max_wr, max_recv_sge: max_sge }, buffers);
    device.queues.set(handle, this);
    device.receivers.set(number, this);
    device.hardware.inventory.add("wq");
    context.users++;
    pd.users++;
    cq.users++;
  }

  /** @internal */
  static create(context: Context, attributes: WorkQueueAttributes, name?: string): WorkQueue {
    const { device } = living("context", context, Context);
    checkAttributes(context, attributes);
    const { inventory } = device.hardware;
    inventory.checkRoom(device, "wq");
    checkQueueNumber(device);
    const { handle: completions } = attributes.cq;
    const handle = device.core.exports.createQueue(0, completions, depthOf(attributes.max_wr));
    return new WorkQueue(context, attributes, device.allocated(handle), name);
  }

  get state(): number {
    return this._state;
  }

  get number(): number {
    return this.wq_num;
  }

  get posting(): Posting {
    return POSTING[this._state] as Posting;
  }

  /** @internal ibv_modify_wq. SPEC: ERR leads to RDY only through RESET; all other transitions exist. */
  modify(change: WorkQueueChange): void {
    checkObject("wq_attr", change);
    const mask = member("wq_attr.attr_mask", change.attr_mask, 32);
    if ((mask & ~(IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE)) !== 0) {
      const hint = "use IBV_WQ_ATTR_STATE and IBV_WQ_ATTR_CURR_STATE";
      refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "wq_attr.attr_mask", value: mask, hint });
    }
    const now = this._state;
    if ((mask & IBV_WQ_ATTR_CURR_STATE) !== 0 && change.curr_wq_state !== now) {
      const [path, value, hint] = [
        "wq_attr.curr_wq_state",
        change.curr_wq_state,
        `the work queue is in ${STATE_NAMES[now]}`,
      ];
      refuse({ code: "EINVAL", reason: "bad_state", path, value, hint });
    }
    if ((mask & IBV_WQ_ATTR_STATE) === 0) return;
    const to = member("wq_attr.wq_state", change.wq_state, 32);
    if (to > IBV_WQS_ERR || (now === IBV_WQS_ERR && to === IBV_WQS_RDY)) {
      const hint = `from ${STATE_NAMES[now]} it can go to ${now === IBV_WQS_ERR ? "RESET" : "RESET, RDY or ERR"}`;
      refuse({ code: "EINVAL", reason: "bad_state", path: "wq_attr.wq_state", value: to, hint });
    }
    this._become(to);
  }

  /** Moves to ERR: the memory of a request is not registered any more. */
  fail(): void {
    if (!this.destroyed && this._state === IBV_WQS_RDY) this._become(IBV_WQS_ERR);
  }

  private _become(to: number): void {
    this._state = to;
    this.device.core.exports.setQueueFlags(this.handle, to === IBV_WQS_RDY ? QUEUE_READY : 0);
    if (to === IBV_WQS_RESET) this._receive.forget();
    if (to === IBV_WQS_ERR) this._receive.flush();
  }

  /** @internal ibv_post_wq_recv: posts the requests of a list up to the first that is refused. */
  post(request: ReceiveRequest, bad?: BadRequest<ReceiveRequest>): void {
    postList(request, bad, (wr) => this._receive.post(wr));
  }

  /** @internal The lengths of the receive buffers that wait, the oldest first. */
  get bufferLengths(): readonly number[] {
    return this._receive.lengths;
  }

  /** A frame has used a receive request; it may have been too long for the buffer. @returns false if the queue must fail */
  arrive(destination: BatchDestination, tag: number): boolean {
    return this._receive.arrive(destination, tag);
  }

  /** @internal Destroys it for a call of the facades. */
  destroy(): void {
    retire("wq", this, "destroy the indirection tables and TIRs that lead to it first");
    this.device.core.exports.destroyQueue(this.handle);
    this.device.queues.delete(this.handle);
    this.device.receivers.delete(this.wq_num);
    this.device.hardware.inventory.remove("wq");
    this.context.users--;
    this.pd.users--;
    this.cq.users--;
  }
}

function checkAttributes({ device }: Context, attributes: WorkQueueAttributes): void {
  checkObject("wq_init_attr", attributes);
  const {
    wq_type = IBV_WQT_RQ,
    max_wr = 0,
    max_sge = 0,
    pd,
    cq,
    comp_mask = 0,
    create_flags = 0,
  } = attributes as Partial<WorkQueueAttributes>;
  const unknown = (path: string, value: number, hint: string): never =>
    refuse({ code: "EOPNOTSUPP", reason: "unsupported", path, value, hint });
  if (unsigned("comp_mask", comp_mask, 32) > IBV_WQ_INIT_ATTR_FLAGS) {
    unknown("comp_mask", comp_mask, "use IBV_WQ_INIT_ATTR_FLAGS or 0");
  }
  // The device ignores a field without its bit in comp_mask.
  if (comp_mask !== 0 && unsigned("create_flags", create_flags, 32) !== 0) {
    unknown("create_flags", create_flags, "use 0: the device supports no flags");
  }
  if (unsigned("wq_type", wq_type, 32) !== IBV_WQT_RQ) {
    refuse({ code: "EINVAL", reason: "out_of_range", path: "wq_type", value: wq_type, hint: "use IBV_WQT_RQ" });
  }
  living("pd", pd, ProtectionDomain);
  living("cq", cq, CompletionQueue);
  for (const [path, value] of Object.entries({ pd, cq })) {
    if (value?.device !== device) refuse({ code: "EINVAL", reason: "other_device", path, value });
  }
  const { max_qp_wr, max_sge: most } = device.hardware.inventory.limits;
  if (bounded("max_wr", max_wr, max_qp_wr) === 0) {
    refuse({ code: "EINVAL", reason: "out_of_range", path: "max_wr", value: 0, hint: `1 to ${max_qp_wr}` });
  }
  bounded("max_sge", max_sge, most);
}
