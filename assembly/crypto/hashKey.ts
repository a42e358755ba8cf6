/** What GHASH keeps of an association: tables of powers of H (toeplitz.ts). */
import { BLOCK_SIZE, multiply } from "./blocks";
import { makeBlockTables } from "./toeplitz";

/** Tables of H. */
export const HASH_BLOCKS: usize = 0;
export const HASH_SIZE: usize = BLOCK_SIZE;

/** Makes the hash key of H, the block of zeros as AES makes it. */
export function setHashKey(hash: usize, h: usize): void {
  makeBlockTables(hash + HASH_BLOCKS, h);
}

// @ts-ignore: decorator
@inline
export function timesH(hash: usize, block: v128): v128 {
  return multiply(hash + HASH_BLOCKS, block);
}
