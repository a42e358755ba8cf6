/** The published JSON Schema of a definition: what several places share stands once, below $defs. */
import type { Schema } from "./define.js";
import type { JsonSchema } from "./jsonSchema.js";

/** Keywords that say something to people: beside a $ref they stand where they differ. */
const ANNOTATIONS = ["description", "default", "examples"] as const;

/** @param head comes first: $schema, $id, title */
export function publish(head: JsonSchema, definition: Schema): JsonSchema {
  const $defs: Record<string, JsonSchema> = {};
  const found = new Map<string, JsonSchema>();

  const visit = (schema: Schema): JsonSchema => {
    if (schema.shared === undefined) return body(schema);
    const { name, first } = schema.shared;
    if (found.get(name) === undefined) {
      found.set(name, first);
      $defs[name] = body(first);
    }
    if (found.get(name) !== first) throw new Error(`two definitions are called ${name}`);
    const own = ANNOTATIONS.filter((key) => schema[key] !== first[key]).map((key) => [key, schema[key]]);
    const { type, patternProperties } = schema;
    return {
      ...(Object.fromEntries(own) as JsonSchema),
      $ref: `#/$defs/${name}`,
      ...(patternProperties === undefined || type === undefined
        ? {}
        : { type, patternProperties: mapped(patternProperties, visit) }),
    };
  };

  const body = (schema: Schema): JsonSchema => {
    const { published, renamed: _, shared: __, ...plain } = schema;
    if (published !== undefined) return visit({ ...annotationsOf(schema), ...published() });
    const { properties, items, anyOf, additionalProperties: others } = plain;
    return {
      ...plain,
      ...(properties === undefined ? {} : { properties: mapped(properties, visit) }),
      ...(others === undefined ? {} : { additionalProperties: others === false ? false : visit(others) }),
      ...(items === undefined ? {} : { items: visit(items) }),
      ...(anyOf === undefined ? {} : { anyOf: anyOf.map(visit) }),
    };
  };

  const root = body(definition);
  return { ...head, ...root, $defs };
}

function annotationsOf(schema: JsonSchema): JsonSchema {
  const own = ANNOTATIONS.filter((key) => schema[key] !== undefined).map((key) => [key, schema[key]]);
  return Object.fromEntries(own) as JsonSchema;
}

function mapped(
  properties: Readonly<Record<string, JsonSchema>>,
  visit: (schema: JsonSchema) => JsonSchema,
): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, visit(schema)]));
}

/**
 * The text of a published schema: a line for each section and for each shared part, so that a change shows where it is and
 * the file stays small.
 */
export function schemaText({ $defs = {}, properties = {}, ...head }: JsonSchema): string {
  const lines = (entries: Readonly<Record<string, JsonSchema>>): string =>
    Object.entries(entries)
      .map(([key, schema]) => `    ${JSON.stringify(key)}: ${JSON.stringify(schema)}`)
      .join(",\n");
  const first = Object.entries(head).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`);
  return `{\n${first.join("")}  "properties": {\n${lines(properties)}\n  },\n  "$defs": {\n${lines($defs)}\n  }\n}\n`;
}
