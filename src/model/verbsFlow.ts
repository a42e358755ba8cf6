/** Flows (ibv_create_flow(3)); what they mean together is in docs/flows.md. */
import {
  IBV_FLOW_ATTR_ALL_DEFAULT,
  IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK,
  IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
  IBV_FLOW_ATTR_FLAGS_EGRESS,
  IBV_FLOW_ATTR_MC_DEFAULT,
  IBV_FLOW_ATTR_SNIFFER,
} from "../abi/verbs.js";
import { refuse } from "../errors.js";
import { trappingSlot } from "./classifier.js";
import type { Context } from "./context.js";
import type { Device } from "./device.js";
import type { FlowAction } from "./flowAction.js";
import { flowActionsOf } from "./flowActionChecks.js";
import { checkFlow, type FlowSetting } from "./flowChecks.js";
import { Counters } from "./flowCounters.js";
import { isMulticastOnly } from "./flowDriverChecks.js";
import type { FlowEntry } from "./flowEntry.js";
import { flowMatch, groupMatch, portMatch, type FlowMatch, type NamedObject } from "./flowMatch.js";
import type { FlowRequest } from "./flowSpec.js";
import { checkCountersRoom, type FlowTables, type FoundPlace, type WantedEntry } from "./flowTables.js";
import { describe, Handle, living } from "./handle.js";
import { QueuePair } from "./queues.js";

/** Where flows for multicast alone stand on devices that put them behind all others. */
const LAST_SLOT = trappingSlot(0xffff);

export class Flow extends Handle {
  readonly comp_mask = 0;
  readonly context: Context;
  /** `ibv_flow.handle` */
  readonly handle: number;
  readonly qp: QueuePair;
  readonly type: number;
  readonly priority: number;
  readonly port: number;
  readonly flags: number;
  readonly actions: readonly FlowAction[];
  #counters: Counters | null;
  #entries: readonly FlowEntry[] = [];

  private constructor(
    qp: QueuePair,
    { type, priority, port, flags }: FlowRequest,
    counters: Counters | null,
    actions: readonly FlowAction[],
    name: string | undefined,
  ) {
    // The number is taken when the flow stands.
    const number = qp.device.nextNumber("flow", 0);
    super(qp.device, name ?? `flow${number}`);
    this.handle = number + 1;
    this.context = qp.context;
    this.qp = qp;
    this.type = type;
    this.priority = priority;
    this.port = port;
    this.flags = flags;
    this.actions = actions;
    this.#counters = counters;
  }

  /** ibv_create_flow. `qp` may be destroyed, which is one of the things that are looked at in their order. */
  static create(call: string, qp: QueuePair, request: FlowRequest, name?: string): Flow {
    const { device } = qp;
    const setting = settingOf(qp);
    if (setting.rawAllowed && setting.steering) living(call, "qp", qp, QueuePair);
    checkFlow(call, device.profile, request, setting);
    const match = flowMatch(call, request.specs, request.port);
    const counters = match.actions.counters === null ? null : countersOf(call, device, match.actions.counters);
    const actions = flowActionsOf(call, qp.context, request, match.actions.handles);
    const flow = new Flow(qp, request, counters, actions, name);
    const wanted = wantedEntries(device, request, match, actions);
    flow.#enter(call, flow.#tables.find(call, flow, wanted));
    return flow;
  }

  /** What counts the frames that it is hit by. */
  get counters(): Counters | null {
    return this.#counters;
  }

  /** Whether it answers frames that its own queue pair has sent. */
  get loopsBack(): boolean {
    return (this.flags & IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK) !== 0;
  }

  get #tables(): FlowTables {
    return this.context.function.flows;
  }

  #enter(call: string, found: readonly FoundPlace[]): void {
    const { device } = this;
    const counters = this.#counters;
    const fresh = counters !== null && counters.address === 0;
    counters?.bind(call);
    try {
      this.#entries = this.#tables.enter(call, this, found);
    } catch (error) {
      if (fresh) counters.unbind();
      throw error;
    }
    device.nextNumber("flow");
    this.qp.users++;
    if (counters !== null) counters.users++;
    for (const action of this.actions) action.users++;
  }

  /** It counts on `counters` from now on, if it does not already. @throws EINVAL it counts on others; ENOMEM */
  countOn(call: string, counters: Counters): void {
    if (this.#counters === counters) return;
    const path = "flow";
    if (counters.device !== this.device) {
      refuse({ code: "EINVAL", call, reason: "other_device", path, value: this });
    }
    if (this.#counters !== null) {
      const hint = `it counts on ${this.#counters.name}`;
      refuse({ code: "EINVAL", call, reason: "in_use", path, value: this, hint });
    }
    for (const entry of this.#entries) checkCountersRoom(call, entry, counters);
    const fresh = counters.address === 0;
    counters.bind(call);
    this.#counters = counters;
    this.#tables.refresh(call, this.#entries, () => {
      this.#counters = null;
      if (fresh) counters.unbind();
    });
    counters.users++;
  }

  destroy(call: string): void {
    living(call, "flow", this, Flow);
    this.destroyed = true;
    this.#tables.leave(this, this.#entries);
    this.qp.users--;
    if (this.#counters !== null) this.#counters.users--;
    for (const action of this.actions) action.users--;
  }
}

function settingOf({ device, context, qp_type }: QueuePair): FlowSetting {
  return {
    ports: device.ports,
    steering: device.managedFlowSteering,
    rawAllowed: context.capNetRaw,
    qpType: qp_type,
    hasPoints: (counters) => !(counters instanceof Counters) || counters.hasPoints,
    points: (counters) => (counters instanceof Counters ? counters.pointCount : 0),
  };
}

function countersOf(call: string, device: Device, { object, path }: NamedObject): Counters {
  if (!(object instanceof Counters)) throw new TypeError(`${call}: ${path} must be Counters, not ${describe(object)}`);
  return ofDevice(call, path, device, living(call, path, object, Counters));
}

function ofDevice<T extends Handle>(call: string, path: string, device: Device, object: T): T {
  if (object.device === device) return object;
  return refuse({ code: "EINVAL", call, reason: "other_device", path, value: object });
}

/** Where a flow belongs; ALL_DEFAULT and SNIFFER to two places. */
function wantedEntries(
  device: Device,
  { type, flags, priority, port, specs }: FlowRequest,
  match: FlowMatch,
  actions: readonly FlowAction[],
): WantedEntry[] {
  const { drop, tag } = match.actions;
  const alone = { drop, tag, actions, dontTrap: false, slot: trappingSlot(0) } as const;
  switch (type) {
    case IBV_FLOW_ATTR_SNIFFER: {
      const bits = portMatch(port);
      return (["sniffers", "sentSniffers"] as const).map((stage) => ({ ...alone, stage, bits }));
    }
    case IBV_FLOW_ATTR_MC_DEFAULT:
      return [{ ...alone, stage: "defaults", bits: groupMatch(port, true) }];
    case IBV_FLOW_ATTR_ALL_DEFAULT:
      return [true, false].map((group) => ({ ...alone, stage: "defaults", bits: groupMatch(port, group) }));
    default: {
      const stage = (flags & IBV_FLOW_ATTR_FLAGS_EGRESS) !== 0 ? "egress" : "root";
      const dontTrap = (flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP) !== 0;
      const last = device.profile.flows.multicastLast && !dontTrap && isMulticastOnly(specs);
      const slot = last ? LAST_SLOT : trappingSlot(priority) - (dontTrap ? 1 : 0);
      return [{ drop, tag, actions, dontTrap, slot, stage, bits: match }];
    }
  }
}
