/** Device commands of receive queues as bytes: TIRs, RQTs. */
import { inCall } from "../../errors.js";
import { checkArray, checkObject } from "../../base/checks.js";
import { RSS_KEY_SIZE } from "../../abi/state.js";
import {
  CREATE_RQT,
  CREATE_TIR,
  DESTROY_24,
  RQ_NUMBER,
  RQ_NUMBERS_AT,
  TIR_CONTEXT,
  TIR_CONTEXT_AT,
  TIR_KEY_AT,
} from "../../model/devx/layouts.js";
import {
  CREATE_RQT_OPCODE,
  CREATE_TIR_OPCODE,
  DESTROY_RQT_OPCODE,
  DESTROY_TIR_OPCODE,
} from "../../model/devx/opcodes.js";
import type { Rqt } from "../../model/queuePair/rqt.js";
import type { Tir } from "../../model/queuePair/tir.js";
import { CommandBytes, type CommandFor, type FieldValues } from "./commandBytes.js";

export const MLX5_TIRC_DISP_TYPE_DIRECT = 0;
export const MLX5_TIRC_DISP_TYPE_INDIRECT = 1;
export const MLX5_RX_HASH_FN_NONE = 0;
export const MLX5_RX_HASH_FN_INVERTED_XOR8 = 1;
export const MLX5_RX_HASH_FN_TOEPLITZ = 2;
/** Bits of `outer_fields` and `inner_fields`. */
export const MLX5_RX_HASH_FIELD_SELECT_SRC_IP = 1;
export const MLX5_RX_HASH_FIELD_SELECT_DST_IP = 2;
export const MLX5_RX_HASH_FIELD_SELECT_L4_SPORT = 4;
export const MLX5_RX_HASH_FIELD_SELECT_L4_DPORT = 8;
export const MLX5_RX_HASH_FIELD_SELECT_IPSEC_SPI = 16;

/** Fields of a TIR context; `*_l3` is 1 for IPv6, `*_l4` is 1 for UDP. */
export type TirFields = FieldValues<keyof typeof TIR_CONTEXT.fields> & {
  /** At most 40 bytes. */
  rx_hash_toeplitz_key?: Uint8Array | undefined;
};

/**
 * CREATE_TIR; `numberOutput` reads the number of the TIR.
 * Opcode 0x900; layout CREATE_TIR, then TIR_CONTEXT.
 *
 * @throws EINVAL if a value does not fit its bits, or the key is longer than 40 bytes
 */
export function createTirCommand(fields: TirFields): CommandFor<Tir> {
  return inCall("createTirCommand", () => {
    checkObject("fields", fields);
    const { rx_hash_toeplitz_key, ...context } = fields;
    const command = new CommandBytes(CREATE_TIR.size, CREATE_TIR_OPCODE);
    command.write(TIR_CONTEXT, context, TIR_CONTEXT_AT);
    if (rx_hash_toeplitz_key !== undefined) {
      command.put("rx_hash_toeplitz_key", rx_hash_toeplitz_key, TIR_CONTEXT_AT + TIR_KEY_AT, RSS_KEY_SIZE);
    }
    return command.bytes;
  });
}

/**
 * CREATE_RQT; `numberOutput` reads the number of the RQT.
 * Opcode 0x916; layout CREATE_RQT, then RQ_NUMBER of each.
 *
 * @param numbers receive queues: `wq_num` of work queues, `qp_num` of raw packet queue pairs
 */
export function createRqtCommand(numbers: readonly number[]): CommandFor<Rqt> {
  return inCall("createRqtCommand", () => {
    checkArray("numbers", numbers);
    const command = new CommandBytes(RQ_NUMBERS_AT + numbers.length * RQ_NUMBER.size, CREATE_RQT_OPCODE);
    command.write(CREATE_RQT, { rqt_max_size: numbers.length, rqt_actual_size: numbers.length });
    for (const [i, rq_num] of numbers.entries()) {
      command.write(RQ_NUMBER, { rq_num }, RQ_NUMBERS_AT + i * RQ_NUMBER.size);
    }
    return command.bytes;
  });
}

/**
 * DESTROY_TIR.
 * Opcode 0x902; layout DESTROY_24.
 */
export function destroyTirCommand(id: number): Uint8Array {
  return inCall(
    "destroyTirCommand",
    () => new CommandBytes(DESTROY_24.size, DESTROY_TIR_OPCODE).write(DESTROY_24, { id }).bytes,
  );
}

/** DESTROY_RQT (0x918); the bytes are as in DESTROY_TIR. */
export function destroyRqtCommand(id: number): Uint8Array {
  return inCall(
    "destroyRqtCommand",
    () => new CommandBytes(DESTROY_24.size, DESTROY_RQT_OPCODE).write(DESTROY_24, { id }).bytes,
  );
}
