/**
 * What a flow is refused for before it becomes a match: lists of checks, in the order in which each stack makes them.
 * The first that finds something is the refusal (docs/flows.md, "What is refused"). What no frame could match is found
 * where specs become a match (specMatch.ts), under every profile.
 */
import {
  IBV_FLOW_ATTR_ALL_DEFAULT,
  IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
  IBV_FLOW_ATTR_FLAGS_EGRESS,
  IBV_FLOW_ATTR_MC_DEFAULT,
  IBV_FLOW_ATTR_NORMAL,
  IBV_FLOW_ATTR_SNIFFER,
  IBV_QPT_RAW_PACKET,
  IBV_QPT_UD,
} from "../../abi/verbs.js";
import { refuse, type Refusal } from "../../errors.js";
import { DRIVER_SPECS, STEERING_SPECS } from "./driverChecks.js";
import type { FlowRequest, Spec } from "./spec.js";
import { anySpec, existing, inWidth, knownFilter, noSecond, SPEC_CHECKS, type Found } from "./specChecks.js";
import type { FlowRules, Profile } from "../base/profile.js";

/** What device, context and queue pair bring to the checks of a flow. */
export interface FlowSetting {
  /** Ports of the device; they are counted from 1. */
  readonly ports: number;
  /** Whether the device steers flows at all. */
  readonly steering: boolean;
  /** Whether the context may: CAP_NET_RAW. */
  readonly rawAllowed: boolean;
  readonly qpType: number;
  /** Whether a counters object has points, or is bound to a flow already. */
  readonly hasPoints: (counters: unknown) => boolean;
  /** How many points it has. */
  readonly points: (counters: unknown) => number;
}

type Check = (flow: FlowRequest, setting: FlowSetting, rules: FlowRules) => Found | undefined;

/** Refuses what the profile's stack finds first. QP, counters and actions are known to be alive. */
export function checkFlow(call: string, { flows }: Profile, flow: FlowRequest, setting: FlowSetting): void {
  for (const check of CHECKS[flows.checks]) {
    const found = check(flow, setting, flows);
    if (found !== undefined) refuse({ ...found, call });
  }
}

/** Refuses the first spec that can stand in no flow, whatever stands beside it. */
export function checkSpecs(call: string, specs: readonly Spec[]): void {
  const found = specsStand(specs);
  if (found !== undefined) refuse({ ...found, call });
}

function specsStand(specs: readonly Spec[]): Found | undefined {
  return anySpec(specs, SPEC_CHECKS) ?? noSecond("tag", specs) ?? noSecond("count", specs);
}

const PAGE = "ibv_create_flow(3)";
const ALL_FLAGS = 0x7;
/** IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK is deprecated in the header, and unknown to the driver. */
const DRIVER_FLAGS = IBV_FLOW_ATTR_FLAGS_DONT_TRAP | IBV_FLOW_ATTR_FLAGS_EGRESS;

const invalid = (path: string, value: unknown, hint: string, reason: Refusal["reason"] = "out_of_range"): Found => ({
  code: "EINVAL",
  reason,
  path,
  value,
  hint,
  cite: PAGE,
});

const has = (flow: FlowRequest, flag: number): boolean => (flow.flags & flag) !== 0;
const isDefault = (type: number): boolean => type === IBV_FLOW_ATTR_ALL_DEFAULT || type === IBV_FLOW_ATTR_MC_DEFAULT;

const permitted: Check = (_flow, { rawAllowed }) =>
  rawAllowed
    ? undefined
    : { code: "EPERM", reason: "not_permitted", path: "qp", hint: "its context lacks CAP_NET_RAW", cite: PAGE };

const steering =
  (code: "ENOSYS" | "EOPNOTSUPP"): Check =>
  (_flow, setting) =>
    setting.steering ? undefined : { code, reason: "unsupported", path: "qp", hint: "no managed flow steering" };

const queueType =
  (egressTakesAny: boolean): Check =>
  (flow, { qpType }) => {
    if (qpType === IBV_QPT_UD || qpType === IBV_QPT_RAW_PACKET) return undefined;
    if (egressTakesAny && has(flow, IBV_FLOW_ATTR_FLAGS_EGRESS)) return undefined;
    return invalid("qp.qp_type", qpType, "IBV_QPT_RAW_PACKET or IBV_QPT_UD", "bad_object");
  };

const typeExists =
  (code: "EINVAL" | "EOPNOTSUPP"): Check =>
  ({ type }) =>
    type <= IBV_FLOW_ATTR_SNIFFER
      ? undefined
      : { ...invalid("attr.type", type, "IBV_FLOW_ATTR_NORMAL .. SNIFFER"), code };

