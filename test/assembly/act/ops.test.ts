/**
 * Operations of the core: random tables of rules with every operation, held to a plain reading of them (assembly/act/support/ops.ts). Frames
 * come in, are sent, and are looped back; rules get other actions; queues have few buffers.
 */
import { expect, test } from "vitest";
import {
  DESTINATIONS_PER_FRAME,
  HITS_PER_FRAME,
  HOP_LIMIT,
  MISS_LIMIT,
  Op,
  QUEUE_READY,
  QUEUE_SINK,
  RANK_SLOT,
  TABLE_ROOT,
  TABLE_SEND,
  TABLE_TO_STAGE,
  VPORT_MANAGER,
} from "../../../src/abi/engine.js";
import { DEST_PORT, Reason, REASON_COUNT, Verdict } from "../../../src/abi/outcome.js";
import { Link } from "../../../src/abi/headers.js";
import { Batch } from "../../../src/engine/batch.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { changeActions, insertRule } from "../../../src/engine/rules.js";
import { matchOf } from "../../../src/model/match/match.js";
import { Random } from "../../oracle/generate/random.js";
import { runPlain, type PlainOutcome, type PlainRule, type PlainTable, type PlainWorld } from "./support/ops.js";
import { seedFor } from "../support/core.js";
import { checkReached, rounds } from "../../support/tier.js";

const WORLDS = rounds(300);
const TABLES = 5;
const QUEUES = 6;
const COUNTERS = 3;
/** Ports tell frames apart. */
const PORTS = 8;
const FRAME = new Uint8Array(60);
const NONE: number = Reason.none;

interface World extends PlainWorld {
  core: Core;
  handles: number[];
  list: PlainTable[];
  rules: Map<PlainRule, number>;
  queues: number[];
  counterHandles: number[];
}

async function makeWorld(random: Random): Promise<World> {
  const core = await loadOpenCore();
  const list: PlainTable[] = Array.from({ length: TABLES }, () => {
    const root = random.chance(0.5);
    return { root, send: root && random.chance(0.3), rules: [], next: null };
  });
  const handles = list.map(({ root, send }) => {
    return core.exports.createTable((root ? TABLE_ROOT : 0) | (send ? TABLE_SEND : 0)) >>> 0;
  });
  for (const [i, table] of list.entries()) {
    if (!table.root || i + 1 === TABLES || random.chance(0.3)) continue;
    const next = random.between(i + 1, TABLES - 1);
    table.next = list[next]!;
    core.exports.setMiss(handles[i]!, handles[next]!);
  }
  const completions = core.exports.createCompletionQueue(2 ** 20) >>> 0;
  const left = new Map<number, number>();
  const queues = Array.from({ length: QUEUES }, (_, i) => {
    if (i > 1) return core.exports.createQueue((i === 2 ? 0 : QUEUE_READY) | QUEUE_SINK, 0, 0) >>> 0;
    const queue = core.exports.createQueue(QUEUE_READY, completions, 512) >>> 0;
    const buffers = random.below(100);
    for (let n = 0; n < buffers; n++) core.exports.postBuffer(queue, FRAME.length);
    left.set(queue, buffers);
    return queue;
  });
  return {
    core,
    handles,
    list,
    tables: new Map(handles.map((handle, i) => [handle, list[i]!])),
    rules: new Map(),
    queues,
    counterHandles: Array.from({ length: COUNTERS }, () => core.exports.createCounters(1) >>> 0),
    counters: new Map(),
    reasons: Array.from({ length: REASON_COUNT }, () => 0),
    take(queue) {
      if (queue === queues[2]) return Reason.queue_not_ready;
      const buffers = left.get(queue);
      if (buffers === undefined) return Reason.none;
      if (buffers === 0) return Reason.no_receive_buffer;
      left.set(queue, buffers - 1);
      return Reason.none;
    },
  };
}

