/**
 * Random pipelines through the C-named functions and through named rules: tables, matchers of equal
 * and different priorities, duplicates, jumps and loops, insertions and removals. Every frame's
 * outcome and every counter agree with the reference.
 */
import { expect, test } from "vitest";
import { createDevice, createSink, type Device, type Outcome, type ParserOptions } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import { FlowCounter } from "../../../src/model/action/counter.js";
import type { Domain, Table } from "../../../src/model/table/domain.js";
import { matchOf } from "../../../src/model/match/match.js";
import { Matcher } from "../../../src/model/table/matcher.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { Rule } from "../../../src/model/rule/rule.js";
import { ibv_open_device } from "../../../src/verbs/index.js";
import { DECLARED, Random, randomFrame, randomRuleFor } from "../../oracle/generate/frame.js";
import { rankOf, type Fields, type Range, type ReferenceRule, type Term } from "../../oracle/walk/match.js";
import { parseReference } from "../../oracle/wire/parse.js";
import {
  walkReference,
  type Action as ReferenceAction,
  type Counter,
  type Table as ReferenceTable,
} from "../../oracle/walk/walk.js";
import { frameText, rangeText, seedFor, termText, type TestFrame } from "../support/core.js";
import { checkReached, rounds } from "../../support/tier.js";

const PIPELINES = rounds(150);
const FRAMES = 24;
const QUEUES = ["a", "b", "c"];
const COUNTERS = ["x", "y"];
const ALL_CRITERIA = 0x7f;

interface Pipeline {
  device: Device;
  domain: Domain;
  tables: Table[];
  reference: Map<string, ReferenceTable>;
  matchers: { matcher: Matcher; order: number; masked: Term[] | null }[];
  rules: { rule: Rule; table: string }[];
  frames: TestFrame[];
  parsed: Fields[];
  counters: Map<string, FlowCounter>;
  queues: Map<string, QueuePair>;
  /** The memory of an empty device of this shape. */
  empty: number;
  made: number;
}

test(`${PIPELINES} random pipelines`, async () => {
  const random = new Random(seedFor("walk"));
  const seen = new Map<string, number>();
  for (let n = 0; n < PIPELINES; n++) {
    const pipeline = await build(random);
    const expected = new Map<string, Counter>(COUNTERS.map((name) => [name, { packets: 0n, bytes: 0n }]));
    for (let change = 0; change < 3; change++) {
      compare(pipeline, expected, seen);
      churn(pipeline, random);
    }
    takeDown(pipeline);
  }
  const outcomes = [...seen].sort().map(([name, count]) => `${name} ${count}`);
  console.log(outcomes.join(", "));
  checkReached(() => expect([...seen.keys()].sort()).toEqual(ENDS));
});

/** Every way that a frame can end here. */
const ENDS = [
  "deliver",
  "drop default_miss",
  "drop drop_action",
  "drop hop_limit",
  "drop no_destination",
  "drop table_miss",
  "miss default_miss",
  "miss no_rule",
];

async function build(random: Random): Promise<Pipeline> {
  const device = await createDevice({ ports: 2, parser: DECLARED as ParserOptions });
  const context = ibv_open_device(device);
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  // Memory is compared with that of the empty pipeline.
  dv.mlx5dv_dr_domain_set_reclaim_device_memory(domain, true);
  const levels = [0, ...Array.from({ length: random.below(4) }, () => random.between(1, 3))];
  const frames = Array.from({ length: FRAMES }, () => randomFrame(random));
  const pipeline: Pipeline = {
    device,
    domain,
    tables: levels.map((level) => dv.mlx5dv_dr_table_create(domain, level)),
    reference: new Map(levels.map((level, i) => [String(i), { level, rules: [] }])),
    matchers: [],
    rules: [],
    frames,
    parsed: frames.map(
      (frame) => parseReference(frame.bytes, { ...frame, port: frame.port ?? 1, parser: DECLARED }).fields,
    ),
    counters: new Map(COUNTERS.map((name) => [name, new FlowCounter(context, 1, name)])),
    queues: new Map(QUEUES.map((name) => [name, createSink(context, name)])),
    empty: 0,
    made: 0,
  };
  pipeline.empty = device.memoryUsed;
  for (let i = 0; i < pipeline.tables.length * 3; i++) addMatcher(pipeline, random);
  for (let i = 0; i < 60; i++) addRule(pipeline, random);
  return pipeline;
}

