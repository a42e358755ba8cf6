/** Section `asoObjects`, stateful actions (meters, ASO, samplers), changes between frames, and what state is expected. */
import { SAMPLE_ACTION } from "../action/destinations.js";
import { HEADER_VALUE, MODIFY_FIELD } from "../action/changes.js";
import { SHARED_WIDTHS, SIDE_WIDTHS } from "../../model/action/connection.js";
import {
  either,
  flag,
  integer,
  list,
  name,
  object,
  oneKeyOf,
  orNull,
  shared,
  word,
  type Schema,
  type Static,
} from "../schema/define.js";
import { about, DOMAIN, FUNCTION, MAX_U32 } from "../schema/parts.js";

export const COLOURS = ["red", "yellow", "green"] as const;
export const START_COLORS = [...COLOURS, "undefined"] as const;
/** In the order of the device's numbers. */
export const METER_MODES = ["ip_len", "l2_len", "l2_ipg_len", "pkt"] as const;
/** By the numbers of the device's context. */
export const CONNECTION_STATES = [
  "syn_received",
  "established",
  "fin_wait",
  "close_wait",
  "last_ack",
  "time_wait",
] as const;
export const LAST_INDEXES = { none: 0, syn: 1, syn_ack: 2, fin: 4, ack: 8, rst: 16 } as const;
/** Flags of ASO actions: MLX5DV_DR_ACTION_FLAGS_ASO_ is left out. */
export const ASO_FLAGS = {
  first_hit_set: 1,
  flow_meter_red: 1,
  flow_meter_yellow: 2,
  flow_meter_green: 4,
  flow_meter_undefined: 8,
  ct_direction_initiator: 1,
  ct_direction_responder: 2,
} as const;
export const ASO_KEYS = ["first_hit", "flow_meter", "conn_track"] as const;

const keysOf = <K extends string>(numbers: Readonly<Record<K, number>>): K[] => Object.keys(numbers) as K[];

/** A number that the device holds as eight bits and a power of two. */
const meterNumber = (named: string, means: string) =>
  shared(
    named,
    either(
      null,
      integer("The device uses the nearest number that it can hold.", 0, Number.MAX_SAFE_INTEGER, { default: 0 }),
      object(`Exactly: ${means}.`, ["mantissa", "exponent"], {
        mantissa: integer("Eight bits.", 0, 255),
        exponent: integer("Five bits.", 0, 31),
      }),
    ),
  );

const RATE = meterNumber("rate", "mantissa / 2^exponent bytes per nanosecond; a packet counts as 128 bytes");
const SIZE = meterNumber("burst", "mantissa * 2^exponent bytes; a packet counts as 128 bytes");
export type ScenarioMeterNumber = Static<typeof RATE>;

const RATES = {
  cir: {
    ...RATE,
    description: "Committed rate: what flows into the committed bucket per second, in bytes or packets.",
  },
  cbs: {
    ...SIZE,
    description: "Committed burst: bytes or packets that the committed bucket holds; 0 is 16384 bytes, or one packet.",
  },
  eir: { ...RATE, description: "Excess rate: what flows into the excess bucket per second." },
  ebs: { ...SIZE, description: "Excess burst: what the excess bucket holds." },
};
export type ScenarioMeterRates = { [K in keyof typeof RATES]?: ScenarioMeterNumber };

const METER = {
  ...RATES,
  meter_mode: word(
    "What a frame costs: the length of its IP packet, its length on the wire, that and 20 bytes of gap, or one packet.",
    METER_MODES,
    { default: "l2_len" },
  ),
  start_color: word(
    "The best colour that a frame can get; undefined: the colour that its register already holds, green where it holds none.",
    START_COLORS,
    { default: "green" },
  ),
  bucket_overflow: flag(
    "Whether what does not fit into the committed bucket flows into the excess bucket (RFC 2697).",
    { default: false },
  ),
  both_buckets_on_green: flag("Whether a green frame is taken from both buckets (RFC 2698).", { default: false }),
};

const widths = <K extends string>(bits: Readonly<Record<K, number>>, said: Readonly<Record<K, string>>) =>
  Object.fromEntries(
    keysOf(bits).map((key) => [key, integer(said[key], 0, 2 ** bits[key] - 1, { default: 0 })]),
  ) as Record<K, Schema<number>>;

