/** The part of the schema that says what direct rules remember: meters, ASO objects, the actions on them, samplers. */
import {
  SHARED_WIDTHS,
  SIDE_WIDTHS,
  type ConnectionShared,
  type ConnectionSide,
} from "../../model/action/connection.js";
import { objectOf, type JsonSchema } from "../schema/validator.js";
import { about, DOMAIN, FUNCTION, integer, list, MAX_U32, name, orNull, text } from "../schema/parts.js";
import {
  ASO_FLAGS,
  CONNECTION_STATES,
  LAST_INDEXES,
  METER_MODES,
  START_COLORS,
  type AsoChoice,
  type AsoData,
  type ExpectedAso,
  type ExpectedMeter,
  type MeterNumber,
  type ScenarioAsoAction,
  type ScenarioAsoMeter,
  type ScenarioAsoObject,
  type ScenarioConnection,
  type ScenarioFlowMeter,
  type ScenarioFlowSampler,
  type ScenarioMeter,
  type ScenarioMeterRates,
  type ScenarioStep,
} from "./types.js";

type Keys<T> = { [K in keyof T]-?: JsonSchema };

const flag = (description: string, value: boolean): JsonSchema => ({ description, type: "boolean", default: value });

const meterNumber = (description: string, means: string): JsonSchema => ({
  description,
  anyOf: [
    integer("The device has the nearest number that it can hold.", 0, Number.MAX_SAFE_INTEGER, { default: 0 }),
    objectOf<Exclude<MeterNumber, number>>(
      `Exactly: ${means}.`,
      { mantissa: true, exponent: true },
      { mantissa: integer("Eight bits.", 0, 255), exponent: integer("Five bits.", 0, 31) },
    ),
  ],
});

const RATE = "mantissa / 2^exponent bytes a nanosecond, a packet being 128 bytes";
const SIZE = "mantissa * 2^exponent bytes, a packet being 128 bytes";

const RATES: Keys<ScenarioMeterRates> = {
  cir: meterNumber("Committed rate: what flows into the committed bucket a second, in bytes or packets.", RATE),
  cbs: meterNumber(
    "Committed burst: bytes or packets that the committed bucket holds; 0 is 16384 bytes, or one packet.",
    SIZE,
  ),
  eir: meterNumber("Excess rate: what flows into the excess bucket a second.", RATE),
  ebs: meterNumber("Excess burst: what the excess bucket holds.", SIZE),
};

const METER: Keys<ScenarioMeter> = {
  ...RATES,
  meter_mode: text(
    "What a frame costs: the length of its IP packet, its length on the wire, that and 20 bytes of gap, or one packet.",
    { enum: METER_MODES, default: "l2_len" },
  ),
  start_color: text(
    "Best colour that a frame can get; undefined: that which its register already says, green where it says none.",
    { enum: START_COLORS, default: "green" },
  ),
  bucket_overflow: flag(
    "Whether what the committed bucket has no room for flows into the excess bucket (RFC 2697).",
    false,
  ),
  both_buckets_on_green: flag("Whether a green frame is taken from both buckets (RFC 2698).", false),
};

const integers = <T extends string>(
  widths: Readonly<Record<T, number>>,
  said: Readonly<Record<T, string>>,
): Keys<Record<T, number>> =>
  Object.fromEntries(
    (Object.keys(widths) as T[]).map((key) => [key, integer(said[key], 0, 2 ** widths[key] - 1, { default: 0 })]),
  ) as Keys<Record<T, number>>;

const SIDE = objectOf<Partial<ConnectionSide>>(
  "One side of the connection.",
  {},
  integers(SIDE_WIDTHS, {
    sent_end: "The end of what it has sent: the next ACK of the other side.",
    reply_end: "The last number that the other side's windows let it send.",
    max_win: "Its largest window, scaled; 0: nothing of this side is known.",
    max_ack: "Its latest acknowledgement.",
    max_ack_seen: "Whether it has sent one.",
    scale: "Its window scale, 15 for none.",
    close_initiated: "Whether it has sent a FIN.",
    data_unacked: "Whether not everything to sent_end has been acknowledged.",
    liberal: "Whether its frames are not checked but for state.",
  }),
);

const { state: _state, last_index: _last, ...PLAIN_WIDTHS } = SHARED_WIDTHS;

