/**
 * A device with random direct rules in all domains, made by the C-named functions, and the reference that goes with it.
 * Every change is made to both.
 */
import { expect } from "vitest";
import { createDevice, type Device, type DeviceOptions } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Context } from "../../../src/model/base/context.js";
import type { FlowCounter } from "../../../src/model/action/counter.js";
import type { Domain, Table } from "../../../src/model/table/domain.js";
import type { HostRule } from "../../../src/model/flow/hostRules.js";
import type { MatchFields } from "../../../src/model/match/match.js";
import { Matcher } from "../../../src/model/table/matcher.js";
import type { ParserOptions } from "../../../src/model/base/parser.js";
import { Rule } from "../../../src/model/rule/rule.js";
import { DECLARED, type Random } from "../../oracle/generate/frame.js";
import {
  type Base,
  COUNTERS,
  type DrawnMatcher,
  type DrawnRule,
  type Draft,
  drawBases,
  drawHostRule,
  drawRule,
  drawRules,
  newDraft,
  PORTS,
  QUEUE_NAMES,
  VPORTS,
} from "../../oracle/generate/pipeline.js";
import { fillState } from "../../oracle/generate/state.js";
import { rankOf } from "../../oracle/walk/match.js";
import { type DomainType, tableNamed } from "../../oracle/walk/pipeline.js";
import { count } from "../../verbs/support/flowWorld.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import { resized } from "../../mlx5dv/support/resized.js";
import { randomContext, randomFrame as randomSegment } from "../act/support/drawConnection.js";
import { openPair, type BurstPair } from "./bursts.js";
import { addFlow, type MadeFlow, removeFlows } from "./pipelineFlows.js";
import { makeQueues, makeTirs } from "./pipelineQueues.js";
import { makeActions, type Makers } from "./pipelineActions.js";
import { makeStateObjects, modifyAso, modifyFlowMeters } from "./pipelineStateActions.js";
import { rangeText, termText } from "./core.js";

const TYPES: Record<DomainType, number> = {
  nic_rx: dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX,
  nic_tx: dv.MLX5DV_DR_DOMAIN_TYPE_NIC_TX,
  fdb: dv.MLX5DV_DR_DOMAIN_TYPE_FDB,
};

interface MadeRule {
  drawn: DrawnRule;
  rule: Rule;
  /** In the order in which they can be destroyed. */
  actions: Action[];
}

export interface PipelineWorld extends Draft, Makers {
  device: Device;
  bursts: BurstPair;
  matchersMade: Map<DrawnMatcher, { matcher: Matcher; order: number }>;
  rulesMade: Map<string, MadeRule>;
  hostRules: Map<string, HostRule>;
  flows: Map<string, MadeFlow>;
  /** How old masks of flows are. */
  flowMasks: Map<string, number>;
  names: Map<object, string>;
  /** Rules of tables that are not root wait for a sync of their domain; what it has to do, by the domain's name. */
  waiting: Map<string, (() => void)[]> | null;
  /** Domains that allow no duplicates, by the names of their root tables. */
  unique: Set<string>;
  counterBulk: FlowCounter;
  /** Memory without rules. */
  empty: number;
  order: number;
  tally: Map<string, number>;
}

/** "fdb:0" of "fdb:0/3". */
export const domainOf = (table: string): string => table.replace(/\/.*/, "");

