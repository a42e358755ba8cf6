/**
 * Eight blocks of AES in planes: 128 bytes. Planes make AES constant-time: no byte of a block is
 * ever an index, and each operation works on one bit of all 128 bytes at once.
 *
 *     plane i, 16 bytes: bit i of every byte of the eight blocks
 *         byte 4 r + c: row r, column c of the state (FIPS 197, 3.4: byte 4 c + r of a block)
 *             bit n: block n
 * After k rounds without ShiftRows (round.ts) row r is r k columns to the right of its place.
 */

/** Size of eight blocks, in planes or consecutive. */
export const GROUP_SIZE: usize = 128;
/** Size of a block. */
export const BLOCK_SIZE: usize = 16;

/** Planes of zeros. */
export const ZEROS: usize = memory.data(128, 16);

/** Exchanges rows and columns: from the byte order of a block to that of a plane, and back. */
const OVER: v128 = i8x16(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
/** The way back after k rounds without ShiftRows, k = 2 modulo 4. */
const OVER_2: v128 = i8x16(0, 6, 8, 14, 1, 7, 9, 15, 2, 4, 10, 12, 3, 5, 11, 13);

/** The bytes of a block in the order of planes after k rounds without ShiftRows. */
// @ts-ignore: decorator
@inline
export function placeAfter(block: v128, k: u32): v128 {
  const shift = k & 3;
  let order = OVER;
  for (let i: u32 = 0; i < shift; i++) {
    // A column to the right for row 1, two for row 2, three for row 3.
    order = i8x16.swizzle(order, i8x16(0, 1, 2, 3, 7, 4, 5, 6, 10, 11, 8, 9, 13, 14, 15, 12));
  }
  return i8x16.swizzle(block, order);
}

/** Eight copies of a block in planes; its bytes are in the order of planes already. */
// @ts-ignore: decorator
@inline
export function broadcast(placed: v128, to: usize): void {
  v128.store(to, isSet(placed, 0x01), 0);
  v128.store(to, isSet(placed, 0x02), 16);
  v128.store(to, isSet(placed, 0x04), 32);
  v128.store(to, isSet(placed, 0x08), 48);
  v128.store(to, isSet(placed, 0x10), 64);
  v128.store(to, isSet(placed, 0x20), 80);
  v128.store(to, isSet(placed, 0x40), 96);
  v128.store(to, isSet(placed, <i8>0x80), 112);
}

// @ts-ignore: decorator
@inline
function isSet(bytes: v128, bit: i8): v128 {
  return i8x16.eq(v128.and(bytes, i8x16.splat(bit)), i8x16.splat(bit));
}

/** The first four bytes of each plane as one word: the inverse of `broadcast`. */
export function firstWord(planes: usize): u32 {
  let bytes = i8x16.splat(0);
  for (let i: u32 = 0; i < 8; i++) {
    const bit = i8x16.splat(<i8>((<u32>1) << i));
    bytes = v128.or(bytes, v128.and(v128.load(planes + ((<usize>i) << 4)), bit));
  }
  return i32x4.extract_lane(bytes, 0);
}

/** Converts eight consecutive blocks to planes, and adds other planes. */
export function toPlanes(blocks: usize, added: usize, to: usize): void {
  turnOver(blocks, OVER, added, to);
}

/**
 * Converts planes after `rounds` rounds to eight blocks, adds those at `from`, and stores them at
 * `to`, which may be the same address.
 */
export function addBlocks(planes: usize, rounds: u32, from: usize, to: usize): void {
  turnOver(planes, (rounds & 2) != 0 ? OVER_2 : OVER, from, to);
}

/**
 * Transposes the bits of eight vectors: bit n of vector i becomes bit i of vector n. Puts the bytes
 * in `order` and adds other vectors.
 */
// @ts-ignore: decorator
@inline
function turnOver(vectors: usize, order: v128, added: usize, to: usize): void {
  const a0 = v128.load(vectors, 0);
  const a1 = v128.load(vectors, 16);
  const a2 = v128.load(vectors, 32);
  const a3 = v128.load(vectors, 48);
  const a4 = v128.load(vectors, 64);
  const a5 = v128.load(vectors, 80);
  const a6 = v128.load(vectors, 96);
  const a7 = v128.load(vectors, 112);
  const bx0 = v128.and(v128.xor(i64x2.shr_u(a0, 1), a1), i8x16.splat(0x55));
  const b1 = v128.xor(a1, bx0);
  const b0 = v128.xor(a0, i64x2.shl(bx0, 1));
  const bx2 = v128.and(v128.xor(i64x2.shr_u(a2, 1), a3), i8x16.splat(0x55));
  const b3 = v128.xor(a3, bx2);
  const b2 = v128.xor(a2, i64x2.shl(bx2, 1));
  const bx4 = v128.and(v128.xor(i64x2.shr_u(a4, 1), a5), i8x16.splat(0x55));
  const b5 = v128.xor(a5, bx4);
  const b4 = v128.xor(a4, i64x2.shl(bx4, 1));
  const bx6 = v128.and(v128.xor(i64x2.shr_u(a6, 1), a7), i8x16.splat(0x55));
  const b7 = v128.xor(a7, bx6);
  const b6 = v128.xor(a6, i64x2.shl(bx6, 1));
  const cx0 = v128.and(v128.xor(i64x2.shr_u(b0, 2), b2), i8x16.splat(0x33));
  const c2 = v128.xor(b2, cx0);
  const c0 = v128.xor(b0, i64x2.shl(cx0, 2));
  const cx1 = v128.and(v128.xor(i64x2.shr_u(b1, 2), b3), i8x16.splat(0x33));
  const c3 = v128.xor(b3, cx1);
  const c1 = v128.xor(b1, i64x2.shl(cx1, 2));
  const cx4 = v128.and(v128.xor(i64x2.shr_u(b4, 2), b6), i8x16.splat(0x33));
  const c6 = v128.xor(b6, cx4);
  const c4 = v128.xor(b4, i64x2.shl(cx4, 2));
  const cx5 = v128.and(v128.xor(i64x2.shr_u(b5, 2), b7), i8x16.splat(0x33));
  const c7 = v128.xor(b7, cx5);
  const c5 = v128.xor(b5, i64x2.shl(cx5, 2));
  const dx0 = v128.and(v128.xor(i64x2.shr_u(c0, 4), c4), i8x16.splat(0x0f));
  const d4 = v128.xor(c4, dx0);
  const d0 = v128.xor(c0, i64x2.shl(dx0, 4));
  const dx1 = v128.and(v128.xor(i64x2.shr_u(c1, 4), c5), i8x16.splat(0x0f));
  const d5 = v128.xor(c5, dx1);
  const d1 = v128.xor(c1, i64x2.shl(dx1, 4));
  const dx2 = v128.and(v128.xor(i64x2.shr_u(c2, 4), c6), i8x16.splat(0x0f));
  const d6 = v128.xor(c6, dx2);
  const d2 = v128.xor(c2, i64x2.shl(dx2, 4));
  const dx3 = v128.and(v128.xor(i64x2.shr_u(c3, 4), c7), i8x16.splat(0x0f));
  const d7 = v128.xor(c7, dx3);
  const d3 = v128.xor(c3, i64x2.shl(dx3, 4));
  v128.store(to, v128.xor(i8x16.swizzle(d0, order), v128.load(added, 0)), 0);
  v128.store(to, v128.xor(i8x16.swizzle(d1, order), v128.load(added, 16)), 16);
  v128.store(to, v128.xor(i8x16.swizzle(d2, order), v128.load(added, 32)), 32);
  v128.store(to, v128.xor(i8x16.swizzle(d3, order), v128.load(added, 48)), 48);
  v128.store(to, v128.xor(i8x16.swizzle(d4, order), v128.load(added, 64)), 64);
  v128.store(to, v128.xor(i8x16.swizzle(d5, order), v128.load(added, 80)), 80);
  v128.store(to, v128.xor(i8x16.swizzle(d6, order), v128.load(added, 96)), 96);
  v128.store(to, v128.xor(i8x16.swizzle(d7, order), v128.load(added, 112)), 112);
}
