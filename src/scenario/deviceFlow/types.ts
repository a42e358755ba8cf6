/** What a document holds of flows in device bytes and of flow tables, as types. `schema.ts` describes each key. */
import type { DomainType } from "../../model/table/domain.js";
import type { ScenarioChange, ScenarioReformat, ScenarioVlanTag, Vport } from "../action/types.js";

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
export type FtType = (typeof FT_TYPES)[number];

/** mlx5dv_create_flow, with a matcher of its own. */
export interface ScenarioDeviceFlow {
  name: string;
  description?: string;
  function?: number;
  ft_type?: FtType;
  /** Of RDMA transport tables. */
  ib_port?: number;
  priority?: number;
  match?: Record<string, string | number>;
  actions?: DeviceFlowAction[];
}

/** `struct mlx5dv_flow_action_attr` */
export type DeviceFlowAction = "drop" | "default_miss" | DeviceFlowActionObject;

/** Exactly one key, and `offset` where it goes with `count`. */
export interface DeviceFlowActionObject {
  tag?: number;
  /** Name of a counter of the device. */
  count?: string;
  offset?: number;
  /** Name of a flow counter of the verbs. */
  ibv_counter?: string;
  queue?: string;
  tir?: string;
  /** Name of a flow table. */
  table?: string;
  /** Name of a flow action. */
  action?: string;
}

/** mlx5dv_create_steering_anchor */
export interface ScenarioSteeringAnchor {
  name: string;
  description?: string;
  function?: number;
  ft_type?: FtType;
  priority?: number;
}

/** CREATE_FLOW_TABLE, with its groups. */
export interface ScenarioFlowTable {
  name: string;
  description?: string;
  function?: number;
  table_type?: DomainType;
  level?: number;
  log_size?: number;
  reformat_en?: boolean;
  decap_en?: boolean;
  /** Name of a flow table further up in the list. */
  table_miss?: string;
  groups: ScenarioFlowGroup[];
}

/** CREATE_FLOW_GROUP */
export interface ScenarioFlowGroup {
  start_flow_index: number;
  end_flow_index: number;
  /** Field name to "full", "/24" or mask text. */
  mask?: Record<string, string | number>;
}

/** SET_FLOW_TABLE_ENTRY */
export interface ScenarioFlowEntry {
  name: string;
  description?: string;
  table: string;
  flow_index: number;
  match?: Record<string, string | number>;
  ignore_flow_level?: boolean;
  actions: FlowEntryAction[];
}

export type FlowEntryAction = "allow" | "drop" | "decap" | "pop_vlan" | FlowEntryActionObject;

/** Exactly one key, `offset` where it goes with `count`, and `packet_reformat` beside a destination. */
export interface FlowEntryActionObject {
  tag?: number;
  count?: string;
  offset?: number;
  modify?: ScenarioChange[];
  reformat?: ScenarioReformat;
  push_vlan?: ScenarioVlanTag;
  tir?: string;
  /** Name of a flow table. */
  table?: string;
  /** Name of a steering anchor. */
  anchor?: string;
  vport?: Vport;
  /** Of the copy that goes there. */
  packet_reformat?: ScenarioReformat;
}
