/**
 * The hash of a rule's value in a tuple. In: lanes, a mask, and the seed of a tuple. Out: 31 bits of
 * the multilinear hash of the masked lanes (assembly/hash.ts), and HASHED.
 */
import { productOfLane } from "../../hash";
import { HASHED } from "./bucket";

/** The hash of (bytes & mask). It is never 0. */
// @ts-ignore: decorator
@inline
export function hashMasked(bytes: usize, mask: usize, lanes: u32, seed: u32): u32 {
  let sum: u64 = 0;
  const end = (<usize>lanes) << 4;
  for (let at: usize = 0; at < end; at += 16)
    sum += productOfLane(v128.and(v128.load(bytes + at), v128.load(mask + at)), at << 1);
  return hashOf(sum, seed);
}

/** The same hash for one lane. */
// @ts-ignore: decorator
@inline
export function hashLane(bytes: usize, mask: usize, seed: u32): u32 {
  return hashOf(productOfLane(v128.and(v128.load(bytes), v128.load(mask)), 0), seed);
}

/** Values of several tuples may have one inner product, such as 0: the seed tells their hashes apart. */
// @ts-ignore: decorator
@inline
function hashOf(product: u64, seed: u32): u32 {
  return (<u32>(product >> 32) + seed) | HASHED;
}
