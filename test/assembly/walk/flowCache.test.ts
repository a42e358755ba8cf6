/**
 * The flow cache, case by case: what hits, where recording stops, what invalidates entries, memory,
 * pauses. A core without a cache gives the expected outcomes. Where an entry that goes too far
 * would show, two frames of one key take different paths.
 */
import { describe, expect, test } from "vitest";
import { FIRST_HIT_SET, Op, REGISTER_A, TABLE_FDB, TABLE_ROOT, TABLE_SEND } from "../../../src/abi/engine.js";
import {
  INSTRUCTION_SIZE,
  MODIFY_ADD,
  MODIFY_COPY,
  MODIFY_SET,
  Place,
  PROGRAM_FIRST,
} from "../../../src/abi/program.js";
import { Header, LEVEL_OUTER, Link } from "../../../src/abi/headers.js";
import {
  EXT_PRESENT_OUTER,
  PRESENT_VXLAN,
  LAYER_SRC_IPV4,
  LAYER_STATE,
  LAYER_TCI,
  LAYER_TTL,
  LAYER_UDP_PORTS,
  MISC2_REGISTER_A,
  MISC2_REGISTER_C_0,
  MISC4,
  MISC_OUTER_TCI2,
  MISC_VXLAN_VNI,
} from "../../../src/abi/key.js";
import { REFORMAT_DATA } from "../../../src/abi/reformat.js";
import { createRecord } from "../../../src/engine/records.js";
import { packet, CorePair, type Asked, type Pair, type Step, type PairFrame } from "./support/twoCores.js";

const src = (value: number, mask = 0xffffffff): Asked => [LAYER_SRC_IPV4, 4, mask, value];
const from = (last: number): PairFrame => ({ bytes: packet({ src: 0x0a000000 + last }) });
const C0 = (value: number): Asked => [MISC2_REGISTER_C_0, 4, 0xffffffff, value];
const TTL = (value: number): Asked => [LAYER_TTL, 1, 0xff, value];

/**
 * A device with three tables. Frames to 10.0.0.0/8 go from the first table to the second, and from
 * there to a queue or on.
 */
async function chain(entries = 64): Promise<{ cores: CorePair; root: Pair; next: Pair; queue: Pair; first: Pair }> {
  const cores = await CorePair.make(entries);
  const [root, next, queue] = [cores.table(TABLE_ROOT), cores.table(0), cores.queue()];
  const first = cores.rule(root, [src(0x0a000000, 0xff000000)], [[Op.table, next]]);
  return { cores, root, next, queue, first };
}

/**
 * A header modify program: | type | bits | offset | first bit | data, or offset and first bit of
 * the source |.
 */
type Change = readonly [type: number, bits: number, to: number, bit: number, data: number, fromBit?: number];

function program(cores: CorePair, ...changes: readonly Change[]): Pair {
  const bytes = new Uint8Array(PROGRAM_FIRST + changes.length * INSTRUCTION_SIZE);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, changes.length, true);
  for (const [n, [type, bits, to, bit, data, fromBit = 0]] of changes.entries()) {
    const at = PROGRAM_FIRST + n * INSTRUCTION_SIZE;
    bytes.set([type, bits, to, type === MODIFY_COPY ? data : 0], at);
    for (const [place, value] of [bit, bit, fromBit, fromBit].entries())
      view.setUint16(at + 4 + 2 * place, value, true);
    view.setUint32(at + 12, type === MODIFY_COPY ? 0 : data, true);
  }
  return cores.record(bytes);
}

