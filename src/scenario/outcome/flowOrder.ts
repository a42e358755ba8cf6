/** The order in which frames meet flows and host rules: docs/flows.md. */
import {
  IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
  IBV_FLOW_ATTR_FLAGS_EGRESS,
  IBV_FLOW_ATTR_NORMAL,
  IBV_FLOW_ATTR_SNIFFER,
} from "../../abi/verbs.js";
import type { DeviceFlow } from "../../model/flow/deviceFlow.js";
import { HOST_APPLICATIONS } from "../../model/flow/hostRules.js";
import type { VerbsFlow } from "../../model/flow/verbsFlow.js";
import type { HitRule } from "../../model/traffic/outcome.js";
import type { LoadedScenario } from "../load.js";

/** A flow or a host rule, and where frames meet it. */
export interface FlowPlace {
  readonly rule: HitRule;
  /** The function; 0 for the PF. */
  readonly vport: number;
  /** `normal`, `egress`, `sniffer`, `default`, a flow table type of mlx5dv, or the application of a host rule. */
  readonly kind: string;
  /** Undefined for every port. */
  readonly port: number | undefined;
  /** Null where the kind has no priorities. */
  readonly priority: number | null;
}

interface Placed extends FlowPlace {
  readonly place: readonly number[];
}

/** The stages of docs/flows.md; those of sent frames and of the eSwitch come after the others. */
const [SNIFFER, RDMA, NORMAL, HOST, DEFAULT, EGRESS, FDB] = [0, 1, 2, 3, 4, 5, 6] as const;

/** Flows and host rules, function by function in the order in which they are matched; equals in the order of the document. */
export function flowsInOrder({ scenario, flows, deviceFlows, hostRules }: LoadedScenario): readonly FlowPlace[] {
  const hosts = scenario.hostRules ?? [];
  return [
    ...[...flows.values()].map(placeOfFlow),
    ...[...deviceFlows.values()].map(placeOfDeviceFlow),
    ...[...hostRules.values()].map((rule, i): Placed => {
      const { application, priority } = rule;
      const { port, function: vport = 0 } = hosts[i] ?? {};
      const place = [vport, HOST, HOST_APPLICATIONS.indexOf(application), priority];
      return { rule, vport, kind: application, port, priority, place };
    }),
  ].sort((a, b) => compare(a.place, b.place));
}

function placeOfDeviceFlow(rule: DeviceFlow): Placed {
  const { priority, port, tableType } = rule.matcher;
  const { name, domainType, rdma } = tableType;
  const stage = domainType === "fdb" ? FDB : domainType === "nic_tx" ? EGRESS : rdma ? RDMA : NORMAL;
  const { vport } = rule.context.function;
  // Transport tables come after the others for received frames, and before them for sent ones.
  const within = stage === RDMA ? (tableType.transport ? 1 : 0) : rdma ? (tableType.transport ? -2 : -1) : 0;
  const kind = name.toLowerCase();
  const place = [vport, stage, within, priority, 1];
  return { rule, vport, kind, port: port === 0 ? undefined : port, priority, place };
}

function placeOfFlow(rule: VerbsFlow): Placed {
  const { type, flags, port, priority } = rule;
  const egress = (flags & IBV_FLOW_ATTR_FLAGS_EGRESS) !== 0;
  const copies = (flags & IBV_FLOW_ATTR_FLAGS_DONT_TRAP) !== 0;
  const { vport } = rule.context.function;
  const none = { rule, vport, port, priority: null };
  if (type === IBV_FLOW_ATTR_SNIFFER) return { ...none, kind: "sniffer", place: [vport, SNIFFER] };
  if (type !== IBV_FLOW_ATTR_NORMAL) return { ...none, kind: "default", place: [vport, DEFAULT] };
  const kind = `${egress ? "egress" : "normal"}${copies ? ", dont_trap" : ""}`;
  return { rule, vport, kind, port, priority, place: [vport, egress ? EGRESS : NORMAL, 0, priority, copies ? 0 : 1] };
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((one, i) => one !== b[i]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}
