/** Queues that take frames, reasons of those that do not, and columns of outcomes. */
import { expect, it, beforeEach } from "vitest";
import {
  Area,
  COLUMN_DESTINATIONS,
  COLUMN_HITS,
  COLUMN_KIND,
  COLUMN_QUEUE,
  COLUMN_REASON,
  COLUMN_RULE,
  COLUMN_TAG,
  COLUMN_TAGGED,
  COLUMN_VERDICT,
  HITS_PER_FRAME,
  NO_RULE,
  Op,
  QUEUE_READ,
  QUEUE_READY,
  QUEUE_SINK,
  SOME_AT_HOST,
  SOME_AT_PORT,
  TABLE_ROOT,
} from "../../../src/abi/engine.js";
import {
  DEST_COPY,
  DEST_PORT,
  DEST_SWITCHED,
  OUTCOME_HITS,
  OUTCOME_SIZE,
  Reason,
  Verdict,
} from "../../../src/abi/outcome.js";
import { Link } from "../../../src/abi/headers.js";
import { Batch } from "../../../src/engine/batch.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { insertRule } from "../../../src/engine/rules.js";
import { matchOf } from "../../../src/model/match/match.js";

const FRAME = new Uint8Array(60);
const ALL = matchOf("m", {});

let core: Core;
let batch: Batch;
let root: number;

beforeEach(async () => {
  core = await loadOpenCore();
  batch = new Batch(core);
  root = core.exports.createTable(TABLE_ROOT) >>> 0;
});

function rule(id: number, actions: number[], rankLow = 0): void {
  const { value, mask, ranges } = ALL;
  expect(insertRule(core, root, { id, rankHigh: 0, rankLow, mask, value, ranges, actions })).not.toBe(0);
}

function steer(count = 1): void {
  batch.clear();
  for (let n = 0; n < count; n++) batch.put(FRAME, FRAME.length, 1, Link.ethernet);
  batch.steer(root);
}

function column(offset: number, bytes: 1 | 2 | 4, row = 0): number {
  const at = (core.exports.areaAddress(Area.columns) >>> 0) + offset + bytes * row;
  return core.u8.subarray(at, at + bytes).reduceRight((value, byte) => value * 256 + byte, 0);
}

/** Buffers are taken in order, from a ring that ends at its depth. */
it.each([1, 2, 4, 8])("a queue of depth %i has as many buffers, each with its own length", (depth) => {
  const completions = core.exports.createCompletionQueue(64) >>> 0;
  const queue = core.exports.createQueue(QUEUE_READY, completions, depth) >>> 0;
  const guard = core.exports.createCounters(1) >>> 0;
  rule(1, [Op.queue, queue]);
  for (let round = 0; round < 3; round++) {
    const lengths = Array.from({ length: depth }, (_, n) => (n === round % depth ? FRAME.length : FRAME.length - 1));
    for (const length of lengths) core.exports.postBuffer(queue, length);
    steer(depth + 1);
    for (const [n, length] of lengths.entries()) {
      const status = length === FRAME.length ? Reason.none : Reason.receive_buffer_too_short;
      expect(batch.statusOf(batch.firstDestination(n))).toBe(status);
      expect(batch.arrivalAt(batch.firstDestination(n)).request).toBe(round * depth + n);
    }
    expect(batch.reason(depth)).toBe(Reason.no_receive_buffer);
    expect(core.u64(guard)).toBe(0n);
  }
});

it("a queue in the memory of a destroyed one begins empty, and so does a completion queue", () => {
  for (let round = 0; round < 3; round++) {
    const completions = core.exports.createCompletionQueue(1) >>> 0;
    const queue = core.exports.createQueue(QUEUE_READY, completions, 4) >>> 0;
    rule(round, [Op.queue, queue], 9 - round);
    steer();
    expect(batch.reason(0)).toBe(Reason.no_receive_buffer);
    core.exports.postBuffer(queue, FRAME.length);
    core.exports.postBuffer(queue, FRAME.length);
    steer(2);
    expect([batch.verdict(0), batch.reason(1)]).toEqual([Verdict.deliver, Reason.completion_queue_full]);
    core.exports.takeCompletions(completions, 1);
    steer();
    expect(batch.verdict(0)).toBe(Verdict.deliver);
    core.exports.destroyQueue(queue);
    core.exports.destroyCompletionQueue(completions);
  }
});

