/** The fields in which a frame differs from a match, with the bits that differ. */
import type { FrameFacts } from "./absent/facts.js";
import { absence } from "./absent/absence.js";
import { noteOf } from "./absent/notes.js";
import { distanceOf, isThere, keyView, type CompiledMatch, type CompiledTerm, type KeyView } from "./compare.js";
import type { Difference } from "./explanation.js";
import { EXT_PRESENT_INNER, EXT_PRESENT_OUTER, EXT_PRESENT_TUNNEL } from "../../abi/key.js";
import { readField } from "../../model/match/fields.js";
import { valueText } from "../match/notation.js";

/**
 * Lists each field in which a frame differs from a match, in key order. Fields of a tunnel that is absent come last, and after
 * them those of the packet inside, which are absent because the tunnel is.
 */
export function differencesOf(match: CompiledMatch, facts: FrameFacts): Difference[] {
  const key = keyView(facts.key);
  const failing = match.flatMap((term) => {
    const distance = distanceOf(term, key);
    return distance === 0 ? [] : [{ depth: depthOf(term, key), difference: differenceOf(term, distance, key, facts) }];
  });
  return failing.toSorted((a, b) => a.depth - b.depth).map(({ difference }) => difference);
}

/** How many headers must be there before a field that is absent. */
function depthOf(term: CompiledTerm, key: KeyView): number {
  return isThere(term, key) ? 0 : DEPTHS.indexOf(term.term.field.here?.word ?? EXT_PRESENT_OUTER);
}

const DEPTHS: readonly number[] = [EXT_PRESENT_OUTER, EXT_PRESENT_TUNNEL, EXT_PRESENT_INNER];

function differenceOf(one: CompiledTerm, distance: number, key: KeyView, facts: FrameFacts): Difference {
  const { term } = one;
  const { field, mask, value, range, wanted } = term;
  const { name } = field;
  if (!isThere(one, key)) {
    const bits = bitsText(field.width, mask, mask);
    return { field: name, wanted, found: null, bits, distance, absent: absence(facts, field), note: null };
  }
  const found = readField(key.bytes, field);
  const differing = range === null ? (found ^ value) & mask : 0n;
  return {
    field: name,
    wanted,
    found: valueText(field, found),
    bits: bitsText(field.width, mask, differing),
    distance,
    absent: null,
    note: noteOf(facts, field, found),
  };
}

/** A bit a character, from the most significant: "1" differs, "0" equal, "." not masked. */
function bitsText(width: number, mask: bigint, differing: bigint): string {
  const masks = mask.toString(2).padStart(width, "0");
  const ones = differing.toString(2).padStart(width, "0");
  return Array.from({ length: width }, (_, i) => (masks.charAt(i) === "0" ? "." : ones.charAt(i))).join("");
}
