/** Completion queues: they hold the completions of work requests, and give the oldest first. */
import { IBV_WC_SUCCESS } from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import type { PrintedFields } from "../../base/printable.js";
import { Context } from "../base/context.js";
import { unsigned } from "../../base/checks.js";
import { Handle, living, retire } from "../base/handle.js";
import type { ChannelUser, CompletionChannel } from "./completionChannel.js";

/**
 * `struct ibv_wc`. MODEL: it also has the flow tag, which C reads from an extended completion with
 * `ibv_wc_read_flow_tag`.
 */
export interface WorkCompletion {
  wr_id: bigint | number;
  /**
   * IBV_WC_SUCCESS or an error. With an error only `wr_id`, `qp_num` and `vendor_err` are valid.
   */
  status: number;
  opcode: number;
  /**
   * 1 when an inline ESP action found a wrong ICV, 2 for a wrong trailer (docs/esp.md), else 0.
   * `status` is then a success.
   */
  vendor_err: number;
  /** Bytes written to the receive buffer, or bytes sent. */
  byte_len: number;
  imm_data: number;
  qp_num: number;
  src_qp: number;
  /** Bits IBV_WC_GRH, ... */
  wc_flags: number;
  pkey_index: number;
  slid: number;
  sl: number;
  dlid_path_bits: number;
  /** The tag of the rule that delivered the frame; 0 without one. */
  flow_tag: number;
}

/**
 * A completion with these fields; all others are 0. MODEL: raw frames arrive with all headers, so
 * the completion repeats none of them.
 */
export function completion(
  wr_id: bigint | number,
  status: number,
  opcode: number,
  byte_len: number,
  qp_num: number,
  flow_tag: number,
): WorkCompletion {
  return {
    wr_id,
    status,
    opcode,
    vendor_err: 0,
    byte_len,
    imm_data: 0,
    qp_num,
    src_qp: 0,
    wc_flags: 0,
    pkey_index: 0,
    slid: 0,
    sl: 0,
    dlid_path_bits: 0,
    flow_tag,
  };
}

/** A completion in its queue. */
export interface HeldCompletion {
  readonly wc: WorkCompletion;
  /**
   * The device's clock at the completion, in nanoseconds; 0 when the queue does not report times.
   */
  readonly time: bigint;
  /** Told when the completion is polled; or null. */
  readonly request: PolledRequest | null;
}

/** A request that learns when its completion is polled. It is an object, so that a snapshot can hold it. */
export interface PolledRequest {
  polled(): void;
}

/** What a completion queue is made with. */
export interface CompletionQueueSettings {
  /** The name of `cqe` in errors. @default "cqe" */
  readonly path?: string;
  /** Whether completions have times. @default false */
  readonly timed?: boolean;
  readonly cq_context?: unknown;
  /** The channel that gets its events. @default none */
  readonly channel?: CompletionChannel<CompletionQueue> | null;
}

/** What a program asked to be told of: nothing, completions that are solicited or failed, or any. */
type Armed = "none" | "solicited" | "any";

export class CompletionQueue extends Handle implements ChannelUser {
  readonly context: Context;
  readonly cq_context: unknown;
  readonly channel: CompletionChannel<CompletionQueue> | null;
  /** Its number in device commands. */
  readonly cqn: number;
  readonly handle: number;
  /** @internal Called after each completion: a program outside of this process learns of it. */
  onCompletion: (() => void) | null = null;
  private readonly _timed: boolean;
  private readonly _held: HeldCompletion[] = [];
  private _cqe: number;
  private _armed: Armed = "none";
  /** Events that a program took and has not acknowledged. */
  private _events = 0;

  /** @internal */
  constructor(context: Context, cqe: number, settings: CompletionQueueSettings = {}) {
    living("context", context, Context);
    const { device } = context;
    const { path = "cqe", timed = false, cq_context = null, channel = null } = settings;
    const { inventory } = device.hardware;
    checkCapacity(path, cqe, 1, inventory.limits.max_cqe);
    inventory.checkRoom(device, "cq");
    const handle = device.allocated(device.core.exports.createCompletionQueue(cqe));
    const number = device.nextNumber("cq");
    super(device, `cq${number}`);
    this.cqn = number + 1;
    this.context = context;
    this.cq_context = cq_context;
    this.channel = channel;
    this.handle = handle;
    this._cqe = cqe;
    this._timed = timed;
    inventory.add("cq");
    context.users++;
    if (channel !== null) channel.users++;
  }

