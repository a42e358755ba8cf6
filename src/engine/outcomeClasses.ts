/** The sums of a core over frames whose outcomes have something in common (assembly/out/outcomeClasses.ts), read by their numbers. */
import { Area } from "../abi/engine.js";
import {
  SHAPE_BYTES,
  SHAPE_FRAMES,
  SHAPE_ROW,
  SHAPE_SIZE,
  SHAPES_COUNT,
  SHAPES_NUMBERS,
  SHAPES_RECORDS,
  SHAPES_SUMMED,
} from "../abi/outcomeClasses.js";
import type { Core } from "./core.js";

export class Shapes {
  readonly #core: Core;
  readonly #area: number;

  constructor(core: Core) {
    this.#core = core;
    this.#area = core.exports.areaAddress(Area.shapes) >>> 0;
  }

  /** Numbers given so far: they count up from 0. */
  get count(): number {
    return this.#word(SHAPES_COUNT);
  }

  /** How many rows of the batch are summed, and have a number: all, or the first ones, where there is no room for another shape. */
  get summed(): number {
    return this.#word(SHAPES_SUMMED);
  }

  /** Sums the rows from `first` on, after `clear`. */
  goOn(first: number, count: number): void {
    this.#core.exports.sumShapes(first, count);
  }

  /** The number of a row that is summed. */
  of(row: number): number {
    const { u8 } = this.#core;
    const at = this.#area + SHAPES_NUMBERS + 2 * row;
    return (u8[at] as number) | ((u8[at + 1] as number) << 8);
  }

  /** The row of the batch that a shape of this batch came up in. */
  rowOf(shape: number): number {
    return this.#word(this.#record(shape) + SHAPE_ROW);
  }

  frames(shape: number): number {
    return this.#count(this.#record(shape) + SHAPE_FRAMES);
  }

  /** On the wire. */
  bytes(shape: number): number {
    return this.#count(this.#record(shape) + SHAPE_BYTES);
  }

  /** Forgets all shapes and their sums. */
  clear(): void {
    this.#core.u8.fill(0, this.#area, this.#area + SHAPES_NUMBERS);
  }

  #record(shape: number): number {
    return SHAPES_RECORDS + shape * SHAPE_SIZE;
  }

  #count(offset: number): number {
    return this.#word(offset) + 2 ** 32 * this.#word(offset + 4);
  }

  #word(offset: number): number {
    return this.#core.u32[(this.#area + offset) >> 2] as number;
  }
}