describe("hits", () => {
  test("frames with a known key hit, and take the same path through several tables", async () => {
    const { cores, root, next, queue } = await chain();
    const last = cores.table(0);
    cores.rule(next, [src(0x0a000001)], [[Op.table, last]]);
    cores.rule(next, [src(0x0a000002)], [[Op.queue, queue]]);
    cores.rule(
      last,
      [],
      [
        [Op.tag, 7],
        [Op.queue, queue],
      ],
    );
    const frames = [1, 2, 3, 1, 2, 3].map(from);
    expect(cores.steer(root, frames)).toEqual([[0, 1, 3], [0, 2], [0], [0, 1, 3], [0, 2], [0]]);
    expect([cores.hits, cores.misses]).toEqual([0, 6]);
    cores.steer(root, frames);
    expect([cores.hits, cores.misses]).toEqual([6, 6]);
  });

  test("bytes that no rule matches are not part of the key", async () => {
    const { cores, root, next, queue } = await chain();
    cores.rule(next, [], [[Op.queue, queue]]);
    cores.steer(root, [{ bytes: packet({ dst: 1, dport: 9 }) }]);
    cores.steer(root, [{ bytes: packet({ dst: 2, dport: 10 }) }]);
    expect(cores.hits).toBe(1);
  });

  test("rules that resume after their slot", async () => {
    const { cores, root, queue } = await chain();
    const others = Array.from({ length: 3 }, (_, slot) => cores.rule(root, [], [[Op.resume, 0]], slot + 1, slot));
    cores.rule(root, [src(0x0b000001)], [[Op.queue, queue]], 0, 3);
    const rules = cores.steerTwice(root, [{ bytes: packet({ src: 0x0b000001 }) }]);
    expect(rules).toEqual([[1, 2, 3, 4]]);
    expect([cores.hits, others.length]).toEqual([1, 3]);
  });

  test("more lookups than an entry has room for", async () => {
    const cores = await CorePair.make();
    const tables = Array.from({ length: 12 }, (_, n) => cores.table(n === 0 ? TABLE_ROOT : 0));
    const queue = cores.queue();
    for (const [n, table] of tables.entries()) {
      const then: Step = n === 11 ? [Op.queue, queue] : [Op.table, tables[n + 1] as Pair];
      cores.rule(table, [src(0x0a000001, n < 6 ? 0 : 0xffffffff)], [then]);
    }
    const rules = cores.steerTwice(tables[0] as Pair, [from(1), from(2)]);
    expect(rules.map((one) => one.length)).toEqual([12, 6]);
    expect(cores.hits).toBe(2);
  });

  test("forks are looked up", async () => {
    const { cores, root, next, queue } = await chain();
    const last = cores.table(0);
    const array = cores.both((core, side) => {
      const members = [next, last].flatMap((table) => [Op.table, table[side], 0, 0]);
      return createRecord(core, new Uint8Array(Uint32Array.from([2, 0, ...members]).buffer));
    });
    cores.rule(root, [src(0x0b000000, 0xff000000)], [[Op.array, array]]);
    cores.rule(next, [src(1, 1)], [[Op.queue, queue]]);
    cores.rule(last, [src(0, 2)], [[Op.queue, queue]]);
    const frames = [0, 1, 2, 3, 0, 1].map((last) => ({ bytes: packet({ src: 0x0b000000 + last }) }));
    expect(cores.steerTwice(root, frames)).toEqual([[1, 3], [1, 2, 3], [1], [1, 2], [1, 3], [1, 2, 3]]);
    expect([cores.hits, cores.misses]).toEqual([6, 6]);
  });

  test("frames that a port loops back do not use the cache", async () => {
    const { cores, root, next, queue } = await chain();
    cores.rule(next, [], [[Op.queue, queue]]);
    cores.steer(root, [from(1)], queue);
    cores.steer(root, [from(1)], queue);
    expect([cores.hits, cores.misses]).toEqual([0, 0]);
  });

  test.each([1, 2, 4, 8])("%i entries for 40 keys", async (entries) => {
    const { cores, root, next, queue } = await chain(entries);
    for (let n = 0; n < 40; n += 3) cores.rule(next, [src(0x0a000000 + n)], [[Op.queue, queue]]);
    const frames = Array.from({ length: 40 }, (_, n) => from(n));
    for (let round = 0; round < 4; round++) cores.steerTwice(root, frames);
    for (let n = 0; n < 40; n++) cores.steerTwice(root, [from(n)]);
    expect(cores.hits).toBeGreaterThan(30);
  });
});

