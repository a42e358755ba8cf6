/**
 * The masks of a table, each stored once. In: the lanes of a rule's mask. Out: the address of the
 * stored mask.
 *
 *     0       4       8      12      16      20      24        28      32       40       48
 *     | lanes | needs | hash | rules | tuple | table | rebuild | known | chunks | nearly | mask lanes ... |
 *
 * A mask has only as many lanes as it needs. `tuple` is the tuple of its next rules; older rules
 * may still be in another one until a rebuild moves them (rebuild.ts).
 */
import { allocate, release } from "../arena";
import { linkOf, slotsWith, valueAt } from "./tuples/bucket";
import { hashMasked } from "./tuples/hash";
import { addEntry, bucketOf, BUCKETS, removeEntry } from "./tuples/hashTable";

export const MASK_LANES_COUNT: usize = 0;
/** The required fields (requiredFields.ts). */
export const MASK_NEEDS: usize = 4;
export const MASK_HASH: usize = 8;
export const MASK_RULES: usize = 12;
export const MASK_TUPLE: usize = 16;
export const MASK_TABLE: usize = 20;
/** The number of the rebuild that last chose a tuple for the mask. */
export const MASK_REBUILD: usize = 24;
/** The number that the host gave the mask last (knownMasks.ts). */
export const MASK_KNOWN: usize = 28;
/** The field chunks that the mask covers whole, a bit each (fieldChunk.ts). */
export const MASK_CHUNKS: usize = 32;
/** The chunks that it covers but for a few bits of one byte. */
export const MASK_NEARLY: usize = 40;
export const MASK_BYTES: usize = 48;

/** The stored mask of `lanes` lanes at `bytes`, created if it is new; 0 when memory is full. */
export function maskFor(table: usize, masks: usize, bytes: usize, lanes: u32): usize {
  const hash = hashMasked(bytes, bytes, lanes, 0);
  if (load<u32>(masks, BUCKETS) != 0) {
    for (let bucket = bucketOf(masks, hash); bucket != 0; bucket = linkOf(bucket)) {
      for (let bits = slotsWith(bucket, hash); bits != 0; bits &= bits - 1) {
        const mask = valueAt(bucket, <u32>ctz(bits));
        if (load<u32>(mask, MASK_LANES_COUNT) == lanes && equalBytes(mask + MASK_BYTES, bytes, lanes)) return mask;
      }
    }
  }
  const mask = allocate(maskSize(lanes));
  if (mask == 0) return 0;
  memory.fill(mask, 0, MASK_BYTES);
  store<u32>(mask, lanes, MASK_LANES_COUNT);
  store<u32>(mask, hash, MASK_HASH);
  store<u32>(mask, <u32>table, MASK_TABLE);
  memory.copy(mask + MASK_BYTES, bytes, (<usize>lanes) << 4);
  if (addEntry(masks, hash, mask)) return mask;
  release(mask, maskSize(lanes));
  return 0;
}

/** Frees a mask without rules. */
export function dropMask(masks: usize, mask: usize): void {
  removeEntry(masks, load<u32>(mask, MASK_HASH), mask, false);
  release(mask, maskSize(load<u32>(mask, MASK_LANES_COUNT)));
}

// @ts-ignore: decorator
@inline
function maskSize(lanes: u32): u32 {
  return <u32>MASK_BYTES + (lanes << 4);
}

/** The number of lanes up to the last nonzero one; at least 1. */
export function lanesOf(bytes: usize, lanes: u32): u32 {
  while (lanes > 1 && !v128.any_true(v128.load(bytes + ((<usize>(lanes - 1)) << 4)))) lanes--;
  return lanes;
}

function equalBytes(a: usize, b: usize, lanes: u32): bool {
  for (let lane: u32 = 0; lane < lanes; lane++, a += 16, b += 16) {
    if (v128.any_true(v128.xor(v128.load(a), v128.load(b)))) return false;
  }
  return true;
}
