/**
 * How a section of a scenario document is defined, once: a definition is a JSON Schema that carries the TypeScript type of the
 * values it describes. `Static<typeof QUEUE>` is that type, the validator checks documents by the same object, and the
 * published schema is made from it.
 */
import type { JsonSchema } from "./jsonSchema.js";

/** A JSON Schema with what the published one and refusals need besides. */
export interface Definition extends JsonSchema {
  /** Its name below $defs and its first form, where several places share it. */
  readonly shared?: { readonly name: string; readonly first: JsonSchema };
  /**
   * What the published schema says here. It is stricter than the validator where the loader refuses a value with a better
   * hint: names of fields, which editors complete.
   */
  readonly published?: () => Definition;
  /** Keys of earlier versions and their names today: a refusal names the new one. */
  readonly renamed?: Readonly<Record<string, string>>;
}

/** A definition of values of type `T`. */
export interface Schema<T = unknown> extends Definition {
  /** Never there: it carries the type. */
  readonly "~value"?: T;
}

/** The type of the values that a definition describes. */
export type Static<S> = S extends { readonly "~value"?: infer T } ? T : never;

type Flat<T> = { [K in keyof T]: T[K] };
type Properties = Readonly<Record<string, Schema>>;
type ObjectOf<P, R> = Flat<{ [K in keyof P & R]: Static<P[K]> } & { [K in Exclude<keyof P, R>]?: Static<P[K]> }>;

/** An object with these keys and no others. */
export function object<const P extends Properties, const R extends readonly (keyof P & string)[]>(
  description: string,
  required: R,
  properties: P,
  more: Definition = {},
): Schema<ObjectOf<P, R[number]>> {
  return {
    description,
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
    ...more,
  };
}

/** For an object: exactly one of these keys is there. */
export const oneKeyOf = (...keys: readonly string[]): JsonSchema => ({
  oneOf: keys.map((key) => ({ required: [key] })),
});

export const text = (description: string, more: Definition = {}): Schema<string> => ({
  description,
  type: "string",
  ...more,
});

/** Text that is not empty. */
export const name = (description: string, ...examples: readonly string[]): Schema<string> =>
  text(description, { minLength: 1, ...(examples.length > 0 ? { examples } : {}) });

/** One of these words. */
export const word = <const T extends string>(
  description: string,
  words: readonly T[],
  more: JsonSchema = {},
): Schema<T> => ({ description, type: "string", enum: words, ...more });

export const integer = (
  description: string,
  minimum: number,
  maximum: number,
  more: JsonSchema = {},
): Schema<number> => ({ description, type: "integer", minimum, maximum, ...more });

export const flag = (description: string, more: JsonSchema = {}): Schema<boolean> => ({
  description,
  type: "boolean",
  ...more,
});

/** This number and no other. */
export const constant = <const T extends number>(description: string, value: T): Schema<T> => ({
  description,
  type: "integer",
  const: value,
});

export const nothing = (description: string): Schema<null> => ({ description, type: "null" });

/** A key that is there with `true`, or is left out. */
export const yes = (description: string): Schema<true> => ({ description, type: "boolean", const: true });

export const list = <T>(description: string, items: Schema<T>): Schema<T[]> => ({ description, type: "array", items });

/** An object with keys of any name. */
export const mapOf = <T>(description: string, values: Schema<T>): Schema<Record<string, T>> => ({
  description,
  type: "object",
  additionalProperties: values,
});

/** Alternatives of different JSON types. */
export function either<const A extends readonly Schema[]>(
  description: string | null,
  ...alternatives: A
): Schema<Static<A[number]>> {
  return { ...(description === null ? {} : { description }), anyOf: alternatives };
}

export const orNull = <T>(description: string, schema: Schema<T>): Schema<T | null> => ({
  description,
  anyOf: [schema, { type: "null" }],
});

/** Properties for keys that are listed elsewhere. */
export function keyed<const K extends string, T>(
  keys: readonly K[],
  make: (key: K) => Schema<T>,
): Readonly<Record<K, Schema<T>>> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, Schema<T>>;
}

/** A definition that several places share: the published schema has it once, below $defs. */
export function shared<S extends Schema>(named: string, schema: S): S {
  return { ...schema, shared: { name: named, first: schema } };
}
