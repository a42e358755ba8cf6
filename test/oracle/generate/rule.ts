// A random rule for a given frame: it matches the frame, or misses it by the smallest possible
// difference. Such a miss detects a classifier that ignores one bit, one end of a range or the
// presence of one header.

import { FIELD_WIDTHS } from "../wire/fields.js";
import { type Fields, type Range, type ReferenceRule, type Term } from "../walk/match.js";
import { type Random } from "./random.js";

export type Near = "hit" | "bit" | "range" | "absent";

export interface RandomRule {
  terms: Term[];
  ranges: Range[];
  /**
   * "hit", or the reason of the miss: one flipped bit, a range that just excludes the value, an
   * absent field.
   */
  near: Near;
  /** The field that causes the miss. */
  missBy: string | null;
}

export interface RuleWishes {
  /** Default: a hit half of the time, else one of the three misses. */
  near?: Near;
  /** Maximum number of ranges, 2 by default. */
  maxRanges?: number;
  /** The fields that ranges may use; by default those of 2 to 32 bits. */
  rangeable?: (field: string, width: number) => boolean;
}

/**
 * Terms over a random subset of the frame's fields, each under a full, a prefix or a random mask
 * (never 0), and ranges over further fields. The value of a term has no bit outside its mask.
 */
export function randomRuleFor(fields: Fields, random: Random, wishes: RuleWishes = {}): RandomRule {
  const { maxRanges = 2, rangeable = (_field, width) => width >= 2 && width <= 32 } = wishes;
  const present = shuffledByGroup(
    [...FIELD_WIDTHS.keys()].filter((field) => fields.has(field)),
    random,
  );
  const absent = [...FIELD_WIDTHS.keys()].filter((field) => !fields.has(field));
  const canRange = present.filter((field) => rangeable(field, widthOf(field)));

  let near = wishes.near ?? (random.chance(0.5) ? "hit" : random.pick<Near>(["bit", "bit", "range", "absent"]));
  if ((near === "range" && (canRange.length === 0 || maxRanges === 0)) || (near === "absent" && absent.length === 0))
    near = "bit";

  const ranged = canRange.slice(0, near === "range" ? random.between(1, maxRanges) : random.below(maxRanges + 1));
  const termed = present.filter((field) => !ranged.includes(field));
  const terms = random
    .shuffle(termed.slice(0, random.between(1, 8)))
    .map((field) => termFor(field, valueIn(fields, field), random));
  const ranges = ranged.map((field) => rangeAround(field, valueIn(fields, field), random));
  const missBy = spoil(near, terms, ranges, absent, fields, random);
  return { terms, ranges, near, missBy };
}

/**
 * In random order, where the first field is equally likely to be of any group. Otherwise the few
 * fields of a tunnel would be rare beside the many of the outer packet.
 */
function shuffledByGroup(fields: string[], random: Random): string[] {
  const shuffled = random.shuffle(fields);
  const group = random.pick([...new Set(shuffled.map(groupOf))].sort());
  const first = shuffled.findIndex((field) => groupOf(field) === group);
  return [...shuffled.splice(first, 1), ...shuffled];
}

/** Labels inside the inner packet are rare: each has a group of its own. */
const groupOf = (field: string): string =>
  /^ext\.inner_first_mpls_over_.../.exec(field)?.[0] ?? field.slice(0, field.indexOf("."));

/** The same as a complete rule. */
export function asRule<Action>(rule: RandomRule, id: string, rank: bigint, actions: Action[]): ReferenceRule<Action> {
  return { id, rank, terms: rule.terms, ranges: rule.ranges, actions };
}

function spoil(
  near: Near,
  terms: Term[],
  ranges: Range[],
  absent: string[],
  fields: Fields,
  random: Random,
): string | null {
  if (near === "bit") {
    const term = random.pick(terms);
    term.value ^= oneBitOf(term.mask, random);
    return term.field;
  }
  if (near === "range") {
    const index = random.below(ranges.length);
    const { field } = ranges[index] as Range;
    ranges[index] = rangeBeside(field, valueIn(fields, field), random);
    return field;
  }
  if (near === "absent") {
    // The value that a parser without presence checks would find there.
    const field = random.pick(absent);
    terms.push({ field, mask: maskFor(widthOf(field), random), value: 0n });
    return field;
  }
  return null;
}

function termFor(field: string, value: bigint, random: Random): Term {
  const mask = maskFor(widthOf(field), random);
  return { field, mask, value: value & mask };
}

function maskFor(width: number, random: Random): bigint {
  const full = (1n << BigInt(width)) - 1n;
  const kind = random.below(3);
  if (kind === 0) return full;
  if (kind === 1) return full ^ (full >> BigInt(random.between(1, width)));
  return random.bits(width) || full;
}

function oneBitOf(mask: bigint, random: Random): bigint {
  const bits: bigint[] = [];
  for (let bit = 1n; bit <= mask; bit <<= 1n) if (mask & bit) bits.push(bit);
  return random.pick(bits);
}

/** A range that contains the value, usually at one end or both. */
function rangeAround(field: string, value: bigint, random: Random): Range {
  const max = (1n << BigInt(widthOf(field))) - 1n;
  const low = random.chance(0.4) ? value : uniform(0n, value, random);
  const high = random.chance(0.4) ? value : uniform(value, max, random);
  return { field, low, high };
}

/** A range that starts or ends directly beside the value. */
function rangeBeside(field: string, value: bigint, random: Random): Range {
  const max = (1n << BigInt(widthOf(field))) - 1n;
  const above = value === 0n || (value !== max && random.chance(0.5));
  return above
    ? { field, low: value + 1n, high: uniform(value + 1n, max, random) }
    : { field, low: uniform(0n, value - 1n, random), high: value - 1n };
}

function uniform(low: bigint, high: bigint, random: Random): bigint {
  return low + (random.bits(160) % (high - low + 1n));
}

function widthOf(field: string): number {
  const width = FIELD_WIDTHS.get(field);
  if (width === undefined) throw new Error(`unknown field ${field}`);
  return width;
}

function valueIn(fields: Fields, field: string): bigint {
  const value = fields.get(field);
  if (value === undefined) throw new Error(`${field} is absent`);
  return value;
}
