/**
 * Chooses the field chunks that lookups read: each quad costs every key a little, each tuple probed
 * without success costs more. In: samples of the rules. Out: the quads of the candidate bitmaps.
 * The choice never changes the result of a lookup.
 *
 * Sample keys are made of a reservoir of SAMPLES rules: a key that one rule matches, with random
 * bits outside the mask, and a key whose columns come from different rules, like a frame that
 * matches many rules in part. The chunk that removes most candidates is chosen first, then the
 * next, a quad at a time while a quad pays.
 *
 *     a sample: | lanes 32 | rank 8 | 0 8 |
 */
import { BITMAPS, GAINS, SAMPLE_KEYS } from "../memory";
import { MAX_TUPLES } from "./tuple";
import { MASK_BYTES, MASK_LANES_COUNT } from "./mask";
import { RULE_MASK, RULE_RANK, RULE_VALUE } from "./rule";
import {
  bestFrom,
  layQuads,
  lowBits,
  candidatesOf,
  SAMPLE,
  SAMPLED,
  SAMPLES,
  SAMPLES_AT,
  chunksBuilt,
} from "./candidates";
import { CHUNK_LANES, CHUNKS } from "./fieldChunk";

const SAMPLE_RANK: usize = 32;
/** A quad must save this many probes per hundred keys. */
const WORTH: u32 = 16;
/** With fewer samples all chunks are used. */
const FEW_SAMPLES: u32 = 8;

let noise: u64 = 0x9e3779b97f4a7c15;

function draw(): u64 {
  noise = noise * 6364136223846793005 + 1442695040888963407;
  return noise;
}

/**
 * Samples a rule: the first SAMPLES rules, later ones with a falling probability (reservoir
 * sampling).
 */
export function sample(bitmaps: usize, rule: usize): void {
  const seen = load<u32>(bitmaps, SAMPLED);
  store<u32>(bitmaps, seen + 1, SAMPLED);
  const n = seen < SAMPLES ? seen : <u32>(((draw() >> 32) * <u64>(seen + 1)) >> 32);
  if (n >= SAMPLES) return;
  const at = sampleAt(bitmaps, n);
  const mask: usize = load<u32>(rule, RULE_MASK);
  const lanes = min(load<u32>(mask, MASK_LANES_COUNT), CHUNK_LANES);
  for (let lane: u32 = 0; lane < CHUNK_LANES; lane++) {
    const byte = (<usize>lane) << 4;
    const any = i64x2.replace_lane(i64x2.splat(draw()), 1, draw());
    const value = lane < lanes ? v128.load(rule + byte, RULE_VALUE) : i64x2.splat(0);
    const covered = lane < lanes ? v128.load(mask + byte, MASK_BYTES) : i64x2.splat(0);
    v128.store(at + byte, v128.or(value, v128.andnot(any, covered)));
  }
  store<u64>(at, load<u64>(rule, RULE_RANK), SAMPLE_RANK);
}

/** Chooses the chunks that lookups read. */
export function choose(bitmaps: usize): void {
  const samples = min(load<u32>(bitmaps, SAMPLED), SAMPLES);
  let rest = chunksBuilt(bitmaps);
  if (samples < FEW_SAMPLES) {
    layQuads(bitmaps, rest);
    return;
  }
  const keys = samples * 2;
  for (let n: u32 = 0; n < samples; n++) {
    v128.store(BITMAPS + ((<usize>n) << 4), bitsBefore(bitmaps, load<u64>(sampleAt(bitmaps, n), SAMPLE_RANK)));
    v128.store(BITMAPS + ((<usize>(n + samples)) << 4), bitsBefore(bitmaps, u64.MAX_VALUE - 1));
    mix(bitmaps, n, samples);
  }
  memory.fill(GAINS, 0xff, CHUNKS * 4);
  let chosen: u64 = 0;
  while (rest != 0) {
    let quad: u64 = 0;
    let gain: u32 = 0;
    for (let n = 0; n < 4 && rest != 0; n++) {
      const best = bestChunk(bitmaps, rest, keys);
      gain += load<u32>(GAINS + ((<usize>best) << 2));
      narrow(bitmaps, best, keys);
      rest &= ~((<u64>1) << best);
      quad |= (<u64>1) << best;
    }
    if (gain * 100 < keys * WORTH) break;
    chosen |= quad;
  }
  layQuads(bitmaps, chosen);
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
    const gone = v128.andnot(
      v128.load(BITMAPS + ((<usize>n) << 4)),
      candidatesOf(bitmaps, number, keyAt(bitmaps, n, keys)),
    );
    removed += popcnt(i64x2.extract_lane(gone, 0)) + popcnt(i64x2.extract_lane(gone, 1));
  }
  return <u32>removed;
}

function narrow(bitmaps: usize, number: u32, keys: u32): void {
  for (let n: u32 = 0; n < keys; n++) {
    const bitmap = BITMAPS + ((<usize>n) << 4);
    v128.store(bitmap, v128.and(v128.load(bitmap), candidatesOf(bitmaps, number, keyAt(bitmaps, n, keys))));
  }
}

/** Makes a key whose columns come from different samples. */
function mix(bitmaps: usize, n: u32, samples: u32): void {
  const at = SAMPLE_KEYS + ((<usize>n) << 5);
  for (let column: u32 = 0; column < CHUNK_LANES * 4; column++) {
    const from = sampleAt(bitmaps, (n + column * 13) % samples);
    store<u32>(at + ((<usize>column) << 2), load<u32>(from + ((<usize>column) << 2)));
  }
}

/** The samples, then the mixed keys. */
// @ts-ignore: decorator
@inline
function keyAt(bitmaps: usize, n: u32, keys: u32): usize {
  const samples = keys / 2;
  return n < samples ? sampleAt(bitmaps, n) : SAMPLE_KEYS + ((<usize>(n - samples)) << 5);
}

// @ts-ignore: decorator
@inline
function sampleAt(bitmaps: usize, n: u32): usize {
  return bitmaps + SAMPLES_AT + <usize>n * SAMPLE;
}

/** The bits that a lookup probes before it accepts a rule of this rank. */
function bitsBefore(bitmaps: usize, rank: u64): v128 {
  let bits: u32 = 0;
  while (bits < MAX_TUPLES && bestFrom(bitmaps, bits) <= rank) bits++;
  return i64x2.replace_lane(i64x2.splat(lowBits(min(bits, 64))), 1, lowBits(max(bits, 64) - 64));
}
