/** Operations that remember: what they put into registers, and that a batch does what its frames do one by one. */
import { expect, test } from "vitest";
import { COLOUR_UNDEFINED, FIRST_HIT_SET, Op, QUEUE_READY, QUEUE_SINK } from "../../../src/abi/engine.js";
import { Verdict } from "../../../src/abi/outcome.js";
import {
  METER_ACTIVE,
  METER_CBS,
  METER_CIR,
  METER_CIR_EXPONENT,
  METER_COMMITTED,
  METER_EBS,
  METER_EXCESS,
  METER_FLAGS,
  METER_MODE,
  METER_OVERFLOW,
  METER_SIZE,
  SAMPLER_COUNT,
  SAMPLER_FIRST,
  SAMPLER_NUMBER,
  SAMPLER_RATIO,
  SAMPLER_TABLE,
} from "../../../src/abi/state.js";
import { Link } from "../../../src/abi/headers.js";
import { Batch } from "../../../src/engine/batch.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { createRecord } from "../../../src/engine/records.js";
import { insertRule } from "../../../src/engine/rules.js";
import { matchOf } from "../../../src/model/match/match.js";

const GREEN = 2;

async function open(): Promise<{ core: Core; root: number; next: number; queue: number; batch: Batch }> {
  const core = await loadOpenCore();
  const [root, next] = [core.exports.createTable(1) >>> 0, core.exports.createTable(0) >>> 0];
  const queue = core.exports.createQueue(QUEUE_READY | QUEUE_SINK, 0, 0) >>> 0;
  return { core, root, next, queue, batch: new Batch(core) };
}

function rule(core: Core, table: number, id: number, actions: number[], fields = {}): void {
  const match = matchOf("match", fields);
  expect(insertRule(core, table, { id, rankHigh: 0, rankLow: id, ...match, actions })).not.toBe(0);
}

/** A meter of mode 1 (bytes on the wire), its buckets full. */
function meterOf(core: Core, cbs: number, ebs: number): number {
  const record = new DataView(new ArrayBuffer(METER_SIZE));
  record.setUint8(METER_MODE, 1);
  record.setUint8(METER_FLAGS, METER_ACTIVE | METER_OVERFLOW);
  // One unit in two nanoseconds.
  record.setUint8(METER_CIR, 1);
  record.setUint8(METER_CIR_EXPONENT, 1);
  for (const [at, size] of [
    [METER_CBS, cbs],
    [METER_COMMITTED, cbs],
    [METER_EBS, ebs],
    [METER_EXCESS, ebs],
  ] as const)
    record.setBigUint64(at, BigInt(size), true);
  return createRecord(core, new Uint8Array(record.buffer));
}

function put(batch: Batch, length: number, time: bigint): void {
  batch.put(new Uint8Array(length), length, 1, Link.ethernet);
  batch.stamp(time);
}

test("a meter colours by its buckets and the time", async () => {
  const { core, root, next, queue, batch } = await open();
  rule(core, root, 1, [Op.state, 2, Op.meter, meterOf(core, 200, 100), Op.table, next]);
  for (const [colour, id] of [
    ["0/0xff", 10],
    [1, 11],
    [2, 12],
  ] as const)
    rule(core, next, id, [Op.queue, queue], { "misc2.metadata_reg_c_2": colour });
  const frames: [length: number, time: bigint, colour: number][] = [
    [100, 0n, 2],
    [100, 0n, 2],
    [100, 0n, 1],
    [60, 0n, 0],
    // 120 units, of which 100 fit; then 20 for the excess bucket of 100.
    [100, 240n, 2],
    [60, 240n, 0],
    // All of both buckets again; a clock that goes back fills nothing.
    [200, 10_000n, 2],
    [100, 9_000n, 1],
    [60, 9_999n, 0],
  ];
  // The third column is the colour where the start colour is green.
  batch.clear();
  for (const [length, time] of frames) put(batch, length, time);
  batch.steer(root);
  const seen = frames.map((_, i) => (batch.hits(i) === 2 ? batch.hit(i, 1) - 10 : -1));
  // The start colour of a state operation that says none is red.
  expect(seen).toEqual(frames.map(() => 0));
  expect(batch.verdict(0)).toBe(Verdict.deliver);

  const other = core.exports.createTable(1) >>> 0;
  rule(core, other, 2, [Op.state, 2 | (GREEN << 8), Op.meter, meterOf(core, 200, 100), Op.table, next]);
  batch.clear();
  for (const [length, time] of frames) put(batch, length, time);
  batch.steer(other);
  expect(frames.map((_, i) => batch.hit(i, 1) - 10)).toEqual([2, 2, 1, 0, 2, 0, 2, 1, 0]);
  expect(frames.map((_, i) => batch.register(i, 2))).toEqual([2, 2, 1, 0, 2, 0, 2, 1, 0]);
});

