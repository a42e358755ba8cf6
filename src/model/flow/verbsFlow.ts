/** Verbs flows (ibv_create_flow(3)): a queue pair, a match and actions. */
import { KEY_SIZE } from "../../abi/key.js";
import {
  IBV_FLOW_ATTR_ALL_DEFAULT,
  IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK,
  IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
  IBV_FLOW_ATTR_FLAGS_EGRESS,
  IBV_FLOW_ATTR_MC_DEFAULT,
  IBV_FLOW_ATTR_NORMAL,
  IBV_FLOW_ATTR_SNIFFER,
} from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import { trappingSlot } from "../table/classifier.js";
import type { DeviceBase } from "../base/deviceBase.js";
import type { FrameTarget } from "../base/target.js";
import { Flow } from "./flow.js";
import type { FlowAction } from "../action/flowAction.js";
import { flowActionsOf } from "./actionChecks.js";
import { checkFlow, type FlowSetting } from "./checks.js";
import { Counters } from "./counters.js";
import { isMulticastOnly } from "./driverChecks.js";
import { flowMatch, groupMatch, portMatch, type FlowMatch, type KeyBits, type NamedObject } from "./specMatch.js";
import { isOutsideMask, type FlowRequest, type MatchSpec, type Spec } from "../match/flowSpec.js";
import type { WantedEntry } from "./entries.js";
import type { FlowStage } from "../table/pipeline.js";
import { wrongType } from "../../base/checks.js";
import { living, type Handle } from "../base/handle.js";
import { QueuePair } from "../queuePair/queuePair.js";

/** The match of the flow that is being made. Its entry keeps what it needs of it. */
const SCRATCH: KeyBits = { mask: new Uint8Array(KEY_SIZE), value: new Uint8Array(KEY_SIZE) };

/** The slot of multicast-only flows on devices that rank them after all others. */
const LAST_SLOT = trappingSlot(0xffff);

export class VerbsFlow extends Flow {
  readonly qp: QueuePair;
  readonly type: number;
  readonly priority: number;
  readonly port: number;
  readonly flags: number;
  /**
   * The specs whose values have bits outside their masks, for explanations. The manual profile
   * ignores such bits.
   */
  readonly outsideMask: readonly MatchSpec[];
  /** What it was created with. */
  readonly specs: readonly Spec[];

  private constructor(
    qp: QueuePair,
    { type, priority, port, flags, specs }: FlowRequest,
    counts: Counters | null,
    actions: readonly FlowAction[],
    name: string | undefined,
  ) {
    super(qp.context, { name, counts, actions, holds: [qp] });
    this.qp = qp;
    this.type = type;
    this.priority = priority;
    this.port = port;
    this.flags = flags;
    this.outsideMask = specsOutsideMask(specs);
    this.specs = specs;
  }

  /** @internal ibv_create_flow. `qp` may be destroyed: that is one of the ordered checks. */
  static create(qp: QueuePair, request: FlowRequest, name?: string): VerbsFlow {
    const { device } = qp;
    const setting = settingOf(qp);
    if (setting.rawAllowed && setting.steering) living("qp", qp, QueuePair);
    checkFlow(device.profile, request, setting);
    SCRATCH.mask.fill(0);
    SCRATCH.value.fill(0);
    const match = flowMatch(request.specs, request.port, SCRATCH);
    const counts = match.actions.counters === null ? null : countersOf(device, match.actions.counters);
    const actions = flowActionsOf(qp.context, request, match.actions.handles);
    const flow = new VerbsFlow(qp, request, counts, actions, name);
    flow.enter(wantedEntries(device, request, match, actions));
    return flow;
  }

  get does(): string {
    return "attr.specs";
  }

  get loopsBack(): boolean {
    return (this.flags & IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK) !== 0;
  }

  /** Sent frames continue to the wire, and sniffers see both directions. */
  get target(): FrameTarget | null {
    if (this.type === IBV_FLOW_ATTR_NORMAL && (this.flags & IBV_FLOW_ATTR_FLAGS_EGRESS) !== 0) return null;
    return this.qp.target;
  }
}

const NO_SPECS: readonly MatchSpec[] = Object.freeze([]);

function specsOutsideMask(specs: readonly Spec[]): readonly MatchSpec[] {
  let outside = NO_SPECS;
  for (const spec of specs) {
    if (spec.kind === "match" && isOutsideMask(spec)) outside = [...outside, spec];
  }
  return outside;
}

function settingOf({ device, context, qp_type }: QueuePair): FlowSetting {
  return {
    ports: device.ports,
    steering: device.managedFlowSteering,
    rawAllowed: context.capNetRaw,
    qpType: qp_type,
    hasPoints,
    points,
  };
}

function hasPoints(counters: unknown): boolean {
  return !(counters instanceof Counters) || counters.hasPoints;
}

function points(counters: unknown): number {
  return counters instanceof Counters ? counters.pointCount : 0;
}

function countersOf(device: DeviceBase, { object, path }: NamedObject): Counters {
  if (!(object instanceof Counters)) wrongType(path, "Counters", object);
  return ofDevice(path, device, living(path, object, Counters));
}

function ofDevice<T extends Handle>(path: string, device: DeviceBase, object: T): T {
  if (object.device === device) return object;
  return refuse({ code: "EINVAL", reason: "other_device", path, value: object });
}

/** The entries of a flow; ALL_DEFAULT and SNIFFER have two. */
function wantedEntries(
  device: DeviceBase,
  { type, flags, priority, port, specs }: FlowRequest,
  match: FlowMatch,
  actions: readonly FlowAction[],
): WantedEntry[] {
  const { drop, tag } = match.actions;
  switch (type) {
    case IBV_FLOW_ATTR_SNIFFER: {
      const bits = portMatch(port);
      return (["sniffers", "sentSniffers"] as const).map((stage) => ofPort(stage, bits));
    }
    case IBV_FLOW_ATTR_MC_DEFAULT:
      return [ofPort("defaults", groupMatch(port, true))];
    case IBV_FLOW_ATTR_ALL_DEFAULT:
      return [true, false].map((group) => ofPort("defaults", groupMatch(port, group)));
    default: {
      const sends = (flags & IBV_FLOW_ATTR_FLAGS_EGRESS) !== 0;
      const stage = sends ? "egress" : "root";
      const dontTrap = (flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP) !== 0;
      const last = device.profile.flows.multicastLast && !dontTrap && isMulticastOnly(specs);
      const slot = last ? LAST_SLOT : trappingSlot(priority) - (dontTrap ? 1 : 0);
      return [{ drop, tag, actions, dontTrap, slot, stage, sends, bits: match }];
    }
  }

  /** An entry of a sniffer or of a default flow. */
  function ofPort(stage: FlowStage, bits: KeyBits): WantedEntry {
    return { drop, tag, actions, dontTrap: false, slot: trappingSlot(0), sends: false, stage, bits };
  }
}
