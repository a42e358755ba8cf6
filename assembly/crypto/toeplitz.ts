/**
 * Multiplication by a fixed element of the field of GHASH (NIST SP 800-38D, 6.3) as a product of matrix and vector, and the
 * tables that take it by `i8x16.swizzle`, whose index is a lane and never an address.
 *
 * A block is a polynomial, bit k of the block (the first bit of byte 0 is bit 0) the coefficient of x^k, modulo
 * x^128 + x^7 + x^2 + x + 1. Let s(m) be the coefficient of x^127 in H x^m, and T the matrix with T(k, j) = s(127 - k + j):
 * it depends on k - j alone, a Toeplitz matrix. The coefficient of x^127 in x^m Z is bit 127 - m of Z as long as nothing
 * that was reduced has come back up there, so that for Z = H X
 *
 *     Z = T X, but for byte 0, to which  fold(byte 15) = byte << 1 ^ byte << 6 ^ byte << 7  of T X is added.
 *
 * That is all that is left of the reduction. T is given by t(d) = T(k, k - d), d = -127 .. 127: t(0 ..) is the first column,
 * H itself before the fold, and by the recurrence of s, t(d - 128) = t(d) + t(d - 1) + t(d - 2) + t(d - 7).
 *
 * In bytes T is a Toeplitz matrix of blocks of 8 x 8 bits, B(e) = B(k - j), e = -15 .. 15. A block is kept as its columns:
 * byte b of `u64` is what bit b of the input byte (0 its highest) adds to the output byte. The product with a byte is two
 * look-ups in tables of 16 bytes, one a nibble.
 */

/** Blocks of a matrix of 16 x 16. */
export const BLOCKS: usize = 31;
/** The tables of one block: for the high nibble of a byte, and for the low one. */
export const PAIR: usize = 32;
/**
 * The number of products of single bytes after the matrix is cut in halves four times, instead of
 * 256.
 */
const LEAVES: usize = 81;
/** The tables of a matrix for lanes of single bytes. */
export const LANES_SIZE: usize = LEAVES * PAIR;

/** t(-128 .. 127) as bits, the first of each byte its highest. */
const DIAGONALS: usize = memory.data(32, 16);
/**
 * The blocks of a matrix and of its parts. Each level is made from the one before, alternately in
 * the two buffers.
 */
const HERE: usize = memory.data(<i32>(LEAVES * 8), 16);
const THERE: usize = memory.data(<i32>(LEAVES * 8), 16);

/** The part of byte 15 of T X that belongs to byte 0, in the lowest byte. */
// @ts-ignore: decorator
@inline
function fold(byte: u64): u64 {
  return ((byte << 1) ^ (byte << 6) ^ (byte << 7)) & 0xff;
}

// @ts-ignore: decorator
@inline
function shifted(high: u64, low: u64, by: u64): u64 {
  return (low >> by) | (high << (64 - by));
}

/** Makes the blocks of the matrix of the element at `h`, in `HERE`, beginning with B(-15). */
function makeBlocks(h: usize): void {
  const low = bswap(load<u64>(h, 8));
  const high = bswap(load<u64>(h)) ^ (fold(low) << 56);
  const lowBefore = low ^ shifted(high, low, 1) ^ shifted(high, low, 2) ^ shifted(high, low, 7);
  const highBefore = high ^ (high >> 1) ^ (high >> 2) ^ (high >> 7) ^ (fold(lowBefore) << 56);
  store<u64>(DIAGONALS, bswap(highBefore));
  store<u64>(DIAGONALS, bswap(lowBefore), 8);
  store<u64>(DIAGONALS, bswap(high), 16);
  store<u64>(DIAGONALS, bswap(low), 24);
  // Column b of a block is the eight diagonals that begin b before its own.
  const columns = i16x8(256, 128, 64, 32, 16, 8, 4, 2);
  for (let e: usize = 0; e < BLOCKS; e++) {
    const two = ((<u32>load<u8>(DIAGONALS + e)) << 8) | (<u32>load<u8>(DIAGONALS + e, 1));
    const column = i16x8.shr_u(i16x8.mul(i16x8.splat(<i16>two), columns), 8);
    v128.store64_lane(HERE + (e << 3), i8x16.narrow_i16x8_u(column, column), 0);
  }
}

/**
 * Cuts `count` matrices of 2 x `half` blocks a side in four, (A B; C A), and writes three matrices
 * for each: A, B + A and C + A. With the input in halves v, w the products P = A (v + w), Q = (B +
 * A) w, R = (C + A) v give the output: P + Q, P + R.
 */
function halve(from: usize, to: usize, count: usize, half: usize): void {
  const length: usize = ((half << 1) - 1) << 3;
  const step: usize = half << 3;
  for (; count != 0; count--) {
    for (let at: usize = 0; at < length; at += 8) {
      const middle = load<u64>(from + step + at);
      store<u64>(to + at, middle);
      store<u64>(to + length + at, middle ^ load<u64>(from + at));
      store<u64>(to + (length << 1) + at, middle ^ load<u64>(from + (step << 1) + at));
    }
    from += (length << 1) + 8;
    to += 3 * length;
  }
}

/** The sixteen sums of the four columns that begin at `columns`; the first has the highest bit of the nibble. */
// @ts-ignore: decorator
@inline
function sums(columns: usize): v128 {
  const first = v128.and(v128.load8_splat(columns), i64x2(0, -1));
  const second = v128.and(v128.load8_splat(columns, 1), i32x4(0, -1, 0, -1));
  const third = v128.and(v128.load8_splat(columns, 2), i32x4.splat(0xffff0000));
  const fourth = v128.and(v128.load8_splat(columns, 3), i16x8.splat(<i16>0xff00));
  return v128.xor(v128.xor(first, second), v128.xor(third, fourth));
}

// @ts-ignore: decorator
@inline
function storePair(tables: usize, block: usize): void {
  v128.store(tables, sums(block));
  v128.store(tables, sums(block + 4), 16);
}

/** Tables for whole blocks (blocks.ts): B(15), B(-15), B(14), B(-14), .. B(1), B(-1), B(0). */
export function makeBlockTables(tables: usize, h: usize): void {
  makeBlocks(h);
  const middle = HERE + 15 * 8;
  for (let e: usize = 15 * 8; e != 0; e -= 8) {
    storePair(tables, middle + e);
    storePair(tables + PAIR, middle - e);
    tables += 2 * PAIR;
  }
  storePair(tables, middle);
}

/** Tables for lanes of single bytes (lanes.ts): the products of a matrix cut in halves four times, in the order of `halve`. */
export function makeLaneTables(tables: usize, h: usize): void {
  makeBlocks(h);
  halve(HERE, THERE, 1, 8);
  halve(THERE, HERE, 3, 4);
  halve(HERE, THERE, 9, 2);
  halve(THERE, HERE, 27, 1);
  for (let n: usize = 0; n < LEAVES; n++) storePair(tables + n * PAIR, HERE + (n << 3));
}

/** Overwrites the element of the last tables. */
export function wipeBlocks(): void {
  memory.fill(DIAGONALS, 0, 32);
  memory.fill(HERE, 0, LEAVES * 8);
  memory.fill(THERE, 0, LEAVES * 8);
}
