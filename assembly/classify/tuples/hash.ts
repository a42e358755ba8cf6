/**
 * The hash of lanes under a mask: multilinear hashing (Lemire and Kaser, "Strongly universal string
 * hashing is fast", 2014). In: lanes, a mask, and the seed of a tuple. Out: 31 bits, and HASHED.
 *
 *     hash = seed + high half of (multiplier0 * word0 + multiplier1 * word1 + ...)   modulo 2^64
 *
 *     words          the masked lanes, 32 bits each
 *     MULTIPLIERS    | multiplier0 8 | multiplier1 8 | ...
 *
 * The multipliers of a device are random, and the host writes them before the first rule. Whoever
 * does not know them cannot choose values of one hash: any two values have one with a chance of at
 * most 2^-30.
 */
import { MULTIPLIERS_SIZE } from "../../../src/abi/engine";
import { MULTIPLIERS } from "../../memory";
import { HASHED } from "./bucket";

/** Writes multipliers that are always the same (Steele, Lea and Flood, "Fast splittable pseudorandom number generators"). */
export function openMultipliers(): void {
  let state: u64 = 0;
  for (let at: usize = 0; at < <usize>MULTIPLIERS_SIZE; at += 8) {
    state += 0x9e3779b97f4a7c15;
    let number = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
    store<u64>(at, number ^ (number >> 31), MULTIPLIERS);
  }
}

/** The hash of (bytes & mask). It is never 0. */
// @ts-ignore: decorator
@inline
export function hashMasked(bytes: usize, mask: usize, lanes: u32, seed: u32): u32 {
  let sum: u64 = 0;
  const end = (<usize>lanes) << 4;
  for (let at: usize = 0; at < end; at += 16)
    sum += product(v128.and(v128.load(bytes + at), v128.load(mask + at)), at << 1);
  return folded(sum, seed);
}

/** The same hash for one lane. */
// @ts-ignore: decorator
@inline
export function hashLane(bytes: usize, mask: usize, seed: u32): u32 {
  return folded(product(v128.and(v128.load(bytes), v128.load(mask)), 0), seed);
}

/** The inner product of a lane and the multipliers from offset `at` on. */
// @ts-ignore: decorator
@inline
function product(lane: v128, at: usize): u64 {
  const low = <u64>i64x2.extract_lane(lane, 0);
  const high = <u64>i64x2.extract_lane(lane, 1);
  return (
    (low & 0xffffffff) * load<u64>(at, MULTIPLIERS) +
    (low >> 32) * load<u64>(at, MULTIPLIERS + 8) +
    (high & 0xffffffff) * load<u64>(at, MULTIPLIERS + 16) +
    (high >> 32) * load<u64>(at, MULTIPLIERS + 24)
  );
}

// @ts-ignore: decorator
@inline
function folded(sum: u64, seed: u32): u32 {
  return (<u32>(sum >> 32) + seed) | HASHED;
}
