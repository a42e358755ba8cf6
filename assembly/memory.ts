/**
 * The map of linear memory: fixed areas, then the arena (arena.ts). In: the sizes of src/abi. Out:
 * the address of every area, as a constant.
 *
 *     static data | staging | frames | keys | maps | branches | forks | outcomes | hits | destinations
 *     | copies | reasons | found | lists of the walk | functions | lanes | phases of a lookup
 *     | lanes of a new rule | known masks | scratch key | samples | times | orders | jobs | secrets | columns
 *     | flow cache | lengths | outcome classes | frame bytes | arena ...
 */
import {
  Area,
  BRANCHES_PER_FRAME,
  COLUMNS_SIZE,
  DEST_SIZE,
  DESTINATIONS_PER_FRAME,
  FRAME_ARENA,
  FRAME_SIZE,
  HITS_PER_FRAME,
  MAX_BATCH,
  MAX_FUNCTIONS,
  MAX_ROWS,
  OUTCOME_SIZE,
  REASON_COUNT,
  SAMPLES_SIZE,
  STAGE_SIZE,
} from "../src/abi/engine";
import { JOB_SIZE } from "../src/abi/cipher";
import { KEY_SIZE } from "../src/abi/key";
import { MAP_SIZE } from "../src/abi/headers";
import { CLASSES_SIZE } from "../src/abi/outcomeClasses";

export const BATCH: usize = MAX_BATCH;
/** The size of a branch (branch/branch.ts). */
export const BRANCH_SIZE: usize = 64;
/**
 * The number of frames that are walked at a time if rules split frames: each can have all its
 * forks.
 */
export const SPLIT_BATCH: usize = 64;
/** The number of forks. */
export const FORKS: usize = SPLIT_BATCH * (<usize>BRANCHES_PER_FRAME - 1);
const ALL_BRANCHES: usize = BATCH + FORKS;

/**
 * The end of static data, checked by `openMemory`. Fixed, so that every address below is a
 * constant.
 */
export const FIXED: usize = 0x8000;
const LINE: usize = 63;

export const STAGING: usize = FIXED;
export const FRAMES: usize = (STAGING + STAGE_SIZE + LINE) & ~LINE;
export const KEYS: usize = (FRAMES + <usize>MAX_ROWS * FRAME_SIZE + LINE) & ~LINE;
export const MAPS: usize = (KEYS + BATCH * KEY_SIZE + LINE) & ~LINE;
export const BRANCHES: usize = (MAPS + BATCH * MAP_SIZE + LINE) & ~LINE;
/** Frame descriptors, keys and maps of forks. */
export const FORK_FRAMES: usize = (BRANCHES + ALL_BRANCHES * BRANCH_SIZE + LINE) & ~LINE;
export const FORK_KEYS: usize = (FORK_FRAMES + FORKS * FRAME_SIZE + LINE) & ~LINE;
export const FORK_MAPS: usize = (FORK_KEYS + FORKS * KEY_SIZE + LINE) & ~LINE;
export const OUTCOMES: usize = (FORK_MAPS + FORKS * MAP_SIZE + LINE) & ~LINE;
export const HITS: usize = (OUTCOMES + BATCH * OUTCOME_SIZE + LINE) & ~LINE;
export const DESTINATIONS: usize = (HITS + BATCH * HITS_PER_FRAME * 4 + LINE) & ~LINE;
/** Destinations that are not a frame's first, of all frames in the order they are added. */
export const COPIES: usize = (DESTINATIONS + BATCH * DEST_SIZE + LINE) & ~LINE;
export const REASONS: usize = (COPIES + BATCH * (DESTINATIONS_PER_FRAME - 1) * DEST_SIZE + LINE) & ~LINE;
/** The rule that a lookup found, for each branch of its list. */
export const FOUND: usize = (REASONS + REASON_COUNT * 8 + LINE) & ~LINE;
/**
 * Lists of branches, u32 each: of this round, of the next one, not yet looked up, at the present
 * table.
 */
export const ROUND: usize = (FOUND + BATCH * 4 + LINE) & ~LINE;
export const WAITING: usize = (ROUND + ALL_BRANCHES * 4 + LINE) & ~LINE;
export const PENDING: usize = (WAITING + ALL_BRANCHES * 4 + LINE) & ~LINE;
export const GATHERED: usize = (PENDING + ALL_BRANCHES * 4 + LINE) & ~LINE;
/** The first rule of each frame, when frames are walked one after the other. */
export const FIRST_RULES: usize = (GATHERED + BATCH * 4 + LINE) & ~LINE;
/** The first table of frames for each function. */
export const FUNCTIONS: usize = (FIRST_RULES + BATCH * 4 + LINE) & ~LINE;
/** The lanes of each branch of a lookup, up to a whole key each. */
export const LANES: usize = (FUNCTIONS + MAX_FUNCTIONS * 4 + LINE) & ~LINE;
/**
 * Phases of a lookup (classify/lookup.ts): keys alive, their bitmaps; of probed keys number, tuple,
 * rule list.
 */
