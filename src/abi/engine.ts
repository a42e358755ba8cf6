/**
 * The interface of host and core: limits, areas of linear memory, records, columns, operations.
 * Outcomes are in outcome.ts. Both compilers read this file: numeric constants only, no imports.
 */

/** Bytes of a page of linear memory. */
export const PAGE = 65536;
/** Frames in one call of the core. */
export const MAX_BATCH = 256;
/** Frames in the areas `frames` and `times`; a call of the core takes the first of them. */
export const MAX_ROWS = 4096;
/** Bytes before a frame, for headers that an action prepends. */
export const FRAME_HEAD_ROOM = 128;
/** The longest frame, in bytes: what libpcap calls MAXIMUM_SNAPLEN. */
export const MAX_FRAME = 262144;
/** Bytes for the frames of one batch. */
export const FRAME_ARENA = 4194304;
/**
 * Rules that a frame may visit after its first one before it is dropped. MODEL: the device's own
 * number is not public.
 */
export const HOP_LIMIT = 64;
/** Flow tables of device commands that may follow one another through misses. */
export const FLOW_TABLE_MISS_LIMIT = 63;
/** Tables that a frame may reach one after the other through misses: flow tables, then stages. */
export const MISS_LIMIT = FLOW_TABLE_MISS_LIMIT + 5;
/** Rules in the outcome of one frame. */
export const HITS_PER_FRAME = 72;
/** Destinations of one frame, copies included. MODEL: a copy beyond this limit is not made. */
export const DESTINATIONS_PER_FRAME = 128;
/** Ranges of one rule. */
export const MAX_RANGES = 2;
/** Actions of one rule. */
export const MAX_ACTIONS = 192;

/** Areas of linear memory that the host reads and writes; `areaAddress(area)` gives the address. */
export enum Area {
  /** A mask of 512 bytes, a value of 512, ranges, then actions, for the next call. */
  staging = 0,
  /** MAX_ROWS frame descriptors. */
  frames = 1,
  /** The bytes of the frames. */
  bytes = 2,
  keys = 3,
  maps = 4,
  outcomes = 5,
  hits = 6,
  destinations = 7,
  reasons = 8,
  /** Keys for `lookup`, and its results, one word each. */
  found = 9,
  /** The time of each frame in nanoseconds, 8 bytes: read when the device has stateful actions. */
  times = 10,
  /** MAX_BATCH packets to seal or open (src/abi/cipher.ts). */
  jobs = 11,
  /** The values that `writeColumns` writes for each frame (COLUMN_*). */
  columns = 12,
  /** The first table for frames of each function, one word each. */
  functions = 13,
  /** The programmable samples that the device declares. */
  samples = 14,
  /** Tables, rules and counters; `arenaTop` is its end. */
  arena = 15,
  /** Hits and misses of the flow cache: u64 each. */
  cache = 16,
  /** Sums over the frames of each outcome class (CLASSES_*). */
  outcome_classes = 17,
  /** Masks by the numbers that the host gave them. */
  known_masks = 18,
  /** The multipliers of hashes: random numbers, written before the first rule. */
  multipliers = 19,
}

/** Size of the area of samples in bytes. */
export const SAMPLES_SIZE = 128;

/** Size of the area of multipliers in bytes: four of 8 bytes for each lane of a key. */
export const MULTIPLIERS_SIZE = 1024;

/** Size of the area of known masks in bytes: a power of two. */
export const KNOWN_MASKS_SIZE = 8192;

/** The area of the flow cache: | hits 8 | misses 8 |. */
export const CACHE_HITS = 0;
export const CACHE_MISSES = 8;
export const CACHE_SIZE = 16;

/** Staging: offsets of the parts. */
export const STAGE_MASK = 0;
export const STAGE_VALUE = 512;
export const STAGE_RANGES = 1024;
export const STAGE_ACTIONS = 1088;
export const STAGE_SIZE = 4096;
/** Result of `insertKnown`: the table has no mask of this number. No rule has this address. */
export const UNKNOWN_MASK = 1;

/** A rank is | slot | order of masks and rules |; its slot begins at this bit (src/model/table/classifier.ts). */
export const RANK_SLOT = 47;

/**
 * A staged range: | key byte of its dword 4 | shift 4 | field mask 4 | low 4 | high 4 |, both ends
 * included.
 */
export const RANGE_DWORD = 0;
export const RANGE_SHIFT = 4;
export const RANGE_MASK = 8;
export const RANGE_LOW = 12;
export const RANGE_HIGH = 16;
export const RANGE_SIZE = 20;

/**
 * A frame descriptor:
 *     | address 4 | captured length 4 | wire length 4 | port 2 | link 1 | flags 1 | source vport 4 | source QP 4 | metadata 4 | 0 4 |
 * The port is the port that the frame was received or sent on. The source vport is its sender:
 * VPORT_UPLINK from the wire.
 */
