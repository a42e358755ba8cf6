/**
 * Indirection tables (ibv_create_rwq_ind_table(3)): the low bits of an RSS hash select a work
 * queue.
 */
import { createRecord, recordBytes, releaseRecord } from "../../engine/records.js";
import { refuse } from "../../errors.js";
import { Context } from "../base/context.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { checkArray, checkObject, unsigned } from "../../base/checks.js";
import { Handle, living, retire } from "../base/handle.js";
import { WorkQueue } from "./workQueue.js";

/** `struct ibv_rwq_ind_table_init_attr` */
export interface IndirectionTableAttributes {
  /** The base-2 logarithm of the number of entries. */
  log_ind_tbl_size: number;
  ind_tbl: readonly WorkQueue[];
  comp_mask?: number | undefined;
}

/** A queue that an indirection table leads to. */
interface Listed extends Handle {
  readonly handle: number;
  /** The number of its receive queue. */
  readonly number: number;
}

/** The queues of an indirection table, in the memory of the core. */
export class QueueList {
  readonly device: DeviceBase;
  /** The address in the core of the list of queue handles. */
  readonly address: number;
  /** The number of queues, a power of two. */
  readonly length: number;
  private _queues: readonly Listed[];

  /** @throws ENOMEM */
  constructor(device: DeviceBase, queues: readonly Listed[]) {
    this.address = device.allocated(createRecord(device.core, handlesOf(queues)));
    this.device = device;
    this.length = queues.length;
    this._queues = queues;
    for (const queue of queues) queue.users++;
  }

  /** The numbers of the receive queues. */
  get numbers(): number[] {
    return this._queues.map(({ number }) => number);
  }

  /** Leads to other queues, as many as before. */
  replace(queues: readonly Listed[]): void {
    for (const queue of queues) queue.users++;
    for (const queue of this._queues) queue.users--;
    this._queues = queues;
    recordBytes(this.device.core, this.address, 4 * this.length).set(handlesOf(queues));
  }

  release(): void {
    releaseRecord(this.device.core, this.address, 4 * this.length);
    for (const queue of this._queues) queue.users--;
  }
}

function handlesOf(queues: readonly Listed[]): Uint8Array {
  return new Uint8Array(new Uint32Array(queues.map(({ handle }) => handle)).buffer);
}

export class IndirectionTable extends Handle {
  readonly context: Context;
  readonly ind_tbl_num: number;
  readonly log_ind_tbl_size: number;
  readonly list: QueueList;

  private constructor(context: Context, log: number, list: QueueList) {
    const { device } = context;
    const number = device.nextNumber("rqt") + 1;
    super(device, `rwq_ind_table${number}`);
    this.context = context;
    this.ind_tbl_num = number;
    this.log_ind_tbl_size = log;
    this.list = list;
    device.hardware.inventory.add("rqt");
    context.users++;
  }

  /** @internal */
  static create(context: Context, attributes: IndirectionTableAttributes): IndirectionTable {
    const { device } = living("context", context, Context);
    checkObject("init_attr", attributes);
    const { log_ind_tbl_size: log = 0, ind_tbl, comp_mask = 0 } = attributes as Partial<IndirectionTableAttributes>;
    if (unsigned("comp_mask", comp_mask, 32) !== 0) {
      const hint = "use 0: no bits are defined";
      refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "comp_mask", value: comp_mask, hint });
    }
    const { inventory } = device.hardware;
    const most = Math.log2(inventory.limits.max_rwq_indirection_table_size);
    if (unsigned("log_ind_tbl_size", log, 32) > most) {
      const hint = `0 to ${Math.floor(most)}`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "log_ind_tbl_size", value: log, hint });
    }
    checkArray("ind_tbl", ind_tbl);
    if (ind_tbl.length < 2 ** log) {
      const hint = `2^log_ind_tbl_size is ${2 ** log}: give at least as many queues`;
      refuse({
        code: "EINVAL",
        reason: "out_of_range",
        path: "ind_tbl",
        value: `${ind_tbl.length} queues`,
        hint,
      });
    }
    const queues = ind_tbl.slice(0, 2 ** log).map((queue: unknown, i) => queueAt(device, `ind_tbl[${i}]`, queue));
    inventory.checkRoom(device, "rqt");
    return new IndirectionTable(context, log, new QueueList(device, queues));
  }

  /** @internal Destroys it for a call of the facades. */
  destroy(): void {
    retire("rwq_ind_table", this, "destroy the queue pairs that have it first");
    this.list.release();
    this.device.hardware.inventory.remove("rqt");
    this.context.users--;
  }
}

function queueAt(device: DeviceBase, path: string, value: unknown): WorkQueue {
  const queue = living(path, value, WorkQueue);
  if (queue.device !== device) refuse({ code: "EINVAL", reason: "other_device", path, value: queue });
  return queue;
}
