/** Sections `counters`, `tables`, `matchers` and `rules`: direct rules. */
import { RULE_ACTION } from "../action/definition.js";
import { flag, integer, list, name, object, oneKeyOf, text, type Static } from "../schema/define.js";
import { about, DOMAIN, FUNCTION, mask, match, MAX_U32, PRIORITY } from "../schema/parts.js";

export const COUNTER = object("A flow counter of the device, of packets and bytes; or a bulk of them.", ["name"], {
  name: name("Its name.", "web-frames"),
  description: about,
  function: FUNCTION,
  flow_counter_bulk_log_size: integer("How many counters, as a power of two: actions select one by offset.", 0, 24, {
    default: 0,
  }),
});
export type ScenarioCounter = Static<typeof COUNTER>;

export const TABLE = object("A table of rules.", ["name", "level"], {
  name: name("Its name.", "root"),
  description: about,
  domain: { ...DOMAIN, default: "nic_rx" },
  function: FUNCTION,
  level: integer(
    '0 is the root table, where every frame of the domain starts; rules lead to the others by { "table": name }.',
    0,
    MAX_U32,
  ),
});
export type ScenarioTable = Static<typeof TABLE>;

export const MATCHER = object(
  "A matcher: the priority of its rules, and the mask that they share.",
  ["name", "table"],
  {
    name: name("Its name.", "by-port"),
    description: about,
    table: name("The table it is in."),
    priority: PRIORITY,
    mask: mask(
      "Field name to mask; a rule of this matcher gives exactly these fields. Left out, every rule has masks of its own.",
    ),
    layout: object("The room that the table makes for its rules. Outcomes do not depend on it.", [], {
      rulesLog2: integer("Room for 2 to the power of this many rules at once.", 0, MAX_U32, { examples: [10] }),
      resizable: flag("Whether the table becomes smaller again when rules are removed.", { default: false }),
    }),
  },
);
export type ScenarioMatcher = Static<typeof MATCHER>;

export const RULE = object(
  "A rule. It belongs to a matcher, or to a table at a priority with masks of its own.",
  ["name"],
  {
    name: name("Its name, which outcomes list.", "http"),
    description: about,
    matcher: name("The matcher it belongs to."),
    table: name("The table it is in, where it names no matcher."),
    priority: integer("Lower is first; goes with table.", 0, 65535, { default: 0 }),
    match: match(
      'Field name to what it must hold, such as "outer.tcp_dport": 80. A field matches only where its header is present. Left out or empty, the rule matches every frame.',
    ),
    actions: list(
      "What it does. The device executes actions in an order of its own, whatever the order of the list. At most one of drop, default_miss, queue, table, vport, port and array; without any of them the frame ends here without a destination.",
      RULE_ACTION,
    ),
    notImported: list(
      "What an import did not carry over of it: the device may do more with its frames. run, why, cover and diff tell of it.",
      text("An element of the source, and why it was not imported."),
    ),
  },
  { ...oneKeyOf("matcher", "table"), dependentRequired: { priority: ["table"] } },
);
export type ScenarioRule = Static<typeof RULE>;

export const NOT_IMPORTED = object(
  "An element that has no equal, or of which the source does not say enough.",
  ["text", "reason"],
  {
    source: text("The name of the source."),
    line: integer("Its line in the source.", 1, MAX_U32),
    column: integer("Its column in the line.", 1, MAX_U32),
    text: text("The element, as it stands in the source."),
    reason: text("Why it was not imported."),
  },
);
