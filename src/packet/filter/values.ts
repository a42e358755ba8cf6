/** Reads the values of fields from frames. */
import { formatIpv4, ipv6Text } from "../addresses.js";
import { unhex } from "../../base/hex.js";
import { hexOf, readNumber } from "../bytes.js";
import type { ParsedHeaders } from "../parsedFrame.js";
import { frameNodes } from "../tree/tree.js";
import { called } from "./calls.js";
import type { FilterField, FilterPlace } from "./fields.js";
import type { FilterValue } from "./literal.js";
import type { FilterExpression, FilterLeaf } from "./parse.js";
import type { FilterOperand } from "./relation.js";

const WIDTHS: Readonly<Partial<Record<FilterField["type"], number>>> = { mac: 48, ipv4: 32, ipv6: 128 };

/** The values of a field in a frame, in the order of its headers; none of a field without places. */
export function filterValues(field: FilterField, frame: Uint8Array, parsed: ParsedHeaders): FilterValue[] {
  const { places } = field;
  if (field.name === "frame") return [hexOf(frame)];
  const values: FilterValue[] = [];
  for (const [n, { header, offset }] of parsed.headers.entries()) {
    for (const place of places ?? []) {
      if (place.header !== header) continue;
      const value = field.header ? hexOf(frame.subarray(offset)) : valueAt(field, place, frame, parsed, n);
      if (value !== null) values.push(value);
    }
  }
  return values;
}

function valueAt(
  field: FilterField,
  { at, bits, counts, field: name }: FilterPlace,
  frame: Uint8Array,
  parsed: ParsedHeaders,
  n: number,
): FilterValue | null {
  if (at !== null) return read(field, frame, 8 * (parsed.headers[n]?.offset ?? 0) + at, bits, counts);
  // The nodes of headers are in their order, among those of other bytes.
  const node = frameNodes(frame, parsed).filter(({ header }) => header !== "unlisted")[n];
  const found = node?.fields.find((one) => one.name === name);
  return found === undefined ? null : read(field, frame, 8 * found.offset + found.bit, found.bits, counts);
}

function read(
  { type }: FilterField,
  frame: Uint8Array,
  at: number,
  bits: number,
  counts: FilterPlace["counts"],
): FilterValue | null {
  if (at + bits > 8 * frame.length || (WIDTHS[type] ?? bits) !== bits) return null;
  if (type !== "number" && type !== "ipv4") return hexOf(frame.subarray(at >> 3, (at + bits) >> 3));
  const value = readNumber(frame, at, bits);
  return counts === undefined ? value : counts(value);
}

/** A value as filters write it: an address, a word, a number, bytes with colons. */
export function filterValueText({ type, names }: FilterField, value: FilterValue): string {
  if (typeof value === "number") return type === "ipv4" ? formatIpv4(BigInt(value)) : (names?.[value] ?? String(value));
  if (type === "text") return value;
  return type === "ipv6" ? ipv6Text(unhex(value)) : value.replace(/..(?=.)/g, "$&:");
}

/**
 * Whether values of a field pass what a filter says of them.
 * @param others the values of the field that they are compared with (`leaf.versus`), if that is a field
 */
export function passes(leaf: FilterLeaf, values: readonly FilterValue[], others: readonly FilterValue[] = []): boolean {
  const { versus, test, every } = leaf;
  const all = operandValues(leaf, values);
  if (versus !== null) {
    const other = operandValues(versus.operand, others);
    const holdsFor = (value: FilterValue): boolean => {
      const one = (against: FilterValue): boolean => versus.holds(value, against);
      return every ? other.every(one) : other.some(one);
    };
    return all.length > 0 && other.length > 0 && (every ? all.every(holdsFor) : all.some(holdsFor));
  }
  if (test === null || all.length === 0) return all.length > 0;
  return every ? all.every(test) : all.some(test);
}

function operandValues({ field, slice, call }: FilterOperand, values: readonly FilterValue[]): readonly FilterValue[] {
  const all = slice === null ? values : values.flatMap((value) => sliced(field, value, slice) ?? []);
  return call === null ? all : called(call, all, field);
}

function sliced(
  { type }: FilterField,
  value: FilterValue,
  { from, to }: NonNullable<FilterLeaf["slice"]>,
): string | null {
  const digits = type === "ipv4" ? value.toString(16).padStart(8, "0") : String(value);
  const part = digits.slice(2 * from, to === null ? undefined : 2 * to);
  return part.length === 0 || (to !== null && part.length < 2 * (to - from)) ? null : part;
}

/** Whether an expression holds, by whether its fields pass. */
export function holds(expression: FilterExpression, leaf: (leaf: FilterLeaf) => boolean): boolean {
  switch (expression.kind) {
    case "field":
      return leaf(expression);
    case "not":
      return !holds(expression.of[0], leaf);
    case "and":
      return expression.of.every((one) => holds(one, leaf));
    case "or":
      return expression.of.some((one) => holds(one, leaf));
    case "own":
      return expression.own;
  }
}

/** The fields that an expression names. */
export function leavesOf(expression: FilterExpression): FilterLeaf[] {
  if (expression.kind === "field") return [expression];
  return expression.kind === "own" ? [] : expression.of.flatMap(leavesOf);
}
