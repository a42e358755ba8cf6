/** What stands after a field: an operator with values, or a range of bytes. */
import type { FilterField } from "./fields.js";
import type { FilterCall } from "./calls.js";
import { KINDS, literalOf, type FilterValue, type Literal } from "./literal.js";
import { FilterError, type Token } from "./tokens.js";

/** Bytes of a value: null for its end. */
export interface Slice {
  readonly from: number;
  readonly to: number | null;
}

export interface Relation {
  readonly test: (value: FilterValue) => boolean;
  readonly every: boolean;
}

/** Values of a field, or bytes of them, or what a function makes of them. */
export interface FilterOperand {
  readonly field: FilterField;
  readonly slice: Slice | null;
  readonly call: FilterCall | null;
}

/** What a value of one field must be to one of another. */
export interface Versus {
  readonly operand: FilterOperand;
  readonly holds: (value: FilterValue, other: FilterValue) => boolean;
}

type Compare = (value: FilterValue, literal: Literal) => boolean;

const isIn: Compare = (value, { low, high }) => low <= value && value <= high;
const isOut: Compare = (value, literal) => !isIn(value, literal);

/** Each operator: what a value must be, and whether all values must be so. */
const COMPARISONS: Readonly<Record<string, readonly [Compare, boolean]>> = {
  "==": [isIn, false],
  "===": [isIn, true],
  "!=": [isOut, true],
  "!==": [isOut, false],
  ">": [(value, { high }) => value > high, false],
  ">=": [(value, { low }) => value >= low, false],
  "<": [(value, { low }) => value < low, false],
  "<=": [(value, { high }) => value <= high, false],
};

export const SIGNS_OF_RELATIONS: ReadonlySet<string> = new Set([
  ...Object.keys(COMPARISONS),
  ...["in", "contains", "matches", "&"],
]);

/** A comparison of fields. @throws FilterError the sign compares no fields, or they have other types */
export function versusOf(
  left: FilterField,
  sign: Token,
  operand: FilterOperand,
  right: FilterField,
): { readonly versus: Versus; readonly every: boolean } {
  const { from, to } = sign;
  const found = COMPARISONS[sign.text];
  if (found === undefined) throw new FilterError(`"${sign.text}" compares no fields: use ==, !=, <, >`, from, to);
  if (left.type !== right.type || left.header || right.header) {
    const [one, other] = [left, right].map(
      ({ name, type, header }) => `${name} is ${header ? "a header" : KINDS[type]}`,
    );
    throw new FilterError(`${one}, ${other}: fields of one type are compared`, from, to);
  }
  const [compare, every] = found;
  return { versus: { operand, holds: (value, other) => compare(value, { low: other, high: other }) }, every };
}

/**
 * The relation that a sign begins.
 * @param take takes the next token
 * @param takes takes the next token if it is this sign
 */
export function relationOf(
  field: FilterField,
  sign: Token,
  take: () => Token,
  takes: (sign: string) => boolean,
): Relation {
  const literal = (): Literal => literalOf(field, take());
  switch (sign.text) {
    case "in":
      return oneOf(field, sign, take, takes);
    case "contains":
      return containing(field, sign, take());
    case "matches":
      return matching(field, sign, take());
    case "&":
      return masked(field, sign, literal(), take, takes);
    default: {
      const [compare, every] = COMPARISONS[sign.text] as readonly [Compare, boolean];
      const wanted = literal();
      return { test: (value) => compare(value, wanted), every };
    }
  }
}

/** `{1..9, 12}`. */
function oneOf(field: FilterField, sign: Token, take: () => Token, takes: (sign: string) => boolean): Relation {
  if (!takes("{")) throw new FilterError('"in" needs values in braces: in {1, 4..9}', sign.from, sign.to);
  const all: Literal[] = [];
  do {
    const { low, high } = literalOf(field, take());
    all.push({ low, high: takes("..") ? literalOf(field, take()).high : high });
    takes(",");
  } while (!takes("}"));
  return { test: (value) => all.some((one) => isIn(value, one)), every: false };
}

function containing({ name, type }: FilterField, sign: Token, token: Token): Relation {
  if (type === "text" && token.kind !== "end") {
    return { test: (value) => String(value).includes(token.text), every: false };
  }
  if (type === "number" || type === "ipv4") throw new FilterError(`${name} is a number: use ==`, sign.from, sign.to);
  const { low } = literalOf({ name, type: "bytes", bits: 0, places: [] }, token);
  const wanted = String(low);
  return { test: (value) => isWithin(String(value), wanted), every: false };
}

/** Whether digits begin at a whole byte of others. */
function isWithin(digits: string, wanted: string): boolean {
  for (let at = digits.indexOf(wanted); at >= 0; at = digits.indexOf(wanted, at + 1)) if (at % 2 === 0) return true;
  return false;
}

function matching({ name, type }: FilterField, sign: Token, token: Token): Relation {
  if (type !== "text") throw new FilterError(`${name} is no text: use == or contains`, sign.from, sign.to);
  try {
    const pattern = new RegExp(token.text, "iu");
    return { test: (value) => pattern.test(String(value)), every: false };
  } catch {
    throw new FilterError(`"${token.text}" is no regular expression`, token.from, token.to);
  }
}

/** `tcp.flags & 0x12`, which any of its bits passes, or `tcp.flags & 0x12 == 0x10`. */
function masked(
  field: FilterField,
  sign: Token,
  { low: mask }: Literal,
  take: () => Token,
  takes: (sign: string) => boolean,
): Relation {
  if (typeof mask !== "number") throw new FilterError(`${field.name} is no number: "&" needs one`, sign.from, sign.to);
  const bitsOf = (value: FilterValue): number => Number(BigInt(value) & BigInt(mask));
  const found = Object.keys(COMPARISONS).find((one) => takes(one));
  if (found === undefined) return { test: (value) => bitsOf(value) !== 0, every: false };
  const [compare, every] = COMPARISONS[found] as readonly [Compare, boolean];
  const wanted = literalOf(field, take());
  return { test: (value) => compare(bitsOf(value), wanted), every };
}

/** `[4:2]` from and length, `[4-5]` first and last, `[4]` one byte, `[:2]`, `[4:]`. */
export function sliceOf({ name, type }: FilterField, tokens: readonly Token[]): Slice {
  const text = tokens.map((token) => token.text).join("");
  const [first, last] = [tokens[0], tokens.at(-1)];
  const fault = (message: string): FilterError => new FilterError(message, first?.from ?? 0, last?.to ?? 0);
  if (type === "number" || type === "text") throw fault(`${name} has no bytes that can be chosen: use == or &`);
  const [found, begin, sign, end = "", length] = /^(?:(\d+)(?:([:-])(\d*))?|:(\d+))$/.exec(text) ?? [];
  const [from, to] = length === undefined ? [begin, end] : ["0", length];
  if (found === undefined || (sign === "-" && to === "")) {
    throw fault("bytes are chosen as [4:2], [4-5], [4], [:2] or [4:]");
  }
  const start = Number(from);
  if (sign === undefined && length === undefined) return { from: start, to: start + 1 };
  if (to === "") return { from: start, to: null };
  return { from: start, to: sign === "-" ? Number(to) + 1 : start + Number(to) };
}
