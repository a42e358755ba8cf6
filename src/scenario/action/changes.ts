/** Changes of headers and registers, as documents write them. */
import { CHANGE_FIELD_NAMES } from "./changeFields.js";
import { either, integer, list, name, object, oneKeyOf, shared, text, type Static } from "../schema/define.js";
import { MAX_U32 } from "../schema/parts.js";

/** A field that changes name. The loader refuses other names, with the fields that may be meant. */
export const MODIFY_FIELD = shared("modifyField", {
  ...name("A field."),
  published: () => ({ type: "string", enum: CHANGE_FIELD_NAMES }),
});

const field = (description: string, example: string) => ({ ...MODIFY_FIELD, description, examples: [example] });

export const HEADER_VALUE = shared(
  "headerValue",
  either(
    "What it is set to: a value, or a value and a mask of the bits that are set.",
    text("An address, a number, a prefix, or a value and a mask.", {
      minLength: 1,
      examples: ["02:00:00:00:00:01", "10.1.0.0/16", "0x500/0xff00"],
    }),
    integer("A number.", 0, Number.MAX_SAFE_INTEGER),
  ),
);

const CHANGE_OBJECT = object(
  'A change of a field: exactly one of set, add and copy. Fields have the names that matches have ("outer.dmac"), or those of the device ("OUT_DMAC_47_16").',
  [],
  {
    set: field("The field that is set.", "outer.dmac"),
    to: HEADER_VALUE,
    add: field("The field that is added to.", "outer.ip_ttl_hoplimit"),
    by: integer("What is added; the sum wraps around.", -MAX_U32, MAX_U32, { examples: [-1] }),
    copy: field("The field that is copied from.", "outer.tcp_sport"),
    into: field("The field that is copied into.", "misc2.metadata_reg_c_0"),
    fromBit: integer("The first bit that is copied, counted from the least significant one.", 0, 127, { default: 0 }),
    intoBit: integer("Where it goes, counted from the least significant bit.", 0, 127, { default: 0 }),
    bits: integer("How many bits; left out, as many as both fields have from there on.", 1, 128),
  },
  {
    ...oneKeyOf("set", "add", "copy"),
    dependentRequired: {
      set: ["to"],
      to: ["set"],
      add: ["by"],
      by: ["add"],
      copy: ["into"],
      into: ["copy"],
      fromBit: ["copy"],
      intoBit: ["copy"],
      bits: ["copy"],
    },
  },
);
export type ScenarioHeaderChangeObject = Static<typeof CHANGE_OBJECT>;

const CHANGE = either(
  "A change.",
  text("The device's word for it, as 16 hexadecimal digits.", { minLength: 1, examples: ["1016000000000000"] }),
  CHANGE_OBJECT,
);
export type ScenarioHeaderChange = Static<typeof CHANGE>;

export const MODIFY = shared("modify", list("Changes of headers and registers, in order.", CHANGE));
