/** Tables, and what their rules lead to, as nodes and edges. */
import type { ScenarioRuleAction } from "../../scenario/action/definition.js";
import type { Scenario } from "../../scenario/document.js";
import type { ScenarioRule } from "../../scenario/rule/definition.js";

/** `end` is where frames stay: a queue, a TIR, a port, a vport, a drop or a miss. */
export interface GraphNode {
  readonly id: string;
  readonly kind: "table" | "end";
  readonly label: string;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** The rules that lead there, first ones first. */
  readonly rules: readonly string[];
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** Rules whose names stand at an edge; more are counted. */
const SHOWN = 3;

export function labelOf({ rules }: GraphEdge): string {
  const more = rules.length - SHOWN;
  return [...rules.slice(0, SHOWN), ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}

/** The graph of a scenario's tables. Flows of the verbs begin in a table of their own. */
export function graphOf(scenario: Scenario): Graph {
  const nodes = new Map<string, GraphNode>();
  const edges = new Map<string, { from: string; to: string; rules: string[] }>();
  const add = (kind: GraphNode["kind"], label: string): string => {
    const key = `${kind} ${label}`;
    const node = nodes.get(key) ?? { id: `n${nodes.size + 1}`, kind, label };
    nodes.set(key, node);
    return node.id;
  };
  const lead = (from: string, to: string, rule: string): void => {
    const key = `${from} ${to}`;
    const edge = edges.get(key) ?? { from, to, rules: [] };
    edge.rules.push(rule);
    edges.set(key, edge);
  };
  const domains = new Map((scenario.tables ?? []).map(({ name, domain = "nic_rx" }) => [name, domain]));
  const table = (name: string): string => add("table", `${name}\n${domains.get(name) ?? ""}`);
  const matchers = new Map((scenario.matchers ?? []).map((one) => [one.name, one.table]));
  const shared = new Map((scenario.actions ?? []).map((one) => [one.name, one as unknown as ScenarioRuleAction]));
  for (const { name } of scenario.tables ?? []) table(name);
  for (const rule of scenario.rules ?? []) {
    const from = table(rule.table ?? matchers.get(rule.matcher ?? "") ?? "");
    for (const to of endsOf(rule, shared)) {
      lead(from, to.kind === "table" ? table(to.label) : add("end", to.label), rule.name);
    }
  }
  for (const [n, flow] of (scenario.flows ?? []).entries()) {
    const drops = (flow.specs ?? []).some((spec) => spec === "drop" || spec.drop === true);
    const from = add("table", "flows\nibv_create_flow");
    lead(from, add("end", drops ? "drop" : `queue ${flow.queue}`), flow.name ?? `flow ${n + 1}`);
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

interface End {
  readonly kind: GraphNode["kind"];
  readonly label: string;
}

function endsOf(rule: ScenarioRule, shared: ReadonlyMap<string, ScenarioRuleAction>): End[] {
  const ends = (rule.actions ?? []).flatMap((action) => endsOfAction(action, shared));
  return ends.length === 0 ? [{ kind: "end", label: "no destination" }] : ends;
}

function endsOfAction(action: ScenarioRuleAction, shared: ReadonlyMap<string, ScenarioRuleAction>): End[] {
  if (typeof action === "string") return action === "pop_vlan" ? [] : [{ kind: "end", label: ENDS[action] }];
  const { table, queue, tir, vport, port, array, flow_meter: meter, flow_sampler: sampler, action: name } = action;
  if (table !== undefined) return [{ kind: "table", label: table }];
  if (meter !== undefined) return [{ kind: "table", label: meter.next_table }];
  if (sampler !== undefined) return [{ kind: "table", label: sampler.default_next_table }];
  if (queue !== undefined) return [{ kind: "end", label: `queue ${queue}` }];
  if (tir !== undefined) return [{ kind: "end", label: `TIR ${tir}` }];
  if (vport !== undefined) return [{ kind: "end", label: vport === "uplink" ? "uplink" : `vport ${vport}` }];
  if (port !== undefined) return [{ kind: "end", label: `port ${port}` }];
  if (array !== undefined) return array.flatMap((one) => endsOfAction(one as ScenarioRuleAction, shared));
  const definition = name === undefined ? undefined : shared.get(name);
  if (definition === undefined || typeof definition === "string") return [];
  const word = (["drop", "default_miss"] as const).find((key) => key in definition);
  if (word !== undefined) return [{ kind: "end", label: ENDS[word] }];
  return endsOfAction(definition, new Map());
}

const ENDS = { drop: "drop", default_miss: "miss" } as const;
