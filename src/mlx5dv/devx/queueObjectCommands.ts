/** Device commands of queues that verbs made, as bytes, and what their outputs say. */
import { inCall } from "../../errors.js";
import { checkArray, checkObject, unsigned } from "../../base/checks.js";
import { RQ_NUMBER, RQ_NUMBERS_AT, readFields, type Layout } from "../../model/devx/layouts.js";
import * as opcodes from "../../model/devx/opcodes.js";
import {
  CQ_CONTEXT,
  CQ_CONTEXT_AT,
  MODIFY_CQ,
  MODIFY_QP,
  MODIFY_RMP,
  MODIFY_RQ,
  MODIFY_RQT,
  NUMBERED,
  PATH,
  PATH_AT,
  PATH_GID_AT,
  PATH_MAC_AT,
  QP_CONTEXT,
  QP_CONTEXT_AT,
  RMP_CONTEXT,
  RMP_CONTEXT_AT,
  RQ_CONTEXT,
  RQ_CONTEXT_AT,
} from "../../model/devx/queue/layouts.js";
import { CommandBytes, outputFields, outputView, type FieldValues } from "./commandBytes.js";

/** Commands that change the state of a queue pair, or attributes in a state. */
export const MLX5_CMD_OP_RST2INIT_QP = opcodes.RST2INIT_QP_OPCODE;
export const MLX5_CMD_OP_INIT2RTR_QP = opcodes.INIT2RTR_QP_OPCODE;
export const MLX5_CMD_OP_RTR2RTS_QP = opcodes.RTR2RTS_QP_OPCODE;
export const MLX5_CMD_OP_RTS2RTS_QP = opcodes.RTS2RTS_QP_OPCODE;
export const MLX5_CMD_OP_2ERR_QP = opcodes.QP_2ERR_OPCODE;
export const MLX5_CMD_OP_2RST_QP = opcodes.QP_2RST_OPCODE;
export const MLX5_CMD_OP_INIT2INIT_QP = opcodes.INIT2INIT_QP_OPCODE;

/** States of a receive queue. */
export const MLX5_RQC_STATE_RST = 0;
export const MLX5_RQC_STATE_RDY = 1;
export const MLX5_RQC_STATE_ERR = 3;

const GID_SIZE = 16;
const MAC_SIZE = 6;

/** Fields of an address path. */
export type PathFields = FieldValues<keyof typeof PATH.fields> & {
  /** The GID of the peer: 16 bytes. */
  rgid?: Uint8Array | undefined;
  /** The MAC of the peer: 6 bytes. */
  rmac?: Uint8Array | undefined;
};

/** Fields of the context of a queue pair. */
export type QpFields = FieldValues<keyof typeof QP_CONTEXT.fields> & {
  /** Bits of the fields that a command may change besides those that it always does. */
  opt_param_mask?: number | undefined;
  primary_address_path?: PathFields | undefined;
};

/** The context of a queue pair, as QUERY_QP reports it. */
export type QpContext = Record<keyof typeof QP_CONTEXT.fields, number> & {
  primary_address_path: Record<keyof typeof PATH.fields, number> & { rgid: Uint8Array; rmac: Uint8Array };
};

/**
 * QUERY_QP; `qpOutput` reads the output of 256 bytes.
 * Opcode 0x50b; layout NUMBERED.
 */
export function queryQpCommand(qpn: number): Uint8Array {
  return inCall("queryQpCommand", () => numbered(NUMBERED, opcodes.QUERY_QP_OPCODE, qpn).bytes);
}

/** What QUERY_QP reports. @throws EINVAL if there are less than 256 bytes */
export function qpOutput(output: Uint8Array): QpContext {
  return inCall("qpOutput", () => {
    const at = QP_CONTEXT_AT + PATH_AT;
    const fields = outputFields(output, QP_CONTEXT, QP_CONTEXT_AT);
    const bytes = (place: number, size: number): Uint8Array => output.slice(at + place, at + place + size);
    const path = outputFields(output, PATH, at);
    const addresses = { rgid: bytes(PATH_GID_AT, GID_SIZE), rmac: bytes(PATH_MAC_AT, MAC_SIZE) };
    return { ...fields, primary_address_path: { ...path, ...addresses } };
  });
}

