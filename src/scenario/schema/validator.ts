/**
 * The part of JSON Schema (2020-12) that our documents are described in, and the validator that reads it.
 *
 * The schema is the only source of truth: it is published as it is, and what it says is what `validate` asks. Alternatives
 * of an `anyOf` differ by their JSON type, so that a refusal knows which of them was meant; those of a `oneOf` say which
 * keys they require and nothing else.
 */
import { refuse } from "../../errors.js";
import { nearest } from "../../nearest.js";

export type JsonType = "object" | "array" | "string" | "integer" | "boolean" | "null";

export interface JsonSchema {
  $schema?: string;
  $id?: string;
  title?: string;
  description?: string;
  type?: JsonType;
  const?: string | number | boolean;
  enum?: readonly string[];
  default?: unknown;
  examples?: readonly unknown[];
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  /** False, or what keys of any name hold. */
  additionalProperties?: false | JsonSchema;
  minProperties?: number;
  maxProperties?: number;
  /** A key that needs others beside it. */
  dependentRequired?: Readonly<Record<string, readonly string[]>>;
  items?: JsonSchema;
  minLength?: number;
  minimum?: number;
  maximum?: number;
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly { required: readonly string[] }[];
}

type RequiredKey<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T];

/** The schema of an interface: the compiler holds the keys, and which of them are required, equal to its own. */
export function objectOf<T>(
  description: string,
  required: { [K in RequiredKey<T>]: true },
  properties: { [K in keyof T]-?: JsonSchema },
  more: JsonSchema = {},
): JsonSchema {
  const keys = Object.keys(required);
  return {
    description,
    type: "object",
    properties,
    ...(keys.length > 0 ? { required: keys } : {}),
    additionalProperties: false,
    ...more,
  };
}

/** Refuses, with its path, the first thing of a document that does not follow the schema. */
export function validate(call: string, schema: JsonSchema, document: unknown): void {
  check(call, schema, document, "");
}

/** The path of a key below another; the same in every refusal about a document. */
export function below(path: string, key: string | number): string {
  if (typeof key === "number") return `${path}[${key}]`;
  if (!/^[\w$.-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

function check(call: string, schema: JsonSchema, value: unknown, path: string): void {
  const bad = (hint: string): never => {
    const simple = typeof value !== "object" || value === null;
    const found = simple ? hint : `${hint} (found ${outline(value)})`;
    const shown = simple ? value : undefined;
    return refuse({
      code: "EINVAL",
      call,
      reason: "bad_scenario",
      path: path || "document",
      value: shown,
      hint: found,
    });
  };
  if (schema.anyOf !== undefined) {
    const meant = schema.anyOf.find((one) => one.type === typeOf(value));
    if (meant === undefined) bad(expected(schema));
    else check(call, meant, value, path);
    return;
  }
  if (schema.const !== undefined && value !== schema.const) bad(expected(schema));
  if (schema.type !== undefined && schema.type !== typeOf(value)) bad(expected(schema));
  if (typeof value === "string") {
    const fits = (schema.enum?.includes(value) ?? true) && value.length >= (schema.minLength ?? 0);
    if (!fits) {
      const near = nearest(value, schema.enum ?? []);
      bad(near === undefined ? expected(schema) : `did you mean "${near}"? ${expected(schema)}`);
    }
  } else if (typeof value === "number") {
    if (value < (schema.minimum ?? -Infinity) || value > (schema.maximum ?? Infinity)) bad(expected(schema));
  } else if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) check(call, schema.items ?? {}, item, below(path, i));
  } else if (typeof value === "object" && value !== null) {
    checkObject(call, schema, value as Record<string, unknown>, path, bad);
  }
}

function checkObject(
  call: string,
  schema: JsonSchema,
  object: Record<string, unknown>,
  path: string,
  bad: (hint: string) => never,
): void {
  const { properties = {}, additionalProperties: others } = schema;
  const keys = Object.keys(object);
  for (const key of keys) {
    const known = Object.hasOwn(properties, key) ? properties[key] : others;
    if (known === false) {
      const near = nearest(key, Object.keys(properties));
      const hint = `no such key here; ${near === undefined ? "" : `did you mean "${near}"? `}keys: ${Object.keys(properties).join(", ")}`;
      refuse({ code: "EINVAL", call, reason: "bad_scenario", path: below(path, key), hint });
    }
    if (known !== undefined) check(call, known, object[key], below(path, key));
  }
  for (const key of schema.required ?? []) {
    if (Object.hasOwn(object, key)) continue;
    bad(`the key "${key}" is missing: ${properties[key]?.description ?? "see the schema"}`);
  }
  for (const [key, needed] of Object.entries(schema.dependentRequired ?? {})) {
    const missing = Object.hasOwn(object, key) ? needed.find((one) => !Object.hasOwn(object, one)) : undefined;
    if (missing !== undefined) bad(`"${key}" goes with "${missing}", which is missing`);
  }
  if (schema.oneOf !== undefined) {
    const met = schema.oneOf.filter(({ required }) => required.every((key) => Object.hasOwn(object, key)));
    const all = schema.oneOf.map(({ required }) => required.map((key) => `"${key}"`).join(" and "));
    const choices = [all.slice(0, -1).join(", "), ...all.slice(-1)].join(" or ");
    if (met.length !== 1) bad(`${met.length === 0 ? "it needs" : "it takes only one of"} ${choices}`);
  }
  if (keys.length < (schema.minProperties ?? 0) || keys.length > (schema.maxProperties ?? Infinity)) {
    bad(expected(schema));
  }
}

/** What may stand at a place, in words. */
function expected(schema: JsonSchema): string {
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

function bounds({ minimum, maximum }: JsonSchema): string {
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
