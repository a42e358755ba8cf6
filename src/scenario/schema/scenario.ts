/** The JSON Schema of scenario documents. It is published as schema/scenario-1.schema.json, word for word. */
import { Header } from "../../abi/headers.js";
import type { CacheOptions } from "../../model/traffic/flowCache.js";
import type { GeneveOption, ParserOptions, SampleOptions } from "../../model/match/parser.js";
import type {
  QueueState,
  QueueType,
  Scenario,
  ScenarioCable,
  ScenarioCounter,
  ScenarioDevice,
  ScenarioDomain,
  ScenarioFrame,
  ScenarioLayout,
  ScenarioLimits,
  ScenarioMatcher,
  ScenarioQueue,
  ScenarioRule,
  ScenarioTable,
} from "../document.js";
import { ACTION, FLOW_ACTION, headers, INLINE_ACTION } from "../action/schema.js";
import { DEVICE_FLOW, FLOW_ENTRY, FLOW_TABLE, STEERING_ANCHOR } from "../deviceFlow/schema.js";
import { EXPECT } from "../expect/schema.js";
import { FLOW, FLOW_COUNTER, HOST_RULE } from "../flow/schema.js";
import { MESSAGE } from "../message/schema.js";
import { objectOf, type JsonSchema } from "./validator.js";
import { INDIRECTION_TABLE, RQT, RX_HASH_CONF, TIR } from "../rss/schema.js";
import { ASO_OBJECT, STEP } from "../state/schema.js";
import {
  about,
  DOMAIN,
  FUNCTION,
  integer,
  list,
  mapOf,
  MASK,
  MAX_U32,
  name,
  namesOf,
  port,
  TERM,
  text,
} from "./parts.js";

const SAMPLE = objectOf<SampleOptions>(
  "Four bytes of a frame, matched as misc4.prog_sample_field_value_ and the id.",
  { id: true, header: true, offset: true },
  {
    id: integer("Its number.", 0, 7),
    header: text("The first header of this kind; payload is what lies behind the last header of the level.", {
      enum: [...namesOf(Header), "payload"],
    }),
    level: text("Which packet: the outer one, or the one inside the first tunnel.", {
      enum: ["outer", "inner"],
      default: "outer",
    }),
    offset: integer("Bytes from the start of the header.", 0, 65535),
    port: integer("Only where this is the UDP destination port of the level.", 0, 65535),
  },
);

const PARSER = objectOf<ParserOptions>(
  "What the parser takes from frames beyond the fields that every device has.",
  {},
  {
    geneveOption0: objectOf<GeneveOption>(
      "The Geneve option that misc.geneve_tlv_option_0_exist and misc3.geneve_tlv_option_0_data tell of.",
      { class: true, type: true },
      {
        class: integer("Option class.", 0, 65535),
        type: integer("Option type, its critical bit included.", 0, 255),
      },
    ),
    samples: list("Programmable samples.", SAMPLE),
  },
);

const DEVICE = objectOf<ScenarioDevice>(
  "The device. Everything has a default.",
  {},
  {
    name: name("Its name.", "flowsteer0"),
    ports: integer("Physical ports, numbered from 1.", 1, 255, { default: 1 }),
    vports: integer("Functions besides the PF, which is 0: VFs, numbered from 1.", 0, 255, { default: 0 }),
    profile: text("What is refused beyond what the manual pages refuse.", {
      default: "manual",
      examples: ["manual", "connectx5", "connectx6dx", "connectx7", "connectx8"],
    }),
    seed: integer("Seed of everything that is left to chance.", 0, MAX_U32, { default: 0 }),
    limits: objectOf<ScenarioLimits>(
      "Limits of the device.",
      {},
      {
        memory: integer("Bytes for tables, rules, counters and queues.", 0, MAX_U32),
        flows: integer("Flows alive; left out, as many as memory holds.", 0, MAX_U32),
      },
    ),
    managedFlowSteering: {
      description: "Whether the device has flows: IBV_DEVICE_MANAGED_FLOW_STEERING.",
      type: "boolean",
      default: true,
    },
    asyncRules: {
      description:
        "Whether rules of tables that are not root wait for a sync of their domain. Domains are synced once all rules are made, unless they say otherwise.",
      type: "boolean",
      default: false,
    },
    cache: objectOf<CacheOptions>(
      "The cache of what lookups find, for frames of the same key. Outcomes are the same with and without it.",
      {},
      {
        entries: integer("Entries at most: a power of two, or 0 for no cache.", 0, 1_048_576, { default: 65_536 }),
      },
    ),
    parser: PARSER,
  },
);

const CABLE = objectOf<ScenarioCable>(
  "A cable: frames that leave one of the two ports come in on the other. A port without one leads nowhere.",
  { port: true, to: true },
  {
    port: integer("A port.", 1, 255),
    to: integer("The port it is connected to: another one, or itself.", 1, 255),
  },
);

