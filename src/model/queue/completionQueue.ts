/** Completion queues: what came of work requests, oldest first. */
import { refuse } from "../../errors.js";
import { Context } from "../base/context.js";
import { unsigned } from "../../checks.js";
import { Handle, living, retire } from "../base/handle.js";

/** `struct ibv_wc`. MODEL: it has the flow tag too, which C reads from an extended completion by `ibv_wc_read_flow_tag`. */
export interface WorkCompletion {
  wr_id: bigint | number;
  /** IBV_WC_SUCCESS, or why not; then only `wr_id`, `qp_num` and `vendor_err` mean something besides. */
  status: number;
  opcode: number;
  /** 1 where an inline ESP action found the ICV wrong, 2 where it was the trailer (docs/esp.md), else 0; `status` is good then. */
  vendor_err: number;
  /** Bytes written to the receive buffer, or sent. */
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
  /** Tag of the rule that delivered the frame, 0 without one. */
  flow_tag: number;
}

/** The fields that a work request has filled in; the others are 0. MODEL: frames arrive whole, so what is in them is not here. */
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

/** A completion as its queue holds it. */
export interface HeldCompletion {
  readonly wc: WorkCompletion;
  /** The device's clock when it was made, in nanoseconds; 0 where the queue does not ask for it. */
  readonly time: bigint;
  /** What happens when it is polled, or null. */
  readonly polled: (() => void) | null;
}

export class CompletionQueue extends Handle {
  readonly context: Context;
  /** Completions that it holds. */
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

  /** Whether one more completion would be one too many. */
  get full(): boolean {
    return this.#held.length >= this.cqe;
  }

  /** A completion that the core has counted already. */
  push(wc: WorkCompletion, polled: (() => void) | null = null): void {
    this.#held.push({ wc, time: this.#timed ? this.device.now() : 0n, polled });
  }

  /** A completion that the core knows nothing of. */
  add(wc: WorkCompletion, polled: (() => void) | null = null): void {
    this.device.core.exports.holdCompletion(this.handle);
    this.push(wc, polled);
  }

  /** The oldest completions, at most `count`. */
  poll(count: number): WorkCompletion[] {
    return this.take(count).map(({ wc }) => wc);
  }

  /** The same as they are held. */
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
