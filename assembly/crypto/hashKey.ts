/**
 * The hash key of an association: tables of powers of H (toeplitz.ts), only the powers that packets
 * read.
 *
 *     | H, H^2, H^3 for blocks | lengths times H | H, H^2, H^16 for lanes |
 */
import { BLOCK_SIZE, multiply } from "./blocks";
import { LANES_SIZE, makeBlockTables, makeLaneTables, wipeBlocks } from "./toeplitz";

/** The tables of H, of H^2 and of H^3. */
export const BLOCKS_1: usize = 0;
export const BLOCKS_2: usize = BLOCK_SIZE;
export const BLOCKS_3: usize = 2 * BLOCK_SIZE;
/** All of these. */
export const BLOCKS_SIZE: usize = 3 * BLOCK_SIZE;
/** H times each bit of a length in bytes, 16 bytes each: of the data, then of the AAD. */
const LENGTHS: usize = BLOCKS_SIZE;
const AAD_LENGTHS: usize = LENGTHS + 32 * 16;
export const LANES_1: usize = AAD_LENGTHS + 16 * 16;
export const LANES_2: usize = LANES_1 + LANES_SIZE;
export const LANES_16: usize = LANES_2 + LANES_SIZE;
export const HASH_SIZE: usize = LANES_16 + LANES_SIZE;

/** The power whose tables are being made. */
const POWER: usize = memory.data(16, 16);

/** Makes the hash key from H, the encrypted block of zeros. */
export function setHashKey(hash: usize, h: usize): void {
  const first = v128.load(h);
  v128.store(POWER, first);
  makeBlockTables(hash + BLOCKS_1, POWER);
  makeLaneTables(hash + LANES_1, POWER);
  setLengths(hash);
  const second = multiply(hash + BLOCKS_1, first);
  v128.store(POWER, second);
  makeBlockTables(hash + BLOCKS_2, POWER);
  makeLaneTables(hash + LANES_2, POWER);
  v128.store(POWER, multiply(hash + BLOCKS_1, second));
  makeBlockTables(hash + BLOCKS_3, POWER);
  let sixteenth = second;
  for (let n = 2; n < 16; n += 2) sixteenth = multiply(hash + BLOCKS_2, sixteenth);
  v128.store(POWER, sixteenth);
  makeLaneTables(hash + LANES_16, POWER);
  v128.store(POWER, i64x2(0, 0));
  wipeBlocks();
}

/**
 * The lengths are the last block, in bits: bit n of the data length in bytes is x^(124 - n) of it,
 * bit n of the AAD length x^(60 - n).
 */
function setLengths(hash: usize): void {
  v128.store(POWER, i64x2(0, 0));
  store<u8>(POWER, 0x80 >> (45 & 7), 45 >> 3);
  double(hash + AAD_LENGTHS, multiply(hash + BLOCKS_1, v128.load(POWER)), 16);
  v128.store(POWER, i64x2(0, 0));
  store<u8>(POWER, 0x80 >> (93 & 7), 93 >> 3);
  double(hash + LENGTHS, multiply(hash + BLOCKS_1, v128.load(POWER)), 32);
}

/** Writes `count` blocks, each x times the next one; `block` is the last. */
function double(to: usize, block: v128, count: usize): void {
  let high = bswap(<u64>i64x2.extract_lane(block, 0));
  let low = bswap(<u64>i64x2.extract_lane(block, 1));
  for (let at = to + (count << 4); at != to;) {
    at -= 16;
    store<u64>(at, bswap(high));
    store<u64>(at, bswap(low), 8);
    const carry: u64 = 0 - (low & 1);
    low = (low >> 1) | (high << 63);
    high = (high >> 1) ^ (carry & 0xe100000000000000);
  }
}

/** The block of the lengths times H. Lengths are not secret. */
export function lengthsTimesH(hash: usize, aadLength: u32, length: u32): v128 {
  let sum = i64x2(0, 0);
  for (; length != 0; length &= length - 1)
    sum = v128.xor(sum, v128.load(hash + LENGTHS + ((<usize>ctz(length)) << 4)));
  for (; aadLength != 0; aadLength &= aadLength - 1) {
    sum = v128.xor(sum, v128.load(hash + AAD_LENGTHS + ((<usize>ctz(aadLength)) << 4)));
  }
  return sum;
}
