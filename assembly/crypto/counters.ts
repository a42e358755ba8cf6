/**
 * The first two rounds, which counters share.
 *
 * Blocks of a packet differ in their counters: until one of its upper bytes changes, in the last byte alone. That is row 3,
 * column 3 before the first round and column 0 after it, and all columns only after the second. So the state is a sum of
 * parts:
 *
 *     first round   of the other 15 bytes: one for a packet, or for 256 blocks of a long one (`FIRST_ROUND`)
 *                   of the last byte: nothing but key and counter, so it is made with the cipher, for all counters; 0 but
 *                   in column 0
 *     second round  of columns 1 to 3: one for a packet, as above (`SECOND_ROUND`)
 *                   of column 0: the same circuit for four groups of counters at a time (`COLUMN`)
 *
 * A part is made with an S-box input of 0 where the other has its bytes, for which the circuit gives 0.
 *
 * Counters come in groups of eight, from 1 on. Where column 0 is alone, four groups lie in planes together:
 *
 *     group g: byte 4 r + g % 4 of the planes: row r of column 0
 *
 * A group whose last counter ends in 0 has another upper byte there, and is not made in this way.
 */
import { JOB_NONCE } from "../../src/abi/cipher";
import { CIPHER_FIRST_ROUNDS, CIPHER_ROUND_KEYS, CIPHER_WHITENER } from "./cipherLayout";
import { GROUP_SIZE, placeAfter, broadcast } from "./planes";
import { firstRound, secondRound, substitute } from "./rounds";
import { COLUMN, COLUMN_TWICE, FIRST_ROUND, SECOND_ROUND, STATES, wipe } from "./scratch";

/** Groups that share planes for column 0. */
const QUAD: u32 = 4;
/** Groups whose counters have the same upper bytes. */
const PAGE: u32 = 32;

/** Column 0 after one round without ShiftRows: row r is r columns further right. */
const COLUMN_0: v128 = i8x16(-1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1);
/** The same column for four groups. */
const FOUR_TIMES: v128 = i8x16(0, 0, 0, 0, 5, 5, 5, 5, 10, 10, 10, 10, 15, 15, 15, 15);
/**
 * The factors of MixColumns for each byte of column 0 in the second round, for the group in slot 0:
 * byte 4 r + c comes from row 2 r - c modulo 4, times 2 where c = r, times 3 where c = r + 3, else
 * once. ONCE and TWICE select the bytes taken once and twice.
 */
const ONCE: v128 = i8x16(-128, 12, 8, 4, 8, -128, 0, 12, 0, 12, -128, 4, 8, 4, 0, -128);
const TWICE: v128 = i8x16(0, -128, -128, 4, 8, 4, -128, -128, -128, 12, 8, -128, -128, -128, 0, 12);

/** Whether the last counter of a group ends in 0. */
// @ts-ignore: decorator
@inline
export function endsPage(group: u32): bool {
  return group % PAGE == PAGE - 1;
}

// @ts-ignore: decorator
@inline
export function quadOf(group: u32): u32 {
  return group / QUAD;
}

/** The upper bytes of a group's counters. */
// @ts-ignore: decorator
@inline
export function pageOf(group: u32): u32 {
  return group / PAGE;
}

/** Computes the parts that the blocks of the job's packet share in a page. */
export function setPage(cipher: usize, job: usize, page: u32): void {
  const counter = bswap<u32>(page << 8);
  const block = i32x4.replace_lane(v128.load(job, JOB_NONCE), 3, counter);
  broadcast(placeAfter(v128.xor(block, v128.load(cipher, CIPHER_WHITENER)), 0), FIRST_ROUND);
  firstRound(cipher, FIRST_ROUND);
  v128.store(SECOND_ROUND, v128.andnot(v128.load(FIRST_ROUND, 0), COLUMN_0), 0);
  v128.store(SECOND_ROUND, v128.andnot(v128.load(FIRST_ROUND, 16), COLUMN_0), 16);
  v128.store(SECOND_ROUND, v128.andnot(v128.load(FIRST_ROUND, 32), COLUMN_0), 32);
  v128.store(SECOND_ROUND, v128.andnot(v128.load(FIRST_ROUND, 48), COLUMN_0), 48);
  v128.store(SECOND_ROUND, v128.andnot(v128.load(FIRST_ROUND, 64), COLUMN_0), 64);
  v128.store(SECOND_ROUND, v128.andnot(v128.load(FIRST_ROUND, 80), COLUMN_0), 80);
  v128.store(SECOND_ROUND, v128.andnot(v128.load(FIRST_ROUND, 96), COLUMN_0), 96);
  v128.store(SECOND_ROUND, v128.andnot(v128.load(FIRST_ROUND, 112), COLUMN_0), 112);
  secondRound(cipher, SECOND_ROUND);
}

