/** The masks of the flows of a stage, and how masks and values are found: by hashes of their words. */
import { KEY_SIZE } from "../../abi/key.js";
import { RuleMask } from "../../engine/ruleMask.js";
import type { Place } from "../table/classifier.js";

/** A key as bytes, and as words in the machine's byte order: that of the hash that is being made. */
const KEY = new Uint8Array(KEY_SIZE);
const WORDS = new Int32Array(KEY.buffer);

/** One more word of a hash, as MurmurHash3 (x86, 32 bits) takes it. */
function mixed(hash: number, word: number): number {
  let bits = Math.imul(word, 0xcc9e2d51);
  bits = Math.imul((bits << 15) | (bits >>> 17), 0x1b873593) ^ hash;
  return (Math.imul((bits << 13) | (bits >>> 19), 5) + 0xe6546b64) | 0;
}

/** What is found by a hash. */
interface Hashed<T> {
  readonly hash: number;
  /** The next one of the same hash. */
  next: T | null;
}

/** Objects by hashes. Several of one hash form a list. */
export class HashTable<T extends Hashed<T>> {
  private readonly _lists = new Map<number, T>();

  /** The first of those with this hash. */
  first(hash: number): T | null {
    return this._lists.get(hash) ?? null;
  }

  add(one: T): void {
    one.next = this.first(one.hash);
    this._lists.set(one.hash, one);
  }

  remove(one: T): void {
    const first = this.first(one.hash);
    if (first !== one) {
      let before = first;
      while (before !== null && before.next !== one) before = before.next;
      if (before !== null) before.next = one.next;
    } else if (one.next === null) this._lists.delete(one.hash);
    else this._lists.set(one.hash, one.next);
    one.next = null;
  }
}

/** A mask of a stage, whatever the slots of its flows are. */
export class MaskBits<Entry extends Hashed<Entry>> implements Hashed<MaskBits<Entry>> {
  readonly hash: number;
  next: MaskBits<Entry> | null = null;
  readonly mask: RuleMask;
  readonly slots = new Map<number, FlowMask<Entry>>();
  /** The entries of all slots, by `entryHash`. */
  readonly entries = new HashTable<Entry>();
  /** The words of a key that the mask covers, and its bits there. */
  private readonly _words: readonly number[];
  private readonly _bits: readonly number[];

  constructor(mask: Uint8Array) {
    KEY.set(mask);
    this.hash = hashOfMask();
    this.mask = new RuleMask(mask.slice());
    this._words = Array.from(WORDS.keys()).filter((word) => WORDS[word] !== 0);
    this._bits = this._words.map((word) => WORDS[word]!);
  }

  /** The one with this mask; null without one. */
  static find<Entry extends Hashed<Entry>>(
    table: HashTable<MaskBits<Entry>>,
    mask: Uint8Array,
  ): MaskBits<Entry> | null {
    KEY.set(mask);
    let bits = table.first(hashOfMask());
    while (bits !== null && !bits._isMask()) bits = bits.next;
    return bits;
  }

  /** The hash of a value under this mask at a slot. */
  entryHash(slot: number, value: Uint8Array): number {
    KEY.set(value);
    let hash = mixed(0, slot);
    for (let i = 0; i < this._words.length; i++) hash = mixed(hash, WORDS[this._words[i]!]!);
    return hash;
  }

  /** Whether KEY is this mask. */
  private _isMask(): boolean {
    if (masked !== this._words.length) return false;
    for (let i = 0; i < this._words.length; i++) if (WORDS[this._words[i]!] !== this._bits[i]) return false;
    return true;
  }
}

/** How many words of the mask that was hashed last are not zero. */
let masked = 0;

/** The hash of KEY as a mask. */
function hashOfMask(): number {
  let hash = 0;
  masked = 0;
  for (let first = 0; first < WORDS.length; first += 4) {
    // Nearly all words are 0.
    if ((WORDS[first]! | WORDS[first + 1]! | WORDS[first + 2]! | WORDS[first + 3]!) === 0) continue;
    for (let word = first; word < first + 4; word++) {
      const bits = WORDS[word]!;
      if (bits === 0) continue;
      masked++;
      hash = mixed(mixed(hash, word), bits);
    }
  }
  return hash;
}

/** A mask at a slot. It ranks by the age of its oldest entry. */
export class FlowMask<Entry extends Hashed<Entry>> implements Place {
  readonly slot: number;
  readonly bits: MaskBits<Entry>;
  /** Entries of this slot. */
  entries = 0;
  order = 0;

  constructor(slot: number, bits: MaskBits<Entry>) {
    this.slot = slot;
    this.bits = bits;
  }
}

/** Whether two keys have the same bytes. */
export function isSameKey(a: Uint8Array, b: Uint8Array): boolean {
  for (let at = 0; at < KEY_SIZE; at++) if (a[at] !== b[at]) return false;
  return true;
}
