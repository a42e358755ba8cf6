/**
 * `TracedCore`: an instance of the traced core that steers frames of a device on a copy of the device's memory. It writes
 * events of everything that it does (src/abi/trace.ts), and `undo` puts back what a frame changed in the copy. The memory of
 * the device is only read.
 */
import {
  ACTION_SIZE,
  MAX_FUNCTIONS,
  MAX_RANGES,
  MULTIPLIERS_SIZE,
  PAGE,
  RANGE_DWORD,
  RANGE_HIGH,
  RANGE_LOW,
  RANGE_MASK,
  RANGE_SHIFT,
  RANGE_SIZE,
  SAMPLES_SIZE,
  STAGE_MASK,
  STAGE_RANGES,
  STAGE_VALUE,
} from "../abi/engine.js";
import { REASON_COUNT } from "../abi/outcome.js";
import { KEY_SIZE } from "../abi/key.js";
import {
  EVENT_BYTES,
  EVENT_HEAD,
  EVENT_KIND,
  STATE_ADDRESS,
  STATE_BEFORE,
  STATE_BYTES,
  TRACE_BYTES,
  TraceEvent,
} from "../abi/trace.js";
import { RULE_ACTION_COUNT, RULE_ID, RULE_MASK, RULE_RANK } from "../abi/rule.js";
import { TABLE_FLAGS, TABLE_MISS } from "../abi/table.js";
import { Batch } from "./batch.js";
import { Core } from "./core.js";
import type { CoreExports } from "./coreExports.js";
import { instanceOf } from "./instance.js";
import { moduleOf, tracedCoreUrl, type CoreSource } from "./load.js";
import type { FieldRange } from "./rules.js";
import { watch } from "./watch.js";

/** Memory of the traced core between the copy and the events, for changed frames and rules that are tried. */
const SCRATCH = 0x2000000;
const MIN_FREE = 0xffff0000 - SCRATCH - TRACE_BYTES - PAGE;

/** The additional exports of the traced core (assembly/traced.ts). */
interface TracedExports extends CoreExports {
  openCopy(top: number, limit: number): void;
  openTrace(numberHigh: number, numberLow: number, start: number, end: number): void;
  eventsEnd(): number;
  eventsLost(): number;
  ruleCount(table: number): number;
  listRules(table: number, list: number, most: number): number;
  listNearest(table: number, key: number, list: number, most: number): number;
  stageRule(rule: number): number;
  actionsAt(rule: number): number;
}

/** A rule of the core. Its rank orders it in its table: the lowest comes first. */
export interface StoredRule {
  /** Its address in the core. */
  readonly address: number;
  /** The number in outcomes (`device.installed`). */
  readonly id: number;
  readonly rankHigh: number;
  readonly rankLow: number;
}

/** What a rule matches, as whole keys of 512 bytes, and its actions as pairs of operation and operand. */
export interface RuleContent {
  readonly mask: Uint8Array;
  readonly value: Uint8Array;
  readonly ranges: readonly FieldRange[];
  readonly actions: readonly number[];
}

export class TracedCore {
  /** The traced instance. Its memory has the objects of the device at their addresses. */
  readonly core: Core;
  /** Frames for the traced instance. */
  readonly batch: Batch;
  readonly #first: Core;
  readonly #exports: TracedExports;
  /** How often the memory of the device was copied or its copy changed: what was read before may be gone. */
  copies = 0;
  /** The version of the device's memory (`Core.version`) that was copied; -1 for none. */
  #copied = -1;
  /** Where events begin and end. */
  #start = 0;
  #end = 0;
  /** Where the events of the next walk begin. */
  #next = 0;
  /** Frames that were traced since the copy and not undone. */
  #ahead = 0;
  /** Addresses of tables in static memory, by their addresses in the core of the device. */
  readonly #ownTables: ReadonlyMap<number, number>;
  readonly #lists = new Map<number, readonly StoredRule[]>();
  readonly #contents = new Map<number, RuleContent>();
  /** Of rules with the same mask, by its address. */
  readonly #masks = new Map<number, Uint8Array>();

