/** A core with a root table, rules for all frames or for one sender, and a queue that takes everything. */
import { expect } from "vitest";
import { type Op, QUEUE_READY, QUEUE_SINK, TABLE_ROOT } from "../../../../src/abi/engine.js";
import { Link } from "../../../../src/abi/headers.js";
import { INSTRUCTION_SIZE, MODIFY_COPY, PROGRAM_FIRST } from "../../../../src/abi/program.js";
import { Batch } from "../../../../src/engine/batch.js";
import type { Core } from "../../../../src/engine/core.js";
import { loadOpenCore } from "../../../support/openCore.js";
import { createRecord } from "../../../../src/engine/records.js";
import { insertRule } from "../../../../src/engine/rules.js";
import { matchOf } from "../../../../src/model/match/match.js";

/** A header change: | type | bits | place | bit | data, or the place of the source | bit of the source |. */
export type Change = readonly [type: number, bits: number, to: number, bit: number, data: number, fromBit?: number];

export interface Arrived {
  queue: number;
  flags: number;
  tag: number;
  frame: number[];
}

export class World {
  readonly core: Core;
  readonly batch: Batch;
  readonly root: number;
  readonly queue: number;
  #made = 0;

  private constructor(core: Core) {
    this.core = core;
    this.batch = new Batch(core);
    this.root = core.exports.createTable(TABLE_ROOT) >>> 0;
    this.queue = this.sink();
  }

  static async make(): Promise<World> {
    return new World(await loadOpenCore());
  }

  table(): number {
    return this.core.exports.createTable(0) >>> 0;
  }

  sink(): number {
    return this.core.exports.createQueue(QUEUE_READY | QUEUE_SINK, 0, 0) >>> 0;
  }

  /** A rule behind those before it. Returns its number. */
  rule(table: number, actions: readonly number[], fields: Record<string, string | number> = {}): number {
    const id = this.#made++;
    const rule = { id, rankHigh: id << 15, rankLow: 0, ...matchOf("m", fields), actions: [...actions] };
    expect(insertRule(this.core, table, rule)).not.toBe(0);
    return id;
  }

  /** A table whose only rule does this. */
  tableFor(actions: readonly number[]): number {
    const table = this.table();
    this.rule(table, actions);
    return table;
  }

  /** Operations of an array, each with its operand. */
  array(...members: readonly (readonly [Op, number])[]): number {
    const words = members.flatMap(([op, operand]) => [op, operand, 0, 0]);
    return createRecord(this.core, new Uint8Array(Uint32Array.from([members.length, 0, ...words]).buffer));
  }

  program(...changes: readonly Change[]): number {
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
    return createRecord(this.core, bytes);
  }

  /** Steers frames that have room in front. */
  steer(frames: readonly Uint8Array[], link: Link = Link.ethernet): void {
    this.batch.clear();
    for (const bytes of frames) expect(this.batch.put(bytes, bytes.length, 1, link)).not.toBe(-1);
    this.batch.steer(this.root);
  }

  /** Steers frames that are next to each other. */
  steerPacked(frames: readonly Uint8Array[]): void {
    this.batch.clear();
    for (const bytes of frames) expect(this.batch.pack(bytes, bytes.length, 1, Link.ethernet)).not.toBe(-1);
    this.batch.steer(this.root);
  }

  arrived(row: number): Arrived[] {
    const { batch } = this;
    let at = batch.firstDestination(row);
    return Array.from({ length: batch.destinations(row) }, (_, n) => {
      if (n > 0) at = batch.nextDestination(at);
      const frame = Array.from(batch.frameAt(at));
      return { queue: batch.queueOf(at), flags: batch.flagsOf(at), tag: batch.tagOf(at), frame };
    });
  }

  /** The bytes of the only destination of each row. */
  frames(rows: number): number[][] {
    return Array.from({ length: rows }, (_, row) => {
      const all = this.arrived(row);
      expect(all.length).toBe(1);
      return all[0]!.frame;
    });
  }
}

/** A frame with VLAN tags behind its addresses, the last pushed one first. */
export function tagged(frame: Uint8Array, tags: readonly number[]): number[] {
  const words = [...tags].reverse().flatMap((tag) => [24, 16, 8, 0].map((shift) => (tag >>> shift) & 0xff));
  return [...frame.slice(0, 12), ...words, ...frame.slice(12)];
}
