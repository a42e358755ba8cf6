/**
 * Compares a match with a key, field by field. A match is compiled once and compared with many keys;
 * a comparison allocates nothing.
 */
import { EXT_PRESENT_OUTER, KEY_SIZE, PRESENT_IPV4 } from "../../abi/key.js";
import { writeField } from "../../model/match/fields.js";
import { termsOf, type KeyMatch, type MatchTerm } from "../match/terms.js";

/** A term with the words of a key that decide it. */
export interface CompiledTerm {
  readonly term: MatchTerm;
  /** Word index, mask and value, one after the other; in the byte order of the machine. */
  readonly words: Int32Array;
  /** The index of the presence word and its bits; no bits for a field that is always present. */
  readonly presenceWord: number;
  readonly presenceBits: number;
  /** Masked bits; 1 for a range and for presence alone. */
  readonly weight: number;
  /** The range: key byte of its dword, shift, mask, both ends; null without one. */
  readonly range: { dword: number; shift: number; mask: number; low: number; high: number } | null;
}

export type CompiledMatch = readonly CompiledTerm[];

/** A key as bytes and as words in the byte order of the machine. */
export interface KeyView {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
}

/** A view of 512 bytes that begin at a multiple of 4; other bytes are copied. */
export function keyView(key: Uint8Array): KeyView {
  const bytes = key.byteOffset % 4 === 0 ? key : key.slice();
  return { bytes, words: new Int32Array(bytes.buffer, bytes.byteOffset, KEY_SIZE / 4) };
}

export function compileMatch(match: KeyMatch): CompiledMatch {
  return termsOf(match).map(compileTerm);
}

function compileTerm(term: MatchTerm): CompiledTerm {
  const { field, mask, value, range } = term;
  const masks = wordsOf((key) => writeField(key, field, mask));
  const values = wordsOf((key) => writeField(key, field, value));
  const words: number[] = [];
  masks.forEach((bits, i) => {
    if (bits !== 0) words.push(i, bits, values[i] as number);
  });
  const presence = field.here === null ? null : wordOf(field.here.bit | (field.version === 4 ? PRESENT_IPV4 : 0));
  return {
    term,
    words: Int32Array.from(words),
    presenceWord: (field.here?.word ?? EXT_PRESENT_OUTER) / 4,
    presenceBits: presence ?? 0,
    weight: Math.max(1, bitCount(masks)),
    range: range === null ? null : rangeOf(term, range),
  };
}

function wordsOf(write: (key: Uint8Array) => void): Int32Array {
  const key = new Uint8Array(KEY_SIZE);
  write(key);
  return new Int32Array(key.buffer);
}

/** A big-endian word in the byte order of the machine. */
function wordOf(value: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setInt32(0, value);
  return new Int32Array(view.buffer)[0] as number;
}

function rangeOf({ field }: MatchTerm, { low, high }: { low: bigint; high: bigint }): CompiledTerm["range"] {
  const shift = 32 - (field.bit & 31) - field.width;
  const mask = field.width === 32 ? 0xffffffff : 2 ** field.width - 1;
  return { dword: (field.bit >> 5) * 4, shift, mask, low: Number(low), high: Number(high) };
}

function bitCount(words: Int32Array): number {
  return words.reduce((sum, word) => sum + popcount(word), 0);
}

function popcount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Whether the header of a term's field is present. */
export function isThere({ presenceWord, presenceBits }: CompiledTerm, { words }: KeyView): boolean {
  return ((words[presenceWord] as number) & presenceBits) === presenceBits;
}

/** The bits of a term that a key does not have; 0 where it matches. An absent header counts all masked bits. */
export function distanceOf(term: CompiledTerm, key: KeyView): number {
  if (!isThere(term, key)) return term.weight;
  const { words, range } = term;
  if (range !== null) return inRange(range, key.bytes) ? 0 : 1;
  let bits = 0;
  for (let i = 0; i < words.length; i += 3) {
    bits += popcount(((key.words[words[i] as number] as number) ^ (words[i + 2] as number)) & (words[i + 1] as number));
  }
  return bits;
}

function inRange({ dword, shift, mask, low, high }: NonNullable<CompiledTerm["range"]>, key: Uint8Array): boolean {
  const word =
    (((key[dword] as number) << 24) |
      ((key[dword + 1] as number) << 16) |
      ((key[dword + 2] as number) << 8) |
      (key[dword + 3] as number)) >>>
    shift;
  const value = (word & mask) >>> 0;
  return value >= low && value <= high;
}

/** More than the bits of all terms of a match, and than their number. */
const TERM_SCORE = 8192;
const ABSENT_SCORE = TERM_SCORE * TERM_SCORE;
const FIELD_SCORE = ABSENT_SCORE * TERM_SCORE;

/**
 * How far a key is from a match: failing fields, then those of absent headers, then how few fields agree, then bits; 0
 * where it matches. At `limit` or more it may stop early.
 */
export function scoreOf(match: CompiledMatch, key: KeyView, limit = Infinity): number {
  let [failing, agreeing] = [0, 0];
  for (let i = 0; i < match.length && failing < limit; i++) {
    const term = match[i] as CompiledTerm;
    const bits = distanceOf(term, key);
    if (bits === 0) agreeing++;
    else failing += FIELD_SCORE + (isThere(term, key) ? 0 : ABSENT_SCORE) + bits;
  }
  return failing === 0 ? 0 : failing + (TERM_SCORE - 1 - agreeing) * TERM_SCORE;
}
