/** The published schema, and another validator's word on the same documents. */
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { SCENARIO_SCHEMA } from "../../src/scenario/index.js";
import { BAD_NAMES, BAD_SHAPES } from "./support/badDocuments.js";
import { everyKey } from "./support/documents.js";

const file = new URL("../../schema/scenario-1.schema.json", import.meta.url);
const published: unknown = JSON.parse(readFileSync(file, "utf8"));

describe("schema/scenario-1.schema.json", () => {
  it("is the schema that scenarios are checked by (node --import tsx scripts/make-schema.mjs)", () => {
    expect(published).toEqual(JSON.parse(JSON.stringify(SCENARIO_SCHEMA)));
  });

  const judge = new Ajv2020({ strict: true, strictRequired: false, allErrors: false }).compile(published as object);

  it("takes what the validator takes", () => {
    expect(judge(everyKey()), JSON.stringify(judge.errors)).toBe(true);
    expect(judge({ flowsteer: 1 })).toBe(true);
  });

  it.each(BAD_SHAPES.map(({ name, document }) => [name, document] as const))("refuses: %s", (_, document) => {
    expect(judge(document())).toBe(false);
  });

  it.each(
    BAD_NAMES.filter(({ name }) => name !== "a later version").map(({ name, document }) => [name, document] as const),
  )("cannot tell: %s", (_, document) => {
    expect(judge(document())).toBe(true);
  });
});
