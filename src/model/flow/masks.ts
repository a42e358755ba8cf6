/** The masks of the flows of a stage, and how masks and values are found: by hashes of their words. */
import { KEY_SIZE } from "../../abi/key.js";
import { RuleMask } from "../../engine/ruleMask.js";
import type { Place } from "../table/classifier.js";

/** The key that was hashed last, as bytes, and as words in the machine's byte order. */
const KEY = new Uint8Array(KEY_SIZE);
const WORDS = new Int32Array(KEY.buffer);
/** The words to hash: at most those of a key, and what says which these are. */
const INPUT = new Int32Array(WORDS.length + 4);
/** How many words of the mask that was hashed last are not zero. */
let masked = 0;

/**
 * Hashes of masks and values under a secret, so that nobody can choose many of one hash:
 * HalfSipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF").
 */
export class KeyHash {
  private readonly _secret0: number;
  private readonly _secret1: number;

  /** The two words of the secret. @default random */
  constructor(secret0 = randomWord(), secret1 = randomWord()) {
    this._secret0 = secret0;
    this._secret1 = secret1;
  }

  /** The hash of a mask: which of its words are not zero, and these words. */
  ofMask(mask: Uint8Array): number {
    KEY.set(mask);
    INPUT.fill(0, 0, 4);
    masked = 0;
    for (let first = 0; first < WORDS.length; first += 4) {
      // Nearly all words are 0.
      if ((WORDS[first]! | WORDS[first + 1]! | WORDS[first + 2]! | WORDS[first + 3]!) === 0) continue;
      for (let word = first; word < first + 4; word++) {
        if (WORDS[word] === 0) continue;
        INPUT[word >> 5]! |= 1 << (word & 31);
        INPUT[4 + masked++] = WORDS[word]!;
      }
    }
    return this._ofInput(4 + masked);
  }

  /** The hash of these words of a value at a slot. */
  ofValue(slot: number, value: Uint8Array, words: readonly number[]): number {
    KEY.set(value);
    INPUT[0] = slot;
    for (let i = 0; i < words.length; i++) INPUT[1 + i] = WORDS[words[i]!]!;
    return this._ofInput(1 + words.length);
  }

  private _ofInput(count: number): number {
    let v0 = this._secret0;
    let v1 = this._secret1;
    let v2 = v0 ^ 0x6c796765;
    let v3 = v1 ^ 0x74656462;
    // A round for each word, one for the length, and three at the end.
    for (let i = 0; i < count + 4; i++) {
      const word = i < count ? INPUT[i]! : i === count ? count << 26 : 0;
      if (i === count + 1) v2 ^= 0xff;
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    return v1 ^ v3;
  }
}

function randomWord(): number {
  return crypto.getRandomValues(new Int32Array(1))[0]!;
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

  constructor(hash: KeyHash, mask: Uint8Array) {
    // From here on WORDS is the mask.
    this.hash = hash.ofMask(mask);
    this.mask = new RuleMask(mask.slice());
    this._words = Array.from(WORDS.keys()).filter((word) => WORDS[word] !== 0);
    this._bits = this._words.map((word) => WORDS[word]!);
  }

  /** The one with this mask; null without one. */
  static find<Entry extends Hashed<Entry>>(
    table: HashTable<MaskBits<Entry>>,
    hash: KeyHash,
    mask: Uint8Array,
  ): MaskBits<Entry> | null {
    let bits = table.first(hash.ofMask(mask));
    while (bits !== null && !bits._isMask()) bits = bits.next;
    return bits;
  }

  /** The hash of a value under this mask at a slot. */
  entryHash(hash: KeyHash, slot: number, value: Uint8Array): number {
    return hash.ofValue(slot, value, this._words);
  }

  /** Whether the mask that was hashed last is this one. */
  private _isMask(): boolean {
    if (masked !== this._words.length) return false;
    for (let i = 0; i < this._words.length; i++) if (WORDS[this._words[i]!] !== this._bits[i]) return false;
    return true;
  }
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
