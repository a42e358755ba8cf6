/**
 * Common parts of the tests of header changes and reformats: frames through one rule, and their
 * expected results.
 */
import { expect } from "vitest";
import { Op, QUEUE_READY, QUEUE_SINK, REGISTERS, TABLE_ROOT } from "../../../src/abi/engine.js";
import { Reason, Verdict } from "../../../src/abi/outcome.js";
import { Batch } from "../../../src/engine/batch.js";
import { loadOpenCore } from "../../support/openCore.js";
import { createRecord, releaseRecord } from "../../../src/engine/records.js";
import { insertRule } from "../../../src/engine/rules.js";
import { LINK_TYPES } from "../../../src/index.js";
import { linkOf } from "../../../src/model/traffic/links.js";
import { matchOf } from "../../../src/model/match/match.js";
import { onesComplementSum, pseudoHeader } from "../../oracle/wire/checksum.js";
import type { HeaderSeen } from "../../oracle/wire/packet.js";
import { parseReference } from "../../oracle/wire/parse.js";
import { DRAWN } from "./drawn.js";

/** An operation; a record is named by its operand. */
export type Step = readonly [op: Op, operand: number | Uint8Array];

export interface FrameSpec {
  bytes: Uint8Array;
  linkType?: number;
  wireLength?: number;
  metadata?: number;
}

export interface Rewritten {
  bytes: Uint8Array;
  /** The count of a counter after the steps. */
  wireLength: number;
  verdict: string;
  reason: string;
  /** Registers that were written, by number. */
  registers: Map<number, number>;
}

/** A root table with one rule for every frame. */
export class Lane {
  readonly #core: Awaited<ReturnType<typeof loadOpenCore>>;
  readonly #batch: Batch;
  readonly #table: number;
  readonly #sink: number;
  readonly #counters: number;

  private constructor(core: Awaited<ReturnType<typeof loadOpenCore>>) {
    this.#core = core;
    this.#batch = new Batch(core);
    this.#table = core.exports.createTable(TABLE_ROOT) >>> 0;
    this.#sink = core.exports.createQueue(QUEUE_READY | QUEUE_SINK, 0, 0) >>> 0;
    this.#counters = core.exports.createCounters(1) >>> 0;
  }

  static async open(): Promise<Lane> {
    return new Lane(await loadOpenCore());
  }

