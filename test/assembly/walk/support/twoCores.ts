/**
 * Two cores with the same tables, one with a flow cache. In: rules and frames for both. Out:
 * outcomes, which must be the same.
 */
import { expect } from "vitest";
import { type Op, QUEUE_READY, QUEUE_SINK, VPORT_UPLINK } from "../../../../src/abi/engine.js";
import { Link } from "../../../../src/abi/headers.js";
import { KEY_SIZE } from "../../../../src/abi/key.js";
import { Batch } from "../../../../src/engine/batch.js";
import type { Core } from "../../../../src/engine/core.js";
import { loadOpenCore } from "../../../support/openCore.js";
import { createRecord } from "../../../../src/engine/records.js";
import { changeActions, insertRule, type FieldRange } from "../../../../src/engine/rules.js";

/** The same object in both cores. */
export type Pair = readonly [number, number];

/** | key byte | mask | value |, big-endian words of `bytes` bytes. */
export type Asked = readonly [byte: number, bytes: 1 | 2 | 4, mask: number, value: number];

/** An operation and an operand; a pair is an object of each core. */
export type Step = readonly [Op, number | Pair];

export interface PairFrame {
  bytes: Uint8Array;
  port?: number;
  link?: Link;
  vport?: number;
  metadata?: number;
  time?: bigint;
}

interface Side {
  core: Core;
  batch: Batch;
}

export class CorePair {
  readonly #sides: readonly [Side, Side];
  readonly #counters: Pair[] = [];
  #made = 0;

  private constructor(sides: readonly [Side, Side]) {
    this.#sides = sides;
  }

  /** `memory` bounds the memory of both. */
  static async make(entries = 64, memory?: number): Promise<CorePair> {
    const sides = await Promise.all(
      [entries, 0].map(async (most) => {
        const core = await loadOpenCore();
        if (memory !== undefined) core.exports.limitArena(memory);
        core.exports.limitCache(most);
        return { core, batch: new Batch(core) };
      }),
    );
    return new CorePair(sides as [Side, Side]);
  }

  /** The core with the cache. */
  get core(): Core {
    return this.#sides[0].core;
  }

  get hits(): number {
    return Number(this.core.u64(this.core.cache));
  }

  get misses(): number {
    return Number(this.core.u64(this.core.cache + 8));
  }

  /** Does the same with both cores. */
  both(work: (core: Core, side: 0 | 1) => unknown): Pair {
    const [one, other] = this.#sides;
    return [Number(work(one.core, 0)) >>> 0, Number(work(other.core, 1)) >>> 0];
  }

  table(flags: number): Pair {
    return this.both(({ exports }) => exports.createTable(flags));
  }

  queue(): Pair {
    return this.both(({ exports }) => exports.createQueue(QUEUE_READY | QUEUE_SINK, 0, 0));
  }

  /** A counter, which must be the same on both sides. */
  counter(): Pair {
    const made = this.both(({ exports }) => exports.createCounters(1));
    this.#counters.push(made);
    return made;
  }

  /** Packets and bytes of all counters. */
  counted(): bigint[][] {
    const sides = this.#sides.map(({ core }, side) =>
      this.#counters.map((pair) => [core.u64(pair[side] as number), core.u64((pair[side] as number) + 8)]),
    );
    expect(sides[0]).toEqual(sides[1]);
    return sides[0] ?? [];
  }

  record(bytes: Uint8Array): Pair {
    return this.both((core) => createRecord(core, bytes));
  }

  /** A rule with the next number. */
  rule(
    table: Pair,
    asked: readonly Asked[],
    steps: readonly Step[],
    rank = 0,
    slot = 0,
    ranges: readonly FieldRange[] = [],
  ): Pair {
    const id = this.#made++;
    const [mask, value] = [new Uint8Array(KEY_SIZE), new Uint8Array(KEY_SIZE)];
    for (const [byte, bytes, bits, wanted] of asked) {
      for (let n = 0; n < bytes; n++) {
        const shift = 8 * (bytes - 1 - n);
        mask[byte + n]! |= (bits >>> shift) & 0xff;
        value[byte + n]! |= (wanted >>> shift) & 0xff;
      }
    }
    return this.both((core, side) => {
      const actions = actionsOf(steps, side);
      const rule = { id, rankHigh: slot << 15, rankLow: rank, mask, value, ranges, actions };
      const made = insertRule(core, table[side], rule);
      expect(made).not.toBe(0);
      return made;
    });
  }

  remove(rule: Pair): void {
    this.both(({ exports }, side) => exports.removeRule(rule[side]));
  }

  change(rule: Pair, steps: readonly Step[]): void {
    this.both((core, side) => {
      expect(changeActions(core, rule[side], actionsOf(steps, side))).toBe(true);
    });
  }

  /** Steers frames on both sides; returns the numbers of the rules that each frame hits. */
  steer(root: Pair, frames: readonly PairFrame[], sender: Pair | null = null): number[][] {
    const [cached, plain] = this.#sides.map((side, n) => {
      const { batch } = side;
      batch.clear();
      for (const { bytes, port = 1, link = Link.ethernet, vport = VPORT_UPLINK, metadata = 0, time = 0n } of frames) {
        expect(batch.put(bytes, bytes.length, port, link, vport, 0, metadata)).not.toBe(-1);
        batch.stamp(time);
      }
      if (sender !== null) batch.loopBack(root[n] as number, sender[n] as number);
      else batch.steer(root[n] as number);
      return frames.map((_, i) => outcomeOf(batch, i));
    });
    expect(cached).toEqual(plain);
    this.counted();
    return (cached ?? []).map(({ rules }) => rules);
  }

  /** Steers the frames twice in two batches: the second uses the entries of the first. */
  steerTwice(root: Pair, frames: readonly PairFrame[]): number[][] {
    this.steer(root, frames);
    return this.steer(root, frames);
  }
}

