/**
 * Device commands as bytes, and what outputs say, so that no caller computes offsets: counters, general objects, header changes
 * and reformats, queries. Those of flow tables stand in tableCommands.ts. src/model/devx/layouts.ts draws the layouts.
 */
import { inCall } from "../../errors.js";
import { checkBytes, checkObject, unsigned } from "../../base/checks.js";
import type { AsoObject } from "../../model/action/asoObject.js";
import type { CounterValue, FlowCounter } from "../../model/action/counter.js";
import type { FlowMeter } from "../../model/devx/flowMeter.js";
import type { ModifyHeaderContext, PacketReformatContext } from "../../model/devx/headerObjects.js";
import {
  ALLOC_FLOW_COUNTER,
  ALLOC_MODIFY_HEADER,
  ALLOC_PACKET_REFORMAT,
  ASO_BODY,
  ASO_DATA_AT,
  DEALLOC,
  FLOW_METER_BODY,
  FLOW_METER_PARAMETERS,
  GENERAL_OBJECT,
  OUTPUT,
  QUERY_FLOW_COUNTER,
  QUERY_HCA_CAP,
  QUERY_VPORT_CONTEXT,
  REFORMAT_DATA_AT,
  SYNC_STEERING,
} from "../../model/devx/layouts.js";
import * as opcodes from "../../model/devx/opcodes.js";
import { CommandBytes, outputFields, outputView, type CommandFor } from "./commandBytes.js";

/** Types of general objects. */
export const MLX5_OBJ_TYPE_FLOW_METER = opcodes.FLOW_METER_TYPE;
export const MLX5_OBJ_TYPE_FLOW_METER_ASO = opcodes.FLOW_METER_ASO_TYPE;
export const MLX5_OBJ_TYPE_FIRST_HIT_ASO = opcodes.FIRST_HIT_ASO_TYPE;
export const MLX5_OBJ_TYPE_CONN_TRACK_ASO = opcodes.CONN_TRACK_ASO_TYPE;

/**
 * ALLOC_FLOW_COUNTER.
 * Opcode 0x939; layout ALLOC_FLOW_COUNTER.
 *
 * @param logSize makes 2^logSize counters
 * @param bulk 128 << k counters, where bit k is the one that is set; 0 to use `logSize`
 * @throws EINVAL if a value does not fit its byte
 */
export function allocFlowCounterCommand(logSize = 0, bulk = 0): CommandFor<FlowCounter> {
  return inCall("allocFlowCounterCommand", () => {
    const command = new CommandBytes(ALLOC_FLOW_COUNTER.size, opcodes.ALLOC_FLOW_COUNTER_OPCODE);
    const fields = { flow_counter_bulk_log_size: logSize, flow_counter_bulk: bulk };
    return command.write(ALLOC_FLOW_COUNTER, fields).bytes;
  });
}

/**
 * QUERY_FLOW_COUNTER.
 * Opcode 0x93b; layout QUERY_FLOW_COUNTER.
 *
 * @param id device number of the first counter
 * @param count counters to read
 * @param clear sets them to 0 after the query
 */
export function queryFlowCounterCommand(id: number, count = 1, clear = false): Uint8Array {
  return inCall("queryFlowCounterCommand", () => {
    const command = new CommandBytes(QUERY_FLOW_COUNTER.size, opcodes.QUERY_FLOW_COUNTER_OPCODE);
    return command.write(QUERY_FLOW_COUNTER, { clear, num_of_counters: count, flow_counter_id: id }).bytes;
  });
}

/** Bytes that the output of QUERY_FLOW_COUNTER needs for `count` counters. */
export function flowCounterOutputSize(count = 1): number {
  return inCall("flowCounterOutputSize", () => {
    unsigned("count", count, 30);
    return OUTPUT.size + count * 16;
  });
}

/**
 * The counters in the output of QUERY_FLOW_COUNTER.
 *
 *     | status 1 | 0 3 | syndrome 4 | 0 8 |, then of each | packets 8 | octets 8 |
 */
export function flowCounterOutput(output: Uint8Array): CounterValue[] {
  return inCall("flowCounterOutput", () => {
    const view = outputView(output, OUTPUT.size);
    const values: CounterValue[] = [];
    for (let at = OUTPUT.size; at + 16 <= output.length; at += 16) {
      values.push({ packets: view.getBigUint64(at), bytes: view.getBigUint64(at + 8) });
    }
    return values;
  });
}

