/** The rules of a living device, as a scenario. */
import { inCall } from "../../errors.js";
import { PORT_VXLAN } from "../../abi/protocols.js";
import { IBV_COUNTER_PACKETS } from "../../abi/verbs.js";
import { termsOf } from "../../explain/match/terms.js";
import { openTracer, type Tracer, type TracerOptions } from "../../explain/trace/tracer.js";
import type { Action } from "../../model/action/action.js";
import type { AsoAction } from "../../model/action/asoActions.js";
import type { FlowCounter } from "../../model/action/counter.js";
import { farEnd } from "../../model/traffic/cable.js";
import type { Device } from "../../model/device/device.js";
import { HostRule } from "../../model/flow/hostRules.js";
import type { CounterPoint } from "../../model/flow/counters.js";
import type { Flow } from "../../model/flow/flow.js";
import { DevxFlowEntry } from "../../model/devx/flowEntry.js";
import { FlowEntry } from "../../model/flow/entry.js";
import type { QueuePair } from "../../model/queuePair/queuePair.js";
import type { Tir } from "../../model/queuePair/tir.js";
import { Rule } from "../../model/rule/rule.js";
import type { Table } from "../../model/table/domain.js";
import type { Matcher } from "../../model/table/matcher.js";
import type { ScenarioAction, ScenarioRuleAction } from "../../scenario/action/definition.js";
import type { ScenarioCable, ScenarioDevice } from "../../scenario/device/definition.js";
import type { Scenario } from "../../scenario/document.js";
import type { ScenarioCounterPoint, ScenarioHostRule } from "../../scenario/flow/definition.js";
import type { ScenarioRule } from "../../scenario/rule/definition.js";
import type { ScenarioAsoAction } from "../../scenario/state/definition.js";
import { ExportFindings, type ExportFinding } from "../../formats/writing/finding.js";
import { actionOf, type ActionNames, type SharedAction } from "./actions.js";
import { DeviceAso } from "./aso.js";
import { DeviceFlows, matchOf } from "./flows.js";
import { DeviceNames } from "./names.js";
import { DeviceQueues } from "./queues.js";
import { DeviceTirs } from "./tirs.js";

export interface DeviceScenarioOptions extends TracerOptions {
  /** Whether the keys of ESP actions are written; without them flows that have such an action are left out. */
  readonly keys?: boolean;
}

export interface DeviceScenario {
  readonly scenario: Scenario;
  /** What the device has and the scenario has not. Rules that need it are left out, or lack it. */
  readonly findings: readonly ExportFinding[];
}

/**
 * Writes what a device does with frames as a scenario: its tables, matchers, rules and flows, and the
 * queues, TIRs and counters that they name. Loaded, the scenario makes a device that treats frames as this one
 * does. Values of counters and contents of queues are left out; keys of ESP actions too, unless `keys` is set.
 *
 *     const { scenario, findings } = await scenarioOf(device);
 *     writeFileSync("rules.json", JSON.stringify(scenario));
 *
 * @throws TypeError no device
 */
export async function scenarioOf(device: Device, options: DeviceScenarioOptions = {}): Promise<DeviceScenario> {
  return (await openDeviceExport(device, options))();
}

/**
 * Loads what `scenarioOf` needs. The function that it returns does the same at once, as often as it is called.
 *
 * @throws TypeError no device
 */
export async function openDeviceExport(
  device: Device,
  options: DeviceScenarioOptions = {},
): Promise<() => DeviceScenario> {
  const { keys = false, ...others } = options;
  const tracer = await openTracer(device, others);
  return () => {
    inCall("scenarioOf", () => tracer.refresh());
    return new DeviceExport(tracer, keys).result();
  };
}