  private constructor(first: Core, exports: TracedExports) {
    this.#first = first;
    this.#exports = exports;
    this.core = new Core(exports);
    this.batch = new Batch(this.core);
    this.#ownTables = new Map([
      [first.exports.emptyTable(), exports.emptyTable()],
      [first.exports.emptySendTable(), exports.emptySendTable()],
    ]);
  }

  /**
   * Loads the traced core.
   * @param first the core of the device
   * @param setUp makes the settings of the device that its memory does not hold: seed, parser
   * @param source as the `core` of createDevice; the file beside this module by default
   */
  static async create(first: Core, setUp: (core: Core) => void, source?: CoreSource): Promise<TracedCore> {
    const { exports } = await instanceOf(await moduleOf(source ?? tracedCoreUrl()));
    const traced = new TracedCore(first, exports as unknown as TracedExports);
    setUp(traced.core);
    watch(first);
    return traced;
  }

  /**
   * Copies the memory of the device if it has changed. Call it before frames are put into `batch`.
   * @param fdb the root table of the FDB; 0 for none
   * @returns false when the device leaves no room for a copy
   */
  refresh(fdb: number): boolean {
    const first = this.#first;
    if (this.#copied === first.version) return true;
    first.collectCounters();
    const top = first.exports.arenaTop() >>> 0;
    if (top > MIN_FREE || !this.#makeRoom(top)) return false;
    const copy = (from: number, bytes: number): void => this.core.u8.set(first.u8.subarray(from, from + bytes), from);
    for (let vport = 0; vport < MAX_FUNCTIONS; vport++) {
      const table = first.u32[(first.functions >> 2) + vport] as number;
      this.core.u32[(first.functions >> 2) + vport] = this.tableAt(table);
    }
    copy(first.multipliers, MULTIPLIERS_SIZE);
    copy(first.samples, SAMPLES_SIZE);
    copy(first.reasons, 8 * REASON_COUNT);
    copy(first.arena, top - first.arena);
    this.#exports.openCopy(top, this.#start);
    this.core.locate();
    this.batch.clear();
    this.#exports.setFdb(fdb);
    this.#copied = first.version;
    this.#next = this.#start;
    this.#ahead = 0;
    this.forget();
    return true;
  }

  /** Forgets what was read of the copy, because rules of the copy were changed. */
  forget(): void {
    this.copies++;
    this.#lists.clear();
    this.#contents.clear();
    this.#masks.clear();
  }

  /** Makes the next `refresh` copy again: the copy was changed, such as by a rule that was tried. */
  spoil(): void {
    this.#copied = -1;
  }

  /**
   * The address of a table of the device in the copy. Tables without rules are in static memory, where builds of the core
   * differ; all others have one address.
   */
  tableAt(table: number): number {
    return this.#ownTables.get(table) ?? table;
  }

  #makeRoom(top: number): boolean {
    this.#start = (top + SCRATCH + PAGE - 1) & -PAGE;
    this.#start >>>= 0;
    this.#end = this.#start + TRACE_BYTES;
    const { memory } = this.#exports;
    const missing = Math.ceil((this.#end - memory.buffer.byteLength) / PAGE);
    try {
      if (missing > 0) memory.grow(missing);
    } catch {
      return false;
    }
    return true;
  }

  /**
   * Steers the frames of `batch` from a table; one frame in most cases.
   * @param sender the queue whose frames the port loops back; 0 for other frames
   * @returns the events of this walk: a view of memory, valid until the next call
   */
  steer(root: number, sender = 0): Uint8Array {
    const number = this.#first.steered + this.#ahead;
    const start = this.#next;
    this.#exports.openTrace(Math.floor(number / 2 ** 32), number >>> 0, start, this.#end);
    if (sender === 0) this.#ahead += this.batch.count;
    this.#exports.loopBack(this.tableAt(root), this.batch.count, sender);
    this.#next = this.#exports.eventsEnd() >>> 0;
    return this.core.u8.subarray(start, this.#next);
  }

  /** Whether the last walk had more events than fit. Then `undo` copies the memory again at the next `refresh`. */
  get lost(): boolean {
    return this.#exports.eventsLost() !== 0;
  }

  /** Puts back all state that frames have changed in the copy since the last `refresh` or `undo`. */
  undo(): void {
    if (this.lost) this.spoil();
    const { u8, u32 } = this.core;
    const states: number[] = [];
    for (let at = this.#start; at < this.#next; at += u32[(at + EVENT_BYTES) >> 2] as number) {
      const kind = (u32[(at + EVENT_KIND) >> 2] as number) & 0xffff;
      if (kind === (TraceEvent.state as number)) states.push(at + EVENT_HEAD);
    }
    for (const at of states.reverse()) {
      const address = u32[(at + STATE_ADDRESS) >> 2] as number;
      const length = u32[(at + STATE_BYTES) >> 2] as number;
      u8.copyWithin(address, at + STATE_BEFORE, at + STATE_BEFORE + length);
    }
    this.#next = this.#start;
    this.#ahead = 0;
  }

  /** The number of rules in a table. */
  ruleCount(table: number): number {
    return this.#exports.ruleCount(table);
  }

  /** The rules of a table by rank. */
  rulesOf(table: number): readonly StoredRule[] {
    let list = this.#lists.get(table);
    if (list === undefined) this.#lists.set(table, (list = this.#list(table)));
    return list;
  }

  #list(table: number): StoredRule[] {
    const rules: StoredRule[] = [];
    const count = this.ruleCount(table);
    // The list of addresses takes the room of events, between walks.
    const list = this.#next;
    const listed = this.#exports.listRules(table, list, Math.min(count, (this.#end - list) >> 2));
    const { u32 } = this.core;
    for (let n = 0; n < listed; n++) rules.push(this.storedRule(u32[(list >> 2) + n] as number));
    return rules.sort((a, b) => a.rankHigh - b.rankHigh || a.rankLow - b.rankLow);
  }

  /**
   * The rules of a table that differ from a key in the fewest 4-byte columns, agree in the most, differ in the fewest
   * bits; equal ones by rank. Call it between walks.
   */
  nearestOf(table: number, key: Uint8Array, most: number): StoredRule[] {
    const at = this.#next;
    this.core.u8.set(key, at);
    const list = at + key.length;
    const listed = this.#exports.listNearest(table, at, list, most);
    const { u32 } = this.core;
    return Array.from({ length: listed }, (_, n) => this.storedRule(u32[(list >> 2) + 2 * n] as number));
  }

  /** The rule at an address, such as that of a `lookup` event. */
  storedRule(address: number): StoredRule {
    const { u32 } = this.core;
    return {
      address,
      id: u32[(address + RULE_ID) >> 2] as number,
      rankHigh: u32[(address + RULE_RANK + 4) >> 2] as number,
      rankLow: u32[(address + RULE_RANK) >> 2] as number,
    };
  }

  /** TABLE_* of a table. */
  flagsOf(table: number): number {
    return this.core.u32[(table + TABLE_FLAGS) >> 2] as number;
  }

  /** The table that unmatched frames of a table go to; 0 for none. */
  missTableOf(table: number): number {
    return this.core.u32[(table + TABLE_MISS) >> 2] as number;
  }

  /** The address of the mask of a rule, which rules of its table share. */
  maskAddress(rule: number): number {
    return this.core.u32[(rule + RULE_MASK) >> 2] as number;
  }

  /** Stages mask, value and ranges of the rule at an address. @returns the number of ranges */
  stageRule(rule: number): number {
    return Math.min(this.#exports.stageRule(rule), MAX_RANGES);
  }

  /** What a rule matches, and its actions. */
  contentOf({ address }: StoredRule): RuleContent {
    let content = this.#contents.get(address);
    if (content === undefined) this.#contents.set(address, (content = this.#content(address)));
    return content;
  }

  /** The actions of a rule, as pairs of operation and operand. */
  actionsOf({ address }: Pick<StoredRule, "address">): number[] {
    const { u8, u32 } = this.core;
    const actions = this.#exports.actionsAt(address) >>> 0;
    const count = u8[address + RULE_ACTION_COUNT] as number;
    return Array.from(u32.subarray(actions >> 2, (actions + count * ACTION_SIZE) >> 2));
  }

  #content(address: number): RuleContent {
    const ranges = this.stageRule(address);
    const { staging, u8, u32 } = this.core;
    const word = (at: number): number => u32[at >> 2] as number;
    const shared = this.maskAddress(address);
    const mask = this.#masks.get(shared) ?? u8.slice(staging + STAGE_MASK, staging + STAGE_MASK + KEY_SIZE);
    this.#masks.set(shared, mask);
    return {
      mask,
      value: u8.slice(staging + STAGE_VALUE, staging + STAGE_VALUE + KEY_SIZE),
      ranges: Array.from({ length: ranges }, (_, n) => {
        const at = staging + STAGE_RANGES + n * RANGE_SIZE;
        return {
          dword: word(at + RANGE_DWORD),
          shift: word(at + RANGE_SHIFT),
          fieldMask: word(at + RANGE_MASK),
          low: word(at + RANGE_LOW),
          high: word(at + RANGE_HIGH),
        };
      }),
      actions: this.actionsOf({ address }),
    };
  }
}
