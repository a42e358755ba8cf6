/**
 * The outcome of a frame as the core writes it: verdict, reason and destinations.
 *
 * Both compilers read this file: numeric constants only, no imports.
 */

/** The result for the original branch of a frame. */
export enum Verdict {
  none = 0,
  deliver = 1,
  forward = 2,
  transmit = 3,
  drop = 4,
  miss = 5,
}

/** The cause, when the verdict alone does not determine it. Each has a counter. */
export enum Reason {
  none = 0,
  /** No rule of the root table matched the frame, and no later stage accepted it. */
  no_rule = 1,
  /** No rule of a non-root table matched the frame. */
  table_miss = 2,
  /** A default miss action sent the frame to the default of its domain. */
  default_miss = 3,
  /** A drop action dropped the frame. */
  drop_action = 4,
  /** The rule has no destination: the default of the domain applies. */
  no_destination = 5,
  /** The frame went through too many tables. */
  hop_limit = 6,
  /** The queue is not in a receiving state. */
  queue_not_ready = 7,
  /** The queue is out of receive buffers. */
  no_receive_buffer = 8,
  /** The receive buffer is shorter than the frame. */
  receive_buffer_too_short = 9,
  /** The completion queue is full. */
  completion_queue_full = 10,
  /**
   * The frame already has the maximum number of destinations. Counted once for each one beyond that, in addition to
   * the reason of the frame itself.
   */
  copy_limit = 11,
  /** The frame to decapsulate has no tunnel header. */
  not_a_tunnel = 12,
  /** An action would make the frame longer than the maximum. */
  frame_too_long = 13,
  /** A rule sends a frame from the wire back to the port it arrived on. */
  wire_to_wire = 14,
  /** ESP: the frame to decrypt has no ESP header. */
  esp_not_esp = 15,
  /** ESP: the frame to encrypt has no IP packet. */
  esp_not_ip = 16,
  /** ESP: the packet is a fragment. */
  esp_fragment = 17,
  /** ESP: the headers before the ESP header are not the ones the action expects. */
  esp_encapsulation = 18,
  /** ESP: the packet is too short, or was not captured to its end. */
  esp_truncated = 19,
  /** ESP: the SPI differs from the one of the action. */
  esp_spi = 20,
  /** ESP: the action has reached its hard limit. */
  esp_hard_limit = 21,
  /** ESP: the sequence number has been received before, or lies before the replay window. */
  esp_replay = 22,
  /** ESP: the sequence number is more than 2^31 ahead. */
  esp_jump = 23,
  /** ESP: the ICV is wrong. */
  esp_authentication = 24,
  /** ESP: the padding, the next header or the packet inside is malformed. */
  esp_trailer = 25,
  /** ESP: a dummy packet (next header 59). */
  esp_dummy = 26,
  /** ESP: all sequence numbers have been used. */
  esp_sequence_exhausted = 27,
  /** ESP: all initialization vectors have been used. */
  esp_iv_exhausted = 28,
  /** ESP: the metadata element is missing, or does not request encryption. */
  esp_metadata = 29,
  /** The Q_Key of the datagram is not that of the queue pair. */
  wrong_qkey = 30,
  /** The packet for a UD queue pair is not a complete datagram, or its ICRC is wrong. */
  bad_datagram = 31,
}
export const REASON_COUNT = 32;

/**
 * An outcome:
 *     | verdict 1 | flags 1 | reason 2 | tag 4 | hits 2 | destinations 2 | last destination 4 | key 4 | written 2 | branches 2 |
 *     | missed 4 | missed in the FDB 4 |
 * Its hits are at `hits + frame * HITS_PER_FRAME` words, its first destination at `destinations +
 * frame * DEST_SIZE`. `written` has one bit for each metadata register that a rule has written
 * (REGISTERS). `key` is the address of the key with these registers: the key of the branch that set
 * the verdict. `branches` counts the branches of the frame. If the reason is `no_rule` or
 * `table_miss`, `missed` is the address of the last table without a rule, or 1 + vport of a function
 * that has no tables, and the word after it the address of the FDB table that was missed before it;
 * 0 for none.
 */
export const OUTCOME_VERDICT = 0;
export const OUTCOME_FLAGS = 1;
export const OUTCOME_REASON = 2;
export const OUTCOME_TAG = 4;
export const OUTCOME_HITS = 8;
export const OUTCOME_DESTINATIONS = 10;
export const OUTCOME_LAST = 12;
export const OUTCOME_KEY = 16;
export const OUTCOME_WRITTEN = 20;
export const OUTCOME_BRANCHES = 22;
export const OUTCOME_MISSED = 24;
export const OUTCOME_MISSED_FDB = 28;
export const OUTCOME_SIZE = 32;
export const OUTCOME_HAS_TAG = 1;

/**
 * A destination:
 *     | queue 4 | flags 4 | address of the frame it got 4 | length 4 | receive work request 4 | status 4 | tag 4 | next 4 |
 * `next` is the address of the frame's next destination; the count in the outcome says how many
 * there are.
 */
export const DEST_QUEUE = 0;
export const DEST_FLAGS = 4;
export const DEST_ADDRESS = 8;
export const DEST_LENGTH = 12;
export const DEST_REQUEST = 16;
export const DEST_STATUS = 20;
/** The tag of the rule that delivered it, 0 without one. */
export const DEST_TAG = 24;
export const DEST_NEXT = 28;
export const DEST_SIZE = 32;
/** A copy: the frame itself continued. */
export const DEST_COPY = 1;
/** Not a queue: the port of this number. */
export const DEST_PORT = 2;
/** A rule of the FDB has sent it there, not the default of the FDB. */
export const DEST_SWITCHED = 4;
/** Its bytes differ from the received ones. */
export const DEST_CHANGED = 8;
/** Its changed bytes begin with Ethernet. */
export const DEST_ETHERNET = 16;
/** An inline ESP action could not decrypt it: | ESP_BAD_ICV or ESP_BAD_TRAILER 2 | from this bit on. */
export const DEST_ESP = 5;
/** Its bytes have changed, and begin with IP. */
export const DEST_RAW_IP = 128;
/** A datagram for the UD queue pair: its GRH and its payload arrive, not the frame. */
export const DEST_DATAGRAM = 256;
