/**
 * A scenario of direct rules in the slow reference (test/oracle/): tables, rules and queues, made from the document a second
 * time. Null for a document with what this does not translate.
 */
import type { LoadedScenario, Scenario, ScenarioRuleAction } from "../../../src/scenario/index.js";
import { headerChanges } from "../../../src/scenario/action/headerChanges.js";
import { fieldNamed, type Field } from "../../../src/model/match/fields.js";
import { fullMask, parseMask, parseTerm, type TermText } from "../../../src/model/match/term.js";
import type { Modify } from "../../oracle/act/modifyFields.js";
import { rankOf, type Range, type Term } from "../../oracle/walk/match.js";
import {
  newPipeline,
  rootName,
  tableNamed,
  WIRE,
  type Pipeline,
  type PipelineAction,
} from "../../oracle/walk/pipeline.js";

/** Sections of documents that are translated, or change nothing. */
const KNOWN: ReadonlySet<string> = new Set([
  ...["$schema", "flowsteer", "title", "description", "device", "queues", "counters", "tables", "matchers", "actions"],
  ...["rules", "messages", "frames", "expect", "domains"],
]);
const TAG = 0x8100;

class Untranslated extends Error {}

/** The reference of a scenario; null where it is not translated. */
export function referenceOf(loaded: Pick<LoadedScenario, "scenario" | "device" | "queues">): Pipeline | null {
  const { scenario } = loaded;
  if (Object.keys(scenario).some((key) => !KNOWN.has(key)) || scenario.device?.parser !== undefined) return null;
  try {
    return translated(loaded, scenario);
  } catch (error) {
    if (error instanceof Untranslated) return null;
    throw error;
  }
}

function translated({ device, queues }: Pick<LoadedScenario, "device" | "queues">, scenario: Scenario): Pipeline {
  const world = newPipeline(device.vports);
  const { tables = [], matchers = [], rules = [], counters = [] } = scenario;
  const names = new Map<string, string>();
  for (const { name, domain = "nic_rx", function: vport = 0, level } of tables) {
    const root = rootName(domain, vport);
    const own = level === 0 ? root : `${root}/${name}`;
    names.set(name, own);
    if (level > 0) world.tables.set(own, { domain, vport, root: false, rules: [] });
  }
  for (const { name, function: vport = 0, port = 1, type = "raw_packet" } of scenario.queues ?? []) {
    const queue = queues.get(name)?.queue;
    if (type !== "raw_packet" || queue === undefined || !("qp_num" in queue)) throw new Untranslated(name);
    world.queues.set(name, { vport, port, number: queue.qp_num, refuses: null });
  }
  for (const { name } of counters) world.counters.set(name, { packets: 0n, bytes: 0n });
  let order = 0;
  const orders = new Map(matchers.map(({ name }) => [name, order++]));
  for (const rule of rules) {
    const matcher = matchers.find(({ name }) => name === rule.matcher);
    const priority = matcher?.priority ?? rule.priority ?? 0;
    const table = tableNamed(world, names.get(matcher?.table ?? rule.table ?? "") ?? "");
    const key = rule.matcher ?? `${rule.table} at priority ${priority}`;
    if (!orders.has(key)) orders.set(key, order++);
    const rank = rankOf({ priority, matcher: orders.get(key) ?? 0, rule: order++ }, table.root);
    const { terms, ranges } = matchOf(rule.match ?? {}, matcher?.mask);
    const actions = (rule.actions ?? []).flatMap((one) => actionOf(scenario, names, one));
    table.rules.push({ id: rule.name, rank, terms, ranges, actions });
  }
  return world;
}

function matchOf(
  match: Readonly<Record<string, TermText>>,
  masks: Readonly<Record<string, TermText>> | undefined,
): { terms: Term[]; ranges: Range[] } {
  const terms: Term[] = [];
  const ranges: Range[] = [];
  for (const [name, text] of Object.entries(match)) {
    const field = fieldNamed(name) as Field;
    const term = parseTerm(name, field, text);
    if (term.kind === "range") ranges.push({ field: name, low: term.low, high: term.high });
    else if (term.kind === "any") ranges.push({ field: name, low: 0n, high: fullMask(field) });
    else {
      const mask = masks?.[name] === undefined ? term.mask : parseMask(name, field, masks[name]);
      terms.push({ field: name, mask, value: term.value });
    }
  }
  return { terms, ranges };
}

function actionOf(
  scenario: Scenario,
  names: ReadonlyMap<string, string>,
  action: ScenarioRuleAction,
): PipelineAction[] {
  if (action === "drop") return [{ kind: "drop" }];
  if (action === "default_miss") return [{ kind: "defaultMiss" }];
  if (action === "pop_vlan") return [{ kind: "popVlan" }];
  if (typeof action !== "object") throw new Untranslated(action);
  const [key, ...others] = Object.keys(action).filter((one) => one !== "name" && one !== "description");
  if (others.length > 0) throw new Untranslated(others.join());
  if (key === "action") {
    const shared = scenario.actions?.find(({ name }) => name === action.action);
    return shared === undefined ? [] : actionOf(scenario, names, shared);
  }
  if (action.queue !== undefined) return [{ kind: "qp", qp: action.queue }];
  if (action.table !== undefined) return [{ kind: "table", table: names.get(action.table) ?? "" }];
  if (action.tag !== undefined) return [{ kind: "tag", value: action.tag }];
  if (action.count !== undefined) return [{ kind: "counter", counter: action.count }];
  if (action.port !== undefined) return [{ kind: "port", port: action.port }];
  if (action.vport !== undefined) return [{ kind: "vport", vport: action.vport === "uplink" ? WIRE : action.vport }];
  if (action.modify !== undefined)
    return [{ kind: "modify", list: headerChanges("", action.modify).actions as Modify[] }];
  if (action.push_vlan !== undefined && typeof action.push_vlan === "object") {
    const { vid = 0, prio = 0, cfi = 0 } = action.push_vlan as Record<string, number>;
    return [{ kind: "pushVlan", header: ((TAG << 16) | (prio << 13) | (cfi << 12) | vid) >>> 0 }];
  }
  throw new Untranslated(key);
}
