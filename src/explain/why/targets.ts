/** Finds the target of an explanation: an object of the model, or its name. */
import { isDevxFlowEntry, isDevxFlowTable } from "../../model/devx/kinds.js";
import { mistyped, refuse, type Refusal } from "../../errors.js";
import { namesHint } from "../../base/nearest.js";
import { describe, unsigned } from "../../base/checks.js";
import { FlowCounter } from "../../model/action/counter.js";
import type { DeviceBase } from "../../model/base/deviceBase.js";
import { Handle } from "../../model/base/handle.js";
import type { InstalledRule } from "../../model/base/installed.js";
import type { DevxFlowEntry } from "../../model/devx/flowEntry.js";
import type { DevxFlowTable } from "../../model/devx/flowTable.js";
import { FlowEntry } from "../../model/flow/entry.js";
import { Counters } from "../../model/flow/counters.js";
import { Flow } from "../../model/flow/flow.js";
import { HostQueue, HostRule } from "../../model/flow/hostRules.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import { WorkQueue } from "../../model/queue/workQueue.js";
import { Rule } from "../../model/rule/rule.js";
import { Table } from "../../model/table/domain.js";
import { VPORT_UPLINK } from "../../abi/engine.js";
import { COUNTER_SIZE } from "../../abi/state.js";
import { unitOf } from "../trace/objects.js";
import type { Target } from "./explanation.js";

/** A rule, a flow, a table, a queue, a counter, the number of a vport (0xffff for the ports), an end, or any of them as data. */
export type WhyTarget =
  | Rule
  | HostRule
  | DevxFlowEntry
  | Flow
  | Table
  | DevxFlowTable
  | QueuePair
  | WorkQueue
  | FlowCounter
  | Counters
  | number
  | "dropped"
  | "not delivered twice"
  | Target;

/** The target as data, with what it is in the core. */
export type FoundTarget =
  | {
      readonly kind: "rule";
      readonly data: Target;
      readonly objects: readonly InstalledRule[];
      readonly pending: boolean;
      readonly name: string;
    }
  | { readonly kind: "table"; readonly data: Target; readonly address: number }
  | {
      readonly kind: "queue";
      readonly data: Target;
      readonly label: string;
      readonly queue: QueuePair | WorkQueue | HostQueue;
    }
  | { readonly kind: "vport"; readonly data: Target; readonly vport: number }
  | { readonly kind: "tag"; readonly data: Target; readonly tag: number }
  | CounterTarget
  | { readonly kind: "end" | "twice"; readonly data: Target };

/** A counter of flows, or one or all of a bulk. */
export interface CounterTarget {
  readonly kind: "counter";
  readonly data: Target;
  readonly name: string;
  /** The addresses that its counts have in the core: from the first one up to the second. */
  readonly from: number;
  readonly until: number;
}

/** @throws TypeError no target; SteeringError EINVAL: no object has the name, or it is of another device, or destroyed */
export function findTarget(device: DeviceBase, target: WhyTarget): FoundTarget {
  if (target === "dropped") return { kind: "end", data: { kind: "end" } };
  if (target === "not delivered twice") return { kind: "twice", data: { kind: "twice" } };
  if (typeof target === "number") return vportTarget(device, target);
  if (target instanceof Handle) return ofObject(device, target);
  return byData(device, target);
}

function ofObject(device: DeviceBase, target: Exclude<WhyTarget, number | string | Target>): FoundTarget {
  const { name } = target;
  if (target.device !== device) bad({ reason: "other_device", value: target });
  if (target.destroyed) bad({ reason: "object_destroyed", value: target });
  if (target instanceof Flow) {
    const objects = [...device.installed].filter((one) => one instanceof FlowEntry && one.flows.includes(target));
    return { kind: "rule", data: { kind: "flow", name }, objects, pending: false, name: `flow "${name}"` };
  }
  if (target instanceof Table || isDevxFlowTable(target)) {
    return { kind: "table", data: { kind: "table", name }, address: target.classifier.table };
  }
  if (target instanceof QueuePair || target instanceof WorkQueue) return queueTarget(target);
  if (target instanceof FlowCounter || target instanceof Counters) return counterTarget(target);
  const installed = target instanceof Rule ? target.holder : target;
  const pending = installed instanceof Rule && installed.handle === 0;
  return { kind: "rule", data: { kind: "rule", name }, objects: [installed], pending, name: `rule "${name}"` };
}

function queueTarget(queue: QueuePair | WorkQueue | HostQueue): FoundTarget {
  const { label } = queue;
  return { kind: "queue", data: { kind: "queue", name: label }, label, queue };
}