describe("a rule that tags, counts and has one queue", () => {
  type Made = (cores: CorePair, queue: Pair, x: Pair, y: Pair) => readonly Step[];
  const cases: Record<string, Made> = {
    "all of that": (_, queue, x) => [
      [Op.tag, 5],
      [Op.count, x],
      [Op.queue, queue],
    ],
    "in another order": (_, queue, x) => [
      [Op.count, x],
      [Op.tag, 0],
      [Op.queue, queue],
    ],
    "a queue alone": (_, queue) => [[Op.queue, queue]],
    "a queue that others send to": (_, queue, x) => [
      [Op.count, x],
      [Op.queue_from_others, queue],
    ],
    "two tags": (_, queue) => [
      [Op.tag, 5],
      [Op.tag, 6],
      [Op.queue, queue],
    ],
    "two counters": (_, queue, x, y) => [
      [Op.count, x],
      [Op.count, y],
      [Op.queue, queue],
    ],
    "counted behind its queue": (_, queue, x) => [
      [Op.queue, queue],
      [Op.count, x],
    ],
    "two queues": (_, queue) => [
      [Op.queue, queue],
      [Op.queue, queue],
    ],
    "a copy": (cores, queue) => [
      [Op.copy_queue, cores.queue()],
      [Op.queue, queue],
    ],
    "a drop": (_, __, x) => [
      [Op.count, x],
      [Op.drop, 0],
    ],
    nothing: () => [],
    "a queue that is not ready": (cores, _, x) => [
      [Op.tag, 5],
      [Op.count, x],
      [Op.queue, cores.both(({ exports }) => exports.createQueue(0, 0, 0))],
    ],
  };
  test.each(Object.keys(cases))("%s", async (what) => {
    const cores = await CorePair.make();
    const [root, queue, x, y] = [cores.table(TABLE_ROOT), cores.queue(), cores.counter(), cores.counter()];
    cores.rule(root, [src(0x0a000000, 0xfffffffc)], (cases[what] as Made)(cores, queue, x, y));
    cores.rule(
      root,
      [src(0x0a000004)],
      [
        [Op.tag, 9],
        [Op.queue, queue],
      ],
    );
    const frames = [0, 1, 2, 3, 4, 5].map(from);
    for (let n = 0; n < 3; n++) cores.steer(root, frames);
    cores.steer(root, [
      ...frames.slice(2),
      from(77),
      ...frames,
      { bytes: packet({ dport: 7, payload: new Uint8Array(80) }) },
    ]);
    expect(cores.hits).toBe(23);
  });
});

test("fast-path rules among frames that are walked one after the other", async () => {
  const cores = await CorePair.make();
  const [root, next, queue] = [cores.table(TABLE_ROOT), cores.table(0), cores.queue()];
  const flag = cores.record(new Uint8Array(16));
  for (const last of [1, 3])
    cores.rule(
      root,
      [src(0x0a000000 + last)],
      [
        [Op.tag, last],
        [Op.queue, queue],
      ],
    );
  cores.rule(
    root,
    [src(0x0a000002)],
    [
      [Op.state, FIRST_HIT_SET << 8],
      [Op.first_hit, flag],
      [Op.table, next],
    ],
  );
  cores.rule(next, [C0(1)], [[Op.queue, queue]]);
  const frames = [1, 2, 3, 4, 2, 1].map(from);
  expect(cores.steer(root, frames)).toEqual([[0], [2], [1], [], [2, 3], [0]]);
  expect(cores.steer(root, frames)).toEqual([[0], [2, 3], [1], [], [2, 3], [0]]);
  expect(cores.hits).toBe(6);
});

