/**
 * A device with random flows, direct rules and host rules, and its reference. Every change is made
 * to both; a change that one refuses must be refused by the other with the same errno, without
 * effects.
 */
import { expect } from "vitest";
import { createDevice, createSink, type Device, type DeviceOptions } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Table } from "../../../src/model/table/domain.js";
import type { Flow } from "../../../src/model/flow/flow.js";
import type { Counters } from "../../../src/model/flow/counters.js";
import type { HostRule } from "../../../src/model/flow/hostRules.js";
import { Matcher } from "../../../src/model/table/matcher.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { Rule } from "../../../src/model/rule/rule.js";
import * as v from "../../../src/verbs/index.js";
import { openPair, type BurstPair } from "../../assembly/support/bursts.js";
import { rangeText, termText, type TestFrame } from "../../assembly/support/core.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import { type FlowSpec, isAction, SPEC } from "../../oracle/flow/spec.js";
import {
  attachCounters,
  createFlow,
  destroyFlow,
  newState,
  TYPE,
  type Flow as ReferenceFlow,
  type FlowState,
} from "../../oracle/flow/flows.js";
import { type Random, randomFrame, randomRuleFor } from "../../oracle/generate/frame.js";
import { randomFlowFor, related } from "../../oracle/generate/flow.js";
import { type Fields, rankOf, type Term } from "../../oracle/walk/match.js";
import { parseReference } from "../../oracle/wire/parse.js";
import type { Action as ReferenceAction } from "../../oracle/walk/walk.js";

export const PORTS = 2;
export const QUEUES = ["a", "b", "c", "d"];
const COUNTERS = ["x", "y", "z"];
const TABLES = ["t", "u"];
const BASES = 10;
/** Memory that a point takes, until its counters object is destroyed. */
const POINT = 16;
/** The number of values read from a counters object. */
const VALUES = 6;

export const portOf = (name: string): number => (QUEUES.indexOf(name) % PORTS) + 1;

export interface Parsed {
  frame: TestFrame;
  fields: Fields;
}

interface Counting {
  object: Counters;
  /** The counted quantity at each index. */
  points: [description: number, index: number][];
}

export interface World {
  random: Random;
  device: Device;
  bursts: BurstPair;
  state: FlowState;
  queues: Map<string, QueuePair>;
  counters: Map<string, Counting>;
  tables: Map<string, Table>;
  root: Table;
  /** By their names in the reference. */
  flows: Map<string, Flow>;
  rules: Map<string, Rule>;
  hostRules: Map<string, HostRule>;
  matchers: { matcher: Matcher; table: string; made: number }[];
  names: Map<object, string>;
  bases: Parsed[];
  /** Flows that were made to miss a frame by one bit. */
  near: Map<string, Parsed>;
  /** Memory without rules and flows; counters have been bound. */
  empty: number;
  made: number;
  /** Number of occurrences of everything. */
  tally: Map<string, number>;
}

export function count(map: Map<string, number>, name: string, by = 1): void {
  map.set(name, (map.get(name) ?? 0) + by);
}

export const text = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) => (typeof one === "bigint" ? `0x${one.toString(16)}` : one));

export function parsed(frame: TestFrame): Parsed {
  return { frame, fields: parseReference(frame.bytes, { ...frame, port: frame.port ?? 1 }).fields };
}

/** `open` creates the device. */
export async function makeWorld(
  random: Random,
  tally: Map<string, number>,
  open: (options: DeviceOptions) => Promise<Device> = createDevice,
): Promise<World> {
  const device = await open({ ports: PORTS });
  const context = v.ibv_open_device(device);
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  // Reclaims memory, so that memory use returns to that of the start.
  dv.mlx5dv_dr_domain_set_reclaim_device_memory(domain, true);
  const state = newState(PORTS);
  for (const name of TABLES) state.tables.set(name, { level: 1, rules: [] });
  for (const name of COUNTERS) state.counters.set(name, { packets: 0n, bytes: 0n });
  const root = dv.mlx5dv_dr_table_create(domain, 0);
  const queues = new Map(QUEUES.map((name) => [name, createSink(context, name, portOf(name))]));
  const counters = COUNTERS.map((name): [string, Counting] => {
    const object = v.ibv_create_counters(context, { comp_mask: 0 });
    return [name, bound(queues.get("a") as QueuePair, object)];
  });
  return {
    random,
    device,
    bursts: openPair(device),
    state,
    queues,
    counters: new Map(counters),
    tables: new Map(TABLES.map((name) => [name, dv.mlx5dv_dr_table_create(domain, 1)])),
    root,
    flows: new Map(),
    rules: new Map(),
    hostRules: new Map(),
    matchers: [],
    names: new Map(),
    bases: drawBases(random),
    near: new Map(),
    empty: device.memoryUsed,
    made: 0,
    tally,
  };
}

