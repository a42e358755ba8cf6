/** The part of JSON Schema (2020-12) that scenario documents are described in. */

export type JsonType = "object" | "array" | "string" | "integer" | "boolean" | "null";

export interface JsonSchema {
  $schema?: string;
  $id?: string;
  $ref?: string;
  $defs?: Readonly<Record<string, JsonSchema>>;
  title?: string;
  description?: string;
  type?: JsonType;
  const?: string | number | boolean;
  enum?: readonly string[];
  default?: unknown;
  examples?: readonly unknown[];
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  /** By a pattern of keys: the published schema alone has them. */
  patternProperties?: Readonly<Record<string, JsonSchema>>;
  /** False, or the schema of every other key. */
  additionalProperties?: false | JsonSchema;
  minProperties?: number;
  maxProperties?: number;
  /** A key, and the keys that it needs beside it. */
  dependentRequired?: Readonly<Record<string, readonly string[]>>;
  items?: JsonSchema;
  minLength?: number;
  minimum?: number;
  maximum?: number;
  /** The alternatives differ by their JSON type, so a refusal knows which of them was meant. */
  anyOf?: readonly JsonSchema[];
  /** The alternatives say which keys they require and nothing else. */
  oneOf?: readonly { required: readonly string[] }[];
}