  /** The frames that arrive at a queue after these steps; all frames are in one batch. */
  run(frames: readonly FrameSpec[], steps: readonly Step[]): Rewritten[] {
    const core = this.#core;
    const used = core.exports.arenaUsed();
    const records = steps.map(([, operand]) => (typeof operand === "number" ? 0 : createRecord(core, operand)));
    const actions = steps.flatMap(([op, operand], i) => [op, typeof operand === "number" ? operand : records[i]!]);
    const rule = insertRule(core, this.#table, {
      id: 0,
      rankHigh: 0,
      rankLow: 0,
      ...matchOf("match", {}),
      actions: [...actions, Op.count, this.#counters, Op.queue, this.#sink],
    });
    const results = frames.map((frame) => this.#one(frame));
    // The results in a batch are the results alone, whatever precedes the frames in memory.
    this.#put(frames);
    this.#batch.steer(this.#table);
    expect(frames.map((_, i) => ({ ...this.#read(i), wireLength: results[i]!.wireLength }))).toEqual(results);
    core.exports.removeRule(rule);
    steps.forEach(([, operand], i) => {
      if (typeof operand !== "number") releaseRecord(core, records[i]!, operand.length);
    });
    expect(core.exports.arenaUsed()).toBe(used);
    return results;
  }

  #one(frame: FrameSpec): Rewritten {
    const counted = (): number => Number(this.#core.u64(this.#counters + 8));
    const before = counted();
    this.#put([frame]);
    this.#batch.steer(this.#table);
    return { ...this.#read(0), wireLength: counted() - before };
  }

  #put(frames: readonly FrameSpec[]): void {
    this.#batch.clear();
    for (const { bytes, wireLength = bytes.length, linkType = LINK_TYPES.ETHERNET, metadata = 0 } of frames) {
      const link = linkOf("linkType", linkType);
      expect(this.#batch.put(bytes, wireLength, 1, link, undefined, 0, metadata)).toBeGreaterThanOrEqual(0);
    }
  }

  #read(i: number): Omit<Rewritten, "wireLength"> {
    const batch = this.#batch;
    const registers = new Map<number, number>();
    for (let n = 0; n < REGISTERS; n++) if ((batch.written(i) >> n) & 1) registers.set(n, batch.register(i, n));
    return {
      bytes: batch.destinations(i) === 0 ? new Uint8Array() : batch.frameAt(batch.firstDestination(i)).slice(),
      verdict: Verdict[batch.verdict(i)]!,
      reason: Reason[batch.reason(i)]!,
      registers,
    };
  }
}

const found = new WeakMap<FrameSpec, readonly HeaderSeen[]>();

/** The headers of a frame, from the reference; parsed once, because frames are never changed. */
export function headersOf(frame: FrameSpec): readonly HeaderSeen[] {
  const { bytes, linkType = 1, wireLength = bytes.length } = frame;
  const headers = found.get(frame) ?? parseReference(bytes, { port: 1, linkType, wireLength }).headers;
  found.set(frame, headers);
  return headers;
}

type Level = HeaderSeen["level"];

const first = (headers: readonly HeaderSeen[], level: Level, ...kinds: string[]): HeaderSeen | undefined =>
  headers.find((one) => one.level === level && kinds.includes(one.kind));

/**
 * Position of a header field in a frame: its first bit and its width; undefined if the frame does
 * not have it.
 */
export function placeOf(bytes: Uint8Array, headers: readonly HeaderSeen[], name: string): [number, number] | undefined {
  const [level, [header, width, bit, bit6 = bit]] = DRAWN.get(name)!;
  if (header === "ethertype") {
    const ethernet = first(headers, level, "ethernet");
    const tags = headers.filter((one) => one.level === level && one.kind === "vlan");
    // The list has tags from their TCI on.
    return ethernet && [8 * (ethernet.offset + 12 + 4 * tags.length), width];
  }
  const found = header === "ip" ? first(headers, level, "ipv4", "ipv6") : first(headers, level, header);
  if (found === undefined) return undefined;
  return [8 * found.offset + (bytes[found.offset]! >> 4 === 6 && header === "ip" ? bit6 : bit), width];
}

export function readBits(bytes: Uint8Array, at: number, width: number): number {
  let value = 0n;
  const [start, end] = [at >> 3, (at + width + 7) >> 3];
  for (let byte = start; byte < end; byte++) value = (value << 8n) | BigInt(bytes[byte]!);
  return Number(BigInt.asUintN(width, value >> BigInt(8 * end - at - width)));
}

/** The low `width` bits of a number. */
export function writeBits(bytes: Uint8Array, at: number, width: number, value: number): void {
  const end = (at + width + 7) >> 3;
  const below = BigInt(8 * end - at - width);
  let mask = ((1n << BigInt(width)) - 1n) << below;
  let bits = (BigInt(value) << below) & mask;
  for (let byte = end - 1; mask !== 0n; byte--, mask >>= 8n, bits >>= 8n) {
    bytes[byte] = (bytes[byte]! & ~Number(mask & 0xffn)) | Number(bits & 0xffn);
  }
}

/** A checksum of a frame: its offset, and its input besides its own bytes. */
interface Checksum {
  name: string;
  at: number;
  udp: boolean;
  covers: (bytes: Uint8Array) => (Uint8Array | number[])[];
}

/** The checksums of a frame, each before those that cover it. */
export function checksumsOf(frame: Uint8Array, headers: readonly HeaderSeen[]): Checksum[] {
  return (["inner", "outer"] as const).flatMap((level) => {
    const sums: Checksum[] = [];
    const ip = first(headers, level, "ipv4", "ipv6");
    if (ip === undefined) return sums;
    const v4 = frame[ip.offset]! >> 4 === 4;
    const word = (at: number): number => (frame[at]! << 8) | frame[at + 1]!;
    const end = Math.min(frame.length, ip.offset + (v4 ? word(ip.offset + 2) : 40 + word(ip.offset + 4)));
    const routing = first(headers, level, "ipv6_routing");
    const underWay = routing !== undefined && frame[routing.offset + 3] !== 0;
    const addresses = (bytes: Uint8Array): Uint8Array => {
      if (v4) return bytes.slice(ip.offset + 12, ip.offset + 20);
      const both = bytes.slice(ip.offset + 8, ip.offset + 40);
      // The final destination is the last one of the route, which no action changes.
      return underWay ? both.fill(0, 16) : both;
    };
    const segment = (kind: string, offset: number, protocol: number): void => {
      const header = first(headers, level, kind);
      if (header === undefined) return;
      const udp = kind === "udp";
      const length = udp ? word(header.offset + 4) : end - header.offset;
      sums.push({
        name: `${level} ${kind}`,
        at: header.offset + offset,
        udp,
        covers: (bytes) => [
          pseudoHeader(addresses(bytes), protocol, length),
          bytes.subarray(header.offset, header.offset + length),
        ],
      });
    };
    segment("tcp", 16, 6);
    segment("udp", 6, 17);
    if (!v4) segment("icmpv6", 2, 58);
    const gre = first(headers, level, "gre");
    if (gre !== undefined && (frame[gre.offset]! & 0x80) !== 0) {
      const covers = (bytes: Uint8Array): Uint8Array[] => [bytes.subarray(gre.offset, end)];
      sums.push({ name: `${level} gre`, at: gre.offset + 4, udp: false, covers });
    }
    if (v4) {
      const size = (frame[ip.offset]! & 15) * 4;
      const covers = (bytes: Uint8Array): Uint8Array[] => [bytes.subarray(ip.offset, ip.offset + size)];
      sums.push({ name: `${level} ipv4`, at: ip.offset + 10, udp: false, covers });
    }
    return sums;
  });
}

/** The error of a checksum, modulo 0xffff; undefined if it means that there is none. */
function wrongBy(bytes: Uint8Array, { at, udp, covers }: Checksum): number | undefined {
  if (udp && bytes[at] === 0 && bytes[at + 1] === 0) return undefined;
  return onesComplementSum(...covers(bytes)) % 0xffff;
}

/** The errors in a frame: none if all checksums are correct. */
export function wrongIn(bytes: Uint8Array, headers: readonly HeaderSeen[]): string[] {
  return checksumsOf(bytes, headers).flatMap((one) => ((wrongBy(bytes, one) ?? 0) === 0 ? [] : one.name));
}

/**
 * Gives each checksum of `after` the error that it has in `before`, by full sums: correct ones stay
 * correct. The values stay in the range of such sums, 0 to 0xfffe, and 1 to 0xffff for UDP.
 */
export function mend(before: Uint8Array, headers: readonly HeaderSeen[], after: Uint8Array): void {
  for (const one of checksumsOf(before, headers)) {
    const wrong = wrongBy(before, one);
    if (wrong === undefined) continue;
    writeBits(after, 8 * one.at, 16, 0);
    const sum = (onesComplementSum(...one.covers(after)) + 0xffff - wrong) % 0xffff || 0xffff;
    const value = 0xffff - sum;
    writeBits(after, 8 * one.at, 16, one.udp && value === 0 ? 0xffff : value);
  }
}
