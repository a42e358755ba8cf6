/**
 * The checks of a flow before it becomes a match. model/profile declares which checks a profile
 * makes, their order and their errnos; the first finding is the refusal. specMatch.ts finds matches
 * that no frame can have, under every profile.
 */
import { rangeText } from "../../base/checks.js";
import {
  IBV_FLOW_ATTR_ALL_DEFAULT,
  IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK,
  IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
  IBV_FLOW_ATTR_FLAGS_EGRESS,
  IBV_FLOW_ATTR_MC_DEFAULT,
  IBV_FLOW_ATTR_NORMAL,
  IBV_FLOW_ATTR_SNIFFER,
  IBV_QPT_RAW_PACKET,
  IBV_QPT_UD,
} from "../../abi/verbs.js";
import { refuse, type RefusalReason } from "../../errors.js";
import type { FlowCheck, FlowRules, FlowStep, Profile, SpecCheck } from "../profile/profile.js";
import { runnable, type Finding, type Found, type Refusals, type Step } from "../profile/refusals.js";
import { checkEtherType } from "./driverChecks.js";
import type { FlowRequest, Spec } from "../match/flowSpec.js";
import { SPEC_CHECKS } from "./specChecks.js";

/** The device, context and queue pair of a flow, as its checks need them. */
export interface FlowSetting {
  /** Ports of the device, numbered from 1. */
  readonly ports: number;
  /** Whether ibv_create_flow steers on this device. */
  readonly steering: boolean;
  /** Whether the context may steer: CAP_NET_RAW. */
  readonly rawAllowed: boolean;
  readonly qpType: number;
  /** Whether a counters object has points or is bound to a flow. */
  readonly hasPoints: (counters: unknown) => boolean;
  /** How many points it has. */
  readonly points: (counters: unknown) => number;
}

type Check = (flow: FlowRequest, setting: FlowSetting, rules: FlowRules) => Finding | undefined;

/** Refuses the first finding of the profile. Queue pair, counters and actions are alive. */
export function checkFlow({ flows }: Profile, flow: FlowRequest, setting: FlowSetting): void {
  for (const step of flows.create) {
    const found = step.each === undefined ? stepOnce(step, flow, setting, flows) : stepOverSpecs(step, flow);
    if (found !== undefined) refuse({ ...found });
  }
}

function stepOnce(
  { refuses }: Step<FlowCheck>,
  flow: FlowRequest,
  setting: FlowSetting,
  rules: FlowRules,
): Found | undefined {
  for (const { check, code } of runnable(refuses, CHECKS)) {
    const found = check(flow, setting, rules);
    if (found !== undefined) return { ...found, code };
  }
  return undefined;
}

function stepOverSpecs(
  { each, refuses }: Extract<FlowStep, { each: string }>,
  { type, specs }: FlowRequest,
): Found | undefined {
  if (each === "spec of a NORMAL flow" && type !== IBV_FLOW_ATTR_NORMAL) return undefined;
  return foundInSpecs(specs, refuses);
}

const UNREADABLE: Refusals<SpecCheck> = { unknownSpec: "EINVAL", longFilter: "EOPNOTSUPP" };

/** Refuses specs with bytes that this release does not know. */
export function checkSpecs(specs: readonly Spec[]): void {
  const found = foundInSpecs(specs, UNREADABLE);
  if (found !== undefined) refuse({ ...found });
}

function foundInSpecs(specs: readonly Spec[], refuses: Refusals<SpecCheck>): Found | undefined {
  const checks = runnable(refuses, SPEC_CHECKS);
  for (let i = 0; i < specs.length; i++) {
    for (const { check, code } of checks) {
      const found = check(specs[i]!, i, specs);
      if (found !== undefined) return { ...found, code };
    }
  }
  return undefined;
}

const PAGE = "ibv_create_flow(3)";
const ALL_FLAGS = IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK | IBV_FLOW_ATTR_FLAGS_DONT_TRAP | IBV_FLOW_ATTR_FLAGS_EGRESS;
const DRIVER_FLAGS_TEXT = "DONT_TRAP 2, EGRESS 4";

const finding = (path: string, value: unknown, hint: string, reason: RefusalReason = "out_of_range"): Finding => ({
  reason,
  path,
  value,
  hint,
  cite: PAGE,
});

const has = (flow: FlowRequest, flag: number): boolean => (flow.flags & flag) !== 0;
const isDefault = (type: number): boolean => type === IBV_FLOW_ATTR_ALL_DEFAULT || type === IBV_FLOW_ATTR_MC_DEFAULT;
const isNotNormal = (type: number): boolean => type !== IBV_FLOW_ATTR_NORMAL;

const queueType =
  (egressTakesAny: boolean): Check =>
  (flow, { qpType }) => {
    if (qpType === IBV_QPT_UD || qpType === IBV_QPT_RAW_PACKET) return undefined;
    if (egressTakesAny && has(flow, IBV_FLOW_ATTR_FLAGS_EGRESS)) return undefined;
    return finding("qp.qp_type", qpType, "IBV_QPT_RAW_PACKET or IBV_QPT_UD", "bad_object");
  };