/** Half the matchers take device bytes, half take fields. */
function addMatcher(pipeline: Pipeline, random: Random): void {
  const table = random.pick(pipeline.tables);
  const priority = random.below(3);
  const order = pipeline.made++;
  if (random.chance(0.5)) {
    const matcher = Matcher.named(table, priority, undefined, `m${order}`);
    pipeline.matchers.push({ matcher, order, masked: null });
    return;
  }
  const { terms } = randomRuleFor(random.pick(pipeline.parsed), random, { near: "hit", maxRanges: 0 });
  // Device bytes have no ext group, and a mask of ip_version is all or nothing.
  const fits = ({ field, mask }: Term): boolean =>
    !field.startsWith("ext.") && (!field.endsWith("ip_version") || mask === 0xfn);
  const fit = terms.filter(fits).slice(0, 3);
  const masked = random.chance(0.1) ? [] : fit;
  const mask = parametersOf(masked).mask;
  const matcher = dv.mlx5dv_dr_matcher_create(table, priority, ALL_CRITERIA, mask);
  pipeline.matchers.push({ matcher, order, masked });
}

function parametersOf(terms: Term[]): Record<"mask" | "value", dv.DeviceMatch["value"]> {
  const { mask, value } = matchOf("match", Object.fromEntries(terms.map((term) => [term.field, termText(term)])));
  // Device bytes name the sample of each slot; here slot n has sample n.
  for (const { field } of terms) {
    const id = /^misc4\.prog_sample_field_value_(\d)$/.exec(field)?.[1];
    if (id !== undefined) mask[320 + 8 * Number(id) + 7] = Number(id);
  }
  const parameters = (key: Uint8Array): dv.DeviceMatch["value"] => ({ match_sz: 448, match_buf: key.slice(0, 448) });
  return { mask: parameters(mask), value: parameters(value) };
}

function addRule(pipeline: Pipeline, random: Random): void {
  if (pipeline.matchers.length === 0) return;
  const { matcher, order, masked } = random.pick(pipeline.matchers);
  const place = pipeline.made++;
  const fields = random.pick(pipeline.parsed);
  let terms: Term[];
  let ranges: Range[] = [];
  let rule: Rule;
  let reference: ReferenceAction[];
  if (masked === null) {
    const near = random.chance(0.7) ? "hit" : "bit";
    ({ terms, ranges } = randomRuleFor(fields, random, { near }));
    // A flipped version contradicts an address: the API refuses such a rule.
    if (near === "bit" && terms.some(({ field }) => field.endsWith("ip_version"))) return;
    const texts = [...terms.map((t) => [t.field, termText(t)]), ...ranges.map((r) => [r.field, rangeText(r)])];
    const made = randomActions(pipeline, random);
    reference = made.reference;
    rule = Rule.named(matcher, Object.fromEntries(texts) as Record<string, string>, made.actions);
  } else {
    if (masked.some(({ field }) => !fields.has(field))) return;
    terms = masked.map(({ field, mask }) => ({ field, mask, value: (fields.get(field) as bigint) & mask }));
    const made = randomActions(pipeline, random);
    reference = made.reference;
    rule = dv.mlx5dv_dr_rule_create(matcher, parametersOf(terms).value, made.actions.length, made.actions);
  }
  const table = pipeline.tables.indexOf(matcher.table);
  const rank = rankOf({ priority: matcher.priority, matcher: order, rule: place }, table === 0);
  const entry: ReferenceRule<ReferenceAction> = { id: rule.name, rank, terms, ranges, actions: reference };
  pipeline.reference.get(String(table))?.rules.push(entry);
  pipeline.rules.push({ rule, table: String(table) });
}