describe("the ingress is part of the key", () => {
  const cases: Record<string, [PairFrame, PairFrame]> = {
    port: [{ bytes: packet() }, { bytes: packet(), port: 2 }],
    vport: [{ bytes: packet() }, { bytes: packet(), vport: 3 }],
    "link layer": [
      { bytes: packet({ src: 0 }).subarray(14), link: Link.ipv4 },
      { bytes: packet({ src: 0 }).subarray(14), link: Link.ipv6 },
    ],
  };
  test.each(Object.keys(cases))("%s", async (what) => {
    const { cores, root, next, queue } = await chain();
    cores.rule(next, [], [[Op.queue, queue]]);
    const [one, other] = cases[what] as [PairFrame, PairFrame];
    cores.steerTwice(root, [one]);
    expect(cores.hits).toBe(1);
    cores.steer(root, [other]);
    expect(cores.hits).toBe(1);
  });

  test("vport decides behind the eSwitch", async () => {
    const cores = await CorePair.make();
    const [fdb, manager, queue] = [cores.table(TABLE_ROOT | TABLE_FDB), cores.table(TABLE_ROOT), cores.queue()];
    cores.both(({ exports }, side) => exports.setFdb(fdb[side]));
    for (const vport of [0, 1]) cores.both(({ exports }, side) => exports.setVport(vport, manager[side]));
    cores.rule(fdb, [], [[Op.vport, 0xffff]]);
    cores.rule(manager, [], [[Op.queue, queue]]);
    for (const vport of [0xffff, 1, 0, 0xffff, 1, 0]) cores.steer(fdb, [{ bytes: packet(), vport }]);
    expect(cores.hits).toBe(3);
  });

  test("root table", async () => {
    const { cores, root, next, queue } = await chain();
    cores.rule(next, [], [[Op.queue, queue]]);
    const other = cores.table(TABLE_ROOT);
    cores.rule(other, [], [[Op.drop, 0]]);
    for (const one of [root, other, root, other]) cores.steer(one, [from(1)]);
    expect(cores.hits).toBe(2);
  });

  test("what a sender has put into register A", async () => {
    const { cores, root, next, queue } = await chain();
    cores.rule(next, [[MISC2_REGISTER_A, 4, 0xffffffff, 5]], [[Op.queue, queue]]);
    for (const metadata of [4, 5, 4, 5]) cores.steer(root, [{ bytes: packet(), vport: 1, metadata }]);
    expect(cores.hits).toBe(2);
  });

  test.each([
    ["in a column of its own", { dword: LAYER_UDP_PORTS, shift: 0, fieldMask: 0xffff, low: 10, high: 20 }, "dport"],
    ["among small things", { dword: LAYER_TTL - 3, shift: 0, fieldMask: 0xff, low: 10, high: 20 }, "ttl"],
  ] as const)("a field that only a range asks about, %s", async (_, range, field) => {
    const { cores, root, next, queue } = await chain();
    cores.rule(next, [], [[Op.queue, queue]], 0, 0, [range]);
    const frames = [9, 10, 20, 21].map((value) => ({ bytes: packet({ [field]: value }) }));
    expect(cores.steerTwice(root, frames)).toEqual([[0], [0, 1], [0, 1], [0]]);
    for (const frame of frames) cores.steer(root, [frame]);
    expect(cores.hits).toBe(8);
  });
});

