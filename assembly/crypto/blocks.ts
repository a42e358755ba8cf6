/**
 * Products of whole blocks and powers of H: a block is a register, its bytes are the lanes. Each
 * diagonal of blocks of the matrix (toeplitz.ts) is one pair of tables for all bytes at once. Its
 * result is shifted by the distance of the diagonal from the main one, in bytes.
 */
import { BLOCKS, PAIR } from "./toeplitz";

/** The tables of one power. */
export const BLOCK_SIZE: usize = BLOCKS * PAIR;

// @ts-ignore: decorator
@inline
export function highNibbles(bytes: v128): v128 {
  return v128.and(i16x8.shr_u(bytes, 4), i8x16.splat(15));
}

// @ts-ignore: decorator
@inline
export function lowNibbles(bytes: v128): v128 {
  return v128.and(bytes, i8x16.splat(15));
}

/** The bytes whose nibbles are given, each times the block with the two given tables. */
// @ts-ignore: decorator
@inline
function times(forHigh: v128, forLow: v128, high: v128, low: v128): v128 {
  return v128.xor(i8x16.swizzle(forHigh, high), i8x16.swizzle(forLow, low));
}

/** Shifts all bytes one place up. */
// @ts-ignore: decorator
@inline
function later(block: v128): v128 {
  return i8x16.shuffle(i64x2(0, 0), block, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
}

/** Shifts all bytes one place down. */
// @ts-ignore: decorator
@inline
function earlier(block: v128): v128 {
  return i8x16.shuffle(block, i64x2(0, 0), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
}

/**
 * Adds the results of the diagonals from the main one up and of those below it; byte 0 gets its
 * part of byte 15 (toeplitz.ts).
 */
// @ts-ignore: decorator
@inline
function joined(up: v128, down: v128): v128 {
  const block = v128.xor(up, earlier(down));
  const last = i8x16.shuffle(block, i64x2(0, 0), 15, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16);
  const parts = v128.xor(v128.xor(i16x8.shl(last, 1), i16x8.shl(last, 6)), i16x8.shl(last, 7));
  return v128.xor(block, v128.and(parts, i64x2(0xff, 0)));
}

/** A block times the power with the tables at `tables`. */
function multiply(tables: usize, a: v128): v128 {
  const ah = highNibbles(a);
  const al = lowNibbles(a);
  let up = i64x2(0, 0);
  let down = i64x2(0, 0);
  for (let n = 0; n < 15; n++) {
    up = v128.xor(later(up), times(v128.load(tables), v128.load(tables, 16), ah, al));
    down = v128.xor(earlier(down), times(v128.load(tables, PAIR), v128.load(tables, PAIR + 16), ah, al));
    tables += 2 * PAIR;
  }
  up = v128.xor(later(up), times(v128.load(tables), v128.load(tables, 16), ah, al));
  return joined(up, down);
}

/**
 * `a` times the power whose tables follow those at `tables`, plus `b` times the power at `tables`.
 */
function multiplyAdd(tables: usize, a: v128, b: v128): v128 {
  const ah = highNibbles(a);
  const al = lowNibbles(a);
  const bh = highNibbles(b);
  const bl = lowNibbles(b);
  let up = i64x2(0, 0);
  let down = i64x2(0, 0);
  for (let n = 0; n < 15; n++) {
    up = v128.xor(later(up), times(v128.load(tables), v128.load(tables, 16), bh, bl));
    up = v128.xor(up, times(v128.load(tables, BLOCK_SIZE), v128.load(tables, BLOCK_SIZE + 16), ah, al));
    tables += PAIR;
    down = v128.xor(earlier(down), times(v128.load(tables), v128.load(tables, 16), bh, bl));
    down = v128.xor(down, times(v128.load(tables, BLOCK_SIZE), v128.load(tables, BLOCK_SIZE + 16), ah, al));
    tables += PAIR;
  }
  up = v128.xor(later(up), times(v128.load(tables), v128.load(tables, 16), bh, bl));
  up = v128.xor(up, times(v128.load(tables, BLOCK_SIZE), v128.load(tables, BLOCK_SIZE + 16), ah, al));
  return joined(up, down);
}

export { multiply, multiplyAdd };
