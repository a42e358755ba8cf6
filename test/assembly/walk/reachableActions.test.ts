/**
 * Reachable actions (docs/frames.md, "Several cores"): each kind at the end of each path. A pool
 * spreads frames if none is reported, so an action that is overlooked would run twice or in another
 * order.
 */
import { beforeEach, describe, expect, test } from "vitest";
import {
  Op,
  QUEUE_READ,
  QUEUE_READY,
  QUEUE_SINK,
  REACHABLE_BUFFERS,
  REACHABLE_CONNECTION,
  REACHABLE_ESP,
  REACHABLE_FLAG,
  REACHABLE_METER,
  REACHABLE_SAMPLER,
  REACHABLE_TRANSPORT,
  TABLE_FDB,
  TABLE_ROOT,
  TABLE_SEND,
  VPORT_UPLINK,
} from "../../../src/abi/engine.js";
import { KEY_SIZE, LAYER_SRC_IPV4 } from "../../../src/abi/key.js";
import {
  SAMPLER_COUNT,
  SAMPLER_FIRST,
  SAMPLER_RATIO,
  SAMPLER_TABLE,
  RSS_MASK,
  RSS_QUEUES,
  RSS_SIZE,
} from "../../../src/abi/state.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { createRecord } from "../../../src/engine/records.js";
import { changeActions, insertRule } from "../../../src/engine/rules.js";

/** Operations and operands in turn. */
type Actions = readonly number[];

let core: Core;
let made: number;
beforeEach(async () => {
  core = await loadOpenCore();
  made = 0;
});

const table = (flags = 0): number => core.exports.createTable(flags) >>> 0;
const reachable = (root: number): number => core.exports.reachable(root);
const queue = (flags: number): number =>
  core.exports.createQueue(flags, core.exports.createCompletionQueue(1), 4) >>> 0;
const sink = (): number => queue(QUEUE_READY | QUEUE_SINK);
const buffers = (): number => queue(QUEUE_READY);
const setFdb = (to: number): void => core.exports.setFdb(to);
const setVport = (vport: number, to: number): void => core.exports.setVport(vport, to);

/** A record with words at byte offsets. */
function record(bytes: number, words: Readonly<Record<number, number>> = {}): number {
  const view = new DataView(new ArrayBuffer(bytes));
  for (const [at, word] of Object.entries(words)) view.setUint32(Number(at), word, true);
  return createRecord(core, new Uint8Array(view.buffer));
}

/** A rule for frames from one address; with `everybody` for all frames. */
function rule(at: number, actions: Actions, from: number | "everybody" = "everybody", rank = 0): number {
  const [mask, value] = [new Uint8Array(KEY_SIZE), new Uint8Array(KEY_SIZE)];
  if (from !== "everybody") {
    mask.fill(0xff, LAYER_SRC_IPV4, LAYER_SRC_IPV4 + 4);
    new DataView(value.buffer).setUint32(LAYER_SRC_IPV4, from);
  }
  const handle = insertRule(core, at, { id: made++, rankHigh: 0, rankLow: rank, mask, value, ranges: [], actions });
  expect(handle).not.toBe(0);
  return handle;
}

function sampler(next: number, actions: Actions): number {
  const words: Record<number, number> = {
    [SAMPLER_RATIO]: 1,
    [SAMPLER_TABLE]: next,
    [SAMPLER_COUNT]: actions.length / 2,
  };
  for (const [n, word] of actions.entries()) words[SAMPLER_FIRST + 4 * n] = word;
  return record(SAMPLER_FIRST + 4 * actions.length, words);
}

/** An array of members without reformats. */
function array(...members: readonly (readonly [op: Op, operand: number])[]): number {
  const words: Record<number, number> = { 0: members.length };
  for (const [n, [op, operand]] of members.entries())
    Object.assign(words, { [8 + 16 * n]: op, [12 + 16 * n]: operand });
  return record(8 + 16 * members.length, words);
}

function spread(...queues: readonly number[]): number {
  const list = record(4 * queues.length, Object.fromEntries(queues.map((one, n) => [4 * n, one])));
  return record(RSS_SIZE, { [RSS_QUEUES]: list, [RSS_MASK]: queues.length - 1 });
}

