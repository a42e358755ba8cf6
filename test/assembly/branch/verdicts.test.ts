/** Verdicts, tags and registers of outcomes, and changes of frames that no other branch has. */
import { beforeEach, expect, it } from "vitest";
import { MAX_FRAME, Op } from "../../../src/abi/engine.js";
import {
  DEST_CHANGED,
  DEST_COPY,
  DEST_ETHERNET,
  OUTCOME_KEY,
  OUTCOME_SIZE,
  Reason,
  Verdict,
} from "../../../src/abi/outcome.js";
import { Link } from "../../../src/abi/headers.js";
import { KEY_SIZE } from "../../../src/abi/key.js";
import { MODIFY_SET, Place } from "../../../src/abi/program.js";
import { L2_TO_L3_TUNNEL, REFORMAT_DATA, REFORMAT_LENGTH, REFORMAT_TYPE } from "../../../src/abi/reformat.js";
import { SAMPLER_COUNT, SAMPLER_FIRST, SAMPLER_RATIO, SAMPLER_TABLE } from "../../../src/abi/state.js";
import { createRecord } from "../../../src/engine/records.js";
import { packet } from "../walk/support/twoCores.js";
import { tagged, World } from "./support/world.js";

const TAG = 0x81000009;
const TTL = 22;

let world: World;
beforeEach(async () => {
  world = await World.make();
});

const set = (place: number, bit: number, value: number): number[] => [
  Op.modify,
  world.program([MODIFY_SET, 8, place, bit, value]),
];
const reason = (counted: Reason): number => Number(world.batch.reasons()[counted]);
const ends = (rows: number): [number, number][] =>
  Array.from({ length: rows }, (_, row) => [world.batch.verdict(row), world.batch.reason(row)]);

it("a frame that changes where it is keeps its tag and is marked as changed", () => {
  world.rule(world.root, [Op.tag, 5, ...set(Place.ipv4, 64, 3), Op.queue, world.queue]);
  world.steer([packet(), packet()]);
  for (const row of [0, 1]) {
    const [only] = world.arrived(row);
    expect([only!.flags, only!.tag, only!.frame[TTL]]).toEqual([DEST_CHANGED | DEST_ETHERNET, 5, 3]);
    expect(world.batch.tag(row)).toBe(5);
  }
});

it("a header change finds the headers behind a pushed tag", () => {
  world.rule(world.root, [Op.push_vlan, TAG, ...set(Place.ipv4, 64, 3), Op.queue, world.queue]);
  world.steer([packet()]);
  const [bytes] = world.frames(1);
  expect([bytes![TTL], bytes![TTL + 4]]).toEqual([tagged(packet(), [TAG])[TTL], 3]);
});

it("each frame has its rule and, without a tag, none", () => {
  const next = world.table();
  const ids = [1, 2, 3].map((ttl) => world.rule(next, [Op.queue, world.queue], { "outer.ip_ttl_hoplimit": ttl }));
  const first = world.rule(world.root, [Op.table, next]);
  world.steer([1, 2, 3].map((ttl) => packet({ ttl })));
  for (const [row, id] of ids.entries()) {
    expect([world.batch.hit(row, 0), world.batch.hit(row, 1), world.batch.tag(row)]).toEqual([first, id, -1]);
  }
});

it("the registers of a fork are kept in the key of its frame", () => {
  const table = world.tableFor([...set(Place.register, 24, 7), Op.queue, world.queue]);
  world.rule(world.root, [Op.array, world.array([Op.table, table])]);
  world.steer([packet(), packet(), packet()]);
  const { core } = world;
  for (const row of [0, 1, 2]) {
    const key = core.u32[(core.outcomes + row * OUTCOME_SIZE + OUTCOME_KEY) >> 2];
    expect([key, world.batch.register(row, 0)]).toEqual([core.keys + row * KEY_SIZE, 7]);
  }
});

it("the best verdict of the branches counts, and the reason of the other", () => {
  const miss: [Op, number] = [Op.default_miss, 0];
  const drop: [Op, number] = [Op.drop, 0];
  const port: [Op, number] = [Op.port, 2];
  const best = (...members: [Op, number][]): [number, number] => {
    world.rule(world.root, [Op.array, world.array(...members)], { "outer.ip_ttl_hoplimit": ttl });
    world.steer([packet({ ttl: ttl++ })]);
    return ends(1)[0]!;
  };
  let ttl = 1;
  expect(best(drop, miss)).toEqual([Verdict.miss, Reason.default_miss]);
  expect(reason(Reason.drop_action)).toBe(1);
  expect(best(drop, drop)).toEqual([Verdict.drop, Reason.drop_action]);
  expect(reason(Reason.drop_action)).toBe(3);
  expect(best(miss, port)).toEqual([Verdict.forward, Reason.none]);
  expect(best(port, [Op.queue, world.queue])).toEqual([Verdict.deliver, Reason.none]);
  expect(best([Op.queue, world.queue], port)).toEqual([Verdict.deliver, Reason.none]);
});

