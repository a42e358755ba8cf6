/**
 * Header changes on frames, byte by byte. Expected values are written into the bytes at offsets
 * from the RFCs and the reference parser, and all checksums are computed by a full sum: correct
 * ones stay correct, wrong ones stay wrong by the same amount.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { Op } from "../../../src/abi/engine.js";
import { modifyActions, type ModifyAction } from "../../../src/model/action/modifyActions.js";
import { modifyProgram } from "../../../src/model/action/modifyHeader.js";
import { buildFrame, type Layer } from "../../../src/packet/index.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../../assembly/support/core.js";
import { EVERY_HEADER } from "../../packet/support/everyHeader.js";
import { DRAWN, REGISTER_NAMES } from "../support/drawn.js";
import {
  checksumsOf,
  headersOf,
  Lane,
  mend,
  placeOf,
  readBits,
  wrongIn,
  writeBits,
  type FrameSpec,
  type Rewritten,
} from "../support/rewriting.js";
import { settingUnder } from "../../model/support/settings.js";
import { rounds } from "../../support/tier.js";

let lane: Lane;
beforeAll(async () => void (lane = await Lane.open()));

const random = new Random(seedFor("modifyHeader"));
const NAMES: readonly string[] = [...DRAWN.keys(), ...REGISTER_NAMES];
const widthOf = (name: string): number => DRAWN.get(name)?.[1][1] ?? 32;

/** The program of a list for the domain that has its register, if it names one. */
function programOf(list: readonly ModifyAction[]): Uint8Array {
  const sends = JSON.stringify(list).includes("METADATA_REG_A");
  return modifyProgram(settingUnder("manual", sends ? "nic_tx" : "nic_rx"), modifyActions(list), undefined);
}

const run = (frames: readonly FrameSpec[], list: readonly ModifyAction[]): Rewritten[] =>
  lane.run(frames, [[Op.modify, programOf(list)]]);
const runOne = (frame: FrameSpec | Uint8Array, ...list: ModifyAction[]): Rewritten =>
  run([frame instanceof Uint8Array ? { bytes: frame } : frame], list)[0]!;

/** Runs a list of changes on bytes and registers, without the engine. */
function expected(
  frame: FrameSpec,
  list: readonly ModifyAction[],
): { bytes: Uint8Array; registers: Map<number, number> } {
  const { bytes: before, metadata = 0 } = frame;
  const bytes = before.slice();
  const headers = headersOf(frame);
  const registers = new Map([[8, metadata]]);
  const written = new Set<number>();
  const read = (name: string, offset: number, length: number): number | undefined => {
    const register = REGISTER_NAMES.indexOf(name);
    if (register >= 0) return Math.floor((registers.get(register) ?? 0) / 2 ** offset) % 2 ** length;
    const place = placeOf(before, headers, name);
    return place && readBits(bytes, place[0] + place[1] - offset - length, length);
  };
  const write = (name: string, offset: number, length: number, value: number): void => {
    const register = REGISTER_NAMES.indexOf(name);
    if (register >= 0) {
      const word = Uint8Array.of(0, 0, 0, 0);
      writeBits(word, 0, 32, registers.get(register) ?? 0);
      writeBits(word, 32 - offset - length, length, value);
      registers.set(register, readBits(word, 0, 32));
      written.add(register);
      return;
    }
    const place = placeOf(before, headers, name);
    if (place !== undefined) writeBits(bytes, place[0] + place[1] - offset - length, length, value);
  };
  for (const action of list) {
    const { type, field, to, data = 0, offset = 0, src_offset = 0, dst_offset = 0, length = 32 } = action as Parts;
    if (type === "set") write(field, offset, Math.min(length, widthOf(field) - offset), data);
    else if (type === "add") {
      const now = read(field, 0, widthOf(field));
      if (now !== undefined) write(field, 0, widthOf(field), now + data);
    } else {
      const value = read(field, src_offset, length);
      if (value !== undefined) write(to, dst_offset, length, value);
    }
  }
  mend(before, headers, bytes);
  return { bytes, registers: new Map([...registers].filter(([n]) => written.has(n)).sort(([a], [b]) => a - b)) };
}

/** The changes in the lists of these tests; copies give their length. */
interface Parts {
  type: string;
  field: string;
  to: string;
  data?: number;
  offset?: number;
  length?: number;
  src_offset?: number;
  dst_offset?: number;
}