describe("kinds", () => {
  const state = (op: Op): Actions => [Op.state, 0, op, record(64), Op.drop, 0];
  const cases: Record<string, [actions: () => Actions, expected: number]> = {
    "a meter": [() => state(Op.meter), REACHABLE_METER],
    "a flag": [() => state(Op.first_hit), REACHABLE_FLAG],
    "a connection": [() => state(Op.track), REACHABLE_CONNECTION],
    ESP: [() => [Op.esp, record(256), Op.queue, sink()], REACHABLE_ESP],
    "a sampler": [() => [Op.sampler, sampler(table(), [Op.copy_queue, sink()])], REACHABLE_SAMPLER],
    "a queue with buffers": [() => [Op.queue, buffers()], REACHABLE_BUFFERS],
    "one for frames of others": [() => [Op.queue_from_others, buffers()], REACHABLE_BUFFERS],
    "one that gets a copy": [() => [Op.copy_queue, buffers(), Op.drop, 0], REACHABLE_BUFFERS],
    "one that gets copies of others": [() => [Op.copy_from_others, buffers(), Op.drop, 0], REACHABLE_BUFFERS],
    "a queue that is read": [() => [Op.queue, queue(QUEUE_READY | QUEUE_SINK | QUEUE_READ)], REACHABLE_TRANSPORT],
    "the last queue of several": [() => [Op.rss, spread(sink(), sink(), sink(), buffers())], REACHABLE_BUFFERS],
    "one of several, of a copy": [() => [Op.copy_rss, spread(buffers(), sink()), Op.drop, 0], REACHABLE_BUFFERS],
    "the last member of an array": [
      () => [Op.array, array([Op.queue, sink()], [Op.queue, sink()], [Op.queue, buffers()])],
      REACHABLE_BUFFERS,
    ],
    "queues of a member": [() => [Op.array, array([Op.rss, spread(sink(), buffers())])], REACHABLE_BUFFERS],
    "what a sampler does with samples": [
      () => [Op.sampler, sampler(table(), [Op.count, core.exports.createCounters(1), Op.copy_queue, buffers()])],
      REACHABLE_SAMPLER | REACHABLE_BUFFERS,
    ],
    "several of a rule": [
      () => [...state(Op.meter).slice(0, 4), ...state(Op.track).slice(0, 4), Op.queue, buffers()],
      REACHABLE_METER | REACHABLE_CONNECTION | REACHABLE_BUFFERS,
    ],
  };
  test.each(Object.keys(cases))("%s", (name) => {
    const [actions, expected] = cases[name]!;
    const root = table(TABLE_ROOT);
    expect(reachable(root)).toBe(0);
    const one = rule(root, actions());
    expect([reachable(root), reachable(root)]).toEqual([expected, expected]);
    core.exports.removeRule(one);
    expect(reachable(root)).toBe(0);
  });

  test("actions that all cores do alike are not reported", () => {
    const root = table(TABLE_ROOT);
    const counter = core.exports.createCounters(1);
    rule(root, [Op.tag, 5, Op.count, counter, Op.push_vlan, 0x8100_0005, Op.queue, sink()]);
    rule(root, [Op.pop_vlan, 0, Op.rss, spread(sink(), sink())], 1);
    rule(root, [Op.array, array([Op.queue, sink()], [Op.port, 1], [Op.vport, VPORT_UPLINK])], 2);
    rule(root, [Op.queue, queue(0)], 3);
    rule(root, [Op.default_miss, 0], 4);
    expect(reachable(root)).toBe(0);
  });

  test("queues are what they are now", () => {
    const root = table(TABLE_ROOT);
    const one = queue(0);
    rule(root, [Op.queue, one]);
    expect(reachable(root)).toBe(0);
    core.exports.setQueueFlags(one, QUEUE_READY);
    expect(reachable(root)).toBe(REACHABLE_BUFFERS);
    core.exports.setQueueFlags(one, QUEUE_READY | QUEUE_SINK);
    expect(reachable(root)).toBe(0);
  });
});

