/**
 * Multilinear hashing (Lemire and Kaser, "Strongly universal string hashing is fast", 2014). In: words
 * of 32 bits. Out: their inner product with the multipliers, modulo 2^64, whose high half is a hash.
 *
 *     multiplier0 * word0 + multiplier1 * word1 + ...
 *
 *     MULTIPLIERS    | multiplier0 8 | multiplier1 8 | ...
 *
 * The multipliers of a device are random and secret, and the host writes them before the first rule.
 * The probability that two different inputs have the same 31 bits of hash is at most 2^-30.
 */
import { MULTIPLIERS_SIZE } from "../src/abi/engine";
import { MULTIPLIERS } from "./memory";

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

/** The inner product of the words of a lane and four multipliers, from offset `at` on. */
// @ts-ignore: decorator
@inline
export function productOfLane(lane: v128, at: usize): u64 {
  const low = <u64>i64x2.extract_lane(lane, 0);
  const high = <u64>i64x2.extract_lane(lane, 1);
  return (
    (low & 0xffffffff) * load<u64>(at, MULTIPLIERS) +
    (low >> 32) * load<u64>(at, MULTIPLIERS + 8) +
    (high & 0xffffffff) * load<u64>(at, MULTIPLIERS + 16) +
    (high >> 32) * load<u64>(at, MULTIPLIERS + 24)
  );
}

/** The inner product of the words at `begin`. Words beyond the number of multipliers take them again from the first on. */
// @ts-ignore: decorator
@inline
export function productOfWords(begin: usize, end: usize): u64 {
  let sum: u64 = 0;
  for (let at = begin; at < end; at += 4)
    sum += <u64>load<u32>(at) * load<u64>(((at - begin) << 1) & (<usize>MULTIPLIERS_SIZE - 1), MULTIPLIERS);
  return sum;
}
