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
/** Jumps from table to table before a frame is dropped. MODEL: the device's own number is not public. */
export const HOP_LIMIT = 64;
/** Rules that the outcome of one frame lists: one for each table visited. */
export const HITS_PER_FRAME = 65;
/** Destinations of one frame. */
export const DESTINATIONS_PER_FRAME = 1;
/** Ranges of one rule. */
export const MAX_RANGES = 2;
/** Actions of one rule. */
export const MAX_ACTIONS = 32;

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
 *     | verdict 1 | flags 1 | reason 2 | tag 4 | hits 2 | destinations 2 | wire length 4 |
 * Its hits are at `hits + frame * HITS_PER_FRAME` words, its destinations likewise.
 */
export const OUTCOME_VERDICT = 0;
export const OUTCOME_FLAGS = 1;
export const OUTCOME_REASON = 2;
export const OUTCOME_TAG = 4;
export const OUTCOME_HITS = 8;
export const OUTCOME_DESTINATIONS = 10;
export const OUTCOME_WIRE_LENGTH = 12;
export const OUTCOME_SIZE = 16;
export const OUTCOME_HAS_TAG = 1;

/** A destination: | kind 4 | index 4 | address of the frame it got 4 | length 4 | receive work request 4 | status 4 | */
export const DEST_KIND = 0;
export const DEST_INDEX = 4;
export const DEST_ADDRESS = 8;
export const DEST_LENGTH = 12;
export const DEST_REQUEST = 16;
export const DEST_STATUS = 20;
export const DEST_SIZE = 24;
export const DEST_QUEUE = 1;

/** Operations of an action record. Their numbers are the order of execution on receive (`spec`: tag, counter, destination). */
export enum Op {
  tag = 1,
  count = 2,
  drop = 3,
  default_miss = 4,
  queue = 5,
  table = 6,
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
}
export const REASON_COUNT = 11;

/** Queue flags. */
export const QUEUE_READY = 1;
/** Takes every frame without receive buffers and completions. */
export const QUEUE_SINK = 2;

/** Table kinds. */
export const TABLE_ROOT = 1;
