/** Makes the objects of a scenario on a device, in the order of the document. */
import { MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE, MLX5DV_DR_MATCHER_LAYOUT_RESIZABLE } from "../abi/mlx5dv.js";
import type { Device } from "../model/device/device.js";
import type { Context } from "../model/base/context.js";
import type { AsoObject } from "../model/action/asoObject.js";
import type { FlowCounter } from "../model/action/counter.js";
import { Table } from "../model/table/domain.js";
import type { VerbsFlow } from "../model/flow/verbsFlow.js";
import type { DeviceFlow } from "../model/flow/deviceFlow.js";
import type { DevxFlowEntry } from "../model/devx/flowEntry.js";
import type { HostRule } from "../model/flow/hostRules.js";
import { setLayout } from "../model/table/matcherLayout.js";
import { Matcher } from "../model/table/matcher.js";
import type { IndirectionTable } from "../model/queue/indirectionTable.js";
import { QueuePair } from "../model/queuePair/queuePair.js";
import type { Rqt } from "../model/queuePair/rqt.js";
import { Rule } from "../model/rule/rule.js";
import type { Tir } from "../model/queuePair/tir.js";
import type { WorkQueue } from "../model/queue/workQueue.js";
import { ScenarioActions } from "./action/load.js";
import type { ConnectedQueue } from "./queue/connection.js";
import type { Scenario } from "./document.js";
import type { ScenarioCounter, ScenarioMatcher, ScenarioRule, ScenarioTable } from "./rule/definition.js";
import { ScenarioDomains } from "./device/domains.js";
import type { ScenarioFlow, ScenarioHostRule } from "./flow/definition.js";
import type { ScenarioFlowActions } from "./flow/actions.js";
import { LoadedFlowCounter } from "./flow/counter.js";
import { flowName, hostRuleName } from "./names.js";
import type { LoaderParts } from "./onDemand.js";
import { SAVED_AS_THEY_ARE, type SavedObjects } from "./saved/objects.js";
import { at, rulePlace } from "./place.js";
import type { ScenarioQueue } from "./queue/definition.js";
import { loadQueue, type LoadedQueue } from "./queue/load.js";
import { attempt, attemptEach, made, type Report } from "./report.js";
import { below } from "./schema/path.js";
import { loadIndirectionTable, loadRss } from "./rss/load.js";

/** Makes the objects of a document, list by list. */
export class ScenarioObjects {
  readonly queues = new Map<string, LoadedQueue>();
  readonly indirectionTables = new Map<string, IndirectionTable>();
  readonly rqts = new Map<string, Rqt>();
  readonly tirs = new Map<string, Tir>();
  readonly asoObjects = new Map<string, AsoObject>();
  readonly counters = new Map<string, FlowCounter>();
  readonly tables = new Map<string, Table>();
  readonly matchers = new Map<string, Matcher>();
  readonly rules = new Map<string, Rule>();
  readonly flowCounters = new Map<string, LoadedFlowCounter>();
  readonly flows = new Map<string, VerbsFlow>();
  readonly flowEntries = new Map<string, DevxFlowEntry>();
  readonly deviceFlows = new Map<string, DeviceFlow>();
  readonly hostRules = new Map<string, HostRule>();
  readonly device: Device;
  readonly context: Context;
  readonly domains: ScenarioDomains;
  readonly actions: ScenarioActions;
  /** Matchers that rules with a table and a priority imply. */
  readonly implied = new Map<string, Matcher>();
  /** Null for a document without flows and flow actions. */
  readonly flowActions: ScenarioFlowActions | null;

  /**
   * @param parts those that the document needs
   * @param report takes the refusals; what depends on refused objects is not made
   * @param saved the objects of the document, where a snapshot has them: nothing is made then
   */
  constructor(
    scenario: Scenario,
    parts: LoaderParts,
    device: Device,
    context: Context,
    report: Report,
    saved?: SavedObjects,
  ) {
    this.device = device;
    this.context = context;
    const { actions = [], domains = [], flowActions = [] } = scenario;
    this.domains = new ScenarioDomains(context, domains, report, saved?.domains);
    if (saved === undefined) this.#makeBeforeRules(scenario, parts, report);
    else this.#adopt(scenario, saved);
    this.actions = new ScenarioActions(this, actions, report, saved?.actions);
    const { flows } = parts;
    this.flowActions = flows === null ? null : new flows.ScenarioFlowActions(flowActions, report, saved?.flowActions);
    if (saved === undefined) this.#makeRules(scenario, parts, report);
  }