/** `remembers`: rules meter, note first hits, track connections, sample. `open` makes the device. */
export async function makePipelineWorld(
  random: Random,
  tally: Map<string, number>,
  remembers = false,
  open: (options: DeviceOptions) => Promise<Device> = createDevice,
): Promise<PipelineWorld> {
  const asyncRules = random.chance(0.2);
  const draft = newDraft(random, remembers);
  const { state } = draft.world;
  const seed = remembers ? random.word() - 2 ** 31 : 0;
  const parser = DECLARED as ParserOptions;
  const now = (): bigint => state.now;
  const device = await open({ ports: PORTS, vports: VPORTS, parser, asyncRules, seed, now });
  state.seed = BigInt(seed);
  if (remembers) {
    state.now = random.bits(40);
    fillState(random, state);
    for (const connection of state.connections) {
      connection.context = { ...randomContext(random), freeze_track: random.chance(0.1) ? 1 : 0 };
    }
  }
  const contexts = Array.from({ length: VPORTS + 1 }, (_, vport) => {
    const of = vport === 0 && random.chance(0.5) ? device : device.function(vport);
    return dv.mlx5dv_open_device(of, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  });
  const domains = new Map<string, Domain>();
  const tables = new Map<string, Table>();
  for (const [name, { domain: type, vport, root }] of draft.world.tables) {
    const of = domainOf(name);
    const domain = domains.get(of) ?? dv.mlx5dv_dr_domain_create(contexts[vport] as Context, TYPES[type]);
    domains.set(of, domain);
    tables.set(name, dv.mlx5dv_dr_table_create(domain, root ? 0 : Number(name.slice(name.indexOf("/") + 1))));
  }
  const unique = new Set<string>();
  for (const [name, domain] of domains) {
    dv.mlx5dv_dr_domain_set_reclaim_device_memory(domain, random.chance(0.5));
    if (asyncRules || random.chance(0.7)) continue;
    unique.add(name);
    dv.mlx5dv_dr_domain_allow_duplicate_rules(domain, false);
  }
  const command = dv.allocFlowCounterCommand(Math.ceil(Math.log2(COUNTERS)));
  const counterBulk = dv.mlx5dv_devx_obj_create(
    contexts[0] as Context,
    command,
    undefined,
    new Uint8Array(16),
    undefined,
  );
  for (let n = 0; n < COUNTERS; n++) draft.world.counters.set(`c${n}`, { packets: 0n, bytes: 0n });
  const queues = makeQueues(draft.world, contexts);
  const world: PipelineWorld = {
    ...draft,
    device,
    bursts: openPair(device),
    domains,
    tables,
    tally,
    counterBulk,
    queues,
    memory: remembers ? makeStateObjects(random, contexts[0] as Context, domains, state) : null,
    tirs: makeTirs(queues),
    counterOf: (name) => [counterBulk, Number(name.slice(1))],
    matchersMade: new Map(),
    rulesMade: new Map(),
    hostRules: new Map(),
    flows: new Map(),
    flowMasks: new Map(),
    names: new Map(),
    waiting: asyncRules ? new Map() : null,
    unique,
    empty: device.memoryUsed,
    order: 0,
  };
  drawFrames(world);
  return world;
}

/** Frames that rules are made for from now on. */
export function drawFrames(world: PipelineWorld): void {
  drawBases(world);
  if (world.memory) world.bases.splice(0, SEGMENTS, ...Array.from({ length: SEGMENTS }, () => drawSegment(world)));
}

/** Of the frames that rules are made for, so many are of connections. */
const SEGMENTS = 3;

/** What one of the connections may see next. */
export function drawSegment({ random, world: { state } }: PipelineWorld): Base {
  const { context } = random.pick(state.connections);
  const { bytes, linkType, wireLength } = randomSegment(random, context, state.now);
  const frame = { bytes, linkType, wireLength, port: random.between(1, PORTS) };
  if (random.chance(0.6) || bytes.length < 14) return { frame, sender: null, metadata: 0 };
  return { frame: { ...frame, wireLength: bytes.length }, sender: random.pick(QUEUE_NAMES), metadata: 0 };
}

/** A round of additions. */
export function addRules(world: PipelineWorld): void {
  for (let n = 0; n < 14; n++) addRule(world);
  addRulesAtOnce(world);
  for (let n = 0; n < 4; n++) addFlow(world);
  for (let n = 0; n < 6; n++) addHostRule(world);
}

function addRule(world: PipelineWorld): void {
  const drawn = drawRule(world);
  if (drawn) makeRule(world, drawn);
}

/** Makes a rule, and its matcher where that is not there. */
export function makeRule(world: PipelineWorld, drawn: DrawnRule): void {
  const { matcher } = matcherFor(world, drawn.matcher);
  const { made, list, wanted } = makeActions(world, drawn.matcher.table, drawn.actions);
  const create = (): Rule =>
    drawn.matcher.named === true
      ? Rule.named(matcher, namesOf(drawn), list)
      : dv.mlx5dv_dr_rule_create(matcher, resized(world.random, valueOf(drawn).value), list.length, list);
  const link = world.memory?.link;
  const linked = wanted.flatMap((one) => (one.kind === "track" && one.linked ? [one.connection] : []));
  const busy = linked.some((offset) => link?.used.has(offset));
  if (busy || isRefused(world, drawn)) {
    expect(refused(create)?.code).toMatch(busy ? /EBUSY|EEXIST/ : /EEXIST/);
    made.forEach((action) => dv.mlx5dv_dr_action_destroy(action));
    count(world.tally, busy ? "connection in use" : "duplicate refused");
    return;
  }
  keep(world, { ...drawn, actions: wanted }, create(), made);
  for (const offset of linked) link?.used.add(offset);
  if (linked.length > 0) count(world.tally, "connection of another domain");
  modifyAso(world.random, world.tally, list);
}

/** A duplicate, in a domain that allows none. */
function isRefused({ rulesMade, unique, world }: PipelineWorld, { matcher, terms }: DrawnRule): boolean {
  if (matcher.named === true) return false;
  if (!unique.has(domainOf(matcher.table)) || tableNamed(world, matcher.table).root) return false;
  const values = (list: DrawnRule["terms"]): string => list.map(({ value }) => value.toString()).join(" ");
  return [...rulesMade.values()].some(
    ({ drawn }) => drawn.matcher === matcher && values(drawn.terms) === values(terms),
  );
}

function namesOf({ terms, ranges }: DrawnRule): MatchFields {
  const asked = [
    ...terms.map((term) => [term.field, termText(term)]),
    ...ranges.map((range) => [range.field, rangeText(range)]),
  ];
  return Object.fromEntries(asked) as MatchFields;
}

function valueOf({ terms }: DrawnRule): dv.DeviceMatch {
  return dv.matchParameters(Object.fromEntries(terms.map((term) => [term.field, termText(term)])));
}

/** Several rules of a matcher in one call, with one list of actions or a list each. */
function addRulesAtOnce(world: PipelineWorld): void {
  const drawn = drawRules(world);
  const [first] = drawn;
  if (!first || drawn.some((one) => isRefused(world, one)) || world.unique.has(domainOf(first.matcher.table))) return;
  const { matcher } = matcherFor(world, first.matcher);
  const values = drawn.map((one) => valueOf(one).value);
  const size = Math.max(1, ...values.map((value) => resized(world.random, value).match_sz ?? 0));
  const match_buf = new Uint8Array(size * values.length);
  for (const [i, value] of values.entries()) match_buf.set(value.match_buf.subarray(0, size), i * size);
  const lists = drawn.map(({ actions }) => makeActions(world, first.matcher.table, actions, true));
  const shared = makeActions(world, first.matcher.table, first.actions, true);
  const each = world.random.chance(0.5);
  for (const { made } of each ? [shared] : lists) made.forEach((action) => dv.mlx5dv_dr_action_destroy(action));
  const rules = dv.createRules(
    matcher,
    { match_sz: size, match_buf },
    each ? lists.map(({ list }) => list) : shared.list,
  );
  for (const [i, rule] of rules.entries()) {
    const { made, wanted } = each ? (lists[i] ?? shared) : shared;
    keep(world, { ...(drawn[i] as DrawnRule), actions: wanted }, rule, made);
  }
  count(world.tally, "rules made at once", rules.length);
}

/** A rule is there: on the device, and in the reference. */
function keep(world: PipelineWorld, drawn: DrawnRule, rule: Rule, actions: Action[]): void {
  const { id, matcher: mask, terms, ranges, actions: wanted } = drawn;
  world.names.set(rule, id);
  world.rulesMade.set(id, { drawn, rule, actions });
  for (const { kind } of wanted) count(world.tally, `action ${kind}`);
  if (mask.named === true) count(world.tally, ranges.length > 0 ? "rule with ranges" : "rule by names");
  const { order } = matcherFor(world, mask);
  const table = tableNamed(world.world, mask.table);
  const rank = rankOf({ priority: mask.priority, matcher: order, rule: world.order++ }, table.root);
  later(world, mask.table, () => table.rules.push({ id, rank, terms, ranges, actions: wanted }));
}

/** At once, or with the next sync of the table's domain. */
function later({ waiting, world }: PipelineWorld, table: string, change: () => void): void {
  if (waiting === null || tableNamed(world, table).root) {
    change();
    return;
  }
  const domain = domainOf(table);
  waiting.set(domain, [...(waiting.get(domain) ?? []), change]);
}

/** Domains bring their tables up to date. */
export function syncSome(world: PipelineWorld, chance = 0.6): void {
  const { random, domains } = world;
  for (const [name, domain] of domains) {
    if (!random.chance(chance)) continue;
    const flags = random.between(1, 7);
    dv.mlx5dv_dr_domain_sync(domain, flags);
    if (flags !== dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_MEM) synced(world, name);
  }
}

/** What waited for a domain is done. */
function synced({ waiting, tally }: PipelineWorld, domain: string): void {
  const changes = waiting?.get(domain) ?? [];
  if (changes.length > 0) count(tally, "changes synced", changes.length);
  waiting?.delete(domain);
  for (const change of changes) change();
}

function matcherFor(world: PipelineWorld, drawn: DrawnMatcher): { matcher: Matcher; order: number } {
  const { table, priority, masks } = drawn;
  const known = world.matchersMade.get(drawn);
  if (known) return known;
  const fields = masks.map(({ field, mask, version }) => [field, termText({ field, mask, value: version ?? 0n })]);
  const { match_criteria_enable, mask } = dv.matchParameters(Object.fromEntries(fields) as Record<string, string>);
  const at = world.tables.get(table) as Table;
  const matcher =
    drawn.named === true
      ? Matcher.named(at, priority, undefined, drawn.name)
      : dv.mlx5dv_dr_matcher_create(at, priority, match_criteria_enable, resized(world.random, mask));
  if (!tableNamed(world.world, table).root && world.random.chance(0.2)) {
    const layout = { flags: world.random.below(4), log_num_of_rules_hint: world.random.below(8) };
    dv.mlx5dv_dr_matcher_set_layout(matcher, layout);
    count(world.tally, "layout");
  }
  const made = { matcher, order: world.order++ };
  world.matchersMade.set(drawn, made);
  return made;
}

function addHostRule(world: PipelineWorld): void {
  const { device, random, tally } = world;
  const drawn = drawHostRule(world);
  if (!drawn) return;
  const { id, vport, application, priority, terms, actions } = drawn;
  const of = vport === 0 && random.chance(0.5) ? device : device.function(vport);
  const action = actions[0]?.kind === "host" ? { queue: actions[0].queue } : ("drop" as const);
  const match = Object.fromEntries(terms.map((term) => [term.field, termText(term)]));
  const rule = of.hostRules.add({ application, priority, match, action, name: id });
  world.hostRules.set(id, rule);
  world.names.set(rule, id);
  world.world.hostRules.push(drawn);
  count(tally, "host rule");
}

/** Flow meters of rules that are there get other parameters. */
export function modifyMeters({ random, tally, memory, world }: PipelineWorld): void {
  if (memory) modifyFlowMeters(random, tally, memory, world.state);
}

/** A quarter of everything goes, and matchers that nobody uses. */
export function removeRules(world: PipelineWorld, chance = 0.25): void {
  const { random } = world;
  for (const [id, { drawn, rule, actions }] of world.rulesMade) {
    if (!random.chance(chance)) continue;
    dv.mlx5dv_dr_rule_destroy(rule);
    world.rulesMade.delete(id);
    const { table } = drawn.matcher;
    later(world, table, () => forget(world, drawn));
    const own = actions.length > 0 && actions.every(({ users }) => users <= 1);
    if (world.waiting !== null && own && !tableNamed(world.world, table).root && random.chance(0.1)) {
      // What only rules use that wait to be destroyed syncs their domain first.
      for (const action of actions) dv.mlx5dv_dr_action_destroy(action);
      synced(world, domainOf(table));
      count(world.tally, "synced by destroying an action");
    } else later(world, table, () => destroyUnused(actions));
  }
  removeFlows(world, chance);
  for (const [id, rule] of world.hostRules) {
    if (!random.chance(chance)) continue;
    rule.remove();
    world.hostRules.delete(id);
    world.world.hostRules = world.world.hostRules.filter((one) => one.id !== id);
  }
}

/** Actions of one list for several rules go with the last of these. */
function destroyUnused(actions: readonly Action[]): void {
  for (const action of actions) if (action.users === 0 && !action.destroyed) dv.mlx5dv_dr_action_destroy(action);
}

function forget({ world, memory }: PipelineWorld, { id, matcher, actions }: DrawnRule): void {
  const table = tableNamed(world, matcher.table);
  table.rules = table.rules.filter((one) => one.id !== id);
  for (const one of actions) if (one.kind === "track" && one.linked) memory?.link.used.delete(one.connection);
}

/** Matchers without rules go; their masks may be drawn again. */
export function removeMatchers(world: PipelineWorld): void {
  for (const [drawn, { matcher }] of world.matchersMade) {
    if (matcher.users > 0) continue;
    dv.mlx5dv_dr_matcher_destroy(matcher);
    world.matchersMade.delete(drawn);
    world.matchers.splice(world.matchers.indexOf(drawn), 1);
  }
}

/** Everything goes, and all memory comes back. */
export function emptyWorld(world: PipelineWorld): void {
  removeRules(world, 1);
  syncSome(world, 1);
  for (const domain of world.domains.values()) dv.mlx5dv_dr_domain_sync(domain, 7);
  for (const changes of world.waiting?.values() ?? []) for (const change of changes) change();
  world.waiting?.clear();
  removeMatchers(world);
  for (const domain of world.domains.values()) dv.mlx5dv_dr_domain_sync(domain, dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_MEM);
  expect(world.device.memoryUsed).toBe(world.empty);
}

/** Every counter has what the reference counted. */
export function compareCounts({ world, counterBulk }: PipelineWorld): void {
  const output = new Uint8Array(16 + 16 * COUNTERS);
  const input = dv.queryFlowCounterCommand(counterBulk.id, COUNTERS);
  dv.mlx5dv_devx_obj_query(counterBulk, input, undefined, output, undefined);
  const view = new DataView(output.buffer);
  for (let n = 0; n < COUNTERS; n++) {
    const ours = { packets: view.getBigUint64(16 + 16 * n), bytes: view.getBigUint64(24 + 16 * n) };
    expect([`c${n}`, ours]).toEqual([`c${n}`, world.counters.get(`c${n}`)]);
  }
}
