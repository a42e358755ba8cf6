/**
 * Plain frames, which are parsed in one piece, and those that miss being plain by a bit, a byte or a port, have the key
 * and the map that the parser gives them header by header.
 */
import { beforeAll, describe, expect, test } from "vitest";
import debug from "../../../build/debug/core.wasm";
import release from "../../../build/release/core.wasm";
import { FRAME_SIZE, VPORT_UPLINK } from "../../../src/abi/engine.js";
import { Header, MAP_COUNT, MAP_ENTRY_SIZE, MAP_FIRST, MAP_SIZE, MAP_STOP_WHY } from "../../../src/abi/headers.js";
import {
  ALL_GROUPS,
  GROUP_EXT,
  GROUP_MISC4,
  GROUP_OUTER,
  GROUP_SIZE,
  KEY_SIZE,
  LAYER_OK,
  OK_L3,
  OK_L4,
  OUTER,
  NEEDS_INNER,
  NEEDS_INNER_IPV4_CHECKSUM,
} from "../../../src/abi/key.js";
import { declareVxlanPorts } from "../../../src/model/base/parser.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { Random } from "../../oracle/generate/frame.js";
import { frameText, seedFor, type TestFrame } from "../support/core.js";
import { checkReached, rounds } from "../../support/tier.js";

/** Asks the parser to look behind the headers of an inner packet: plain frames have none, and go the long way. */
const LONG_WAY = NEEDS_INNER_IPV4_CHECKSUM;
/** What it can be asked for without. */
const SHORT_WAY = (ALL_GROUPS & ~(1 << GROUP_MISC4)) | NEEDS_INNER;
const GROUPS = KEY_SIZE / GROUP_SIZE;
/** Ports that lead to headers which are read, those beside them, and the ends. */
const VXLAN_PORTS = [60000, 4789, 53, 8472];
const PORTS = [...VXLAN_PORTS, 2152, 4500, 4790, 4791, 6081, 6635].flatMap((port) => [port - 1, port, port + 1]);

const be16 = (value: number): number[] => [(value >> 8) & 0xff, value & 0xff];

/** What a plain frame is made of, as a sender makes it. */
interface Plain {
  tags: readonly number[][];
  version: 4 | 6;
  upper: "tcp" | "udp";
  sport: number;
  dport: number;
  /** Bytes of TCP options, a multiple of 4. */
  options: number;
  payload: number;
  /** Bytes behind the packet. */
  padding: number;
}

function randomPlain(random: Random): Plain {
  return {
    tags: random.pick([[], [], [[0x81, 0, ...be16(random.below(65536))]]]),
    version: random.pick([4, 6]),
    upper: random.pick(["tcp", "udp"]),
    sport: random.below(65536),
    dport: random.pick([random.below(65536), 53, 0, 65535]),
    options: random.pick([0, 0, 12, 40]),
    payload: random.pick([0, 1, 10, 100, 400]),
    padding: random.pick([0, 0, 1, 18]),
  };
}

function bytesOf({ tags, version, upper, sport, dport, options, payload, padding }: Plain, random: Random): number[] {
  const some = (count: number): number[] => Array.from({ length: count }, () => random.below(256));
  const numbers = [...be16(sport), ...be16(dport)];
  const segment =
    upper === "tcp"
      ? [...numbers, ...some(8), ((20 + options) << 2) | random.below(2), ...some(7), ...some(options + payload)]
      : [...numbers, ...be16(8 + payload), ...some(2), ...some(payload)];
  const protocol = upper === "tcp" ? 6 : 17;
  const flags = random.pick([0x00, 0x40, 0x80, 0xc0]);
  const network =
    version === 4
      ? [0x45, ...some(1), ...be16(20 + segment.length), ...some(2), flags, 0, ...some(1), protocol, ...some(10)]
      : [0x60 | random.below(16), ...some(3), ...be16(segment.length), protocol, ...some(33)];
  const type = version === 4 ? [0x08, 0x00] : [0x86, 0xdd];
  return [...some(12), ...tags.flat(), ...type, ...network, ...segment, ...some(padding)];
}

/** A frame on the wire, or cut by the capture. */
function frameOf(bytes: readonly number[], more = 0, linkType = 1): TestFrame {
  return { bytes: Uint8Array.from(bytes), linkType, wireLength: bytes.length + more };
}

/** All that misses a frame by the least there is; most of it is not plain. */
function* misses(plain: Plain, random: Random): Iterable<TestFrame> {
  const bytes = bytesOf(plain, random);
  const headers = Math.min(bytes.length, 18 + 40 + 20);
  for (let bit = 0; bit < headers * 8; bit++) {
    const flipped = [...bytes];
    flipped[bit >> 3]! ^= 0x80 >> (bit & 7);
    yield frameOf(flipped);
  }
  for (let length = 0; length < bytes.length; length++) {
    yield frameOf(bytes.slice(0, length));
    yield frameOf(bytes.slice(0, length), bytes.length - length);
  }
  const ip = 14 + 4 * plain.tags.length;
  const upper = ip + (plain.version === 4 ? 20 : 40);
  const lengths = [ip + (plain.version === 4 ? 2 : 4), ...(plain.upper === "udp" ? [upper + 4] : [])];
  for (const at of lengths) {
    for (const by of [-40, -20, -9, -8, -2, -1, 1, 2, 40, 0x8000]) yield frameOf(changed(bytes, at, by));
    yield frameOf([...bytes.slice(0, at), 0, 0, ...bytes.slice(at + 2)]);
  }
  for (const port of PORTS) {
    yield frameOf(bytesOf({ ...plain, dport: port }, random));
    yield frameOf(bytesOf({ ...plain, sport: port }, random));
  }
  for (const tag of [
    [0x88, 0xa8, 0, 1],
    [0x91, 0, 0, 1],
    [0x8c, 0xe4, 1, 2, 3, 4, 5, 6],
  ])
    yield frameOf(bytesOf({ ...plain, tags: [tag] }, random));
  yield frameOf(
    bytesOf(
      {
        ...plain,
        tags: [
          [0x81, 0, 0, 1],
          [0x81, 0, 0, 2],
        ],
      },
      random,
    ),
  );
  yield frameOf(bytes, 0, 101);
  yield frameOf(bytes, 0xffffffff - bytes.length);
}