it("a frame of a function is transmitted, one from the wire is forwarded", () => {
  world.rule(world.root, [Op.port, 2]);
  world.batch.clear();
  for (const vport of [3, undefined, 3, undefined]) world.batch.put(packet(), 60, 1, Link.ethernet, vport);
  world.batch.steer(world.root);
  const [sent, passed] = [Verdict.transmit, Verdict.forward];
  expect(ends(4).map(([verdict]) => verdict)).toEqual([sent, passed, sent, passed]);
});

it("a frame grows up to the longest length", () => {
  world.rule(world.root, [Op.push_vlan, TAG, Op.queue, world.queue]);
  world.batch.clear();
  for (const length of [MAX_FRAME - 4, MAX_FRAME - 3, MAX_FRAME]) {
    world.batch.put(packet(), length, 1, Link.ethernet);
  }
  world.batch.steer(world.root);
  const long = [Verdict.drop, Reason.frame_too_long];
  expect(ends(3)).toEqual([[Verdict.deliver, Reason.none], long, long]);
});

it("the copy of a sampler has no verdict", () => {
  const sampler = (...actions: number[]): number => {
    const words = new DataView(new ArrayBuffer(SAMPLER_FIRST + 4 * actions.length));
    words.setUint32(SAMPLER_RATIO, 1, true);
    words.setUint32(SAMPLER_TABLE, end, true);
    words.setUint32(SAMPLER_COUNT, actions.length / 2, true);
    for (const [n, word] of actions.entries()) words.setUint32(SAMPLER_FIRST + 4 * n, word, true);
    return createRecord(world.core, new Uint8Array(words.buffer));
  };
  const end = world.tableFor([Op.queue, world.queue]);
  const aside = world.sink();
  world.rule(world.root, [Op.sampler, sampler(Op.drop, 0)], { "outer.ip_ttl_hoplimit": 1 });
  world.rule(world.root, [Op.sampler, sampler(Op.tag, 9, Op.queue, aside)]);
  world.steer([packet({ ttl: 1 }), packet()]);
  expect(ends(2)).toEqual([
    [Verdict.deliver, Reason.none],
    [Verdict.deliver, Reason.none],
  ]);
  expect(reason(Reason.drop_action)).toBe(1);
  const told = [0, 1].map((row) => world.arrived(row).map(({ queue, flags, tag }) => [queue, flags, tag]));
  const own = [world.queue, 0, 0];
  expect(told).toEqual([[own], [[aside, DEST_COPY, 9], own]]);
});

it("long headers do not reach the copied frame in front", () => {
  const record = new Uint8Array(REFORMAT_DATA + 256).fill(0xab, REFORMAT_DATA);
  record[REFORMAT_TYPE] = L2_TO_L3_TUNNEL;
  new DataView(record.buffer).setUint16(REFORMAT_LENGTH, 256, true);
  world.rule(world.root, [Op.push_vlan, TAG, Op.queue, world.queue], { "outer.ip_ttl_hoplimit": 1 });
  world.rule(world.root, [Op.reformat, createRecord(world.core, record), Op.queue, world.queue]);
  world.steerPacked([packet({ ttl: 1 }), packet(), packet({ ttl: 1 })]);
  const pushed = tagged(packet({ ttl: 1 }), [TAG]);
  const header = Array.from({ length: 256 }, () => 0xab);
  expect(world.frames(3)).toEqual([pushed, [...header, ...packet().slice(14)], pushed]);
});

it("a frame that is parsed again keeps its tag and is marked as changed", () => {
  world.rule(world.root, [Op.tag, 5, Op.push_vlan, TAG, Op.table, world.tableFor([Op.queue, world.queue])]);
  world.steer([packet()]);
  const [only] = world.arrived(0);
  expect([only!.flags, only!.tag, only!.frame]).toEqual([DEST_CHANGED | DEST_ETHERNET, 5, tagged(packet(), [TAG])]);
});
