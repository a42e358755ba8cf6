/** Scenario documents: what is taken, and what is said of the others. */
import { describe, expect, it } from "vitest";
import { SteeringError } from "../../src/errors.js";
import { SCENARIO } from "../../src/scenario/document.js";
import { parseScenario } from "../../src/scenario/index.js";
import type { JsonSchema } from "../../src/scenario/schema/jsonSchema.js";
import { BAD_NAMES, BAD_SHAPES } from "./support/badDocuments.js";
import { everyKey } from "./support/documents.js";

describe("parseScenario", () => {
  it("takes a document that uses every key, as text or as it is", () => {
    const document = everyKey();
    expect(parseScenario(document)).toBe(document);
    expect(parseScenario(JSON.stringify(document))).toEqual(document);
  });

  it("takes the smallest document", () => {
    expect(parseScenario('{"flowsteer": 1}')).toEqual({ flowsteer: 1 });
  });

  it.each([...BAD_SHAPES, ...BAD_NAMES].map((one) => [one.name, one] as const))(
    "refuses: %s",
    (_, { document, message }) => {
      const attempt = (): unknown => parseScenario(document() as object);
      expect(attempt).toThrow(SteeringError);
      expect(attempt).toThrow(expect.objectContaining({ message }));
    },
  );

  it("refuses what is neither text nor an object", () => {
    expect(() => parseScenario(5 as never)).toThrow(
      new TypeError("parseScenario: a scenario is text or an object, not number"),
    );
    expect(() => parseScenario(null as never)).toThrow(TypeError);
    expect(() => parseScenario("[]")).toThrow(/^parseScenario: document: .* an object with .* \(found \[\]\)$/);
    expect(() => parseScenario("5")).toThrow(/^parseScenario: document = 5: /);
  });

  it("does not take inherited keys for keys of the document", () => {
    expect(() => parseScenario('{"flowsteer": 1, "constructor": 1}')).toThrow(/: constructor: .*no such key here/);
    expect(() => parseScenario('{"flowsteer": 1, "__proto__": {"rules": 5}}')).toThrow(/: __proto__: .*no such key/);
  });
});

describe("the definition", () => {
  /** Every definition below this one with its path. */
  function* below(schema: JsonSchema, path: string): Generator<[string, JsonSchema]> {
    yield [path, schema];
    for (const [key, one] of Object.entries(schema.properties ?? {})) yield* below(one, `${path}.${key}`);
    for (const [i, one] of (schema.anyOf ?? []).entries()) yield* below(one, `${path}|${i}`);
    if (schema.items !== undefined) yield* below(schema.items, `${path}[]`);
    if (typeof schema.additionalProperties === "object") yield* below(schema.additionalProperties, `${path}.*`);
  }
  const all = [...below(SCENARIO, "document")];

  it("describes every key", () => {
    const keys = all.filter(([path]) => /\.[\w$]+$/.test(path));
    expect(keys.length).toBeGreaterThan(70);
    for (const [path, { description }] of keys) expect(description ?? "", path).toMatch(/^.{4,}\.$/);
  });

  it("has alternatives that differ by their type", () => {
    for (const [path, { anyOf }] of all) {
      const types = (anyOf ?? []).map(({ type }) => type);
      expect(new Set(types).size, path).toBe(types.length);
      expect(types, path).not.toContain(undefined);
    }
  });

  it("is used key by key in the document that uses every key", () => {
    const used = new Set<string>();
    const walk = (value: unknown, path: string): void => {
      used.add(path);
      if (Array.isArray(value)) for (const item of value) walk(item, `${path}[]`);
      else if (typeof value === "object" && value !== null)
        for (const [key, item] of Object.entries(value)) walk(item, `${path}.${key}`);
    };
    walk(everyKey(), "document");
    const paths = all.map(([path]) => path.replaceAll(/\|\d/g, ""));
    // Registers are ten keys of one kind, and options of headers are the builder's.
    const wanted = paths.filter((path) => !path.includes("*") && !/\.registers\./.test(path));
    expect(wanted.filter((path) => !used.has(path))).toEqual([]);
  });
});
