/** The rules of a living device, as a scenario. */
import { IBV_COUNTER_PACKETS, IBV_QPT_RAW_PACKET, IBV_QPT_UD } from "../../abi/verbs.js";
import { termsOf } from "../../explain/match/terms.js";
import { openTracer, type Tracer, type TracerOptions } from "../../explain/trace/tracer.js";
import type { Action } from "../../model/action/action.js";
import type { FlowCounter } from "../../model/action/counter.js";
import type { Device } from "../../model/device/device.js";
import { HostRule } from "../../model/flow/hostRules.js";
import { Counters, type CounterPoint } from "../../model/flow/counters.js";
import { FlowEntry } from "../../model/flow/entry.js";
import type { Spec } from "../../model/flow/spec.js";
import { VerbsFlow } from "../../model/flow/verbsFlow.js";
import type { QueuePair } from "../../model/queue/queuePair.js";
import type { Tir } from "../../model/queue/tir.js";
import { Rule } from "../../model/rule/rule.js";
import type { Table } from "../../model/table/domain.js";
import type { Matcher } from "../../model/table/matcher.js";
import type { ScenarioAction, ScenarioRuleAction } from "../../scenario/action/definition.js";
import type { ScenarioDevice } from "../../scenario/device/definition.js";
import type { Scenario } from "../../scenario/document.js";
import type { ScenarioCounterPoint, ScenarioFlow, ScenarioFlowSpec } from "../../scenario/flow/definition.js";
import { writtenSpec } from "../../scenario/flow/specTypes.js";
import type { ScenarioQueue } from "../../scenario/queue/definition.js";
import type { ScenarioRule } from "../../scenario/rule/definition.js";
import { ExportFindings, type ExportFinding } from "../finding.js";
import { actionOf, type SharedAction } from "./actions.js";
import { DeviceNames } from "./names.js";
import { DeviceTirs } from "./tirs.js";

export interface DeviceScenario {
  readonly scenario: Scenario;
  /** What the device has and the scenario has not. Rules that need it are left out, or lack it. */
  readonly findings: readonly ExportFinding[];
}

/**
 * Writes what a device does with frames as a scenario: its tables, matchers, rules and flows, and the
 * queues, TIRs and counters that they name. Loaded, the scenario makes a device that treats frames as this one
 * does. Values of counters and contents of queues are left out.
 *
 *     const { scenario, findings } = await scenarioOf(device);
 *     writeFileSync("rules.json", JSON.stringify(scenario));
 *
 * @throws TypeError no device
 */
export async function scenarioOf(device: Device, options: TracerOptions = {}): Promise<DeviceScenario> {
  const tracer = await openTracer(device, options);
  tracer.refresh("scenarioOf");
  return new DeviceExport(tracer).result();
}

const TYPES = ["normal", "all_default", "mc_default", "sniffer"] as const;
const FLAGS = ["allow_loop_back", "dont_trap", "egress"] as const;

/** Receive buffers of a queue for datagrams, which has to have some. */
const BUFFERS = 1024;