/** Every change of tables invalidates entries: each case starts with frames that have entries. */
describe("entries are invalid after", () => {
  interface Scene {
    cores: CorePair;
    root: Pair;
    next: Pair;
    queue: Pair;
    first: Pair;
    second: Pair;
    /** A table that no rule leads to yet. */
    last: Pair;
  }
  const changes: Record<string, (scene: Scene) => void> = {
    "a rule that comes first": ({ cores, next }) => {
      cores.rule(next, [src(0x0a000001)], [[Op.drop, 0]], 0);
    },
    "a rule that goes": ({ cores, second }) => cores.remove(second),
    "a rule that goes and one that takes its memory": ({ cores, next, second }) => {
      cores.remove(second);
      cores.rule(next, [src(0x0a0000ff)], [[Op.drop, 0]], 0);
    },
    "another rank": ({ cores, second }) => {
      cores.both(({ exports }, side) => exports.rerankRule(second[side], 0, 9));
    },
    "other actions": ({ cores, first, last }) => cores.change(first, [[Op.table, last]]),
    "another table behind": ({ cores, next, last }) => {
      cores.both(({ exports }, side) => exports.setMiss(next[side], last[side]));
    },
  };
  test.each(Object.keys(changes))("%s", async (what) => {
    const { cores, root, next, queue, first } = await chain();
    const last = cores.table(0);
    cores.rule(
      last,
      [],
      [
        [Op.tag, 3],
        [Op.queue, queue],
      ],
    );
    const second = cores.rule(
      next,
      [src(0x0a000001)],
      [
        [Op.tag, 1],
        [Op.queue, queue],
      ],
      5,
    );
    cores.rule(
      next,
      [src(0x0a000001)],
      [
        [Op.tag, 2],
        [Op.queue, queue],
      ],
      7,
    );
    const frames = [from(1), from(2)];
    cores.steerTwice(root, frames);
    expect(cores.hits).toBe(2);
    changes[what]?.({ cores, root, next, queue, first, second, last });
    cores.steer(root, frames);
    expect(cores.hits).toBe(2);
    cores.steer(root, frames);
    expect(cores.hits).toBe(4);
  });

  test("rules in bulk", async () => {
    const { cores, root, next, queue } = await chain();
    cores.rule(next, [], [[Op.queue, queue]], 9);
    cores.steerTwice(root, [from(1)]);
    // A value of 64 bytes, and its head.
    const words = [...Array.from({ length: 16 }, () => 0), 77, 0, 512, 1];
    cores.both((core) => {
      core.u8.fill(0, core.staging, core.staging + 1024);
      core.u32.set(words, core.bytes >> 2);
      core.u32.set([Op.drop, 0], (core.bytes + 512) >> 2);
      return 0;
    });
    cores.both(({ exports }, side) => exports.insertRules(next[side], 1, 64, 1, 0, 0));
    expect(cores.steer(root, [from(1)])).toEqual([[0, 77]]);
  });

  test("another eSwitch, another way to a function", async () => {
    const cores = await CorePair.make();
    const sent = cores.table(TABLE_ROOT | TABLE_SEND);
    const [fdb, other] = [cores.table(TABLE_ROOT | TABLE_FDB), cores.table(TABLE_ROOT | TABLE_FDB)];
    const [received, another] = [cores.table(TABLE_ROOT), cores.table(TABLE_ROOT)];
    for (const table of [fdb, other]) cores.rule(table, [], [[Op.vport, 0]]);
    for (const table of [received, another]) cores.rule(table, [], [[Op.queue, cores.queue()]]);
    const frames = [{ bytes: packet(), vport: 1 }];
    const setFdb = (table: Pair): Pair => cores.both(({ exports }, side) => exports.setFdb(table[side]));
    const setVport = (table: Pair): Pair => cores.both(({ exports }, side) => exports.setVport(0, table[side]));
    setFdb(fdb);
    setVport(received);
    expect(cores.steerTwice(sent, frames)).toEqual([[0, 2]]);
    setFdb(other);
    expect(cores.steerTwice(sent, frames)).toEqual([[1, 2]]);
    setVport(another);
    expect(cores.steerTwice(sent, frames)).toEqual([[1, 3]]);
    expect(cores.hits).toBe(3);
  });

  test("a table that goes, and one that takes its memory", async () => {
    const { cores, queue } = await chain();
    const root = cores.table(TABLE_ROOT);
    const rule = cores.rule(root, [src(0x0a000001)], [[Op.queue, queue]]);
    cores.steerTwice(root, [from(1), from(2)]);
    cores.remove(rule);
    cores.steerTwice(root, [from(1), from(2)]);
    cores.both(({ exports }, side) => exports.destroyTable(root[side]));
    const again = cores.table(0);
    expect(again).toEqual(root);
    const { hits } = cores;
    cores.steer(again, [from(1), from(2)]);
    expect(cores.hits).toBe(hits);
  });

  test("what the parser is told", async () => {
    const { cores, root } = await chain();
    cores.steerTwice(root, [from(1)]);
    const tell: (() => Pair)[] = [
      () => cores.both(({ exports }) => exports.declareSample(0, Header.ipv4, LEVEL_OUTER, 0, -1)),
      () => cores.both(({ exports }) => exports.declareGeneveOption(1, 2)),
      () => cores.both(({ exports }) => exports.clearCache()),
    ];
    for (const one of tell) {
      const { hits } = cores;
      one();
      cores.steer(root, [from(1)]);
      expect(cores.hits).toBe(hits);
      cores.steer(root, [from(1)]);
      expect(cores.hits).toBe(hits + 1);
    }
  });

  test("rules that match other bytes, or no bytes any more", async () => {
    const { cores, root, next, queue } = await chain();
    cores.rule(next, [], [[Op.queue, queue]], 9);
    const frames = [{ bytes: packet({ ttl: 1 }) }, { bytes: packet({ ttl: 2 }) }];
    for (const frame of frames) cores.steer(root, [frame]);
    expect(cores.hits).toBe(1);
    const table = cores.table(0);
    const asking = cores.rule(table, [TTL(1)], [[Op.drop, 0]]);
    for (const frame of frames) cores.steerTwice(root, [frame]);
    expect(cores.hits).toBe(3);
    cores.remove(asking);
    for (const frame of frames) cores.steer(root, [frame]);
    expect(cores.hits).toBe(4);
  });
});

