/**
 * The frame and byte sums that a core keeps for each outcome class. Classes are numbered from 0
 * (assembly/out/outcomeClasses.ts).
 */
import {
  Area,
  CLASS_BYTES,
  CLASS_FRAMES,
  CLASS_ROW,
  CLASS_SIZE,
  CLASSES_COUNT,
  CLASSES_NUMBERS,
  CLASSES_RECORDS,
  CLASSES_SUMMED,
} from "../abi/engine.js";
import type { Core } from "./core.js";

export class OutcomeClasses {
  readonly #core: Core;
  readonly #area: number;

  constructor(core: Core) {
    this.#core = core;
    this.#area = core.exports.areaAddress(Area.outcome_classes) >>> 0;
  }

  /** The number of classes so far. */
  get count(): number {
    return this.#word(CLASSES_COUNT);
  }

  /**
   * The number of summed rows, which have a class number. It is smaller than the batch when there
   * was no room for another class.
   */
  get summed(): number {
    return this.#word(CLASSES_SUMMED);
  }

  /**
   * Adds rows of the batch to the sums, after `clear`.
   * @param first the first row
   * @param count the number of rows
   */
  goOn(first: number, count: number): void {
    this.#core.exports.sumOutcomeClasses(first, count);
  }

  /** The class of a summed row of the batch. */
  of(row: number): number {
    const { u8 } = this.#core;
    const at = this.#area + CLASSES_NUMBERS + 2 * row;
    return (u8[at] as number) | ((u8[at + 1] as number) << 8);
  }

  /** The first row of the batch that has this outcome class. The class must occur in the batch. */
  rowOf(outcomeClass: number): number {
    return this.#word(this.#record(outcomeClass) + CLASS_ROW);
  }

  /** The number of frames of a class. */
  frames(outcomeClass: number): number {
    return this.#count(this.#record(outcomeClass) + CLASS_FRAMES);
  }

  /** The sum of the wire lengths in bytes. */
  bytes(outcomeClass: number): number {
    return this.#count(this.#record(outcomeClass) + CLASS_BYTES);
  }

  /** Removes all classes and their sums. */
  clear(): void {
    this.#core.u8.fill(0, this.#area, this.#area + CLASSES_NUMBERS);
  }

  #record(outcomeClass: number): number {
    return CLASSES_RECORDS + outcomeClass * CLASS_SIZE;
  }

  #count(offset: number): number {
    return this.#word(offset) + 2 ** 32 * this.#word(offset + 4);
  }

  #word(offset: number): number {
    return this.#core.u32[(this.#area + offset) >> 2] as number;
  }
}
