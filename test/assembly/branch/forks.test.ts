/** Forks: what they take over from their branch, that each frame has its own, and what outcomes keep of them. */
import { beforeEach, describe, expect, it } from "vitest";
import {
  BRANCHES_PER_FRAME,
  DESTINATIONS_PER_FRAME,
  HITS_PER_FRAME,
  HOP_LIMIT,
  MAX_BATCH,
  Op,
  REGISTERS,
} from "../../../src/abi/engine.js";
import { DEST_CHANGED, DEST_ETHERNET, DEST_RAW_IP, Reason, Verdict } from "../../../src/abi/outcome.js";
import { Link } from "../../../src/abi/headers.js";
import { MODIFY_COPY, MODIFY_SET, Place } from "../../../src/abi/program.js";
import { packet } from "../walk/support/twoCores.js";
import { World } from "./support/world.js";

const FORKS = BRANCHES_PER_FRAME - 1;
const TTL = 22;
const RAW_TTL = 8;

let world: World;
beforeEach(async () => {
  world = await World.make();
});

const some = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const packets = (count: number): Uint8Array[] => some(count, (n) => packet({ id: 1000 + n }));
const setTtl = (ttl: number): number[] => [Op.modify, world.program([MODIFY_SET, 8, Place.ipv4, 64, ttl])];
/** Copies the identification of the IPv4 header to the low half of every register. */
const keepId = (): number[] => [
  Op.modify,
  world.program(...some(REGISTERS, (n) => [MODIFY_COPY, 16, Place.register + n, 16, Place.ipv4, 32] as const)),
];
const registers = (row: number): number[] => some(REGISTERS, (n) => world.batch.register(row, n));
const counted = (reason: Reason, work: () => void): number => {
  const before = world.batch.reasons()[reason]!;
  work();
  return Number(world.batch.reasons()[reason]! - before);
};

describe("forks of a full batch", () => {
  it.each([1, 2, 3, FORKS])("%i of each frame change their own bytes", (forks) => {
    const tables = some(forks, (n) => world.tableFor([...setTtl(n + 1), Op.queue, world.queue]));
    const members = tables.map((table) => [Op.table, table] as const);
    world.rule(world.root, [Op.array, world.array([Op.queue, world.queue], ...members)]);
    const frames = packets(MAX_BATCH);
    world.steer(frames);
    for (const [row, frame] of frames.entries()) {
      const [first, ...rest] = world.arrived(row);
      expect([first!.flags, first!.frame]).toEqual([0, Array.from(frame)]);
      expect(rest.map(({ frame: bytes }) => bytes[TTL])).toEqual(some(forks, (n) => n + 1));
      for (const { flags, frame: bytes } of rest) {
        expect(flags).toBe(DEST_CHANGED | DEST_ETHERNET);
        expect(bytes.slice(14, 20)).toEqual(Array.from(frame.slice(14, 20)));
        expect(bytes.slice(26)).toEqual(Array.from(frame.slice(26)));
      }
      expect(world.batch.verdict(row)).toBe(Verdict.deliver);
    }
  });

  it("leave each frame its registers", () => {
    const table = world.tableFor([...keepId(), Op.queue, world.queue]);
    world.rule(world.root, [Op.array, world.array([Op.table, table])]);
    for (let round = 0; round < 2; round++) {
      world.steer(packets(MAX_BATCH));
      for (let row = 0; row < MAX_BATCH; row++) {
        expect(world.batch.written(row)).toBe(2 ** REGISTERS - 1);
        expect(registers(row)).toEqual(some(REGISTERS, () => 1000 + row));
      }
    }
  });

  it("leave the registers of a frame without forks alone", () => {
    world.rule(world.root, [...keepId(), Op.queue, world.queue], { "outer.ip_ttl_hoplimit": 9 });
    const table = world.tableFor([Op.queue, world.queue]);
    world.rule(world.root, [Op.array, world.array([Op.table, table])]);
    world.steer(some(MAX_BATCH, (n) => packet({ id: n, ttl: n % 2 === 0 ? 9 : 64 })));
    for (let row = 0; row < MAX_BATCH; row += 2) expect(registers(row)).toEqual(some(REGISTERS, () => row));
    for (let row = 1; row < MAX_BATCH; row += 2) expect(world.batch.written(row)).toBe(0);
  });
});

