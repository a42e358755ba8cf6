/**
 * The events that the traced core writes while it steers a frame (docs/why.md, "The traced core").
 *
 * Both compilers read this file: numeric constants only, no imports.
 *
 *     an event: | kind 2 | branch 2 | bytes of the event 4 | payload ... |
 * Branch 0 is the frame's first branch; forks count from 1. Sizes are multiples of 8.
 */

/** Bytes before the payload. */
export const EVENT_KIND = 0;
export const EVENT_BRANCH = 2;
export const EVENT_BYTES = 4;
export const EVENT_HEAD = 8;

export enum TraceEvent {
  /** The frame was parsed, or parsed again after a change. Payload: a snapshot (SNAPSHOT_*) with key and frame map. */
  parsed = 1,
  /** A lookup has ended. Payload: | table 4 | rule, or 0 4 | lower bound of rank 8 | key 512 |. */
  lookup = 2,
  /** An action begins. Payload: | rule 4 | its index among the actions 4 | operation (`Op`) 4 | operand 4 |. */
  action = 3,
  /**
   * A member of an array, or an action of a sampler, begins, on the branch of the event. Payload:
   * | operation 4 | operand 4 | reformat record, or 0 4 | 0 4 |.
   */
  member = 4,
  /** The last action or member changed bytes or registers. Payload: a snapshot; its key may be older than its bytes. */
  changed = 5,
  /** The branch was split. Payload: | branch that is new 4 | 0 4 |. */
  fork = 6,
  /** The branch goes to a table. Payload: | table 4 | cause (`Move`) 4 | vport, or 0 4 | 0 4 |. */
  move = 7,
  /** A verdict of the branch. Payload: | verdict 4 | reason 4 |. It becomes that of the frame if it is the best one. */
  verdict = 8,
  /** A destination was added. Payload: | queue or port 4 | DEST_* 4 |. */
  destination = 9,
  /**
   * Bytes of an object with state are about to change, or are read. Payload: STATE_*.
   */
  state = 10,
  /** A hash chose a queue of RSS. Payload: HASH_*, with the input. */
  hash = 11,
  /** Selected fields go into the hash that follows, or are left out. Payload: HASHED_*. */
  hashed = 12,
  /** A check of a stateful action failed. Payload: | what failed (`Check`) 4 | 0 4 | three numbers of 8 |. */
  check = 13,
  /**
   * The action wrote a metadata register, whether or not its value changed. Payload: | its number (0 to 7 of a C,
   * `REGISTER_A`, `REGISTER_B`) 4 | 0 4 |.
   */
  register = 14,
}

/** The payload of a `state` event: | what (`StateKind`) 4 | address 4 | bytes 4 | 0 4 | the bytes before ... |. */
export const STATE_KIND = 0;
export const STATE_ADDRESS = 4;
export const STATE_BYTES = 8;
export const STATE_ZERO = 12;
export const STATE_BEFORE = 16;

/** The payload of a `hash` event: | RSS record 4 | hash 4 | entry 4 | bytes of the input 4 | the input ... |. */
export const HASH_RECORD = 0;
export const HASH_VALUE = 4;
export const HASH_ENTRY = 8;
export const HASH_BYTES = 12;
export const HASH_INPUT = 16;

/**
 * The payload of a `hashed` event: | level 4 | fields (RSS_*) 4 | header, or 0 4 | bytes, or the fragment offset 4 | bytes ... |.
 * The bytes are those of the frame, source before destination. Without a header the fields are left
 * out: `HASHED_FRAGMENT` for ports of a fragment, else `HASHED_ABSENT`.
 */
export const HASHED_LEVEL = 0;
export const HASHED_FIELDS = 4;
export const HASHED_HEADER = 8;
export const HASHED_BYTES = 12;
export const HASHED_VALUE = 16;
/** No header kinds. */
export const HASHED_ABSENT = 0xff;
export const HASHED_FRAGMENT = 0xfe;

