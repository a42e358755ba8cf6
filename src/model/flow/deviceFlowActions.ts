/**
 * The actions of flows of mlx5dv_create_flow(3). The provider sorts and counts them; the kernel
 * checks the objects that they name (docs/flows.md, "Flows in device bytes"). model/profile
 * declares which checks a profile makes.
 */
import {
  MLX5DV_FLOW_ACTION_COUNTERS_DEVX,
  MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET,
  MLX5DV_FLOW_ACTION_DEFAULT_MISS,
  MLX5DV_FLOW_ACTION_DEST_DEVX,
  MLX5DV_FLOW_ACTION_DEST_IBV_QP,
  MLX5DV_FLOW_ACTION_DROP,
  MLX5DV_FLOW_ACTION_IBV_COUNTER,
  MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION,
  MLX5DV_FLOW_ACTION_TAG,
} from "../../abi/mlx5dv.js";
import { Op } from "../../abi/engine.js";
import { IBV_QPT_RAW_PACKET, IBV_QPT_UD } from "../../abi/verbs.js";
import { refuse, type ErrnoName, type RefusalReason } from "../../errors.js";
import { FlowCounter } from "../action/counter.js";
import type { DeviceFlowCheck } from "../profile/profile.js";
import type { Refusals } from "../profile/refusals.js";
import type { FlowCounts } from "./counts.js";
import type { FrameTarget } from "../base/target.js";
import type { Flow } from "./flow.js";
import { EspAction } from "../esp/action.js";
import { FlowAction } from "../action/flowAction.js";
import { FLOW_ACTIONS } from "./actionChecks.js";
import { Counters } from "./counters.js";
import type { FlowMatcher } from "./matcher.js";
import { DevxFlowTable } from "../devx/flowTable.js";
import { checkObject, unsigned, member } from "../../base/checks.js";
import { Handle, living } from "../base/handle.js";
import { QueuePair } from "../queuePair/queuePair.js";
import { Tir } from "../queuePair/tir.js";

/** `struct mlx5dv_flow_action_attr`: the type, and the member of the union that it takes. */
export interface FlowActionAttr {
  /** MLX5DV_FLOW_ACTION_* */
  type: number;
  qp?: QueuePair | undefined;
  counter?: Counters | undefined;
  action?: FlowAction | undefined;
  /** 24 bits. */
  tag_value?: number | undefined;
  obj?: Handle | undefined;
  /** With COUNTERS_DEVX_WITH_OFFSET: the counter of a bulk. */
  bulk_obj?: { obj: Handle; offset: number } | undefined;
}

/** The checked actions. */
export interface DeviceFlowActions {
  readonly target: FrameTarget | null;
  readonly drop: boolean;
  readonly tag: number | null;
  readonly counts: FlowCounts | null;
  readonly actions: readonly FlowAction[];
  /** The objects that the target needs. */
  readonly holds: readonly Handle[];
}

/** An action, and its position in the list. */
interface Listed {
  readonly attr: FlowActionAttr;
  readonly path: string;
}

interface Sorted {
  readonly end: Listed | null;
  readonly tag: Listed | null;
  readonly counter: Listed | null;
  readonly changes: readonly Listed[];
}

/** The kernel's limit on flow actions. */
const KERNEL_FLOW_ACTIONS = 2;
const TAG_END = 2 ** 24;
const PAGE = "mlx5dv_create_flow(3)";

/** One counter of a bulk. */
export class BulkCounter implements FlowCounts {
  readonly holder: FlowCounter;
  readonly address: number;
  private readonly _offset: number;

  constructor(holder: FlowCounter, offset: number) {
    this.holder = holder;
    this._offset = offset;
    this.address = holder.addressOf(offset);
  }

  get name(): string {
    return this.holder.name;
  }

  /** Which counter of the bulk it is. */
  get offset(): number {
    return this._offset;
  }

  bind(): number {
    return this.address;
  }

  unbind(): void {
    // The bulk owns the counts: there is nothing to free.
  }
}

/**
 * Checks the actions of a flow. @throws EINVAL, EOPNOTSUPP, EPERM actions that do not fit here or
 * together
 */
export function deviceFlowActions(matcher: FlowMatcher, attrs: readonly FlowActionAttr[]): DeviceFlowActions {
  const refuses = matcher.device.profile.flows.inBytes;
  const sorted = sort(refuses, attrs);
  if (!matcher.context.capNetRaw) {
    bad(refuses.notPermitted, "flow_matcher", matcher, "its context lacks CAP_NET_RAW", "not_permitted");
  }
  if (sorted.changes.length > KERNEL_FLOW_ACTIONS) {
    const { path } = sorted.changes[KERNEL_FLOW_ACTIONS] as Listed;
    bad(refuses.tooManyChanges, path, undefined, `at most ${KERNEL_FLOW_ACTIONS} flow actions`);
  }
  const where = targetOf(refuses, matcher, sorted.end);
  const counts = sorted.counter === null ? null : countsOf(matcher, sorted.counter);
  const actions = changesOf(refuses, matcher, sorted.changes);
  const drop = sorted.end?.attr.type === MLX5DV_FLOW_ACTION_DROP;
  const tag = sorted.tag === null ? null : tagOf(refuses, matcher, sorted.tag);
  if (counts !== null && sorted.end === null && matcher.tableType.domainType !== "nic_tx") {
    const hint = "a flow that counts has a destination, or drops";
    bad(refuses.counterWithoutEnd, sorted.counter?.path as string, counts.holder, hint);
  }
  return { ...where, drop, tag, counts, actions };
}