/**
 * RST2INIT_QP and the others.
 * Layout MODIFY_QP, with QP_CONTEXT and PATH.
 *
 * @param opcode MLX5_CMD_OP_..._QP
 * @throws EINVAL if a value does not fit its bits
 */
export function modifyQpCommand(opcode: number, qpn: number, fields: QpFields = {}): Uint8Array {
  return inCall("modifyQpCommand", () => {
    checkObject("fields", fields);
    const { opt_param_mask = 0, primary_address_path = {}, ...context } = fields;
    checkObject("primary_address_path", primary_address_path);
    const { rgid, rmac, ...path } = primary_address_path;
    const at = QP_CONTEXT_AT + PATH_AT;
    const command = numbered(MODIFY_QP, unsigned("opcode", opcode, 16), qpn).write(MODIFY_QP, {
      opt_param_mask,
    });
    command.write(QP_CONTEXT, context, QP_CONTEXT_AT).write(PATH, path, at);
    if (rgid !== undefined) command.put("rgid", rgid, at + PATH_GID_AT, GID_SIZE);
    if (rmac !== undefined) command.put("rmac", rmac, at + PATH_MAC_AT, MAC_SIZE);
    return command.bytes;
  });
}

/**
 * QUERY_CQ; `cqOutput` reads the output of 80 bytes.
 * Opcode 0x402; layout NUMBERED.
 */
export function queryCqCommand(cqn: number): Uint8Array {
  return inCall("queryCqCommand", () => numbered(NUMBERED, opcodes.QUERY_CQ_OPCODE, cqn).bytes);
}

/** What QUERY_CQ reports. @throws EINVAL if there are less than 80 bytes */
export function cqOutput(output: Uint8Array): Record<keyof typeof CQ_CONTEXT.fields, number> {
  return inCall("cqOutput", () => outputFields(output, CQ_CONTEXT, CQ_CONTEXT_AT));
}

/**
 * MODIFY_CQ.
 * Opcode 0x403; layout MODIFY_CQ, with CQ_CONTEXT.
 *
 * @param modify_field_select bits of the fields that change
 */
export function modifyCqCommand(
  cqn: number,
  modify_field_select: number,
  fields: FieldValues<keyof typeof CQ_CONTEXT.fields> = {},
): Uint8Array {
  return inCall("modifyCqCommand", () => {
    const command = numbered(MODIFY_CQ, opcodes.MODIFY_CQ_OPCODE, cqn);
    return command.write(MODIFY_CQ, { modify_field_select }).write(CQ_CONTEXT, fields, CQ_CONTEXT_AT).bytes;
  });
}

/**
 * QUERY_RQ; `rqOutput` reads the output of 272 bytes.
 * Opcode 0x90b; layout NUMBERED.
 *
 * @param rqn `wq_num` of a work queue, `qp_num` of a raw packet queue pair
 */
export function queryRqCommand(rqn: number): Uint8Array {
  return inCall("queryRqCommand", () => numbered(NUMBERED, opcodes.QUERY_RQ_OPCODE, rqn).bytes);
}

/** What QUERY_RQ reports. @throws EINVAL if there are less than 272 bytes */
export function rqOutput(output: Uint8Array): Record<keyof typeof RQ_CONTEXT.fields, number> {
  return inCall("rqOutput", () => outputFields(output, RQ_CONTEXT, RQ_CONTEXT_AT));
}

/**
 * MODIFY_RQ.
 * Opcode 0x909; layout MODIFY_RQ, with RQ_CONTEXT.
 *
 * @param rq_state the state that the queue is in
 * @param fields `state` is the one that it gets
 */
