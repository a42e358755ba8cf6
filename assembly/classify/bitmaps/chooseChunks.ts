/**
 * Chooses the field chunks that lookups read: each quad costs every key a little, each tuple probed
 * without success costs more. In: the rules of a table, and bitmaps with all chunks whose wildcards
 * are apart. Out: bitmaps with quads. The choice never changes the result of a lookup.
 *
 * Sample keys are made of SAMPLES rules from random buckets: a key that one rule matches, with
 * random bits outside the mask, and a key whose columns come from different rules, like a frame that
 * matches many rules in part. The chunk that removes most candidates is chosen first, then the next,
 * a quad at a time while a quad pays; each quad is chosen with samples of its own.
 *
 *     SAMPLE_KEYS: | lanes 32 | ... of the rules | lanes 32 | ... mixed |
 */
import { RULE_MASK, RULE_RANK, RULE_VALUE } from "../../../src/abi/rule";
import { BITMAPS, GAINS, SAMPLE_KEYS } from "../../memory";
import { isLink, valueAt, WIDTH } from "../tuples/bucket";
import { bestFrom, candidatesOf, chunksBuilt, layQuads, lowBits } from "./candidates";
import { CHOSEN } from "./candidatesLayout";
import { CHUNK_LANES, CHUNKS } from "./fieldChunk";
import { bucketAt, BUCKETS } from "../tuples/hashTable";
import { MASK_BYTES, MASK_LANES_COUNT } from "../mask";
import { draw } from "../tuples/noise";
import { MAX_TUPLES } from "../tuples/tuple";

const SAMPLES: u32 = 64;
/** With fewer sample keys all chunks are chosen. */
const FEW_KEYS: u32 = 16;
/** Buckets that are searched for a sample, if a table has few rules for its size. */
const SEARCHED: u32 = 64;
const KEY_SHIFT: usize = 5;
/** A quad must save this many probes per hundred keys. */
const WORTH: u32 = 30;

/** Chooses a quad more; false when no other is worth it, and then lookups may read those chosen. */
export function chooseQuad(bitmaps: usize, hashTable: usize): bool {
  const chosen = load<u64>(bitmaps, CHOSEN);
  const all = chunksBuilt(bitmaps);
  const keys = drawKeys(bitmaps, hashTable);
  if (keys < FEW_KEYS) {
    layQuads(bitmaps, all);
    return false;
  }
  for (let left = chosen; left != 0; left &= left - 1) narrow(bitmaps, <u32>ctz(left), keys);
  memory.fill(GAINS, 0xff, CHUNKS * 4);
  let rest = all & ~chosen;
  let quad: u64 = 0;
  let gain: u32 = 0;
  for (let n = 0; n < 4 && rest != 0; n++) {
    const best = bestChunk(bitmaps, rest, keys);
    gain += load<u32>(GAINS + ((<usize>best) << 2));
    narrow(bitmaps, best, keys);
    rest &= ~((<u64>1) << best);
    quad |= (<u64>1) << best;
  }
  if (gain * 100 < keys * WORTH) {
    layQuads(bitmaps, chosen & all);
    return false;
  }
  store<u64>(bitmaps, chosen | quad, CHOSEN);
  return true;
}

/** Makes sample keys, each with all candidates; returns their number. */
function drawKeys(bitmaps: usize, hashTable: usize): u32 {
  let samples: u32 = 0;
  for (let n: u32 = 0; n < SAMPLES; n++) {
    const rule = drawRule(hashTable);
    if (rule == 0) continue;
    sample(keyAt(samples), rule);
    v128.store(BITMAPS + ((<usize>samples) << 4), bitsBefore(bitmaps, load<u64>(rule, RULE_RANK)));
    samples++;
  }
  const keys = samples * 2;
  for (let n = samples; n < keys; n++) {
    mix(n, samples);
    v128.store(BITMAPS + ((<usize>n) << 4), bitsBefore(bitmaps, u64.MAX_VALUE - 1));
  }
  return keys;
}

