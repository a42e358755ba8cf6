/**
 * Random rules of a root table, made and destroyed, against the reference: rules for the same frames
 * are one entry, to which each adds its destination and counter. A copy of the device, traces,
 * explanations, hits and proofs agree on it.
 */
import { expect, test } from "vitest";
import { createDevice, createSink } from "../../../src/index.js";
import { cover, openExplainer, openTracer } from "../../../src/explain/index.js";
import type { Action } from "../../../src/model/action/action.js";
import { Rule } from "../../../src/model/rule/rule.js";
import { Matcher } from "../../../src/model/table/matcher.js";
import type { Outcome } from "../../../src/model/traffic/outcome.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { cloneDevice } from "../../../src/snapshot/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { RootReference, type RootRule } from "../../oracle/walk/rootEntries.js";
import { checkReached, rounds } from "../../support/tier.js";
import { created } from "../support/devx.js";
import { ipv4Frame, refused } from "../support/directRules.js";

const ROUNDS = rounds(60);
const STEPS = 60;
const MASKS = [0xffffffffffffn, 0xfffffffffffcn, 0xfffffffffff0n];
const BASE = 0x020000000000n;
const QUEUES = ["a", "b", "c"];
const CHANGES = ["ttl9", "ttl8"];
const COUNTERS = ["c0", "c1"];

const macOf = (value: bigint): string => value.toString(16).padStart(12, "0").match(/../g)!.join(":");

async function openWorld(random: Random) {
  const device = await createDevice({ profile: "connectx6dx", countHits: true });
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const root = dv.mlx5dv_dr_table_create(domain, 0);
  const queues = new Map([...QUEUES, "t", "u"].map((name) => [name, createSink(context, name)]));
  const counters = new Map(COUNTERS.map((name) => [name, created(context, dv.allocFlowCounterCommand())]));
  const to = (name: string): Action => dv.mlx5dv_dr_action_create_dest_ibv_qp(queues.get(name)!);
  // Tables that send all frames to the queue of their name.
  const tableTo = (name: string): Action => {
    const table = dv.mlx5dv_dr_table_create(domain, 1);
    const { match_criteria_enable, mask, value } = dv.matchParameters({});
    const all = dv.mlx5dv_dr_matcher_create(table, 0, match_criteria_enable, mask);
    dv.mlx5dv_dr_rule_create(all, value, 1, [to(name)]);
    return dv.mlx5dv_dr_action_create_dest_table(table);
  };
  const shared = new Map<string, Action>([
    ...QUEUES.map((name) => [name, to(name)] as const),
    ...["t", "u"].map((name) => [name, tableTo(name)] as const),
    ["drop", dv.mlx5dv_dr_action_create_drop()],
    ["miss", dv.mlx5dv_dr_action_create_default_miss()],
    ...COUNTERS.map((name) => [name, dv.mlx5dv_dr_action_create_flow_counter(counters.get(name)!, 0)] as const),
    ...CHANGES.map((name) => {
      const words = dv.modifyActions([{ type: "set", field: "OUT_IP_TTL", data: Number(name.at(-1)) }]);
      return [name, dv.mlx5dv_dr_action_create_modify_header(domain, 1, words.length, words)] as const;
    }),
  ]);
  const reference = new RootReference();
  return { random, device, root, counters, shared, reference, rules: new Map<string, Rule>(), matchers: [] as Made[] };
}

type World = Awaited<ReturnType<typeof openWorld>>;

interface Made {
  number: number;
  priority: number;
  /** Null for an open matcher, whose rules have masks of their own. */
  mask: bigint | null;
  matcher: Matcher;
}

const bytesOf = (mask: bigint, value = 0n): ReturnType<typeof dv.matchParameters> =>
  dv.matchParameters({ "outer.dmac": `${macOf(value)}/${macOf(mask)}` }, { root: true });

function matcherFor({ random, root, matchers }: World, mask: bigint): Made {
  const priority = random.below(2);
  const fits = matchers.filter((one) => one.priority === priority && (one.mask === null || one.mask === mask));
  if (fits.length > 0 && random.chance(0.7)) return random.pick(fits);
  const number = matchers.length;
  const open = random.chance(0.3);
  const { match_criteria_enable, mask: bytes } = bytesOf(mask);
  const matcher = open
    ? Matcher.named(root, priority, undefined, `m${number}`)
    : dv.mlx5dv_dr_matcher_create(root, priority, match_criteria_enable, bytes);
  matchers.push({ number, priority, mask: open ? null : mask, matcher });
  return matchers.at(-1);
}

