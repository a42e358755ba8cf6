/** A device with queues and flows, for the tests of ibv_create_flow and related calls. */
import { createDevice, createSink, type Device, type DeviceOptions, type Outcome } from "../../../src/index.js";
import { PendingWork } from "../../../src/model/traffic/outcomeReader.js";
import type { Context } from "../../../src/model/base/context.js";
import type { VerbsFlow } from "../../../src/model/flow/verbsFlow.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";

/** Specs, from a short notation to C names. */
export const UDP = { type: v.IBV_FLOW_SPEC_UDP };
export const TCP = { type: v.IBV_FLOW_SPEC_TCP };
export const IPV4 = { type: v.IBV_FLOW_SPEC_IPV4 };
export const DROP = { type: v.IBV_FLOW_SPEC_ACTION_DROP };
export const tag = (tag_id: number) => ({ type: v.IBV_FLOW_SPEC_ACTION_TAG, tag_id });
export const count = (counters: object) => ({ type: v.IBV_FLOW_SPEC_ACTION_COUNT, counters });
export const dport = (port: number) => ({
  type: v.IBV_FLOW_SPEC_TCP,
  val: { dst_port: port },
  mask: { dst_port: 0xffff },
});

export const DONT_TRAP = { flags: v.IBV_FLOW_ATTR_FLAGS_DONT_TRAP };
export const EGRESS = { flags: v.IBV_FLOW_ATTR_FLAGS_EGRESS };
export const LOOP = { flags: v.IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK };
export const SNIFFER = { type: v.IBV_FLOW_ATTR_SNIFFER };
export const ALL = { type: v.IBV_FLOW_ATTR_ALL_DEFAULT };
export const MC = { type: v.IBV_FLOW_ATTR_MC_DEFAULT };

export class FlowBench {
  readonly device: Device;
  readonly context: Context;
  readonly #queues = new Map<string, QueuePair>();

  private constructor(device: Device, context: Context) {
    this.device = device;
    this.context = context;
  }

  static async open(options: DeviceOptions = {}, capabilities: v.Capabilities = {}): Promise<FlowBench> {
    const device = await createDevice({ ports: 2, ...options });
    return new FlowBench(device, v.ibv_open_device(device, capabilities));
  }

  /** A queue pair that accepts every frame, by name. */
  qp(name: string): QueuePair {
    let queue = this.#queues.get(name);
    if (queue === undefined) this.#queues.set(name, (queue = createSink(this.context, name)));
    return queue;
  }

  /** A queue pair with buffers and completions, of any type. */
  realQp(qp_type: number): QueuePair {
    const cq = v.ibv_create_cq(this.context, 16);
    return v.ibv_create_qp(v.ibv_alloc_pd(this.context), {
      send_cq: cq,
      recv_cq: cq,
      cap: { max_recv_wr: 4, max_recv_sge: 1 },
      qp_type,
    });
  }

  counters(): ReturnType<typeof v.ibv_create_counters> {
    const counters = v.ibv_create_counters(this.context, { comp_mask: 0 });
    for (const counter_desc of [v.IBV_COUNTER_PACKETS, v.IBV_COUNTER_BYTES]) {
      v.ibv_attach_counters_point_flow(counters, { counter_desc, index: counter_desc }, null);
    }
    return counters;
  }

  /** A flow of a queue, by name; NORMAL on port 1 unless `over` changes it. */
  flow(name: string, specs: readonly object[], over: Partial<v.FlowAttr> = {}): VerbsFlow {
    return v.ibv_create_flow(this.qp(name), attr(specs, over));
  }

  /** The error of creating the flow; the refusal has no effects. */
  refused(name: string, specs: readonly object[], over: Partial<v.FlowAttr> = {}): string | undefined {
    this.qp(name);
    const before = this.state();
    const code = refused(() => this.flow(name, specs, over))?.code;
    if (code !== undefined && this.state() !== before)
      throw new Error(`${code} has changed ${before} to ${this.state()}`);
    return code;
  }

  /** Memory and users of everything. */
  state(): string {
    const { memoryUsed, users } = this.device;
    return JSON.stringify([
      memoryUsed,
      users,
      this.context.users,
      ...[...this.#queues].map(([, queue]) => queue.users),
    ]);
  }

  /**
   * Recipients of the frame, as "a5" for queue a with tag 5, copies in brackets; then the verdict.
   */
  received(frame: Uint8Array, port = 1): string {
    return outcomeText(this.device.receive(port, frame));
  }

  /** Result of a frame on the send path of the PF; nothing leaves. */
  sent(frame: Uint8Array, port = 1): Outcome {
    const { device } = this;
    const [outcome] = device.traffic.send(device.function(0), port, [frame], new PendingWork()) as [Outcome];
    return outcome;
  }

  /** Result of a frame sent by a queue from a port, in the rules of the port. */
  looped(frame: Uint8Array, from: string, port = 1): Outcome {
    const [outcome] = this.device.traffic.loopBack(port, [frame], this.qp(from), new PendingWork()) as [Outcome];
    return outcome;
  }
}

export function attr(specs: readonly object[], over: Partial<v.FlowAttr> = {}): v.FlowAttr {
  return { type: v.IBV_FLOW_ATTR_NORMAL, port: 1, specs: specs as v.FlowSpec[], ...over };
}

export function outcomeText({ verdict, reason, to, copies }: Outcome): string {
  const text = ({ name, tag: own }: { name: string; tag: number }): string =>
    `${name.replace("qp:", "")}${own === 0 ? "" : own}`;
  const copied = copies.map((one) => `(${text(one)})`);
  return [...copied, ...to.map(text), verdict, ...(reason === null ? [] : [reason])].join(" ");
}

/** The values of two points: packets, bytes. */
export function valuesOf(counters: Parameters<typeof v.ibv_read_counters>[0]): bigint[] {
  const values = new BigUint64Array(2);
  v.ibv_read_counters(counters, values, undefined, 0);
  return [...values];
}
