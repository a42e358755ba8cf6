/**
 * Packets and bytes of rules, ports and queues, which the core counts from `device.countHits()` on
 * (docs/metrics.md; assembly/out/hits.ts).
 */
import { COUNTER_BYTES, COUNTER_PACKETS, COUNTER_SIZE } from "../../abi/state.js";
import { PORT_COUNTS, PORT_DROPPED, PORT_TRANSMITTED } from "../../abi/engine.js";
import { RECEIVE_PACKETS } from "../../abi/queue.js";
import type { Core } from "../../engine/core.js";
import type { InstalledRule } from "./installed.js";

/** What has been counted. */
export interface Hits {
  readonly packets: bigint;
  /** Bytes on the wire, without FCS. */
  readonly bytes: bigint;
}

/** The counts of a port. */
export interface PortHits {
  readonly received: Hits;
  readonly transmitted: Hits;
  /** Received frames whose verdict is `drop` or `miss`. */
  readonly dropped: Hits;
}

export const NO_HITS: Hits = Object.freeze({ packets: 0n, bytes: 0n });

const MIN_RULES = 64;

export class HitCounts {
  private readonly _core: Core;
  private readonly _ports: number;
  private readonly _portCount: number;
  /** The block of the rules' counters, and for how many rules it has room. */
  private _rules = 0;
  private _room = 0;
  /** What removed rules have counted, by the table of the core that held them. */
  private readonly _removed = new Map<number, Hits>();

  private constructor(core: Core, ports: number, portCount: number) {
    this._core = core;
    this._ports = ports;
    this._portCount = portCount;
  }

  /** Counts from now on, rules up to the number `rules`; null when memory is full. */
  static start(core: Core, ports: number, rules: number): HitCounts | null {
    const counters = (ports * PORT_COUNTS) / COUNTER_SIZE;
    const address = core.exports.createCounters(counters) >>> 0;
    if (address === 0) return null;
    const counts = new HitCounts(core, address, counters);
    if (counts._makeRoom(rules)) return counts;
    core.exports.releaseCounters(address, counters);
    return null;
  }

  /** Ends counting and frees the counters. */
  end(): void {
    const { exports } = this._core;
    exports.countHits(0, 0, 0);
    exports.releaseCounters(this._rules, this._room);
    exports.releaseCounters(this._ports, this._portCount);
  }

  /** A rule begins at zero. Without memory for its counter it is not counted. */
  added({ id }: InstalledRule): void {
    if (id >= this._room && !this._makeRoom(id)) return;
    const at = this._rules + id * COUNTER_SIZE;
    this._core.u8.fill(0, at, at + COUNTER_SIZE);
  }

  removed(rule: InstalledRule): void {
    const hits = this.of(rule);
    if (hits.packets === 0n) return;
    const table = tableOf(rule);
    this._removed.set(table, sumOf([this.ofRemoved(table), hits]));
  }

  /** Gives a rule the counts of another one. */
  move(from: InstalledRule, to: InstalledRule): void {
    this._core.collectCounters();
    const [source, target] = [from, to].map(({ id }) => this._rules + id * COUNTER_SIZE) as [number, number];
    if (from.id < this._room && to.id < this._room)
      this._core.u8.copyWithin(target, source, source + COUNTER_SIZE).fill(0, source, source + COUNTER_SIZE);
  }

  /** The counts of a rule. */
  of({ id }: InstalledRule): Hits {
    return id < this._room ? this._at(this._rules + id * COUNTER_SIZE) : NO_HITS;
  }

  /** What the removed rules of a table have counted. */
  ofRemoved(table: number): Hits {
    return this._removed.get(table) ?? NO_HITS;
  }

  /** A table is gone; its address may become that of another. */
  forget(table: number): void {
    this._removed.delete(table);
  }

  port(number: number): PortHits {
    const at = this._ports + (number - 1) * PORT_COUNTS;
    return {
      received: this._at(at),
      transmitted: this._at(at + PORT_TRANSMITTED),
      dropped: this._at(at + PORT_DROPPED),
    };
  }

  /** The frames that a queue took, by its handle. */
  queue(handle: number): Hits {
    return this._at(handle + RECEIVE_PACKETS);
  }

  /** A queue begins at zero. */
  beginQueue(handle: number): void {
    const at = handle + RECEIVE_PACKETS;
    this._core.collectCounters();
    this._core.u8.fill(0, at, at + COUNTER_SIZE);
  }

  /** A frame that was counted as transmitted stays in the device: its port looped it back. */
  stayed(port: number, length: number): void {
    const at = (this._ports + (port - 1) * PORT_COUNTS + PORT_TRANSMITTED) >> 2;
    this._core.collectCounters();
    const words = new BigUint64Array(this._core.u32.buffer, at << 2, 2);
    words[0] = (words[0] as bigint) - 1n;
    words[1] = (words[1] as bigint) - BigInt(length);
  }

  private _at(address: number): Hits {
    this._core.collectCounters();
    return { packets: this._core.u64(address + COUNTER_PACKETS), bytes: this._core.u64(address + COUNTER_BYTES) };
  }

  private _makeRoom(id: number): boolean {
    const { exports } = this._core;
    const room = Math.max(MIN_RULES, 2 ** Math.ceil(Math.log2(id + 1)));
    const rules = exports.createCounters(room) >>> 0;
    if (rules === 0) return false;
    this._core.u8.copyWithin(rules, this._rules, this._rules + this._room * COUNTER_SIZE);
    if (this._room > 0) exports.releaseCounters(this._rules, this._room);
    exports.countHits(rules, room, this._ports);
    this._rules = rules;
    this._room = room;
    return true;
  }
}

/** The table of the core that holds a rule; 0 for rules of no table that a program names. */
export function tableOf(rule: object): number {
  const { classifier, table } = rule as { classifier?: InTable; table?: { classifier?: InTable } };
  return (classifier ?? table?.classifier)?.table ?? 0;
}

interface InTable {
  readonly table: number;
}

export function sumOf(all: readonly Hits[]): Hits {
  return all.reduce(
    (sum, { packets, bytes }) => ({ packets: sum.packets + packets, bytes: sum.bytes + bytes }),
    NO_HITS,
  );
}
