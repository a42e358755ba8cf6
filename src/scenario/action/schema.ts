/** The part of the schema that says what actions hold, and the headers that frames and tunnels are written as. */
import { LAYOUTS } from "../../packet/layout.js";
import {
  REFORMAT_TYPES,
  type ActionKeys,
  type InlineActionObject,
  type ScenarioAction,
  type ScenarioChangeObject,
  type ScenarioFlowAction,
  type ScenarioMemberObject,
  type ScenarioReformat,
  type ScenarioVlanTag,
} from "./types.js";
import { ESP } from "../esp/schema.js";
import { objectOf, type JsonSchema } from "../schema/validator.js";
import { about, integer, list, MAX_TAG, MAX_U32, name, text } from "../schema/parts.js";
import type { ScenarioSampleActionObject } from "../state/types.js";
import { MODIFY_ASO, stateActionKeys } from "../state/schema.js";

/** Exactly one of these keys. */
const oneOf = (keys: readonly string[]): JsonSchema => ({ oneOf: keys.map((key) => ({ required: [key] })) });

const yes = (description: string): JsonSchema => ({ description, type: "boolean", const: true });

const HEADER: JsonSchema = {
  description:
    "A header and those of its fields that do not follow from the others, as buildFrame takes them; numbers can be hexadecimal text.",
  type: "object",
  properties: {
    header: text("Which header; payload and trailer take bytes, and so does each other one in place of its fields.", {
      enum: [...Object.keys(LAYOUTS), "payload", "trailer"],
    }),
  },
  required: ["header"],
  additionalProperties: {
    anyOf: [
      text("An address, bytes or names of flags as text, or a hexadecimal number.", { examples: ["10.0.0.1"] }),
      integer("A number.", 0, Number.MAX_SAFE_INTEGER),
      { description: "A flag.", type: "boolean" },
      list("Options, addresses or names of flags.", {}),
    ],
  },
};

export const headers = (description: string): JsonSchema => list(description, HEADER);

const SET_TO: JsonSchema = {
  description: "What it is set to: a value, or a value and a mask of the bits that are set.",
  anyOf: [
    text("An address, a number, a prefix, or a value and a mask.", {
      minLength: 1,
      examples: ["02:00:00:00:00:01", "10.1.0.0/16", "0x500/0xff00"],
    }),
    integer("A number.", 0, Number.MAX_SAFE_INTEGER),
  ],
};

const CHANGE: JsonSchema = {
  description: "A change.",
  anyOf: [
    text("The word that the device takes, as 16 hexadecimal digits.", { minLength: 1, examples: ["1016000000000000"] }),
    objectOf<ScenarioChangeObject>(
      'A change of a field: exactly one of set, add and copy. Fields have the names that matches have ("outer.dmac"), or those of the device ("OUT_DMAC_47_16").',
      {},
      {
        set: name("The field that is set.", "outer.dmac"),
        to: SET_TO,
        add: name("The field that is added to.", "outer.ip_ttl_hoplimit"),
        by: integer("What is added; it wraps around.", -MAX_U32, MAX_U32, { examples: [-1] }),
        copy: name("The field that is copied from.", "outer.tcp_sport"),
        into: name("The field that is copied into.", "misc2.metadata_reg_c_0"),
        fromBit: integer("The first bit that is copied, from the least significant one.", 0, 127, { default: 0 }),
        intoBit: integer("Where it goes, from the least significant bit.", 0, 127, { default: 0 }),
        bits: integer("How many bits; left out, as many as both fields have there.", 1, 128),
      },
      {
        ...oneOf(["set", "add", "copy"]),
        dependentRequired: {
          ...{ set: ["to"], to: ["set"], add: ["by"], by: ["add"], copy: ["into"], into: ["copy"] },
          ...{ fromBit: ["copy"], intoBit: ["copy"], bits: ["copy"] },
        },
      },
    ),
  ],
};

export const REFORMAT = objectOf<ScenarioReformat>(
  "Encapsulation or decapsulation: its type, and data or headers where it takes data.",
  { type: true },
  {
    type: text(
      "l2_to_l2_tunnel puts data in front of the frame, l2_to_l3_tunnel in place of its Ethernet header and tags; l2_tunnel_to_l2 leaves what is inside the tunnel, l3_tunnel_to_l2 puts data, an Ethernet header, in front of the packet that is inside.",
      { enum: REFORMAT_TYPES },
    ),
    data: text("Its data as hexadecimal digits."),
    headers: headers(
      "Its data as headers, the first one outermost. The device mends lengths, the IPv4 checksum and the UDP source port of tunnels; a UDP checksum that is left out is 0.",
    ),
  },
  { maxProperties: 2 },
);

export const MODIFY = list("Changes of headers and registers, in order.", CHANGE);

export const VPORT: JsonSchema = {
  description: "In the FDB: gives the frame to a function, 0 is the PF, or sends it out of the port it came from.",
  anyOf: [text("The port that it came from or was sent on.", { enum: ["uplink"] }), integer("A function.", 0, MAX_U32)],
};

const DESTINATION_KEYS = {
  count: name("Counts frame and bytes on the counter of this name.", "web-frames"),
  queue: name("Delivers to the queue of this name and ends the walk.", "web"),
  tir: name("Delivers to the TIR of this name: to its queue, or to one of its RQT by a hash.", "rss"),
  table: name("Goes on in the table of this name, which is not a root table.", "l4"),
  vport: VPORT,
  port: integer("In the FDB: sends it out of this port.", 0, MAX_U32),
} satisfies Record<string, JsonSchema>;

