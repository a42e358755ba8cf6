/** Completion queues: they hold the completions of work requests, and give the oldest first. */
import { refuse } from "../../errors.js";
import { Context } from "../base/context.js";
import { unsigned } from "../../checks.js";
import { Handle, living, retire } from "../base/handle.js";

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
  /** Called when the completion is polled; or null. */
  readonly polled: (() => void) | null;
}

export class CompletionQueue extends Handle {
  readonly context: Context;
  /** The largest number of completions. */
  readonly cqe: number;
  readonly handle: number;
  readonly #timed: boolean;
  readonly #held: HeldCompletion[] = [];

  constructor(call: string, context: Context, cqe: number, path = "cqe", timed = false) {
    living(call, "context", context, Context);
    const { device } = context;
    const { inventory } = device.hardware;
    const most = inventory.limits.max_cqe;
    if (unsigned(call, path, cqe, 31) < 1 || cqe > most) {
      refuse({ code: "EINVAL", call, reason: "out_of_range", path, value: cqe, hint: `1 to ${most}` });
    }
    inventory.checkRoom(call, device, "cq");
    const handle = device.allocated(call, device.core.exports.createCompletionQueue(cqe));
    super(device, `cq${device.nextNumber("cq")}`);
    this.context = context;
    this.cqe = cqe;
    this.handle = handle;
    this.#timed = timed;
    inventory.add("cq");
    context.users++;
  }

  /** Whether the queue has no room for another completion. */
  get full(): boolean {
    return this.#held.length >= this.cqe;
  }

  /** How many more completions it holds. */
  get room(): number {
    return Math.max(0, this.cqe - this.#held.length);
  }

  /** Adds a completion that the core has counted already. */
  push(wc: WorkCompletion, polled: (() => void) | null = null): void {
    this.#held.push({ wc, time: this.#timed ? this.device.now() : 0n, polled });
  }

  /** Adds a completion that the core has not counted. */
  add(wc: WorkCompletion, polled: (() => void) | null = null): void {
    this.device.core.exports.holdCompletion(this.handle);
    this.push(wc, polled);
  }

  /** Takes the oldest completions, at most `count`. */
  poll(count: number): WorkCompletion[] {
    return this.take(count).map(({ wc }) => wc);
  }

  /** Takes the oldest completions with their times, at most `count`. */
  protected take(count: number): HeldCompletion[] {
    const taken = this.#held.splice(0, count);
    this.device.core.exports.takeCompletions(this.handle, taken.length);
    for (const { polled } of taken) polled?.();
    return taken;
  }

  /** @internal Destroys it for a call of the facades. */
  destroy(call: string): void {
    retire(call, "cq", this, "destroy its queue pairs first");
    this.device.core.exports.destroyCompletionQueue(this.handle);
    this.device.hardware.inventory.remove("cq");
    this.context.users--;
  }
}
