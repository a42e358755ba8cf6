/**
 * `Core`: the exports of one instance of the WebAssembly module, and typed views of its memory. Only src/engine uses them.
 */
import { Area } from "../abi/engine.js";
import { columnsAt, type Columns } from "./columns.js";
import type { CoreExports } from "./coreExports.js";

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
  readonly frames: number;
  readonly bytes: number;
  readonly keys: number;
  readonly maps: number;
  readonly outcomes: number;
  readonly hits: number;
  readonly destinations: number;
  readonly reasons: number;
  readonly found: number;
  readonly times: number;
  /** Packets to seal or open. */
  readonly jobs: number;
  readonly columns: number;
  readonly functions: number;
  readonly samples: number;
  readonly arena: number;
  readonly cache: number;

  #u8: Uint8Array;
  #u32: Uint32Array;
  #outcomeColumns: Columns | null = null;

  constructor(exports: CoreExports) {
    this.exports = exports;
    if (!exports.openMemory()) throw new RangeError("flowsteer: no memory for the core");
    const area = (one: Area): number => exports.areaAddress(one) >>> 0;
    this.staging = area(Area.staging);
    this.frames = area(Area.frames);
    this.bytes = area(Area.bytes);
    this.keys = area(Area.keys);
    this.maps = area(Area.maps);
    this.outcomes = area(Area.outcomes);
    this.hits = area(Area.hits);
    this.destinations = area(Area.destinations);
    this.reasons = area(Area.reasons);
    this.found = area(Area.found);
    this.times = area(Area.times);
    this.jobs = area(Area.jobs);
    this.columns = area(Area.columns);
    this.functions = area(Area.functions);
    this.samples = area(Area.samples);
    this.arena = area(Area.arena);
    this.cache = area(Area.cache);
    this.#u8 = new Uint8Array(exports.memory.buffer);
    this.#u32 = new Uint32Array(exports.memory.buffer);
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
