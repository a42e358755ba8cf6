/** Where parts of a text are after edits. */
import type { Edit } from "jsonc-parser";
import { computed, type ReadonlySignal } from "@preact/signals";
import { editsBetween } from "../text/json.js";
import type { TextRange } from "../text/places.js";

/** The range of something in a later text; null once an edit has touched what it is about. */
export type RangeNow = (text: string) => TextRange | null;

/** Edits that are followed one by one; more of them count as one. */
const MAX = 50;

/**
 * Follows ranges of a text through later ones.
 * @returns takes a range that edits must not touch, and a part of it that is followed; by default the same
 */
export function following(first: string): (whole: TextRange, part?: TextRange) => RangeNow {
  let last = first;
  let edits: Edit[] = [];
  const look = (text: string): void => {
    if (text === last) return;
    if (text === first) edits = [];
    else if (edits.length < MAX) edits.push(...editsBetween(last, text));
    else edits = editsBetween(first, text);
    last = text;
  };
  return (whole, part = whole) =>
    (text) => {
      look(text);
      const shift = shiftOf(whole, edits);
      return shift === null ? null : { from: part.from + shift, to: part.to + shift };
    };
}

/** How far edits move a range; null if one touches the range or its borders. */
function shiftOf({ from, to }: TextRange, edits: readonly Edit[]): number | null {
  let shift = 0;
  for (const { offset, length, content } of edits) {
    if (to + shift < offset) continue;
    if (from + shift <= offset + length) return null;
    shift += content.length - length;
  }
  return shift;
}

/** The items that pass. The list stays the same object while it has the same items. */
export function filtered<T>(all: () => readonly T[], passes: (item: T) => boolean): ReadonlySignal<readonly T[]> {
  let last: readonly T[] = [];
  return computed(() => {
    const now = all().filter(passes);
    if (now.length !== last.length || now.some((one, i) => one !== last[i])) last = now;
    return last;
  });
}
