/**
 * What host and core say to each other: limits, areas of linear memory, records, operations, verdicts, reasons.
 * Read by both compilers: numeric constants only, no imports.
 */

/** Frames that one call of the core takes. */
export const MAX_BATCH = 256;
/** Bytes before a frame, for headers that an action puts in front. */
export const FRAME_HEAD_ROOM = 128;
/** The longest frame, in bytes: what libpcap calls MAXIMUM_SNAPLEN. */
export const MAX_FRAME = 262144;
/** Bytes for the frames of one batch. */
export const FRAME_ARENA = 4194304;
/** Rules that a frame visits behind its first one before it is dropped. MODEL: the device's own number is not public. */
export const HOP_LIMIT = 64;
/** Tables that a frame comes to because the one before did not want it. */
export const MISS_LIMIT = 7;
/** Rules that the outcome of one frame lists: the first, one a hop, and one a table that hands it to the one behind. */
export const HITS_PER_FRAME = 72;
/** Destinations of one frame, copies included. MODEL: a copy that finds no room is not made. */
export const DESTINATIONS_PER_FRAME = 128;
/** Ranges of one rule. */
export const MAX_RANGES = 2;
/** Actions of one rule. */
export const MAX_ACTIONS = 192;

/** Areas of linear memory that the host reads and writes; `areaAddress(area)` gives the address. */
export enum Area {
  /** A mask of 512 bytes, a value of 512, ranges, then actions, for the next call. */
  staging = 0,
  /** MAX_BATCH frame descriptors. */
  frames = 1,
  /** The bytes of the frames. */
  bytes = 2,
  keys = 3,
  maps = 4,
  outcomes = 5,
  hits = 6,
  destinations = 7,
  reasons = 8,
  /** Keys that `lookup` classifies, and what it found, one word each. */
  found = 9,
}

/** Staging: offsets of the parts. */
export const STAGE_MASK = 0;
export const STAGE_VALUE = 512;
export const STAGE_RANGES = 1024;
export const STAGE_ACTIONS = 1088;
export const STAGE_SIZE = 4096;

/** A rank is | slot | order of masks and rules |; its slot begins at this bit (src/model/classifier.ts). */
export const RANK_SLOT = 47;

/** A range as staged: | key byte of its dword 4 | shift 4 | field mask 4 | low 4 | high 4 |, both ends inside. */
export const RANGE_DWORD = 0;
export const RANGE_SHIFT = 4;
export const RANGE_MASK = 8;
export const RANGE_LOW = 12;
export const RANGE_HIGH = 16;
export const RANGE_SIZE = 20;

/** A frame descriptor: | address 4 | captured length 4 | wire length 4 | port 2 | link 1 | 0 1 | */
export const FRAME_ADDRESS = 0;
export const FRAME_LENGTH = 4;
export const FRAME_WIRE_LENGTH = 8;
export const FRAME_PORT = 12;
export const FRAME_LINK = 14;
export const FRAME_SIZE = 16;

/**
 * An outcome:
 *     | verdict 1 | flags 1 | reason 2 | tag 4 | hits 2 | destinations 2 | last destination 4 |
 * Its hits are at `hits + frame * HITS_PER_FRAME` words, its first destination at `destinations + frame * DEST_SIZE`.
 */
export const OUTCOME_VERDICT = 0;
export const OUTCOME_FLAGS = 1;
export const OUTCOME_REASON = 2;
export const OUTCOME_TAG = 4;
export const OUTCOME_HITS = 8;
export const OUTCOME_DESTINATIONS = 10;
export const OUTCOME_LAST = 12;
export const OUTCOME_SIZE = 16;
export const OUTCOME_HAS_TAG = 1;

/**
 * A destination:
 *     | queue 4 | flags 4 | address of the frame it got 4 | length 4 | receive work request 4 | status 4 | tag 4 | next 4 |
 * The next one of the frame is at the address `next`; there is one while the count of the outcome says so.
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
/** A copy: the frame went on. */
export const DEST_COPY = 1;

/**
 * Operations of an action record. Their numbers are the order of execution on receive (`spec`: tag, counter, destination).
 * A record runs to its end, or to the first operation that ends the frame's stay at the rule: drop, and what sends it on.
 */
export enum Op {
  /** Does nothing: keeps the size of a record that became shorter when memory was full. */
  none = 0,
  /** The next operation is not for frames that the queue itself has sent. */
  not_for = 1,
  /** The frame has no tag, whatever was said at another table. */
  untag = 2,
  tag = 3,
  count = 4,
  /** Operand: the queue whose own frames, looped back, are not dropped; 0 for none. */
  drop = 5,
  /** As if no rule of the table had matched. */
  default_miss = 6,
  copy_queue = 7,
  /** As copy_queue, but for a frame that the queue itself has sent. */
  copy_from_others = 8,
  queue = 9,
  queue_from_others = 10,
  table = 11,
  /** On in the same table, behind the rules of this one's slot; the tag starts anew. */
  resume = 12,
  /** On at the table behind this one, as if it were not there; the tag starts anew. */
  pass = 13,
}
/** An action as staged and as kept: | operation 4 | operand 4 | */
export const ACTION_SIZE = 8;

/** What became of the original branch of a frame. */
export enum Verdict {
  none = 0,
  deliver = 1,
  forward = 2,
  transmit = 3,
  drop = 4,
  miss = 5,
}

/** Why, where the verdict alone does not say it. Each has a counter. */
export enum Reason {
  none = 0,
  /** No rule of the root table took the frame, and nobody behind it. */
  no_rule = 1,
  /** No rule of a non-root table took the frame. */
  table_miss = 2,
  /** A default-miss action. */
  default_miss = 3,
  drop_action = 4,
  /** The rule names no destination: the default of the domain. */
  no_destination = 5,
  hop_limit = 6,
  /** The queue pair is not in a state that receives. */
  queue_not_ready = 7,
  no_receive_buffer = 8,
  receive_buffer_too_short = 9,
  completion_queue_full = 10,
  /** The frame has as many destinations as it can have: counted for each one more, beside the frame's own reason. */
  copy_limit = 11,
}
export const REASON_COUNT = 12;

/** Queue flags. */
export const QUEUE_READY = 1;
/** Takes every frame without receive buffers and completions. */
export const QUEUE_SINK = 2;

/** Table kinds. */
export const TABLE_ROOT = 1;
/** Of the send path: what is not dropped here is transmitted. */
export const TABLE_SEND = 2;
