/**
 * Random devices through the C-named functions: flows of all kinds, as objects and as C bytes, direct rules of the root
 * table and of others, host rules, churn. Received frames, and frames that queue pairs send: every outcome, every counter
 * and every refusal agree with the reference.
 */
import { expect, test } from "vitest";
import { createDevice, createSink, LINK_TYPES, type Device, type Outcome } from "../../src/index.js";
import * as dv from "../../src/mlx5dv/index.js";
import type { Action } from "../../src/model/action.js";
import type { Table } from "../../src/model/domain.js";
import type { Flow } from "../../src/model/flow.js";
import type { Counters } from "../../src/model/flowCounters.js";
import type { HostRule } from "../../src/model/hostRules.js";
import { Matcher } from "../../src/model/matcher.js";
import type { QueuePair } from "../../src/model/queues.js";
import { Rule } from "../../src/model/rule.js";
import * as v from "../../src/verbs/index.js";
import { frameText, rangeText, seedFor, termText, type TestFrame } from "../engine/support.js";
import { refused } from "../mlx5dv/support.js";
import { receiveReference, sendReference, type FlowOutcome } from "../oracle/flowWalk.js";
import { createFlow, destroyFlow, newState, type Flow as ReferenceFlow, type FlowState } from "../oracle/flows.js";
import { Random, randomFrame, randomRuleFor } from "../oracle/generate.js";
import { randomFlowFor } from "../oracle/generateFlow.js";
import { rankOf, type Fields } from "../oracle/match.js";
import { parseReference } from "../oracle/parse.js";
import type { Action as ReferenceAction } from "../oracle/walk.js";

const WORLDS = 150;
const ROUNDS = 5;
const FRAMES = 24;
const PORTS = 2;
const QUEUES = ["a", "b", "c", "d"];
const COUNTERS = ["x", "y", "z"];
const TABLES = ["t", "u"];

const portOf = (name: string): number => (QUEUES.indexOf(name) % PORTS) + 1;

interface World {
  device: Device;
  state: FlowState;
  queues: Map<string, QueuePair>;
  counters: Map<string, Counters>;
  tables: Map<string, Table>;
  root: Table;
  /** By their names in the reference. */
  flows: Map<string, Flow>;
  rules: Map<string, Rule>;
  hostRules: Map<string, HostRule>;
  names: Map<object, string>;
  frames: TestFrame[];
  parsed: Fields[];
  /** Memory without rules and flows; counters have been bound. */
  empty: number;
  made: number;
}

async function makeWorld(random: Random): Promise<World> {
  const device = await createDevice({ ports: PORTS });
  const context = v.ibv_open_device(device);
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const frames = Array.from({ length: FRAMES }, () => ({ ...randomFrame(random), port: random.between(1, PORTS) }));
  const state = newState(PORTS);
  for (const name of TABLES) state.tables.set(name, { level: 1, rules: [] });
  for (const name of COUNTERS) state.counters.set(name, { packets: 0n, bytes: 0n });
  const root = dv.mlx5dv_dr_table_create(domain, 0);
  const queues = new Map(QUEUES.map((name) => [name, createSink(context, name, portOf(name))]));
  const counters = new Map(COUNTERS.map((name) => [name, v.ibv_create_counters(context, { comp_mask: 0 })]));
  for (const one of counters.values()) bindOnce(queues.get("a") as QueuePair, one);
  return {
    device,
    state,
    queues,
    counters,
    tables: new Map(TABLES.map((name) => [name, dv.mlx5dv_dr_table_create(domain, 1)])),
    root,
    flows: new Map(),
    rules: new Map(),
    hostRules: new Map(),
    names: new Map(),
    frames,
    parsed: frames.map((frame) => parseReference(frame.bytes, frame).fields),
    empty: device.memoryUsed,
    made: 0,
  };
}

/** So that counts are there, and stay. */
function bindOnce(qp: QueuePair, counters: Counters): void {
  for (const [counter_desc, index] of [
    [v.IBV_COUNTER_PACKETS, 0],
    [v.IBV_COUNTER_BYTES, 1],
  ] as const) {
    v.ibv_attach_counters_point_flow(counters, { counter_desc, index }, null);
  }
  const specs = [{ type: v.IBV_FLOW_SPEC_ACTION_COUNT, counters }];
  v.ibv_destroy_flow(v.ibv_create_flow(qp, { type: v.IBV_FLOW_ATTR_NORMAL, port: 1, specs }));
}