/** Frames that flows and rules are made for. */
export function drawBases(random: Random): Parsed[] {
  return Array.from({ length: BASES }, () => parsed(randomFrame(random)));
}

/** Counters that a flow has used, so that their counts exist and stay. */
function bound(qp: QueuePair, object: Counters): Counting {
  const points: Counting["points"] = [
    [v.IBV_COUNTER_PACKETS, 0],
    [v.IBV_COUNTER_BYTES, 1],
  ];
  for (const [counter_desc, index] of points) v.ibv_attach_counters_point_flow(object, { counter_desc, index }, null);
  const specs = [{ type: v.IBV_FLOW_SPEC_ACTION_COUNT, counters: object }];
  v.ibv_destroy_flow(v.ibv_create_flow(qp, { type: v.IBV_FLOW_ATTR_NORMAL, port: 1, specs }));
  return { object, points };
}

/** A round of additions. */
export function addSome(world: World): void {
  const { random } = world;
  for (let i = 0; i < 12; i++) addFlow(world);
  for (let i = random.below(4); i > 0; i--) addRule(world);
  for (let i = random.below(3); i > 0; i--) addHostRule(world);
  if (random.chance(0.5)) attachPoint(world);
}

/** A flow for one of the frames, or one with the match of another flow. */
function addFlow(world: World): void {
  const { random, state } = world;
  const base = random.pick(world.bases);
  const drawn = randomFlowFor(base.fields, random, { ports: PORTS, counters: COUNTERS });
  const flow: ReferenceFlow = { ...drawn, id: `f${world.made++}`, qp: random.pick(QUEUES) };
  const twin = random.chance(0.4) && state.flows.size > 0;
  // Default flows conflict with each other in either half.
  if (random.chance(0.06)) Object.assign(flow, randomDefault(random));
  else if (twin) becomeTwin(flow, random.pick([...state.flows.values()]), random);
  // A flow is usually for the port of its frame.
  else if (random.chance(0.6)) flow.port = base.frame.port ?? 1;
  if (makeFlow(world, flow) && drawn.near === "bit" && flow.specs === drawn.specs) world.near.set(flow.id, base);
}

function randomDefault(random: Random): Pick<ReferenceFlow, "type" | "flags" | "specs"> {
  const specs = [{ type: SPEC.ACTION_TAG, tag_id: 1 }, { type: SPEC.ACTION_DROP }].filter(() => random.chance(0.3));
  return { type: random.pick([TYPE.ALL_DEFAULT, TYPE.MC_DEFAULT]), flags: 0, specs };
}

/** Identical and nearly identical flows are rarely drawn. */
function becomeTwin(flow: ReferenceFlow, other: ReferenceFlow, random: Random): void {
  const { type, priority, port } = other;
  const flags = random.chance(0.5) ? other.flags : other.flags ^ v.IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK;
  const actions = (random.chance(0.7) ? other : flow).specs.filter(isAction);
  const specs = [
    ...related(
      other.specs.filter((spec) => !isAction(spec)),
      random,
    ),
    ...actions,
  ];
  Object.assign(flow, { type, priority, port, flags, specs });
}

