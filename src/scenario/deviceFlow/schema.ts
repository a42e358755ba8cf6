/** The part of the schema that says what flows in device bytes hold, and the flow tables that they lead to. */
import { COUNTER_OFFSET, MODIFY, PUSH_VLAN, REFORMAT, VPORT } from "../action/schema.js";
import {
  FT_TYPES,
  type DeviceFlowActionObject,
  type FlowEntryActionObject,
  type ScenarioDeviceFlow,
  type ScenarioFlowEntry,
  type ScenarioFlowGroup,
  type ScenarioFlowTable,
  type ScenarioSteeringAnchor,
} from "./types.js";
import { objectOf, type JsonSchema } from "../schema/validator.js";
import {
  about,
  DOMAIN,
  FUNCTION,
  integer,
  list,
  mapOf,
  MASK,
  MAX_TAG,
  MAX_U32,
  name,
  TERM,
  text,
} from "../schema/parts.js";

const oneOf = (keys: readonly string[]): JsonSchema => ({ oneOf: keys.map((key) => ({ required: [key] })) });

const FT_TYPE = text(
  "The table: what is received, what is sent, the eSwitch, or those of RoCE alone, in front of them.",
  { enum: FT_TYPES, default: "nic_rx" },
);
const PRIORITY = integer("Lower is first.", 0, 65535, { default: 0 });
const MATCH = mapOf(
  'Field name to what it must hold, as in rules, but for ranges and "any": "outer.tcp_dport": 80. Left out or empty: every frame.',
  TERM,
);
const TAG = integer("Marks the frame: what the completion carries as its flow tag (24 bits).", 0, MAX_TAG);
const COUNT = name("Counts frame and bytes on the counter of this name.", "web-frames");
const TIR = name("Delivers to the TIR of this name.", "rss");

const FLOW_ACTION_KEYS = {
  tag: TAG,
  count: COUNT,
  ibv_counter: name("Counts frame and bytes on the flow counter of this name.", "web"),
  queue: name("Delivers to the queue of this name.", "web"),
  tir: TIR,
  table: name("Goes on in the flow table of this name.", "services"),
  action: name("Does what the flow action of this name says.", "to-gateway"),
} satisfies Record<string, JsonSchema>;

const FLOW_ACTION: JsonSchema = {
  description: "An action of a flow.",
  anyOf: [
    text("drop ends the frame; default_miss hands it on to what is behind the table.", {
      enum: ["drop", "default_miss"],
    }),
    objectOf<DeviceFlowActionObject>(
      "An action with an operand: exactly one key, and offset with count.",
      {},
      { ...FLOW_ACTION_KEYS, offset: COUNTER_OFFSET },
      { ...oneOf(Object.keys(FLOW_ACTION_KEYS)), dependentRequired: { offset: ["count"] } },
    ),
  ],
};

export const DEVICE_FLOW = objectOf<ScenarioDeviceFlow>(
  "A flow of mlx5dv_create_flow, in device bytes. It stands among flows and the rules of root tables, by its priority.",
  { name: true },
  {
    name: name("Its name: what outcomes list.", "roce"),
    description: about,
    function: FUNCTION,
    ft_type: FT_TYPE,
    ib_port: integer("Of rdma_transport tables, which have one: the port whose frames it asks.", 1, 255),
    priority: PRIORITY,
    match: MATCH,
    actions: list(
      "What it does: at most one of drop, default_miss, queue, tir and table; without one the frame goes as ft_type has it.",
      FLOW_ACTION,
    ),
  },
);

export const STEERING_ANCHOR = objectOf<ScenarioSteeringAnchor>(
  "A place in the tables of flows that entries of flow tables lead back to: the first flow or rule of a priority.",
  { name: true },
  { name: name("Its name.", "late"), description: about, function: FUNCTION, ft_type: FT_TYPE, priority: PRIORITY },
);

const INDEX = (description: string): JsonSchema => integer(description, 0, MAX_U32);
const flag = (description: string): JsonSchema => ({ description, type: "boolean", default: false });

const GROUP = objectOf<ScenarioFlowGroup>(
  "A range of entries that share a mask.",
  { start_flow_index: true, end_flow_index: true },
  {
    start_flow_index: INDEX("Its first entry."),
    end_flow_index: INDEX("Its last entry."),
    mask: mapOf("Field name to mask; entries of the group ask for exactly these. Left out: every frame.", MASK),
  },
);

export const FLOW_TABLE = objectOf<ScenarioFlowTable>(
  "A flow table of device commands, to which flows lead; its entries are asked in the order of their indexes.",
  { name: true, groups: true },
  {
    name: name("Its name.", "services"),
    description: about,
    function: FUNCTION,
    table_type: { ...DOMAIN, default: "nic_rx" },
    level: integer("Entries lead to tables of higher levels.", 0, 255, { default: 0 }),
    log_size: integer("How many entries it has room for, as a power of two.", 0, 24, { default: 0 }),
    reformat_en: flag("Whether its entries encapsulate, or put headers in place of a tunnel."),
    decap_en: flag("Whether its entries decapsulate."),
    table_miss: name("The flow table, further up in this list, where frames go on that no entry wants.", "rest"),
    groups: list("Its groups.", GROUP),
  },
);

const DESTINATIONS = {
  tir: TIR,
  table: name("Goes on in the flow table of this name, whose level is higher.", "services"),
  anchor: name("Goes back to the steering anchor of this name.", "late"),
  vport: VPORT,
} satisfies Record<string, JsonSchema>;

const ENTRY_KEYS = {
  tag: TAG,
  count: COUNT,
  modify: MODIFY,
  reformat: REFORMAT,
  push_vlan: PUSH_VLAN,
} satisfies Record<string, JsonSchema>;

const ENTRY_ACTION: JsonSchema = {
  description: "An action of an entry.",
  anyOf: [
    text(
      "allow does what the domain does without rules; drop ends the frame; decap takes the headers of a tunnel off; pop_vlan removes the outermost VLAN tag.",
      { enum: ["allow", "drop", "decap", "pop_vlan"] },
    ),
    objectOf<FlowEntryActionObject>(
      "An action with an operand: exactly one key, offset with count, and beside a destination what encapsulates its copy.",
      {},
      {
        ...ENTRY_KEYS,
        offset: COUNTER_OFFSET,
        ...DESTINATIONS,
        packet_reformat: {
          ...REFORMAT,
          description: "Beside a destination: what encapsulates the copy that goes there.",
        },
      },
      {
        oneOf: [...Object.keys(ENTRY_KEYS), ...Object.keys(DESTINATIONS)].map((key) => ({ required: [key] })),
        dependentRequired: { offset: ["count"] },
      },
    ),
  ],
};

export const FLOW_ENTRY = objectOf<ScenarioFlowEntry>(
  "An entry of a flow table.",
  { name: true, table: true, flow_index: true, actions: true },
  {
    name: name("Its name: what outcomes list.", "http"),
    description: about,
    table: name("The flow table.", "services"),
    flow_index: INDEX("Its place, which is one of a group."),
    match: MATCH,
    ignore_flow_level: flag("Whether it can lead to tables of any level."),
    actions: list(
      "What it does: one of allow, drop, or destinations, each of which gets a copy; and any of the others.",
      ENTRY_ACTION,
    ),
  },
);
