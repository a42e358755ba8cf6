/**
 * The raw exports of the core and typed views of its memory. Nobody outside src/engine touches either.
 */
import { Area } from "../abi/engine.js";
import { columnsAt, type Columns } from "./columns.js";

/** Exports of assembly/index.ts. Numbers come back signed: `>>> 0` where they are addresses. */
export interface CoreExports {
  memory: WebAssembly.Memory;
  areaAddress(area: number): number;
  openMemory(): number;
  arenaUsed(): number;
  /** The end of what is stored in the arena. */
  arenaTop(): number;
  limitArena(bytes: number): void;
  declareGeneveOption(optionClass: number, type: number): void;
  /** `port` -1 is any; `header` 0 is the payload. */
  declareSample(id: number, header: number, level: number, offset: number, port: number): void;
  /** `flags` are TABLE_*. */
  createTable(flags: number): number;
  /** Whether the table keeps what it once needed when its rules go. */
  keepTable(table: number, keeps: number): void;
  /** Gives back what the table does not need now. */
  trimTable(table: number): void;
  /** Room for so many rules in all, made at once and kept from now on; 0 when memory is full. */
  reserveRules(table: number, rules: number): number;
  destroyTable(table: number): void;
  /** A root table that never has rules, and takes no memory. */
  emptyTable(): number;
  /** The same of the send path. */
  emptySendTable(): number;
  /** What no rule of `table` wants goes on at `next`; 0 for nowhere. */
  setMiss(table: number, next: number): void;
  insertRule(table: number, id: number, rankHigh: number, rankLow: number, ranges: number, actions: number): number;
  removeRule(rule: number): void;
  /** Writes the value of a rule where values are staged; fields with ranges are 0. */
  stageValue(rule: number): void;
  /** Inserts rules that lie in the area `bytes` (BULK_*); gives how many, fewer when memory is full. */
  insertRules(
    table: number,
    count: number,
    stride: number,
    criteria: number,
    rankHigh: number,
    rankLow: number,
  ): number;
  /** The first of the same rules whose value has a bit that the staged mask leaves out; -1 for none. */
  firstOutside(count: number, stride: number, criteria: number): number;
  /** Gives a rule the staged actions; 0 when memory is full, never for as many as it has or fewer. */
  changeActions(rule: number, count: number): number;
  rerankRule(rule: number, rankHigh: number, rankLow: number): void;
  /** Copies so many staged bytes: what the operand of an action names; 0 when memory is full. */
  createRecord(bytes: number): number;
  releaseRecord(record: number, bytes: number): void;
  /** A cipher of a key of 16, 24 or 32 bytes, wherever it lies; 0 when memory is full. */
  createCipher(key: number, length: number): number;
  /** Overwrites a cipher and gives its memory back. */
  releaseCipher(cipher: number): void;
  /** At most so many entries of the cache of decisions, a power of two; 0 for none. */
  limitCache(entries: number): void;
  clearCache(): void;
  /** The cache has no memory until it is asked again. */
  giveBackCache(): void;
  isCacheAsleep(): number;
  /** What chance follows from. */
  setSeed(high: number, low: number): void;
  /** The root table of the eSwitch; 0 for none. */
  setFdb(table: number): void;
  /** The table that frames for a function come to first. */
  setVport(vport: number, table: number): void;
  createCounters(count: number): number;
  releaseCounters(counters: number, count: number): void;
  createCompletionQueue(capacity: number): number;
  destroyCompletionQueue(queue: number): void;
  holdCompletion(queue: number): void;
  takeCompletions(queue: number, count: number): void;
  createQueue(flags: number, completions: number, depth: number): number;
  destroyQueue(queue: number): void;
  setQueueFlags(queue: number, flags: number): void;
  clearQueue(queue: number): void;
  postBuffer(queue: number, length: number): void;
  /** A cipher of the key of so many bytes at an address; 0 when memory is full. The key's own bytes stay as they are. */
  createCipher(key: number, length: number): number;
  setCipherKey(cipher: number, key: number, length: number): void;
  releaseCipher(cipher: number): void;
  seal(job: number): void;
  /** 0 where the ICV is wrong: the packet is as it was then. */
  open(job: number): number;
  /** Packets of one cipher that follow each other are sealed together, which is faster. */
  sealMany(jobs: number, count: number): void;
  openMany(jobs: number, count: number): void;
  /** REACHES_*: what frames can come to from a table on. */
  reached(root: number): number;
  /** So many frames were steered elsewhere. */
  skipNumbers(count: number): void;
  parse(count: number, wanted: number): void;
  steer(root: number, count: number): void;
  loopBack(root: number, count: number, sender: number): void;
  /** Says of each frame of the batch what COLUMN_* name; gives SOME_*. */
  writeColumns(count: number): number;
  /** Keeps the lengths that frames come in with: before they are steered, where they are summed. */
  keepLengths(count: number): void;
  /** Sums rows by what their outcomes have in common; gives how many are summed, `first` with them. */
  sumShapes(first: number, count: number): number;
  classify(table: number, count: number, lowerHigh: number, lowerLow: number): void;
}

/** One instance of the core. */
export class Core {
  readonly exports: CoreExports;
  /** To be called before counters are read or written: others may have counted for this core. */
  settle: () => void = () => {};
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