function drawRule(world: World, made: number): { rule: RootRule; of: Made } {
  const { random, reference } = world;
  const id = `r${made}`;
  const twin = random.chance(0.6) ? random.pick([null, ...reference.entries.flat()]) : null;
  const mask = twin?.mask ?? random.pick(MASKS);
  const of =
    twin === null
      ? matcherFor(world, mask)
      : random.pick(
          world.matchers.filter((one) => one.priority === twin.priority && (one.mask === null || one.mask === mask)),
        );
  const value = twin?.value ?? (BASE | BigInt(random.below(32))) & mask;
  const end = random.pick<RootRule["end"]>([
    ...QUEUES.map((queue) => ({ kind: "queue", queue }) as const),
    { kind: "table", table: random.pick(["t", "u"]) },
    random.pick([{ kind: "miss" }, { kind: "drop" }]),
  ]);
  const agreed = twin !== null && random.chance(0.8);
  const changes = end.kind === "drop" ? null : agreed ? twin.changes : random.chance(0.3) ? random.pick(CHANGES) : null;
  const tag = random.chance(0.4) ? random.below(3) : null;
  const counter = random.chance(0.5) ? random.pick(COUNTERS) : null;
  return { rule: { id, made, matcher: of.number, priority: of.priority, mask, value, tag, changes, counter, end }, of };
}

function create(world: World, { rule, of }: ReturnType<typeof drawRule>): boolean {
  const { shared, rules } = world;
  const { id, mask, value, tag, changes, counter, end } = rule;
  const actions = [
    ...(tag === null ? [] : [dv.mlx5dv_dr_action_create_tag(tag)]),
    ...[changes, counter].flatMap((name) => (name === null ? [] : shared.get(name)!)),
    shared.get(end.kind === "queue" ? end.queue : end.kind === "table" ? end.table : end.kind)!,
  ];
  const used = world.device.memoryUsed;
  const refusal = refused(() => {
    const one =
      of.mask === null
        ? Rule.named(of.matcher, { "outer.dmac": `${macOf(value)}/${macOf(mask)}` }, actions, id)
        : dv.mlx5dv_dr_rule_create(of.matcher, bytesOf(mask, value).value, actions.length, actions);
    rules.set(id, one);
  });
  if (refusal !== undefined) {
    expect(refusal).toMatchObject({ code: "EEXIST", reason: "conflicting_rule" });
    expect(world.device.memoryUsed).toBe(used);
  }
  return refusal !== undefined;
}

function frameOf(value: bigint): Uint8Array {
  const frame = ipv4Frame();
  frame.set(Buffer.from(macOf(value).replaceAll(":", ""), "hex"), 0);
  return frame;
}

const names = (list: Outcome["to"]): string[] => list.map(({ name }) => name.replace("qp:", "")).sort();

/** What the reference says of a frame, in the terms of an outcome. */
function expected({ reference }: World, value: bigint): object {
  const found = reference.outcome(value);
  if (found === null) return { verdict: "miss", to: [], copies: [], rules: [], tag: null };
  const { rules, tag, queues, next, drop } = found;
  const [to, copies] = next === null ? [queues, []] : [next === "miss" ? [] : [next], queues];
  const verdict = drop ? "drop" : next === "miss" ? "miss" : "deliver";
  return { verdict, to: to.sort(), copies: copies.sort(), rules, tag: next === "miss" ? null : tag };
}

