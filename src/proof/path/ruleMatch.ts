/** The match of a rule over a symbolic key: literals that all hold where the rule matches. */
import type { KeyMatch } from "../../explain/match/terms.js";
import type { FieldRange } from "../../engine/rules.js";
import { FALSE, TRUE, type Literal } from "../literal.js";
import type { SymbolicKey } from "../keys/symbolicKey.js";
import type { Solver } from "../solver/solver.js";

/** The bits that a mask selects, as indices of key bits, with the value that each must have. */
export function maskedBits({ mask, value }: KeyMatch, each: (bit: number, set: boolean) => void): void {
  for (let byte = 0; byte < mask.length; byte++) {
    const bits = mask[byte] as number;
    if (bits === 0) continue;
    const wanted = value[byte] as number;
    for (let n = 0; n < 8; n++) {
      if ((bits & (0x80 >> n)) !== 0) each(byte * 8 + n, (wanted & (0x80 >> n)) !== 0);
    }
  }
}

/** The literals of a range's field, the most significant first. */
export function rangeBits({ dword, shift, fieldMask }: FieldRange, key: SymbolicKey): Literal[] {
  const width = 32 - Math.clz32(fieldMask);
  const first = dword * 8 + 32 - shift - width;
  return Array.from({ length: width }, (_, n) => key.bit(first + n));
}

/** What matches both, which agree on the bits that both mask. */
export function bothMatches(a: KeyMatch, b: KeyMatch): KeyMatch {
  const either = (one: Uint8Array, other: Uint8Array): Uint8Array =>
    one.map((bits, byte) => bits | (other[byte] as number));
  return { mask: either(a.mask, b.mask), value: either(a.value, b.value), ranges: [...a.ranges, ...b.ranges] };
}

/** Literals that are all true exactly where a key matches, constants left out; null where it cannot match. */
export function bitLiterals(match: KeyMatch, key: SymbolicKey): Literal[] | null {
  const literals: Literal[] = [];
  let possible = true;
  maskedBits(match, (bit, set) => {
    const literal = set ? key.bit(bit) : -key.bit(bit);
    if (literal === FALSE) possible = false;
    else if (literal !== TRUE) literals.push(literal);
  });
  return possible ? literals : null;
}

/** Requires that a key matches while all of `when` hold. @returns false if the formula is unsatisfiable */
export function requireMatch(
  solver: Solver,
  match: KeyMatch,
  key: SymbolicKey,
  when: readonly Literal[] = [],
): boolean {
  const unless = when.map((literal) => -literal);
  const literals = bitLiterals(match, key);
  if (literals === null) return solver.addClause(unless);
  for (const literal of literals) if (!solver.addClause([literal, ...unless])) return false;
  for (const range of match.ranges) {
    const bits = rangeBits(range, key);
    for (const clause of [...atLeast(bits, range.low), ...atMost(bits, range.high)]) {
      if (!solver.addClause([...clause, ...unless])) return false;
    }
  }
  return true;
}

/** Requires that a key does not match while all of `when` hold. @returns false if the formula is unsatisfiable */
export function forbidMatch(solver: Solver, match: KeyMatch, key: SymbolicKey, when: readonly Literal[] = []): boolean {
  const literals = bitLiterals(match, key);
  if (literals === null) return true;
  const clause = [...when, ...literals].map((literal) => -literal);
  for (const range of match.ranges) {
    const bits = rangeBits(range, key);
    const ends: [Literal[][], boolean][] = [
      [atMost(bits, range.low - 1), range.low > 0],
      [atLeast(bits, range.high + 1), range.high < range.fieldMask],
    ];
    for (const [clauses, possible] of ends) {
      if (!possible) continue;
      // The field is beyond this end of the range where `beyond` holds.
      const beyond = solver.newVariable();
      for (const one of clauses) solver.addClause([-beyond, ...one]);
      clause.push(beyond);
    }
  }
  return solver.addClause(clause);
}

/** Clauses that say that a number is at least `low`: each bit of `low` that is set is set, or a higher bit is set that is not in `low`. */
function atLeast(bits: readonly Literal[], low: number): Literal[][] {
  return bound(bits, low, true);
}

function atMost(bits: readonly Literal[], high: number): Literal[][] {
  return bound(bits, high, false);
}

function bound(bits: readonly Literal[], limit: number, least: boolean): Literal[][] {
  const clauses: Literal[][] = [];
  const above: Literal[] = [];
  bits.forEach((bit, n) => {
    const set = Math.floor(limit / 2 ** (bits.length - 1 - n)) % 2 === 1;
    const literal = least ? bit : -bit;
    if (set === least) clauses.push([...above, literal]);
    else above.push(literal);
  });
  return clauses;
}
