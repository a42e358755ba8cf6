/**
 * Counters of the verbs (ibv_create_counters(3), ibv_attach_counters_point_flow(3)). Each point
 * adds packets or bytes to one place of the array that ibv_read_counters fills. One object has one
 * pair of counts in the core.
 */
import { COUNTER_BYTES, COUNTER_PACKETS } from "../../abi/state.js";
import { IBV_COUNTER_BYTES, IBV_COUNTER_PACKETS, IBV_READ_COUNTERS_ATTR_PREFER_CACHED } from "../../abi/verbs.js";
import { createRecord, releaseRecord } from "../../engine/records.js";
import { refuse } from "../../errors.js";
import { Context } from "../base/context.js";
import { addCounts, type CounterValue } from "../action/counter.js";
import type { FlowCounts } from "./counts.js";
import { Flow } from "./flow.js";
import { unsigned } from "../../base/checks.js";
import { Handle, living, retire } from "../base/handle.js";

/** `struct ibv_counters_init_attr` */
export interface CountersInitAttr {
  comp_mask?: number | undefined;
}

/** `struct ibv_counter_attach_attr` */
export interface CounterAttachAttr {
  /** IBV_COUNTER_PACKETS or IBV_COUNTER_BYTES. @default IBV_COUNTER_PACKETS */
  counter_desc?: number | undefined;
  /** @default 0 */
  index?: number | undefined;
  comp_mask?: number | undefined;
}

export interface CounterPoint {
  readonly index: number;
  readonly description: number;
}

/** What a point takes of the memory of its device, so that `limits.memory` bounds points too. */
const POINT = new Uint8Array(16);

const PAGE = "ibv_attach_counters_point_flow(3)";

export class Counters extends Handle implements FlowCounts {
  readonly context: Context;
  /** The number that stands for it in C bytes, where C has a pointer. */
  readonly handle: number;
  private readonly _points: CounterPoint[] = [];
  /** The memory of the points, in their order. */
  private readonly _rooms: number[] = [];
  /** The pair of counts in the core; 0 until a flow counts here. */
  private _address = 0;

  /** @internal */
  constructor(context: Context, { comp_mask = 0 }: CountersInitAttr) {
    const { device } = living("context", context, Context);
    if (unsigned("init_attr.comp_mask", comp_mask, 32) !== 0) {
      refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: "init_attr.comp_mask", value: comp_mask });
    }
    super(device, `counters${device.nextNumber("counters")}`);
    this.context = context;
    this.handle = device.named.add(this);
    device.resources.add(this);
    context.users++;
  }

  /**
   * Whether a driver would let a flow count here: it has points, or a flow has bound them before.
   */
  get hasPoints(): boolean {
    return this._points.length > 0 || this._address !== 0;
  }

  get points(): readonly CounterPoint[] {
    return this._points;
  }

  get holder(): this {
    return this;
  }

  get pointCount(): number {
    return this._points.length;
  }

  /** @internal The address of the counts, for a flow. @throws ENOMEM */
  bind(): number {
    const { device } = this;
    if (this._address === 0) this._address = device.allocated(device.core.exports.createCounters(1));
    return this._address;
  }

  get address(): number {
    return this._address;
  }

  unbind(): void {
    this.device.core.exports.releaseCounters(this._address, 1);
    this._address = 0;
  }

  /** @internal Attaches a point: to the object, or to one on which a living flow then counts. */
  attach(attr: CounterAttachAttr, flow: Flow | null): void {
    const { counter_desc = IBV_COUNTER_PACKETS, index = 0, comp_mask = 0 } = attr;
    const { liveAttach } = this.device.profile.counters;
    if (flow !== null && !liveAttach) {
      const hint = "attach before a flow uses them, with null for the flow";
      refuse({ code: "ENOTSUP", reason: "unsupported", path: "flow", value: flow, hint });
    }
    const path = "counter_attach_attr";
    if (unsigned(`${path}.comp_mask`, comp_mask, 32) !== 0) {
      refuse({ code: "EOPNOTSUPP", reason: "unsupported", path: `${path}.comp_mask`, value: comp_mask });
    }
    unsigned(`${path}.counter_desc`, counter_desc, 32);
    if (counter_desc !== IBV_COUNTER_PACKETS && counter_desc !== IBV_COUNTER_BYTES) {
      const hint = "IBV_COUNTER_PACKETS or IBV_COUNTER_BYTES";
      const value = counter_desc;
      refuse({ code: "ENOTSUP", reason: "unsupported", path: `${path}.counter_desc`, value, hint, cite: PAGE });
    }
    unsigned(`${path}.index`, index, 32);
    if (flow === null && this.users > 0) {
      const hint = "a flow uses them; name it to attach while they count";
      refuse({ code: "EBUSY", reason: "in_use", path: "counters", value: this, hint, cite: PAGE });
    }
    if (flow !== null) living<Flow>("flow", flow, Flow);
    const room = this.device.allocated(createRecord(this.device.core, POINT));
    try {
      flow?.countOn(this);
    } catch (error) {
      releaseRecord(this.device.core, room, POINT.length);
      throw error;
    }
    this._rooms.push(room);
    this._points.push({ index, description: counter_desc });
  }

  /** The counts; zero before a flow has counted here. */
  read(): CounterValue {
    const { core } = this.device;
    if (this._address === 0) return { packets: 0n, bytes: 0n };
    core.collectCounters();
    return { packets: core.u64(this._address + COUNTER_PACKETS), bytes: core.u64(this._address + COUNTER_BYTES) };
  }

  /** @internal Adds what another device with the same flows has counted; nothing where no flow counts here. */
  add(counted: CounterValue): void {
    if (this._address !== 0) addCounts(this.device, this._address, counted);
  }

  /** @internal ibv_read_counters: each point adds to its place of the array. */
  readInto(values: BigUint64Array, count: number, flags: number): void {
    const path = "counters";
    if (!this.device.profile.counters.readUnbound && this.users === 0) {
      refuse({ code: "EINVAL", reason: "bad_state", path, value: this, hint: "no flow uses them" });
    }
    if ((unsigned("flags", flags, 32) & ~IBV_READ_COUNTERS_ATTR_PREFER_CACHED) !== 0) {
      const hint = "0 or IBV_READ_COUNTERS_ATTR_PREFER_CACHED";
      refuse({ code: "EINVAL", reason: "out_of_range", path: "flags", value: flags, hint });
    }
    const needed = this._points.reduce((most, { index }) => Math.max(most, index + 1), 0);
    if (count < needed || count > values.length) {
      const hint = `the highest index attached is ${needed - 1}; the array has ${values.length}`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "ncounters", value: count, hint });
    }
    const { packets, bytes } = this.read();
    values.fill(0n, 0, count);
    for (const { index, description } of this._points) {
      values[index] = BigInt.asUintN(64, (values[index] ?? 0n) + (description === IBV_COUNTER_BYTES ? bytes : packets));
    }
  }

  /** @internal Destroys it for a call of the facades. */
  destroy(): void {
    retire("counters", this, "destroy the flows that count on them first");
    if (this._address !== 0) this.unbind();
    for (const room of this._rooms) releaseRecord(this.device.core, room, POINT.length);
    this.device.named.remove(this);
    this.context.users--;
  }
}
