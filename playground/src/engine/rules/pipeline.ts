/** The tables and rules of a loaded scenario, as the picture shows them. */
import { flowsInOrder, type FlowPlace, type LoadedScenario, type ScenarioFlow } from "flowsteer/scenario";
import type { Pipeline, PipelineEnd, PipelineRule, PipelineTable } from "../api.js";
import { Destinations, type WrittenAction } from "./actionLines.js";
import { domainOf, flowTableId, hostId, portId, queueId, stageId, tableId, type DomainName } from "./ids.js";
import { specMatch } from "./specMatch.js";

/** Stages of received and of sent frames by their names in traces, in the order in which frames pass them. */
const RECEIVED = ["sniffers", "RDMA RX", "RDMA transport RX", "connections", "root", "host rules", "default flows"];
const SENT = ["RDMA TX", "RDMA transport TX", "sniffers", "root"];

/** Stages of flows by their kind (`FlowPlace.kind`); other kinds are in root tables. */
const STAGES: Readonly<Record<string, string>> = {
  sniffer: "sniffers",
  default: "default flows",
  rdma_rx: "RDMA RX",
  rdma_transport_rx: "RDMA transport RX",
  rdma_tx: "RDMA TX",
  rdma_transport_tx: "RDMA transport TX",
  ethtool: "host rules",
  tc: "host rules",
  nic: "host rules",
};

type Table = { -readonly [K in keyof PipelineTable]: PipelineTable[K] } & { rules: PipelineRule[] };

export function pipelineOf(loaded: LoadedScenario): Pipeline {
  return new PipelineMaker(loaded).make();
}

class PipelineMaker {
  readonly #loaded: LoadedScenario;
  readonly #to: Destinations;
  readonly #tables = new Map<string, Table>();

  constructor(loaded: LoadedScenario) {
    this.#loaded = loaded;
    this.#to = new Destinations(loaded);
  }