/** Each path from a root table to another one. */
describe("paths", () => {
  const ways: Record<string, (root: number, far: number) => unknown> = {
    "a rule": (root, far) => rule(root, [Op.table, far]),
    "a rule behind another": (root, far) => [rule(root, [Op.drop, 0], 7), rule(root, [Op.table, far], 7, 5)],
    "a rule whose actions are others now": (root, far) =>
      expect(changeActions(core, rule(root, [Op.drop, 0]), [Op.table, far])).toBe(true),
    "two tables": (root, far) => {
      const between = table();
      rule(root, [Op.table, between]);
      rule(between, [Op.table, far], 5);
    },
    "a circle of tables": (root, far) => {
      const [one, other] = [table(), table()];
      rule(root, [Op.table, one]);
      rule(one, [Op.table, other]);
      rule(other, [Op.table, one], 3);
      rule(other, [Op.table, root], 4);
      rule(other, [Op.table, far], 5);
    },
    "a miss": (root, far) => core.exports.setMiss(root, far),
    "a miss beside rules": (root, far) => {
      rule(root, [Op.drop, 0]);
      core.exports.setMiss(root, far);
    },
    "misses of tables without rules": (root, far) => {
      const between = [table(), table(), table()];
      for (const [n, one] of [root, ...between].entries()) core.exports.setMiss(one, between[n] ?? far);
    },
    "a rank of a table": (root, far) => rule(root, [Op.root, record(8, { 0: far, 4: 1 })]),
    "a member of an array": (root, far) => rule(root, [Op.array, array([Op.port, 1], [Op.table, far])]),
    "a function": (root, far) => {
      setVport(3, far);
      rule(root, [Op.vport, 3]);
    },
    "a function, of a member": (root, far) => {
      setVport(255, far);
      rule(root, [Op.array, array([Op.vport, 255])]);
    },
    "a sampler's frames": (root, far) => rule(root, [Op.sampler, sampler(far, [Op.copy_queue, sink()])]),
    "a sampler's samples": (root, far) => rule(root, [Op.sampler, sampler(table(), [Op.table, far])]),
    "a sampler's samples at a function": (root, far) => {
      setVport(1, far);
      rule(root, [Op.sampler, sampler(table(), [Op.vport, 1])]);
    },
  };
  test.each(Object.keys(ways))("%s", (name) => {
    const [root, far] = [table(TABLE_ROOT), table()];
    rule(far, [Op.state, 0, Op.meter, record(64), Op.drop, 0], 9);
    const passes = name.includes("sampler") ? REACHABLE_SAMPLER : 0;
    expect([reachable(root), reachable(far)]).toEqual([0, REACHABLE_METER]);
    ways[name]!(root, far);
    for (let n = 0; n < 2; n++)
      expect([reachable(root), reachable(far)]).toEqual([REACHABLE_METER | passes, REACHABLE_METER]);
  });

  test("each of many rules", () => {
    const [root, far] = [table(TABLE_ROOT), table()];
    rule(far, [Op.state, 0, Op.meter, record(64), Op.drop, 0]);
    const rules = Array.from({ length: 500 }, (_, n) => rule(root, [Op.drop, 0], n));
    for (const one of rules) {
      expect(changeActions(core, one, [Op.table, far])).toBe(true);
      expect(reachable(root)).toBe(REACHABLE_METER);
      expect(changeActions(core, one, [Op.drop, 0])).toBe(true);
      expect(reachable(root)).toBe(0);
    }
  });

  test("out of the eSwitch by default: to the manager", () => {
    const [fdb, behind, manager] = [table(TABLE_ROOT | TABLE_FDB), table(TABLE_FDB), table(TABLE_ROOT)];
    rule(manager, [Op.state, 0, Op.first_hit, record(64), Op.drop, 0]);
    const received = table(TABLE_ROOT);
    rule(received, [Op.drop, 0]);
    setVport(0, manager);
    setFdb(fdb);
    expect([fdb, behind, manager, received].map(reachable)).toEqual([
      REACHABLE_FLAG,
      REACHABLE_FLAG,
      REACHABLE_FLAG,
      0,
    ]);
    rule(received, [Op.table, behind], 5);
    expect(reachable(received)).toBe(REACHABLE_FLAG);
  });

  test("what is sent: to the eSwitch where there is one, and to the manager", () => {
    const [sent, fdb, manager, one] = [TABLE_ROOT | TABLE_SEND, TABLE_ROOT | TABLE_FDB, TABLE_ROOT, TABLE_ROOT].map(
      table,
    );
    rule(fdb!, [Op.vport, 1]);
    rule(one!, [Op.state, 0, Op.meter, record(64), Op.drop, 0]);
    setVport(1, one!);
    expect(reachable(sent!)).toBe(0);
    setFdb(fdb!);
    expect(reachable(sent!)).toBe(REACHABLE_METER);
    setFdb(0);
    expect(reachable(sent!)).toBe(0);
    rule(manager!, [Op.queue, buffers()]);
    setVport(0, manager!);
    expect(reachable(sent!)).toBe(REACHABLE_BUFFERS);
  });

  test("unreachable tables and functions do not count", () => {
    const [root, other] = [table(TABLE_ROOT), table()];
    rule(other, [Op.state, 0, Op.meter, record(64), Op.drop, 0]);
    for (const vport of [0, 1]) setVport(vport, other);
    rule(root, [Op.vport, VPORT_UPLINK]);
    rule(root, [Op.port, 1], 4);
    core.exports.setMiss(other, root);
    expect([reachable(root), reachable(other)]).toEqual([0, REACHABLE_METER]);
  });
});
