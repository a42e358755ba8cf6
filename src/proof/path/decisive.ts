/**
 * The literals of a solution that decide its way through a chain: every key that has them takes the same rules. A rule is
 * kept away by one bit in which the solution differs from it, of those that are kept already if there is one.
 */
import { isConstant, type Literal } from "../literal.js";
import type { RuleNode } from "../../explain/why/rules.js";
import type { Solver } from "../solver/solver.js";
import type { Chain, Stage } from "./chain.js";
import { bitLiterals, maskedBits, rangeBits } from "./ruleMatch.js";

/** The true literals of the chain's solution that decide its way. `askAll` comes before its solution. */
export function decisiveLiterals(chain: Chain): Set<Literal> {
  const kept = new Set<Literal>();
  for (const stage of chain.stages) keepWanted(chain, stage, kept);
  for (const { literals, equal } of chain.conditions) {
    if (equal) for (const literal of literals) kept.add(literal);
    else keepOneFalse(chain.solver, literals, kept);
  }
  for (const one of kept) if (isConstant(one)) kept.delete(one);
  for (const { stage, rule } of chain.blockers()) keepAway(chain, stage, rule, kept);
  return kept;
}

function keepWanted({ solver, world }: Chain, { key, wanted }: Stage, kept: Set<Literal>): void {
  if (wanted === null) return;
  const content = world.contentOf(wanted);
  for (const literal of bitLiterals(content, key) ?? []) kept.add(literal);
  for (const range of content.ranges) keepBlock(solver, rangeBits(range, key), range.low, range.high, kept);
}

/** Keeps a literal that is false, if none of those that are kept is. */
function keepOneFalse(solver: Solver, literals: readonly Literal[], kept: Set<Literal>): void {
  const inverse = literals.filter((literal) => !solver.value(literal)).map((literal) => -literal);
  if (inverse.some((literal) => isConstant(literal) || kept.has(literal))) return;
  const [first] = inverse;
  if (first !== undefined) kept.add(first);
}

/** Keeps a bit, or the high bits of a range's field, by which the solution differs from a rule. */
function keepAway({ solver, world }: Chain, { key }: Stage, rule: RuleNode, kept: Set<Literal>): void {
  const content = world.contentOf(rule);
  let differing: Literal | null = null;
  let away = false;
  maskedBits(content, (bit, set) => {
    if (away) return;
    const literal = key.bit(bit);
    if (solver.value(literal) === set) return;
    const differs = set ? -literal : literal;
    if (isConstant(literal) || kept.has(differs)) away = true;
    else differing ??= differs;
  });
  if (away) return;
  if (differing !== null) {
    kept.add(differing);
    return;
  }
  for (const range of content.ranges) {
    const bits = rangeBits(range, key);
    const value = numberOf(solver, bits);
    const most = 2 ** bits.length - 1;
    if (value < range.low) {
      keepBlock(solver, bits, 0, range.low - 1, kept);
      return;
    }
    if (value > range.high) {
      keepBlock(solver, bits, range.high + 1, most, kept);
      return;
    }
  }
}

function numberOf(solver: Solver, bits: readonly Literal[]): number {
  return bits.reduce((number, bit) => number * 2 + (solver.value(bit) ? 1 : 0), 0);
}

/** Keeps the high bits of a field that put it into the largest aligned block of values inside `low` to `high`. */
function keepBlock(solver: Solver, bits: readonly Literal[], low: number, high: number, kept: Set<Literal>): void {
  const value = numberOf(solver, bits);
  let free = 0;
  while (free < bits.length) {
    const size = 2 ** (free + 1);
    const start = Math.floor(value / size) * size;
    if (start < low || start + size - 1 > high) break;
    free++;
  }
  for (const bit of bits.slice(0, bits.length - free)) {
    if (!isConstant(bit)) kept.add(solver.value(bit) ? bit : -bit);
  }
}