function addFlow(world: World, random: Random, seen: Map<string, number>): void {
  const { state, queues, counters } = world;
  const id = `f${world.made++}`;
  const again = random.chance(0.35) && state.flows.size > 0;
  const drawn = randomFlowFor(random.pick(world.parsed), random, { ports: PORTS, counters: COUNTERS });
  const flow: ReferenceFlow = { ...drawn, id, qp: random.pick(QUEUES) };
  // Identical flows are seldom drawn: their specs and places come from one that is there.
  if (again) {
    const { specs, type, priority, port, flags } = random.pick([...state.flows.values()]);
    const actions = random.chance(0.7)
      ? specs
      : [...specs.filter(({ type: one }) => one < 0x1000), ...actionsOf(drawn.specs)];
    Object.assign(flow, { specs: actions, type, priority, port, flags: random.chance(0.5) ? flags : flags ^ 1 });
  }
  const wanted = createFlow(state, flow);
  const used = world.device.memoryUsed;
  const specs = flow.specs.map((spec) =>
    spec.counters === undefined ? spec : { ...spec, counters: counters.get(spec.counters) as Counters },
  ) as v.FlowSpec[];
  const { type, priority, port, flags } = flow;
  const attr: v.FlowAttr = { type, priority, port, flags, specs };
  const ours = refused(() => {
    const handleOf = (object: object): number => (object as Counters).handle;
    const given = random.chance(0.5) && wanted !== "EINVAL" ? v.flowAttrBytes(attr, handleOf) : attr;
    world.flows.set(id, v.ibv_create_flow(queues.get(flow.qp) as QueuePair, given));
  });
  if ((ours?.code ?? null) !== wanted) expect.fail(`${ours?.message ?? "taken"}, reference ${wanted}: ${text(flow)}`);
  if (wanted !== null) expect(world.device.memoryUsed).toBe(used);
  else world.names.set(world.flows.get(id) as Flow, id);
  const kind = ["normal", "all", "mc", "sniffer"][type];
  seen.set(`${wanted ?? kind}`, (seen.get(`${wanted ?? kind}`) ?? 0) + 1);
}

const actionsOf = (specs: ReferenceFlow["specs"]): ReferenceFlow["specs"] => specs.filter(({ type }) => type >= 0x1000);

const text = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) => (typeof one === "bigint" ? `0x${one.toString(16)}` : one));

/** A direct rule, of the root table or another. */
function addRule(world: World, random: Random): void {
  const { state } = world;
  const name = random.chance(0.7) ? "" : random.pick(TABLES);
  const fields = random.pick(world.parsed);
  const { terms, ranges } = randomRuleFor(fields, random, { near: "hit" });
  const match = Object.fromEntries([
    ...terms.map((term) => [term.field, termText(term)]),
    ...ranges.map((range) => [range.field, rangeText(range)]),
  ]) as Record<string, string>;
  const priority = random.pick([0, 1, 2, 3]);
  const table = name === "" ? world.root : (world.tables.get(name) as Table);
  const { actions, reference } = randomActions(world, random);
  if (terms.some(({ field }) => field.startsWith("misc4.") || field.includes("geneve_tlv_option"))) return;
  const matcher = Matcher.named("test", table, priority, undefined, `m${world.made}`);
  const id = `r${world.made++}`;
  const rule = Rule.named("test", matcher, match, actions, id);
  world.rules.set(id, rule);
  world.names.set(rule, id);
  const place = state.made++;
  const made = state.made++;
  if (name === "") state.rootRules.push({ id, priority, matcher: place, made, terms, ranges, actions: reference });
  else {
    const rank = rankOf({ priority, matcher: place, rule: made }, false);
    state.tables.get(name)?.rules.push({ id, rank, terms, ranges, actions: reference });
  }
}

