/**
 * Literals of a formula: `n` for variable n, `-n` for its negation. Variable 1 is always true, so constants are literals
 * too.
 */
export type Literal = number;

export const TRUE: Literal = 1;
export const FALSE: Literal = -1;

/** The literal of a constant bit. */
export function constant(bit: boolean): Literal {
  return bit ? TRUE : FALSE;
}

export function isConstant(literal: Literal): boolean {
  return literal === TRUE || literal === FALSE;
}