/**
 * Two frames of one key go on after the first rule, which changes them or keeps state, to a rule
 * that matches only one of them. The first makes an entry for both, then each is looked up.
 */
describe("recording stops after", () => {
  interface Case {
    steps: (cores: CorePair) => readonly Step[];
    then: readonly Asked[];
    frames: readonly [PairFrame, PairFrame];
    before?: (cores: CorePair) => void;
  }
  const modify =
    (...changes: readonly Change[]): Case["steps"] =>
    (cores) => [[Op.modify, program(cores, ...changes)]];
  const two = (one: Parameters<typeof packet>[0], other: Parameters<typeof packet>[0]): Case["frames"] => [
    { bytes: packet(one) },
    { bytes: packet(other) },
  ];
  const VXLAN = [8, 0, 0, 0, 0, 0, 42, 0];
  const inside = (last: number): Uint8Array => Uint8Array.from([...VXLAN, ...packet({ src: last })]);
  const sampled = (cores: CorePair): void => {
    // The checksum of the header and half the source address after it.
    cores.both(({ exports }) => exports.declareSample(0, Header.ipv4, LEVEL_OUTER, 10, -1));
  };

  const cases: Record<string, Case> = {
    "a tag taken off": {
      steps: () => [[Op.pop_vlan, 0]],
      then: [[LAYER_TCI, 2, 0xfff, 7]],
      frames: two({ tags: [5, 7] }, { tags: [5, 9] }),
    },
    "a tag put on": {
      steps: () => [[Op.push_vlan, 0x81000001 | 0]],
      then: [[MISC_OUTER_TCI2, 2, 0xfff, 5]],
      frames: two({ tags: [5, 9] }, { tags: [6, 9] }),
    },
    "a tunnel taken off": {
      steps: (cores) => [[Op.reformat, cores.record(new Uint8Array(REFORMAT_DATA))]],
      then: [src(1)],
      frames: two({ dport: 4789, payload: inside(1) }, { dport: 4789, payload: inside(2) }),
    },
    "a field copied into a register": {
      steps: modify([MODIFY_COPY, 32, Place.register, 0, Place.ipv4, 96]),
      then: [C0(0x0a000001)],
      frames: two({ src: 0x0a000001 }, { src: 0x0a000002 }),
    },
    "another EtherType": {
      steps: modify([MODIFY_SET, 16, Place.ethertype, 0, 0x0800]),
      then: [src(0x0a000001)],
      frames: two({ ethertype: 0x1234, src: 0x0a000001 }, { ethertype: 0x1234, src: 0x0a000002 }),
    },
    "another UDP port": {
      steps: modify([MODIFY_SET, 16, Place.udp, 16, 4789]),
      then: [
        [MISC_VXLAN_VNI, 4, 0xffffff00, 42 << 8],
        [EXT_PRESENT_OUTER + 8, 4, PRESENT_VXLAN, PRESENT_VXLAN],
      ],
      frames: two({ dport: 9, payload: inside(1) }, { dport: 9, payload: inside(1).fill(1, 4, 7) }),
    },
    "a sum that carries into a byte that rules ask about": {
      steps: modify([MODIFY_ADD, 9, Place.tcp, 103, 1]),
      then: [[LAYER_STATE, 1, 1, 1]],
      frames: two({ protocol: "tcp", tcpFlags: 0xff }, { protocol: "tcp", tcpFlags: 0x0f }),
    },
    "a change that a sample sees the checksum of": {
      before: sampled,
      steps: modify([MODIFY_SET, 8, Place.ipv4, 64, 5]),
      then: [[MISC4, 4, 0xffff0000, sampleBehind()]],
      frames: two({ ttl: 10, id: 0x100 }, { ttl: 11, id: 0 }),
    },
    "a flag that remembers the first hit": {
      steps: (cores) => [
        [Op.state, FIRST_HIT_SET << 8],
        [Op.first_hit, cores.record(new Uint8Array(16))],
      ],
      then: [C0(1)],
      frames: [{ bytes: packet() }, { bytes: packet() }],
    },
  };

  /** The checksum when the TTL of the first of the two frames is 5. */
  function sampleBehind(): number {
    const view = new DataView(packet({ ttl: 5, id: 0x100 }).buffer);
    return (view.getUint16(14 + 10) << 16) >>> 0;
  }

  test.each(Object.keys(cases))("%s", async (what) => {
    const { steps, then, frames, before } = cases[what] as Case;
    const cores = await CorePair.make();
    before?.(cores);
    const [root, next, queue] = [cores.table(TABLE_ROOT), cores.table(0), cores.queue()];
    cores.rule(root, [], [...steps(cores), [Op.table, next]]);
    cores.rule(next, then, [[Op.queue, queue]]);
    const hit = [...frames, ...frames].flatMap((frame) => cores.steer(root, [frame]).map((rules) => rules.length));
    expect(cores.hits).toBe(3);
    expect(new Set(hit)).toEqual(new Set([1, 2]));
  });

  test("not behind a field that is set where it is there: whether it is is part of the key", async () => {
    const cores = await CorePair.make();
    const [root, next, queue] = [cores.table(TABLE_ROOT), cores.table(0), cores.queue()];
    cores.rule(
      root,
      [],
      [
        [Op.modify, program(cores, [MODIFY_SET, 8, Place.ipv4, 64, 5])],
        [Op.table, next],
      ],
    );
    cores.rule(next, [TTL(5)], [[Op.queue, queue]]);
    const six = packet({ ethertype: 0x86dd });
    six.set([0x60, 0, 0, 0, 0, 8, 17, 64], 14);
    const frames = [{ bytes: packet() }, { bytes: six }];
    expect([...frames, ...frames].map((frame) => cores.steer(root, [frame])[0]?.length)).toEqual([2, 1, 2, 1]);
    expect(cores.hits).toBe(2);
  });

  test("not behind a sum whose carry alone rules ask about", async () => {
    const cores = await CorePair.make();
    const [root, next, queue] = [cores.table(TABLE_ROOT), cores.table(0), cores.queue()];
    cores.rule(
      root,
      [],
      [
        [Op.modify, program(cores, [MODIFY_ADD, 32, Place.register + REGISTER_A, 0, 1])],
        [Op.table, next],
      ],
    );
    cores.rule(next, [[MISC2_REGISTER_A, 1, 0xff, 1]], [[Op.queue, queue]]);
    const frames = [0xffff, 0xffffff, 0xffff, 0xffffff].map((metadata) => ({ bytes: packet(), vport: 1, metadata }));
    expect(frames.map((frame) => cores.steer(root, [frame])[0]?.length)).toEqual([1, 2, 1, 2]);
    expect(cores.hits).toBe(2);
  });

  test("not behind sums of whole fields and registers", async () => {
    const cores = await CorePair.make();
    const [root, next, queue] = [cores.table(TABLE_ROOT), cores.table(0), cores.queue()];
    const changes = program(
      cores,
      [MODIFY_ADD, 8, Place.ipv4, 64, 0xff],
      [MODIFY_ADD, 32, Place.register + REGISTER_A, 0, 1],
      [MODIFY_SET, 32, Place.register, 0, 9],
    );
    cores.rule(
      root,
      [],
      [
        [Op.modify, changes],
        [Op.table, next],
      ],
    );
    cores.rule(next, [TTL(63), [MISC2_REGISTER_A, 4, 0xffffffff, 4], C0(9)], [[Op.queue, queue]]);
    const frames = [3, 4, 3, 3].map((metadata) => ({ bytes: packet(), vport: 1, metadata }));
    expect(frames.map((frame) => cores.steer(root, [frame])[0]?.length)).toEqual([2, 1, 2, 2]);
    expect(cores.hits).toBe(2);
  });
});