const QUEUE = objectOf<ScenarioQueue>(
  "A queue pair. Outcomes call it qp: and its name.",
  { name: true },
  {
    name: name("Its name.", "web"),
    description: about,
    function: FUNCTION,
    port: port("The port that it sends from. It receives from every port."),
    type: text(
      "What ibv_create_qp makes; a queue of type ud sends no frames, only datagrams; one of type rc or uc messages to its peer. A work queue (wq) gets frames by a TIR or an indirection table alone, and outcomes call it wq: and its name.",
      {
        enum: ["raw_packet", "ud", "wq", "rc", "uc"] satisfies QueueType[],
        default: "raw_packet",
      },
    ),
    state: text(
      "The state it is in: it receives in rtr and rts, and sends in rts; a work queue is in reset, rdy (the default) or err.",
      {
        enum: ["reset", "init", "rtr", "rts", "rdy", "err"] satisfies QueueState[],
        default: "rts",
      },
    ),
    buffers: integer(
      "Receive buffers posted to it; each frame takes one, and a frame that finds none is dropped. Without this key the queue takes everything.",
      1,
      32768,
    ),
    bufferSize: integer("Bytes of each receive buffer; a longer frame does not fit.", 1, 65536, { default: 2048 }),
    peer: name("Of type rc and uc: the queue that it is connected to, which names it too.", "server"),
    path_mtu: integer("Bytes of a message in one packet: 256, 512, 1024, 2048 or 4096.", 256, 4096, { default: 1024 }),
    rwq_ind_tbl: name(
      "Its indirection table: it has no queue of its own, and spreads what it gets over those of the table.",
      "spread",
    ),
    rx_hash_conf: RX_HASH_CONF,
  },
  {
    dependentRequired: {
      ...{ bufferSize: ["buffers"], type: ["buffers"], state: ["buffers"], peer: ["type"], path_mtu: ["peer"] },
      ...{ rwq_ind_tbl: ["rx_hash_conf"], rx_hash_conf: ["rwq_ind_tbl"] },
    },
  },
);

const COUNTER = objectOf<ScenarioCounter>(
  "A flow counter of the device: packets and bytes; or a bulk of them.",
  { name: true },
  {
    name: name("Its name.", "web-frames"),
    description: about,
    function: FUNCTION,
    flow_counter_bulk_log_size: integer("How many counters, as a power of two: actions say which by offset.", 0, 24, {
      default: 0,
    }),
  },
);

const SETTING = objectOf<ScenarioDomain>(
  "Settings of a domain. A domain without any need not be listed.",
  { domain: true },
  {
    domain: DOMAIN,
    function: FUNCTION,
    description: about,
    reclaim: {
      description: "Whether its tables give memory back as soon as rules go.",
      type: "boolean",
      default: false,
    },
    duplicates: {
      description: "Whether a rule can have the values of another one of its matcher, but in the root table.",
      type: "boolean",
      default: true,
    },
    sync: {
      description: "With asyncRules: whether it is synced before the first frame comes.",
      type: "boolean",
      default: true,
    },
  },
);

const TABLE = objectOf<ScenarioTable>(
  "A table of rules.",
  { name: true, level: true },
  {
    name: name("Its name.", "root"),
    description: about,
    domain: { ...DOMAIN, default: "nic_rx" },
    function: FUNCTION,
    level: integer(
      '0 is the root table, where every frame of the domain starts; the others are reached by { "table": name }.',
      0,
      MAX_U32,
    ),
  },
);

const MATCHER = objectOf<ScenarioMatcher>(
  "A matcher: the priority of its rules, and the mask that they share.",
  { name: true, table: true },
  {
    name: name("Its name.", "by-port"),
    description: about,
    table: name("The table it is in."),
    priority: integer("Lower is first.", 0, 65535, { default: 0 }),
    mask: mapOf(
      "Field name to mask; a rule of this matcher gives exactly these fields. Left out, every rule brings masks of its own.",
      MASK,
    ),
    layout: objectOf<ScenarioLayout>(
      "The room that the table makes for its rules; what becomes of frames does not depend on it.",
      {},
      {
        rulesLog2: integer("Room for 2 to the power of this many rules at once.", 0, MAX_U32, { examples: [10] }),
        resizable: {
          description: "Whether the table becomes smaller again as rules go.",
          type: "boolean",
          default: false,
        },
      },
    ),
  },
);

