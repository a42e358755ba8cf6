/** Flow counters of device commands (docs/devx.md): bulks of consecutive counters. */
import { COUNTER_BYTES, COUNTER_PACKETS, COUNTER_SIZE } from "../../abi/state.js";
import { recordBytes } from "../../engine/records.js";
import { Context } from "../base/context.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { DevxObject } from "../base/devxObject.js";
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

  constructor(context: Context, size: number, name?: string) {
    living("context", context, Context);
    const { device } = context;
    const handle = device.allocated(device.core.exports.createCounters(size));
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
    return this.handle + offset * COUNTER_SIZE;
  }

  read(offset = 0): CounterValue {
    const at = this.addressOf(offset);
    this.device.core.collectCounters();
    return { packets: this.device.core.u64(at + COUNTER_PACKETS), bytes: this.device.core.u64(at + COUNTER_BYTES) };
  }

  /** @internal The offsets of the counters that are not zero. */
  counted(): number[] {
    this.device.core.collectCounters();
    const { u32 } = this.device.core;
    const offsets: number[] = [];
    for (let offset = 0; offset < this.size; offset++) {
      const at = this.addressOf(offset) >>> 2;
      if (((u32[at] ?? 0) | (u32[at + 1] ?? 0)) !== 0) offsets.push(offset);
    }
    return offsets;
  }

  /** @internal Adds what another device with the same rules has counted. */
  add(offset: number, counted: CounterValue): void {
    addCounts(this.device, this.addressOf(offset), counted);
  }

  clear(offset = 0): void {
    const at = this.addressOf(offset);
    this.device.core.collectCounters();
    recordBytes(this.device.core, at, 16).fill(0);
  }

  destroy(): void {
    retire("obj", this, "destroy the actions that count on it first");
    this.device.core.exports.releaseCounters(this.handle, this.size);
    this.context.users--;
  }
}

/** @internal Adds to the counts of packets and bytes at an address of the core. */
export function addCounts({ core }: DeviceBase, address: number, { packets, bytes }: CounterValue): void {
  core.collectCounters();
  const counts = viewOf(recordBytes(core, address, 16));
  counts.setBigUint64(0, counts.getBigUint64(0, true) + packets, true);
  counts.setBigUint64(8, counts.getBigUint64(8, true) + bytes, true);
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
