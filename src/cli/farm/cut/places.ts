/** A piece is read as a file: the bytes that describe its section, then its own. Where these bytes are in the capture. */
import type { ByteRange } from "../../../index.js";
import type { BreakFound } from "../../input/captures.js";
import type { Piece } from "../jobs.js";

/** Gives the place in the capture of a place in the bytes of a piece. */
export function placesOf({ from, context }: Pick<Piece, "from" | "context">): (at: number) => number {
  const described = lengthOf(context);
  return (at) => {
    let left = at;
    for (const { offset, length } of at < described ? context : []) {
      if (left < length) return offset + left;
      left -= length;
    }
    return from + at - described;
  };
}

/** These ranges of the bytes of a piece as ranges of the capture; ranges that follow each other are one. */
export function inCapture(ranges: readonly ByteRange[], placeOf: (at: number) => number): ByteRange[] {
  const all: ByteRange[] = [];
  for (const { offset: at, length } of ranges) {
    const offset = placeOf(at);
    const before = all.at(-1);
    if (before !== undefined && before.offset + before.length === offset)
      all[all.length - 1] = { offset: before.offset, length: before.length + length };
    else all.push({ offset, length });
  }
  return all;
}

/** Breaks of a piece as breaks of its capture. */
export function breaksInCapture(breaks: readonly BreakFound[], placeOf: (at: number) => number): BreakFound[] {
  return breaks.map(({ place, ...rest }) => ({ ...rest, place: { ...place, offset: placeOf(place.offset) } }));
}

function lengthOf(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, { length }) => sum + length, 0);
}