function checkFrames(world: World, tally: Map<string, number>): void {
  const { random, device, reference, rules, counters } = world;
  const idOf = new Map([...rules].map(([id, rule]) => [rule, id]));
  for (let n = 0; n < 8; n++) {
    const value = BASE | BigInt(random.below(32));
    const before = countsOf(counters);
    const outcome = device.receive(1, frameOf(value));
    const { verdict, to, copies, tag } = outcome;
    const hit = outcome.rules.flatMap((rule) => idOf.get(rule as Rule) ?? []);
    const wanted = expected(world, value);
    expect({ verdict, to: names(to), copies: names(copies), rules: hit, tag: verdict === "miss" ? null : tag }).toEqual(
      wanted,
    );
    const found = reference.outcome(value);
    for (const { frame } of [...to, ...copies])
      expect(frame[22]).toBe((found?.changes ?? null) === null ? 64 : Number(found?.changes?.at(-1)));
    for (const [name, packets] of countsOf(counters))
      expect(packets - before.get(name)!, name).toBe(found?.counters.includes(name) === true ? 1n : 0n);
    const kind = found === null ? "none" : `${found.rules.length > 1 ? "merged" : "alone"} ${verdict}`;
    tally.set(kind, (tally.get(kind) ?? 0) + 1);
  }
}

const countsOf = (counters: World["counters"]): Map<string, bigint> =>
  new Map([...counters].map(([name, counter]) => [name, counter.read(0).packets]));

async function checkViews(world: World, tally: Map<string, number>): Promise<void> {
  const { device, rules, reference, random } = world;
  const { device: copy } = await cloneDevice(device);
  const [tracer, explainer] = [await openTracer(device), await openExplainer(device)];
  const bare = ({ verdict, to, copies, tag, rules: hit }: Outcome): object => ({
    verdict,
    to: names(to),
    copies: names(copies),
    tag,
    rules: hit.map(({ name }) => name),
  });
  const { rules: covered } = await cover(device);
  const value = BASE | BigInt(random.below(32));
  const frame = frameOf(value);
  const hits = new Map([...rules].map(([id, rule]) => [id, rule.hits().packets]));
  const outcome = device.receive(1, frame);
  expect(bare(copy.receive(1, frame))).toEqual(bare(outcome));
  expect(tracer.trace(1, frame).outcome.verdict).toBe(outcome.verdict);
  const found = reference.outcome(value);
  for (const [id, rule] of rules) {
    const isHit = found?.rules.includes(id) === true;
    expect(rule.hits().packets - hits.get(id)!, id).toBe(isHit ? 1n : 0n);
    expect(explainer.why(1, frame, rule).reached, id).toBe(isHit);
  }
  for (const entry of reference.entries) {
    const name = entry.map(({ id }) => rules.get(id)!.name).join(" = ");
    const one = covered.find(({ rule }) => rule.name === name);
    const isHit = Array.from({ length: 32 }, (_, low) => reference.outcome(BASE | BigInt(low))).some(
      (at) => at?.rules[0] === entry[0]!.id,
    );
    // Masks leave bits that these frames do not vary.
    if (isHit) expect(one?.coverage.status, name).toBe("witness");
    const kind = `${entry.length > 1 ? "merged" : "alone"} ${one?.coverage.status}`;
    tally.set(kind, (tally.get(kind) ?? 0) + 1);
  }
}

test(`${ROUNDS} devices`, { timeout: 3_600_000 }, async () => {
  const random = new Random(seedFor("root entries"));
  const tally = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const world = await openWorld(random);
    const { device, reference, rules } = world;
    const empty = device.memoryUsed;
    for (let step = 0; step < STEPS; step++) {
      if (rules.size > 0 && random.chance(0.3)) {
        const id = random.pick([...rules.keys()]);
        dv.mlx5dv_dr_rule_destroy(rules.get(id)!);
        rules.delete(id);
        reference.destroy(id);
      } else {
        const drawn = drawRule(world, step);
        const refusal = create(world, drawn);
        expect(refusal, `${round}.${step}`).toBe(reference.create(drawn.rule));
        tally.set(refusal ? "refused" : "made", (tally.get(refusal ? "refused" : "made") ?? 0) + 1);
      }
      checkFrames(world, tally);
    }
    await checkViews(world, tally);
    for (const rule of rules.values()) dv.mlx5dv_dr_rule_destroy(rule);
    for (const { matcher } of world.matchers) dv.mlx5dv_dr_matcher_destroy(matcher);
    expect(device.memoryUsed).toBe(empty);
  }
  console.log(tally);
  const kinds = [
    "merged deliver",
    "merged drop",
    "merged miss",
    "alone deliver",
    "refused",
    "merged witness",
    "merged none",
  ];
  checkReached(() => expect(kinds.filter((kind) => !tally.has(kind))).toEqual([]));
});
