/** Makes the objects of a scenario on a device, in the order of the document. */
import { MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE, MLX5DV_DR_MATCHER_LAYOUT_RESIZABLE } from "../abi/mlx5dv.js";
import type { Device } from "../model/device/device.js";
import type { Context } from "../model/base/context.js";
import { allocFlowCounterCommand } from "../mlx5dv/devx/commands.js";
import type { AsoObject } from "../model/action/asoObject.js";
import type { FlowCounter } from "../model/action/counter.js";
import { Table } from "../model/table/domain.js";
import { VerbsFlow } from "../model/flow/verbsFlow.js";
import type { HostRule } from "../model/flow/hostRules.js";
import { setLayout } from "../model/table/matcherLayout.js";
import { Matcher } from "../model/table/matcher.js";
import type { IndirectionTable } from "../model/queue/indirectionTable.js";
import { QueuePair } from "../model/queue/queuePair.js";
import type { Rqt } from "../model/queue/rqt.js";
import { Rule } from "../model/rule/rule.js";
import type { Tir } from "../model/queue/tir.js";
import type { WorkQueue } from "../model/queue/workQueue.js";
import { ScenarioActions } from "./action/load.js";
import { makeAsoObject } from "./state/asoObjects.js";
import type { ConnectedQueue } from "./queue/connection.js";
import { DeviceFlowObjects } from "./deviceFlow/objects.js";
import { madeBy } from "./deviceFlow/deviceCommands.js";
import type { Scenario } from "./document.js";
import type { ScenarioFlow } from "./flow/definition.js";
import type { ScenarioMatcher, ScenarioRule } from "./rule/definition.js";
import { ScenarioDomains } from "./device/domains.js";
import { ScenarioFlowActions } from "./flow/actions.js";
import { LoadedFlowCounter } from "./flow/counter.js";
import { flowPlace, flowRequest } from "./flow/specs.js";
import { flowName, hostRuleName } from "./names.js";
import { at, type PlaceOf } from "./place.js";
import { loadQueue, type LoadedQueue } from "./queue/load.js";
import { below } from "./schema/validator.js";
import { loadIndirectionTable, loadRqt, loadRss, loadTir } from "./rss/load.js";