/** Tag, counters, copies; then what the frame does, which is one thing. */
function randomActions(world: World, random: Random): PlainRule["actions"] {
  const actions: PlainRule["actions"] = [];
  const some = (most: number, op: () => Op, operand: () => number): void => {
    for (let n = random.below(most + 1); n > 0; n--) actions.push([op(), operand()]);
  };
  const queue = (): number => random.pick(world.queues);
  some(
    1,
    () => Op.tag,
    () => random.below(2 ** 24),
  );
  for (let n = random.below(3); n > 0; n--) {
    if (random.chance(0.4)) actions.push([Op.not_for, queue()]);
    actions.push([Op.count, random.pick(world.counterHandles)]);
  }
  if (random.chance(0.1)) actions.push([Op.untag, 0]);
  some(
    1,
    () => Op.none,
    () => 0,
  );
  const copies = random.chance(0.2) ? 100 : random.chance(0.5) ? 2 : 0;
  some(copies, () => random.pick([Op.copy_queue, Op.copy_from_others, Op.copy_from_others]), queue);
  switch (random.below(8)) {
    case 0:
      actions.push([Op.drop, random.chance(0.5) ? 0 : queue()]);
      break;
    case 1:
      actions.push([Op.default_miss, 0]);
      break;
    case 2:
      actions.push([Op.table, random.pick(world.handles)]);
      break;
    case 3:
    case 4:
      actions.push([Op.resume, 0]);
      break;
    case 5:
      actions.push([Op.pass, 0]);
      break;
    default:
      some(random.chance(0.1) ? 20 : 3, () => random.pick([Op.queue, Op.queue_from_others]), queue);
  }
  return actions;
}

function addRule(world: World, random: Random, id: number): void {
  const at = random.below(TABLES);
  const slot = random.below(6);
  const rank = (BigInt(slot) << BigInt(RANK_SLOT)) | (BigInt(random.below(100)) << 31n) | BigInt(id);
  const mask = random.pick([0, 0, 1, 2, 4, 7]);
  const rule: PlainRule = { id, rank, mask, value: random.below(PORTS), actions: randomActions(world, random) };
  const match = matchOf("match", mask === 0 ? {} : { "ext.port": `${rule.value & mask}/${mask}` });
  const words = { rankHigh: Number(rank >> 32n), rankLow: Number(rank & 0xffffffffn) };
  const handle = insertRule(world.core, world.handles[at]!, { id, ...words, ...match, actions: rule.actions.flat() });
  expect(handle).not.toBe(0);
  world.list[at]!.rules.push(rule);
  world.rules.set(rule, handle);
}

function outcomeOf(batch: Batch, i: number): PlainOutcome {
  const destinations: PlainOutcome["destinations"] = [];
  let at = batch.firstDestination(i);
  for (let n = 0; n < batch.destinations(i); n++, at = batch.nextDestination(at)) {
    const status = batch.statusOf(at);
    const port = (batch.flagsOf(at) & DEST_PORT) !== 0;
    destinations.push({ queue: batch.queueOf(at), port, copy: batch.isCopy(at), tag: batch.tagOf(at), status });
  }
  const hits = Array.from({ length: batch.hits(i) }, (_, n) => batch.hit(i, n));
  return { verdict: batch.verdict(i), reason: batch.reason(i), tag: batch.tag(i), hits, destinations };
}

/** A single frame that a queue has refused lists nothing. */
function asListed(outcome: PlainOutcome): PlainOutcome {
  const [only, second] = outcome.destinations;
  const alone = only !== undefined && second === undefined && !only.copy;
  return alone && only.status !== NONE ? { ...outcome, destinations: [] } : outcome;
}

test(`${WORLDS} random worlds`, async () => {
  const random = new Random(seedFor("ops"));
  const seen = new Map<string, number>();
  const see = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  for (let n = 0; n < WORLDS; n++) {
    const world = await makeWorld(random);
    const batch = new Batch(world.core);
    const empty = world.core.exports.arenaUsed();
    let id = 0;
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 20; i++) addRule(world, random, id++);
      for (const [rule, handle] of world.rules) {
        if (!random.chance(0.2)) continue;
        rule.actions = randomActions(world, random);
        expect(changeActions(world.core, handle, rule.actions.flat())).toBe(true);
      }
      const sender = random.chance(0.4) ? random.pick(world.queues) : 0;
      const at = random.below(TABLES);
      batch.clear();
      const ports = Array.from({ length: 40 }, () => random.below(PORTS));
      for (const port of ports) batch.put(FRAME, FRAME.length, port, Link.ethernet, VPORT_MANAGER);
      if (sender === 0) batch.steer(world.handles[at]!);
      else batch.loopBack(world.handles[at]!, sender);
      for (const [i, port] of ports.entries()) {
        const wanted = runPlain(world, world.list[at]!, port, sender);
        const [ours, plain] = [outcomeOf(batch, i), asListed(wanted)];
        if (JSON.stringify(ours) !== JSON.stringify(plain)) expect(ours).toEqual(plain);
        see(`${Verdict[wanted.verdict]} ${Reason[wanted.reason]}`);
        if (wanted.destinations.length === DESTINATIONS_PER_FRAME) see("as many destinations as there can be");
        if (wanted.destinations.some(({ copy }) => copy) && wanted.verdict === (Verdict.deliver as number))
          see("copy and original");
        if (wanted.hits.length > HOP_LIMIT + 1) see("hits of other tables besides those of all hops");
      }
    }
    const counted = batch.reasons().map(Number);
    expect(counted.slice(1)).toEqual(world.reasons.slice(1));
    for (const handle of world.counterHandles) {
      expect(Number(world.core.u64(handle))).toBe(world.counters.get(handle) ?? 0);
    }
    for (const handle of world.rules.values()) world.core.exports.removeRule(handle);
    expect(world.core.exports.arenaUsed()).toBe(empty);
  }
  console.log([...seen].map(([what, count]) => `${what} ${count}`).join(", "));
  checkReached(() => expect([...seen.keys()].sort()).toEqual([...CASES].sort()));
});

