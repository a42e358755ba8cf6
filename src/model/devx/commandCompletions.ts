/** Answers to asynchronous device commands (mlx5dv_devx_create_cmd_comp(3)). */
import { SteeringError, refuse } from "../../errors.js";
import { Context } from "../base/context.js";
import { destroyedError, EventQueue } from "../base/time/eventQueue.js";
import { Handle, living } from "../base/handle.js";

/** What a command answered, and the number that its program gave it. */
export interface CommandAnswer {
  readonly wr_id: bigint;
  /** The output of the command: status and syndrome first. */
  readonly out_data: Uint8Array;
}

export class Answers extends EventQueue<CommandAnswer> {
  /** Bytes of the answers that wait. */
  bytes = 0;

  override add(answer: CommandAnswer): void {
    this.bytes += answer.out_data.length;
    super.add(answer);
  }

  protected override taken({ out_data }: CommandAnswer): void {
    this.bytes -= out_data.length;
  }
}

/** Bytes of answers that a kernel holds for a program. */
const MAX_BYTES = 1024 * 1024;

/**
 * `struct mlx5dv_devx_cmd_comp`. MODEL: a command has run when the call returns, so its answer waits
 * at once.
 */
export class CommandCompletions extends Handle {
  readonly context: Context;
  private readonly _answers = new Answers();

  /** @internal */
  constructor(context: Context) {
    const { device } = living("context", context, Context);
    super(device, `cmd_comp${device.nextNumber("cmd_comp")}`);
    this.context = context;
    context.users++;
  }

  /** The answers that wait; `answers.next()` is a promise of the next one. */
  get answers(): EventQueue<CommandAnswer> {
    return this._answers;
  }

  /** @internal @throws EAGAIN the answers that wait have no room for another one of this length */
  checkRoom(outlen: number): void {
    const { bytes } = this._answers;
    if (bytes + outlen <= MAX_BYTES) return;
    const hint = `answers of ${bytes} bytes wait, and ${MAX_BYTES} is the most: take some`;
    refuse({ code: "EAGAIN", reason: "queue_full", path: "cmd_comp", value: this, hint });
  }

  /** Runs a command, and keeps its answer. A refusal of the device is an answer too. */
  run(wr_id: bigint, out_data: Uint8Array, command: () => void): void {
    try {
      command();
    } catch (error) {
      if (!(error instanceof SteeringError) || error.code !== "EREMOTEIO") throw error;
    }
    this._answers.add({ wr_id, out_data });
  }

  /** @internal The oldest answer. @throws EAGAIN none waits; ENOSPC it is longer than `room`, and it stays */
  take(room: number): CommandAnswer {
    const first = this._answers.first;
    if (first !== undefined && first.out_data.length > room) {
      const hint = `the answer has ${first.out_data.length} bytes`;
      refuse({ code: "ENOSPC", reason: "too_short", path: "cmd_resp_len", value: room, hint });
    }
    return this._answers.take("cmd_comp", this);
  }

  /** Destroys it, with the answers that wait. */
  destroy(): void {
    this.destroyed = true;
    this._answers.close(destroyedError("mlx5dv_devx_destroy_cmd_comp", "cmd_comp", this));
    this.context.users--;
  }
}