/** Creates a flow in both, as objects or as C bytes; returns whether it was created. */
export function makeFlow(world: World, flow: ReferenceFlow): boolean {
  const { random, device, state, tally } = world;
  const wanted = createFlow(state, flow);
  const used = device.memoryUsed;
  const { type, priority, port, flags } = flow;
  const attr: v.FlowAttr = { type, priority, port, flags, specs: flow.specs.map((spec) => specOf(world, spec)) };
  const ours = refused(() => {
    const inBytes = random.chance(0.5) && wanted !== "EINVAL";
    const given = inBytes ? v.flowAttrBytes(attr, (object) => (object as Counters).handle) : attr;
    world.flows.set(flow.id, v.ibv_create_flow(world.queues.get(flow.qp) as QueuePair, given));
  });
  if ((ours?.code ?? null) !== wanted) expect.fail(`${ours?.message ?? "taken"}, reference ${wanted}: ${text(flow)}`);
  count(tally, `flow ${wanted ?? ["normal", "all", "mc", "sniffer"][type]}`);
  if (wanted !== null) expect(device.memoryUsed).toBe(used);
  else world.names.set(world.flows.get(flow.id) as Flow, flow.id);
  return wanted === null;
}

function specOf({ counters }: World, spec: FlowSpec): v.FlowSpec {
  if (spec.type !== SPEC.ACTION_COUNT) return spec;
  return { type: spec.type, counters: (counters.get(spec.counters ?? "") as Counting).object };
}

/** A point for an existing flow, which counts on the object from now on. */
function attachPoint(world: World): void {
  const { random, state } = world;
  if (state.flows.size === 0) return;
  const id = random.pick([...state.flows.keys()]);
  const name = random.pick(COUNTERS);
  const { object, points } = world.counters.get(name) as Counting;
  const point: Counting["points"][number] = [random.below(2), random.below(VALUES)];
  const wanted = attachCounters(state, id, name);
  const [counter_desc, index] = point;
  const flow = world.flows.get(id) as Flow;
  const ours = refused(() => v.ibv_attach_counters_point_flow(object, { counter_desc, index }, flow));
  expect([id, ours?.code ?? null]).toEqual([id, wanted]);
  if (ours === undefined) world.empty += POINT;
  count(world.tally, `attach ${wanted ?? "done"}`);
  if (wanted === null) points.push(point);
}

const TAKEN = ({ field }: Term): boolean => !field.startsWith("misc4.") && !field.includes("geneve_tlv_option");

/** A direct rule, of the root table or another, under a matcher that may be shared. */
function addRule(world: World): void {
  const { random, state } = world;
  const wish = random.pick(["hit", "hit", "bit", "range"] as const);
  const { terms, ranges, near } = randomRuleFor(random.pick(world.bases).fields, random, { near: wish });
  // A flipped version contradicts an address: such a rule cannot be expressed.
  if (
    !terms.every(TAKEN) ||
    (near !== "hit" && [...terms, ...ranges].some(({ field }) => field.endsWith("ip_version")))
  )
    return;
  const { matcher, table, made: place } = matcherFor(world);
  const { actions, reference } = randomActions(world);
  const id = `r${world.made++}`;
  const texts = [
    ...terms.map((one) => [one.field, termText(one)]),
    ...ranges.map((one) => [one.field, rangeText(one)]),
  ];
  const rule = Rule.named(matcher, Object.fromEntries(texts) as Record<string, string>, actions, id);
  world.rules.set(id, rule);
  world.names.set(rule, id);
  const made = state.made++;
  const { priority } = matcher;
  if (table === "") state.rootRules.push({ id, priority, matcher: place, made, terms, ranges, actions: reference });
  else {
    const rank = rankOf({ priority, matcher: place, rule: made }, false);
    state.tables.get(table)?.rules.push({ id, rank, terms, ranges, actions: reference });
  }
}

function matcherFor({ random, state, matchers, root, tables }: World): World["matchers"][number] {
  if (matchers.length > 0 && random.chance(0.5)) return random.pick(matchers);
  const table = random.chance(0.7) ? "" : random.pick(TABLES);
  const priority = random.pick([0, 1, 2, 2, 3]);
  const made = state.made++;
  const at = table === "" ? root : (tables.get(table) as Table);
  const one = { matcher: Matcher.named(at, priority, undefined, `m${made}`), table, made };
  matchers.push(one);
  return one;
}