export const CONNECTION = objectOf<ScenarioConnection>(
  "A connection, by the names of the device's context; what is left out is 0.",
  {},
  {
    ...integers<Exclude<keyof ConnectionShared, "state" | "last_index">>(PLAIN_WIDTHS, {
      valid: "Whether both SYNs have been seen.",
      freeze_track: "Whether tracking is off.",
      connection_assured: "Whether an ACK or FIN has come while established.",
      sack_permitted: "Whether SACK is permitted.",
      challenged_acked: "Whether a challenge has been answered.",
      heartbeat: "Whether a valid frame has come; cleared by software.",
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
    state: text("Its state, where it is valid.", { enum: CONNECTION_STATES, default: "syn_received" }),
    last_index: text("The kind of the last valid frame.", { enum: Object.keys(LAST_INDEXES), default: "none" }),
    original: SIDE,
    reply: SIDE,
  },
);

const ASO_DATA: Keys<AsoData> = {
  first_hit: list("512 flags an object: those of each that are set.", integer("A flag.", 0, 511)),
  flow_meter: objectOf<ScenarioAsoMeter>(
    "Two meters an object, with the same parameters and full buckets.",
    {},
    { ...METER, valid: flag("Whether it meters; else it gives its start colour.", true) },
  ),
  conn_track: CONNECTION,
};

export const ASO_OBJECT = objectOf<ScenarioAsoObject>(
  "A bulk of ASO objects: exactly one of first_hit, flow_meter and conn_track says of which kind, and what each begins with.",
  { name: true },
  {
    name: name("Its name.", "connections"),
    description: about,
    function: FUNCTION,
    log_obj_range: integer("How many objects, as a power of two.", 0, 31, { default: 0 }),
    ...ASO_DATA,
  },
  { oneOf: [{ required: ["first_hit"] }, { required: ["flow_meter"] }, { required: ["conn_track"] }] },
);

const CHOICE: Keys<AsoChoice> = {
  offset: integer("Which flag, meter (two an object) or connection, counted over the bulk.", 0, MAX_U32, {
    default: 0,
  }),
  flags: text(
    "Of first hit: none, or first_hit_set, which sets the flag. Of a meter: its start colour. Of a connection: which side the frames are of.",
    { enum: Object.keys(ASO_FLAGS) },
  ),
  return_reg_c: integer(
    "The register C that gets the flag (0, 1), the colour (red 0, yellow 1, green 2) or the syndrome: 1, 3 or 5.",
    1,
    5,
  ),
};

const ASO_ACTION = objectOf<ScenarioAsoAction>(
  "Asks a flag, a meter or a connection of ASO objects, and puts the answer into a register, for rules behind to match.",
  { object: true, return_reg_c: true },
  {
    object: name("The name of ASO objects.", "connections"),
    ...CHOICE,
    peer_dmn: objectOf<NonNullable<ScenarioAsoAction["peer_dmn"]>>(
      "The domain whose connections they are, where that is not the rule's own: the object is linked to the rule's.",
      { domain: true },
      { domain: DOMAIN, function: FUNCTION },
    ),
  },
);

const FLOW_METER = objectOf<ScenarioFlowMeter>(
  "A meter of its own: puts a frame's colour into a register, and goes on in a table.",
  { next_table: true, reg_c_index: true },
  {
    next_table: name("Where frames go on: not a root table, of a higher level than the rule's.", "coloured"),
    reg_c_index: integer("The register C that gets the colour: red 0, yellow 1, green 2.", 0, 7),
    active: flag("Whether it meters; else it gives its start colour.", true),
    ...METER,
  },
);

/** `action` is that of a sample, `to` what a change sets a field to. */
const sampler = (action: JsonSchema, to: JsonSchema): JsonSchema =>
  objectOf<ScenarioFlowSampler>(
    "Some frames, by chance (device.seed), do sample_actions on a copy; all go on in default_next_table.",
    { sample_ratio: true, default_next_table: true, sample_actions: true },
    {
      sample_ratio: integer("One of so many frames.", 1, MAX_U32),
      default_next_table: name("Where all frames go on: not a root table, of a higher level than the rule's.", "main"),
      sample_actions: list(
        "What is done with the copy: tag and count, and one destination: queue, tir; in the FDB vport, port, default_miss.",
        action,
      ),
      action: objectOf<NonNullable<ScenarioFlowSampler["action"]>>(
        "What every frame does behind it: a change that sets register C0.",
        { set: true, to: true },
        { set: name("The register.", "misc2.metadata_reg_c_0"), to },
      ),
    },
  );

/** Keys of actions. */
export const stateActionKeys = (action: JsonSchema, to: JsonSchema) =>
  ({ aso: ASO_ACTION, flow_meter: FLOW_METER, flow_sampler: sampler(action, to) }) satisfies Record<string, JsonSchema>;

export const MODIFY_ASO = objectOf<AsoChoice>(
  "With action, an ASO action: what it has from this rule on (mlx5dv_dr_action_modify_aso).",
  { return_reg_c: true },
  CHOICE,
);

export const STEP = objectOf<ScenarioStep>(
  "A change before the frame: exactly one of modify_flow_meter, with what it changes, and modify_aso_object, with what it holds then.",
  {},
  {
    modify_flow_meter: name("The shared action, a flow meter, that is modified.", "police"),
    active: { description: "Whether it meters.", type: "boolean" },
    ...RATES,
    modify_aso_object: name("The ASO objects, one of which is set as if it had been made so.", "connections"),
    index: integer("Which object of the bulk.", 0, MAX_U32, { default: 0 }),
    ...ASO_DATA,
  },
  {
    oneOf: [
      { required: ["modify_flow_meter"] },
      ...Object.keys(ASO_DATA).map((key) => ({ required: ["modify_aso_object", key] })),
    ],
    dependentRequired: {
      ...Object.fromEntries(["active", ...Object.keys(RATES)].map((key) => [key, ["modify_flow_meter"]])),
      ...Object.fromEntries(["index", ...Object.keys(ASO_DATA)].map((key) => [key, ["modify_aso_object"]])),
    },
  },
);

const EXPECTED_METER = objectOf<ExpectedMeter>(
  "What its buckets hold, in bytes, a packet being 128; what is left out is not compared.",
  {},
  {
    c_tokens: integer("The committed bucket.", 0, MAX_U32),
    e_tokens: integer("The excess bucket.", 0, MAX_U32),
  },
);

export const EXPECTED_ASO = objectOf<ExpectedAso>(
  "What a bulk holds after the last frame: one key, that of its kind.",
  {},
  {
    first_hit: list("The flags that are set, all of them, counted over the bulk.", integer("A flag.", 0, MAX_U32)),
    flow_meter: list("By meter; null is not compared.", orNull("A meter.", EXPECTED_METER)),
    conn_track: list(
      "By connection: the fields that are compared; null is not compared.",
      orNull("A connection.", CONNECTION),
    ),
  },
  { oneOf: [{ required: ["first_hit"] }, { required: ["flow_meter"] }, { required: ["conn_track"] }] },
);
