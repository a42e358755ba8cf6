/**
 * The first round, which counters share.
 *
 * Blocks of a packet differ in their counters: until one of its upper bytes changes, in the last byte alone. That is row 3,
 * column 3 before the first round and column 0 after it, so the state there is a sum of two parts:
 *
 *     of the other 15 bytes: one for a packet, or for 256 blocks of a long one; made with an S-box input of 0 in the last
 *         byte, for which the circuit gives 0
 *     of the last byte: nothing but key and counter, so it is made with the cipher, for all counters
 *
 * The second part, for groups of eight counters from 1 on, is 0 but in column 0. Four groups lie together in planes, and in
 * the place of the columns:
 *
 *     first rounds of group g: byte 4 r + g % 4 of the planes at GROUP_SIZE * (g / 4 % 8): row r
 *
 * A group whose last counter ends in 0 has another upper byte there, and is not made in this way.
 */
import { JOB_NONCE } from "../../src/abi/cipher";
import { CIPHER_FIRST_ROUNDS, CIPHER_ROUND_KEYS, CIPHER_WHITENER } from "./cipherLayout";
import { GROUP_SIZE, placeAfter, spread } from "./planes";
import { firstRound, substitute } from "./rounds";
import { FIRST_ROUND, STATES } from "./scratch";

/** Row r of slot 0 into the column where row r of column 0 is after one round without ShiftRows; no other byte. */
const PICK: v128 = i8x16(0, -128, -128, -128, -128, 4, -128, -128, -128, -128, 8, -128, -128, -128, -128, 12);

/** Groups whose counters have the same upper bytes. */
const GROUPS_OF_PAGE: u32 = 32;

/** Whether the last counter of a group ends in 0. */
// @ts-ignore: decorator
@inline
export function endsPage(group: u32): bool {
  return group % GROUPS_OF_PAGE == GROUPS_OF_PAGE - 1;
}

/** The upper bytes of a group's counters. */
// @ts-ignore: decorator
@inline
export function pageOf(group: u32): u32 {
  return group / GROUPS_OF_PAGE;
}

/** The part of the first round that blocks of the job's packet share in a page. */
export function setFirstRound(cipher: usize, job: usize, page: u32): void {
  const counter = bswap<u32>(page << 8);
  const block = i32x4.replace_lane(v128.load(job, JOB_NONCE), 3, counter);
  spread(placeAfter(v128.xor(block, v128.load(cipher, CIPHER_WHITENER)), 0), FIRST_ROUND);
  firstRound(cipher, FIRST_ROUND);
}

/** A group of eight counters after its first round. */
export function setGroup(cipher: usize, group: u32, state: usize): void {
  const quad = cipher + ((<usize>group / 4) % 8) * GROUP_SIZE;
  const pick = i8x16.add(PICK, i8x16.splat(<i8>(group % 4)));
  for (let at: usize = 0; at < GROUP_SIZE; at += 16) {
    const counters = i8x16.swizzle(v128.load(quad + at, CIPHER_FIRST_ROUNDS), pick);
    v128.store(state + at, v128.xor(v128.load(FIRST_ROUND + at), counters));
  }
}

/** The part of the first round that counters make. */
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
}

/** One bit of the counters of sixteen groups, a group a byte, from group `first` on: its counters are 8 group + 1 to + 8. */
function counterPlane(first: u32, bit: u32): v128 {
  if (bit < 3) return i8x16.splat(<i8>(bit == 0 ? 0x55 : bit == 1 ? 0x66 : 0x78));
  const group = i8x16.add(i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), i8x16.splat(<i8>first));
  // The eighth has the upper bits of the next group.
  const mask = i8x16.splat(<i8>((<u32>1) << (bit - 3)));
  const own = i8x16.eq(v128.and(group, mask), mask);
  const next = i8x16.eq(v128.and(i8x16.add(group, i8x16.splat(1)), mask), mask);
  return v128.bitselect(own, next, i8x16.splat(0x7f));
}

/** Four groups of what the S-box gave at STATES, through MixColumns: a column 0, 0, 0, s becomes s, s, 3s, 2s. */
function mixQuad(quad: u32, to: usize): void {
  const pick = i8x16.add(i8x16(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3), i8x16.splat(<i8>(4 * quad)));
  const high = i8x16.swizzle(v128.load(STATES + 7 * 16), pick);
  let lower = i8x16.splat(0);
  for (let bit: u32 = 0; bit < 8; bit++) {
    const once = i8x16.swizzle(v128.load(STATES + ((<usize>bit) << 4)), pick);
    // x^8 = x^4 + x^3 + x + 1.
    const twice = ((0x1b >> bit) & 1) != 0 ? v128.xor(lower, high) : lower;
    const mixed = v128.xor(v128.and(once, i32x4(-1, -1, -1, 0)), v128.and(twice, i32x4(0, 0, -1, -1)));
    v128.store(to + ((<usize>bit) << 4), mixed);
    lower = once;
  }
}