export const ALIVE: usize = (LANES + BATCH * KEY_SIZE + LINE) & ~LINE;
export const BITMAPS: usize = (ALIVE + BATCH * 4 + LINE) & ~LINE;
export const PROBED: usize = (BITMAPS + BATCH * 16 + LINE) & ~LINE;
export const PROBED_TUPLES: usize = (PROBED + BATCH * 4 + LINE) & ~LINE;
export const RULE_LISTS: usize = (PROBED_TUPLES + BATCH * 4 + LINE) & ~LINE;
/** The rules that a rebuild moves to other tuples. */
export const MOVES: usize = (RULE_LISTS + BATCH * 4 + LINE) & ~LINE;
/** The rank of the best rule so far, for each branch of a lookup: u64. */
export const BEST: usize = (MOVES + 64 * 4 + LINE) & ~LINE;
/** The lanes of the mask and the value of a new rule. */
export const MASK_LANES: usize = (BEST + BATCH * 8 + LINE) & ~LINE;
export const VALUE_LANES: usize = (MASK_LANES + KEY_SIZE + LINE) & ~LINE;
/** The mask of a new tuple. */
export const NEW_TUPLE_MASK: usize = (VALUE_LANES + KEY_SIZE + LINE) & ~LINE;
/** Masks by the numbers that the host gave them (classify/knownMasks.ts). */
export const KNOWN_MASKS: usize = (NEW_TUPLE_MASK + KEY_SIZE + LINE) & ~LINE;
export const KNOWN_MASKS_SIZE: usize = 8192;
/** The parser writes groups that no rule requires here. */
export const SCRATCH_KEY: usize = (KNOWN_MASKS + KNOWN_MASKS_SIZE + LINE) & ~LINE;
/** The programmable samples of the device (wire/sample.ts). */
export const SAMPLES: usize = (SCRATCH_KEY + KEY_SIZE + LINE) & ~LINE;
export const SAMPLE_SIZE: usize = 16;
/** The time of each frame in nanoseconds. The host writes it if the device has stateful actions. */
export const TIMES: usize = (SAMPLES + SAMPLES_SIZE + LINE) & ~LINE;
/** The use of each group of key stream (crypto/scratch.ts). */
export const ORDERS: usize = (TIMES + <usize>MAX_ROWS * 8 + LINE) & ~LINE;
export const ORDERS_SIZE: usize = 256;
/** Packets to encrypt or decrypt (src/abi/cipher.ts). */
export const JOBS: usize = (ORDERS + ORDERS_SIZE + LINE) & ~LINE;
/** The job of a packet by itself. */
export const SINGLE_JOB: usize = (JOBS + BATCH * JOB_SIZE + LINE) & ~LINE;
/** Of each frame in an ESP batch how its packet was prepared, a byte (walk/espBatch.ts). */
export const PREPARED: usize = (SINGLE_JOB + JOB_SIZE + LINE) & ~LINE;
/** The working memory of ciphers (crypto/scratch.ts). */
export const SECRETS: usize = (PREPARED + BATCH + LINE) & ~LINE;
export const SECRETS_SIZE: usize = 10240;
/** The columns of a burst (out/columns.ts). */
export const COLUMNS: usize = (SECRETS + SECRETS_SIZE + LINE) & ~LINE;
/** The flow cache (walk/flowCache.ts): lanes of the frames, their hashes (u64), their entries. */
export const CACHE_LANES: usize = (COLUMNS + COLUMNS_SIZE + LINE) & ~LINE;
export const CACHE_MAX_LANES: usize = 16;
export const HASHES: usize = (CACHE_LANES + BATCH * CACHE_MAX_LANES * 16 + LINE) & ~LINE;
export const ENTRIES: usize = (HASHES + BATCH * 8 + LINE) & ~LINE;
/**
 * Of a list of branches: their rules; the branches without a recorded result and their positions in
 * the list.
 */
export const RESULTS: usize = (ENTRIES + BATCH * 4 + LINE) & ~LINE;
export const UNCACHED: usize = (RESULTS + BATCH * 4 + LINE) & ~LINE;
export const UNCACHED_AT: usize = (UNCACHED + BATCH * 4 + LINE) & ~LINE;
/** The recorded lookups of each frame without an entry (walk/recordedLookups.ts). */
export const RECORDED: usize = (UNCACHED_AT + BATCH * 4 + LINE) & ~LINE;
export const RECORDED_SIZE: usize = 32;
/** Hits and misses of the flow cache, u64 each. */
export const CACHE_COUNTS: usize = (RECORDED + BATCH * RECORDED_SIZE + LINE) & ~LINE;
/**
 * Lengths of received frames, captured and on the wire, and sums over frames
 * (out/outcomeClasses.ts).
 */
export const LENGTHS: usize = (CACHE_COUNTS + 16 + LINE) & ~LINE;
export const OUTCOME_CLASSES: usize = (LENGTHS + BATCH * 8 + LINE) & ~LINE;
export const BYTES: usize = (OUTCOME_CLASSES + CLASSES_SIZE + LINE) & ~LINE;
export const ARENA: usize = (BYTES + FRAME_ARENA + LINE) & ~LINE;

/** Address of an area (`Area`) that the host reads or writes; 0 for none. */
export function areaAddress(area: i32): usize {
  switch (area) {
    case Area.staging:
      return STAGING;
    case Area.frames:
      return FRAMES;
    case Area.bytes:
      return BYTES;
    case Area.keys:
      return KEYS;
    case Area.maps:
      return MAPS;
    case Area.outcomes:
      return OUTCOMES;
    case Area.hits:
      return HITS;
    case Area.destinations:
      return DESTINATIONS;
    case Area.reasons:
      return REASONS;
    case Area.found:
      return FOUND;
    case Area.times:
      return TIMES;
    case Area.jobs:
      return JOBS;
    case Area.columns:
      return COLUMNS;
    case Area.functions:
      return FUNCTIONS;
    case Area.samples:
      return SAMPLES;
    case Area.arena:
      return ARENA;
    case Area.cache:
      return CACHE_COUNTS;
    case Area.outcome_classes:
      return OUTCOME_CLASSES;
    case Area.known_masks:
      return KNOWN_MASKS;
    default:
      return 0;
  }
}