function vportTarget(device: DeviceBase, vport: number): FoundTarget {
  if (!Number.isInteger(vport) || vport < 0 || (vport > device.vports && vport !== VPORT_UPLINK)) {
    bad({ reason: "out_of_range", value: vport, hint: `0 to ${device.vports}, or 0xffff for the ports` });
  }
  return { kind: "vport", data: { kind: "vport", vport }, vport };
}

function byData(device: DeviceBase, target: Target): FoundTarget {
  switch (target?.kind) {
    case "end":
    case "twice":
      return { kind: target.kind, data: { kind: target.kind } };
    case "vport":
      return vportTarget(device, target.vport);
    case "tag":
      return { kind: "tag", data: target, tag: unsigned("target.tag", target.tag, 32) };
    case "counter":
      return counterNamed(device, target);
    case "rule":
    case "flow":
    case "table":
      return ofObject(device, named(target, objectsOf(device, target.kind)));
    case "queue":
      return queueNamed(device, target);
    default:
      mistyped(`target must be a rule, flow, table, queue, counter, vport, "dropped" or data, not ${describe(target)}`);
  }
}

function counterTarget(counter: FlowCounter | Counters, unit?: number): CounterTarget {
  const isBulk = counter instanceof FlowCounter;
  const size = isBulk ? counter.size : 1;
  const name = unit === undefined ? counter.name : unitOf(counter.name, unit, size);
  const first = isBulk ? counter.addressOf(unit ?? 0) : counter.address;
  const until = first + (unit === undefined ? size : 1) * COUNTER_SIZE;
  return { kind: "counter", data: { kind: "counter", name }, name, from: first, until };
}

/** `c`, or `c[3]` for one of a bulk. */
function counterNamed({ resources }: DeviceBase, { name }: { readonly name: string }): CounterTarget {
  const counters = [...resources].filter((one) => one instanceof FlowCounter || one instanceof Counters);
  const whole = counters.find((one) => one.name === name);
  if (whole !== undefined) return counterTarget(whole);
  const [, bulk, digits] = /^(.*)\[(\d+)\]$/s.exec(name) ?? [];
  const unit = Number(digits);
  const found = counters.find((one) => one instanceof FlowCounter && one.name === bulk && unit < one.size);
  if (found !== undefined) return counterTarget(found, unit);
  const names = counters.map((one) => one.name);
  return bad({ reason: "unknown_name", value: name, hint: namesHint(name, "counters", names) });
}

type Named = Exclude<WhyTarget, number | string | Target>;

function named(target: Target & { name: string }, objects: ReadonlySet<Named>): Named {
  const found = [...objects].find(({ name }) => name === target.name);
  if (found !== undefined) return found;
  const names = [...objects].map(({ name }) => name);
  return bad({
    reason: "unknown_name",
    value: target.name,
    hint: namesHint(target.name, `${target.kind}s`, names),
  });
}

/** The objects of a kind that have rules, or that rules lead to. */
function objectsOf(device: DeviceBase, kind: "rule" | "flow" | "table"): ReadonlySet<Named> {
  const objects = new Set<Named>();
  if (kind === "table") {
    for (const { object } of device.tables.values()) {
      if (object instanceof Table || isDevxFlowTable(object)) objects.add(object);
    }
  }
  for (const one of device.installed) {
    if (kind === "table") {
      if (one instanceof Rule) objects.add(one.matcher.table);
    } else if (kind === "flow") {
      if (one instanceof FlowEntry) for (const flow of one.flows) if (flow instanceof Flow) objects.add(flow);
    } else if (one instanceof Rule || one instanceof HostRule || isDevxFlowEntry(one)) objects.add(one);
  }
  return objects;
}

function queueNamed(device: DeviceBase, target: Target & { name: string }): FoundTarget {
  const queues = new Set<QueuePair | WorkQueue | HostQueue>();
  for (const one of [...device.queues.values(), ...device.receivers.values()]) {
    if (one instanceof QueuePair || one instanceof WorkQueue || one instanceof HostQueue) queues.add(one);
  }
  const { name } = target;
  const bare = ({ label }: { readonly label: string }): string => label.replace(/^(qp|wq):/, "");
  const found = [...queues].find((queue) => queue.label === name || bare(queue) === name);
  if (found !== undefined) return queueTarget(found);
  const names = [...queues].map(bare);
  return bad({ reason: "unknown_name", value: name, hint: namesHint(name, "queues", names) });
}

function bad(refusal: Pick<Refusal, "reason"> & Partial<Refusal>): never {
  return refuse({ code: "EINVAL", path: "target", ...refusal });
}