  /** Makes what comes before the actions of the document. */
  #makeBeforeRules(scenario: Scenario, parts: LoaderParts, report: Report): void {
    const { device } = this;
    const { queues, indirectionTables, rqts, tirs, asoObjects, connect, counters, tables } = scenario;
    const commands = (): DeviceParts => deviceParts(parts);
    attemptEach(report, "connect", connect, ({ port, to }, path) => {
      at(path, () => device.connect(port, device, to));
    });
    attemptEach(report, "queues", queues, (one, path) => this.#plainQueue(path, one));
    attemptEach(report, "queues", queues, ({ name, peer }, path) => {
      if (peer === undefined) return;
      const [one, other] = [connectedQueue(this.queues, name), connectedQueue(this.queues, peer)];
      at(path, () => one.connect(other));
    });
    attemptEach(report, "indirectionTables", indirectionTables, (table, path) => {
      this.indirectionTables.set(table.name, loadIndirectionTable(path, table, this.#workQueue));
    });
    attemptEach(report, "queues", queues, (one, path) => this.#rssQueue(path, one));
    attemptEach(report, "rqts", rqts, (rqt, path) =>
      this.rqts.set(rqt.name, commands().loadRqt(path, rqt, this.#queue)),
    );
    attemptEach(report, "tirs", tirs, (tir, path) => {
      this.tirs.set(
        tir.name,
        commands().loadTir(path, tir, this.#queue, (name) => made(this.rqts, name)),
      );
    });
    attemptEach(report, "asoObjects", asoObjects, (object, path) => {
      const owner = this.domains.context(object.function);
      this.asoObjects.set(object.name, commands().makeAsoObject(path, owner, object));
    });
    attemptEach(report, "counters", counters, (one, path) =>
      this.counters.set(one.name, this.makeCounter(parts, path, one)),
    );
    attemptEach(report, "tables", tables, (table, path) => this.tables.set(table.name, this.makeTable(path, table)));
  }

  /** Makes matchers and rules, flows, and rules of the host. */
  #makeRules(scenario: Scenario, parts: LoaderParts, report: Report): void {
    const { context, flowActions } = this;
    const { matchers, rules, flowCounters, flows, hostRules } = scenario;
    attemptEach(report, "matchers", matchers, (matcher, path) =>
      this.matchers.set(matcher.name, this.makeMatcher(path, matcher)),
    );
    attemptEach(report, "rules", rules, (rule, path) => this.rules.set(rule.name, this.makeRule(path, rule)));
    attemptEach(report, "flowCounters", flowCounters, (one, path) => {
      this.flowCounters.set(
        one.name,
        at(path, () => LoadedFlowCounter.create(context, one)),
      );
    });
    attemptEach(report, "flows", flows, (flow, path, i) => {
      const name = flowName(flow, i);
      this.flows.set(name, this.makeFlow(parts, path, flow, name));
    });
    if (parts.deviceObjects !== null) {
      const named = new parts.deviceObjects.DeviceFlowObjects(scenario, report, {
        domains: this.domains,
        flowActions,
        counter: (name) => made(this.counters, name),
        counters: (name) => made(this.flowCounters, name).counters,
        queuePair: (name) => this.#queuePair(name),
        tir: (name) => made(this.tirs, name),
      });
      fill(this.flowEntries, named.flowEntries);
      fill(this.deviceFlows, named.deviceFlows);
    }
    attemptEach(report, "hostRules", hostRules, (rule, path, i) => {
      const name = hostRuleName(rule, i);
      this.hostRules.set(name, this.makeHostRule(path, rule, name));
    });
    attempt(report, () => this.domains.begin());
  }

  /** Takes the objects of a snapshot. Queues come without receive buffers and messages: they were used. */
  #adopt({ flowCounters = [] }: Scenario, saved: SavedObjects): void {
    for (const [name, queue] of saved.queues) this.queues.set(name, { name, queue, buffers: null, connected: null });
    for (const key of SAVED_AS_THEY_ARE) fill<unknown>(this[key], saved[key]);
    for (const one of flowCounters) {
      this.flowCounters.set(one.name, LoadedFlowCounter.of(one, made(saved.flowCounters, one.name)));
    }
  }

  makeCounter(parts: LoaderParts, path: string, counter: ScenarioCounter): FlowCounter {
    return deviceParts(parts).makeCounter(path, this.domains.context(counter.function), counter);
  }

  makeTable(path: string, { name, domain = "nic_rx", function: vport, level }: ScenarioTable): Table {
    const owner = this.domains.domain(path, domain, vport);
    return at(path, () => Table.create(owner, level, name));
  }

  makeHostRule(path: string, rule: ScenarioHostRule, name: string): HostRule {
    const { hostRules } = this.device.function(rule.function ?? 0);
    return at(path, () => hostRules.add({ ...rule, name }));
  }

  /** Makes a flow of a document that was checked. */
  makeFlow({ flows }: LoaderParts, path: string, flow: ScenarioFlow, name: string): VerbsFlow {
    if (flows === null || this.flowActions === null) throw new Error(`loadScenario: the part for flows was not loaded`);
    const counter = (one: string): LoadedFlowCounter => made(this.flowCounters, one);
    return flows.loadFlow(path, flow, name, this.#queuePair(flow.queue), counter, this.flowActions);
  }

  readonly #queue = (name: string): QueuePair | WorkQueue => made(this.queues, name).queue;

  readonly #workQueue = (name: string): WorkQueue => {
    const found = this.#queue(name);
    if (found instanceof QueuePair) throw new Error(`loadScenario: ${name} is no work queue`);
    return found;
  };

  /** Queues come before the RSS queues, RQTs and TIRs that distribute frames over them. */
  #plainQueue(path: string, queue: ScenarioQueue): void {
    if (queue.rwq_ind_tbl !== undefined) return;
    this.queues.set(
      queue.name,
      at(path, () => loadQueue(this.domains, queue)),
    );
  }

  #rssQueue(path: string, one: ScenarioQueue): void {
    const { name, rwq_ind_tbl } = one;
    if (rwq_ind_tbl === undefined) return;
    const queue = loadRss(path, this.domains, one, made(this.indirectionTables, rwq_ind_tbl));
    this.queues.set(name, { name, queue, buffers: null, connected: null });
  }

  makeMatcher(path: string, { name, table, priority = 0, mask, layout }: ScenarioMatcher): Matcher {
    const matcher = at(path, () => Matcher.named(made(this.tables, table), priority, mask, name));
    if (layout === undefined) return matcher;
    const { rulesLog2, resizable = false } = layout;
    const flags =
      (resizable ? MLX5DV_DR_MATCHER_LAYOUT_RESIZABLE : 0) |
      (rulesLog2 === undefined ? 0 : MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE);
    const set = (): void => setLayout(matcher, { flags, log_num_of_rules_hint: rulesLog2 ?? 0 });
    at(`${path}.layout`, set, (inner) => (inner.endsWith("hint") ? ".rulesLog2" : ""));
    return matcher;
  }

  #queuePair(name: string): QueuePair {
    const { queue } = made(this.queues, name);
    if (queue instanceof QueuePair) return queue;
    throw new Error(`loadScenario: ${name} is a work queue in the document that was checked`);
  }

  /** Makes a rule of a document that was checked. What was made for a refused rule is destroyed. */
  makeRule(path: string, rule: ScenarioRule): Rule {
    const implied = this.implied.size;
    const matcher = at(path, () => this.#matcher(rule), rulePlace(rule));
    this.actions.begin();
    try {
      const actions = (rule.actions ?? []).map((action, i) =>
        this.actions.inRule(below(`${path}.actions`, i), action, matcher.table, rule.match ?? {}),
      );
      return at(path, () => Rule.named(matcher, rule.match ?? {}, actions, rule.name), rulePlace(rule));
    } catch (error) {
      this.actions.takeBack();
      if (this.implied.size > implied) {
        this.implied.delete(matcher.name);
        matcher.destroy();
      }
      throw error;
    }
  }

  #matcher({ matcher, table = "", priority = 0 }: ScenarioRule): Matcher {
    if (matcher !== undefined) return made(this.matchers, matcher);
    const name = impliedName(table, priority);
    let implied = this.implied.get(name);
    if (implied === undefined) {
      implied = Matcher.named(made(this.tables, table), priority, undefined, name);
      this.implied.set(name, implied);
    }
    return implied;
  }
}

type DeviceParts = NonNullable<LoaderParts["deviceObjects"]>;

function deviceParts({ deviceObjects }: LoaderParts): DeviceParts {
  if (deviceObjects === null) throw new Error(`loadScenario: the part for device commands was not loaded`);
  return deviceObjects;
}

/** The matcher that rules with a table and a priority imply. */
export function impliedName(table: string, priority: number): string {
  return `${table} at priority ${priority}`;
}

/** Adds all entries of a map to another one. */
function fill<T>(to: Map<string, T>, from: ReadonlyMap<string, T>): void {
  for (const [name, one] of from) to.set(name, one);
}

/** A queue that has a peer, in a document that was checked. */
export function connectedQueue(queues: ReadonlyMap<string, LoadedQueue>, name: string): ConnectedQueue {
  const { connected } = made(queues, name);
  if (connected === null) throw new Error(`loadScenario: ${name} has no peer in the document that was checked`);
  return connected;
}
