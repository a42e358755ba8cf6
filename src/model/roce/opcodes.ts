/**
 * Opcodes, syndromes and sequence numbers of RoCE packets (InfiniBand architecture 1.4, tables 35
 * to 48).
 */

/** The upper three bits of an opcode: the queue pair type of the destination. */
export const SERVICE = 0xe0;
export const SERVICE_RC = 0x00;
export const SERVICE_UC = 0x20;
export const SERVICE_UD = 0x60;

/** The lower five bits: the operation. */
export const SEND_FIRST = 0;
export const SEND_MIDDLE = 1;
export const SEND_LAST = 2;
export const SEND_LAST_WITH_IMMEDIATE = 3;
export const SEND_ONLY = 4;
export const SEND_ONLY_WITH_IMMEDIATE = 5;
/** RDMA WRITE has the operations of SEND, in the same order. */
export const WRITE_FIRST = 6;
export const WRITE_ONLY_WITH_IMMEDIATE = 0xb;
export const READ_REQUEST = 0xc;
export const READ_RESPONSE_FIRST = 0xd;
export const READ_RESPONSE_MIDDLE = 0xe;
export const READ_RESPONSE_LAST = 0xf;
export const READ_RESPONSE_ONLY = 0x10;
export const ACKNOWLEDGE = 0x11;
export const ATOMIC_ACKNOWLEDGE = 0x12;
export const COMPARE_SWAP = 0x13;
export const FETCH_ADD = 0x14;

/**
 * The syndrome of an AETH. The upper three bits are the kind; the lower bits hold credits, a timer
 * or an error.
 */
export const SYNDROME_KIND = 0xe0;
export const KIND_ACK = 0x00;
export const KIND_RNR = 0x20;
/** SPEC: an acknowledgement without credits. */
export const ACK = 0x1f;
export const NAK_SEQUENCE = 0x60;
export const NAK_INVALID_REQUEST = 0x61;
export const NAK_REMOTE_ACCESS = 0x62;
export const NAK_REMOTE_OPERATION = 0x63;

/** Packet sequence numbers (PSN) have 24 bits. */
const PSN_MASK = 0xffffff;
const HALF = 0x800000;

export function psnAfter(psn: number, count = 1): number {
  return (psn + count) & PSN_MASK;
}

/** The distance from `from` to `psn`, modulo 2^24; negative when `psn` is earlier. */
export function psnDistance(psn: number, from: number): number {
  const distance = (psn - from) & PSN_MASK;
  return distance < HALF ? distance : distance - PSN_MASK - 1;
}