describe("a fork", () => {
  it("beyond the limit is not made", () => {
    const table = world.tableFor([Op.queue, world.queue]);
    const members = some(FORKS + 1, () => [Op.table, table] as const);
    world.rule(world.root, [Op.array, world.array(...members)]);
    expect(counted(Reason.copy_limit, () => world.steer(packets(2)))).toBe(2);
    expect(some(2, (row) => world.arrived(row).length)).toEqual([FORKS, FORKS]);
    expect(some(2, (row) => world.batch.verdict(row))).toEqual([Verdict.deliver, Verdict.deliver]);
  });

  it("has the tables that its branch visited behind it", () => {
    const end = world.tableFor([Op.queue, world.queue]);
    const last = world.tableFor([Op.array, world.array([Op.table, end])]);
    const chain = (hops: number): number[] => {
      let table = last;
      for (let n = 1; n < hops; n++) table = world.tableFor([Op.table, table]);
      return [Op.table, table];
    };
    world.rule(world.root, chain(HOP_LIMIT - 1), { "outer.ip_ttl_hoplimit": 1 });
    world.rule(world.root, chain(HOP_LIMIT), { "outer.ip_ttl_hoplimit": 2 });
    world.steer([packet({ ttl: 1 }), packet({ ttl: 2 })]);
    expect([world.batch.verdict(0), world.batch.reason(0)]).toEqual([Verdict.deliver, Reason.none]);
    expect([world.batch.verdict(1), world.batch.reason(1)]).toEqual([Verdict.drop, Reason.hop_limit]);
  });

  it("has the tag and the registers of its branch", () => {
    const table = world.tableFor([Op.queue, world.queue]);
    world.rule(world.root, [Op.tag, 5, ...keepId(), Op.array, world.array([Op.table, table])]);
    world.steer(packets(3));
    for (let row = 0; row < 3; row++) {
      expect(world.arrived(row).map(({ tag }) => tag)).toEqual([5]);
      expect([world.batch.tag(row), world.batch.written(row)]).toEqual([5, 2 ** REGISTERS - 1]);
      expect(registers(row)).toEqual(some(REGISTERS, () => 1000 + row));
    }
  });

  it("has a verdict of its own", () => {
    const table = world.tableFor([Op.none, 0]);
    world.rule(world.root, [Op.array, world.array([Op.queue, world.queue], [Op.table, table])]);
    expect(counted(Reason.no_destination, () => world.steer(packets(1)))).toBe(1);
    expect(world.batch.verdict(0)).toBe(Verdict.deliver);
  });

  it("begins at the first rule of its table", () => {
    const next = world.table();
    world.rule(next, [Op.tag, 1, Op.queue, world.queue]);
    world.rule(world.root, [Op.resume, 0]);
    world.rule(world.root, [Op.resume, 0]);
    world.rule(world.root, [Op.array, world.array([Op.table, next])]);
    world.steer(packets(1));
    expect(world.arrived(0).map(({ tag }) => tag)).toEqual([1]);
  });
});

describe("limits of an outcome", () => {
  it("so many rules are listed, and none of them with the next frame", () => {
    const end = world.tableFor([Op.queue, world.queue]);
    const middle = world.tableFor([Op.table, end]);
    const own = world.rule(world.root, [Op.queue, world.queue], { "outer.ip_ttl_hoplimit": 1 });
    world.rule(world.root, [Op.array, world.array(...some(FORKS, () => [Op.table, middle] as const))]);
    world.steer([packet(), packet({ ttl: 1 })]);
    expect([world.batch.hits(0), world.batch.hits(1)]).toEqual([HITS_PER_FRAME, 1]);
    expect(some(FORKS + 1, (n) => world.batch.hit(0, n))).toEqual([own + 1, ...some(FORKS, () => own - 1)]);
    expect(world.batch.hit(0, HITS_PER_FRAME - 1)).toBe(own - 2);
    expect(world.batch.hit(1, 0)).toBe(own);
  });

  const copies = (count: number): number[] => some(count, () => [Op.copy_queue, world.queue]).flat();
  const queues = (count: number): number[] => some(count, () => [Op.queue, world.queue]).flat();
  const { deliver, drop } = Verdict;
  it.each<[string, () => number[], number, number, number]>([
    ["as many as there may be", () => queues(DESTINATIONS_PER_FRAME), 0, deliver, Reason.none],
    ["one queue more", () => queues(DESTINATIONS_PER_FRAME + 1), 1, deliver, Reason.none],
    ["two copies more", () => [...queues(1), ...copies(DESTINATIONS_PER_FRAME + 1)], 2, deliver, Reason.none],
    ["a queue behind copies", () => [...copies(DESTINATIONS_PER_FRAME), ...queues(1)], 1, drop, Reason.copy_limit],
  ])("destinations: %s", (_name, actions, over, verdict, reason) => {
    world.rule(world.root, actions());
    expect(counted(Reason.copy_limit, () => world.steer(packets(1)))).toBe(over);
    expect(world.arrived(0).length).toBe(DESTINATIONS_PER_FRAME);
    expect([world.batch.verdict(0), world.batch.reason(0)]).toEqual([verdict, reason]);
  });

  it("destinations: a copy beyond them is no verdict", () => {
    world.rule(world.root, copies(DESTINATIONS_PER_FRAME + 1));
    expect(counted(Reason.copy_limit, () => world.steer(packets(1)))).toBe(1);
    expect([world.batch.verdict(0), world.batch.reason(0)]).toEqual([drop, Reason.no_destination]);
  });
});

describe("flags of a destination", () => {
  it.each<[string, Link, number, number]>([
    ["Ethernet", Link.ethernet, TTL, DEST_CHANGED | DEST_ETHERNET],
    ["IP", Link.raw_ip, RAW_TTL, DEST_CHANGED | DEST_RAW_IP],
    ["IPv4", Link.ipv4, RAW_TTL, DEST_CHANGED],
  ])("a changed frame of %s", (_name, link, at, flags) => {
    world.rule(world.root, [Op.queue, world.queue, ...setTtl(3), Op.queue, world.queue]);
    const frame = link === Link.ethernet ? packet() : packet().subarray(14);
    world.steer([frame, frame], link);
    const told = world.arrived(1).map((one) => [one.flags, one.frame[at]]);
    expect(told).toEqual([
      [0, 64],
      [flags, 3],
    ]);
  });
});

describe("a changed frame is parsed again", () => {
  it("and keeps its registers", () => {
    const next = world.table();
    world.rule(next, [...setTtl(7), Op.tag, 2, Op.queue, world.queue], { "outer.first_vid": 9 });
    world.rule(world.root, [...keepId(), Op.push_vlan, 0x81000009, Op.table, next]);
    const frames = packets(3);
    world.steer(frames);
    for (const row of [0, 1, 2]) {
      const [only] = world.arrived(row);
      expect(only!.tag).toBe(2);
      expect(only!.frame.slice(12, 17)).toEqual([0x81, 0, 0, 9, 8]);
      expect(only!.frame[TTL + 4]).toBe(7);
      expect(registers(row)).toEqual(some(REGISTERS, () => 1000 + row));
    }
  });
});