export const FRAME_ADDRESS = 0;
export const FRAME_LENGTH = 4;
export const FRAME_WIRE_LENGTH = 8;
export const FRAME_PORT = 12;
export const FRAME_LINK = 14;
export const FRAME_FLAGS = 15;
export const FRAME_VPORT = 16;
export const FRAME_SQN = 20;
export const FRAME_METADATA = 24;
export const FRAME_SIZE = 32;
/** Other frames are adjacent to it, so it is copied before it changes. */
export const FRAME_PACKED = 4;

/** The vport of the wire, and of the function that manages the eSwitch. */
export const VPORT_UPLINK = 0xffff;
export const VPORT_MANAGER = 0;
/** Functions: the PF and its VFs. */
export const MAX_FUNCTIONS = 256;

/**
 * Columns of a batch: MAX_BATCH values of each kind, one kind after the other.
 *     | number of the last rule 4 | queue or port of the first destination 4 | tag 4 |
 *     | destinations 2 | rules hit 1 | verdict 1 | reason 1 | whether there is a tag 1 | DEST_* of the first destination 1 |
 */
export const COLUMN_RULE = 0;
export const COLUMN_QUEUE = 4 * MAX_BATCH;
export const COLUMN_TAG = 8 * MAX_BATCH;
export const COLUMN_DESTINATIONS = 12 * MAX_BATCH;
export const COLUMN_HITS = 14 * MAX_BATCH;
export const COLUMN_VERDICT = 15 * MAX_BATCH;
export const COLUMN_REASON = 16 * MAX_BATCH;
export const COLUMN_TAGGED = 17 * MAX_BATCH;
export const COLUMN_KIND = 18 * MAX_BATCH;
export const COLUMNS_SIZE = 19 * MAX_BATCH;
/** In COLUMN_RULE: the frame hit no rule. */
export const NO_RULE = 0xffffffff;
/**
 * Flags that `writeColumns` returns: some frame is at a port, or at a queue that the host serves.
 */
export const SOME_AT_PORT = 1;
export const SOME_AT_HOST = 2;

/**
 * Outcome classes: the equal part of the outcomes of many frames, and sums over the frames of each
 * class (assembly/out/outcomeClasses.ts). An area of zeros is an empty table:
 *     | classes 4 | rows of the batch that are summed 4 | words used 4 | 0 4 | slots | number of each row 2 | classes | words |
 */
export const CLASSES_COUNT = 0;
export const CLASSES_SUMMED = 4;
export const CLASSES_USED = 8;
/**
 * Hash table of class numbers + 1, 2 bytes each; 0 is empty. Its size is a power of two, four times
 * the number of classes, so that probes stay short.
 */
export const CLASS_SLOTS = 16384;
export const MAX_CLASSES = 4096;
export const CLASSES_SLOTS = 16;
/** The table is empty when the bytes up to here are 0. */
export const CLASSES_NUMBERS = CLASSES_SLOTS + 2 * CLASS_SLOTS;
/** MAX_BATCH numbers. */
export const CLASSES_RECORDS = CLASSES_NUMBERS + 2 * MAX_BATCH;

/**
 * A class: | frames 8 | their bytes on the wire 8 | first row of the batch with this class 4 | hash
 * 4 | first of its words 4 | words 4 |
 */
export const CLASS_FRAMES = 0;
export const CLASS_BYTES = 8;
export const CLASS_ROW = 16;
export const CLASS_HASH = 20;
export const CLASS_FIRST = 24;
export const CLASS_WORDS = 28;
export const CLASS_SIZE = 32;

export const CLASSES_WORDS = CLASSES_RECORDS + MAX_CLASSES * CLASS_SIZE;
/** Words of all classes: most have 8, the longest less than 600. */
export const MAX_CLASS_WORDS = 131072;
export const CLASSES_SIZE = CLASSES_WORDS + 4 * MAX_CLASS_WORDS;

/**
 * Operations of an action record, which lists them in order of execution. A record runs to its end,
 * or to the first operation that ends it: drop, or one that sends the frame to a table.
 */
