/**
 * A connection (docs/conntrack.md): the 64 bytes of the device's context, big-endian, and what it has no place for.
 *
 *     0            16              32         36         40         44         46      48       56      58         60      62
 *     | reply side | original side | last end | last ack | last seq | last win | which | 0 8    | reply | original | state | flags, counter |
 *     64, little-endian: | time of the last valid frame + 1, 0 for none, 8 | seq of the first SYN 4 | last SYN 1 | - 3 |
 *
 *     side:  | max_ack 4 | max_win 4 | reply_end 4 | sent_end 4 |         which: | 0 10 bits | last_dir 1 | last_index 5 |
 *     reply, original: | scale 4 bits | close_initiated | liberal | data_unacked | max_ack_seen | 0 8 |
 *     state: | valid | state 3 bits | freeze_track | 0 11 |
 *     flags: | 0 | assured | SACK | challenged | heartbeat | max_ack_window 3 bits |, counter: | 0 | counter 3 | exceeded | limit 3 |
 *     last SYN: | scale 4 bits | 0 2 | SACK permitted | noted |; 0 if no SYN has come since software wrote the context
 *
 * Read by both compilers: numeric constants only, no imports.
 */

/** Size of the device format in bytes. */
export const CONNECTION_CONTEXT = 64;
export const CONNECTION_SIZE = 80;

/**
 * Directions, as flags of the action: initiator and responder. `last_dir` 1 is the original
 * direction.
 */
export const DIRECTION_ORIGINAL = 1;
export const DIRECTION_REPLY = 2;

/** Sides: the reply side comes first. */
export const CONNECTION_SIDE = 16;
export const SIDE_MAX_ACK = 0;
export const SIDE_MAX_WIN = 4;
export const SIDE_REPLY_END = 8;
export const SIDE_SENT_END = 12;

export const CONNECTION_LAST_END = 32;
export const CONNECTION_LAST_ACK = 36;
export const CONNECTION_LAST_SEQ = 40;
export const CONNECTION_LAST_WIN = 44;
/** The second byte of `which`. */
export const CONNECTION_LAST = 47;
export const LAST_ORIGINAL = 0x20;
export const LAST_INDEX = 0x1f;

/** Bits of the reply side, one byte; those of the original side are two bytes later. */
export const CONNECTION_BITS = 56;
export const CONNECTION_BITS_STEP = 2;
export const BITS_SCALE_SHIFT = 4;
export const BITS_CLOSED = 8;
export const BITS_LIBERAL = 4;
export const BITS_UNACKED = 2;
export const BITS_MAX_ACK = 1;
/** The scale of a side that did not request window scaling. */
export const SCALE_NONE = 15;

export const CONNECTION_STATE = 60;
export const STATE_VALID = 0x80;
export const STATE_SHIFT = 4;
export const STATE_NUMBER = 7;
export const STATE_FREEZE = 0x08;

export const CONNECTION_FLAGS = 62;
export const FLAG_ASSURED = 0x40;
export const FLAG_SACK = 0x20;
export const FLAG_CHALLENGED = 0x10;
export const FLAG_HEARTBEAT = 0x08;
export const FLAG_MAX_ACK_WINDOW = 0x07;

export const CONNECTION_REPEATS = 63;
export const REPEATS_SHIFT = 4;
export const REPEATS_COUNTER = 7;
export const REPEATS_EXCEEDED = 0x08;
export const REPEATS_LIMIT = 0x07;

export const CONNECTION_TIME = 64;
export const CONNECTION_FIRST_SEQ = 72;
export const CONNECTION_LAST_SYN = 76;
export const LAST_SYN_SCALE_SHIFT = 4;
export const LAST_SYN_SACK = 2;
export const LAST_SYN_NOTED = 1;

/** States of a valid connection. */
export enum ConnectionState {
  syn_received = 0,
  established = 1,
  fin_wait = 2,
  close_wait = 3,
  last_ack = 4,
  time_wait = 5,
}

/** Kinds of segment, numbered as in `last_index`. */
export enum SegmentKind {
  none = 0,
  syn = 1,
  syn_ack = 2,
  fin = 4,
  ack = 8,
  rst = 16,
}

/** Syndromes. */
export const SYNDROME_VALID = 0;
export const SYNDROME_BAD = 0x01;
export const SYNDROME_CHANGED = 0x02;
export const SYNDROME_INVALID = 0x40;
export const SYNDROME_TRAP = 0x80;
