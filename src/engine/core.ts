/**
 * `Core`: the exports of one instance of the WebAssembly module, and typed views of its memory. Only src/engine uses them.
 */
import { Area, MULTIPLIERS_SIZE } from "../abi/engine.js";
import { columnsAt, type Columns } from "./columns.js";
import type { CoreExports } from "./coreExports.js";
import { openAll } from "./openAll.js";

/** One instance of the core. */
export class Core {
  exports: CoreExports;
  /** Frames received or sent so far, as the core numbers them. */
  steered = 0;
  /** The version of its memory: counts calls that may change it, from `watch` on (watch.ts). */
  version = 0;
  /** Adds the counts of worker cores to this one. Call it before counters are read or written. */
  collectCounters: () => void = () => {};
  /** Rules and records on their way into the core. */
  readonly staging: number;
  readonly reasons: number;
  readonly found: number;
  readonly columns: number;
  readonly functions: number;
  readonly samples: number;
  readonly cache: number;
  readonly multipliers: number;
  // The addresses below change when the areas grow.
  frames = 0;
  times = 0;
  /** How many rows `frames` and `times` have. */
  rows = 0;
  keys = 0;
  maps = 0;
  outcomes = 0;
  hits = 0;
  destinations = 0;
  /** Packets to seal or open. */
  jobs = 0;
  /** The bytes of frames, and the size of their area. */
  bytes = 0;
  bytesSize = 0;
  arena = 0;

  #u8: Uint8Array;
  #u32: Uint32Array;
  #outcomeColumns: Columns | null = null;

  constructor(exports: CoreExports) {
    this.exports = exports;
    if (!exports.openMemory()) throw new RangeError("flowsteer: no memory for the core");
    this.staging = this.#area(Area.staging);
    this.reasons = this.#area(Area.reasons);
    this.found = this.#area(Area.found);
    this.columns = this.#area(Area.columns);
    this.functions = this.#area(Area.functions);
    this.samples = this.#area(Area.samples);
    this.cache = this.#area(Area.cache);
    this.multipliers = this.#area(Area.multipliers);
    this.#u8 = new Uint8Array(exports.memory.buffer);
    this.#u32 = new Uint32Array(exports.memory.buffer);
    this.locate();
  }

  #area(area: Area): number {
    return this.exports.areaAddress(area) >>> 0;
  }

  /** Asks where the areas are that grow. Call it after the memory was replaced by that of another core. */
  locate(): void {
    this.rows = this.exports.rowsOpen();
    this.frames = this.#area(Area.frames);
    this.times = this.#area(Area.times);
    this.keys = this.#area(Area.keys);
    this.maps = this.#area(Area.maps);
    this.outcomes = this.#area(Area.outcomes);
    this.hits = this.#area(Area.hits);
    this.destinations = this.#area(Area.destinations);
    this.jobs = this.#area(Area.jobs);
    this.bytes = this.#area(Area.bytes);
    this.bytesSize = this.exports.bytesOpen();
    this.arena = this.#area(Area.arena);
  }

  /** Draws the multipliers of hashes, which are the same in all new cores. Call it before the first rule. */
  drawMultipliers(): void {
    // Random values cannot be drawn into shared memory.
    this.u8.set(crypto.getRandomValues(new Uint8Array(MULTIPLIERS_SIZE)), this.multipliers);
  }

  /** Takes memory for batches of `rows` frames. @returns false when memory is full, and nothing has changed */
  openRows(rows: number): boolean {
    return rows <= this.rows || this.#grown(this.exports.openRows(rows));
  }

  /** Takes memory for `size` bytes of frames. @returns false when memory is full, and nothing has changed */
  openBytes(size: number): boolean {
    return size <= this.bytesSize || this.#grown(this.exports.openBytes(size));
  }

  /** Takes memory for everything that grows with use otherwise. @returns false when memory is full */
  openAll(): boolean {
    return this.#grown(openAll(this.exports) ? 1 : 0);
  }

  #grown(done: number): boolean {
    if (done !== 0) this.locate();
    return done !== 0;
  }

  /**
   * All of memory as bytes. Growing detaches views (of shared memory they are too short: `lookAgain`), so ask again after any call
   * that may allocate. A detached view has length 0; asking the memory for its buffer costs more than most of what is done with it.
   */
  get u8(): Uint8Array {
    if (this.#u8.length === 0) this.#u8 = new Uint8Array(this.exports.memory.buffer);
    return this.#u8;
  }

  /** All of memory as words; index = address / 4. */
  get u32(): Uint32Array {
    if (this.#u32.length === 0) this.#u32 = new Uint32Array(this.exports.memory.buffer);
    return this.#u32;
  }

  /** What `writeColumns` writes. */
  get outcomeColumns(): Columns {
    if (this.#outcomeColumns === null || this.#outcomeColumns.verdicts.length === 0)
      this.#outcomeColumns = columnsAt(this.exports.memory.buffer, this.columns);
    return this.#outcomeColumns;
  }

  /** Shared memory may be larger than it was, which views do not notice. */
  lookAgain(): void {
    if (this.exports.memory.buffer.byteLength === this.#u8.length) return;
    this.#u8 = new Uint8Array(this.exports.memory.buffer);
    this.#u32 = new Uint32Array(this.exports.memory.buffer);
  }

  /** A u64 that counts something, as a bigint. */
  u64(address: number): bigint {
    const words = this.u32;
    return BigInt(words[address >> 2] ?? 0) | (BigInt(words[(address >> 2) + 1] ?? 0) << 32n);
  }
}
