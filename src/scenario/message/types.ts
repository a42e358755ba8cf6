/** What a document holds of messages between connected queue pairs, as types. `schema.ts` describes each key. */

/** IBV_WC_ is left out. */
export const WC_STATUSES = {
  success: 0,
  loc_len_err: 1,
  wr_flush_err: 5,
  rem_inv_req_err: 9,
  rem_access_err: 10,
  rem_op_err: 11,
  retry_exc_err: 12,
  rnr_retry_exc_err: 13,
} as const;
export type WcStatus = keyof typeof WC_STATUSES;

/** A message: exactly one of `hex` and `base64`. */
export interface ScenarioMessage {
  name?: string;
  description?: string;
  /** Name of a queue of type rc or uc, which sends it to its peer. */
  queue: string;
  hex?: string;
  base64?: string;
  /** With it, the message is IBV_WR_SEND_WITH_IMM. */
  imm_data?: number;
}

/** What is expected of a message. */
export interface ExpectedMessage {
  /** Number from 1, or name. */
  message: number | string;
  /** Of the completion of the sender. */
  status?: WcStatus;
  /** The completion of the peer; null for none. */
  received?: ExpectedReceive | null;
}

export interface ExpectedReceive {
  status?: WcStatus;
  /** The bytes that arrived, as hexadecimal digits. */
  hex?: string;
  /** Null where none came. */
  imm_data?: number | null;
}