export enum Op {
  /** Does nothing: fills a record that became shorter when memory was full. */
  none = 0,
  /** Skips the next operation for frames that the queue itself has sent. */
  not_for = 1,
  /** Removes the tag that a rule of another table has set. */
  untag = 2,
  tag = 3,
  count = 4,
  /** Operand: the queue whose own frames, looped back, are not dropped; 0 for none. */
  drop = 5,
  /** As if no rule of the table had matched. */
  default_miss = 6,
  copy_queue = 7,
  /** As copy_queue, except for frames that the queue itself has sent. */
  copy_from_others = 8,
  queue = 9,
  queue_from_others = 10,
  table = 11,
  /** Continues in the same table, after the rules of this rule's slot; removes the tag. */
  resume = 12,
  /** Continues at the next table, as if this one did not exist; removes the tag. */
  pass = 13,
  /** Operand: the address of a program (PROGRAM_*). */
  modify = 14,
  /** Operand: TPID and TCI. */
  push_vlan = 15,
  pop_vlan = 16,
  /** Operand: the address of a reformat record (src/abi/reformat.ts). */
  reformat = 17,
  /** Operand: the vport of a function, or VPORT_UPLINK. */
  vport = 18,
  /** Operand: the number of a port. */
  port = 19,
  /** Operand: the address of an array record (ARRAY_*). */
  array = 20,
  /**
   * Continues in a table from a rank on. Operand: the address of a record (ROOT_*).
   */
  root = 21,
  /**
   * Parameters of the next operation: | register 8 | flags 8 | bit 8 | 0 8 |, from the least
   * significant bits.
   */
  state = 22,
  /**
   * Writes a colour to the register. Operand: the address of a meter (METER_*); flags: the start
   * colour.
   */
  meter = 23,
  /**
   * Writes a flag to the register. Operand: the address of its byte; flags: 1 sets it then; bit:
   * its bit, 0x80 first.
   */
  first_hit = 24,
  /**
   * Writes a syndrome to the register. Operand: the address of a connection (CONNECTION_*); flags:
   * the direction.
   */
  track = 25,
  /** Operand: the address of a sampler (SAMPLER_*). */
  sampler = 26,
  /** Delivers to one of several queues. Operand: the address of an RSS record (RSS_*). */
  rss = 27,
  /** As rss, with a copy. */
  copy_rss = 28,
  /** Encrypts or decrypts. Operand: the address of an association (src/abi/esp.ts). */
  esp = 29,
  /** Continues at the stage that the last table of its chain of misses leads to; removes the tag. */
  pass_chain = 30,
}
/** Flags of `state`: sets the first-hit flag. */
export const FIRST_HIT_SET = 1;
/** The record of Op.root: | table 4 | slot of ranks 4 |. */
export const ROOT_TABLE = 0;
export const ROOT_SLOT = 4;
export const ROOT_SIZE = 8;
/** No start colour for a meter: it takes the colour in the register, or green. */
export const COLOUR_UNDEFINED = 3;
/** An action, staged and stored: | operation 4 | operand 4 | */
export const ACTION_OPERATION = 0;
export const ACTION_OPERAND = 4;
export const ACTION_SIZE = 8;

/** Metadata registers: C0 to C7 are 0 to 7. */
export const REGISTER_A = 8;
export const REGISTER_B = 9;
export const REGISTERS = 10;

/**
 * An array record: | members 4 | 0 4 |, then for each member | operation 4 | operand 4 | reformat
 * record or 0 4 | 0 4 |.
 */
export const ARRAY_COUNT = 0;
export const ARRAY_FIRST = 8;
export const MEMBER_OP = 0;
export const MEMBER_OPERAND = 4;
export const MEMBER_REFORMAT = 8;
export const MEMBER_SIZE = 16;
/** Members of an array, and branches of one frame. */
export const MAX_MEMBERS = 64;
export const BRANCHES_PER_FRAME = 64;

/**
 * Rules for insertRules, in the area `bytes`: values, heads, and lists of actions at its end.
 *     | value as device bytes: stride | ... | head 16 | ... | free | list | list |
 *     head: | id 4 | its handle, filled in 4 | actions: offset in the area 4 | actions 4 |
 * The mask is staged as for one rule; ranks count up from the given one.
 */
export const BULK_ID = 0;
export const BULK_HANDLE = 4;
export const BULK_ACTIONS = 8;
export const BULK_ACTION_COUNT = 12;
export const BULK_HEAD = 16;

/** Queue flags. */
export const QUEUE_READY = 1;
/** Takes every frame without receive buffers and completions. */
export const QUEUE_SINK = 2;
/** The host reads the frames of the sink: a connected queue pair. */
export const QUEUE_READ = 4;
/** A UD queue pair: frames that are datagrams for its number are checked, and arrive as such. */
export const QUEUE_DATAGRAMS = 8;
/** The number of no receive request: a queue has none. */
export const NO_REQUEST = 0xffffffff;

/** Table kinds. */
export const TABLE_ROOT = 1;
/** Of the send path: frames that it does not drop continue to the eSwitch. */
export const TABLE_SEND = 2;
/** Of the eSwitch: unmatched frames go to the manager. */
export const TABLE_FDB = 4;
/** Keeps its required fields when its rules are removed. */
export const TABLE_KEEPS = 8;
/** A stage for frames that a port loops back. */
export const TABLE_LOOPED = 16;
/** A flow table whose unmatched frames go to a stage, without their tag. */
export const TABLE_TO_STAGE = 32;

/** Counts of a port (assembly/out/hits.ts): received, transmitted, dropped; packets 8 and bytes 8 each. */
export const PORT_TRANSMITTED = 16;
export const PORT_DROPPED = 32;
export const PORT_COUNTS = 48;

/**
 * Flags that `reached` returns: the kinds of reachable actions that are stateful or random, and of
 * reachable queues that the host serves.
 */
export const REACHABLE_METER = 1;
export const REACHABLE_FLAG = 2;
export const REACHABLE_CONNECTION = 4;
export const REACHABLE_SAMPLER = 8;
export const REACHABLE_ESP = 16;
export const REACHABLE_BUFFERS = 32;
export const REACHABLE_TRANSPORT = 64;