it("each queue that does not take a frame counts once", () => {
  const ready = core.exports.createQueue(QUEUE_READY | QUEUE_SINK, 0, 0) >>> 0;
  const closed = core.exports.createQueue(QUEUE_SINK, 0, 0) >>> 0;
  const counted = (actions: number[]): [number, number, bigint] => {
    rule(1, actions, 1000 - rules++);
    const before = batch.reasons()[Reason.queue_not_ready]!;
    steer();
    return [batch.verdict(0), batch.reason(0), batch.reasons()[Reason.queue_not_ready]! - before];
  };
  let rules = 0;
  const [drop, not] = [Verdict.drop, Reason.queue_not_ready];
  expect(counted([Op.queue, closed])).toEqual([drop, not, 1n]);
  expect(counted([Op.queue, closed, Op.queue, ready])).toEqual([Verdict.deliver, Reason.none, 1n]);
  expect(counted([Op.queue, ready, Op.queue, closed])).toEqual([Verdict.deliver, Reason.none, 1n]);
  expect(counted([Op.queue, closed, Op.queue, closed])).toEqual([drop, not, 2n]);
  expect(counted([Op.copy_queue, closed, Op.queue, ready])).toEqual([Verdict.deliver, Reason.none, 1n]);
  expect(counted([Op.copy_queue, ready, Op.queue, closed])).toEqual([drop, not, 1n]);
  expect(counted([Op.queue, closed, Op.copy_queue, closed, Op.queue, closed])).toEqual([drop, not, 3n]);
  expect(counted([Op.queue, closed, Op.port, 2])).toEqual([Verdict.forward, Reason.none, 1n]);
});

it("columns say what each outcome says", () => {
  const served = core.exports.createQueue(QUEUE_READY | QUEUE_SINK | QUEUE_READ, 0, 0) >>> 0;
  const sink = core.exports.createQueue(QUEUE_READY | QUEUE_SINK, 0, 0) >>> 0;
  const closed = core.exports.createQueue(QUEUE_SINK, 0, 0) >>> 0;
  let rank = 1000;
  const seen = (actions: number[]): number[] => {
    rule(rank, actions, rank);
    rank--;
    steer(2);
    const some = core.exports.writeColumns(2);
    expect(column(COLUMN_RULE, 4, 1)).toBe(rank + 1);
    const whole = [COLUMN_QUEUE, COLUMN_TAG].map((offset) => column(offset, 4, 1));
    const bytes = [COLUMN_HITS, COLUMN_VERDICT, COLUMN_REASON, COLUMN_TAGGED, COLUMN_KIND];
    return [some, ...whole, column(COLUMN_DESTINATIONS, 2, 1), ...bytes.map((offset) => column(offset, 1, 1))];
  };
  const { deliver, forward, drop } = Verdict;
  expect(seen([Op.queue, sink])).toEqual([0, sink, 0, 1, 1, deliver, 0, 0, 0]);
  expect(seen([Op.queue, served])).toEqual([SOME_AT_HOST, served, 0, 1, 1, deliver, 0, 0, 0]);
  expect(seen([Op.tag, 7, Op.queue, sink])).toEqual([0, sink, 7, 1, 1, deliver, 0, 1, 0]);
  expect(seen([Op.port, 2])).toEqual([SOME_AT_PORT, 2, 0, 1, 1, forward, 0, 0, DEST_PORT | DEST_SWITCHED]);
  expect(seen([Op.copy_queue, served, Op.port, 2])).toEqual([
    SOME_AT_HOST | SOME_AT_PORT,
    ...[served, 0, 2, 1, forward, 0, 0, DEST_COPY],
  ]);
  expect(seen([Op.queue, closed, Op.queue, sink])).toEqual([0, sink, 0, 1, 1, deliver, 0, 0, 0]);
  expect(seen([Op.queue, sink, Op.queue, closed])).toEqual([0, sink, 0, 1, 1, deliver, 0, 0, 0]);
  expect(seen([Op.queue, closed])).toEqual([0, 0, 0, 0, 1, drop, Reason.queue_not_ready, 0, 0]);
});

it("the column of rules names the last one, or none", () => {
  steer(2);
  core.exports.writeColumns(2);
  expect([column(COLUMN_RULE, 4, 0), column(COLUMN_HITS, 1, 0)]).toEqual([NO_RULE, 0]);
  const view = new DataView(core.exports.memory.buffer);
  for (const hits of [1, 2, HITS_PER_FRAME]) {
    for (let n = 0; n < hits; n++) view.setUint32(core.hits + 4 * (HITS_PER_FRAME + n), 100 + n, true);
    view.setUint16(core.outcomes + OUTCOME_SIZE + OUTCOME_HITS, hits, true);
    core.exports.writeColumns(2);
    expect([column(COLUMN_RULE, 4, 1), column(COLUMN_HITS, 1, 1)]).toEqual([99 + hits, hits]);
  }
});
