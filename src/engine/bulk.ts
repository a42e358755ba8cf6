/**
 * Rules of one mask on their way into the core, thousands in one call (BULK_* in src/abi/engine.ts). Entries grow from the
 * start of the area of frames, lists of actions from its end. Call `open` first.
 */
import {
  ACTION_SIZE,
  BULK_ACTION_COUNT,
  BULK_ACTIONS,
  BULK_HANDLE,
  BULK_ID,
  BULK_VALUE,
  FRAME_ARENA,
  STAGE_MASK,
  STAGE_VALUE,
} from "../abi/engine.js";
import { DEVICE_KEY_SIZE } from "../abi/key.js";
import type { Core } from "./core.js";

export class BulkRules {
  readonly #core: Core;
  /** Bytes of each value. */
  readonly #stride: number;
  readonly #criteria: number;
  readonly #mask: Uint8Array;
  /** Entries in the area. */
  count = 0;
  /** Where the lists of actions begin. */
  #lists = 0;
  #list: readonly number[] | null = null;

  /**
   * @param mask a whole key
   * @param criteria the groups of the values that are read
   * @param stride bytes between values, a multiple of 4
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
    const all = Math.min(rules * (BULK_VALUE + this.#stride) + operations * ACTION_SIZE, FRAME_ARENA);
    const isOpen = this.#core.openBytes(all);
    this.clear();
    return isOpen;
  }

  clear(): void {
    this.count = 0;
    this.#lists = this.#core.bytesSize & ~(ACTION_SIZE - 1);
    this.#list = null;
  }

  /** Adds a rule with the value at `values[from]`. The same list of actions is stored once. @returns false when the area is full */
  add(values: Uint32Array, from: number, record: readonly number[]): boolean {
    const stride = this.#stride;
    const at = this.count * (BULK_VALUE + stride);
    const lists = this.#list === record ? this.#lists : this.#lists - record.length * (ACTION_SIZE / 2);
    if (at + BULK_VALUE + stride > lists) return false;
    const { u32, bytes } = this.#core;
    if (this.#list !== record) this.#layList(record, lists);
    const entry = (bytes + at) >> 2;
    u32[entry + (BULK_ID >> 2)] = 0;
    u32[entry + (BULK_HANDLE >> 2)] = 0;
    u32[entry + (BULK_ACTIONS >> 2)] = lists;
    u32[entry + (BULK_ACTION_COUNT >> 2)] = record.length >> 1;
    const value = entry + (BULK_VALUE >> 2);
    const words = stride >> 2;
    for (let word = 0; word < words; word++) u32[value + word] = values[from + word] as number;
    this.count++;
    return true;
  }

  #layList(record: readonly number[], at: number): void {
    const { u32, bytes } = this.#core;
    for (let i = 0; i < record.length; i++) u32[((bytes + at) >> 2) + i] = record[i] ?? 0;
    this.#lists = at;
    this.#list = record;
  }

  /** Sets the id of the rule of entry `n`. */
  identify(n: number, id: number): void {
    const { u32, bytes } = this.#core;
    u32[(bytes + n * (BULK_VALUE + this.#stride) + BULK_ID) >> 2] = id;
  }

  /** The first entry whose value has a bit outside the mask; -1 for none. */
  firstOutside(): number {
    this.#stageMask();
    return this.#core.exports.firstOutside(this.count, this.#stride, this.#criteria);
  }

  /** Inserts the rules with ascending ranks. @returns how many; fewer than all when memory is full */
  insert(table: number, rankHigh: number, rankLow: number): number {
    this.#stageMask();
    return this.#core.exports.insertRules(table, this.count, this.#stride, this.#criteria, rankHigh, rankLow);
  }

  /** The rule in the core that entry `n` became. */
  handle(n: number): number {
    const { u32, bytes } = this.#core;
    return u32[(bytes + n * (BULK_VALUE + this.#stride) + BULK_HANDLE) >> 2] ?? 0;
  }

  /** The mask, and of all values what lies behind the device format: presence, which they share with it. */
  #stageMask(): void {
    const { u8, staging } = this.#core;
    u8.set(this.#mask, staging + STAGE_MASK);
    u8.set(this.#mask.subarray(DEVICE_KEY_SIZE), staging + STAGE_VALUE + DEVICE_KEY_SIZE);
  }
}
