/** Device commands of flow tables, groups and entries as bytes. */
import { inCall } from "../../errors.js";
import { checkArray, checkObject } from "../../base/checks.js";
import type { DevxFlowEntry } from "../../model/devx/flowEntry.js";
import type { DevxFlowGroup, DevxFlowTable } from "../../model/devx/flowTable.js";
import {
  COUNTER_ENTRY,
  CREATE_FLOW_GROUP,
  CREATE_FLOW_TABLE,
  DELETE_FLOW_TABLE_ENTRY,
  DESTINATION,
  DESTROY_FLOW_GROUP,
  DESTROY_FLOW_TABLE,
  EXTENDED_DESTINATION,
  FLOW_CONTEXT,
  FLOW_CONTEXT_AT,
  FLOW_TABLE_CONTEXT,
  FLOW_TABLE_CONTEXT_AT,
  MATCH_CRITERIA_AT,
  MATCH_SIZE,
  MATCH_VALUE_AT,
  OUTPUT_24,
  QUERY_FLOW_TABLE,
  SET_FLOW_TABLE_ENTRY,
} from "../../model/devx/layouts.js";
import * as opcodes from "../../model/devx/opcodes.js";
import { CommandBytes, outputFields, type CommandFor } from "./commandBytes.js";

/** Types of flow tables, as the device numbers them. */
export const FS_FT_NIC_RX = opcodes.TABLE_NIC_RX;
export const FS_FT_NIC_TX = opcodes.TABLE_NIC_TX;
export const FS_FT_FDB = opcodes.TABLE_FDB;
export const FS_FT_RDMA_RX = opcodes.TABLE_RDMA_RX;
export const FS_FT_RDMA_TX = opcodes.TABLE_RDMA_TX;
export const FS_FT_RDMA_TRANSPORT_RX = opcodes.TABLE_RDMA_TRANSPORT_RX;
export const FS_FT_RDMA_TRANSPORT_TX = opcodes.TABLE_RDMA_TRANSPORT_TX;

/** `action` of an entry. */
export const MLX5_FLOW_CONTEXT_ACTION_ALLOW = opcodes.ENTRY_ALLOW;
export const MLX5_FLOW_CONTEXT_ACTION_DROP = opcodes.ENTRY_DROP;
export const MLX5_FLOW_CONTEXT_ACTION_FWD_DEST = opcodes.ENTRY_FORWARD;
export const MLX5_FLOW_CONTEXT_ACTION_COUNT = opcodes.ENTRY_COUNT;
export const MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT = opcodes.ENTRY_REFORMAT;
export const MLX5_FLOW_CONTEXT_ACTION_DECAP = opcodes.ENTRY_DECAP;
export const MLX5_FLOW_CONTEXT_ACTION_MOD_HDR = opcodes.ENTRY_MODIFY;
export const MLX5_FLOW_CONTEXT_ACTION_VLAN_POP = opcodes.ENTRY_POP_VLAN;
export const MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH = opcodes.ENTRY_PUSH_VLAN;
export const MLX5_FLOW_CONTEXT_ACTION_VLAN_POP_2 = opcodes.ENTRY_POP_VLAN_2;
export const MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH_2 = opcodes.ENTRY_PUSH_VLAN_2;

/** Types of destinations. */
export const MLX5_FLOW_DESTINATION_TYPE_VPORT = opcodes.DESTINATION_VPORT;
export const MLX5_FLOW_DESTINATION_TYPE_FLOW_TABLE = opcodes.DESTINATION_TABLE;
export const MLX5_FLOW_DESTINATION_TYPE_TIR = opcodes.DESTINATION_TIR;
export const MLX5_FLOW_DESTINATION_TYPE_UPLINK = opcodes.DESTINATION_UPLINK;

/** The context of a flow table. */
export interface FlowTableFields {
  reformat_en?: boolean;
  decap_en?: boolean;
  level?: number;
  /** Entries, as a power of two. */
  log_size?: number;
  /** 0 the default of the type, 1 on in table_miss_id. */
  table_miss_action?: number;
  table_miss_id?: number;
}

/**
 * CREATE_FLOW_TABLE; `numberOutput` reads the number of the table.
 * Opcode 0x930; layout CREATE_FLOW_TABLE, then FLOW_TABLE_CONTEXT.
 *
 * @param table_type FS_FT_*
 */