const CALL = "loadScenario";

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
  readonly flowEntries: DeviceFlowObjects["flowEntries"];
  readonly deviceFlows: DeviceFlowObjects["deviceFlows"];
  readonly hostRules = new Map<string, HostRule>();
  readonly domains: ScenarioDomains;
  readonly actions: ScenarioActions;
  readonly #flowActions: ScenarioFlowActions;
  /** Matchers that rules with a table and a priority imply. */
  readonly #implied = new Map<string, Matcher>();

  constructor(scenario: Scenario, device: Device, context: Context) {
    const { connect = [], counters = [], tables = [], matchers = [], actions = [], rules = [] } = scenario;
    const { domains = [], flowActions = [], flowCounters = [], flows = [], hostRules = [] } = scenario;
    this.domains = new ScenarioDomains(context, domains);
    connect.forEach(({ port, to }, i) => {
      at(CALL, below("connect", i), () => device.connect(port, device, to));
    });
    this.#queues(scenario);
    scenario.asoObjects?.forEach((object, i) => {
      const owner = this.domains.context(object.function);
      this.asoObjects.set(object.name, makeAsoObject(CALL, below("asoObjects", i), owner, object));
    });
    counters.forEach(({ name, function: vport, flow_counter_bulk_log_size }, i) => {
      const owner = this.domains.context(vport);
      const command = allocFlowCounterCommand(flow_counter_bulk_log_size);
      this.counters.set(
        name,
        at(CALL, below("counters", i), () => madeBy<FlowCounter>(CALL, owner, command, name)),
      );
    });
    tables.forEach(({ name, domain = "nic_rx", function: vport, level }, i) => {
      const path = below("tables", i);
      const owner = this.domains.domain(path, domain, vport);
      this.tables.set(
        name,
        at(CALL, path, () => Table.create(CALL, owner, level, name)),
      );
    });
    this.actions = new ScenarioActions(this, actions);
    this.#flowActions = new ScenarioFlowActions(flowActions);
    matchers.forEach((matcher, i) => this.matchers.set(matcher.name, this.#ownMatcher(below("matchers", i), matcher)));
    rules.forEach((rule, i) => this.rules.set(rule.name, this.#rule(below("rules", i), rule)));
    flowCounters.forEach((one, i) =>
      this.flowCounters.set(
        one.name,
        at(CALL, below("flowCounters", i), () => new LoadedFlowCounter(CALL, context, one)),
      ),
    );
    flows.forEach((flow, i) => {
      const name = flowName(flow, i);
      this.flows.set(name, this.#flow(below("flows", i), flow, name));
    });
    const named = new DeviceFlowObjects(scenario, {
      domains: this.domains,
      flowActions: this.#flowActions,
      counter: (name) => get(this.counters, name),
      counters: (name) => get(this.flowCounters, name).counters,
      queuePair: (name) => this.#queuePair(name),
      tir: (name) => get(this.tirs, name),
    });
    this.flowEntries = named.flowEntries;
    this.deviceFlows = named.deviceFlows;
    hostRules.forEach((rule, i) => {
      const name = hostRuleName(rule, i);
      const made = at(CALL, below("hostRules", i), () =>
        device.function(rule.function ?? 0).hostRules.add({ ...rule, name }),
      );
      this.hostRules.set(name, made);
    });
    this.domains.begin();
  }

  /** Queues come before the RSS queues, RQTs and TIRs that distribute frames over them. */
  #queues({ queues = [], indirectionTables = [], rqts = [], tirs = [] }: Scenario): void {
    const queue = (name: string): QueuePair | WorkQueue => get(this.queues, name).queue;
    const workQueue = (name: string): WorkQueue => {
      const found = queue(name);
      if (found instanceof QueuePair) throw new Error(`${CALL}: ${name} is no work queue`);
      return found;
    };
    queues.forEach((one, i) => {
      if (one.rwq_ind_tbl !== undefined) return;
      this.queues.set(
        one.name,
        at(CALL, below("queues", i), () => loadQueue(CALL, this.domains, one)),
      );
    });
    queues.forEach(({ name, peer }, i) => {
      if (peer === undefined) return;
      const [one, other] = [connectedQueue(this.queues, name), connectedQueue(this.queues, peer)];
      at(CALL, below("queues", i), () => one.connect(CALL, other));
    });
    indirectionTables.forEach((table, i) =>
      this.indirectionTables.set(table.name, loadIndirectionTable(below("indirectionTables", i), table, workQueue)),
    );
    queues.forEach((one, i) => {
      const { name, rwq_ind_tbl } = one;
      if (rwq_ind_tbl === undefined) return;
      const table = get(this.indirectionTables, rwq_ind_tbl);
      this.queues.set(name, {
        name,
        queue: loadRss(below("queues", i), this.domains, one, table),
        buffers: null,
        connected: null,
      });
    });
    rqts.forEach((rqt, i) => this.rqts.set(rqt.name, loadRqt(below("rqts", i), rqt, queue)));
    tirs.forEach((tir, i) =>
      this.tirs.set(
        tir.name,
        loadTir(below("tirs", i), tir, queue, (name) => get(this.rqts, name)),
      ),
    );
  }

  #ownMatcher(path: string, { name, table, priority = 0, mask, layout }: ScenarioMatcher): Matcher {
    const made = at(CALL, path, () => Matcher.named(CALL, get(this.tables, table), priority, mask, name));
    if (layout === undefined) return made;
    const { rulesLog2, resizable = false } = layout;
    const flags =
      (resizable ? MLX5DV_DR_MATCHER_LAYOUT_RESIZABLE : 0) |
      (rulesLog2 === undefined ? 0 : MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE);
    const set = (): void => setLayout(CALL, made, { flags, log_num_of_rules_hint: rulesLog2 ?? 0 });
    at(CALL, `${path}.layout`, set, (inner) => (inner.endsWith("hint") ? ".rulesLog2" : ""));
    return made;
  }

  #queuePair(name: string): QueuePair {
    const { queue } = get(this.queues, name);
    if (queue instanceof QueuePair) return queue;
    throw new Error(`${CALL}: ${name} is a work queue in the document that was checked`);
  }

  #flow(path: string, flow: ScenarioFlow, name: string): VerbsFlow {
    const queue = this.#queuePair(flow.queue);
    const direction = flow.flags?.includes("egress") === true ? "nic_tx" : "nic_rx";
    const request = flowRequest(CALL, path, flow, {
      counters: (one) => get(this.flowCounters, one).counters,
      action: (one) => this.#flowActions.get(one, queue.context, direction),
    });
    const place: PlaceOf = (inner) => flowPlace(inner, flow.specs ?? []);
    return at(CALL, path, () => VerbsFlow.create(CALL, queue, request, name), place);
  }

  #rule(path: string, rule: ScenarioRule): Rule {
    const matcher = at(CALL, path, () => this.#matcher(rule));
    const actions = (rule.actions ?? []).map((action, i) =>
      this.actions.inRule(below(`${path}.actions`, i), action, matcher.table),
    );
    return at(CALL, path, () => Rule.named(CALL, matcher, rule.match ?? {}, actions, rule.name));
  }

  #matcher({ matcher, table = "", priority = 0 }: ScenarioRule): Matcher {
    if (matcher !== undefined) return get(this.matchers, matcher);
    const name = `${table} at priority ${priority}`;
    let implied = this.#implied.get(name);
    if (implied === undefined) {
      implied = Matcher.named(CALL, get(this.tables, table), priority, undefined, name);
      this.#implied.set(name, implied);
    }
    return implied;
  }
}

/** A queue that has a peer, in a document that was checked. */
export function connectedQueue(queues: ReadonlyMap<string, LoadedQueue>, name: string): ConnectedQueue {
  const { connected } = get(queues, name);
  if (connected === null) throw new Error(`${CALL}: ${name} has no peer in the document that was checked`);
  return connected;
}

/** An object whose name `parseScenario` has checked. */
function get<T>(map: ReadonlyMap<string, T>, name: string): T {
  const value = map.get(name);
  if (value === undefined) throw new Error(`${CALL}: ${name} is not in the document that was checked`);
  return value;
}