/**
 * DEALLOC_FLOW_COUNTER of a counter, or of a bulk by the number of its first.
 * Opcode 0x93a; layout DEALLOC.
 */
export function deallocFlowCounterCommand(id: number): Uint8Array {
  return inCall("deallocFlowCounterCommand", () => deallocCommand(opcodes.DEALLOC_FLOW_COUNTER_OPCODE, id));
}

function deallocCommand(opcode: number, id: number): Uint8Array {
  return new CommandBytes(DEALLOC.size, opcode).write(DEALLOC, { id }).bytes;
}

/**
 * `status` (0 is success), `syndrome` and the number of the new object in the output of a command.
 */
export function commandOutput(output: Uint8Array): { status: number; syndrome: number; id: number } {
  return inCall("commandOutput", () => {
    const { status, syndrome, id } = outputFields(output, OUTPUT);
    return { status, syndrome, id };
  });
}

/** A flow meter object. */
export interface FlowMeterFields {
  active?: boolean;
  /** The register C that gets the colour. */
  return_reg_id?: number;
  /** A device number, and of which type its table is. */
  destination_table_id?: number;
  table_type?: number;
  /** 32 bytes as mlx5dv_dr_action_create_flow_meter takes them. */
  parameters?: Uint8Array;
}

/**
 * CREATE_GENERAL_OBJECT of a flow meter.
 * Opcode 0xa00; layout GENERAL_OBJECT, then FLOW_METER_BODY.
 *
 * @throws EINVAL if a value does not fit its bits
 */
export function createFlowMeterCommand(fields: FlowMeterFields): CommandFor<FlowMeter> {
  return inCall(
    "createFlowMeterCommand",
    () => flowMeterCommand(opcodes.CREATE_GENERAL_OBJECT_OPCODE, 0, fields).bytes,
  );
}

/**
 * MODIFY_GENERAL_OBJECT of a flow meter; the bytes are as in CREATE.
 * @param id device number
 * @param select 1 active, 2 CBS, 4 CIR, 8 EBS, 16 EIR
 */
export function modifyFlowMeterCommand(id: number, select: number, fields: FlowMeterFields): Uint8Array {
  return inCall("modifyFlowMeterCommand", () => {
    unsigned("select", select, 32);
    const { bytes } = flowMeterCommand(opcodes.MODIFY_GENERAL_OBJECT_OPCODE, id, fields);
    new DataView(bytes.buffer).setBigUint64(GENERAL_OBJECT.size, BigInt(select));
    return bytes;
  });
}

function flowMeterCommand(opcode: number, id: number, fields: FlowMeterFields): CommandBytes {
  const at = GENERAL_OBJECT.size;
  checkObject("fields", fields);
  const { parameters, ...body } = fields;
  return new CommandBytes(at + FLOW_METER_BODY.size, opcode)
    .write(GENERAL_OBJECT, { obj_type: opcodes.FLOW_METER_TYPE, obj_id: id })
    .write(FLOW_METER_BODY, body, at)
    .put("parameters", parameters ?? new Uint8Array(), at + FLOW_METER_PARAMETERS, 32);
}

/** A bulk of ASO objects. */
export interface AsoFields {
  /** How many, as a power of two. */
  log_obj_range?: number;
  access_pd?: number;
  /** At most 64 bytes that each object begins with. */
  data?: Uint8Array;
}

/**
 * CREATE_GENERAL_OBJECT of a bulk of ASO objects.
 * Opcode 0xa00; layout GENERAL_OBJECT, then ASO_BODY.
 *
 * @param type MLX5_OBJ_TYPE_FLOW_METER_ASO, _FIRST_HIT_ASO or _CONN_TRACK_ASO
 */
export function createAsoCommand(type: number, fields: AsoFields = {}): CommandFor<AsoObject> {
  return inCall("createAsoCommand", () => asoCommand(opcodes.CREATE_GENERAL_OBJECT_OPCODE, type, 0, fields));
}

/**
 * MODIFY_GENERAL_OBJECT of one ASO object; the bytes are as in CREATE.
 * @param id device number
 * @param data at most 64 bytes
 */