export function createFlowTableCommand(table_type: number, fields: FlowTableFields = {}): CommandFor<DevxFlowTable> {
  return inCall(
    "createFlowTableCommand",
    () =>
      new CommandBytes(CREATE_FLOW_TABLE.size, opcodes.CREATE_FLOW_TABLE_OPCODE)
        .write(CREATE_FLOW_TABLE, { table_type })
        .write(FLOW_TABLE_CONTEXT, { ...fields }, FLOW_TABLE_CONTEXT_AT).bytes,
  );
}

/**
 * The number of a new flow table, flow group, TIR or RQT in the output of its command.
 * Layout OUTPUT_24.
 */
export function numberOutput(output: Uint8Array): number {
  return inCall("numberOutput", () => outputFields(output, OUTPUT_24).id);
}

/**
 * QUERY_FLOW_TABLE. The output needs FLOW_TABLE_OUTPUT_SIZE bytes; the context is at byte 24.
 * Opcode 0x932; layout QUERY_FLOW_TABLE.
 */
export function queryFlowTableCommand(table_type: number, table_id: number): Uint8Array {
  return inCall(
    "queryFlowTableCommand",
    () =>
      new CommandBytes(QUERY_FLOW_TABLE.size, opcodes.QUERY_FLOW_TABLE_OPCODE).write(QUERY_FLOW_TABLE, {
        table_type,
        table_id,
      }).bytes,
  );
}

/**
 * DESTROY_FLOW_TABLE (0x931); the bytes are as in QUERY_FLOW_TABLE. Status 6 if the table has
 * groups, or something leads to it.
 */
export function destroyFlowTableCommand(table_type: number, table_id: number): Uint8Array {
  return inCall(
    "destroyFlowTableCommand",
    () =>
      new CommandBytes(DESTROY_FLOW_TABLE.size, opcodes.DESTROY_FLOW_TABLE_OPCODE).write(DESTROY_FLOW_TABLE, {
        table_type,
        table_id,
      }).bytes,
  );
}

/** Bytes that the output of QUERY_FLOW_TABLE needs. */
export const FLOW_TABLE_OUTPUT_SIZE = FLOW_TABLE_CONTEXT_AT + FLOW_TABLE_CONTEXT.size;

/** The context of a flow table in the output of QUERY_FLOW_TABLE. */
export function flowTableOutput(output: Uint8Array): Required<FlowTableFields> {
  return inCall("flowTableOutput", () => {
    const context = outputFields(output, FLOW_TABLE_CONTEXT, FLOW_TABLE_CONTEXT_AT);
    const { level, log_size, table_miss_action, table_miss_id } = context;
    const [reformat_en, decap_en] = [context.reformat_en !== 0, context.decap_en !== 0];
    return { reformat_en, decap_en, level, log_size, table_miss_action, table_miss_id };
  });
}

/** A flow group: the mask of the entries at a range of indices of a table. */
export interface FlowGroupFields {
  table_type: number;
  table_id: number;
  start_flow_index: number;
  end_flow_index: number;
  match_criteria_enable?: number;
  /** At most 512 bytes; `matchParameters` with `root` makes them. */
  match_criteria?: Uint8Array;
}

/**
 * CREATE_FLOW_GROUP; `numberOutput` reads the number of the group.
 * Opcode 0x933; layout CREATE_FLOW_GROUP.
 *
 * @throws EINVAL if a value does not fit its bits, or the mask is longer than 512 bytes
 */
export function createFlowGroupCommand(fields: FlowGroupFields): CommandFor<DevxFlowGroup> {
  return inCall("createFlowGroupCommand", () => {
    checkObject("fields", fields);
    const { match_criteria, ...group } = fields;
    return new CommandBytes(CREATE_FLOW_GROUP.size, opcodes.CREATE_FLOW_GROUP_OPCODE)
      .write(CREATE_FLOW_GROUP, group)
      .put("match_criteria", match_criteria ?? new Uint8Array(), MATCH_CRITERIA_AT, MATCH_SIZE).bytes;
  });
}

/**
 * DESTROY_FLOW_GROUP.
 * Opcode 0x934; layout DESTROY_FLOW_GROUP.
 */
export function destroyFlowGroupCommand(table_type: number, table_id: number, group_id: number): Uint8Array {
  return inCall(
    "destroyFlowGroupCommand",
    () =>
      new CommandBytes(DESTROY_FLOW_GROUP.size, opcodes.DESTROY_FLOW_GROUP_OPCODE).write(DESTROY_FLOW_GROUP, {
        table_type,
        table_id,
        group_id,
      }).bytes,
  );
}

/** Where an entry sends frames, by device number. */
export interface EntryDestination {
  destination_type: number;
  destination_id?: number;
  /** For its copy alone. */
  packet_reformat_id?: number;
}

