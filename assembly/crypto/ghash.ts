/**
 * GHASH of one packet (NIST SP 800-38D, 6.4 and 7.1): the sum of its blocks X(0 .. n-1), first the
 * AAD, then the data, each times H^(n + 1 - k), and of the lengths times H.
 */
import { multiply, multiplyAdd } from "./blocks";
import { BLOCKS_1, BLOCKS_2, LANES_16, lengthsTimesH } from "./hashKey";
import { clearLanes, multiplyLanes, wipeLanes } from "./lanes";
import { blockOf, countBlocks, findBlock } from "./packet";
import { addBlocks, firstBlocks, lastBlocks, wipeTransposed } from "./transpose";

/**
 * The number of blocks from which sixteen lanes are faster, although their sums are sixteen more
 * blocks at the end.
 */
export const MANY: u32 = 28;

/** Addresses of the blocks of all lanes. */
export const LIST: usize = memory.data(64, 16);
/** Blocks built for lanes, and the results of the lanes. */
export const SPARE: usize = memory.data(256, 16);
/** A block of zeros: the input of lanes before their packets begin. */
export const ZERO: usize = memory.data(16, 16);

export function ghash(hash: usize, aad: usize, aadLength: u32, data: usize, length: u32, out: usize): void {
  const count = countBlocks(aadLength, length);
  const sum =
    count < MANY
      ? hashBlocks(hash, count, aad, aadLength, data, length)
      : hashLanes(hash, count, aad, aadLength, data, length);
  v128.store(out, v128.xor(sum, lengthsTimesH(hash, aadLength, length)));
}

/** Hashes block by block, two at a time. */
function hashBlocks(hash: usize, count: u32, aad: usize, aadLength: u32, data: usize, length: u32): v128 {
  if (count == 0) return i64x2(0, 0);
  let sum = i64x2(0, 0);
  let n: u32 = 0;
  if ((count & 1) != 0) {
    sum = blockOf(0, aad, aadLength, data, length);
    if (count == 1) return multiply(hash + BLOCKS_2, sum);
    sum = multiply(hash + BLOCKS_1, sum);
    n = 1;
  }
  const inAad = (aadLength + 15) >> 4;
  const last = count - 2;
  for (; n < inAad && n != last; n += 2) {
    const first = v128.xor(sum, blockOf(n, aad, aadLength, data, length));
    sum = multiplyAdd(hash + BLOCKS_1, first, blockOf(n + 1, aad, aadLength, data, length));
  }
  for (; n != last; n += 2) {
    const at = data + ((n - inAad) << 4);
    sum = multiplyAdd(hash + BLOCKS_1, v128.xor(sum, v128.load(at)), v128.load(at, 16));
  }
  const first = v128.xor(sum, blockOf(n, aad, aadLength, data, length));
  return multiplyAdd(hash + BLOCKS_2, first, blockOf(n + 1, aad, aadLength, data, length));
}

/**
 * Hashes sixteen blocks at a time: lane k sums every sixteenth block. Zeros before the packet make
 * all lanes end together.
 */
function hashLanes(hash: usize, count: u32, aad: usize, aadLength: u32, data: usize, length: u32): v128 {
  clearLanes();
  const inAad = (aadLength + 15) >> 4;
  const whole = inAad + (length >> 4);
  const padding: u32 = (0 - count) & 15;
  for (let row: u32 = 0; row < count + padding; row += 16) {
    if (row != 0) multiplyLanes(hash + LANES_16);
    if (row >= padding + inAad && row - padding + 16 <= whole) {
      listRow(<u32>data + ((row - padding - inAad) << 4));
    } else {
      for (let lane: u32 = 0; lane < 16; lane++) {
        const n = row + lane - padding;
        // Before the packet, n has wrapped.
        const at = n < count ? findBlock(n, aad, aadLength, data, length, SPARE + (lane << 4)) : ZERO;
        store<u32>(LIST + (lane << 2), <u32>at);
      }
    }
    addBlocks(LIST);
  }
  firstBlocks(SPARE);
  lastBlocks(SPARE + 128);
  return hashBlocks(hash, 16, 0, 0, SPARE, 256);
}

/** Lists sixteen consecutive blocks. */
// @ts-ignore: decorator
@inline
function listRow(from: u32): void {
  const first = i32x4.add(i32x4.splat(from), i32x4(0, 16, 32, 48));
  for (let n: usize = 0; n < 64; n += 16) {
    v128.store(LIST + n, i32x4.add(first, i32x4.splat((<u32>n) << 2)));
  }
}

/** Overwrites the sums and blocks of long packets and batches, which could reveal a hash key. */
export function wipeHash(): void {
  wipeLanes();
  wipeTransposed();
  memory.fill(SPARE, 0, 256);
}
