/**
 * RQTs: the indirection tables of device commands (CREATE_RQT). They list receive queues by number.
 */
import { refuse } from "../../errors.js";
import type { Context } from "../base/context.js";
import { DevxObject } from "../base/devxObject.js";
import { retire } from "../base/handle.js";
import { QueueList } from "../queue/indirectionTable.js";
import { receiverAt } from "./receivers.js";

export class Rqt extends DevxObject {
  readonly numberedAs = "rqt";
  readonly context: Context;
  /** The number of the RQT (rqtn). */
  readonly id: number;
  readonly list: QueueList;

  private constructor(context: Context, list: QueueList) {
    const id = context.device.nextNumber("rqt") + 1;
    super(context.device, `rqt${id}`);
    this.context = context;
    this.id = id;
    this.list = list;
    context.users++;
  }

  /**
   * @throws EINVAL for a number without a receive queue on the function, or a length that is not a
   *   power of two or is too large; ENOMEM
   */
  static create(context: Context, numbers: readonly number[]): Rqt {
    const { length } = numbers;
    const most = context.device.hardware.inventory.limits.max_rwq_indirection_table_size;
    if (length === 0 || (length & (length - 1)) !== 0 || length > most) {
      const hint = `use a power of two up to ${most}`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "rqt_actual_size", value: length, hint });
    }
    const queues = numbers.map((number, i) => receiverAt(`rq_num[${i}]`, context, number));
    return new Rqt(context, new QueueList(context.device, queues));
  }

  destroy(): void {
    retire("obj", this, "destroy the TIRs that have it first");
    this.list.release();
    this.context.users--;
  }
}