/** An entry of a flow table: its value, and what it does. */
export interface FlowEntryFields {
  table_type: number;
  table_id: number;
  flow_index: number;
  /** Whether destinations can be tables of any level. */
  ignore_flow_level?: boolean;
  group_id?: number;
  /** MLX5_FLOW_CONTEXT_ACTION_ bits. */
  action: number;
  flow_tag?: number;
  /** At most 512 bytes. */
  match_value?: Uint8Array;
  destinations?: readonly EntryDestination[];
  /** Device numbers. */
  flow_counter_ids?: readonly number[];
  modify_header_id?: number;
  packet_reformat_id?: number;
  /** TPID and TCI. */
  push_vlan?: number;
  push_vlan_2?: number;
}

/**
 * SET_FLOW_TABLE_ENTRY: makes an entry.
 * Opcode 0x936; layout SET_FLOW_TABLE_ENTRY, then FLOW_CONTEXT and its destinations and counters.
 *
 * @throws EINVAL if a value does not fit its bits, or the value is longer than 512 bytes
 */
export function setFlowTableEntryCommand(fields: FlowEntryFields): CommandFor<DevxFlowEntry> {
  return inCall("setFlowTableEntryCommand", () => entryCommand(fields).bytes);
}

/**
 * SET_FLOW_TABLE_ENTRY that changes what an entry does: op_mod 1, and all four bits of what is set.
 */
export function modifyFlowTableEntryCommand(fields: FlowEntryFields): Uint8Array {
  return inCall("modifyFlowTableEntryCommand", () => {
    const change = { op_mod: 1, modify_enable_mask: 0xf };
    return entryCommand(fields).write(SET_FLOW_TABLE_ENTRY, change).bytes;
  });
}

/**
 * DELETE_FLOW_TABLE_ENTRY.
 * Opcode 0x938; layout DELETE_FLOW_TABLE_ENTRY.
 */
export function deleteFlowTableEntryCommand(table_type: number, table_id: number, flow_index: number): Uint8Array {
  return inCall(
    "deleteFlowTableEntryCommand",
    () =>
      new CommandBytes(DELETE_FLOW_TABLE_ENTRY.size, opcodes.DELETE_FLOW_TABLE_ENTRY_OPCODE).write(
        DELETE_FLOW_TABLE_ENTRY,
        { table_type, table_id, flow_index },
      ).bytes,
  );
}

function entryCommand(fields: FlowEntryFields): CommandBytes {
  checkObject("fields", fields);
  const { table_type, table_id, flow_index, ignore_flow_level, match_value, ...context } = fields;
  const { destinations = [], flow_counter_ids = [], ...plain } = context;
  checkArray("destinations", destinations);
  checkArray("flow_counter_ids", flow_counter_ids);
  for (const [i, destination] of destinations.entries()) checkObject(`destinations[${i}]`, destination);
  const extended = destinations.some(({ packet_reformat_id }) => packet_reformat_id !== undefined);
  const entrySize = extended ? EXTENDED_DESTINATION.size : DESTINATION.size;
  const size = SET_FLOW_TABLE_ENTRY.size + (destinations.length + flow_counter_ids.length) * entrySize;
  const command = new CommandBytes(size, opcodes.SET_FLOW_TABLE_ENTRY_OPCODE)
    .write(SET_FLOW_TABLE_ENTRY, { table_type, table_id, flow_index, ignore_flow_level })
    .write(FLOW_CONTEXT, { ...plain, extended_destination: extended }, FLOW_CONTEXT_AT)
    .write(
      FLOW_CONTEXT,
      { destination_list_size: destinations.length, flow_counter_list_size: flow_counter_ids.length },
      FLOW_CONTEXT_AT,
    )
    .put("match_value", match_value ?? new Uint8Array(), FLOW_CONTEXT_AT + MATCH_VALUE_AT, MATCH_SIZE);
  const at = (i: number): number => SET_FLOW_TABLE_ENTRY.size + i * entrySize;
  destinations.forEach(({ destination_type, destination_id, packet_reformat_id }, i) => {
    const entry = { type: destination_type, id: destination_id, packet_reformat: packet_reformat_id !== undefined };
    command.write(DESTINATION, entry, at(i));
    if (packet_reformat_id !== undefined) command.write(EXTENDED_DESTINATION, { packet_reformat_id }, at(i));
  });
  flow_counter_ids.forEach((flow_counter_id, i) => {
    command.write(COUNTER_ENTRY, { flow_counter_id }, at(destinations.length + i));
  });
  return command;
}
