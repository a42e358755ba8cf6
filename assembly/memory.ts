/**
 * The map of linear memory: areas with fixed addresses, then the arena (arena.ts). In: the sizes of
 * src/abi. Out: the address of every fixed area, as a constant. Areas that grow with the frames of a
 * batch are in rows.ts.
 *
 *     static data | multipliers | staging | reasons | found | lists | functions | phases of a lookup
 *     | lanes of a new rule | known masks | sample keys | scratch key | samples | orders | secrets | columns
 *     | flow cache | first lists | first row | bytes of a frame | arena ...
 */
import {
  CACHE_SIZE,
  COLUMNS_SIZE,
  KNOWN_MASKS_SIZE,
  MAX_BATCH,
  MAX_FUNCTIONS,
  MULTIPLIERS_SIZE,
  SAMPLES_SIZE,
  STAGE_SIZE,
} from "../src/abi/engine";
import { REASON_COUNT } from "../src/abi/outcome";
import { JOB_SIZE } from "../src/abi/cipher";
import { KEY_SIZE } from "../src/abi/key";

export const BATCH: usize = MAX_BATCH;
/** The size of a branch (branch/branch.ts). */
export const BRANCH_SIZE: usize = 64;
/**
 * The largest number of frames that are walked at a time if rules split frames.
 */
export const SPLIT_BATCH: usize = 64;

/**
 * The end of static data, checked by `openMemory`. Fixed, so that every address below is a
 * constant.
 */
export const FIXED: usize = 0x8000;
const LINE: usize = 63;

/** The multipliers of hashes (hash.ts). */
export const MULTIPLIERS: usize = FIXED;
export const STAGING: usize = (MULTIPLIERS + MULTIPLIERS_SIZE + LINE) & ~LINE;
export const REASONS: usize = (STAGING + STAGE_SIZE + LINE) & ~LINE;
/** The rule that a lookup found, for each branch of its list. */
export const FOUND: usize = (REASONS + REASON_COUNT * 8 + LINE) & ~LINE;
/** Branches at the present table, u32 each. */
export const GATHERED: usize = (FOUND + BATCH * 4 + LINE) & ~LINE;
/** The first rule of each frame, when frames are walked one after the other. */
export const FIRST_RULES: usize = (GATHERED + BATCH * 4 + LINE) & ~LINE;
/** The first table of frames for each function. */
export const FUNCTIONS: usize = (FIRST_RULES + BATCH * 4 + LINE) & ~LINE;
/**
 * Phases of a lookup (classify/lookup/lookup.ts): keys alive, their bitmaps; of probed keys number, tuple,
 * rule list.
 */
export const ALIVE: usize = (FUNCTIONS + MAX_FUNCTIONS * 4 + LINE) & ~LINE;
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
/** The sample keys of classify/bitmaps/chooseChunks.ts, and what each chunk removes. */
export const SAMPLE_KEYS: usize = (KNOWN_MASKS + KNOWN_MASKS_SIZE + LINE) & ~LINE;
export const SAMPLE_KEYS_SIZE: usize = 4096;
export const GAINS: usize = (SAMPLE_KEYS + SAMPLE_KEYS_SIZE + LINE) & ~LINE;
export const GAINS_SIZE: usize = 256;
/** The parser writes groups that no rule requires here. */
export const SCRATCH_KEY: usize = (GAINS + GAINS_SIZE + LINE) & ~LINE;
/** The programmable samples of the device (wire/sample.ts). */
export const SAMPLES: usize = (SCRATCH_KEY + KEY_SIZE + LINE) & ~LINE;
export const SAMPLE_SIZE: usize = 16;
/** The use of each group of key stream (crypto/scratch.ts). */
export const ORDERS: usize = (SAMPLES + SAMPLES_SIZE + LINE) & ~LINE;
export const ORDERS_SIZE: usize = 256;
/** The job of a packet by itself. */
export const SINGLE_JOB: usize = (ORDERS + ORDERS_SIZE + LINE) & ~LINE;
/** Of each frame in an ESP batch how its packet was prepared, a byte (walk/espBatch.ts). */
export const PREPARED: usize = (SINGLE_JOB + JOB_SIZE + LINE) & ~LINE;
/** The working memory of ciphers (crypto/scratch.ts). */
export const SECRETS: usize = (PREPARED + BATCH + LINE) & ~LINE;
export const SECRETS_SIZE: usize = 10240;
/** The columns of a burst (out/columns.ts). */
export const COLUMNS: usize = (SECRETS + SECRETS_SIZE + LINE) & ~LINE;
/** The flow cache (walk/flowCache.ts): the hashes of the frames (u64), their entries. */
export const HASHES: usize = (COLUMNS + COLUMNS_SIZE + LINE) & ~LINE;
export const CACHE_MAX_LANES: usize = 16;
export const ENTRIES: usize = (HASHES + BATCH * 8 + LINE) & ~LINE;
/**
 * Of a list of branches: their rules; the branches without a recorded result and their positions in
 * the list.
 */
export const RESULTS: usize = (ENTRIES + BATCH * 4 + LINE) & ~LINE;
export const UNCACHED: usize = (RESULTS + BATCH * 4 + LINE) & ~LINE;
export const UNCACHED_AT: usize = (UNCACHED + BATCH * 4 + LINE) & ~LINE;
/** The size of the recorded lookups of a frame without an entry (walk/recordedLookups.ts). */
export const RECORDED_SIZE: usize = 32;
/** Hits and misses of the flow cache, u64 each. */
export const CACHE_COUNTS: usize = (UNCACHED_AT + BATCH * 4 + LINE) & ~LINE;
/** The lists of the walk while no rule splits frames (rows.ts). */
export const FIRST_LISTS: usize = (CACHE_COUNTS + CACHE_SIZE + LINE) & ~LINE;
/** The areas of one row (rows.ts), and the bytes of a frame of usual length. */
export const FIRST_ROWS: usize = (FIRST_LISTS + 3 * BATCH * 4 + LINE) & ~LINE;
export const FIRST_ROWS_SIZE: usize = 3072;
export const FIRST_BYTES: usize = (FIRST_ROWS + FIRST_ROWS_SIZE + LINE) & ~LINE;
export const FIRST_BYTES_SIZE: usize = 2048;
/** The first byte that the arena can have. */
export const ARENA: usize = (FIRST_BYTES + FIRST_BYTES_SIZE + LINE) & ~LINE;