/**
 * Refuses with the errno that the profile declares for a check; does nothing where it declares
 * none.
 */
function bad(
  code: ErrnoName | undefined,
  path: string,
  value: unknown,
  hint: string,
  reason: RefusalReason = "bad_action_list",
): void {
  if (code !== undefined) refuse({ code, reason, path, value, hint, cite: PAGE });
}

/** Refuses under every profile. */
function invalid(path: string, value: unknown, hint: string, reason: RefusalReason = "bad_action_list"): never {
  return refuse({ code: "EINVAL", reason, path, value, hint, cite: PAGE });
}

type DeviceFlowRefusals = Refusals<DeviceFlowCheck>;

/** The provider sorts the list by kind of action. */
function sort(refuses: DeviceFlowRefusals, attrs: readonly FlowActionAttr[]): Sorted {
  let end: Listed | null = null;
  let tag: Listed | null = null;
  let counter: Listed | null = null;
  const changes: Listed[] = [];
  for (const [i, attr] of attrs.entries()) {
    const path = `actions_attr[${i}]`;
    checkObject(path, attr);
    const listed = { attr, path };
    const type = member(`${path}.type`, attr.type, 32);
    switch (type) {
      case MLX5DV_FLOW_ACTION_DEST_IBV_QP:
      case MLX5DV_FLOW_ACTION_DEST_DEVX:
      case MLX5DV_FLOW_ACTION_DEFAULT_MISS:
      case MLX5DV_FLOW_ACTION_DROP:
        if (end !== null) {
          bad(refuses.secondEnd, path, type, `${end.path} already ends the flow`, "action_repeated");
        }
        end = listed;
        break;
      case MLX5DV_FLOW_ACTION_TAG:
        if (tag !== null) bad(refuses.secondTag, path, type, "a frame carries one tag", "action_repeated");
        tag = listed;
        break;
      case MLX5DV_FLOW_ACTION_IBV_COUNTER:
      case MLX5DV_FLOW_ACTION_COUNTERS_DEVX:
      case MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET:
        if (type === MLX5DV_FLOW_ACTION_IBV_COUNTER)
          bad(refuses.verbsCounters, path, type, "COUNTERS_DEVX", "unsupported");
        if (counter !== null) bad(refuses.secondCounter, path, type, "a flow counts once", "action_repeated");
        counter = listed;
        break;
      case MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION:
        if (changes.length === FLOW_ACTIONS) {
          bad(refuses.tooManyActions, path, type, `at most ${FLOW_ACTIONS} flow actions`);
        }
        changes.push(listed);
        break;
      default:
        bad(
          refuses.unknownAction,
          `${path}.type`,
          type,
          `0 to ${MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET}`,
          "out_of_range",
        );
    }
  }
  return { end, tag, counter, changes };
}

const NOWHERE = { target: null, holds: [] } as const;

