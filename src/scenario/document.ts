/** A scenario document: its sections, each defined in the folder of its name. */
import { ACTION, FLOW_ACTION } from "./action/definition.js";
import { CABLE, DEVICE, DOMAIN_SETTINGS } from "./device/definition.js";
import { DEVICE_FLOW, FLOW_ENTRY, FLOW_TABLE, STEERING_ANCHOR } from "./deviceFlow/definition.js";
import { EXPECT } from "./expect/definition.js";
import { FLOW, FLOW_COUNTER, HOST_RULE } from "./flow/definition.js";
import { FRAME } from "./frame/definition.js";
import { MESSAGE } from "./message/definition.js";
import { QUEUE } from "./queue/definition.js";
import { INDIRECTION_TABLE, RQT, TIR } from "./rss/definition.js";
import { COUNTER, MATCHER, NOT_IMPORTED, RULE, TABLE } from "./rule/definition.js";
import { constant, list, object, text, type Static } from "./schema/define.js";
import { about } from "./schema/parts.js";
import { ASO_OBJECT } from "./state/definition.js";

export const SCENARIO = object(
  "A device with tables, rules and queues, and optionally frames and their expected outcomes. Names are unique within their list, and a reference names an element of the list that it says.",
  ["flowsteer"],
  {
    $schema: text("This schema, for editors. Ignored."),
    flowsteer: constant("The version of this format.", 1),
    title: text("What it shows, in a line."),
    description: about,
    device: DEVICE,
    connect: list("Cables between the ports of the device.", CABLE),
    queues: list("Queues, which receive and send frames.", QUEUE),
    indirectionTables: list("Indirection tables of work queues, for queues with RSS.", INDIRECTION_TABLE),
    rqts: list("Receive queue tables, for TIRs.", RQT),
    tirs: list("TIRs, destinations of rules.", TIR),
    asoObjects: list("State of rules: first-hit flags, meters, connections.", ASO_OBJECT),
    counters: list("Flow counters of the device, for rules.", COUNTER),
    flowCounters: list("Counters objects of the verbs, for flows.", FLOW_COUNTER),
    flowActions: list("Actions that specs of flows name.", FLOW_ACTION),
    domains: list("Settings of domains.", DOMAIN_SETTINGS),
    tables: list("Tables.", TABLE),
    matchers: list(
      "Matchers, in the order in which they are created: among equal priorities the newer one is matched first, in the root table the older one.",
      MATCHER,
    ),
    actions: list("Actions that several rules share.", ACTION),
    rules: list(
      "Rules, in the order in which they are created: among rules of one matcher that both match, the older one wins.",
      RULE,
    ),
    flows: list(
      "Flows of the verbs, created after the rules, in this order. Flows and the rules of root tables have one order: by priority, then flows with dont_trap first, then the mask that was there first.",
      FLOW,
    ),
    flowTables: list("Flow tables of device commands, to which flows in device bytes lead.", FLOW_TABLE),
    steeringAnchors: list("Places to which entries of flow tables lead back.", STEERING_ANCHOR),
    flowEntries: list("Entries of flow tables.", FLOW_ENTRY),
    deviceFlows: list("Flows in device bytes, created after the flows of the verbs.", DEVICE_FLOW),
    hostRules: list("Rules of other applications of the host, created after the flows.", HOST_RULE),
    messages: list(
      "Messages between connected queues, sent in order before the first frame. Counters count their packets; outcomes and totals do not.",
      MESSAGE,
    ),
    frames: list("Frames that arrive or are sent, in order.", FRAME),
    expect: EXPECT,
    notImported: list("Elements of the source of an import that it does not have.", NOT_IMPORTED),
  },
);

/** A scenario, version 1. */
export type Scenario = Static<typeof SCENARIO>;
