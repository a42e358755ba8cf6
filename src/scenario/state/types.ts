/** What a document holds of what direct rules remember, as types. `schema.ts` describes each key. */
import type { DomainType } from "../../model/table/domain.js";
import type { ConnectionShared, ConnectionSide } from "../../model/action/connection.js";
import type { ScenarioMemberObject } from "../action/types.js";

export const COLOURS = ["red", "yellow", "green"] as const;
export const START_COLORS = [...COLOURS, "undefined"] as const;
/** In the order of the device's numbers. */
export const METER_MODES = ["ip_len", "l2_len", "l2_ipg_len", "pkt"] as const;

/** A number that a device holds in eight bits and a power of two; a plain number is the nearest that there is. */
export type MeterNumber = number | { mantissa: number; exponent: number };

/** Parameters of a meter that can be modified. */
export interface ScenarioMeterRates {
  /** Bytes a second, or packets. */
  cir?: MeterNumber;
  /** Bytes, or packets. */
  cbs?: MeterNumber;
  eir?: MeterNumber;
  ebs?: MeterNumber;
}

/** Parameters of a meter. */
export interface ScenarioMeter extends ScenarioMeterRates {
  meter_mode?: (typeof METER_MODES)[number];
  start_color?: (typeof START_COLORS)[number];
  bucket_overflow?: boolean;
  both_buckets_on_green?: boolean;
}

export interface ScenarioAsoMeter extends ScenarioMeter {
  valid?: boolean;
}

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

/** A connection; what is left out is 0. */
export interface ScenarioConnection extends Partial<Omit<ConnectionShared, "state" | "last_index">> {
  state?: (typeof CONNECTION_STATES)[number];
  last_index?: keyof typeof LAST_INDEXES;
  original?: Partial<ConnectionSide>;
  reply?: Partial<ConnectionSide>;
}

/** What each object of a bulk begins with, or is set to: exactly one key. */
export interface AsoData {
  /** Flags that are set. */
  first_hit?: number[];
  /** Both meters of the object. */
  flow_meter?: ScenarioAsoMeter;
  conn_track?: ScenarioConnection;
}

/** A bulk of ASO objects. */
export interface ScenarioAsoObject extends AsoData {
  name: string;
  description?: string;
  function?: number;
  log_obj_range?: number;
}

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

export interface AsoChoice {
  offset?: number;
  flags?: keyof typeof ASO_FLAGS;
  return_reg_c: number;
}

/** mlx5dv_dr_action_create_aso */
export interface ScenarioAsoAction extends AsoChoice {
  /** Name of an ASO object. */
  object: string;
  /** The domain that it is made in, where that is not the rule's: the object is linked to the rule's. */
  peer_dmn?: { domain: DomainType; function?: number };
}

/** mlx5dv_dr_action_create_flow_meter */
export interface ScenarioFlowMeter extends ScenarioMeter {
  /** Name of a table. */
  next_table: string;
  reg_c_index: number;
  active?: boolean;
}

/** mlx5dv_dr_action_create_flow_sampler */
export interface ScenarioFlowSampler {
  sample_ratio: number;
  /** Name of a table. */
  default_next_table: string;
  sample_actions: ScenarioSampleAction[];
  /** What every frame does behind it: a SET of register C0. */
  action?: { set: string; to: string | number };
}

/** What is done with a copy: exactly one key, and `offset` where it goes with `count`. */
export type ScenarioSampleAction = "default_miss" | ScenarioSampleActionObject;

export interface ScenarioSampleActionObject extends Omit<ScenarioMemberObject, "table" | "reformat"> {
  tag?: number;
}

/** What happens before a frame: exactly one of the `modify_` keys. */
export interface ScenarioStep extends ScenarioMeterRates, AsoData {
  /** Name of a shared flow meter action. */
  modify_flow_meter?: string;
  active?: boolean;
  /** Name of ASO objects, and which of the bulk. */
  modify_aso_object?: string;
  index?: number;
}

/** What ASO objects hold at the end: exactly one key. */
export interface ExpectedAso {
  /** The flags that are set, all of them, counted over the bulk. */
  first_hit?: number[];
  /** By meter, counted over the bulk; null for one that is not compared. */
  flow_meter?: (ExpectedMeter | null)[];
  /** By connection; null for one that is not compared. */
  conn_track?: (ScenarioConnection | null)[];
}

/** Units in the buckets. */
export interface ExpectedMeter {
  c_tokens?: number;
  e_tokens?: number;
}