/** The destination, as the kernel finds it (get_dests). */
function targetOf(
  refuses: DeviceFlowRefusals,
  matcher: FlowMatcher,
  end: Listed | null,
): Pick<DeviceFlowActions, "target" | "holds"> {
  const { name, stage, domainType, rdma } = matcher.tableType;
  const type = end?.attr.type;
  const path = end?.path ?? "num_actions";
  const misplaced = (hint: string): never => invalid(path, type, `${name} tables take ${hint}`);
  if (domainType === "fdb" && type !== MLX5DV_FLOW_ACTION_DEST_DEVX && type !== MLX5DV_FLOW_ACTION_DROP) {
    bad(refuses.fdbDestination, path, type, `${name} tables take flow tables and DROP`);
  }
  if (
    rdma &&
    domainType === "nic_rx" &&
    type !== MLX5DV_FLOW_ACTION_DEST_DEVX &&
    type !== MLX5DV_FLOW_ACTION_DEST_IBV_QP
  ) {
    bad(refuses.rdmaDestination, path, type, `${name} tables take one queue pair or flow table`);
  }
  switch (end?.attr.type) {
    case MLX5DV_FLOW_ACTION_DEST_IBV_QP: {
      const qp = living(`${path}.qp`, end.attr.qp, QueuePair);
      checkOwner(`${path}.qp`, matcher, qp);
      if (qp.qp_type !== IBV_QPT_RAW_PACKET) {
        bad(refuses.datagramQueuePair, `${path}.qp`, qp, "IBV_QPT_RAW_PACKET", "bad_object");
        const hint = "IBV_QPT_RAW_PACKET or IBV_QPT_UD";
        if (qp.qp_type !== IBV_QPT_UD) invalid(`${path}.qp`, qp, hint, "bad_object");
      }
      if (domainType !== "nic_rx") misplaced("no queue pair");
      return { target: qp.target, holds: [qp] };
    }
    case MLX5DV_FLOW_ACTION_DEST_DEVX: {
      const object = living<Handle>(`${path}.obj`, end.attr.obj, Handle);
      if (object instanceof Tir) {
        checkOwner(`${path}.obj`, matcher, object);
        if (domainType !== "nic_rx" || rdma) misplaced("no TIR");
        return { target: object.target, holds: [object] };
      }
      if (!(object instanceof DevxFlowTable)) {
        return invalid(`${path}.obj`, object, "a flow table or a TIR", "bad_object");
      }
      checkOwner(`${path}.obj`, matcher, object);
      const own = object.setting.type;
      // SPEC: flows of RDMA types lead to tables of the domain too.
      if (own.domainType !== domainType || (own.stage !== null && own.stage !== stage)) {
        misplaced(rdma ? "flow tables of their own type or domain" : "flow tables of their domain");
      }
      return { target: { op: Op.table, operand: object.classifier.table }, holds: [object] };
    }
    case MLX5DV_FLOW_ACTION_DEFAULT_MISS:
      return { target: { op: Op.default_miss, operand: 0 }, holds: [] };
    default:
      return NOWHERE;
  }
}

/** The flows of a function use only objects of that function. */
function checkOwner(
  path: string,
  { device, context }: FlowMatcher,
  object: Handle & { readonly context: Flow["context"] },
): void {
  if (object.device === device && object.context.function === context.function) return;
  const hint = `the flow matcher is of ${context.function.name}`;
  refuse({ code: "EINVAL", reason: "other_device", path, value: object, hint });
}

function countsOf(matcher: FlowMatcher, { attr, path }: Listed): FlowCounts {
  if (attr.type === MLX5DV_FLOW_ACTION_IBV_COUNTER) {
    const counters = living(`${path}.counter`, attr.counter, Counters);
    checkDevice(`${path}.counter`, matcher, counters);
    return counters;
  }
  const bulk = attr.type === MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET;
  const at = bulk ? `${path}.bulk_obj` : path;
  const object = living<Handle>(`${at}.obj`, bulk ? attr.bulk_obj?.obj : attr.obj, Handle);
  if (!(object instanceof FlowCounter)) {
    return invalid(`${at}.obj`, object, "a flow counter", "bad_object");
  }
  checkDevice(`${at}.obj`, matcher, object);
  const offset = bulk ? unsigned(`${at}.offset`, attr.bulk_obj?.offset, 32) : 0;
  if (offset >= object.size) invalid(`${at}.offset`, offset, `the bulk has ${object.size}`, "out_of_range");
  return new BulkCounter(object, offset);
}

function checkDevice(path: string, { device }: FlowMatcher, object: Handle): void {
  if (object.device !== device) refuse({ code: "EINVAL", reason: "other_device", path, value: object });
}

/** A flow action must be made for the flow's own table type. */
function changesOf(refuses: DeviceFlowRefusals, matcher: FlowMatcher, changes: readonly Listed[]): FlowAction[] {
  const { name, domainType, rdma } = matcher.tableType;
  const kinds = new Set<string>();
  return changes.map(({ attr, path }) => {
    const action = living<FlowAction>(`${path}.action`, attr.action, FlowAction);
    checkOwner(`${path}.action`, matcher, action);
    if (rdma || action.domainType !== domainType) {
      const hint = rdma ? `${name} tables take none` : `the flow takes those of ${name}`;
      invalid(`${path}.action`, action, hint, "bad_object");
    }
    const esp = action instanceof EspAction;
    if (kinds.has(action.kind)) {
      const code = refuses.secondOfKind ?? (esp ? refuses.secondEsp : undefined);
      bad(code, `${path}.action`, action, `a flow has one ${action.kind} action`, "action_repeated");
    }
    kinds.add(action.kind);
    if (esp && action.inline && !matcher.asksForEsp) {
      const hint = "its matcher masks outer_esp_spi, and ip_version, ethertype or ip_protocol";
      invalid(`${path}.action`, action, hint);
    }
    return action;
  });
}

function tagOf(refuses: DeviceFlowRefusals, { tableType }: FlowMatcher, { attr, path }: Listed): number {
  const tag = unsigned(`${path}.tag_value`, attr.tag_value, 32);
  if (tag >= TAG_END) invalid(`${path}.tag_value`, tag, "24 bits", "out_of_range");
  // The destination stays inside the eSwitch.
  if (tableType.domainType === "fdb") bad(refuses.tagInFdb, path, tag, "tags are for who receives");
  return tag;
}