function randomActions(world: World, random: Random): { actions: Action[]; reference: ReferenceAction[] } {
  const list: [Action, ReferenceAction][] = [];
  if (random.chance(0.5)) {
    const value = random.between(1, 9);
    list.push([dv.mlx5dv_dr_action_create_tag(value), { kind: "tag", value }]);
  }
  const name = random.pick(TABLES);
  const qp = random.pick(QUEUES);
  const ends: [Action, ReferenceAction][] = [
    [dv.mlx5dv_dr_action_create_drop(), { kind: "drop" }],
    [dv.mlx5dv_dr_action_create_default_miss(), { kind: "defaultMiss" }],
    [dv.mlx5dv_dr_action_create_dest_table(world.tables.get(name) as Table), { kind: "table", table: name }],
    [dv.mlx5dv_dr_action_create_dest_ibv_qp(world.queues.get(qp) as QueuePair), { kind: "qp", qp }],
  ];
  if (random.chance(0.9)) list.push(random.pick(ends));
  return { actions: list.map(([one]) => one), reference: list.map(([, one]) => one) };
}

function addHostRule(world: World, random: Random): void {
  const { state, device } = world;
  const { terms } = randomRuleFor(random.pick(world.parsed), random, { near: "hit", maxRanges: 0 });
  if (terms.some(({ field }) => field.startsWith("misc4.") || field.includes("geneve_tlv_option"))) return;
  const port = random.chance(0.5) && !terms.some(({ field }) => field === "ext.port") ? random.between(1, PORTS) : null;
  const application = random.pick(["ethtool", "tc", "nic"] as const);
  const priority = random.below(3);
  const number = random.below(3);
  const drop = random.chance(0.3);
  const id = `h${world.made++}`;
  const rule = device.hostRules.add({
    application,
    priority,
    ...(port === null ? {} : { port }),
    match: Object.fromEntries(terms.map((term) => [term.field, termText(term)])),
    action: drop ? "drop" : { queue: number },
    name: id,
  });
  world.hostRules.set(id, rule);
  world.names.set(rule, id);
  const asked = port === null ? terms : [...terms, { field: "ext.port", mask: 0xffffn, value: BigInt(port) }];
  const actions: ReferenceAction[] = [drop ? { kind: "drop" } : { kind: "qp", qp: `host:${number}` }];
  state.hostRules.push({ id, application, priority, made: state.made++, terms: asked, actions });
}

function removeSome(world: World, random: Random): void {
  const { state } = world;
  for (const [id, flow] of world.flows) {
    if (!random.chance(0.25)) continue;
    v.ibv_destroy_flow(flow);
    destroyFlow(state, id);
    world.flows.delete(id);
  }
  for (const [id, rule] of world.rules) {
    if (!random.chance(0.25)) continue;
    dv.mlx5dv_dr_rule_destroy(rule);
    dv.mlx5dv_dr_matcher_destroy(rule.matcher);
    state.rootRules = state.rootRules.filter((one) => one.id !== id);
    for (const table of state.tables.values()) table.rules = table.rules.filter((one) => one.id !== id);
    world.rules.delete(id);
  }
  for (const [id, rule] of world.hostRules) {
    if (!random.chance(0.25)) continue;
    rule.remove();
    state.hostRules = state.hostRules.filter((one) => one.id !== id);
    world.hostRules.delete(id);
  }
}

type Compared = Pick<FlowOutcome, "verdict" | "reason" | "tag" | "arrivals" | "rules" | "refused">;

const arrivalsOf = ({ to, copies }: Outcome): Compared["arrivals"] =>
  [...copies, ...to].map(({ kind, name, tag }) => ({ qp: kind === "qp" ? name.slice("qp:".length) : name, tag }));

function named(world: World, { rules }: Outcome): string[] {
  return rules.map((rule) => world.names.get(rule) ?? "?");
}

function received(world: World, { bytes, port, ...options }: TestFrame): Compared {
  const outcome = world.device.receive(port ?? 1, bytes, options);
  const { verdict, reason, tag } = outcome;
  const arrivals = arrivalsOf(outcome);
  return { verdict: verdict as Compared["verdict"], reason, tag, arrivals, rules: named(world, outcome), refused: 0 };
}

