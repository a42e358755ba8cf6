/**
 * Numbers for what outcomes of frames have in common, so that many frames are summed by a few objects.
 *
 * Two frames have one number exactly if they have the same verdict, reason, rules in order, metadata registers with their values, and
 * destinations in order, each with its kind, its state and by how much the bytes there are more than those that came in. Tags,
 * lengths and bytes may differ.
 */
import { REGISTERS } from "../abi/engine.js";
import type { Batch } from "./batch.js";

/** Numbers that are given, and words that are kept of what they stand for. */
const MOST = 4096;
/** Room for the longest: a frame has less than 65,536 rules and as many destinations. */
const WORDS = 1 << 19;
/** A power of two, four times MOST: chains stay short. */
const SLOTS = 1 << 14;

export class Shapes {
  /** Numbers given so far. */
  count = 0;
  readonly #words = new Uint32Array(WORDS);
  /** Where the words of each end. */
  readonly #ends = new Uint32Array(MOST);
  /** Number + 1 by hash; 0 where there is none. */
  readonly #slots = new Uint16Array(SLOTS);

  /** Forgets all numbers. */
  clear(): void {
    this.count = 0;
    this.#slots.fill(0);
  }

  /** The number for frame `i` of a batch that was steered, which came in with `length` bytes; -1 where no more are kept until `clear`. */
  of(batch: Batch, i: number, length: number): number {
    const begin = this.count === 0 ? 0 : (this.#ends[this.count - 1] ?? 0);
    if (this.count === MOST || begin + wordsOf(batch, i) > WORDS) return -1;
    const end = this.#write(batch, i, length, begin);
    let slot = this.#hash(begin, end);
    for (; ; slot = (slot + 1) & (SLOTS - 1)) {
      const number = (this.#slots[slot] ?? 0) - 1;
      if (number < 0) break;
      if (this.#same(number, begin, end)) return number;
    }
    this.#slots[slot] = this.count + 1;
    this.#ends[this.count] = end;
    return this.count++;
  }

  /** Writes the words of a frame; gives where they end. */
  #write(batch: Batch, i: number, length: number, begin: number): number {
    const words = this.#words;
    const hits = batch.hits(i);
    const destinations = batch.destinations(i);
    const written = batch.written(i);
    let at = begin;
    words[at++] = batch.verdict(i) | (batch.reason(i) << 8);
    words[at++] = hits | (destinations << 16);
    words[at++] = written;
    for (let n = 0; n < hits; n++) words[at++] = batch.hit(i, n);
    if (written !== 0) {
      for (let n = 0; n < REGISTERS; n++) if (((written >>> n) & 1) !== 0) words[at++] = batch.register(i, n);
    }
    let destination = batch.firstDestination(i);
    for (let n = 0; n < destinations; n++) {
      words[at++] = batch.queueOf(destination);
      words[at++] = batch.flagsOf(destination);
      words[at++] = batch.statusOf(destination);
      words[at++] = batch.lengthAt(destination) - length;
      destination = batch.nextDestination(destination);
    }
    return at;
  }

  #hash(begin: number, end: number): number {
    let hash = 0;
    for (let at = begin; at < end; at++) {
      hash = Math.imul(hash ^ (this.#words[at] ?? 0), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    return hash & (SLOTS - 1);
  }

  #same(number: number, begin: number, end: number): boolean {
    const words = this.#words;
    const other = number === 0 ? 0 : (this.#ends[number - 1] ?? 0);
    const length = end - begin;
    if ((this.#ends[number] ?? 0) - other !== length) return false;
    for (let n = 0; n < length; n++) if (words[other + n] !== words[begin + n]) return false;
    return true;
  }
}

function wordsOf(batch: Batch, i: number): number {
  return 3 + batch.hits(i) + REGISTERS + 4 * batch.destinations(i);
}
