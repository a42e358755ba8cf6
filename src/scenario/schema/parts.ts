/** Parts that several sections of a document share. */
import { DOMAIN_TYPES } from "../../model/base/domainType.js";
import { MAX_PORTS } from "../../model/base/port/ports.js";
import { FIELDS, type FieldKind } from "../../model/match/fields.js";
import { either, integer, nothing, shared, text, word, type Schema } from "./define.js";
import type { JsonSchema } from "./jsonSchema.js";

/** Tags have 24 bits. */
export const MAX_TAG = 0xffffff;
export const MAX_U32 = 0xffffffff;

/** The names of an enum that documents have: those in lower case, but for "none". */
export const namesOf = (numbers: object): string[] =>
  Object.keys(numbers).filter((key) => /^[a-z]/.test(key) && key !== "none");

export const count = (description: string): Schema<number> => integer(description, 0, Number.MAX_SAFE_INTEGER);
export const about = shared("description", text("A note for people. Ignored."));
export const port = (description: string, more: JsonSchema = {}): Schema<number> =>
  integer(description, 1, MAX_PORTS, { default: 1, ...more });
export const PRIORITY = integer("Lower is first.", 0, 65535, { default: 0 });

export const DOMAIN = shared(
  "domain",
  word(
    "The domain: nic_rx is what a function receives, nic_tx what it sends, fdb the eSwitch between functions and ports.",
    DOMAIN_TYPES,
  ),
);
export const FUNCTION = shared(
  "function",
  integer("The function that it belongs to: 0 is the PF, VFs count from 1.", 0, 255, { default: 0 }),
);

const VALUES = [
  text(
    'A value ("tcp", "0x800"), a prefix ("10.0.0.0/8"), a value and a mask ("0x2/0x3f"), a range with both ends included ("1024-65535"; at most two ranges in a rule), or "any": the header is present, with any value.',
    { minLength: 1, examples: ["10.0.0.0/8", "1024-65535", "tcp", "any"] },
  ),
  integer("A value; every bit is compared.", 0, Number.MAX_SAFE_INTEGER),
] as const;

/** What a match field must hold. */
export const TERM = shared("term", either(null, ...VALUES));

/** The same, or null for a field that is not there. */
export const TERM_OR_NULL = shared(
  "termOrNull",
  either(null, ...VALUES, nothing("The field is not there.")),
);

/** Which bits of a match field are compared. */
export const MASK = shared(
  "maskOfField",
  either(
    null,
    text('"full", a prefix length ("/24"), or the mask itself ("0xff00", "255.255.255.0").', {
      minLength: 1,
      examples: ["full", "/24", "0x3f"],
    }),
    integer("The mask as a number.", 0, Number.MAX_SAFE_INTEGER),
  ),
);

/** The names of all match fields, as keys: editors complete them and mark others. */
const MATCH_FIELD_NAMES = shared("matchFields", {
  type: "object",
  published: () => ({
    type: "object",
    properties: Object.fromEntries(
      FIELDS.filter(({ filled }) => filled).map(({ name, width, kind }) => [
        name,
        { description: bitsOf(width, kind) },
      ]),
    ),
    additionalProperties: false,
  }),
});

function bitsOf(width: number, kind: FieldKind): string {
  const bits = width === 1 ? "1 bit." : `${width} bits.`;
  return kind === "number"
    ? bits
    : `${{ mac: "MAC address", ipv4: "IPv4 address", ipv6: "IPv6 address" }[kind]}, ${bits}`;
}

const byField = <T>(named: string, value: Schema<T>): Schema<Record<string, T>> =>
  shared(named, {
    type: "object",
    additionalProperties: value,
    published: () => ({ ...MATCH_FIELD_NAMES, patternProperties: { "": value } }),
  });

const MATCH_FIELDS = byField("match", TERM);
const MASK_FIELDS = byField("mask", MASK);
const EXPECTED_FIELDS = byField("expectedFields", TERM_OR_NULL);

/** Match fields, and what each must hold. */
export const match = (description: string): typeof MATCH_FIELDS => ({ ...MATCH_FIELDS, description });
/** Match fields, and the mask of each. */
export const mask = (description: string): typeof MASK_FIELDS => ({ ...MASK_FIELDS, description });
/** Match fields, and what a frame that arrived must hold. */
export const expectedFields = (description: string): typeof EXPECTED_FIELDS => ({ ...EXPECTED_FIELDS, description });

export const TAG = integer("Marks the frame: the completion carries it as the flow tag (24 bits).", 0, MAX_TAG);