/** The first rule of a random list; 0 if there is none near. */
function drawRule(hashTable: usize): usize {
  const buckets = load<u32>(hashTable, BUCKETS);
  const drawn = draw();
  let number = <u32>(((drawn >> 32) * <u64>buckets) >> 32);
  for (let n: u32 = 0; n < SEARCHED; n++) {
    const bucket = bucketAt(hashTable, number);
    for (let slot: u32 = 0; slot < WIDTH; slot++) {
      const rule = valueAt(bucket, (<u32>(drawn >> 30) + slot) % WIDTH);
      if (rule != 0 && !isLink(rule)) return rule;
    }
    number = number + 1 == buckets ? 0 : number + 1;
  }
  return 0;
}

/** Makes a key that a rule matches. */
function sample(key: usize, rule: usize): void {
  const mask: usize = load<u32>(rule, RULE_MASK);
  const lanes = min(load<u32>(mask, MASK_LANES_COUNT), CHUNK_LANES);
  for (let lane: u32 = 0; lane < CHUNK_LANES; lane++) {
    const byte = (<usize>lane) << 4;
    const any = i64x2.replace_lane(i64x2.splat(draw()), 1, draw());
    const value = lane < lanes ? v128.load(rule + byte, RULE_VALUE) : i64x2.splat(0);
    const covered = lane < lanes ? v128.load(mask + byte, MASK_BYTES) : i64x2.splat(0);
    v128.store(key + byte, v128.or(value, v128.andnot(any, covered)));
  }
}

/**
 * The chunk that removes most candidates. What a chunk removes never grows while others are
 * applied, so only few are counted again.
 */
function bestChunk(bitmaps: usize, rest: u64, keys: u32): u32 {
  while (true) {
    let first: u32 = 0;
    let most: u32 = 0;
    let second: u32 = 0;
    for (let left = rest; left != 0; left &= left - 1) {
      const number = <u32>ctz(left);
      const gain = load<u32>(GAINS + ((<usize>number) << 2));
      if (gain > most || left == rest) {
        second = most;
        most = gain;
        first = number;
      } else if (gain > second) {
        second = gain;
      }
    }
    const gain = gainOf(bitmaps, first, keys);
    store<u32>(GAINS + ((<usize>first) << 2), gain);
    if (gain >= second) return first;
  }
}

/** The number of candidates that a chunk removes from the sample keys. */
function gainOf(bitmaps: usize, number: u32, keys: u32): u32 {
  let removed: u64 = 0;
  for (let n: u32 = 0; n < keys; n++) {
    const gone = v128.andnot(v128.load(BITMAPS + ((<usize>n) << 4)), candidatesOf(bitmaps, number, keyAt(n)));
    removed += popcnt(i64x2.extract_lane(gone, 0)) + popcnt(i64x2.extract_lane(gone, 1));
  }
  return <u32>removed;
}

function narrow(bitmaps: usize, number: u32, keys: u32): void {
  for (let n: u32 = 0; n < keys; n++) {
    const bitmap = BITMAPS + ((<usize>n) << 4);
    v128.store(bitmap, v128.and(v128.load(bitmap), candidatesOf(bitmaps, number, keyAt(n))));
  }
}

/** Makes key `n`, whose columns come from different samples. */
function mix(n: u32, samples: u32): void {
  const at = keyAt(n);
  for (let column: u32 = 0; column < CHUNK_LANES * 4; column++) {
    const from = keyAt((n + column * 13) % samples);
    store<u32>(at + ((<usize>column) << 2), load<u32>(from + ((<usize>column) << 2)));
  }
}

// @ts-ignore: decorator
@inline
function keyAt(n: u32): usize {
  return SAMPLE_KEYS + ((<usize>n) << KEY_SHIFT);
}

/** The bits that a lookup probes before it accepts a rule of this rank. */
function bitsBefore(bitmaps: usize, rank: u64): v128 {
  let bits: u32 = 0;
  while (bits < MAX_TUPLES && bestFrom(bitmaps, bits) <= rank) bits++;
  return i64x2.replace_lane(i64x2.splat(lowBits(min(bits, 64))), 1, lowBits(max(bits, 64) - 64));
}
