/**
 * Extended completion queues: programs read a completion field by field, and only the fields that
 * the queue was created to report.
 */
import {
  IBV_CQ_INIT_ATTR_MASK_FLAGS,
  IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
  IBV_WC_EX_WITH_FLOW_TAG,
  IBV_WC_STANDARD_FLAGS,
} from "../../abi/verbs.js";
import { inCall, ERRNO, refuse } from "../../errors.js";
import { channelOf, type CompletionChannel } from "./completionChannel.js";
import {
  CompletionQueue,
  type CompletionQueueSettings,
  type HeldCompletion,
  type WorkCompletion,
} from "./completionQueue.js";
import { Context } from "../base/context.js";
import { checkObject, unsigned } from "../../base/checks.js";
import { living } from "../base/handle.js";

const TIMES = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
/**
 * Fields that a queue can report. MODEL: VLAN tags stay in the frame, and tag matching does not
 * exist, so neither is reported.
 */
const KNOWN_FIELDS = IBV_WC_STANDARD_FLAGS | TIMES | IBV_WC_EX_WITH_FLOW_TAG;

/** `struct ibv_cq_init_attr_ex` */
export interface CompletionQueueAttributes {
  cqe: number;
  cq_context?: unknown;
  /** Gets the events of the queue. @default none */
  channel?: CompletionChannel<CompletionQueue> | null | undefined;
  comp_vector?: number | undefined;
  /** Bits IBV_WC_EX_WITH_... */
  wc_flags?: number | bigint | undefined;
  comp_mask?: number | undefined;
  flags?: number | undefined;
  parent_domain?: null | undefined;
}

/** The result of `ibv_start_poll` and `ibv_next_poll` when the queue is empty. */
export type Enoent = typeof ERRNO.ENOENT;

/** `struct ibv_cq_ex`. During polling, `wr_id` and `status` are those of the current completion. */
export class ExtendedCompletionQueue extends CompletionQueue {
  private readonly _fields: number;
  private _polling = false;
  private _current: HeldCompletion | undefined;

  private constructor(
    context: Context,
    cqe: number,
    fields: number,
    more: Pick<CompletionQueueSettings, "cq_context" | "channel">,
  ) {
    super(context, cqe, { path: "cq_attr.cqe", timed: (fields & TIMES) !== 0, ...more });
    this._fields = fields;
  }

  /** @internal */
  static create(context: Context, attributes: CompletionQueueAttributes): ExtendedCompletionQueue {
    living("context", context, Context);
    checkObject("cq_attr", attributes);
    const {
      cqe = 0,
      wc_flags = 0,
      comp_mask = 0,
      flags = 0,
      comp_vector = 0,
    } = attributes as Partial<CompletionQueueAttributes>;
    const fields = typeof wc_flags === "bigint" ? Number(wc_flags) : wc_flags;
    known("cq_attr.wc_flags", fields, KNOWN_FIELDS);
    known("cq_attr.comp_mask", comp_mask, IBV_CQ_INIT_ATTR_MASK_FLAGS);
    // The device ignores a field without its bit in comp_mask.
    if (comp_mask !== 0) known("cq_attr.flags", flags, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
    context.checkVector("cq_attr.comp_vector", comp_vector);
    const channel = channelOf("cq_attr.channel", context, attributes.channel);
    return new ExtendedCompletionQueue(context, cqe, fields, {
      cq_context: attributes.cq_context ?? null,
      channel,
    });
  }

  /** The `wr_id` of the current completion. @throws EINVAL without one */
  get wr_id(): bigint | number {
    return inCall("cq.wr_id", () => this._at().wc.wr_id);
  }

  /** The status of the current completion. @throws EINVAL without one */
  get status(): number {
    return inCall("cq.status", () => this._at().wc.status);
  }

  /**
   * @internal Implements `ibv_start_poll`. SPEC: a completion leaves the queue when it becomes the current
   * one, not when polling ends.
   */
  startPoll(): 0 | Enoent {
    if (this._polling) this._badState("call ibv_end_poll first");
    const [first] = this.take(1);
    this._current = first;
    this._polling = first !== undefined;
    return first === undefined ? ERRNO.ENOENT : 0;
  }

  /** @internal `ibv_next_poll`. */
  nextPoll(): 0 | Enoent {
    this._mustPoll();
    [this._current] = this.take(1);
    return this._current === undefined ? ERRNO.ENOENT : 0;
  }

  /** @internal `ibv_end_poll`. SPEC: the current completion can be read until the next step. */
  endPoll(): void {
    this._mustPoll();
    this._polling = false;
  }

  /** SPEC: `ibv_poll_cq` is refused between `ibv_start_poll` and `ibv_end_poll`. */
  override poll(count: number): WorkCompletion[] {
    return inCall("ibv_poll_cq", () => {
      if (this._polling) this._badState("call ibv_end_poll first");
      return super.poll(count);
    });
  }

  /**
   * @internal The current completion. `field` is the IBV_WC_EX_WITH_ bit that the queue must report; 0 for a
   * field that all queues report.
   */
  read(field: number): HeldCompletion {
    if ((this._fields & field) === field) return this._at();
    const hint = `create the completion queue with wc_flags 0x${field.toString(16)}`;
    return refuse({ code: "EINVAL", reason: "not_requested", path: "cq", value: this, hint });
  }

  private _at(): HeldCompletion {
    if (this._current !== undefined) return this._current;
    const hint = "call ibv_start_poll or ibv_next_poll first: one that returns 0 sets it";
    return refuse({ code: "EINVAL", reason: "no_completion", path: "cq", value: this, hint });
  }

  private _mustPoll(): void {
    if (!this._polling) this._badState("call ibv_start_poll first");
  }

  private _badState(hint: string): never {
    refuse({ code: "EINVAL", reason: "bad_poll", path: "cq", value: this, hint });
  }
}

/** Checks that a value has known bits only. @throws EOPNOTSUPP */
function known(path: string, value: number, bits: number): void {
  if ((unsigned(path, value, 32) & ~bits) === 0) return;
  const hint = `the device supports the bits 0x${bits.toString(16)}`;
  refuse({ code: "EOPNOTSUPP", reason: "unsupported", path, value, hint });
}