const flagsWithin =
  (known: number, hint: string): Check =>
  ({ flags }) =>
    (flags & ~known) === 0 ? undefined : invalid("attr.flags", flags, hint, "bad_flow_flag");

const portExists: Check = ({ port }, { ports }) =>
  port >= 1 && port <= ports ? undefined : invalid("attr.port", port, `ports of the device: 1 to ${ports}`);

const specsCounted: Check = ({ num_of_specs, specs }) =>
  num_of_specs === specs.length
    ? undefined
    : invalid("attr.num_of_specs", num_of_specs, `there are ${specs.length}`, "spec_count");

const specsAtMost: Check = ({ specs }, _setting, { maxSpecs }) =>
  specs.length <= maxSpecs
    ? undefined
    : invalid("attr.num_of_specs", specs.length, `at most ${maxSpecs}`, "out_of_range");

const priorityExists: Check = ({ priority }, _setting, { lastPriority }) =>
  priority <= lastPriority
    ? undefined
    : { ...invalid("attr.priority", priority, `0 to ${lastPriority}`), code: "ENOMEM" };

const flagOfNormal =
  (flag: number, name: string, refuses: (type: number) => boolean): Check =>
  (flow) =>
    has(flow, flag) && refuses(flow.type)
      ? invalid("attr.flags", flow.flags, `${name} is for IBV_FLOW_ATTR_NORMAL`, "bad_flow_flag")
      : undefined;

const dontTrap = (refuses: (type: number) => boolean): Check =>
  flagOfNormal(IBV_FLOW_ATTR_FLAGS_DONT_TRAP, "IBV_FLOW_ATTR_FLAGS_DONT_TRAP", refuses);
const egress = (refuses: (type: number) => boolean): Check =>
  flagOfNormal(IBV_FLOW_ATTR_FLAGS_EGRESS, "IBV_FLOW_ATTR_FLAGS_EGRESS", refuses);
const notNormal = (type: number): boolean => type !== IBV_FLOW_ATTR_NORMAL;

/** A counters object brings its points to the first flow that names it. */
const countersHavePoints: Check = ({ specs }, { hasPoints }) => {
  const bare = specs.findIndex((spec) => spec.kind === "count" && !hasPoints(spec.counters));
  if (bare < 0) return undefined;
  const hint = "attach a point to it first (ibv_attach_counters_point_flow)";
  return { code: "EINVAL", reason: "bad_object", path: `specs[${bare}].counters`, hint };
};

const pointsAtMost: Check = ({ specs }, { points }, { maxPoints }) => {
  const full = specs.findIndex((spec) => spec.kind === "count" && points(spec.counters) > maxPoints);
  if (full < 0) return undefined;
  const hint = `at most ${maxPoints} points`;
  return { code: "EINVAL", reason: "out_of_range", path: `specs[${full}].counters`, hint };
};

/** The driver reads the specs of NORMAL flows alone: for the other types it has its own. */
const ofNormal =
  (find: (specs: readonly Spec[]) => Found | undefined): Check =>
  ({ type, specs }) =>
    type === IBV_FLOW_ATTR_NORMAL ? find(specs) : undefined;

/** manual: docs/flows.md, "What is refused". mlx5: provider, library, uverbs, driver, steering core. */
const CHECKS: Readonly<Record<FlowRules["checks"], readonly Check[]>> = {
  manual: [
    permitted,
    steering("ENOSYS"),
    queueType(true),
    typeExists("EINVAL"),
    flagsWithin(ALL_FLAGS, "ALLOW_LOOP_BACK 1, DONT_TRAP 2, EGRESS 4"),
    portExists,
    specsCounted,
    ({ specs }) => specsStand(specs),
    dontTrap(notNormal),
    egress(notNormal),
  ],
  mlx5: [
    steering("EOPNOTSUPP"),
    ({ specs }) => noSecond("count", specs),
    countersHavePoints,
    pointsAtMost,

    specsCounted,
    ({ specs }) => anySpec(specs, [existing, knownFilter]),

    permitted,
    flagsWithin(ALL_FLAGS, "DONT_TRAP 2, EGRESS 4"),
    dontTrap(isDefault),
    specsAtMost,
    portExists,
    queueType(false),
    ({ specs }) => anySpec(specs, [inWidth]),

    priorityExists,
    flagsWithin(DRIVER_FLAGS, "DONT_TRAP 2, EGRESS 4"),
    egress(isDefault),
    typeExists("EOPNOTSUPP"),
    ...DRIVER_SPECS.map(ofNormal),

    ...STEERING_SPECS.map(ofNormal),
  ],
};