function randomActions({ random, tables, queues }: World): { actions: Action[]; reference: ReferenceAction[] } {
  const list: [Action, ReferenceAction][] = [];
  if (random.chance(0.5)) {
    const value = random.between(1, 9);
    list.push([dv.mlx5dv_dr_action_create_tag(value), { kind: "tag", value }]);
  }
  const [table, qp] = [random.pick(TABLES), random.pick(QUEUES)];
  const ends: [Action, ReferenceAction][] = [
    [dv.mlx5dv_dr_action_create_drop(), { kind: "drop" }],
    [dv.mlx5dv_dr_action_create_default_miss(), { kind: "defaultMiss" }],
    [dv.mlx5dv_dr_action_create_dest_table(tables.get(table) as Table), { kind: "table", table }],
    [dv.mlx5dv_dr_action_create_dest_ibv_qp(queues.get(qp) as QueuePair), { kind: "qp", qp }],
  ];
  if (random.chance(0.9)) list.push(random.pick(ends));
  return { actions: list.map(([one]) => one), reference: list.map(([, one]) => one) };
}

function addHostRule(world: World): void {
  const { random, state, device } = world;
  const { terms } = randomRuleFor(random.pick(world.bases).fields, random, { near: "hit", maxRanges: 0 });
  if (!terms.every(TAKEN)) return;
  const port = random.chance(0.5) && !terms.some(({ field }) => field === "ext.port") ? random.between(1, PORTS) : null;
  const application = random.pick(["ethtool", "tc", "nic"] as const);
  const priority = random.below(3);
  const queue = random.below(3);
  const drop = random.chance(0.3);
  const name = `h${world.made++}`;
  const rule = device.hostRules.add({
    application,
    priority,
    name,
    ...(port === null ? {} : { port }),
    match: Object.fromEntries(terms.map((term) => [term.field, termText(term)])),
    action: drop ? "drop" : { queue },
  });
  world.hostRules.set(name, rule);
  world.names.set(rule, name);
  const asked = port === null ? terms : [...terms, { field: "ext.port", mask: 0xffffn, value: BigInt(port) }];
  const actions: ReferenceAction[] = [drop ? { kind: "drop" } : { kind: "qp", qp: `host:${queue}` }];
  state.hostRules.push({ id: name, application, priority, made: state.made++, terms: asked, actions });
}

/** Removes a quarter of everything, and unused matchers. */
export function removeSome(world: World, chance = 0.25): void {
  const { random, state } = world;
  for (const [id, flow] of world.flows) {
    if (!random.chance(chance)) continue;
    v.ibv_destroy_flow(flow);
    destroyFlow(state, id);
    world.flows.delete(id);
    world.near.delete(id);
  }
  for (const [id, rule] of world.rules) {
    if (!random.chance(chance)) continue;
    dv.mlx5dv_dr_rule_destroy(rule);
    for (const action of rule.actions) dv.mlx5dv_dr_action_destroy(action);
    state.rootRules = state.rootRules.filter((one) => one.id !== id);
    for (const table of state.tables.values()) table.rules = table.rules.filter((one) => one.id !== id);
    world.rules.delete(id);
  }
  for (const { matcher } of world.matchers) if (matcher.users === 0) dv.mlx5dv_dr_matcher_destroy(matcher);
  world.matchers = world.matchers.filter(({ matcher }) => !matcher.destroyed);
  for (const [id, rule] of world.hostRules) {
    if (!random.chance(chance)) continue;
    rule.remove();
    state.hostRules = state.hostRules.filter((one) => one.id !== id);
    world.hostRules.delete(id);
  }
}

/** Each counters object agrees with the reference at each of its points. */
export function compareCounters({ counters, state }: World): void {
  const values = new BigUint64Array(VALUES);
  for (const [name, { object, points }] of counters) {
    v.ibv_read_counters(object, values, undefined, 0);
    const { packets, bytes } = state.counters.get(name) ?? { packets: 0n, bytes: 0n };
    const wanted = new BigUint64Array(VALUES);
    for (const [description, index] of points)
      wanted[index]! += description === v.IBV_COUNTER_PACKETS ? packets : bytes;
    expect([name, ...values]).toEqual([name, ...wanted]);
  }
}
