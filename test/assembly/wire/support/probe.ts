/** Parses one frame in several places of memory and holds what must be true of any frame. */
import { expect } from "vitest";
import { FRAME_ADDRESS, FRAME_LENGTH, FRAME_LINK, FRAME_PORT, FRAME_WIRE_LENGTH } from "../../../../src/abi/engine.js";
import { MAP_COUNT, MAP_ENTRIES, MAP_ENTRY_SIZE, MAP_FIRST, MAP_SIZE } from "../../../../src/abi/headers.js";
import {
  ALL_GROUPS,
  EXT_PRESENT_TUNNEL,
  GROUP_EXT,
  GROUP_MISC4,
  GROUP_OUTER,
  GROUP_SIZE,
  PRESENT_SAMPLE,
  INNER,
  KEY_SIZE,
  LAYER_OK,
  OK_IPV4_CHECKSUM,
  OK_L4_CHECKSUM,
  OUTER,
  NEEDS_ALL,
  NEEDS_INNER,
  NEEDS_INNER_IPV4_CHECKSUM,
  NEEDS_INNER_L4_CHECKSUM,
  NEEDS_OUTER_IPV4_CHECKSUM,
  NEEDS_OUTER_L4_CHECKSUM,
} from "../../../../src/abi/key.js";
import type { Core } from "../../../../src/engine/core.js";
import { linkOf } from "../../../../src/model/traffic/links.js";
import { holdMap } from "./holdMap.js";
import type { FoundHeader } from "./mutate.js";
import { presenceFault } from "./presence.js";
import type { TestFrame } from "../../support/core.js";

/** Groups are filled where they are wanted; `ext` always. */
const GROUPS = KEY_SIZE / GROUP_SIZE;
/** A bit of the key that is verified, and so set, only where it is wanted. */
const CHECKSUMS: readonly [want: number, byte: number, bit: number][] = [
  [NEEDS_OUTER_IPV4_CHECKSUM, OUTER + LAYER_OK, OK_IPV4_CHECKSUM],
  [NEEDS_OUTER_L4_CHECKSUM, OUTER + LAYER_OK, OK_L4_CHECKSUM],
  [NEEDS_INNER_IPV4_CHECKSUM, INNER + LAYER_OK, OK_IPV4_CHECKSUM],
  [NEEDS_INNER_L4_CHECKSUM, INNER + LAYER_OK, OK_L4_CHECKSUM],
];
/** What asks for bytes behind the headers: without it plain frames are parsed in one piece. */
const BEYOND = CHECKSUMS.reduce((all, [want]) => all | want, 1 << GROUP_MISC4);
/** More than any one header takes, so that a read beside the frame is a read of these. */
const POISONED = 4096;

interface Result {
  key: Uint8Array;
  map: DataView;
}

export class ParseProbe {
  readonly #core: Core;
  readonly #flavour: string;
  readonly #reproduce: string;
  #frame: TestFrame = { bytes: new Uint8Array(0), linkType: 1, wireLength: 0 };

  /** `reproduce` tells how to have the whole run again. */
  constructor(core: Core, flavour: string, reproduce: string) {
    this.#core = core;
    this.#flavour = flavour;
    this.#reproduce = reproduce;
    // What lies behind key and map of frame 0 is checked after each parse.
    core.u8.fill(0xc3, core.keys + KEY_SIZE, core.keys + KEY_SIZE + POISONED);
    core.u8.fill(0xc3, core.maps + MAP_SIZE, core.maps + MAP_SIZE + POISONED);
  }