/** A tag, counters and at most one terminal action, in any order. */
function randomActions(pipeline: Pipeline, random: Random): { actions: Action[]; reference: ReferenceAction[] } {
  const list: [Action, ReferenceAction][] = [];
  if (random.chance(0.4)) {
    const value = random.below(2 ** 26);
    list.push([dv.mlx5dv_dr_action_create_tag(value), { kind: "tag", value }]);
  }
  for (const counter of COUNTERS) {
    if (!random.chance(0.3)) continue;
    const action = dv.mlx5dv_dr_action_create_flow_counter(pipeline.counters.get(counter) as FlowCounter, 0);
    list.push([action, { kind: "counter", counter }]);
  }
  const targets = pipeline.tables.slice(1);
  const end = random.below(10);
  if (end < 5 && targets.length > 0) {
    const table = random.pick(targets);
    const name = String(pipeline.tables.indexOf(table));
    list.push([dv.mlx5dv_dr_action_create_dest_table(table), { kind: "table", table: name }]);
  } else if (end < 7) {
    const qp = random.pick(QUEUES);
    const queue = pipeline.queues.get(qp);
    if (queue !== undefined) list.push([dv.mlx5dv_dr_action_create_dest_ibv_qp(queue), { kind: "qp", qp: `qp:${qp}` }]);
  } else if (end === 7) list.push([dv.mlx5dv_dr_action_create_drop(), { kind: "drop" }]);
  else if (end === 8) list.push([dv.mlx5dv_dr_action_create_default_miss(), { kind: "defaultMiss" }]);
  const shuffled = random.shuffle(list);
  return { actions: shuffled.map(([action]) => action), reference: shuffled.map(([, action]) => action) };
}

function compare(pipeline: Pipeline, expected: Map<string, Counter>, seen: Map<string, number>): void {
  const { device, frames, parsed, reference } = pipeline;
  for (const port of [1, 2]) {
    const here = frames.map((frame, i) => ({ frame, i })).filter(({ frame }) => (frame.port ?? 1) === port);
    const outcomes = device.receiveBatch(
      port,
      here.map(({ frame }) => frame.bytes),
      here.map(({ frame }) => frame),
    );
    for (const [n, { frame, i }] of here.entries()) {
      const wanted = walkReference(reference, parsed[i] as Fields, frame.wireLength, expected);
      const ours = shape(outcomes[n] as Outcome);
      if (JSON.stringify(ours) !== JSON.stringify(wanted)) {
        expect.fail(`engine ${JSON.stringify(ours)}\nreference ${JSON.stringify(wanted)}\n${frameText(frame)}`);
      }
      const name = `${wanted.verdict} ${wanted.reason ?? ""}`.trim();
      seen.set(name, (seen.get(name) ?? 0) + 1);
    }
  }
  for (const [name, counter] of pipeline.counters) expect([name, counter.read()]).toEqual([name, expected.get(name)]);
}

/** An outcome as the reference writes it. */
function shape({ verdict, reason, to, tag, rules }: Outcome): object {
  return { verdict, reason, to: to.map(({ name }) => name), tag, rules: rules.map(({ name }) => name) };
}

/** Inserts and removes rules and matchers. */
function churn(pipeline: Pipeline, random: Random): void {
  for (let i = 0; i < 20; i++) {
    if (pipeline.rules.length === 0) break;
    const [gone] = pipeline.rules.splice(random.below(pipeline.rules.length), 1);
    if (gone === undefined) break;
    dv.mlx5dv_dr_rule_destroy(gone.rule);
    for (const action of gone.rule.actions) dv.mlx5dv_dr_action_destroy(action);
    const table = pipeline.reference.get(gone.table) as ReferenceTable;
    table.rules = table.rules.filter(({ id }) => id !== gone.rule.name);
  }
  const unused = pipeline.matchers.findIndex(({ matcher }) => matcher.users === 0);
  if (unused >= 0) {
    const [gone] = pipeline.matchers.splice(unused, 1);
    if (gone !== undefined) dv.mlx5dv_dr_matcher_destroy(gone.matcher);
  }
  addMatcher(pipeline, random);
  for (let i = 0; i < 20; i++) addRule(pipeline, random);
}

/** Destroys everything in order; the core then has the memory that it had before the first rule. */
function takeDown(pipeline: Pipeline): void {
  for (const { rule } of pipeline.rules) {
    dv.mlx5dv_dr_rule_destroy(rule);
    for (const action of rule.actions) dv.mlx5dv_dr_action_destroy(action);
  }
  for (const { matcher } of pipeline.matchers) dv.mlx5dv_dr_matcher_destroy(matcher);
  expect(pipeline.device.memoryUsed).toBe(pipeline.empty);
  for (const table of pipeline.tables) dv.mlx5dv_dr_table_destroy(table);
  dv.mlx5dv_dr_domain_destroy(pipeline.domain);
}