const RULE = objectOf<ScenarioRule>(
  "A rule. It belongs to a matcher, or stands in a table at a priority with masks of its own.",
  { name: true },
  {
    name: name("Its name: what outcomes list.", "http"),
    description: about,
    matcher: name("The matcher it belongs to."),
    table: name("The table it is in, where it names no matcher."),
    priority: integer("Lower is first; goes with table.", 0, 65535, { default: 0 }),
    match: mapOf(
      'Field name to what it must hold, such as "outer.tcp_dport": 80. A field matches only where its header is present. Left out or empty, the rule takes every frame.',
      TERM,
    ),
    actions: list(
      "What it does. The device has an order of its own, whatever that of the list. At most one of drop, default_miss, queue, table, vport, port and array; without any of them the frame ends here without a destination.",
      INLINE_ACTION,
    ),
  },
  { oneOf: [{ required: ["matcher"] }, { required: ["table"] }], dependentRequired: { priority: ["table"] } },
);

const FRAME = objectOf<ScenarioFrame>(
  "A frame that arrives, or is sent.",
  {},
  {
    name: name("Its name, for expectations.", "syn to web"),
    description: about,
    hex: text("Its bytes as hexadecimal digits, white space and colons between bytes ignored."),
    base64: text("Its bytes as base64."),
    headers: headers("Its bytes as headers, the first one outermost."),
    send: name("The queue that sends it, from its port; left out, the frame comes in.", "web"),
    metadata: integer("Where it is sent: what rules of the send path find in register A.", 0, MAX_U32, { default: 0 }),
    sync: {
      description: "Syncs all domains before it: rules that wait take effect.",
      type: "boolean",
      const: true,
    },
    before: list("Changes before it, in order.", STEP),
    time: integer(
      "When it comes in or is sent, by the clock of the device: nanoseconds. Left out, a microsecond after the frame before it; the first one at 0.",
      0,
      Number.MAX_SAFE_INTEGER,
    ),
    port: port("The port that it comes in on."),
    linkType: integer("LINKTYPE_ number: what it begins with; 1 is Ethernet, 101 IP.", 0, 65535, { default: 1 }),
    wireLength: integer("Its length on the wire in bytes, where the capture cut it.", 0, MAX_U32),
  },
  {
    oneOf: [{ required: ["hex"] }, { required: ["base64"] }, { required: ["headers"] }],
    dependentRequired: { metadata: ["send"] },
  },
);

/** Its identity, wherever it lies. */
export const SCENARIO_SCHEMA_ID = "urn:flowsteer:schema:scenario-1";

export const SCENARIO_SCHEMA: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: SCENARIO_SCHEMA_ID,
  title: "flowsteer scenario, version 1",
  ...objectOf<Scenario>(
    "A device with tables, rules and queues, and optionally frames and what must become of them. Names are unique within their list; whatever is named is named by that list.",
    { flowsteer: true },
    {
      $schema: text("This schema, for editors. Ignored."),
      flowsteer: { description: "The version of this format.", type: "integer", const: 1 },
      title: text("What it shows, in a line."),
      description: about,
      device: DEVICE,
      connect: list("Cables between the ports of the device.", CABLE),
      queues: list("Where frames are delivered, and who sends them.", QUEUE),
      indirectionTables: list("Indirection tables of work queues, for queues that spread.", INDIRECTION_TABLE),
      rqts: list("Tables of receive queues, for TIRs.", RQT),
      tirs: list("TIRs, to which rules lead.", TIR),
      asoObjects: list("What rules remember in: first-hit flags, meters, connections.", ASO_OBJECT),
      counters: list("Flow counters of the device, which rules count on.", COUNTER),
      flowCounters: list("Counters objects of the verbs, which flows count on.", FLOW_COUNTER),
      flowActions: list("Actions that specs of flows name.", FLOW_ACTION),
      domains: list("Settings of domains.", SETTING),
      tables: list("Tables.", TABLE),
      matchers: list(
        "Matchers, in the order of their making: among equal priorities the newer one is asked first, in the root table the older one.",
        MATCHER,
      ),
      actions: list("Actions that several rules share.", ACTION),
      rules: list(
        "Rules, in the order of their making: among rules of one matcher that both match the older one wins.",
        RULE,
      ),
      flows: list(
        "Flows of the verbs, made after the rules, in this order. They and the rules of root tables have one order: by priority, then flows with dont_trap first, then the mask that was there first.",
        FLOW,
      ),
      flowTables: list("Flow tables of device commands, to which flows in device bytes lead.", FLOW_TABLE),
      steeringAnchors: list("Places that entries of flow tables lead back to.", STEERING_ANCHOR),
      flowEntries: list("Entries of flow tables.", FLOW_ENTRY),
      deviceFlows: list("Flows in device bytes, made after the flows of the verbs.", DEVICE_FLOW),
      hostRules: list("Rules of other applications of the host, made after the flows.", HOST_RULE),
      messages: list(
        "Messages between connected queues, sent in order before the first frame. Counters count their packets; outcomes and totals do not.",
        MESSAGE,
      ),
      frames: list("Frames that arrive or are sent, in order.", FRAME),
      expect: EXPECT,
    },
  ),
};