function actionsOf(steps: readonly Step[], side: 0 | 1): number[] {
  return steps.flatMap(([op, operand]) => [op, typeof operand === "number" ? operand : operand[side]]);
}

/** An outcome without addresses, which differ between cores; of queues only their number. */
function outcomeOf(batch: Batch, i: number): Record<string, unknown> & { rules: number[] } {
  const destinations = [];
  let at = batch.firstDestination(i);
  for (let n = 0; n < batch.destinations(i); n++) {
    if (n > 0) at = batch.nextDestination(at);
    destinations.push([batch.flagsOf(at), batch.tagOf(at), batch.statusOf(at), Array.from(batch.frameAt(at))]);
  }
  const written = batch.written(i);
  const registers = Array.from({ length: 10 }, (_, n) => ((written >> n) & 1 ? batch.register(i, n) : null));
  const rules = Array.from({ length: batch.hits(i) }, (_, n) => batch.hit(i, n));
  return { verdict: batch.verdict(i), reason: batch.reason(i), tag: batch.tag(i), registers, rules, destinations };
}

/** Fields of a packet; the others have default values. */
export interface PacketFields {
  tags?: readonly number[];
  ethertype?: number;
  src?: number;
  dst?: number;
  ttl?: number;
  id?: number;
  protocol?: "tcp" | "udp";
  dport?: number;
  tcpFlags?: number;
  /** The bytes after the UDP header. */
  payload?: Uint8Array;
}

/** An IPv4 packet in Ethernet, with its VLAN tags. */
export function packet(fields: PacketFields = {}): Uint8Array {
  const { tags = [], ethertype = 0x0800, src = 0x0a000001, dst = 0x0a000002, ttl = 64, id = 0 } = fields;
  const { protocol = "udp", dport = 53, tcpFlags = 0x10, payload = new Uint8Array(26) } = fields;
  const ip = 14 + 4 * tags.length;
  const upper = protocol === "udp" ? 8 : 20;
  const bytes = new Uint8Array(ip + 20 + upper + payload.length);
  const view = new DataView(bytes.buffer);
  bytes.set([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
  for (const [n, tag] of tags.entries()) view.setUint32(12 + 4 * n, (0x8100 << 16) | tag);
  view.setUint16(ip - 2, ethertype);
  view.setUint16(ip, 0x4500);
  view.setUint16(ip + 2, bytes.length - ip);
  view.setUint16(ip + 4, id);
  bytes[ip + 8] = ttl;
  bytes[ip + 9] = protocol === "udp" ? 17 : 6;
  view.setUint32(ip + 12, src);
  view.setUint32(ip + 16, dst);
  view.setUint16(ip + 10, checksum(view, ip));
  view.setUint16(ip + 20, 1000);
  view.setUint16(ip + 22, dport);
  if (protocol === "udp") view.setUint16(ip + 24, 8 + payload.length);
  else view.setUint16(ip + 32, 0x5000 | tcpFlags);
  bytes.set(payload, ip + 20 + upper);
  return bytes;
}

function checksum(view: DataView, ip: number): number {
  let sum = 0;
  for (let n = 0; n < 20; n += 2) sum += view.getUint16(ip + n);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