const CASES = [
  "as many destinations as there can be",
  "copy and original",
  "deliver none",
  "drop copy_limit",
  "drop default_miss",
  "drop drop_action",
  "drop hop_limit",
  "drop no_destination",
  "drop no_receive_buffer",
  "drop queue_not_ready",
  "drop table_miss",
  "hits of other tables besides those of all hops",
  "miss default_miss",
  "miss no_rule",
  "miss none",
  "transmit none",
];

/** A core with one table and one rule for every frame. */
async function oneRule(actions: number[]): Promise<{ core: Core; batch: Batch; table: number; rule: number }> {
  const core = await loadOpenCore();
  const table = core.exports.createTable(TABLE_ROOT) >>> 0;
  const match = matchOf("match", {});
  const rule = insertRule(core, table, { id: 0, rankHigh: 0, rankLow: 0, ...match, actions });
  const batch = new Batch(core);
  batch.put(FRAME, FRAME.length, 1, Link.ethernet);
  return { core, batch, table, rule };
}

test("pass_chain goes past the tables of its misses, to the stage, without a tag", async () => {
  const { core, batch, table } = await oneRule([Op.tag, 5, Op.pass_chain, 0]);
  const match = matchOf("match", {});
  const [middle, last, stage] = [TABLE_ROOT, TABLE_ROOT | TABLE_TO_STAGE, TABLE_ROOT].map(
    (flags) => core.exports.createTable(flags) >>> 0,
  ) as [number, number, number];
  const queue = core.exports.createQueue(QUEUE_READY | QUEUE_SINK, 0, 0) >>> 0;
  const add = (to: number, id: number, actions: number[]): number =>
    insertRule(core, to, { id, rankHigh: 0, rankLow: 0, ...match, actions });
  const drops = [middle, last].map((to, n) => add(to, 1 + n, [Op.drop, 0]));
  add(stage, 3, [Op.queue, queue]);
  for (const [from, to] of [
    [table, middle],
    [middle, last],
    [last, stage],
  ] as const) {
    core.exports.setMiss(from, to);
  }
  batch.steer(table);
  expect([batch.verdict(0), batch.tag(0), batch.hits(0)]).toEqual([Verdict.deliver, -1, 2]);
  // A miss meets the tables in between, and loses the tag behind the last one.
  for (const rule of drops) core.exports.removeRule(rule);
  const first = core.exports.createTable(TABLE_ROOT) >>> 0;
  add(first, 4, [Op.tag, 5, Op.table, middle]);
  batch.steer(first);
  expect([batch.verdict(0), batch.tag(0), batch.hits(0)]).toEqual([Verdict.deliver, -1, 2]);
});

test("as many hits as there is room for, and no more", async () => {
  const { core, batch, table } = await oneRule([Op.pass, 0]);
  const match = matchOf("match", {});
  let before = table;
  for (let n = 1; n <= MISS_LIMIT + 2; n++) {
    const next = core.exports.createTable(TABLE_ROOT) >>> 0;
    const actions = n === MISS_LIMIT ? [Op.table, next] : [Op.pass, 0];
    insertRule(core, next, { id: n, rankHigh: 0, rankLow: 0, ...match, actions });
    core.exports.setMiss(before, next);
    before = next;
  }
  batch.steer(table);
  expect(batch.hits(0)).toBe(HITS_PER_FRAME);
  expect([batch.verdict(0), batch.reason(0)]).toEqual([Verdict.drop, Reason.hop_limit]);
  // A table whose misses are its own: the chain ends, whatever the host has linked.
  core.exports.setMiss(table, table);
  batch.steer(table);
  expect(batch.hits(0)).toBe(MISS_LIMIT + 1);
  expect([batch.verdict(0), batch.reason(0)]).toEqual([Verdict.miss, Reason.no_rule]);
});