/** What a queue pair sends, with the way back to its port's own rules. */
function sent(world: World, { bytes }: TestFrame, from: string): Compared {
  const outcome = world.device.send(world.queues.get(from) as QueuePair, bytes);
  const { verdict, tag } = outcome;
  const arrivals = arrivalsOf({ ...outcome, to: outcome.to.filter(({ kind }) => kind !== "port") });
  const reason = verdict === "drop" ? outcome.reason : null;
  return { verdict: verdict as Compared["verdict"], reason, tag, arrivals, rules: named(world, outcome), refused: 0 };
}

/** Queue pairs are on one port, and send whole Ethernet frames. */
function senderOf({ bytes, port, linkType, wireLength }: TestFrame, random: Random): string | null {
  if (linkType !== LINK_TYPES.ETHERNET || bytes.length < 14 || bytes.length !== wireLength) return null;
  return random.chance(0.4) ? random.pick(QUEUES.filter((name) => portOf(name) === port)) : null;
}

function compare(world: World, random: Random, seen: Map<string, number>): void {
  const { state, parsed } = world;
  for (const [i, frame] of world.frames.entries()) {
    const { port, wireLength } = frame;
    const given = { fields: parsed[i] as Fields, port: port ?? 1, wireLength };
    const from = senderOf(frame, random);
    const wanted = from === null ? receiveReference(state, given) : sendReference(state, given, from);
    const ours = from === null ? received(world, frame) : sent(world, frame, from);
    const { verdict, reason, tag, arrivals, rules, refused: late } = wanted;
    const theirs = { verdict, reason, tag, arrivals: [...arrivals], rules, refused: late };
    // Among the queues of one entry nobody is first; a frame that comes back to some of them shows it.
    if (from !== null)
      for (const { arrivals: list } of [ours, theirs]) list.sort((a, b) => (text(a) < text(b) ? -1 : 1));
    if (text(ours) !== text(theirs)) {
      const flows = [...state.flows.values()].map(text).join("\n");
      expect.fail(
        `${from ?? "received"}: engine ${text(ours)}\nreference ${text(theirs)}\n${flows}\n${frameText(frame)}`,
      );
    }
    const what = `${from === null ? "received" : "sent"}: ${verdict} ${reason ?? ""} ${Math.min(arrivals.length, 2)}`;
    seen.set(what, (seen.get(what) ?? 0) + 1);
  }
  const values = new BigUint64Array(2);
  for (const [name, counters] of world.counters) {
    v.ibv_read_counters(counters, values, undefined, 0);
    const { packets, bytes } = state.counters.get(name) ?? { packets: 0n, bytes: 0n };
    expect([name, ...values]).toEqual([name, packets, bytes]);
  }
}

test(`${WORLDS} random devices`, async () => {
  const random = new Random(seedFor("flows"));
  const seen = new Map<string, number>();
  for (let n = 0; n < WORLDS; n++) {
    const world = await makeWorld(random);
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < 12; i++) addFlow(world, random, seen);
      for (let i = random.below(4); i > 0; i--) addRule(world, random);
      for (let i = random.below(3); i > 0; i--) addHostRule(world, random);
      compare(world, random, seen);
      removeSome(world, random);
    }
    for (const flow of world.flows.values()) v.ibv_destroy_flow(flow);
    for (const rule of world.rules.values()) dv.mlx5dv_dr_rule_destroy(rule);
    for (const rule of world.hostRules.values()) rule.remove();
    expect(world.device.memoryUsed).toBe(world.empty);
  }
  console.log(
    [...seen]
      .sort()
      .map(([what, count]) => `${what.trim()} ${count}`)
      .join(", "),
  );
  for (const wanted of [
    ...["EEXIST", "EINVAL", "normal", "all", "mc", "sniffer"],
    ...["received: deliver  1", "received: deliver  2", "received: drop drop_action 0", "received: miss no_rule 0"],
    ...["received: miss default_miss 0", "received: miss no_rule 1", "received: drop drop_action 1"],
    ...["sent: transmit  0", "sent: transmit  1", "sent: deliver  1", "sent: deliver  2", "sent: drop drop_action 0"],
  ]) {
    expect([...seen.keys()]).toContain(wanted);
  }
}, 120_000);