/** The bytes with a 16-bit number of theirs changed. */
function changed(bytes: readonly number[], at: number, by: number): number[] {
  const number = (((bytes[at]! << 8) | bytes[at + 1]!) + by) & 0xffff;
  return [...bytes.slice(0, at), ...be16(number), ...bytes.slice(at + 2)];
}

/** Header by header, what the map lists of a plain frame. */
const OUTCOME_CLASSES = [Header.ipv4, Header.ipv6].flatMap((ip) =>
  [Header.tcp, Header.udp].flatMap((upper) => [
    [Header.ethernet, ip, upper].join(),
    [Header.ethernet, Header.vlan, ip, upper].join(),
  ]),
);

class Both {
  /** Frames with the headers of a plain one and lengths that can be, and others. */
  readonly shapes = { plain: 0, other: 0 };
  readonly #core: Core;
  readonly #random: Random;

  constructor(core: Core, random: Random) {
    this.#core = core;
    this.#random = random;
  }

  /** Parses a frame at the very end of memory both ways, as frames 0 and 1 of a batch. */
  check(frame: TestFrame): void {
    const { u8, u32, frames, exports } = this.#core;
    const random = this.#random;
    const { bytes, wireLength, linkType } = frame;
    const address = exports.memory.buffer.byteLength - bytes.length;
    u8.set(bytes, address);
    const port = random.pick([1, 2, 15, 16, 0xffff]) | ((linkType === 1 ? 0 : 1) << 16);
    const vport = random.pick([VPORT_UPLINK, 0, 3]);
    const wanted = random.below(SHORT_WAY + 1) & SHORT_WAY;
    for (const i of [0, 1]) {
      const at = (frames + i * FRAME_SIZE) >> 2;
      u32.set([address, bytes.length, wireLength, port, vport, 0x1abcdef0, 0x12345678], at);
    }
    const short = this.#parse(wanted);
    const long = this.#parse(wanted | LONG_WAY);
    const differs = long.findIndex((byte, at) => byte !== short[at]);
    if (differs >= 0 || short.length !== long.length)
      expect.fail(`${frameText(frame)} wanted ${wanted} port ${port} vport ${vport}: byte ${differs} of map and key`);
    if (wanted & (1 << GROUP_OUTER)) this.#count();
  }

  /** Of frame 1 of two: its map as far as it is used, and the groups of its key that are wanted. */
  #parse(wanted: number): number[] {
    const { u8, keys, maps, exports } = this.#core;
    const poison = this.#random.below(256);
    u8.fill(poison, keys, keys + 2 * KEY_SIZE);
    u8.fill(poison, maps, maps + 2 * MAP_SIZE);
    exports.parse(2, wanted);
    const map = maps + MAP_SIZE;
    const parsed = Array.from(u8.subarray(map, map + MAP_FIRST + MAP_ENTRY_SIZE * (u8[map + MAP_COUNT] ?? 0)));
    for (let group = 0; group < GROUPS; group++) {
      const at = keys + KEY_SIZE + group * GROUP_SIZE;
      const own = u8.subarray(at, at + GROUP_SIZE);
      if (group === GROUP_EXT || wanted & (1 << group)) parsed.push(...own);
      else if (own.some((byte) => byte !== poison)) expect.fail(`group ${group} is written, which nobody wants`);
    }
    return parsed;
  }

  /** What the frame of the last parse is. */
  #count(): void {
    const { u8, keys, maps } = this.#core;
    const map = maps + MAP_SIZE;
    const kinds = Array.from({ length: u8[map + MAP_COUNT]! }, (_, n) => u8[map + MAP_FIRST + MAP_ENTRY_SIZE * n]);
    const listed = u8[map + MAP_STOP_WHY] === 0 && OUTCOME_CLASSES.includes(kinds.join());
    const ok = (u8[keys + KEY_SIZE + OUTER + LAYER_OK]! & (OK_L3 | OK_L4)) === (OK_L3 | OK_L4);
    this.shapes[listed && ok ? "plain" : "other"]++;
  }
}

describe.each(Object.entries({ release, debug }))("%s", (_flavour, wasm) => {
  let core: Core;
  beforeAll(async () => {
    core = await loadOpenCore(wasm);
  });

  test("plain frames, whole and cut behind their headers", () => {
    const random = new Random(seedFor("plain frames"));
    const both = new Both(core, random);
    for (let i = 0; i < rounds(8000); i++)
      both.check(frameOf(bytesOf(randomPlain(random), random), random.pick([0, 0, 1, 500])));
    checkReached(() => expect(both.shapes.plain).toBeGreaterThan(3000));
  });

  test("frames that miss being plain by a bit, a byte, a port", () => {
    const random = new Random(seedFor("nearly plain frames"));
    const both = new Both(core, random);
    for (let i = 0; i < rounds(20); i++) {
      declareVxlanPorts(core, i % 2 === 0 ? [4789] : VXLAN_PORTS.slice(random.below(4)));
      for (const frame of misses(randomPlain(random), random)) both.check(frame);
    }
    checkReached(() => expect(both.shapes.plain).toBeGreaterThan(2000));
    checkReached(() => expect(both.shapes.other).toBeGreaterThan(2000));
  });
});
