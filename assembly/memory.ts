/**
 * The map of linear memory: fixed areas first, then the arena that grows (arena.ts).
 *
 *     __heap_base | staging | frames | keys | maps | branches | outcomes | hits | destinations | copies | reasons |
 *                 | found | walk lists | lanes | phases of a lookup | lanes being made | scratch key | samples |
 *                 | frame bytes | arena ...
 *
 * Everything is addressed by plain numbers; nothing here is ever collected.
 */
import {
  Area,
  DEST_SIZE,
  DESTINATIONS_PER_FRAME,
  FRAME_ARENA,
  FRAME_SIZE,
  HITS_PER_FRAME,
  MAX_BATCH,
  OUTCOME_SIZE,
  REASON_COUNT,
  STAGE_SIZE,
} from "../src/abi/engine";
import { KEY_SIZE } from "../src/abi/key";
import { MAP_SIZE } from "../src/abi/headers";

export const BATCH: usize = MAX_BATCH;
/** Bytes of a branch (steer/branch.ts). */
export const BRANCH_SIZE: usize = 32;

function align(address: usize): usize {
  return (address + 63) & ~(<usize>63);
}

export const STAGING: usize = align(__heap_base);
export const FRAMES: usize = align(STAGING + STAGE_SIZE);
export const KEYS: usize = align(FRAMES + BATCH * FRAME_SIZE);
export const MAPS: usize = align(KEYS + BATCH * KEY_SIZE);
export const BRANCHES: usize = align(MAPS + BATCH * MAP_SIZE);
export const OUTCOMES: usize = align(BRANCHES + BATCH * BRANCH_SIZE);
export const HITS: usize = align(OUTCOMES + BATCH * OUTCOME_SIZE);
export const DESTINATIONS: usize = align(HITS + BATCH * HITS_PER_FRAME * 4);
/** Destinations beside each frame's first, of all frames, one behind the other as they come up. */
export const COPIES: usize = align(DESTINATIONS + BATCH * DEST_SIZE);
export const REASONS: usize = align(COPIES + BATCH * (DESTINATIONS_PER_FRAME - 1) * DEST_SIZE);
/** Rule found for each branch of a lookup. */
export const FOUND: usize = align(REASONS + REASON_COUNT * 8);
/** Branches still on the walk, and those of the table at hand: two lists of u32. */
export const WAITING: usize = align(FOUND + BATCH * 4);
export const GATHERED: usize = align(WAITING + BATCH * 4);
/** The lanes of every branch of a lookup; each up to a whole key. */
export const LANES: usize = align(GATHERED + BATCH * 4);
export const HASHES: usize = align(LANES + BATCH * KEY_SIZE);
/** Phases of a lookup (steer/match.ts): keys alive, their sets of groups, keys probed, their buckets and candidates. */
export const ALIVE: usize = align(HASHES + BATCH * 4);
export const SETS: usize = align(ALIVE + BATCH * 4);
export const PROBED: usize = align(SETS + BATCH * 16);
export const PROBES: usize = align(PROBED + BATCH * 4);
export const CANDIDATES: usize = align(PROBES + BATCH * 4);
/** What stands for no rule in CANDIDATES: one of the last rank, which nothing beats with. */
export const NOTHING: usize = align(CANDIDATES + BATCH * 4);
/** Rules that a sweep moves to other groups. */
export const MOVES: usize = align(NOTHING + 64);
/** Rank of the best rule so far, for each branch of a lookup: u64. */
export const BEST: usize = align(MOVES + 64 * 4);
/** The lanes of the mask and of the value of a rule being inserted. */
export const MASK_LANES: usize = align(BEST + BATCH * 8);
export const VALUE_LANES: usize = align(MASK_LANES + KEY_SIZE);
/** The mask of a group that is being made. */
export const DRAWN: usize = align(VALUE_LANES + KEY_SIZE);
/** Where the parser writes groups that nobody reads. */
export const SCRATCH_KEY: usize = align(DRAWN + KEY_SIZE);
/** The programmable samples that the device declares (wire/sample.ts). */
export const SAMPLES: usize = align(SCRATCH_KEY + KEY_SIZE);
export const SAMPLE_SIZE: usize = 16;
export const BYTES: usize = align(SAMPLES + 8 * SAMPLE_SIZE);
export const ARENA: usize = align(BYTES + FRAME_ARENA);

/** Address of an area that the host reads or writes; 0 for none. */
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
    default:
      return 0;
  }
}