test("one rule too many ends a frame; that none is left does not", async () => {
  const core = await loadOpenCore();
  const table = core.exports.createTable(TABLE_ROOT) >>> 0;
  const behind = core.exports.createTable(TABLE_ROOT) >>> 0;
  const match = matchOf("match", {});
  const batch = new Batch(core);
  batch.put(FRAME, FRAME.length, 1, Link.ethernet);
  const add = (into: number, slot: number, actions: number[]): number => {
    const rankHigh = (slot << (RANK_SLOT - 32)) >>> 0;
    return insertRule(core, into, { id: slot, rankHigh, rankLow: 0, ...match, actions });
  };
  const came = (): number[] => {
    batch.steer(table);
    return [batch.hits(0), batch.verdict(0), batch.reason(0)];
  };
  for (let slot = 0; slot <= HOP_LIMIT; slot++) add(table, slot, [Op.resume, 0]);
  expect(came()).toEqual([HOP_LIMIT + 1, Verdict.miss, Reason.no_rule]);
  // What comes behind the table is another's, and still takes the frame; but it goes nowhere from there.
  core.exports.setMiss(table, behind);
  const drop = add(behind, 0, [Op.drop, 0]);
  expect(came()).toEqual([HOP_LIMIT + 2, Verdict.drop, Reason.drop_action]);
  changeActions(core, drop, [Op.table, table]);
  expect(came()).toEqual([HOP_LIMIT + 2, Verdict.drop, Reason.hop_limit]);
  changeActions(core, drop, [Op.resume, 0]);
  expect(came()).toEqual([HOP_LIMIT + 2, Verdict.miss, Reason.no_rule]);
  add(table, HOP_LIMIT + 1, [Op.drop, 0]);
  expect(came()).toEqual([HOP_LIMIT + 1, Verdict.drop, Reason.hop_limit]);
});

test("a batch in which every frame has all the destinations there can be", async () => {
  const { core, batch, table, rule } = await oneRule([]);
  const queue = core.exports.createQueue(QUEUE_READY | QUEUE_SINK, 0, 0) >>> 0;
  const copies = Array.from({ length: DESTINATIONS_PER_FRAME }, () => [Op.copy_queue, queue]).flat();
  expect(changeActions(core, rule, copies)).toBe(true);
  while (batch.put(FRAME, FRAME.length, 1, Link.ethernet) >= 0);
  for (let round = 0; round < 2; round++) {
    batch.steer(table);
    for (let i = 0; i < batch.count; i++) expect(batch.destinations(i)).toBe(DESTINATIONS_PER_FRAME);
    expect(batch.reasons()[Reason.copy_limit]).toBe(0n);
  }
});

test("actions change all or not at all, and fewer never fail", async () => {
  const list = (length: number, tag: number): number[] => Array.from({ length }, () => [Op.tag, tag]).flat();
  for (const had of [0, 1, 2, 5, 100]) {
    for (const count of [0, 1, 2, 5, 100]) {
      const { core, batch, table, rule } = await oneRule(list(had, 7));
      const used = core.exports.arenaUsed();
      // All that is there is taken: no block is left for anybody.
      core.exports.limitArena(used);
      for (let size = 64; size > 0; size--) while (core.exports.createCounters(size) !== 0);
      const full = core.exports.arenaUsed();
      const changed = changeActions(core, rule, list(count, 9));
      expect(changed).toBe(count <= Math.max(had, 1));
      if (count >= had) expect(core.exports.arenaUsed()).toBe(full);
      batch.steer(table);
      const [tag, length] = changed ? [9, count] : [7, had];
      expect(batch.tag(0)).toBe(length === 0 ? -1 : tag);
      core.exports.limitArena(2 ** 31);
      expect(changeActions(core, rule, list(count, 11))).toBe(true);
      batch.steer(table);
      expect(batch.tag(0)).toBe(count === 0 ? -1 : 11);
      core.exports.removeRule(rule);
    }
  }
});
