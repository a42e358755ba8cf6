/** Flow counters of device commands (docs/devx.md): bulks of consecutive counters. */
import { recordBytes } from "../../engine/records.js";
import { Context } from "../base/context.js";
import { DevxObject } from "../devx/object.js";
import { living, retire } from "../base/handle.js";

export interface CounterValue {
  packets: bigint;
  /** Bytes of the frames as the rule saw them, without FCS. */
  bytes: bigint;
}

export class FlowCounter extends DevxObject {
  readonly numberedAs = "flow_counter";
  readonly context: Context;
  /** Counters in the bulk. */
  readonly size: number;
  /** Device number of the first counter. */
  readonly id: number;
  readonly handle: number;

  constructor(call: string, context: Context, size: number, name?: string) {
    living(call, "context", context, Context);
    const { device } = context;
    const handle = device.allocated(call, device.core.exports.createCounters(size));
    super(device, name ?? `counter${device.nextNumber("counter")}`);
    this.context = context;
    this.size = size;
    this.id = device.nextNumber("counter id", size) + 1;
    this.handle = handle;
    device.resources.add(this);
    context.users++;
  }

  override get count(): number {
    return this.size;
  }

  /** The address of one counter in the core. */
  addressOf(offset: number): number {
    return this.handle + offset * 16;
  }

  read(offset = 0): CounterValue {
    const at = this.addressOf(offset);
    this.device.core.collectCounters();
    return { packets: this.device.core.u64(at), bytes: this.device.core.u64(at + 8) };
  }

  clear(offset = 0): void {
    const at = this.addressOf(offset);
    this.device.core.collectCounters();
    recordBytes(this.device.core, at, 16).fill(0);
  }

  destroy(call: string): void {
    retire(call, "obj", this, "destroy the actions that count on it first");
    this.device.core.exports.releaseCounters(this.handle, this.size);
    this.context.users--;
  }
}
