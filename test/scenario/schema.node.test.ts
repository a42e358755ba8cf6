/** The published schema, and another validator's verdict on the same documents. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { SCENARIO_SCHEMA } from "../../src/scenario/index.js";
import { schemaText } from "../../src/scenario/schema/publish.js";
import { BAD_NAMES, BAD_SHAPES } from "./support/badDocuments.js";
import { everyKey } from "./support/documents.js";

const file = new URL("../../schema/scenario-1.schema.json", import.meta.url);
const text = readFileSync(file, "utf8");
const published: unknown = JSON.parse(text);

/** The schema lists names of fields, for editors; `parseScenario` leaves these to the loader, which knows better hints. */
const NAMES_OF_FIELDS = ["field of a header unknown"];

const judge = new Ajv2020({ strict: true, strictRequired: false, allErrors: false }).compile(published as object);

describe("schema/scenario-1.schema.json", () => {
  it("is the schema that scenarios are checked by (node --import tsx scripts/make-schema.mjs)", () => {
    expect(text).toBe(schemaText(SCENARIO_SCHEMA));
    expect(published).toEqual(JSON.parse(JSON.stringify(SCENARIO_SCHEMA)));
  });

  it("is small enough for editors", () => {
    expect(text.length).toBeLessThan(120_000);
  });

  it("has the name under which programs find it in the package", () => {
    const found = createRequire(import.meta.url).resolve(SCENARIO_SCHEMA.$id ?? "");
    expect(found).toBe(fileURLToPath(file));
  });

  it("accepts what the validator accepts", () => {
    expect(judge(everyKey()), JSON.stringify(judge.errors)).toBe(true);
    expect(judge({ flowsteer: 1 })).toBe(true);
  });

  it.each(BAD_SHAPES.map(({ name, document }) => [name, document] as const))("refuses: %s", (_, document) => {
    expect(judge(document())).toBe(false);
  });

  it.each(
    BAD_NAMES.filter(({ name }) => name !== "a later version" && !NAMES_OF_FIELDS.includes(name)).map(
      ({ name, document }) => [name, document] as const,
    ),
  )("cannot tell: %s", (_, document) => {
    expect(judge(document())).toBe(true);
  });
});

describe("names that editors complete", () => {
  const frame = (header: object): object => ({ flowsteer: 1, frames: [{ headers: [header] }] });
  const rule = (more: object): object => ({
    flowsteer: 1,
    rules: [{ name: "r", table: "t", ...more }],
  });
  const sets = (field: string): object => rule({ actions: [{ modify: [{ set: field, to: 1 }] }] });

  it.each([
    ["match field", rule({ match: { "outer.tcp_dport": 80 } }), rule({ match: { "outer.tcp_dprt": 80 } })],
    ["field of a header", frame({ header: "ipv4", ttl: 3 }), frame({ header: "ipv4", tll: 3 })],
    ["field of another header", frame({ header: "tcp", window: 3 }), frame({ header: "udp", window: 3 })],
    ["field of a change", sets("outer.ip_ttl_hoplimit"), sets("outer.ttl")],
    ["device field of a change", sets("OUT_DMAC_15_0"), sets("OUT_DMAC")],
    [
      "expected field",
      { flowsteer: 1, expect: { frames: [{ frame: 1, toFrames: [{ "outer.dmac": null }] }] } },
      { flowsteer: 1, expect: { frames: [{ frame: 1, toFrames: [{ dmac: null }] }] } },
    ],
    ["profile", { flowsteer: 1, device: { profile: "connectx7" } }, { flowsteer: 1, device: { profile: "cx7" } }],
  ])("%s", (_, good, bad) => {
    expect(judge(good), JSON.stringify(judge.errors)).toBe(true);
    expect(judge(bad)).toBe(false);
  });
});
