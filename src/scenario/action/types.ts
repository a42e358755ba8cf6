/** What actions of a scenario document hold, as types. `schema.ts` describes each key; the compiler holds the two equal. */
import type { ScenarioEsp } from "../esp/types.js";
import type { AsoChoice, ScenarioAsoAction, ScenarioFlowMeter, ScenarioFlowSampler } from "../state/types.js";

/** What a rule does, written in its place. */
export type InlineAction = "drop" | "default_miss" | "pop_vlan" | InlineActionObject;

/** Exactly one key, and `priority` where it goes with `table`, `offset` with `count`, `modify_aso` with `action`. */
export interface InlineActionObject extends ActionKeys {
  /** Name of a shared action. */
  action?: string;
  /** Goes with `action`: what it has from this rule on. */
  modify_aso?: AsoChoice;
}

/** An action with a name: exactly one key besides, and `priority` where it goes with `table`, `offset` with `count`. */
export interface ScenarioAction extends ActionKeys {
  name: string;
  drop?: true;
  default_miss?: true;
  pop_vlan?: true;
}

export interface ActionKeys {
  tag?: number;
  /** Name of a counter. */
  count?: string;
  /** Goes with `count`: which counter of a bulk. */
  offset?: number;
  /** Name of a queue. */
  queue?: string;
  /** Name of a TIR. */
  tir?: string;
  /** Name of a table. */
  table?: string;
  /** Goes with `table`: a root table, from this priority on. */
  priority?: number;
  vport?: Vport;
  port?: number;
  array?: ScenarioMember[];
  reformat?: ScenarioReformat;
  modify?: ScenarioChange[];
  push_vlan?: ScenarioVlanTag;
  aso?: ScenarioAsoAction;
  flow_meter?: ScenarioFlowMeter;
  flow_sampler?: ScenarioFlowSampler;
}

/** A function by its number, or the port that the frame came from. */
export type Vport = number | "uplink";

/** A destination of an array: exactly one key besides `reformat`, and `offset` where it goes with `count`. */
export type ScenarioMember = "default_miss" | ScenarioMemberObject;

export interface ScenarioMemberObject {
  default_miss?: true;
  count?: string;
  offset?: number;
  queue?: string;
  tir?: string;
  table?: string;
  vport?: Vport;
  port?: number;
  action?: string;
  /** What is done to this copy alone: in its place, or the name of a shared action. */
  reformat?: ScenarioReformat | string;
}

/** Types of `enum mlx5dv_flow_action_packet_reformat_type`, in its order. */
export const REFORMAT_TYPES = ["l2_tunnel_to_l2", "l2_to_l2_tunnel", "l3_tunnel_to_l2", "l2_to_l3_tunnel"] as const;

export interface ScenarioReformat {
  type: (typeof REFORMAT_TYPES)[number];
  /** Hexadecimal digits. */
  data?: string;
  headers?: ScenarioHeader[];
}

/** A layer of `buildFrame`: a header and its fields. */
export interface ScenarioHeader {
  header: string;
  [field: string]: unknown;
}

/** A change, or its device word as 16 hexadecimal digits. */
export type ScenarioChange = string | ScenarioChangeObject;

/** Exactly one of `set`, `add` and `copy`, which name a field. */
export interface ScenarioChangeObject {
  set?: string;
  /** What `set` sets: all bits, or those of a mask. */
  to?: string | number;
  add?: string;
  by?: number;
  copy?: string;
  /** The field that `copy` writes. */
  into?: string;
  fromBit?: number;
  intoBit?: number;
  bits?: number;
}

export interface ScenarioVlanTag {
  tpid?: "0x8100" | "0x88a8";
  pcp?: number;
  dei?: boolean;
  vid?: number;
}

/** A flow action, which specs of flows name: exactly one of `modify`, `reformat` and `esp`. */
export interface ScenarioFlowAction {
  name: string;
  description?: string;
  modify?: ScenarioChange[];
  reformat?: ScenarioReformat;
  esp?: ScenarioEsp;
}
