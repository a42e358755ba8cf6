/** Objects and actions with state in a recording: meters, samplers, ASO objects by their device commands. */
import { inCall } from "../../../errors.js";
import { connectionFromBytes } from "../../../model/action/connection.js";
import { ASO_BODY, ASO_DATA_AT, GENERAL_OBJECT, METER_BLOCK, readFields } from "../../../model/devx/layouts.js";
import { CONN_TRACK_ASO_TYPE, FIRST_HIT_ASO_TYPE, FLOW_METER_ASO_TYPE } from "../../../model/devx/opcodes.js";
import type { ScenarioAction } from "../../../scenario/action/definition.js";
import {
  ASO_FLAGS,
  CONNECTION_STATES,
  LAST_INDEXES,
  METER_MODES,
  START_COLORS,
  type ScenarioAsoAction,
  type ScenarioAsoData,
  type ScenarioAsoMeter,
  type ScenarioConnection,
  type ScenarioFlowMeter,
} from "../../../scenario/state/definition.js";
import { bytesIn, numberIn, type Call } from "./calls.js";

/** CREATE_GENERAL_OBJECT */
export const GENERAL_OBJECT_OPCODE = 0xa00;

const ASO_AT = GENERAL_OBJECT.size;
const FLAGS_OF_OBJECT = 512;

/** What a device command makes: the kind of ASO objects, their number as a power of two, their contents. */
export interface AsoCommand {
  readonly log_obj_range: number;
  readonly data: ScenarioAsoData;
}

/** Reads CREATE_GENERAL_OBJECT. @returns the type of another object */
export function asoCommand(bytes: Uint8Array): AsoCommand | number {
  const whole = new Uint8Array(Math.max(bytes.length, ASO_AT + ASO_BODY.size));
  whole.set(bytes);
  const { obj_type, log_obj_range } = readFields(new DataView(whole.buffer), GENERAL_OBJECT);
  const data = whole.subarray(ASO_AT + ASO_DATA_AT, ASO_AT + ASO_BODY.size);
  switch (obj_type) {
    case FIRST_HIT_ASO_TYPE:
      return { log_obj_range, data: { first_hit: flagsOf(data) } };
    case FLOW_METER_ASO_TYPE: {
      const { valid } = readFields(new DataView(data.buffer, data.byteOffset), METER_BLOCK);
      return { log_obj_range, data: { flow_meter: { ...meterOf(data), ...(valid === 0 ? { valid: false } : {}) } } };
    }
    case CONN_TRACK_ASO_TYPE:
      return { log_obj_range, data: { conn_track: connectionOf(data) } };
    default:
      return obj_type;
  }
}

function flagsOf(data: Uint8Array): number[] {
  const isSet = (flag: number): boolean => ((data[flag >> 3] ?? 0) & (0x80 >> (flag & 7))) !== 0;
  return Array.from({ length: FLAGS_OF_OBJECT }, (_, flag) => flag).filter(isSet);
}

/** The parameters of a meter, 32 bytes. */
function meterOf(bytes: Uint8Array): Omit<ScenarioAsoMeter, "valid"> {
  const block = new Uint8Array(METER_BLOCK.size);
  block.set(bytes.subarray(0, block.length));
  const fields = readFields(new DataView(block.buffer), METER_BLOCK);
  const size = (name: "cbs" | "cir" | "ebs" | "eir"): { mantissa: number; exponent: number } => {
    return { mantissa: fields[`${name}_mantissa`], exponent: fields[`${name}_exponent`] };
  };
  return {
    cir: size("cir"),
    cbs: size("cbs"),
    eir: size("eir"),
    ebs: size("ebs"),
    meter_mode: METER_MODES[fields.meter_mode] as (typeof METER_MODES)[number],
    start_color: START_COLORS[fields.start_color] as (typeof START_COLORS)[number],
    ...(fields.bucket_overflow === 1 ? { bucket_overflow: true } : {}),
    ...(fields.both_buckets_on_green === 1 ? { both_buckets_on_green: true } : {}),
  };
}

function connectionOf(data: Uint8Array): ScenarioConnection {
  const { state, last_index, ...rest } = inCall("importRules", () => connectionFromBytes("in", data.slice()));
  const kind = Object.entries(LAST_INDEXES).find(([, number]) => number === last_index)?.[0] ?? "none";
  return {
    ...rest,
    state: CONNECTION_STATES[state] ?? CONNECTION_STATES[0],
    last_index: kind as keyof typeof LAST_INDEXES,
  };
}

/** `mlx5dv_dr_action_create_flow_meter`. */
export function flowMeter(call: Call, next_table: string): ScenarioFlowMeter {
  return {
    next_table,
    reg_c_index: numberIn(call, "reg_c_index"),
    ...(numberIn(call, "active") === 0 ? { active: false } : {}),
    ...meterOf(bytesIn(call, "flow_meter_parameter")),
  };
}

/** `mlx5dv_dr_action_create_aso`, on an object that holds `data`. */
export function asoAction(call: Call, object: string, data: ScenarioAsoData): ScenarioAsoAction {
  const flags = numberIn(call, "flags");
  const prefix = data.first_hit !== undefined ? "first_hit" : data.flow_meter !== undefined ? "flow_meter" : "ct_";
  const flag = (Object.keys(ASO_FLAGS) as (keyof typeof ASO_FLAGS)[]).find(
    (name) => name.startsWith(prefix) && ASO_FLAGS[name] === flags,
  );
  return {
    object,
    offset: numberIn(call, "offset"),
    return_reg_c: numberIn(call, "return_reg_c"),
    ...(flag === undefined ? {} : { flags: flag }),
  };
}

/** Actions with state that several rules share: the scenario has them once. */
export type StatefulAction = Pick<ScenarioAction, "flow_meter" | "flow_sampler">;