/** Checks of meters (docs/state.md), connection tracking (docs/conntrack.md) and ESP (docs/esp.md). The numbers of each are in parentheses. */
export enum Check {
  /** () */
  no_tcp = 1,
  fragment,
  /** (end of the packet, end of the frame) */
  packet_beyond_frame,
  /** (data offset) */
  tcp_data_offset,
  /** (end of the header, end of the packet or of the captured bytes) */
  tcp_header_cut,
  /** (flags) */
  tcp_flags,
  /** (seconds since the last valid frame, time-out, state before) */
  timed_out,
  /** (kind of the segment, state) */
  kind,
  /** A SYN-ACK, and the other side has sent no SYN. () */
  no_syn,
  /** (seq, `reply_end` of the sender) */
  seq_beyond,
  /** (end, `sent_end` of the sender, `max_win` of the receiver) */
  seq_old,
  /** (reach, `sent_end` of the receiver, ack) */
  ack_beyond,
  /** (reach, smallest valid number, `sent_end` of the receiver) */
  ack_old,
  /** (end, `sent_end` of the sender) */
  after_fin,
  /** A SYN or SYN-ACK with new numbers. (end, `sent_end` of the sender) */
  not_old,
  /** (ack, `seq` of the first SYN, its end) */
  answers_first,
  /** Both sides are known. (ack, `sent_end` of the receiver) */
  answers_first_again,
  /** (ack, `seq` of the last SYN, its end) */
  answers_last,
  /** The last frame is no SYN of the other side. (ack) */
  no_last_syn,
  /** (seq, first number that ends the connection, last number of the window) */
  rst_seq,
  /** (seq, ack) */
  rst_half_open,
  /** No ESP header, or a fragment. () */
  esp_not_esp,
  /** (1 if the packet has UDP) */
  esp_udp,
  /** (IP version, that of the action) */
  esp_version,
  /** (captured bytes) */
  esp_cut,
  /** (bytes, minimum) */
  esp_short,
  /** (SPI, that of the action) */
  esp_spi,
  /** (packets, limit) */
  esp_limit,
  /** The upper half would be below 0. (lower half, highest number) */
  esp_below_zero,
  /** (number, smallest number of the window, highest number) */
  esp_old,
  /** (number, highest number) */
  esp_received,
  /** (number, highest number) */
  esp_jump,
  /** (number) */
  esp_icv,
  /** (pad length, bytes before it) */
  esp_pad_length,
  /** (pad length) */
  esp_pad_bytes,
  /** (next header) */
  esp_next_header,
  /** (next header, bytes) */
  esp_inner_length,
  /** A frame does not get a better colour than this. (colour) */
  meter_start,
  /** A bucket with fewer tokens than the frame costs, in bytes. (cost, tokens, size) */
  meter_committed_bytes,
  meter_excess_bytes,
  /** The same in packets. (cost, tokens, size) */
  meter_committed_packets,
  meter_excess_packets,
}

/** Why a branch went to a table. */
export enum Move {
  /** A table action. */
  jump = 1,
  /** The rule lets the frame continue after its own slot of ranks. */
  resume = 2,
  /** No rule matched, or the action is that of a miss. */
  miss = 3,
  /** The end of the send path of a function: to the FDB. */
  egress = 4,
  /** An action names the vport of a function. */
  vport = 5,
  /** By the default of the FDB, to the PF. */
  fdb_default = 6,
  /** The rule does not apply to the sender of a looped frame: the lookup goes on after it. */
  passed_over = 7,
}

/** Objects with state. */
export enum StateKind {
  /** | packets 8 | bytes 8 | */
  counter = 1,
  /** A meter (src/abi/state.ts). */
  meter = 2,
  /** A byte of first-hit flags. */
  first_hit = 3,
  /** A connection (src/abi/connection.ts). */
  connection = 4,
  /** An association (src/abi/esp.ts). */
  esp = 5,
  /** Words of a replay window. */
  replay_window = 6,
  /** The head of a queue. */
  queue = 7,
  /** The count of held completions of a completion queue. */
  completion_queue = 8,
  /** The counter of a reason. */
  reason = 9,
}

/** A snapshot: | frame descriptor 32 | key 512 | frame map 256 | bytes ... |. */
export const SNAPSHOT_FRAME = 0;
export const SNAPSHOT_KEY = 32;
export const SNAPSHOT_MAP = 544;
export const SNAPSHOT_BYTES = 800;

/** The least memory for the events of a frame. A trace with more events ends with what fits. */
export const TRACE_BYTES = 8388608;
