/**
 * The literals of a solution that decide its way through a chain: every key that has them takes the same rules. A rule is
 * kept away by one bit in which the solution differs from it, of those that are kept already if there is one.
 */
import type { SymbolicKey } from "../keys/symbolicKey.js";
import { isConstant, type Literal } from "../literal.js";
import type { RuleNode } from "../../explain/why/rules.js";
import type { Solver } from "../solver/solver.js";
import { bitLiterals, maskedBits, rangeBits } from "./ruleMatch.js";
import type { World } from "./world.js";

/** What decides a way besides rules. */
export interface Conditions {
  readonly literals: readonly Literal[];
  /** All literals are true, or not all of them. */
  readonly equal: boolean;
  /** Where not all literals must be true: it suffices too that all of one of these lists are. */
  readonly unless?: readonly (readonly Literal[])[];
}

/** A lookup in a table. */
interface DecidedStage {
  readonly key: SymbolicKey;
  /** The rule that it finds; null for none. */
  readonly wanted: RuleNode | null;
}

/** A way through tables. */
export interface Decided {
  readonly world: World;
  readonly solver: Solver;
  readonly stages: readonly DecidedStage[];
  readonly conditions: readonly Conditions[];
  /** The rules that must not match, each with its lookup. */
  blockers(): Iterable<{ readonly stage: DecidedStage; readonly rule: RuleNode }>;
}

/**
 * The true literals of the solution that decide its way. `askAll` comes before the solution.
 * @param isBest tells literals that are rather kept than others
 * @returns null if the solution does not take the way
 */
export function decisiveLiterals(
  way: Decided,
  isBest: (literal: Literal) => boolean = () => true,
): Set<Literal> | null {
  const kept = new Set<Literal>();
  for (const stage of way.stages) keepWanted(way, stage, kept);
  const open = way.conditions.filter(({ literals, equal }) => {
    if (equal) for (const literal of literals) kept.add(literal);
    return !equal;
  });
  for (const one of open) if (!keepOneFalse(way.solver, one, kept, isBest)) return null;
  for (const { stage, rule } of way.blockers()) if (!keepAway(way, stage, rule, kept, isBest)) return null;
  for (const one of kept) if (isConstant(one)) kept.delete(one);
  return kept;
}

function keepWanted({ solver, world }: Decided, { key, wanted }: DecidedStage, kept: Set<Literal>): void {
  if (wanted === null) return;
  const content = world.contentOf(wanted);
  for (const literal of bitLiterals(content, key) ?? []) kept.add(literal);
  for (const range of content.ranges) keepBlock(solver, rangeBits(range, key), range.low, range.high, kept);
}

/** Keeps a literal that is false, if none of those that are kept is. @returns false if there is none */
function keepOneFalse(
  solver: Solver,
  { literals, unless = [] }: Conditions,
  kept: Set<Literal>,
  isBest: (literal: Literal) => boolean,
): boolean {
  const inverse = literals.filter((literal) => !solver.value(literal)).map((literal) => -literal);
  if (inverse.some((literal) => isConstant(literal) || kept.has(literal))) return true;
  const first = inverse.find(isBest) ?? inverse[0];
  const list = first === undefined ? unless.find((one) => one.every((literal) => solver.value(literal))) : [first];
  for (const literal of list ?? []) kept.add(literal);
  return list !== undefined;
}

/** Keeps a bit, or the high bits of a range's field, by which the solution differs from a rule. @returns false without one */
function keepAway(
  { solver, world }: Decided,
  { key }: DecidedStage,
  rule: RuleNode,
  kept: Set<Literal>,
  isBest: (literal: Literal) => boolean,
): boolean {
  const content = world.contentOf(rule);
  let differing: Literal | null = null;
  let away = false;
  maskedBits(content, (bit, set) => {
    if (away) return;
    const literal = key.bit(bit);
    if (solver.value(literal) === set) return;
    const differs = set ? -literal : literal;
    if (isConstant(literal) || kept.has(differs)) away = true;
    else if (differing === null || (!isBest(differing) && isBest(differs))) differing = differs;
  });
  if (away) return true;
  if (differing !== null) {
    kept.add(differing);
    return true;
  }
  for (const range of content.ranges) {
    const bits = rangeBits(range, key);
    const value = numberOf(solver, bits);
    const most = 2 ** bits.length - 1;
    if (value < range.low) {
      keepBlock(solver, bits, 0, range.low - 1, kept);
      return true;
    }
    if (value > range.high) {
      keepBlock(solver, bits, range.high + 1, most, kept);
      return true;
    }
  }
  return false;
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