test("a meter without a start colour goes by the register", async () => {
  const { core, root, queue, batch } = await open();
  const undefinedColour = 3 | (COLOUR_UNDEFINED << 8);
  const meters = [meterOf(core, 100, 0), meterOf(core, 1000, 1000)] as const;
  const chained = [Op.state, undefinedColour, Op.meter, meters[0], Op.state, undefinedColour, Op.meter, meters[1]];
  rule(core, root, 1, [...chained, Op.queue, queue]);
  batch.clear();
  for (let n = 0; n < 2; n++) put(batch, 80, 5n);
  batch.steer(root);
  // The second one is red at the first meter, and stays it.
  expect([batch.register(0, 3), batch.register(1, 3)]).toEqual([2, 0]);
  expect(batch.written(0)).toBe(1 << 3);
});

test("a first hit is told once", async () => {
  const { core, root, queue, batch } = await open();
  const flags = createRecord(core, Uint8Array.of(0b0100_0000));
  const told = (bit: number, flag: number): number[] => [Op.state, 1 | (flag << 8) | (bit << 16), Op.first_hit, flags];
  rule(core, root, 1, [...told(2, FIRST_HIT_SET), Op.queue, queue]);
  rule(core, root, 2, [...told(1, 0), Op.queue, queue]);
  batch.clear();
  for (let n = 0; n < 3; n++) put(batch, 60, 0n);
  batch.steer(root);
  expect([0, 1, 2].map((i) => batch.register(i, 1))).toEqual([0, 1, 1]);
  expect(core.u8[flags]).toBe(0b0110_0000);
});

test("a sampler sends some frames aside, the same ones again", async () => {
  const { core, root, next, queue } = await open();
  const aside = core.exports.createQueue(QUEUE_READY | QUEUE_SINK, 0, 0) >>> 0;
  const record = new DataView(new ArrayBuffer(SAMPLER_FIRST + 16));
  for (const [at, value] of [
    [SAMPLER_NUMBER, 7],
    [SAMPLER_RATIO, 4],
    [SAMPLER_TABLE, next],
    [SAMPLER_COUNT, 2],
    [SAMPLER_FIRST, Op.tag],
    [SAMPLER_FIRST + 4, 99],
    [SAMPLER_FIRST + 8, Op.queue],
    [SAMPLER_FIRST + 12, aside],
  ] as const)
    record.setUint32(at, value, true);
  core.exports.setSeed(1, 2);
  rule(core, root, 1, [Op.tag, 5, Op.sampler, createRecord(core, new Uint8Array(record.buffer))]);
  rule(core, next, 2, [Op.queue, queue]);
  const mask = (1n << 64n) - 1n;
  const sampled = (n: bigint): boolean => {
    let x = ((1n << 32n) + 2n + (n + 1n) * 0x9e3779b97f4a7c15n + 7n * 0xbf58476d1ce4e5b9n) & mask;
    x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
    x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & mask;
    x ^= x >> 31n;
    return (x >> 32n) * 4n < 1n << 32n;
  };
  const batch = new Batch(core);
  let count = 0;
  for (let n = 0n, size = 1; n < 1000n; size = (size % 256) + 51) {
    batch.clear();
    for (let i = 0; i < size; i++) put(batch, 60, 0n);
    batch.steer(root);
    for (let i = 0; i < size; i++, n++) {
      const [first, second] = [batch.firstDestination(i), batch.nextDestination(batch.firstDestination(i))];
      expect(batch.destinations(i)).toBe(sampled(n) ? 2 : 1);
      expect([batch.verdict(i), batch.tag(i)]).toEqual([Verdict.deliver, 5]);
      if (!sampled(n)) continue;
      count++;
      expect([batch.queueOf(first), batch.isCopy(first), batch.tagOf(first)]).toEqual([aside, true, 99]);
      expect([batch.queueOf(second), batch.isCopy(second), batch.tagOf(second)]).toEqual([queue, false, 5]);
    }
  }
  expect(count).toBeGreaterThan(200);
  expect(count).toBeLessThan(320);
});
