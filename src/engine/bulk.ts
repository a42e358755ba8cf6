/**
 * Rules of one mask on their way into the core, thousands in one call (BULK_* in src/abi/engine.ts). Call `open` first.
 */
import {
  ACTION_SIZE,
  BULK_ACTION_COUNT,
  BULK_ACTIONS,
  BULK_HANDLE,
  BULK_HEAD,
  BULK_ID,
  FRAME_ARENA,
  STAGE_MASK,
  STAGE_VALUE,
} from "../abi/engine.js";
import { DEVICE_KEY_SIZE } from "../abi/key.js";
import type { Core } from "./core.js";

/** Operations and operands of a rule, alternating. */
type ActionRecord = readonly number[];

export class BulkRules {
  readonly #core: Core;
  /** Bytes of each value. */
  readonly #stride: number;
  readonly #criteria: number;
  readonly #mask: Uint8Array;
  /** Rules in the area. */
  count = 0;
  /** The first of their heads, as a word of memory. */
  #heads = 0;

  /**
   * @param mask a whole key
   * @param criteria the groups of the values that are read
   * @param stride bytes of each value, a multiple of 4
   */
  constructor(core: Core, mask: Uint8Array, criteria: number, stride: number) {
    this.#core = core;
    this.#mask = mask;
    this.#criteria = criteria;
    this.#stride = stride;
  }

  /**
   * Takes memory for rules.
   * @param rules as many as the area should have at a time
   * @param operations in all their lists of actions
   * @returns false when memory is full
   */
  open(rules: number, operations: number): boolean {
    const all = rules * (BULK_HEAD + this.#stride) + operations * ACTION_SIZE;
    // The end of the area is rounded down.
    return this.#core.openBytes(Math.min(all + ACTION_SIZE, FRAME_ARENA));
  }

  /**
   * Lays rules from `first` on into the area, as many as it has room for. A list of actions that follows itself is
   * stored once.
   * @param values of all rules, back to back
   * @param records one for all rules, or one for each
   */
  lay(values: Uint8Array, first: number, records: readonly ActionRecord[]): void {
    const { u8, u32, bytes, bytesSize } = this.#core;
    const stride = this.#stride;
    const end = bytesSize & ~(ACTION_SIZE - 1);
    const count = this.#fitting(end, values.length / stride, first, records);
    u8.set(values.subarray(first * stride, (first + count) * stride), bytes);
    this.count = count;
    this.#heads = (bytes + count * stride) >> 2;
    let lists = end;
    let last: ActionRecord | null = null;
    for (let n = 0, head = this.#heads; n < count; n++, head += BULK_HEAD >> 2) {
      const record = ofRule(records, first + n);
      if (record !== last) {
        lists -= listSize(record);
        for (let i = 0; i < record.length; i++) u32[((bytes + lists) >> 2) + i] = record[i] as number;
        last = record;
      }
      u32[head + (BULK_HANDLE >> 2)] = 0;
      u32[head + (BULK_ACTIONS >> 2)] = lists;
      u32[head + (BULK_ACTION_COUNT >> 2)] = record.length >> 1;
    }
  }

  /** How many rules from `first` on fit into `room` bytes. */
  #fitting(room: number, rules: number, first: number, records: readonly ActionRecord[]): number {
    let last: ActionRecord | null = null;
    for (let n = first; n < rules; n++) {
      const record = ofRule(records, n);
      room -= BULK_HEAD + this.#stride + (record === last ? 0 : listSize(record));
      if (room < 0) return n - first;
      last = record;
    }
    return rules - first;
  }

  /** Sets the id of rule `n` of the area. */
  identify(n: number, id: number): void {
    this.#core.u32[this.#heads + n * (BULK_HEAD >> 2) + (BULK_ID >> 2)] = id;
  }

  /** The first rule whose value has a bit outside the mask; -1 for none. */
  firstOutside(): number {
    this.#stageMask();
    return this.#core.exports.firstOutside(this.count, this.#stride, this.#criteria);
  }

  /** Inserts the rules with ascending ranks. @returns how many; fewer than all when memory is full */
  insert(table: number, rankHigh: number, rankLow: number): number {
    this.#stageMask();
    return this.#core.exports.insertRules(table, this.count, this.#stride, this.#criteria, rankHigh, rankLow);
  }

  /** The rule in the core that rule `n` of the area became. */
  handle(n: number): number {
    return this.#core.u32[this.#heads + n * (BULK_HEAD >> 2) + (BULK_HANDLE >> 2)] ?? 0;
  }

  /** The mask, and of all values what lies after the device format: presence, which they share with it. */
  #stageMask(): void {
    const { u8, staging } = this.#core;
    u8.set(this.#mask, staging + STAGE_MASK);
    u8.set(this.#mask.subarray(DEVICE_KEY_SIZE), staging + STAGE_VALUE + DEVICE_KEY_SIZE);
  }
}

/** The entry of rule `n` in a list that has one for all rules, or one for each. */
export function ofRule<T>(each: readonly T[], n: number): T {
  return each[each.length === 1 ? 0 : n] as T;
}

/** Bytes of a list of actions. */
function listSize(record: ActionRecord): number {
  return record.length * (ACTION_SIZE / 2);
}