  /** The largest number of completions. */
  get cqe(): number {
    return this._cqe;
  }

  /** @internal */
  protected override printedFields(): PrintedFields {
    return { ...super.printedFields(), cqe: this.cqe, held: this._held.length };
  }

  /** Whether the queue has no room for another completion. */
  get full(): boolean {
    return this._held.length >= this.cqe;
  }

  /** How many more completions it holds. */
  get room(): number {
    return Math.max(0, this.cqe - this._held.length);
  }

  /** Whether it makes a difference if the next completion is solicited. */
  get readsSolicited(): boolean {
    return this._armed === "solicited";
  }

  /**
   * Adds a completion that the core has counted already.
   * @param request told when the completion is polled
   * @param solicited the sender asked for an event
   */
  push(wc: WorkCompletion, request: PolledRequest | null = null, solicited = false): void {
    this._held.push({ wc, time: this._timed ? this.device.now() : 0n, request });
    this.device.observer?.completed(this, wc);
    this.onCompletion?.();
    if (this._armed === "none") return;
    if (this._armed === "solicited" && !solicited && wc.status === IBV_WC_SUCCESS) return;
    this._armed = "none";
    this.channel?.signal(this);
  }

  /** Adds a completion that the core has not counted. */
  add(wc: WorkCompletion, request: PolledRequest | null = null, solicited = false): void {
    this.device.core.exports.holdCompletion(this.handle);
    this.push(wc, request, solicited);
  }

  /** Takes the oldest completions, at most `count`. */
  poll(count: number): WorkCompletion[] {
    return this.take(count).map(({ wc }) => wc);
  }

  /** Takes the oldest completions with their times, at most `count`. */
  protected take(count: number): HeldCompletion[] {
    const taken = this._held.splice(0, count);
    this.device.core.exports.takeCompletions(this.handle, taken.length);
    for (const { request } of taken) request?.polled();
    return taken;
  }

  /** @internal `ibv_req_notify_cq`: the next completion makes an event. */
  requestNotify(solicitedOnly: boolean): void {
    if (this._armed !== "any") this._armed = solicitedOnly ? "solicited" : "any";
  }

  /** @internal */
  eventTaken(): void {
    this._events++;
  }

  /** @internal `ibv_ack_cq_events`. */
  acknowledge(nevents: number): void {
    if (unsigned("nevents", nevents, 32) > this._events) {
      const hint = `${this._events} events wait for it`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "nevents", value: nevents, hint });
    }
    this._events -= nevents;
  }

  /** @internal `ibv_resize_cq`. */
  resize(cqe: number): void {
    const { inventory } = this.device.hardware;
    checkCapacity("cqe", cqe, Math.max(1, this._held.length), inventory.limits.max_cqe);
    this.device.core.exports.resizeCompletionQueue(this.handle, cqe);
    this._cqe = cqe;
  }

  /** @internal Destroys it for a call of the facades. */
  destroy(): void {
    if (this._events > 0) {
      const hint = `acknowledge its events first: ibv_ack_cq_events(cq, ${this._events})`;
      refuse({ code: "EBUSY", reason: "in_use", path: "cq", value: this, hint });
    }
    retire("cq", this, "destroy its queue pairs first");
    this.device.core.exports.destroyCompletionQueue(this.handle);
    this.device.hardware.inventory.remove("cq");
    this.context.users--;
    if (this.channel === null) return;
    this.channel.users--;
    this.channel.forget(this);
  }
}

function checkCapacity(path: string, cqe: unknown, least: number, most: number): void {
  const number = unsigned(path, cqe, 31);
  if (number >= least && number <= most) return;
  refuse({ code: "EINVAL", reason: "out_of_range", path, value: cqe, hint: `${least} to ${most}` });
}
