/**
 * Checks a document by its definition. The JSON Schema of the definition is what is checked and what is published, so a
 * document that the validator accepts is one that editors accept, but for names that the loader refuses with better hints.
 */
import { SteeringError } from "../../errors.js";
import { nearest } from "../../base/nearest.js";
import type { Report } from "../report.js";
import { below } from "./path.js";
import type { Schema } from "./define.js";
import type { JsonType } from "./jsonSchema.js";

/** Reports, with its path, each thing of a document that does not follow the schema. */
export function validate(schema: Schema, document: unknown, report: Report): void {
  check(report, schema, document, "");
}

function check(report: Report, schema: Schema, value: unknown, path: string): void {
  const bad = (hint: string): void => {
    const simple = typeof value !== "object" || value === null;
    const found = simple ? hint : `${hint} (found ${outline(value)})${maskedHint(schema, value)}`;
    const shown = simple ? value : undefined;
    refused(report, path || "document", shown, found);
  };
  if (schema.anyOf !== undefined) {
    const meant = schema.anyOf.find((one) => one.type === typeOf(value));
    if (meant === undefined) bad(expected(schema));
    else check(report, meant, value, path);
    return;
  }
  const isOther = schema.const !== undefined && value !== schema.const;
  if (isOther || (schema.type !== undefined && schema.type !== typeOf(value))) {
    bad(expected(schema));
    return;
  }
  if (typeof value === "string") {
    const fits = (schema.enum?.includes(value) ?? true) && value.length >= (schema.minLength ?? 0);
    if (!fits) {
      const near = nearest(value, schema.enum ?? []);
      bad(near === undefined ? expected(schema) : `did you mean "${near}"? ${expected(schema)}`);
    }
  } else if (typeof value === "number") {
    if (value < (schema.minimum ?? -Infinity) || value > (schema.maximum ?? Infinity)) bad(expected(schema));
  } else if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) check(report, schema.items ?? {}, item, below(path, i));
  } else if (typeof value === "object" && value !== null) {
    checkObject(report, schema, value as Record<string, unknown>, path, bad);
  }
}

/** What stands for a value with a mask where a text is expected: `"80/0xff"`. */
function maskedHint(schema: Schema, value: object): string {
  const isText = schema.type === "string" || schema.anyOf?.some(({ type }) => type === "string") === true;
  if (!isText || !("mask" in value)) return "";
  // rte_flow has a spec, libibverbs a val.
  const { value: own, spec, val, mask: given } = value as Record<string, unknown>;
  const [bits, mask] = [String(own ?? spec ?? val), String(given)];
  const isShort = [bits, mask].every((one) => /^[\w.:]{1,40}$/.test(one));
  return `; a value and a mask are one text: "${isShort ? `${bits}/${mask}` : "VALUE/MASK"}"`;
}

function refused(report: Report, path: string, value: unknown, hint: string): void {
  report(new SteeringError({ code: "EINVAL", call: "", reason: "bad_scenario", path, value, hint }));
}

function checkObject(
  report: Report,
  schema: Schema,
  object: Record<string, unknown>,
  path: string,
  bad: (hint: string) => void,
): void {
  const { properties = {}, additionalProperties: others } = schema;
  const keys = Object.keys(object);
  // A key that is misspelt counts as there.
  let misspelt: Set<string> | undefined;
  const isThere = (key: string): boolean => Object.hasOwn(object, key) || misspelt?.has(key) === true;
  for (const key of keys) {
    const known = Object.hasOwn(properties, key) ? properties[key] : others;
    if (known === false) {
      const now = schema.renamed?.[key];
      const near = nearest(key, Object.keys(properties));
      (misspelt ??= new Set()).add(now ?? near ?? key);
      const hint =
        now !== undefined
          ? `it is called "${now}" now`
          : `no such key here; ${near === undefined ? "" : `did you mean "${near}"? `}keys: ${Object.keys(properties).join(", ")}`;
      refused(report, below(path, key), undefined, hint);
    } else if (known !== undefined) check(report, known, object[key], below(path, key));
  }
  for (const key of schema.required ?? []) {
    if (isThere(key)) continue;
    bad(`the key "${key}" is missing: ${properties[key]?.description ?? "see the schema"}`);
  }
  for (const [key, needed] of Object.entries(schema.dependentRequired ?? {})) {
    const missing = isThere(key) ? needed.find((one) => !isThere(one)) : undefined;
    if (missing !== undefined) bad(`"${key}" goes with "${missing}", which is missing`);
  }
  if (schema.oneOf !== undefined) {
    const met = schema.oneOf.filter(({ required }) => required.every(isThere)).length;
    if (met !== 1) bad(`${met === 0 ? "it needs" : "it takes only one of"} ${choicesOf(schema.oneOf)}`);
  }
  if (keys.length < (schema.minProperties ?? 0) || keys.length > (schema.maxProperties ?? Infinity)) {
    bad(expected(schema));
  }
}

function choicesOf(choices: NonNullable<Schema["oneOf"]>): string {
  const all = choices.map(({ required }) => required.map((key) => `"${key}"`).join(" and "));
  return [all.slice(0, -1).join(", "), ...all.slice(-1)].join(" or ");
}

/** What may stand at a place, in words. */
function expected(schema: Schema): string {
  const quoted = (text: unknown): string => JSON.stringify(text);
  if (schema.anyOf !== undefined) return schema.anyOf.map(expected).join("; or ");
  if (schema.const !== undefined) return `it is ${quoted(schema.const)}`;
  if (schema.enum !== undefined) return `one of ${schema.enum.map(quoted).join(", ")}`;
  const example = schema.examples?.[0] === undefined ? "" : `, such as ${quoted(schema.examples[0])}`;
  switch (schema.type) {
    case "integer":
      return `a whole number${bounds(schema)}${example}`;
    case "string":
      return `text in double quotes${(schema.minLength ?? 0) > 0 ? ", not empty" : ""}${example}`;
    case "array":
      return "a list: [ ... ]";
    case "object": {
      const keys = Object.keys(schema.properties ?? {});
      if (schema.maxProperties === undefined)
        return keys.length > 0 ? `an object with ${keys.join(", ")}` : `an object`;
      return schema.maxProperties === 1
        ? `an object with one of ${keys.join(", ")}`
        : (schema.description ?? "an object");
    }
    case "boolean":
      return "true or false";
    case "null":
      return "null";
    default:
      return schema.description ?? "something else";
  }
}

function bounds({ minimum, maximum }: Schema): string {
  if (minimum === undefined) return maximum === undefined ? "" : ` up to ${maximum}`;
  return maximum === undefined ? ` from ${minimum}` : `, ${minimum} to ${maximum}`;
}

function typeOf(value: unknown): JsonType | undefined {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isSafeInteger(value) ? "integer" : undefined;
  if (typeof value === "string" || typeof value === "boolean" || typeof value === "object")
    return typeof value as JsonType;
  return undefined;
}

/** What a refusal shows of an object or list: its keys, and no whole document. */
function outline(value: object): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : "[ ... ]";
  const keys = Object.keys(value);
  if (keys.length === 0) return "{}";
  return `{ ${keys.slice(0, 6).join(", ")}${keys.length > 6 ? ", ..." : ""} }`;
}