  /** `wanted`: any set of groups and WANT bits, for a parse of only those. Gives the headers found. */
  check(frame: TestFrame, wanted: number): FoundHeader[] {
    this.#frame = frame;
    // The last byte of the frame is the last byte of memory: a read behind it traps.
    const end = this.#core.exports.memory.buffer.byteLength - frame.bytes.length;
    const whole = this.#parse(end, 0x00, NEEDS_ALL);
    const { bytes, wireLength } = frame;
    const headers = holdMap(whole.map, bytes.length, wireLength, (what) => this.#fail(what));
    const fault = presenceFault(whole.key, headers, headers.length < MAP_ENTRIES);
    if (fault !== undefined) this.#fail(fault);
    const middle = this.#core.bytes + POISONED + (wanted & 15);
    this.#same("bytes 0xff beside the frame", whole, this.#parse(middle, 0xff, NEEDS_ALL), NEEDS_ALL);
    this.#same("bytes 0x00 beside the frame", whole, this.#parse(middle, 0x00, NEEDS_ALL), NEEDS_ALL);
    const some = wanted | NEEDS_INNER;
    this.#same(`wanted 0x${some.toString(16)}`, whole, this.#parse(middle, 0x5a, some), some);
    const lean = some & ~BEYOND;
    this.#same(`wanted 0x${lean.toString(16)}`, whole, this.#parse(end, 0x96, lean), lean);

    const outerChecks = NEEDS_OUTER_IPV4_CHECKSUM | NEEDS_OUTER_L4_CHECKSUM;
    const outer = this.#parse(end, 0xa5, ALL_GROUPS | outerChecks);
    this.#same("the outer packet only", whole, outer, (1 << GROUP_OUTER) | outerChecks, false);
    const less = wanted & (ALL_GROUPS | outerChecks);
    this.#same(`wanted 0x${less.toString(16)}`, outer, this.#parse(middle, 0x33, less), less);
    return headers;
  }

  /** Parses the frame at `address`. Key, map and the bytes beside the frame hold `poison` before. */
  #parse(address: number, poison: number, wanted: number): Result {
    const { exports, u8, u32, frames, keys, maps } = this.#core;
    const { bytes, wireLength, linkType, port } = this.#frame;
    u8.fill(poison, address - POISONED, address);
    u8.fill(poison, address + bytes.length, address + bytes.length + POISONED);
    u8.fill(poison, keys, keys + KEY_SIZE);
    u8.fill(poison, maps, maps + MAP_SIZE);
    u8.set(bytes, address);
    const descriptor = frames >> 2;
    u32[descriptor + (FRAME_ADDRESS >> 2)] = address;
    u32[descriptor + (FRAME_LENGTH >> 2)] = bytes.length;
    u32[descriptor + (FRAME_WIRE_LENGTH >> 2)] = wireLength;
    const link = linkOf("linkType", linkType) << (8 * (FRAME_LINK - FRAME_PORT));
    u32[descriptor + (FRAME_PORT >> 2)] = (port ?? 1) | link;
    try {
      exports.parse(1, wanted);
    } catch (error) {
      this.#fail(`trap: ${String(error)}`);
    }
    const key = u8.slice(keys, keys + KEY_SIZE);
    const map = new DataView(u8.slice(maps, maps + MAP_SIZE).buffer);
    for (let group = 0; group < GROUPS; group++) {
      if (group === GROUP_EXT || wanted & (1 << group)) continue;
      for (let byte = group * GROUP_SIZE; byte < (group + 1) * GROUP_SIZE; byte++)
        if (key[byte] !== poison)
          this.#fail(`key byte ${byte} written, which nobody asked for (0x${wanted.toString(16)})`);
    }
    if (u32[(keys + KEY_SIZE) >> 2] !== 0xc3c3c3c3) this.#fail("bytes behind the key written");
    if (u32[(maps + MAP_SIZE) >> 2] !== 0xc3c3c3c3) this.#fail("bytes behind the map written");
    return { key, map };
  }

  /** What is in `wanted` is the same in `b`, parsed for that alone, as in `a`; `ext` and the map only where `all`. */
  #same(what: string, a: Result, b: Result, wanted: number, all = true): void {
    const expected = a.key.slice();
    for (const [want, byte, bit] of CHECKSUMS) if ((wanted & want) === 0) expected[byte]! &= ~bit;
    // Samples are the bits from PRESENT_SAMPLE up of a big-endian word.
    const words = new DataView(expected.buffer);
    if ((wanted & (1 << GROUP_MISC4)) === 0)
      words.setUint32(EXT_PRESENT_TUNNEL, words.getUint32(EXT_PRESENT_TUNNEL) & (PRESENT_SAMPLE - 1));
    for (let group = 0; group < GROUPS; group++) {
      if (group === GROUP_EXT ? !all : !(wanted & (1 << group))) continue;
      for (let byte = group * GROUP_SIZE; byte < (group + 1) * GROUP_SIZE; byte++)
        if (expected[byte] !== b.key[byte])
          this.#fail(`${what}: key byte ${byte} is ${b.key[byte]}, and ${expected[byte]} otherwise`);
    }
    if (!all) return;
    const used = MAP_FIRST + a.map.getUint16(MAP_COUNT, true) * MAP_ENTRY_SIZE;
    for (let byte = 0; byte < used; byte++)
      if (a.map.getUint8(byte) !== b.map.getUint8(byte))
        this.#fail(`${what}: map byte ${byte} is ${b.map.getUint8(byte)}, and ${a.map.getUint8(byte)} otherwise`);
  }

  #fail(what: string): never {
    const { bytes, linkType, wireLength, port } = this.#frame;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    const alone = `FLOWSTEER_FRAME=${[linkType, wireLength, port ?? 1, hex].join(",")}`;
    const again = `this frame alone: ${alone} vitest run --project node test/assembly/wire/fuzz.test.ts`;
    expect.fail(`${this.#flavour}: ${what}\n${again}\nthe run: ${this.#reproduce}`);
  }
}
