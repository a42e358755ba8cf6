/**
 * Cells: the bits of a key, and behind them facts about a frame that no bit of the key says but several depend on.
 * A term is a cell that is 1 (`cell + 1`), or 0 (negative).
 */
import type { Level } from "../../headers/fields.js";
import { EXT_PRESENT_INNER, EXT_PRESENT_OUTER, EXT_PRESENT_TUNNEL, KEY_SIZE } from "../../abi/key.js";
import { fieldNamed, type Field, type FieldName } from "../../model/match/fields.js";

export type { Level };

export type Cell = number;
export type Term = number;

const FIRST_FACT = KEY_SIZE * 8;
const LEVEL_FACTS = 3;

/** Facts of a level. */
/** A fragment with an offset: nothing after its header is read. */
export const LATER = 0;
/** ESP in UDP, to or from port 4500. */
export const ESP_TO_PORT = 1;
export const ESP_FROM_PORT = 2;

/** Facts of the tunnel. */
/** No option of the GRE header is cut. */
export const GRE_WHOLE = FIRST_FACT + 2 * LEVEL_FACTS;
/** GRE is read as version 0. */
export const GRE_VERSION_0 = GRE_WHOLE + 1;
/** Geneve has version 0. */
export const GENEVE_VERSION_0 = GRE_WHOLE + 2;
/** The outer IP packet carries the inner one itself. */
export const IP_IN_IP = GRE_WHOLE + 3;

export const CELLS = FIRST_FACT + 2 * LEVEL_FACTS + 4;

/** The term of a fact of a level. */
export function fact(level: Level, which: number): Term {
  return FIRST_FACT + (level === "outer" ? 0 : LEVEL_FACTS) + which + 1;
}

const WORDS = { outer: EXT_PRESENT_OUTER, inner: EXT_PRESENT_INNER, tunnel: EXT_PRESENT_TUNNEL };

/** The term of a presence bit. */
export function present(word: Level | "tunnel", bit: number): Term {
  return presenceAt(WORDS[word], bit);
}

/** The same, by the key byte of the big-endian word. */
export function presenceAt(word: number, bit: number): Term {
  return word * 8 + Math.clz32(bit) + 1;
}

/** A field that exists. */
export function field(name: FieldName): Field {
  return fieldNamed(name) as Field;
}

/** The terms of a field's bits, the highest first. */
export function bits(name: FieldName): Term[] {
  const { bit, width } = field(name);
  return Array.from({ length: width }, (_, i) => bit + i + 1);
}

/** The terms that hold where a field (or any list of bits) has a value. */
export function equals(name: FieldName | readonly Term[], value: number): Term[] {
  const all = typeof name === "string" ? bits(name) : name;
  return all.map((term, i) => (Math.floor(value / 2 ** (all.length - 1 - i)) % 2 === 1 ? term : -term));
}

/** Terms of which one holds where not all of these do. */
export function not(terms: readonly Term[]): Term[] {
  return terms.map((term) => -term);
}