const DIRECTION = shared(
  "connectionDirection",
  object(
    "One direction of the connection.",
    [],
    widths(SIDE_WIDTHS, {
      sent_end: "The end of what it has sent: the next ACK of the other direction.",
      reply_end: "The last number that the windows of the other direction allow it to send.",
      max_win: "Its largest window, scaled; 0: nothing of this direction is known.",
      max_ack: "Its latest acknowledgement.",
      max_ack_seen: "Whether it has sent one.",
      scale: "Its window scale, 15 for none.",
      close_initiated: "Whether it has sent a FIN.",
      data_unacked: "Whether some of the data up to sent_end has not been acknowledged.",
      liberal: "Whether its frames are checked for the state only.",
    }),
  ),
);

const { state: _state, last_index: _last, ...PLAIN_WIDTHS } = SHARED_WIDTHS;

const CONNECTION = shared(
  "connection",
  object("A connection, by the names of the device's context; what is left out is 0.", [], {
    ...widths(PLAIN_WIDTHS, {
      valid: "Whether both SYNs have been seen.",
      freeze_track: "Whether tracking is off.",
      connection_assured: "Whether an ACK or FIN has arrived while established.",
      sack_permitted: "Whether SACK is permitted.",
      challenged_acked: "Whether a challenge has been answered.",
      heartbeat: "Whether a valid frame has arrived; cleared by software.",
      max_ack_window: "How much older than usual an ACK may be: a shift.",
      retransmission_counter: "Frames in a row that repeat the one before.",
      retransmission_limit: "How many make limit_exceeded; 0: no limit.",
      limit_exceeded: "Whether there were more.",
      last_seq: "Sequence number of the last valid frame.",
      last_end: "Where its payload ends.",
      last_ack: "Its acknowledgement.",
      last_win: "Its window, not scaled.",
      last_dir: "Its direction: 1 original, 0 reply.",
    }),
    state: word("Its state, where it is valid.", CONNECTION_STATES, { default: "syn_received" }),
    last_index: word("The kind of the last valid frame.", keysOf(LAST_INDEXES), { default: "none" }),
    original: DIRECTION,
    reply: DIRECTION,
  }),
);
export type ScenarioConnection = Static<typeof CONNECTION>;

const ASO_METER = shared(
  "asoMeter",
  object("Two meters in an object, with the same parameters and full buckets.", [], {
    ...METER,
    valid: flag("Whether it meters; otherwise every frame gets its start colour.", { default: true }),
  }),
);
export type ScenarioAsoMeter = Static<typeof ASO_METER>;

const ASO_DATA = {
  first_hit: list("512 flags in an object: those of each object that are set.", integer("A flag.", 0, 511)),
  flow_meter: ASO_METER,
  conn_track: CONNECTION,
};
/** What an ASO object holds: one key, that of its kind. */
export type ScenarioAsoData = { [K in keyof typeof ASO_DATA]?: Static<(typeof ASO_DATA)[K]> };

export const ASO_OBJECT = object(
  "A bulk of ASO objects: exactly one of first_hit, flow_meter and conn_track selects the kind, and gives the first contents.",
  ["name"],
  {
    name: name("Its name.", "connections"),
    description: about,
    function: FUNCTION,
    log_obj_range: integer("How many objects, as a power of two.", 0, 31, { default: 0 }),
    ...ASO_DATA,
  },
  oneKeyOf(...ASO_KEYS),
);
export type ScenarioAsoObject = Static<typeof ASO_OBJECT>;

const CHOICE = {
  offset: integer("Which flag, meter (two in an object) or connection, counted over the bulk.", 0, MAX_U32, {
    default: 0,
  }),
  flags: word(
    "For first hit: none, or first_hit_set, which sets the flag. For a meter: its start colour. For a connection: the direction of the frames.",
    keysOf(ASO_FLAGS),
  ),
  return_reg_c: integer(
    "The register C that receives the flag (0, 1), the colour (red 0, yellow 1, green 2) or the syndrome: 1, 3 or 5.",
    1,
    5,
  ),
};

const ASO_ACTION = object(
  "Reads a flag, a meter or a connection of ASO objects, and writes the answer into a register, for later rules to match.",
  ["object", "return_reg_c"],
  {
    object: name("The name of ASO objects.", "connections"),
    ...CHOICE,
    peer_dmn: object(
      "The domain of the connections, where that is not the rule's own: the object is linked to the rule's domain.",
      ["domain"],
      { domain: DOMAIN, function: FUNCTION },
    ),
  },
);
export type ScenarioAsoAction = Static<typeof ASO_ACTION>;