  make(): Pipeline {
    this.#addTables();
    this.#addRules();
    this.#addFlows();
    this.#addEntries();
    this.#addImplied();
    const tables = [...this.#tables.values()].sort(inOrder);
    for (const table of tables) table.miss ??= this.#missOf(table, tables);
    const { device } = this.#loaded;
    return { tables, ends: this.#ends(tables), ports: device.ports, vports: device.vports };
  }

  #addTables(): void {
    const { tables = [], flowTables = [] } = this.#loaded.scenario;
    for (const [i, { name, domain = "nic_rx", function: vport = 0, level }] of tables.entries()) {
      const table = this.#table(domain, vport, level === 0 ? "root" : name, level);
      if (table.path === null) Object.assign(table, { name, path: `tables[${i}]` });
    }
    for (const [i, one] of flowTables.entries()) {
      const { name, table_type = "nic_rx", function: vport = 0, level = 0, table_miss } = one;
      const table = this.#table(domainOf(table_type), vport, name, level);
      table.path = `flowTables[${i}]`;
      const miss = flowTables.find((other) => other.name === table_miss);
      if (miss !== undefined) table.miss = flowTableId(miss);
    }
  }

  /** Rules of a root table share one order with its flows: those with dont_trap come first among equal priorities. */
  #addRules(): void {
    const { rules = [] } = this.#loaded.scenario;
    const places = new Map(rules.map(({ name }, i) => [name, i]));
    for (const { name, matcher } of this.#loaded.rulesByRank()) {
      const i = places.get(name) ?? 0;
      const { match = {}, actions = [] } = rules[i] ?? {};
      const id = tableId(this.#loaded.scenario, matcher.table.name)[0] ?? "";
      this.#tables.get(id)?.rules.push({
        name,
        kind: "rule",
        path: `rules[${i}]`,
        priority: matcher.priority,
        match: matchOf(match),
        ...this.#leads(actions),
      });
    }
  }

  #addFlows(): void {
    const { flows, deviceFlows, hostRules, scenario } = this.#loaded;
    const index = (names: Iterable<string>): ReadonlyMap<string, number> =>
      new Map([...names].map((name, i) => [name, i]));
    const [verbs, bytes, host] = [index(flows.keys()), index(deviceFlows.keys()), index(hostRules.keys())];
    for (const place of flowsInOrder(this.#loaded)) {
      const { name } = place.rule;
      const [flow, deviceFlow, hostRule] = [verbs.get(name), bytes.get(name), host.get(name)];
      if (flow !== undefined) this.#addFlow(place, scenario.flows?.[flow], `flows[${flow}]`);
      else if (deviceFlow !== undefined) {
        const { match = {}, actions = [] } = scenario.deviceFlows?.[deviceFlow] ?? {};
        this.#insert(place, { kind: "flow", path: `deviceFlows[${deviceFlow}]`, match: matchOf(match), actions });
      } else if (hostRule !== undefined) {
        const { match = {}, action = "drop" } = scenario.hostRules?.[hostRule] ?? {};
        const path = `hostRules[${hostRule}]`;
        const actions = [action === "drop" ? action : { deliver: hostId(action.queue, place.vport) }];
        this.#insert(place, { kind: "host rule", path, match: matchOf(match), actions });
      }
    }
  }

  #addFlow(place: FlowPlace, flow: ScenarioFlow | undefined, path: string): void {
    if (flow === undefined) return;
    const { queue, specs = [], flags = [] } = flow;
    const actions: WrittenAction[] = specs.flatMap((spec): WrittenAction[] => {
      if (spec === "drop") return ["drop"];
      const { tag, drop, count, action } = spec;
      const own = { tag, drop, count, action };
      const given = Object.entries(own).filter(([, value]) => value !== undefined);
      return given.length === 0 ? [] : [Object.fromEntries(given)];
    });
    const drops = specs.some((spec) => spec === "drop" || spec.drop === true);
    if (!drops && !flags.includes("egress")) actions.push({ queue });
    this.#insert(place, { kind: "flow", path, match: specMatch(flow), actions });
  }

  #insert(
    { rule: { name }, vport, kind, priority }: FlowPlace,
    { actions, ...rest }: Pick<PipelineRule, "kind" | "path" | "match"> & { actions: readonly WrittenAction[] },
  ): void {
    const [base = ""] = kind.split(",");
    const stage = STAGES[base] ?? "root";
    const { rules } = this.#table(base === "egress" ? "nic_tx" : domainOf(base), vport, stage, 0);
    const added: PipelineRule = { name, priority: priority ?? 0, ...rest, ...this.#leads(actions) };
    const copies = kind.endsWith("dont_trap");
    const before = (one: PipelineRule): boolean =>
      copies ? one.priority >= added.priority && one.kind === "rule" : one.priority > added.priority;
    const at = stage === "root" ? rules.findIndex(before) : -1;
    rules.splice(at < 0 ? rules.length : at, 0, added);
  }

  #addEntries(): void {
    const { flowEntries = [], flowTables = [] } = this.#loaded.scenario;
    const entries = flowEntries.map((entry, i) => ({ entry, path: `flowEntries[${i}]` }));
    for (const { entry, path } of entries.sort((a, b) => a.entry.flow_index - b.entry.flow_index)) {
      const { name, table, flow_index: priority, match = {}, actions } = entry;
      const owner = flowTables.find((one) => one.name === table);
      if (owner === undefined) continue;
      const rule = { name, kind: "entry" as const, path, priority, match: matchOf(match), ...this.#leads(actions) };
      this.#tables.get(flowTableId(owner))?.rules.push(rule);
    }
  }

  /** Tables that frames pass although the document does not name them. */
  #addImplied(): void {
    const { scenario, queues } = this.#loaded;
    const targets = [...this.#tables.values()].flatMap(({ rules }) => rules.flatMap(({ leadsTo }) => leadsTo));
    this.#table("nic_rx", 0, "root", 0);
    for (const id of targets) {
      const [, vport] = /^nic_rx\/(\d+)\/root$/.exec(id) ?? [];
      if (vport !== undefined) this.#table("nic_rx", Number(vport), "root", 0);
    }
    for (const { domain, vport } of [...this.#tables.values()]) this.#table(domain, vport, "root", 0);
    const senders = new Set(scenario.frames?.flatMap(({ send }) => (send === undefined ? [] : [send])));
    for (const one of scenario.queues ?? []) {
      if (senders.has(one.name)) this.#table("nic_tx", one.function ?? 0, "root", 0);
      if (queues.get(one.name)?.connected !== null) this.#table("nic_rx", one.function ?? 0, "connections", 0);
    }
  }

  #table(domain: DomainName, vport: number, name: string, level: number): Table {
    const id = stageId(domain, vport, name);
    let table = this.#tables.get(id);
    if (table === undefined) {
      table = { id, domain, vport, name, level, rules: [], path: null, miss: null };
      this.#tables.set(id, table);
    }
    return table;
  }

  #leads(actions: readonly WrittenAction[]): Pick<PipelineRule, "actions" | "leadsTo"> {
    return { actions: actions.map((action) => this.#to.line(action)), leadsTo: this.#to.of(actions) };
  }

  /** docs/rules.md, "A miss in a root table"; docs/flows.md, "One order for a port and a direction". */
  #missOf(table: Table, tables: readonly Table[]): string | null {
    const { domain, vport } = table;
    const to = (name: string, at: DomainName = domain): string | null =>
      tables.find((one) => one.id === stageId(at, at === "fdb" ? 0 : vport, name) && stageOf(one) === name)?.id ?? null;
    if (domain === "fdb") return stageId("nic_rx", 0, "root");
    const order = domain === "nic_rx" ? RECEIVED : SENT;
    const at = order.indexOf(stageOf(table));
    for (const next of at < 0 ? [] : order.slice(at + 1)) if (to(next) !== null) return to(next);
    return domain === "nic_tx" ? (to("root", "fdb") ?? portId(1)) : null;
  }

  #ends(tables: readonly Table[]): PipelineEnd[] {
    const { scenario, device } = this.#loaded;
    const named = new Set(tables.flatMap(({ miss, rules }) => [miss, ...rules.flatMap(({ leadsTo }) => leadsTo)]));
    for (const { port, to } of scenario.connect ?? []) named.add(portId(port)).add(portId(to));
    const queues = (scenario.queues ?? []).map(({ name, type }, i): PipelineEnd => {
      return { id: queueId(scenario, name), kind: type === "wq" ? "wq" : "qp", name, path: `queues[${i}]` };
    });
    const hosts = (scenario.hostRules ?? []).flatMap(({ action, function: vport = 0 }) =>
      action === "drop" ? [] : [hostId(action.queue, vport)],
    );
    const ports = Array.from({ length: device.ports }, (_, i) => portId(i + 1)).filter((id) => named.has(id));
    return [
      ...queues,
      ...[...new Set(hosts)].map((id): PipelineEnd => ({ id, kind: "host", name: id, path: null })),
      ...ports.map((id): PipelineEnd => ({ id, kind: "port", name: id.replace(":", " "), path: null })),
    ];
  }
}

/** The stage that a table is; "" for a table of the document, whatever its name, unless it is a root table. */
function stageOf({ domain, vport, id, path }: Table): string {
  const name = id.slice(stageId(domain, vport, "").length);
  return path === null || name === "root" ? name : "";
}

function matchOf(match: Readonly<Record<string, unknown>>): PipelineRule["match"] {
  return Object.entries(match).map(([field, value]) => ({ field, value: String(value) }));
}

const DOMAINS: readonly DomainName[] = ["nic_tx", "fdb", "nic_rx"];

/** Domain by domain, function by function, in the order in which frames pass tables. */
function inOrder(a: Table, b: Table): number {
  return (
    DOMAINS.indexOf(a.domain) - DOMAINS.indexOf(b.domain) ||
    a.vport - b.vport ||
    placeOf(a) - placeOf(b) ||
    a.level - b.level
  );
}

/** Tables to which rules of a stage lead come right after the root table. */
function placeOf(table: Table): number {
  const order = table.domain === "nic_tx" ? SENT : RECEIVED;
  const at = order.indexOf(stageOf(table));
  return at < 0 ? order.indexOf("root") + 0.5 : at;
}
