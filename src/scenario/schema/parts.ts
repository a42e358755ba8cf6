/** What the schemas of documents are put together from. */
import { DOMAIN_TYPES } from "../../model/table/domain.js";
import type { JsonSchema } from "./validator.js";

/** Tags have 24 bits. */
export const MAX_TAG = 0xffffff;
export const MAX_U32 = 0xffffffff;

export const text = (description: string, more: JsonSchema = {}): JsonSchema => ({
  description,
  type: "string",
  ...more,
});
export const name = (description: string, ...examples: string[]): JsonSchema =>
  text(description, { minLength: 1, ...(examples.length > 0 ? { examples } : {}) });
export const integer = (description: string, minimum: number, maximum: number, more: JsonSchema = {}): JsonSchema => ({
  description,
  type: "integer",
  minimum,
  maximum,
  ...more,
});
export const list = (description: string, items: JsonSchema): JsonSchema => ({ description, type: "array", items });
export const mapOf = (description: string, additionalProperties: JsonSchema): JsonSchema => ({
  description,
  type: "object",
  additionalProperties,
});
export const orNull = (description: string, schema: JsonSchema): JsonSchema => ({
  description,
  anyOf: [schema, { type: "null" }],
});
export const namesOf = (numbers: object): string[] =>
  Object.keys(numbers).filter((key) => /^[a-z]/.test(key) && key !== "none");
export const count = (description: string): JsonSchema => integer(description, 0, Number.MAX_SAFE_INTEGER);
export const about = text("What it is for, for people. Ignored.");
export const port = (description: string, more: JsonSchema = {}): JsonSchema =>
  integer(description, 1, 255, { default: 1, ...more });
export const DOMAIN = text(
  "The domain: what a function receives, what it sends, or the eSwitch between them and the ports.",
  {
    enum: DOMAIN_TYPES,
  },
);
export const FUNCTION = integer("The function that it belongs to: 0 is the PF, VFs count from 1.", 0, 255, {
  default: 0,
});

/** What a field of a match holds. */
export const TERM: JsonSchema = {
  anyOf: [
    text(
      'A value ("tcp", "0x800"), a prefix ("10.0.0.0/8"), a value and a mask ("0x2/0x3f"), a range with both ends inside ("1024-65535"; at most two ranges a rule), or "any": the header is there, whatever the field holds.',
      { minLength: 1, examples: ["10.0.0.0/8", "1024-65535", "tcp", "any"] },
    ),
    integer("A value, every bit of it.", 0, Number.MAX_SAFE_INTEGER),
  ],
};

/** What of a field is asked. */
export const MASK: JsonSchema = {
  anyOf: [
    text('"full", a prefix length ("/24"), or the mask itself ("0xff00", "255.255.255.0").', {
      minLength: 1,
      examples: ["full", "/24", "0x3f"],
    }),
    integer("The mask as a number.", 0, Number.MAX_SAFE_INTEGER),
  ],
};
