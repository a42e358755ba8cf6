// Reference of matching: a linear search for the first matching rule by rank. No tables, no shared
// masks, no shortcuts.

/** A field of the frame under a mask. */
export interface Term {
  field: string;
  mask: bigint;
  value: bigint;
}

/** A field of the frame between two values, both inclusive. */
export interface Range {
  field: string;
  low: bigint;
  high: bigint;
}

export interface ReferenceRule<Action = unknown> {
  id: string;
  rank: bigint;
  terms: Term[];
  ranges: Range[];
  actions: Action[];
}

export type Fields = ReadonlyMap<string, bigint>;

/**
 * A masked field matches only where it is present (docs/parsing.md); presence and state fields are
 * always in `fields`. A mask of 0 matches everything, even an absent field. SPEC: value bits
 * outside the mask are ignored here; refusing them is the job of the public interfaces.
 */
export function termMatches(fields: Fields, term: Term): boolean {
  if (term.mask === 0n) return true;
  const value = fields.get(term.field);
  return value !== undefined && (value & term.mask) === (term.value & term.mask);
}

/** SPEC: a range requires presence even where it covers every value. */
export function rangeMatches(fields: Fields, range: Range): boolean {
  const value = fields.get(range.field);
  return value !== undefined && range.low <= value && value <= range.high;
}

export function ruleMatches(fields: Fields, rule: ReferenceRule): boolean {
  return (
    rule.terms.every((term) => termMatches(fields, term)) && rule.ranges.every((range) => rangeMatches(fields, range))
  );
}

/** The matching rule with the lowest rank of at least `from`; ranks are unique in a table. */
export function firstMatch<Action>(
  rules: readonly ReferenceRule<Action>[],
  fields: Fields,
  from = 0n,
): ReferenceRule<Action> | null {
  let best: ReferenceRule<Action> | null = null;
  for (const rule of rules) {
    if (rule.rank < from || (best && best.rank <= rule.rank)) continue;
    if (ruleMatches(fields, rule)) best = rule;
  }
  return best;
}

/**
 * Order of a rule: the priority of its matcher, and the creation times of matcher and rule (smaller
 * is older).
 */
export interface Place {
  priority: number;
  matcher: number;
  rule: number;
}

const SERIALS = 1 << 24;

/**
 * One 64-bit number: 16 bits of priority, 24 of matcher order, 24 of rule order. Lower priorities
 * come first; at equal priority the newer matcher comes first in DR tables and the older one in the
 * root table; then the older rule.
 */
export function rankOf(place: Place, root: boolean): bigint {
  const { priority, matcher, rule } = place;
  if (priority > 0xffff || matcher >= SERIALS || rule >= SERIALS) throw new RangeError("a rank has 64 bits");
  const matcherOrder = root ? matcher : SERIALS - 1 - matcher;
  return (BigInt(priority) << 48n) | (BigInt(matcherOrder) << 24n) | BigInt(rule);
}