class DeviceExport {
  readonly #device: Device;
  readonly #findings = new ExportFindings();
  readonly #queues: DeviceQueues;
  readonly #counters = new DeviceNames<FlowCounter>();
  readonly #flows: DeviceFlows;
  readonly #tables = new DeviceNames<Table>();
  readonly #matchers = new DeviceNames<Matcher>();
  readonly #actionNames = new DeviceNames<Action>();
  readonly #actions = new Map<string, ScenarioAction>();
  /** Of one list: outcomes name them all. */
  readonly #ruleNames = new DeviceNames<Rule | Flow | HostRule>();
  readonly #tirs: DeviceTirs;
  readonly #aso = new DeviceAso(this.#findings);
  readonly #names = {
    tir: (tir: Tir): string => this.#tirs.of(tir),
    queue: (queue: QueuePair): string => this.#queues.of(queue),
    table: (table: Table): string => this.#tables.of(table),
    counter: (counter: FlowCounter): string => this.#counters.of(counter),
    shared: (action: Action, written: SharedAction): string => {
      const name = this.#actionNames.of(action);
      this.#actions.set(name, { name, ...written });
      return name;
    },
  };

  constructor(
    private readonly tracer: Tracer,
    keys: boolean,
  ) {
    this.#device = tracer.device;
    this.#queues = new DeviceQueues(this.#device, this.#findings);
    this.#tirs = new DeviceTirs(this.#device, (queue) => this.#queues.of(queue));
    this.#flows = new DeviceFlows(tracer, this.#findings, {
      ...this.#names,
      flow: (flow) => this.#ruleNames.of(flow),
      keys,
    });
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
    const entries = installed.filter((one) => one instanceof FlowEntry);
    // A flow can have an entry in several tables.
    this.#flows.add([...new Set(entries.flatMap((entry) => [...entry.flows]))]);
    if (installed.some((one) => one instanceof DevxFlowEntry))
      this.#findings.refuse("flowEntries", "flow tables of device commands and their entries are not exported");
    const hostRules = this.#hostRules(installed.filter((one) => one instanceof HostRule));
    const scenario = {
      flowsteer: 1 as const,
      device: this.#deviceOptions(),
      ...listed("connect", this.#cables()),
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
      ...listed("flowActions", [...this.#flows.actions.values()]),
      ...listed("actions", [...this.#actions.values()]),
      ...listed("rules", rules),
      ...listed("flows", this.#flows.verbs),
      ...listed("deviceFlows", this.#flows.device),
      ...listed("hostRules", hostRules),
      ...this.#objects(),
    };
    return { scenario, findings: this.#findings.list };
  }

  #deviceOptions(): ScenarioDevice {
    const { ports, vports, profile, seed, managedFlowSteering, parser } = this.#device;
    const { geneveOption: geneveOption0, samples, vxlanPorts } = parser;
    const declared = {
      ...(geneveOption0 === undefined ? {} : { geneveOption0 }),
      ...(samples.length === 0 ? {} : { samples: [...samples] }),
      ...(vxlanPorts.join() === String(PORT_VXLAN) ? {} : { vxlanPorts: [...vxlanPorts] }),
    };
    return {
      ...(Object.keys(declared).length === 0 ? {} : { parser: declared }),
      ports,
      vports,
      profile: profile.name,
      seed,
      ...(managedFlowSteering ? {} : { managedFlowSteering }),
    };
  }

  /** Cables between ports of the device. */
  #cables(): ScenarioCable[] {
    return this.#device.hardware.ports.flatMap(({ number, cable }) => {
      if (cable === null) return [];
      const far = farEnd(cable);
      if (far === null || far.device !== this.#device || !far.atOnce) {
        const what = far === null ? "a listener" : "another device, or a cable that takes time";
        this.#findings.refuse("connect", `port ${number} is connected to ${what}, which a scenario does not have`);
        return [];
      }
      return far.port.number < number ? [] : [{ port: number, to: far.port.number }];
    });
  }

  /** Rules of other applications, in the order in which they match. */
  #hostRules(rules: readonly HostRule[]): ScenarioHostRule[] {
    const { traced } = this.tracer;
    const stored = rules.map((rule) => ({ rule, ...traced.storedRule(rule.handle) }));
    stored.sort((a, b) => a.rankHigh - b.rankHigh || a.rankLow - b.rankLow);
    return stored.map(({ rule, ...place }) => {
      const { application, priority, action } = rule;
      const match = matchOf(termsOf(traced.contentOf(place)));
      return {
        name: this.#ruleNames.of(rule),
        application,
        function: rule.rules.function.vport,
        ...(priority === 0 ? {} : { priority }),
        ...(Object.keys(match).length === 0 ? {} : { match }),
        action,
      };
    });
  }

  #domains(tables: readonly Table[]): Pick<Scenario, "domains"> {
    const strict = new Set(tables.map(({ domain }) => domain).filter(({ allowsDuplicates }) => !allowsDuplicates));
    return listed(
      "domains",
      [...strict].map(({ type, context }) => ({ domain: type, function: context.function.vport, duplicates: false })),
    );
  }

  /** Queues and counters that have been named. */
  #objects(): Partial<Scenario> {
    const { queues, indirectionTables } = this.#queues.written();
    return {
      ...listed("asoObjects", this.#aso.objects()),
      ...listed("queues", queues),
      ...listed("indirectionTables", indirectionTables),
      ...listed("rqts", [...this.#tirs.rqts.values()]),
      ...listed("tirs", [...this.#tirs.tirs.values()]),
      ...listed(
        "counters",
        [...this.#counters.objects].map(([{ size, context }, name]) => ({
          name,
          function: context.function.vport,
          ...(size === 1 ? {} : { flow_counter_bulk_log_size: Math.log2(size) }),
        })),
      ),
      ...listed(
        "flowCounters",
        [...this.#flows.counters.objects].map(([counters, name]) => ({ name, points: counters.points.map(pointOf) })),
      ),
    };
  }

  /** A rule; none if it has an action that a scenario does not get. */
  #rule(rule: Rule): ScenarioRule[] {
    const name = this.#ruleNames.of(rule);
    const { handle, secondHandle } = rule.holder;
    if (handle === 0) {
      this.#findings.refuse("rules", "it waits for a sync of its domain", name);
      return [];
    }
    const { traced } = this.tracer;
    const content = traced.contentOf(traced.storedRule(handle));
    const terms = termsOf(content);
    // A rule whose directions differ is two rules of the core, which ask for a direction besides.
    const own = terms.filter(({ field }) => secondHandle === 0 || field.name !== "ext.direction");
    const { domain } = rule.matcher.table;
    const aso = (action: AsoAction): ScenarioAsoAction => this.#aso.action(action, domain, content.actions);
    const names: ActionNames = { ...this.#names, aso };
    const actions: ScenarioRuleAction[] = [];
    for (const action of rule.actions) {
      const made = actionOf(this.#device, action, names);
      if (typeof made === "object" && "refused" in made) {
        this.#findings.refuse("rules", made.refused, name);
        return [];
      }
      actions.push(made);
    }
    return [{ name, matcher: this.#matchers.of(rule.matcher), match: matchOf(own), actions }];
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
