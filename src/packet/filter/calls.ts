/** Functions of filters, of one field: `len(eth.src)`, `count(ip.addr)`. */
import { nearest } from "../../base/nearest.js";
import type { FilterField } from "./fields.js";
import type { FilterValue } from "./literal.js";
import { FilterError, type Token } from "./tokens.js";

export type FilterCall = "len" | "count" | "min" | "max" | "lower" | "upper";

type Values = readonly FilterValue[];

const CALLS: Readonly<Record<FilterCall, (values: Values, field: FilterField) => Values>> = {
  len: (values, field) => values.map((value) => lengthOf(field, value)),
  // A frame without the field has no count either.
  count: (values) => (values.length === 0 ? [] : [values.length]),
  min: (values) => extreme(values, (a, b) => a < b),
  max: (values) => extreme(values, (a, b) => a > b),
  lower: (values) => values.map((value) => String(value).toLowerCase()),
  upper: (values) => values.map((value) => String(value).toUpperCase()),
};

/** @throws FilterError there is no such function */
export function callOf({ text, from, to }: Token): FilterCall {
  if (Object.hasOwn(CALLS, text)) return text as FilterCall;
  const names = Object.keys(CALLS);
  const near = nearest(text, names);
  const hint = near === undefined ? `use ${names.join(", ")}` : `did you mean "${near}"?`;
  throw new FilterError(`there is no function "${text}": ${hint}`, from, to);
}

/** The field that a call is compared as. @throws FilterError the function does not take the field */
export function fieldOfCall(call: FilterCall, field: FilterField, { from, to }: Token): FilterField {
  const name = `${call}(${field.name})`;
  if (call === "lower" || call === "upper") {
    if (field.type !== "text") throw new FilterError(`${field.name} is no text, which ${call} takes`, from, to);
    return { ...field, name, words: undefined };
  }
  if (call === "min" || call === "max") {
    if (field.header) throw new FilterError(`${field.name} is a header: ${call} takes a field`, from, to);
    return { ...field, name };
  }
  if (call === "len" && field.header && field.name !== "frame") {
    throw new FilterError(`${field.name} is a header: len takes a field, or frame`, from, to);
  }
  return { name, type: "number", bits: 0, places: field.places };
}

export function called(call: FilterCall, values: Values, field: FilterField): Values {
  return CALLS[call](values, field);
}

/** Bytes of a value, characters of a text. */
function lengthOf({ type, bits }: FilterField, value: FilterValue): number {
  if (type === "text") return String(value).length;
  return typeof value === "string" ? value.length / 2 : type === "ipv4" ? 4 : Math.ceil(bits / 8);
}

function extreme(values: Values, isMore: (a: FilterValue, b: FilterValue) => boolean): Values {
  const [first, ...rest] = values;
  return first === undefined ? [] : [rest.reduce((best, value) => (isMore(value, best) ? value : best), first)];
}
