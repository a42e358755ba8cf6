/** Shared receive queues (ibv_create_srq(3)): receive requests that several queue pairs take. */
import { IBV_EVENT_SRQ_LIMIT_REACHED, IBV_SRQ_LIMIT, IBV_SRQ_MAX_WR } from "../../abi/verbsConstants.js";
import { checkObject, unsigned, embedded, member } from "../../base/checks.js";
import { refuse } from "../../errors.js";
import { ProtectionDomain, type Context } from "../base/context.js";
import { Handle, living, retire } from "../base/handle.js";
import { bounded } from "../base/limits.js";
import { depthOf, PostedBuffers } from "./postedBuffers.js";
import { receiveBuffer, type ReceiveRequest, type SharedBuffers } from "./receiveQueue.js";
import { postList, type BadRequest } from "./scatter.js";

/** `struct ibv_srq_attr` */
export interface SharedQueueLimits {
  /** Requests that it holds. MODEL: exactly so many. */
  max_wr: number;
  /** Scatter entries of a request. */
  max_sge: number;
  /**
   * IBV_EVENT_SRQ_LIMIT_REACHED comes when fewer requests wait; 0 for no event. Not read at
   * creation.
   */
  srq_limit?: number | undefined;
}

/** `struct ibv_srq_init_attr` */
export interface SharedQueueAttributes {
  srq_context?: unknown;
  attr: SharedQueueLimits;
}

export class SharedReceiveQueue extends Handle implements SharedBuffers {
  readonly context: Context;
  readonly pd: ProtectionDomain;
  readonly srq_context: unknown;
  /** Its number in device commands, which `mlx5dv_init_obj` gives in C. */
  readonly srqn: number;
  /** The queue's handle in the core. */
  readonly handle: number;
  /** @internal */
  readonly buffers: PostedBuffers;
  private _max: { readonly max_wr: number; readonly max_sge: number };
  private _limit = 0;

  /** @internal */
  constructor(pd: ProtectionDomain, attributes: SharedQueueAttributes) {
    const { device, context } = living("pd", pd, ProtectionDomain);
    checkObject("srq_init_attr", attributes);
    const { max_wr = 0, max_sge = 0 } = embedded("srq_init_attr.attr", attributes.attr);
    const { inventory } = device.hardware;
    const { limits } = inventory;
    // SPEC: 0 makes a queue without room. mlx5 makes one (rdma-core's tests/test_mlx5_huge_page.py, v44).
    bounded("srq_init_attr.attr.max_wr", max_wr, limits.max_qp_wr);
    bounded("srq_init_attr.attr.max_sge", max_sge, limits.max_sge);
    inventory.checkRoom(device, "srq");
    const handle = device.allocated(device.core.exports.createQueue(0, 0, depthOf(max_wr)));
    const number = device.nextNumber("srq");
    super(device, `srq${number}`);
    this.srqn = number + 1;
    this.context = context;
    this.pd = pd;
    this.srq_context = attributes.srq_context ?? null;
    this.handle = handle;
    this._max = { max_wr, max_sge };
    this.buffers = new PostedBuffers(device, handle, max_wr, true);
    inventory.add("srq");
    pd.users++;
  }

  /** @internal `ibv_query_srq`. */
  query(): Required<SharedQueueLimits> {
    return { ...this._max, srq_limit: this._limit };
  }

  /** @internal `ibv_modify_srq`: both attributes, or none. */
  modify(attr: Partial<SharedQueueLimits>, mask: number): void {
    checkObject("srq_attr", attr);
    const path = "srq_attr_mask";
    if ((unsigned(path, mask, 32) & ~(IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR)) !== 0) {
      const hint = "use IBV_SRQ_LIMIT and IBV_SRQ_MAX_WR";
      refuse({ code: "EINVAL", reason: "out_of_range", path, value: mask, hint });
    }
    const resizes = (mask & IBV_SRQ_MAX_WR) !== 0;
    const limits = (mask & IBV_SRQ_LIMIT) !== 0;
    const max_wr = resizes ? this._newSize(mask, attr.max_wr) : this._max.max_wr;
    const limit = limits ? member("srq_attr.srq_limit", attr.srq_limit, 32) : this._limit;
    if (limit > max_wr) {
      const hint = `max_wr is ${max_wr}`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "srq_attr.srq_limit", value: limit, hint });
    }
    if (resizes) this.buffers.resize(max_wr);
    this._max = { ...this._max, max_wr };
    this._limit = limit;
    // SPEC: with fewer requests already, the event comes at once.
    this._checkLimit();
  }

  private _newSize(mask: number, max_wr: unknown): number {
    const { profile, hardware } = this.device;
    if (!profile.resizesSharedQueues) {
      const hint = "the device lacks IBV_DEVICE_SRQ_RESIZE";
      refuse({ code: "EINVAL", reason: "unsupported", path: "srq_attr_mask", value: mask, hint });
    }
    const size = member("srq_attr.max_wr", max_wr, 32);
    const [least, most] = [Math.max(1, this.buffers.waiting), hardware.inventory.limits.max_qp_wr];
    if (size >= least && size <= most) return size;
    const hint = `${least} to ${most}`;
    return refuse({ code: "EINVAL", reason: "out_of_range", path: "srq_attr.max_wr", value: size, hint });
  }

  /** @internal `ibv_post_srq_recv`: posts the requests of a list up to the first that is refused. */
  post(request: ReceiveRequest, bad?: BadRequest<ReceiveRequest>): void {
    postList(request, bad, (wr) => {
      const buffer = receiveBuffer(this.pd, wr, this._max.max_sge);
      if (this.buffers.waiting >= this._max.max_wr) {
        const hint = `max_wr is ${this._max.max_wr}: frames must use posted requests first`;
        refuse({ code: "ENOMEM", reason: "queue_full", path: "srq", value: this, hint });
      }
      this.buffers.push(buffer);
    });
  }

  requestTaken(): void {
    this._checkLimit();
  }

  /** The event comes once; a program sets the limit again for the next one. */
  private _checkLimit(): void {
    if (this.buffers.waiting >= this._limit) return;
    this._limit = 0;
    this.context.asyncEvents.report(IBV_EVENT_SRQ_LIMIT_REACHED, "srq", this);
  }

  /** @internal Destroys it for a call of the facades. */
  destroy(): void {
    const { asyncEvents } = this.context;
    asyncEvents.checkAcknowledged("srq", this);
    retire("srq", this, "destroy the queue pairs that use it first");
    asyncEvents.forget(this);
    this.device.core.exports.destroyQueue(this.handle);
    this.device.hardware.inventory.remove("srq");
    this.pd.users--;
  }
}