/** A list has the expected effect on many frames, and changes neither lengths nor verdicts. */
function agree(frames: readonly (FrameSpec & { name: string })[], list: readonly ModifyAction[]): void {
  const results = run(frames, list);
  for (const [i, frame] of frames.entries()) {
    const { bytes, registers } = expected(frame, list);
    const found = results[i]!;
    const same = found.bytes.every((byte, at) => byte === bytes[at]) && found.bytes.length === bytes.length;
    if (!same) expect(found.bytes, `${frame.name} ${JSON.stringify(list)}`).toEqual(bytes);
    expect([found.verdict, found.wireLength], frame.name).toEqual(["deliver", frame.wireLength ?? frame.bytes.length]);
    expect(found.registers, `${frame.name} ${JSON.stringify(list)}`).toEqual(registers);
  }
}

const number = (bits: number): number => Number(random.bits(bits));
const set = (field: string, data: number, more: object = {}): ModifyAction => ({ type: "set", field, data, ...more });
const add = (field: string, data: number): ModifyAction => ({ type: "add", field, data });
const copy = (field: string, to: string, more: object = {}): ModifyAction => ({ type: "copy", field, to, ...more });

function randomSet(field: string): ModifyAction {
  const offset = random.below(widthOf(field));
  return set(field, number(32), { offset, length: random.between(1, widthOf(field) - offset) });
}

function randomCopy(field: string, to: string): ModifyAction {
  const [src_offset, dst_offset] = [random.below(widthOf(field)), random.below(widthOf(to))];
  const length = random.between(1, Math.min(widthOf(field) - src_offset, widthOf(to) - dst_offset));
  return copy(field, to, { src_offset, dst_offset, length });
}

/** A list with at most one of the registers A and B. */
function randomList(): ModifyAction[] {
  const other = random.pick(["METADATA_REG_A", "METADATA_REG_B"]);
  const names = NAMES.filter((name) => name !== other);
  return Array.from({ length: random.between(1, 12) }, () => {
    const field = random.pick(names);
    const kind = random.below(3);
    return kind === 0 ? randomSet(field) : kind === 1 ? add(field, number(32)) : randomCopy(field, random.pick(names));
  });
}

const DATA = Uint8Array.from({ length: 31 }, (_, i) => 7 * i + 1);
const ethernet = { header: "ethernet" } as const;
const ipv4 = { header: "ipv4" } as const;
const ipv6 = { header: "ipv6" } as const;
const tcp = { header: "tcp" } as const;
const udp = { header: "udp" } as const;

/** Frames with correct checksums. */
const RIGHT = EVERY_HEADER.map(({ name, linkType, layers }) => {
  return { name, linkType, bytes: buildFrame(layers), metadata: 0x5aa5_1234 };
});

/**
 * A checksum cannot be correct in a fragment, nor, with the header's own destination, on a source
 * route.
 */
const ODD = ["a first fragment", "a strict source route", "a segment route under way"];

/** The same frame with each checksum wrong by some amount, except those whose 0 means none. */
function damaged(frame: FrameSpec & { name: string }): FrameSpec & { name: string } {
  const bytes = frame.bytes.slice();
  for (const { at } of checksumsOf(bytes, headersOf(frame))) writeBits(bytes, 8 * at, 16, random.between(1, 0xfffe));
  return { ...frame, name: `${frame.name}, wrong`, bytes };
}

test("the frames have right checksums, and all kinds of them", () => {
  const kinds = new Set<string>();
  for (const frame of RIGHT) {
    const headers = headersOf(frame);
    if (!ODD.includes(frame.name)) expect(wrongIn(frame.bytes, headers), frame.name).toEqual([]);
    for (const { name } of checksumsOf(frame.bytes, headers)) kinds.add(name);
    const wrong = damaged(frame);
    expect(wrongIn(wrong.bytes, headersOf(wrong)).length).toBe(checksumsOf(frame.bytes, headers).length);
  }
  const both = ["tcp", "udp", "icmpv6", "ipv4"].flatMap((kind) => [`outer ${kind}`, `inner ${kind}`]);
  expect([...kinds].sort()).toEqual([...both, "outer gre"].filter((kind) => kind !== "inner icmpv6").sort());
  const there = NAMES.filter(
    (name) =>
      DRAWN.has(name) &&
      RIGHT.some(({ bytes, ...frame }) => {
        return placeOf(bytes, headersOf({ bytes, ...frame }), name) !== undefined;
      }),
  );
  expect(there).toEqual([...DRAWN.keys()]);
});

