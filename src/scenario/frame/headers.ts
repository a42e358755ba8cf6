/** Headers as documents write them: in frames, in tunnels, and in expected frames. */
import { LAYOUTS, type FieldKind, type FieldLayout } from "../../packet/layout.js";
import { either, flag, integer, list, name, shared, text, word, type Schema } from "../schema/define.js";
import type { JsonSchema } from "../schema/jsonSchema.js";

/** A layer of `buildFrame`: a header and its fields. */
export interface ScenarioHeader {
  header: string;
  [field: string]: unknown;
}

const NAMES = [...Object.keys(LAYOUTS), "payload", "trailer"];

const anyField = either(
  null,
  text("An address, bytes or names of flags as text, or a hexadecimal number.", { examples: ["10.0.0.1"] }),
  integer("A number.", 0, Number.MAX_SAFE_INTEGER),
  flag("A flag."),
  list("Options, addresses or names of flags.", {}),
);

const NUMBER = shared(
  "numberField",
  either(null, integer("A number.", 0, Number.MAX_SAFE_INTEGER), name("A hexadecimal number.", "0x800")),
);
const TEXT = text("An address, or bytes as hexadecimal digits.");
const OTHER = shared("headerField", anyField);

/** Hints for editors. `buildFrame` checks the values and explains what is wrong. */
const FIELDS: Readonly<Partial<Record<FieldKind, Schema>>> = {
  number: NUMBER,
  hex: NUMBER,
  mac: TEXT,
  ipv4: TEXT,
  ipv6: TEXT,
};

/** One alternative for each header, with the names of its fields. */
function published(): JsonSchema {
  const kinds = NAMES.map((header): JsonSchema => {
    const layout: readonly FieldLayout[] = LAYOUTS[header as keyof typeof LAYOUTS] ?? [];
    const fields = layout.map(([field, , kind]) => [field, FIELDS[kind] ?? OTHER] as const);
    const properties = { header: { const: header }, ...Object.fromEntries(fields), bytes: OTHER };
    return { properties, required: ["header"], additionalProperties: false };
  });
  return { type: "object", anyOf: kinds };
}

const HEADER: Schema<ScenarioHeader> = shared("header", {
  description:
    "A header and those of its fields that do not follow from the others, as buildFrame takes them; numbers can be hexadecimal text.",
  type: "object",
  properties: {
    header: word(
      "Which header; payload and trailer have bytes; any header can have bytes in place of its fields.",
      NAMES,
    ),
  },
  required: ["header"],
  additionalProperties: anyField,
  published,
});

/** A list of headers. */
export const headers = (description: string): Schema<ScenarioHeader[]> => list(description, HEADER);
