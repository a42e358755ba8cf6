/** Actions of rules, and sections `actions` and `flowActions`. */
import { ESP } from "../esp/definition.js";
import {
  either,
  flag,
  integer,
  list,
  name,
  object,
  oneKeyOf,
  shared,
  word,
  yes,
  type Static,
} from "../schema/define.js";
import { about, TAG } from "../schema/parts.js";
import { MODIFY_ASO, STATE_ACTION_KEYS } from "../state/definition.js";
import { MODIFY } from "./changes.js";
import { ARRAY_MEMBER, COUNTER_OFFSET, DEFAULT_MISS, DESTINATION_KEYS, REFORMAT } from "./destinations.js";

export const PUSH_VLAN = shared(
  "vlanTag",
  object("Inserts a VLAN tag after the MAC addresses.", [], {
    tpid: word("Its type.", ["0x8100", "0x88a8"], { default: "0x8100" }),
    pcp: integer("Priority.", 0, 7, { default: 0 }),
    dei: flag("Drop eligible.", { default: false }),
    vid: integer("VLAN.", 0, 4095, { default: 0 }),
  }),
);
export type ScenarioVlanTag = Static<typeof PUSH_VLAN>;

const ACTION_KEYS = {
  tag: TAG,
  ...DESTINATION_KEYS,
  array: shared("array", list("Gives a copy of the frame to each of these destinations.", ARRAY_MEMBER)),
  reformat: REFORMAT,
  modify: MODIFY,
  push_vlan: PUSH_VLAN,
  ...STATE_ACTION_KEYS,
};

const PRIORITY = integer(
  "With table: the table is the root table of the domain, and the frame continues there with the rules of this priority.",
  0,
  65535,
);

const GOES_WITH = { priority: ["table"], offset: ["count"] };

const RULE_ACTION_OBJECT = object(
  "An action with an operand: exactly one key.",
  [],
  {
    ...ACTION_KEYS,
    priority: PRIORITY,
    offset: COUNTER_OFFSET,
    action: name("The shared action of this name (see actions)."),
    modify_aso: MODIFY_ASO,
  },
  { ...oneKeyOf(...Object.keys(ACTION_KEYS), "action"), dependentRequired: { ...GOES_WITH, modify_aso: ["action"] } },
);

export const RULE_ACTION = either(
  "One action of a rule.",
  word(
    "drop ends the frame; default_miss treats it as a frame that no rule of the domain matches; pop_vlan removes the outermost VLAN tag.",
    ["drop", "default_miss", "pop_vlan"],
  ),
  RULE_ACTION_OBJECT,
);
export type ScenarioRuleAction = Static<typeof RULE_ACTION>;

const WORD_KEYS = {
  drop: yes("Ends the frame."),
  default_miss: DEFAULT_MISS,
  pop_vlan: yes("Removes the outermost VLAN tag."),
};

export const ACTION = object(
  "An action that several rules share: a name and exactly one key besides. It is made for each domain whose rules have it; flow meters and samplers are made once.",
  ["name"],
  {
    name: name('Its name, for { "action": name }.', "to-web"),
    ...WORD_KEYS,
    ...ACTION_KEYS,
    priority: PRIORITY,
    offset: COUNTER_OFFSET,
  },
  { ...oneKeyOf(...Object.keys(WORD_KEYS), ...Object.keys(ACTION_KEYS)), dependentRequired: GOES_WITH },
);
export type ScenarioAction = Static<typeof ACTION>;

export const FLOW_ACTION = object(
  "A flow action, which specs of flows name. It is made for each function and direction whose flows have it.",
  ["name"],
  {
    name: name('Its name, for the spec { "action": name }.', "to-gateway"),
    description: about,
    modify: MODIFY,
    reformat: REFORMAT,
    esp: ESP,
  },
  oneKeyOf("modify", "reformat", "esp"),
);
export type ScenarioFlowAction = Static<typeof FLOW_ACTION>;