const ALL = [...RIGHT, ...RIGHT.map(damaged)];

describe.each(NAMES)("%s", (name) => {
  const whole = 2 ** widthOf(name) - 1;

  test("is set, whole and in parts", () => {
    for (const data of [0, whole]) agree(RIGHT, [set(name, data)]);
    agree(ALL, [randomSet(name)]);
  });

  test("is added to, modulo its width", () => {
    agree(RIGHT, [add(name, 1)]);
    agree(ALL, [add(name, number(32))]);
  });

  test("is copied, from a register and to one, and to another field", () => {
    const register = name === "METADATA_REG_A" ? "METADATA_REG_C_1" : "METADATA_REG_C_0";
    agree(RIGHT, [set(register, number(32)), randomCopy(register, name)]);
    agree(RIGHT, [randomCopy(name, register)]);
    agree(ALL, [randomCopy(name, random.pick([...DRAWN.keys()]))]);
  });
});

test("lists of changes", () => {
  for (let n = 0; n < rounds(60); n++) agree(ALL, randomList());
});

test("as many changes as there can be", () => {
  const long = Array.from({ length: 255 }, (_, i) => (i % 2 === 0 ? add("OUT_IP_TTL", 1) : add("METADATA_REG_C_7", i)));
  agree(RIGHT, long);
  expect(runOne(buildFrame([ethernet, { ...ipv4, ttl: 200 }, udp, DATA]), ...long).bytes[22]).toBe((200 + 128) % 256);
});

describe("captures that are cut", () => {
  test("change what is there whole, and the checksums of what is not", () => {
    for (const frame of RIGHT) {
      const wireLength = frame.bytes.length;
      const lengths = new Set([14, 34, 41, 42, 53, 54, wireLength - 1, random.below(wireLength)]);
      const cut = [...lengths].filter((length) => length < wireLength);
      const frames = cut.map((length) => ({ ...frame, bytes: frame.bytes.slice(0, length), wireLength }));
      for (let n = 0; n < rounds(4); n++) agree(frames, randomList());
    }
  });
});

