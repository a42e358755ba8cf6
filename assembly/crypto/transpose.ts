/** Transposes between blocks and lanes: byte n of block k is lane k of register n. */
import { SUMS } from "./lanes";

/** Loads eight blocks into eight registers: two bytes of all eight in each. */
const HALF: usize = 128;
const FIRST: usize = memory.data(<i32>HALF, 16);
const LAST: usize = memory.data(<i32>HALF, 16);

// @ts-ignore: decorator
@inline
function low8(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

// @ts-ignore: decorator
@inline
function high8(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

// @ts-ignore: decorator
@inline
function low16(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23);
}

// @ts-ignore: decorator
@inline
function high16(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31);
}

// @ts-ignore: decorator
@inline
function low32(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
}

// @ts-ignore: decorator
@inline
function high32(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
}

// @ts-ignore: decorator
@inline
function low64(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
}

// @ts-ignore: decorator
@inline
function high64(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
}

// @ts-ignore: decorator
@inline
function blockAt(list: usize, n: usize): v128 {
  return v128.load(<usize>load<u32>(list + (n << 2)));
}

/**
 * Loads the eight blocks whose addresses are at `list`: two bytes of all in each register at `to`.
 */
function interleave(list: usize, to: usize): void {
  const a0 = blockAt(list, 0);
  const a4 = blockAt(list, 4);
  const a2 = blockAt(list, 2);
  const a6 = blockAt(list, 6);
  const e0 = low8(a0, a4);
  const e1 = high8(a0, a4);
  const e2 = low8(a2, a6);
  const e3 = high8(a2, a6);
  const even0 = low8(e0, e2);
  const even1 = high8(e0, e2);
  const even2 = low8(e1, e3);
  const even3 = high8(e1, e3);
  const a1 = blockAt(list, 1);
  const a5 = blockAt(list, 5);
  const a3 = blockAt(list, 3);
  const a7 = blockAt(list, 7);
  const o0 = low8(a1, a5);
  const o1 = high8(a1, a5);
  const o2 = low8(a3, a7);
  const o3 = high8(a3, a7);
  const odd0 = low8(o0, o2);
  const odd1 = high8(o0, o2);
  const odd2 = low8(o1, o3);
  const odd3 = high8(o1, o3);
  v128.store(to, low8(even0, odd0));
  v128.store(to, high8(even0, odd0), 16);
  v128.store(to, low8(even1, odd1), 32);
  v128.store(to, high8(even1, odd1), 48);
  v128.store(to, low8(even2, odd2), 64);
  v128.store(to, high8(even2, odd2), 80);
  v128.store(to, low8(even3, odd3), 96);
  v128.store(to, high8(even3, odd3), 112);
}

/** Adds the sixteen blocks whose addresses are at `list` to the sums. */
export function addBlocks(list: usize): void {
  interleave(list, FIRST);
  interleave(list + 32, LAST);
  for (let at: usize = 0; at < HALF; at += 16) {
    const first = v128.load(FIRST + at);
    const last = v128.load(LAST + at);
    const to = SUMS + (at << 1);
    v128.store(to, v128.xor(v128.load(to), low64(first, last)));
    v128.store(to, v128.xor(v128.load(to, 16), high64(first, last)), 16);
  }
}

/** Lanes 0 .. 7 of the sums as blocks at `to`. */
export function firstBlocks(to: usize): void {
  split(
    low8(v128.load(SUMS), v128.load(SUMS, 16)),
    low8(v128.load(SUMS, 32), v128.load(SUMS, 48)),
    low8(v128.load(SUMS, 64), v128.load(SUMS, 80)),
    low8(v128.load(SUMS, 96), v128.load(SUMS, 112)),
    low8(v128.load(SUMS, 128), v128.load(SUMS, 144)),
    low8(v128.load(SUMS, 160), v128.load(SUMS, 176)),
    low8(v128.load(SUMS, 192), v128.load(SUMS, 208)),
    low8(v128.load(SUMS, 224), v128.load(SUMS, 240)),
    to,
  );
}

/** Lanes 8 .. 15. */
export function lastBlocks(to: usize): void {
  split(
    high8(v128.load(SUMS), v128.load(SUMS, 16)),
    high8(v128.load(SUMS, 32), v128.load(SUMS, 48)),
    high8(v128.load(SUMS, 64), v128.load(SUMS, 80)),
    high8(v128.load(SUMS, 96), v128.load(SUMS, 112)),
    high8(v128.load(SUMS, 128), v128.load(SUMS, 144)),
    high8(v128.load(SUMS, 160), v128.load(SUMS, 176)),
    high8(v128.load(SUMS, 192), v128.load(SUMS, 208)),
    high8(v128.load(SUMS, 224), v128.load(SUMS, 240)),
    to,
  );
}

/** Eight lanes, each register with two bytes of all, as blocks. */
// @ts-ignore: decorator
@inline
function split(a: v128, b: v128, c: v128, d: v128, e: v128, f: v128, g: v128, h: v128, to: usize): void {
  store4(low16(a, b), low16(c, d), low16(e, f), low16(g, h), to);
  store4(high16(a, b), high16(c, d), high16(e, f), high16(g, h), to + 64);
}

/** Four lanes, each register with four bytes of all, as blocks. */
// @ts-ignore: decorator
@inline
function store4(a: v128, b: v128, c: v128, d: v128, to: usize): void {
  v128.store(to, low64(low32(a, b), low32(c, d)));
  v128.store(to, high64(low32(a, b), low32(c, d)), 16);
  v128.store(to, low64(high32(a, b), high32(c, d)), 32);
  v128.store(to, high64(high32(a, b), high32(c, d)), 48);
}

/** Overwrites the last transposed blocks. */
export function wipeTransposed(): void {
  memory.fill(FIRST, 0, HALF);
  memory.fill(LAST, 0, HALF);
}