export function modifyRqCommand(
  rqn: number,
  rq_state: number,
  fields: FieldValues<keyof typeof RQ_CONTEXT.fields>,
): Uint8Array {
  return inCall("modifyRqCommand", () => {
    const command = numbered(MODIFY_RQ, opcodes.MODIFY_RQ_OPCODE, rqn);
    return command.write(MODIFY_RQ, { rq_state }).write(RQ_CONTEXT, fields, RQ_CONTEXT_AT).bytes;
  });
}

/**
 * QUERY_RMP; `rmpOutput` reads the output of 272 bytes.
 * Opcode 0x90f; layout NUMBERED.
 *
 * @param rmpn `srqn` of a shared receive queue
 */
export function queryRmpCommand(rmpn: number): Uint8Array {
  return inCall("queryRmpCommand", () => numbered(NUMBERED, opcodes.QUERY_RMP_OPCODE, rmpn).bytes);
}

/** What QUERY_RMP reports. @throws EINVAL if there are less than 272 bytes */
export function rmpOutput(output: Uint8Array): Record<keyof typeof RMP_CONTEXT.fields, number> {
  return inCall("rmpOutput", () => outputFields(output, RMP_CONTEXT, RMP_CONTEXT_AT));
}

/**
 * MODIFY_RMP: the limit of a shared receive queue, which is ready.
 * Opcode 0x90d; layout MODIFY_RMP, with RMP_CONTEXT.
 *
 * @param lwm the limit, 16 bits
 */
export function modifyRmpCommand(rmpn: number, lwm: number): Uint8Array {
  return inCall("modifyRmpCommand", () => {
    const state = MLX5_RQC_STATE_RDY;
    const command = numbered(MODIFY_RMP, opcodes.MODIFY_RMP_OPCODE, rmpn);
    command.write(MODIFY_RMP, { rmp_state: state, bitmask_low: 1 });
    return command.write(RMP_CONTEXT, { state, lwm }, RMP_CONTEXT_AT).bytes;
  });
}

/**
 * QUERY_RQT; `rqtOutput` reads the output of 272 bytes and 4 a queue.
 * Opcode 0x919; layout NUMBERED.
 *
 * @param rqtn the number of an RQT, or `ind_tbl_num` of an indirection table
 */
export function queryRqtCommand(rqtn: number): Uint8Array {
  return inCall("queryRqtCommand", () => numbered(NUMBERED, opcodes.QUERY_RQT_OPCODE, rqtn).bytes);
}

/** The numbers of the receive queues that QUERY_RQT reports. @throws EINVAL if the bytes are too short */
export function rqtOutput(output: Uint8Array): number[] {
  return inCall("rqtOutput", () => {
    const { rqt_actual_size: size } = outputFields(output, MODIFY_RQT);
    const view = outputView(output, RQ_NUMBERS_AT + size * RQ_NUMBER.size);
    return Array.from({ length: size }, (_, i) => {
      return readFields(view, RQ_NUMBER, RQ_NUMBERS_AT + i * RQ_NUMBER.size).rq_num;
    });
  });
}

/**
 * MODIFY_RQT: other receive queues in the same number of places.
 * Opcode 0x917; layout MODIFY_RQT, then RQ_NUMBER of each.
 */
export function modifyRqtCommand(rqtn: number, numbers: readonly number[]): Uint8Array {
  return inCall("modifyRqtCommand", () => {
    checkArray("numbers", numbers);
    const size = RQ_NUMBERS_AT + numbers.length * RQ_NUMBER.size;
    const command = numbered({ ...MODIFY_RQT, size }, opcodes.MODIFY_RQT_OPCODE, rqtn);
    command.write(MODIFY_RQT, { bitmask_low: 1, rqt_max_size: numbers.length, rqt_actual_size: numbers.length });
    for (const [i, rq_num] of numbers.entries()) {
      command.write(RQ_NUMBER, { rq_num }, RQ_NUMBERS_AT + i * RQ_NUMBER.size);
    }
    return command.bytes;
  });
}

function numbered({ size }: Layout, opcode: number, id: number): CommandBytes {
  return new CommandBytes(size, opcode).write(NUMBERED, { id });
}