const flagOfNormal =
  (flag: number, name: string, refuses: (type: number) => boolean): Check =>
  (flow) =>
    has(flow, flag) && refuses(flow.type)
      ? finding("attr.flags", flow.flags, `${name} is for IBV_FLOW_ATTR_NORMAL`, "bad_flow_flag")
      : undefined;

const dontTrap = (refuses: (type: number) => boolean): Check =>
  flagOfNormal(IBV_FLOW_ATTR_FLAGS_DONT_TRAP, "IBV_FLOW_ATTR_FLAGS_DONT_TRAP", refuses);
const egress = (refuses: (type: number) => boolean): Check =>
  flagOfNormal(IBV_FLOW_ATTR_FLAGS_EGRESS, "IBV_FLOW_ATTR_FLAGS_EGRESS", refuses);

/** A flow has at most one tag and one counters object. */
const second =
  (kind: "tag" | "count"): Check =>
  ({ specs }) => {
    let first = -1;
    let next = -1;
    for (let i = 0; i < specs.length && next < 0; i++) {
      if (specs[i]!.kind !== kind) continue;
      if (first < 0) first = i;
      else next = i;
    }
    if (next < 0) return undefined;
    return { reason: "bad_action_list", path: `specs[${next}].type`, hint: `specs[${first}] is one already` };
  };

const CHECKS: Readonly<Record<FlowCheck, Check>> = {
  notPermitted: (_flow, { rawAllowed }) =>
    rawAllowed ? undefined : { reason: "not_permitted", path: "qp", hint: "its context lacks CAP_NET_RAW", cite: PAGE },

  noSteering: (_flow, { steering }) =>
    steering ? undefined : { reason: "unsupported", path: "qp", hint: "no managed flow steering" },

  queuePairType: queueType(false),
  queuePairTypeUnlessEgress: queueType(true),

  flowType: ({ type }) =>
    type <= IBV_FLOW_ATTR_SNIFFER ? undefined : finding("attr.type", type, "IBV_FLOW_ATTR_NORMAL .. SNIFFER"),

  unknownFlag: ({ flags }, _setting, { create }) => {
    if ((flags & ~ALL_FLAGS) === 0) return undefined;
    const refusesLoopBack = create.some(({ refuses }) => "allowLoopBack" in refuses);
    const hint = refusesLoopBack ? DRIVER_FLAGS_TEXT : `ALLOW_LOOP_BACK 1, ${DRIVER_FLAGS_TEXT}`;
    return finding("attr.flags", flags, hint, "bad_flow_flag");
  },

  // The header deprecates the flag, and the driver does not know it.
  allowLoopBack: (flow) =>
    has(flow, IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK)
      ? finding("attr.flags", flow.flags, DRIVER_FLAGS_TEXT, "bad_flow_flag")
      : undefined,

  port: ({ port }, { ports }) =>
    port >= 1 && port <= ports ? undefined : finding("attr.port", port, `ports of the device: ${rangeText(1, ports)}`),

  specCount: ({ num_of_specs, specs }) =>
    num_of_specs === specs.length
      ? undefined
      : finding("attr.num_of_specs", num_of_specs, `there are ${specs.length}`, "spec_count"),

  tooManySpecs: ({ specs }, _setting, { maxSpecs }) =>
    specs.length <= maxSpecs ? undefined : finding("attr.num_of_specs", specs.length, `at most ${maxSpecs}`),

  secondTag: second("tag"),
  secondCounters: second("count"),

  // The points of a counters object are bound by the first flow that names it.
  countersWithoutPoints: ({ specs }, { hasPoints }) => {
    const bare = specs.findIndex((spec) => spec.kind === "count" && !hasPoints(spec.counters));
    if (bare < 0) return undefined;
    const hint = "attach a point to it first (ibv_attach_counters_point_flow)";
    return { reason: "bad_object", path: `specs[${bare}].counters`, hint };
  },

  tooManyPoints: ({ specs }, { points }, { maxPoints }) => {
    const full = specs.findIndex((spec) => spec.kind === "count" && points(spec.counters) > maxPoints);
    if (full < 0) return undefined;
    return { reason: "out_of_range", path: `specs[${full}].counters`, hint: `at most ${maxPoints} points` };
  },

  dontTrapUnlessNormal: dontTrap(isNotNormal),
  dontTrapOfDefault: dontTrap(isDefault),
  egressUnlessNormal: egress(isNotNormal),
  egressOfDefault: egress(isDefault),

  priority: ({ priority }, _setting, { lastPriority }) =>
    priority <= lastPriority ? undefined : finding("attr.priority", priority, `0 to ${lastPriority}`),

  etherType: ({ type, specs }) => (type === IBV_FLOW_ATTR_NORMAL ? checkEtherType(specs) : undefined),
};