export function modifyAsoCommand(type: number, id: number, data: Uint8Array): Uint8Array {
  return inCall("modifyAsoCommand", () => asoCommand(opcodes.MODIFY_GENERAL_OBJECT_OPCODE, type, id, { data }));
}

function asoCommand(opcode: number, obj_type: number, obj_id: number, fields: AsoFields): Uint8Array {
  const at = GENERAL_OBJECT.size;
  checkObject("fields", fields);
  const { log_obj_range, access_pd, data } = fields;
  return new CommandBytes(at + ASO_BODY.size, opcode)
    .write(GENERAL_OBJECT, { obj_type, obj_id, log_obj_range })
    .write(ASO_BODY, { access_pd }, at)
    .put("data", data ?? new Uint8Array(), at + ASO_DATA_AT, 64).bytes;
}

/** The 64 bytes of an ASO object in the output of QUERY_GENERAL_OBJECT. */
export function asoOutput(output: Uint8Array): Uint8Array {
  return inCall("asoOutput", () => {
    outputView(output, GENERAL_OBJECT_OUTPUT_SIZE);
    return output.slice(OUTPUT.size + ASO_DATA_AT, OUTPUT.size + ASO_BODY.size);
  });
}

/**
 * QUERY_GENERAL_OBJECT. The output needs GENERAL_OBJECT_OUTPUT_SIZE bytes.
 * Opcode 0xa02; layout GENERAL_OBJECT.
 */
export function queryGeneralObjectCommand(type: number, id: number): Uint8Array {
  return inCall("queryGeneralObjectCommand", () => {
    const command = new CommandBytes(GENERAL_OBJECT.size, opcodes.QUERY_GENERAL_OBJECT_OPCODE);
    return command.write(GENERAL_OBJECT, { obj_type: type, obj_id: id }).bytes;
  });
}

/**
 * DESTROY_GENERAL_OBJECT (0xa03); the bytes are as in QUERY_GENERAL_OBJECT. A bulk has the number
 * of its first object.
 */
export function destroyGeneralObjectCommand(type: number, id: number): Uint8Array {
  return inCall("destroyGeneralObjectCommand", () => {
    const command = new CommandBytes(GENERAL_OBJECT.size, opcodes.DESTROY_GENERAL_OBJECT_OPCODE);
    return command.write(GENERAL_OBJECT, { obj_type: type, obj_id: id }).bytes;
  });
}

/** Bytes that the output of QUERY_GENERAL_OBJECT needs. */
export const GENERAL_OBJECT_OUTPUT_SIZE = OUTPUT.size + ASO_BODY.size;

/** The flow meter in the output of QUERY_GENERAL_OBJECT. */
export function flowMeterOutput(output: Uint8Array): Required<FlowMeterFields> {
  return inCall("flowMeterOutput", () => {
    const { active, ...rest } = outputFields(output, FLOW_METER_BODY, OUTPUT.size);
    const from = OUTPUT.size + FLOW_METER_PARAMETERS;
    return { active: active !== 0, ...rest, parameters: output.slice(from, from + 32) };
  });
}

/**
 * ALLOC_MODIFY_HEADER_CONTEXT.
 * Opcode 0x940; layout ALLOC_MODIFY_HEADER.
 *
 * @param table_type FS_FT_NIC_RX, FS_FT_NIC_TX or FS_FT_FDB
 * @param actions words of 8 bytes (`modifyActions`)
 */
export function allocModifyHeaderCommand(table_type: number, actions: Uint8Array): CommandFor<ModifyHeaderContext> {
  return inCall("allocModifyHeaderCommand", () => {
    checkBytes("actions", actions);
    const { size } = ALLOC_MODIFY_HEADER;
    return new CommandBytes(size + actions.length, opcodes.ALLOC_MODIFY_HEADER_OPCODE)
      .write(ALLOC_MODIFY_HEADER, { table_type, num_of_actions: actions.length / 8 })
      .put("actions", actions, size, actions.length).bytes;
  });
}

/** DEALLOC_MODIFY_HEADER_CONTEXT (0x941); the bytes are as in DEALLOC_FLOW_COUNTER. */
export function deallocModifyHeaderCommand(id: number): Uint8Array {
  return inCall("deallocModifyHeaderCommand", () => deallocCommand(opcodes.DEALLOC_MODIFY_HEADER_OPCODE, id));
}

