/** Sections `deviceFlows`, `steeringAnchors`, `flowTables` and `flowEntries`: flows in device bytes and the tables they lead to. */
import { PUSH_VLAN } from "../action/definition.js";
import { MODIFY } from "../action/changes.js";
import { COUNTER_OFFSET, REFORMAT, VPORT } from "../action/destinations.js";
import { either, flag, integer, list, name, object, oneKeyOf, word, type Static } from "../schema/define.js";
import { about, FUNCTION, mask, match, MAX_U32, PRIORITY, TAG } from "../schema/parts.js";

/** `enum mlx5dv_flow_table_type`, in its order. */
export const FT_TYPES = [
  "nic_rx",
  "nic_tx",
  "fdb",
  "rdma_rx",
  "rdma_tx",
  "rdma_transport_rx",
  "rdma_transport_tx",
] as const;

const FT_TYPE = word(
  "The table: received frames, sent frames, the eSwitch, or one of the RDMA tables, which match RoCE frames alone and come first.",
  FT_TYPES,
  { default: "nic_rx" },
);
const MATCH = match(
  'Field name to what it must hold, as in rules, without ranges and "any": "outer.tcp_dport": 80. Left out or empty: every frame.',
);
const COUNT = name("Counts the frame and its bytes on the counter of this name.", "web-frames");
const TIR = name("Delivers to the TIR of this name.", "rss");

const FLOW_ACTION_KEYS = {
  tag: TAG,
  count: COUNT,
  ibv_counter: name("Counts the frame and its bytes on the flow counter of this name.", "web"),
  queue: name("Delivers to the queue of this name.", "web"),
  tir: TIR,
  table: name("Continues in the flow table of this name.", "services"),
  action: name("Executes the flow action of this name.", "to-gateway"),
};

const FLOW_ACTION_OBJECT = object(
  "An action with an operand: exactly one key, and offset with count.",
  [],
  { ...FLOW_ACTION_KEYS, offset: COUNTER_OFFSET },
  { ...oneKeyOf(...Object.keys(FLOW_ACTION_KEYS)), dependentRequired: { offset: ["count"] } },
);

const FLOW_ACTION = either(
  "An action of a flow.",
  word("drop ends the frame; default_miss passes it on to the next table.", ["drop", "default_miss"]),
  FLOW_ACTION_OBJECT,
);
export type ScenarioDeviceFlowAction = Static<typeof FLOW_ACTION>;

export const DEVICE_FLOW = object(
  "A flow of mlx5dv_create_flow, in device bytes. Flows and the rules of root tables are ordered with it by priority.",
  ["name"],
  {
    name: name("Its name, which outcomes list.", "roce"),
    description: about,
    function: FUNCTION,
    ft_type: FT_TYPE,
    ib_port: integer("For rdma_transport tables, which have one: the port whose frames it matches.", 1, 255),
    priority: PRIORITY,
    match: MATCH,
    actions: list(
      "What it does: at most one of drop, default_miss, queue, tir and table; without one the frame continues as ft_type has it.",
      FLOW_ACTION,
    ),
  },
);
export type ScenarioDeviceFlow = Static<typeof DEVICE_FLOW>;
export type ScenarioFlowTableType = (typeof FT_TYPES)[number];

export const STEERING_ANCHOR = object(
  "A place in the tables of flows to which entries of flow tables lead back: the first flow or rule of a priority.",
  ["name"],
  { name: name("Its name.", "late"), description: about, function: FUNCTION, ft_type: FT_TYPE, priority: PRIORITY },
);
export type ScenarioSteeringAnchor = Static<typeof STEERING_ANCHOR>;

const GROUP = object("A range of entries that share a mask.", ["start_flow_index", "end_flow_index"], {
  start_flow_index: integer("Its first entry.", 0, MAX_U32),
  end_flow_index: integer("Its last entry.", 0, MAX_U32),
  mask: mask("Field name to mask; entries of the group match exactly these. Left out: every frame."),
});
export type ScenarioFlowGroup = Static<typeof GROUP>;

export const FLOW_TABLE = object(
  "A flow table of device commands, to which flows lead; its entries are matched in the order of their indexes.",
  ["name", "groups"],
  {
    name: name("Its name.", "services"),
    description: about,
    function: FUNCTION,
    table_type: word(
      "Its type. Only device flows of the same type lead to a table of an RDMA type, and frames that match no entry go on there.",
      FT_TYPES,
      { default: "nic_rx" },
    ),
    level: integer("Entries lead to tables of higher levels.", 0, 255, { default: 0 }),
    log_size: integer("How many entries it has room for, as a power of two.", 0, 24, { default: 0 }),
    reformat_en: flag("Whether its entries encapsulate, or put headers in place of a tunnel.", { default: false }),
    decap_en: flag("Whether its entries decapsulate.", { default: false }),
    table_miss: name("The flow table, earlier in this list, where frames continue that match no entry.", "rest"),
    groups: list("Its groups.", GROUP),
  },
);
export type ScenarioFlowTable = Static<typeof FLOW_TABLE>;

const DESTINATIONS = {
  tir: TIR,
  table: name("Continues in the flow table of this name, whose level is higher.", "services"),
  anchor: name("Goes back to the steering anchor of this name.", "late"),
  vport: VPORT,
};

const ENTRY_KEYS = { tag: TAG, count: COUNT, modify: MODIFY, reformat: REFORMAT, push_vlan: PUSH_VLAN };

const ENTRY_ACTION_OBJECT = object(
  "An action with an operand: exactly one key, offset with count, and beside a destination what encapsulates its copy.",
  [],
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
    ...oneKeyOf(...Object.keys(ENTRY_KEYS), ...Object.keys(DESTINATIONS)),
    dependentRequired: { offset: ["count"] },
  },
);
export type ScenarioFlowEntryActionObject = Static<typeof ENTRY_ACTION_OBJECT>;

const ENTRY_ACTION = either(
  "An action of an entry.",
  word(
    "allow does what the domain does without rules; drop ends the frame; decap removes the headers of a tunnel; pop_vlan removes the outermost VLAN tag.",
    ["allow", "drop", "decap", "pop_vlan"],
  ),
  ENTRY_ACTION_OBJECT,
);
export type ScenarioFlowEntryAction = Static<typeof ENTRY_ACTION>;

export const FLOW_ENTRY = object("An entry of a flow table.", ["name", "table", "flow_index", "actions"], {
  name: name("Its name, which outcomes list.", "http"),
  description: about,
  table: name("The flow table.", "services"),
  flow_index: integer("Its place, inside one of the groups.", 0, MAX_U32),
  match: MATCH,
  ignore_flow_level: flag("Whether it can lead to tables of any level.", { default: false }),
  actions: list(
    "What it does: one of allow, drop, or destinations, each of which gets a copy; and any of the others.",
    ENTRY_ACTION,
  ),
});
export type ScenarioFlowEntry = Static<typeof FLOW_ENTRY>;