class DeviceExport {
  readonly #tracer: Tracer;
  readonly #device: Device;
  readonly #findings = new ExportFindings();
  readonly #queues = new DeviceNames<QueuePair>();
  readonly #counters = new DeviceNames<FlowCounter>();
  readonly #flowCounters = new DeviceNames<Counters>();
  readonly #tables = new DeviceNames<Table>();
  readonly #matchers = new DeviceNames<Matcher>();
  readonly #actionNames = new DeviceNames<Action>();
  readonly #actions = new Map<string, ScenarioAction>();
  readonly #ruleNames = new DeviceNames<Rule>();
  readonly #flowNames = new DeviceNames<VerbsFlow>();
  readonly #tirs: DeviceTirs;
  readonly #names = {
    tir: (tir: Tir): string | null => this.#tirs.of(tir),
    queue: (queue: QueuePair): string => this.#queues.of(queue),
    table: (table: Table): string => this.#tables.of(table),
    counter: (counter: FlowCounter): string => this.#counters.of(counter),
    shared: (action: Action, written: SharedAction): string => {
      const name = this.#actionNames.of(action);
      this.#actions.set(name, { name, ...written });
      return name;
    },
  };

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
    this.#device = tracer.device;
    this.#tirs = new DeviceTirs(this.#device, this.#names.queue);
  }

  result(): DeviceScenario {
    const installed = [...this.#device.installed];
    const direct = installed.filter((one) => one instanceof Rule);
    // Tables one after the other; orders and sequences count within a table.
    const tables = [...new Set(direct.map(({ matcher }) => matcher.table))].toSorted(byPlace);
    const place = new Map(tables.map((table, at) => [table, at]));
    const before = (a: Matcher, b: Matcher): number => (place.get(a.table) ?? 0) - (place.get(b.table) ?? 0);
    const bySequence = direct.toSorted((a, b) => before(a.matcher, b.matcher) || a.sequence - b.sequence);
    const matchers = [...new Set(direct.map(({ matcher }) => matcher))].toSorted(
      (a, b) => before(a, b) || a.order - b.order,
    );
    for (const matcher of matchers) this.#matchers.of(matcher);
    const rules = bySequence.flatMap((rule) => this.#rule(rule));
    const flows = this.#flows(installed.filter((one) => one instanceof FlowEntry).flatMap(({ flows }) => [...flows]));
    for (const one of installed) {
      if (one instanceof HostRule)
        this.#findings.refuse("hostRules", "rules of other applications are not exported", one.name);
    }
    const scenario = {
      flowsteer: 1 as const,
      device: this.#deviceOptions(),
      ...this.#domains(matchers.map(({ table }) => table)),
      ...listed(
        "tables",
        [...tablesOf(matchers, this.#tables)].map(([table, name]) => ({ name, ...placeOf(table) })),
      ),
      ...listed(
        "matchers",
        matchers.map((matcher) => ({
          name: this.#matchers.of(matcher),
          table: this.#tables.of(matcher.table),
          priority: matcher.priority,
        })),
      ),
      ...listed("actions", [...this.#actions.values()]),
      ...listed("rules", rules),
      ...listed("flows", flows),
      ...this.#objects(),
    };
    return { scenario, findings: this.#findings.list };
  }

  #deviceOptions(): ScenarioDevice {
    const { ports, vports, profile, seed, managedFlowSteering } = this.#device;
    return {
      ...{ ports, vports, profile: profile.name, seed },
      ...(managedFlowSteering ? {} : { managedFlowSteering }),
    };
  }

  #domains(tables: readonly Table[]): Pick<Scenario, "domains"> {
    const strict = new Set(tables.map(({ domain }) => domain).filter(({ allowsDuplicates }) => !allowsDuplicates));
    return listed(
      "domains",
      [...strict].map(({ type, context }) => ({ domain: type, function: context.function.vport, duplicates: false })),
    );
  }

  /** Queues and counters that have been named. */
  #objects(): Pick<Scenario, "queues" | "rqts" | "tirs" | "counters" | "flowCounters"> {
    return {
      ...listed(
        "queues",
        [...this.#queues.objects].map(([queue, name]) => this.#queue(queue, name)),
      ),
      ...listed("rqts", [...this.#tirs.rqts.values()]),
      ...listed("tirs", [...this.#tirs.tirs.values()]),
      ...listed(
        "counters",
        [...this.#counters.objects].map(([{ size, context }, name]) => ({
          ...{ name, function: context.function.vport },
          ...(size === 1 ? {} : { flow_counter_bulk_log_size: Math.log2(size) }),
        })),
      ),
      ...listed(
        "flowCounters",
        [...this.#flowCounters.objects].map(([counters, name]) => ({ name, points: counters.points.map(pointOf) })),
      ),
    };
  }

  #queue(queue: QueuePair, name: string): ScenarioQueue {
    const isDatagrams = queue.qp_type === IBV_QPT_UD;
    if (!isDatagrams && queue.qp_type !== IBV_QPT_RAW_PACKET) {
      this.#findings.refuse("queues", "only raw packet and UD queues are exported", name);
    } else if (!queue.isSink) {
      const takes = isDatagrams ? `has ${BUFFERS} receive buffers` : "accepts every frame";
      this.#findings.refuse("queues", `its posted receive buffers are not exported: it ${takes}`, name);
    }
    return {
      ...{ name, function: queue.context.function.vport, port: queue.attributes.port_num },
      ...(isDatagrams ? { type: "ud" as const, buffers: BUFFERS } : {}),
    };
  }

  /** A rule; none if it has an action that a scenario does not get. */
  #rule(rule: Rule): ScenarioRule[] {
    const name = this.#ruleNames.of(rule);
    if (rule.handle === 0) {
      this.#findings.refuse("rules", "it waits for a sync of its domain", name);
      return [];
    }
    const { traced } = this.#tracer;
    const terms = termsOf(traced.contentOf(traced.storedRule(rule.handle)));
    // A rule whose directions differ is two rules of the core, which ask for a direction besides.
    const own = terms.filter(({ field }) => rule.secondHandle === 0 || field.name !== "ext.direction");
    const actions: ScenarioRuleAction[] = [];
    for (const action of rule.actions) {
      const made = actionOf(this.#device, action, this.#names);
      if (typeof made === "object" && "refused" in made) {
        this.#findings.refuse("rules", made.refused, name);
        return [];
      }
      actions.push(made);
    }
    const match = Object.fromEntries(own.map(({ field, wanted }) => [field.name, wanted]));
    return [{ name, matcher: this.#matchers.of(rule.matcher), match, actions }];
  }

  #flows(all: readonly unknown[]): ScenarioFlow[] {
    return all.flatMap((flow): ScenarioFlow[] => {
      if (!(flow instanceof VerbsFlow)) {
        this.#findings.refuse("flows", "flows in device bytes and entries of flow tables are not exported");
        return [];
      }
      const name = this.#flowNames.of(flow);
      const specs: ScenarioFlowSpec[] = [];
      for (const spec of flow.specs) {
        const written = this.#spec(spec);
        if (written === null) {
          this.#findings.refuse("flows", "flow actions are not exported", name);
          return [];
        }
        specs.push(written);
      }
      const flags = FLAGS.filter((_, n) => ((flow.flags >>> n) & 1) === 1);
      const { type, port, priority, qp } = flow;
      return [
        {
          ...{ name, queue: this.#queues.of(qp), port },
          ...(type > 0 ? { type: TYPES[type] ?? "normal" } : {}),
          ...(priority === 0 ? {} : { priority }),
          ...(flags.length === 0 ? {} : { flags }),
          ...(specs.length === 0 ? {} : { specs }),
        },
      ];
    });
  }

  #spec(spec: Spec): ScenarioFlowSpec | null {
    if (spec.kind === "match") return writtenSpec(spec);
    if (spec.kind === "drop") return "drop";
    if (spec.kind === "tag") return { tag: spec.tag_id };
    return spec.kind === "count" && spec.counters instanceof Counters
      ? { count: this.#flowCounters.of(spec.counters) }
      : null;
  }
}

function pointOf({ index, description }: CounterPoint): ScenarioCounterPoint {
  return { index, counts: description === IBV_COUNTER_PACKETS ? "packets" : "bytes" };
}

function byPlace(a: Table, b: Table): number {
  const of = ({ domain }: Table): number => domain.context.function.vport;
  return a.type.localeCompare(b.type) || of(a) - of(b) || a.level - b.level || a.name.localeCompare(b.name);
}

/** The tables of matchers, and those that rules lead to. */
function tablesOf(matchers: readonly Matcher[], names: DeviceNames<Table>): DeviceNames<Table>["objects"] {
  for (const { table } of matchers) names.of(table);
  return names.objects;
}

function placeOf({
  domain,
  level,
}: Table): Pick<NonNullable<Scenario["tables"]>[number], "domain" | "function" | "level"> {
  return { domain: domain.type, function: domain.context.function.vport, level };
}

function listed<Key extends string, Item>(key: Key, list: readonly Item[]): { [K in Key]?: Item[] } {
  return list.length === 0 ? {} : ({ [key]: [...list] } as { [K in Key]: Item[] });
}