/** Column 0 of four groups after the second S-box, and twice that. */
export function setQuad(cipher: usize, quad: u32): void {
  const counters = cipher + <usize>(quad % (PAGE / QUAD)) * GROUP_SIZE;
  for (let at: usize = 0; at < GROUP_SIZE; at += 16) {
    const column = i8x16.swizzle(v128.load(FIRST_ROUND + at), FOUR_TIMES);
    v128.store(COLUMN + at, v128.xor(column, v128.load(counters + at, CIPHER_FIRST_ROUNDS)));
  }
  substitute(COLUMN);
  double(COLUMN, COLUMN_TWICE);
}

/** A group of eight counters after its second round. */
export function setGroup(group: u32, state: usize): void {
  const slot = i8x16.splat(<i8>(group % QUAD));
  const once = i8x16.add(ONCE, slot);
  const twice = i8x16.add(TWICE, slot);
  setPlane(state, once, twice, 0);
  setPlane(state, once, twice, 16);
  setPlane(state, once, twice, 32);
  setPlane(state, once, twice, 48);
  setPlane(state, once, twice, 64);
  setPlane(state, once, twice, 80);
  setPlane(state, once, twice, 96);
  setPlane(state, once, twice, 112);
}

// @ts-ignore: decorator
@inline
function setPlane(state: usize, once: v128, twice: v128, at: usize): void {
  const column = v128.xor(
    i8x16.swizzle(v128.load(COLUMN + at), once),
    i8x16.swizzle(v128.load(COLUMN_TWICE + at), twice),
  );
  v128.store(state + at, v128.xor(column, v128.load(SECOND_ROUND + at)));
}

/** The part of the first round that depends on the last byte of the counter. */
export function setFirstRounds(cipher: usize): void {
  for (let half: u32 = 0; half < 2; half++) {
    for (let bit: u32 = 0; bit < 8; bit++) {
      const keyPlane = v128.load(cipher + ((<usize>bit) << 4), CIPHER_ROUND_KEYS);
      const key = i8x16.swizzle(keyPlane, i8x16.splat(15));
      v128.store(STATES + ((<usize>bit) << 4), v128.xor(counterPlane(16 * half, bit), key));
    }
    substitute(STATES);
    for (let quad: u32 = 0; quad < 4; quad++) {
      mixQuad(quad, cipher + CIPHER_FIRST_ROUNDS + <usize>(4 * half + quad) * GROUP_SIZE);
    }
  }
  wipe(COLUMN_TWICE, GROUP_SIZE);
}

/**
 * One bit of the counters of sixteen groups, one byte per group, from group `first` on: the
 * counters of a group are 8 group + 1 to + 8.
 */
function counterPlane(first: u32, bit: u32): v128 {
  if (bit < 3) return i8x16.splat(<i8>(bit == 0 ? 0x55 : bit == 1 ? 0x66 : 0x78));
  const group = i8x16.add(i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), i8x16.splat(<i8>first));
  // The eighth has the upper bits of the next group.
  const mask = i8x16.splat(<i8>((<u32>1) << (bit - 3)));
  const own = i8x16.eq(v128.and(group, mask), mask);
  const next = i8x16.eq(v128.and(i8x16.add(group, i8x16.splat(1)), mask), mask);
  return v128.bitselect(own, next, i8x16.splat(0x7f));
}

/**
 * MixColumns of four groups of S-box results at STATES: a column 0, 0, 0, s becomes s, s, 3s, 2s.
 */
function mixQuad(quad: u32, to: usize): void {
  const pick = i8x16.add(i8x16(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3), i8x16.splat(<i8>(4 * quad)));
  double(STATES, COLUMN_TWICE);
  for (let at: usize = 0; at < GROUP_SIZE; at += 16) {
    const once = i8x16.swizzle(v128.load(STATES + at), pick);
    const twice = i8x16.swizzle(v128.load(COLUMN_TWICE + at), pick);
    v128.store(to + at, v128.xor(v128.and(once, i32x4(-1, -1, -1, 0)), v128.and(twice, i32x4(0, 0, -1, -1))));
  }
}

/** Planes times x, modulo x^8 + x^4 + x^3 + x + 1. */
function double(planes: usize, to: usize): void {
  const high = v128.load(planes, 112);
  v128.store(to, high, 0);
  v128.store(to, v128.xor(v128.load(planes, 0), high), 16);
  v128.store(to, v128.load(planes, 16), 32);
  v128.store(to, v128.xor(v128.load(planes, 32), high), 48);
  v128.store(to, v128.xor(v128.load(planes, 48), high), 64);
  v128.store(to, v128.load(planes, 64), 80);
  v128.store(to, v128.load(planes, 80), 96);
  v128.store(to, v128.load(planes, 96), 112);
}