describe("by hand", () => {
  /** 14 of Ethernet, 20 of IPv4, 8 of UDP; TTL 64. */
  const PLAIN = buildFrame([
    { header: "ethernet", destination: "02:00:00:00:00:01", source: "02:00:00:00:00:02" },
    { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2", dscp: 10, ecn: 1, ttl: 1 },
    { header: "udp", source_port: 1000, destination_port: 2000 },
    DATA,
  ]);
  const word = (bytes: Uint8Array, at: number): number => readBits(bytes, 8 * at, 16);
  const text = (bytes: Uint8Array, from: number, end: number): string =>
    Array.from(bytes.subarray(from, end), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const right = (bytes: Uint8Array): boolean => wrongIn(bytes, headersOf({ bytes })).length === 0;

  test("MAC addresses are in two parts", () => {
    const { bytes } = runOne(
      PLAIN,
      set("OUT_DMAC_47_16", 0x11223344),
      set("OUT_DMAC_15_0", 0x5566),
      set("OUT_SMAC_47_16", 0xaabbccdd),
      set("OUT_SMAC_15_0", 0xeeff),
    );
    expect(text(bytes, 0, 14)).toBe("112233445566aabbccddeeff0800");
  });

  test("DSCP and ECN share a byte with each other, and in IPv6 with the version and the flow label", () => {
    const { bytes } = runOne(PLAIN, set("OUT_IP_DSCP", 0x2a));
    expect([bytes[15], right(bytes)]).toEqual([(0x2a << 2) | 1, true]);
    expect(runOne(PLAIN, set("OUT_IP_ECN", 2)).bytes[15]).toBe((10 << 2) | 2);
    const six = buildFrame([ethernet, { ...ipv6, dscp: 1, ecn: 3, flow_label: 0xabcde }, tcp]);
    expect(text(runOne(six, set("OUT_IP_DSCP", 0x3f)).bytes, 14, 18)).toBe("6ffabcde");
    expect(text(runOne(six, set("OUT_IP_ECN", 0)).bytes, 14, 18)).toBe("604abcde");
    expect(text(runOne(six, copy("OUT_IP_DSCP", "METADATA_REG_C_0", { length: 6 })).bytes, 14, 18)).toBe("607abcde");
  });

  test("a time to live of 1, less one, is 0, and then 255", () => {
    expect(runOne(PLAIN, add("OUT_IP_TTL", 0xff)).bytes[22]).toBe(0);
    const { bytes } = runOne(PLAIN, add("OUT_IP_TTL", 0xff), add("OUT_IP_TTL", 0xff));
    expect([bytes[22], right(bytes)]).toEqual([255, true]);
  });

  test("the VID alone", () => {
    const tagged = buildFrame([ethernet, { header: "vlan", pcp: 5, dei: true, vid: 100 }, ipv4, udp]);
    expect(word(runOne(tagged, set("OUT_FIRST_VID", 0xabc, { length: 12 })).bytes, 14)).toBe(0xbabc);
    expect(word(runOne(tagged, set("OUT_FIRST_VID", 2, { offset: 13, length: 3 })).bytes, 14)).toBe(0x5064);
    expect(runOne(PLAIN, set("OUT_FIRST_VID", 1)).bytes).toEqual(PLAIN);
    const two = buildFrame([ethernet, { header: "vlan", vid: 1 }, { header: "vlan", vid: 2 }, ipv4]);
    const { bytes } = runOne(two, set("OUT_FIRST_VID", 9), set("OUT_ETHERTYPE", 0x88b5));
    expect(text(bytes, 12, 22)).toBe("88a8" + "0009" + "8100" + "0002" + "88b5");
  });

  test("TCP flags are nine, and the data offset beside them stays", () => {
    const frame = buildFrame([ethernet, ipv4, { ...tcp, flags: "syn", data_offset: 5, reserved: 5 }]);
    expect(word(runOne(frame, set("OUT_TCP_FLAGS", 0x1ff)).bytes, 46)).toBe(0x5bff);
    expect(word(runOne(frame, set("OUT_TCP_FLAGS", 0)).bytes, 46)).toBe(0x5a00);
  });

  test("each change sees the one before", () => {
    const swap = [
      copy("OUT_SIPV4", "METADATA_REG_C_3"),
      copy("OUT_DIPV4", "OUT_SIPV4"),
      copy("METADATA_REG_C_3", "OUT_DIPV4"),
    ];
    const { bytes, registers } = runOne(PLAIN, ...swap);
    expect([text(bytes, 26, 34), right(bytes)]).toEqual(["0a0000020a000001", true]);
    expect([...registers]).toEqual([[3, 0x0a000001]]);
    // The sum of two fields does not change when they are swapped.
    expect(text(bytes, 24, 26) + text(bytes, 40, 42)).toBe(text(PLAIN, 24, 26) + text(PLAIN, 40, 42));
  });

  test("headers are those from before the list", () => {
    const { bytes } = runOne(PLAIN, set("OUT_ETHERTYPE", 0x88b5), set("OUT_IP_TTL", 9), set("OUT_UDP_DPORT", 4789));
    expect([word(bytes, 12), bytes[22], word(bytes, 36)]).toEqual([0x88b5, 9, 4789]);
    // After it, the current headers count.
    const [twice] = lane.run(
      [{ bytes: PLAIN }],
      [
        [Op.modify, programOf([set("OUT_ETHERTYPE", 0x88b5)])],
        [Op.modify, programOf([set("OUT_IP_TTL", 9), set("OUT_DMAC_15_0", 9)])],
      ],
    );
    expect([twice!.bytes[22], word(twice!.bytes, 4)]).toEqual([1, 9]);
  });

  test("a port that makes a tunnel of the frame, for the list behind", () => {
    const inside = buildFrame([ethernet, ipv4, { ...tcp, source_port: 80 }]);
    const frame = buildFrame([
      ethernet,
      ipv4,
      { ...udp, destination_port: 4000 },
      joined([8, 0, 0, 0, 0, 0, 7, 0], inside),
    ]);
    const turn = set("OUT_UDP_DPORT", 4789);
    expect(word(runOne(frame, turn, set("IN_TCP_SPORT", 5)).bytes, 50 + 34)).toBe(80);
    const steps = [[turn], [set("IN_TCP_SPORT", 5)]].map((list) => [Op.modify, programOf(list)] as const);
    const bytes = lane.run([{ bytes: frame }], steps)[0]!.bytes;
    expect([word(bytes, 50 + 34), right(bytes)]).toEqual([5, true]);
  });

  test("a UDP checksum of 0 stays, over IPv4 and IPv6", () => {
    for (const ip of [ipv4, ipv6]) {
      const frame = buildFrame([ethernet, ip, { ...udp, checksum: 0 }, DATA]);
      const { bytes } = runOne(frame, set("OUT_UDP_DPORT", 53), add("OUT_IP_TTL", 1), set("OUT_SIPV6_31_0", 9));
      const at = ip === ipv4 ? 40 : 60;
      expect([word(bytes, at - 4), word(bytes, at)]).toEqual([53, 0]);
    }
  });

  test("a difference whose carry makes another carry", () => {
    const frame = buildFrame([ethernet, { ...ipv4, source: "0.0.0.0" }, udp, DATA]);
    const { bytes } = runOne(frame, set("OUT_SIPV4", 0x80008000));
    expect([text(bytes, 26, 30), right(bytes)]).toEqual(["80008000", true]);
  });

  test("one that would become 0 becomes 0xffff", () => {
    const zero = buildFrame([ethernet, ipv4, { ...udp, destination_port: 0 }, DATA]);
    const dport = word(zero, 40);
    // What it is complemented to lies in the port now.
    const { bytes } = runOne(zero, set("OUT_UDP_DPORT", dport));
    expect([word(bytes, 36), word(bytes, 40), right(bytes)]).toEqual([dport, 0xffff, true]);
    const back = runOne(bytes, set("OUT_UDP_DPORT", 0));
    expect(word(back.bytes, 40)).toBe(dport);
    // That of TCP is 0 then.
    const other = buildFrame([ethernet, ipv4, { ...tcp, destination_port: 0 }, DATA]);
    expect(word(runOne(other, set("OUT_TCP_DPORT", word(other, 50))).bytes, 50)).toBe(0);
  });

  test("inside a tunnel the outer checksum follows, where there is one", () => {
    const inner: Layer[] = [ethernet, ipv4, { ...udp, checksum: 0 }, DATA];
    const vxlan = (checksum?: number): Uint8Array =>
      buildFrame([
        ethernet,
        ipv6,
        { ...udp, ...(checksum === undefined ? {} : { checksum }) },
        { header: "vxlan" },
        ...inner,
      ]);
    const list = [set("IN_DIPV4", 0xc0a80001), set("IN_DMAC_47_16", 1), set("IN_UDP_SPORT", 7), add("IN_IP_TTL", 0xff)];
    const bytes = runOne(vxlan(), ...list).bytes;
    expect([right(bytes), word(bytes, 60) === word(vxlan(), 60)]).toEqual([true, false]);
    // None stays none; the inner one likewise.
    expect(word(runOne(vxlan(0), ...list).bytes, 60)).toBe(0);
    expect(word(bytes, 14 + 40 + 16 + 40)).toBe(0);
    const gre = (c: boolean): Uint8Array => buildFrame([ethernet, ipv4, { header: "gre", c, key: 5 }, ...inner]);
    const withSum = runOne(gre(true), ...list).bytes;
    expect([right(withSum), word(withSum, 38) === word(gre(true), 38)]).toEqual([true, false]);
    // Without one, the key is at the same offset.
    expect(text(runOne(gre(false), ...list).bytes, 34, 42)).toBe(text(gre(false), 34, 42));
  });

  test("what GRE carries may stand at an odd place behind its source route", () => {
    const inner = buildFrame([ethernet, ipv4, { ...udp, checksum: 0 }, DATA]);
    for (const length of [4, 5]) {
      // RFC 1701: checksum and routing, an entry, and the entry that ends the route.
      const route = [0x08, 0, 0, length, ...new Uint8Array(length).fill(7), 0, 0, 0, 0];
      const gre = Uint8Array.of(0xc0, 0, 0x65, 0x58, 0, 0, 0, 0, ...route, ...inner);
      let sum = 0;
      for (let at = 0; at < gre.length; at += 2) sum += word(Uint8Array.of(...gre, 0), at);
      new DataView(gre.buffer).setUint16(4, 0xffff - (sum % 0xffff));
      const frame = buildFrame([ethernet, { ...ipv4, protocol: 47 }, gre]);
      expect(right(frame)).toBe(true);
      const { bytes } = runOne(frame, set("IN_DIPV4", 0xc0a80001), set("IN_UDP_SPORT", 0x1234), set("IN_SMAC_15_0", 9));
      expect([right(bytes), word(bytes, 38) === word(frame, 38)]).toEqual([true, false]);
    }
  });

  test("nothing of the outer packet is inner", () => {
    const ip = buildFrame([ethernet, { ...ipv4, ttl: 5 }, { ...ipv4, ttl: 6 }, udp, DATA]);
    const { bytes } = runOne(ip, set("OUT_IP_TTL", 50), set("IN_IP_TTL", 60), set("OUT_UDP_SPORT", 1));
    expect([bytes[22], bytes[42], text(bytes, 54, 56)]).toEqual([50, 60, text(ip, 54, 56)]);
    expect(runOne(PLAIN, ...["IN_IP_TTL", "IN_UDP_SPORT", "IN_DMAC_15_0"].map((name) => set(name, 7))).bytes).toEqual(
      PLAIN,
    );
  });

  test("the TEID, and the outer checksum over it", () => {
    const frame = buildFrame([ethernet, ipv4, udp, { header: "gtpu", teid: 1, message_type: 26 }, DATA]);
    const { bytes } = runOne(frame, set("GTPU_TEID", 0xdeadbeef));
    expect([text(bytes, 46, 50), right(bytes)]).toEqual(["deadbeef", true]);
  });

  test("a first fragment has ports, a later one has not", () => {
    const first = buildFrame([ethernet, { ...ipv4, flags: "mf" }, { ...udp, checksum: 0x1234 }, DATA.slice(0, 24)]);
    const ports = runOne(
      first,
      add("OUT_UDP_SPORT", 3),
      set("OUT_DIPV4", word(first, 30) * 65536 + word(first, 32) + 5),
    );
    expect(word(ports.bytes, 40)).toBe(0x1234 - 8);
    const later = buildFrame([ethernet, { ...ipv4, fragment_offset: 3 }, udp, DATA.slice(0, 24)]);
    const moved = runOne(later, set("OUT_UDP_SPORT", 3), set("OUT_DIPV4", 0x01020304));
    expect([text(moved.bytes, 30, 34), text(moved.bytes, 34, 66)]).toEqual(["01020304", text(later, 34, 66)]);
    const six = buildFrame([ethernet, ipv6, { header: "ipv6_fragment", fragment_offset: 2 }, udp, DATA.slice(0, 24)]);
    const moved6 = runOne(six, set("OUT_UDP_SPORT", 3), set("OUT_SIPV6_31_0", 9));
    expect([text(moved6.bytes, 34, 38), text(moved6.bytes, 54, 94)]).toEqual(["00000009", text(six, 54, 94)]);
  });

  test("the destination of a route under way is not that of the checksum", () => {
    const frame = (segments_left: number): Uint8Array =>
      buildFrame([
        ethernet,
        ipv6,
        { header: "ipv6_routing", segments_left, data: ["2001:db8::c", "2001:db8::b"] },
        udp,
        DATA,
      ]);
    const at = 14 + 40 + 40 + 6;
    const change = (left: number, field: string): number =>
      word(runOne(frame(left), add(field, 1)).bytes, at) - word(frame(left), at);
    expect([change(1, "OUT_DIPV6_31_0"), change(0, "OUT_DIPV6_31_0")]).toEqual([0, -1]);
    expect([change(1, "OUT_SIPV6_31_0"), change(0, "OUT_SIPV6_31_0")]).toEqual([-1, -1]);
    expect([change(1, "OUT_IPV6_HOPLIMIT"), change(1, "OUT_UDP_SPORT")]).toEqual([0, -1]);
  });

  test("metadata that a queue pair has sent", () => {
    const one = { bytes: PLAIN, metadata: 0x01020304 };
    const { bytes, registers } = runOne(one, copy("METADATA_REG_A", "OUT_SIPV4"), add("METADATA_REG_C_0", 5));
    expect([text(bytes, 26, 30), right(bytes), [...registers]]).toEqual(["01020304", true, [[0, 5]]]);
    expect([...runOne(one, add("METADATA_REG_A", 0xffffffff)).registers]).toEqual([[8, 0x01020303]]);
  });
});

function joined(...parts: (Uint8Array | readonly number[])[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
