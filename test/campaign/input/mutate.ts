/** Other inputs made from those that reached something. */
import type { Random } from "../../oracle/generate/random.js";
import { head, type Input, inputOf, type Piece, tail } from "./input.js";

/** An input and the number of words that its run drew. */
export interface Sized {
  readonly input: Input;
  readonly length: number;
}

/** Words that choose the first, the last, or one of few. */
const EDGES = [0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];
/** The most words that are dropped, added or doubled at once. */
const MAX = 64;

/** Changes an input at one to four places. */
export function mutated(of: Sized, other: Sized, random: Random): Input {
  let { input } = of;
  for (let left = random.pick([1, 1, 2, 4]); left > 0; left--) input = change({ ...of, input }, other, random);
  return input;
}

function change({ input, length }: Sized, other: Sized, random: Random): Input {
  const at = random.below(length + 1);
  const span = Math.min(random.between(1, random.pick([1, 4, MAX])), Math.max(length - at, 1));
  const before = head(input, at);
  switch (random.below(7)) {
    case 0:
      return followed([...before, { words: [random.pick(EDGES)] }], tail(input, at + 1));
    case 1:
      return followed([...before, freshPiece(span, random)], tail(input, at + span));
    case 2:
      return followed(before, tail(input, at + span));
    case 3:
      return followed([...before, freshPiece(span, random)], tail(input, at));
    case 4:
      return followed(head(input, at + span), tail(input, at));
    case 5:
      return followed(before, tail(other.input, random.below(other.length + 1)));
    default:
      return followed(before, inputOf(random.word()));
  }
}

function freshPiece(length: number, random: Random): Piece {
  return { seed: random.word(), from: 0, length };
}

function followed(before: readonly Piece[], { pieces, rest }: Input): Input {
  return { pieces: [...before, ...pieces], rest };
}