export const COUNTER_OFFSET = integer("With count: which counter of a bulk.", 0, MAX_U32, { default: 0 });

const MEMBER: JsonSchema = {
  description: "A destination of the array.",
  anyOf: [
    text("default_miss does what the domain does with a frame that no rule takes.", { enum: ["default_miss"] }),
    objectOf<ScenarioMemberObject>(
      "A destination: exactly one key besides reformat.",
      {},
      {
        default_miss: yes("Does what the domain does with a frame that no rule takes."),
        ...DESTINATION_KEYS,
        offset: COUNTER_OFFSET,
        action: name("The shared action of this name (see actions)."),
        reformat: {
          description: "Encapsulates the copy of this member: in its place, or a shared action by its name.",
          anyOf: [text("The name of a shared action.", { minLength: 1 }), REFORMAT],
        },
      },
      {
        ...oneOf(["default_miss", ...Object.keys(DESTINATION_KEYS), "action"]),
        dependentRequired: { offset: ["count"] },
      },
    ),
  ],
};

const { table: _table, ...SAMPLE_KEYS } = DESTINATION_KEYS;
const TAG = integer("Marks the frame: what the completion carries as its flow tag (24 bits).", 0, MAX_TAG);

const SAMPLE_ACTION: JsonSchema = {
  description: "An action of a sample.",
  anyOf: [
    text("default_miss does what the domain does with a frame that no rule takes.", { enum: ["default_miss"] }),
    objectOf<ScenarioSampleActionObject>(
      "An action of a sample: exactly one key.",
      {},
      {
        default_miss: yes("Does what the domain does with a frame that no rule takes."),
        tag: TAG,
        ...SAMPLE_KEYS,
        offset: COUNTER_OFFSET,
        action: name("The shared action of this name (see actions)."),
      },
      {
        ...oneOf(["default_miss", "tag", ...Object.keys(SAMPLE_KEYS), "action"]),
        dependentRequired: { offset: ["count"] },
      },
    ),
  ],
};

export const PUSH_VLAN = objectOf<ScenarioVlanTag>(
  "Inserts a VLAN tag behind the MACs.",
  {},
  {
    tpid: text("Its type.", { enum: ["0x8100", "0x88a8"], default: "0x8100" }),
    pcp: integer("Priority.", 0, 7, { default: 0 }),
    dei: { description: "Drop eligible.", type: "boolean", default: false },
    vid: integer("VLAN.", 0, 4095, { default: 0 }),
  },
);

const ACTION_KEYS = {
  tag: TAG,
  ...DESTINATION_KEYS,
  array: list("Gives a copy of the frame to each of these destinations.", MEMBER),
  reformat: REFORMAT,
  modify: MODIFY,
  push_vlan: PUSH_VLAN,
  ...stateActionKeys(SAMPLE_ACTION, SET_TO),
} satisfies Partial<Record<keyof ActionKeys, JsonSchema>>;

const PRIORITY = integer(
  "With table: the table is the root table of the domain, and the frame goes on there with the rules of this priority.",
  0,
  65535,
);

const GOES_WITH = { priority: ["table"], offset: ["count"] };

export const INLINE_ACTION: JsonSchema = {
  description: "One action of a rule.",
  anyOf: [
    text(
      "drop ends the frame; default_miss does what the domain does with a frame that no rule takes; pop_vlan removes the outermost VLAN tag.",
      { enum: ["drop", "default_miss", "pop_vlan"] },
    ),
    objectOf<InlineActionObject>(
      "An action with an operand: exactly one key.",
      {},
      {
        ...ACTION_KEYS,
        priority: PRIORITY,
        offset: COUNTER_OFFSET,
        action: name("The shared action of this name (see actions)."),
        modify_aso: MODIFY_ASO,
      },
      {
        ...oneOf([...Object.keys(ACTION_KEYS), "action"]),
        dependentRequired: { ...GOES_WITH, modify_aso: ["action"] },
      },
    ),
  ],
};

const WORD_KEYS = {
  drop: yes("Ends the frame."),
  default_miss: yes("Does what the domain does with a frame that no rule takes."),
  pop_vlan: yes("Removes the outermost VLAN tag."),
};

export const ACTION = objectOf<ScenarioAction>(
  "An action that several rules share: a name and exactly one key besides. It is made for each domain whose rules have it; flow meters and samplers are made once.",
  { name: true },
  {
    name: name('Its name, for { "action": name }.', "to-web"),
    ...WORD_KEYS,
    ...ACTION_KEYS,
    priority: PRIORITY,
    offset: COUNTER_OFFSET,
  },
  { ...oneOf([...Object.keys(WORD_KEYS), ...Object.keys(ACTION_KEYS)]), dependentRequired: GOES_WITH },
);

export const FLOW_ACTION = objectOf<ScenarioFlowAction>(
  "A flow action, which specs of flows name. It is made for each function and direction whose flows have it.",
  { name: true },
  {
    name: name('Its name, for the spec { "action": name }.', "to-gateway"),
    description: about,
    modify: MODIFY,
    reformat: REFORMAT,
    esp: ESP,
  },
  oneOf(["modify", "reformat", "esp"]),
);