/** Reformat types of the device, which are not those of the API. */
export const MLX5_REFORMAT_TYPE_L2_TO_L2_TUNNEL = 2;
export const MLX5_REFORMAT_TYPE_L3_TUNNEL_TO_L2 = 3;
export const MLX5_REFORMAT_TYPE_L2_TO_L3_TUNNEL = 4;

/**
 * ALLOC_PACKET_REFORMAT_CONTEXT.
 * Opcode 0x93d; layout ALLOC_PACKET_REFORMAT.
 *
 * @param reformat_type MLX5_REFORMAT_TYPE_*, which are not the numbers of the API
 * @param data the headers to put in front
 */
export function allocPacketReformatCommand(reformat_type: number, data: Uint8Array): CommandFor<PacketReformatContext> {
  return inCall("allocPacketReformatCommand", () => {
    checkBytes("data", data);
    const size = Math.max(ALLOC_PACKET_REFORMAT.size, (REFORMAT_DATA_AT + data.length + 3) & ~3);
    return new CommandBytes(size, opcodes.ALLOC_PACKET_REFORMAT_OPCODE)
      .write(ALLOC_PACKET_REFORMAT, { reformat_type, reformat_data_size: data.length })
      .put("data", data, REFORMAT_DATA_AT, data.length).bytes;
  });
}

/** DEALLOC_PACKET_REFORMAT_CONTEXT (0x93e); the bytes are as in DEALLOC_FLOW_COUNTER. */
export function deallocPacketReformatCommand(id: number): Uint8Array {
  return inCall("deallocPacketReformatCommand", () => deallocCommand(opcodes.DEALLOC_PACKET_REFORMAT_OPCODE, id));
}

/**
 * SYNC_STEERING.
 * Opcode 0xb00; layout SYNC_STEERING.
 */
export function syncSteeringCommand(): Uint8Array {
  return inCall("syncSteeringCommand", () => new CommandBytes(SYNC_STEERING.size, opcodes.SYNC_STEERING_OPCODE).bytes);
}

/** Groups of capabilities. */
export const MLX5_CAP_GENERAL = 0x00;
export const MLX5_CAP_NIC_FLOW_TABLE = 0x07;
export const MLX5_CAP_ESW_FLOW_TABLE = 0x08;
export const MLX5_CAP_QOS = 0x0c;
export const MLX5_CAP_GENERAL_2 = 0x20;
export const MLX5_CAP_ADV_RDMA = 0x28;

/**
 * QUERY_HCA_CAP. The output needs 16 + 4096 bytes.
 * Opcode 0x100; layout QUERY_HCA_CAP.
 *
 * @param group MLX5_CAP_*
 * @param current current capabilities, or the maximum
 */
export function queryHcaCapCommand(group: number, current = true): Uint8Array {
  return inCall("queryHcaCapCommand", () => {
    const op_mod = unsigned("group", group, 15) * 2 + (current ? 1 : 0);
    return new CommandBytes(QUERY_HCA_CAP.size, opcodes.QUERY_HCA_CAP_OPCODE).write(QUERY_HCA_CAP, { op_mod }).bytes;
  });
}

/**
 * QUERY_ESW_VPORT_CONTEXT. The output needs 16 + 256 bytes.
 * Opcode 0x752; layout QUERY_VPORT_CONTEXT.
 *
 * @param vport another vport than that of the context
 */
export function queryEswVportContextCommand(vport?: number): Uint8Array {
  return inCall("queryEswVportContextCommand", () => vportCommand(opcodes.QUERY_ESW_VPORT_CONTEXT_OPCODE, vport));
}

/**
 * QUERY_HCA_VPORT_CONTEXT (0x762); the bytes are as in QUERY_ESW_VPORT_CONTEXT. The output needs 16
 * + 512 bytes.
 * @param vport another vport than that of the context
 */
export function queryHcaVportContextCommand(vport?: number): Uint8Array {
  return inCall("queryHcaVportContextCommand", () => vportCommand(opcodes.QUERY_HCA_VPORT_CONTEXT_OPCODE, vport));
}

function vportCommand(opcode: number, vport: number | undefined): Uint8Array {
  const fields = { other_vport: vport !== undefined, vport_number: vport ?? 0 };
  return new CommandBytes(QUERY_VPORT_CONTEXT.size, opcode).write(QUERY_VPORT_CONTEXT, fields).bytes;
}