const FLOW_METER = object(
  "A meter of this rule alone: writes the colour of a frame into a register; the frame continues in a table.",
  ["next_table", "reg_c_index"],
  {
    next_table: name("The next table: not a root table, and of a higher level than the rule's.", "coloured"),
    reg_c_index: integer("The register C that receives the colour: red 0, yellow 1, green 2.", 0, 7),
    active: flag("Whether it meters; otherwise every frame gets its start colour.", { default: true }),
    ...METER,
  },
);
export type ScenarioFlowMeter = Static<typeof FLOW_METER>;

const FLOW_SAMPLER = object(
  "Random frames (device.seed) are copied, and sample_actions are executed on the copy; all frames continue in default_next_table.",
  ["sample_ratio", "default_next_table", "sample_actions"],
  {
    sample_ratio: integer("One of this many frames.", 1, MAX_U32),
    default_next_table: name(
      "The next table of all frames: not a root table, and of a higher level than the rule's.",
      "main",
    ),
    sample_actions: list(
      "What is done with the copy: tag and count, and one destination: queue, tir; in the FDB vport, port, default_miss.",
      SAMPLE_ACTION,
    ),
    action: object("What is done with every frame after the sample: a change that sets register C0.", ["set", "to"], {
      set: { ...MODIFY_FIELD, description: "The register.", examples: ["misc2.metadata_reg_c_0"] },
      to: HEADER_VALUE,
    }),
  },
);
export type ScenarioFlowSampler = Static<typeof FLOW_SAMPLER>;

/** Keys of stateful actions. */
export const STATE_ACTION_KEYS = {
  aso: shared("asoAction", ASO_ACTION),
  flow_meter: shared("flowMeter", FLOW_METER),
  flow_sampler: shared("flowSampler", FLOW_SAMPLER),
};

export const MODIFY_ASO = object(
  "With action, an ASO action: its parameters from this rule on (mlx5dv_dr_action_modify_aso).",
  ["return_reg_c"],
  CHOICE,
);
export type ScenarioAsoChoice = Static<typeof MODIFY_ASO>;

export const STEP = object(
  "A change before the frame: exactly one of modify_flow_meter, with what it changes, and modify_aso_object, with its new contents.",
  [],
  {
    modify_flow_meter: name("The shared action, a flow meter, that is modified.", "police"),
    active: flag("Whether it meters."),
    ...RATES,
    modify_aso_object: name("The ASO objects, one of which gets new contents.", "connections"),
    index: integer("Which object of the bulk.", 0, MAX_U32, { default: 0 }),
    ...ASO_DATA,
  },
  {
    oneOf: [{ required: ["modify_flow_meter"] }, ...ASO_KEYS.map((key) => ({ required: ["modify_aso_object", key] }))],
    dependentRequired: {
      ...Object.fromEntries(["active", ...Object.keys(RATES)].map((key) => [key, ["modify_flow_meter"]])),
      ...Object.fromEntries(["index", ...ASO_KEYS].map((key) => [key, ["modify_aso_object"]])),
    },
  },
);
export type ScenarioStep = Static<typeof STEP>;

const EXPECTED_METER = object(
  "The contents of its buckets, in bytes; a packet counts as 128 bytes. Omitted keys are not compared.",
  [],
  {
    c_tokens: integer("The committed bucket.", 0, MAX_U32),
    e_tokens: integer("The excess bucket.", 0, MAX_U32),
  },
);
export type ExpectedMeter = Static<typeof EXPECTED_METER>;

export const EXPECTED_ASO = object(
  "The contents of a bulk after the last frame: one key, that of its kind.",
  [],
  {
    first_hit: list("The flags that are set, all of them, counted over the bulk.", integer("A flag.", 0, MAX_U32)),
    flow_meter: list("By meter; null is not compared.", orNull("A meter.", EXPECTED_METER)),
    conn_track: list(
      "By connection: the fields that are compared; null is not compared.",
      orNull("A connection.", CONNECTION),
    ),
  },
  oneKeyOf(...ASO_KEYS),
);
export type ExpectedAso = Static<typeof EXPECTED_ASO>;
