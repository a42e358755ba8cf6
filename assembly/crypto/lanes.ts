/**
 * Sixteen products with one power of H at once: the sums are sixteen registers, byte n of all
 * blocks in register n, one block per lane. The matrix is cut in halves four times (toeplitz.ts),
 * which leaves 81 products of single bytes.
 * The input is cut twice into nine parts of four bytes; each part is kept as the nibbles of its
 * bytes. `quarter` turns each part into four bytes of output, and the nine results are combined.
 */
import { highNibbles, lowNibbles } from "./blocks";
import { PAIR } from "./toeplitz";

/** The sixteen sums: byte n of all of them in register n. */
export const SUMS: usize = memory.data(256, 16);

const INPUT_PART: usize = 128;
const OUTPUT_PART: usize = 64;
/** The parts of the input: nine times four bytes, the high nibbles and the low nibbles of each. */
const INPUT: usize = memory.data(9 * <i32>INPUT_PART, 16);
/** The parts of the output: nine times four bytes. */
const OUTPUT: usize = memory.data(9 * <i32>OUTPUT_PART, 16);
const TABLES_PART: usize = 9 * PAIR;

// @ts-ignore: decorator
@inline
function put(part: usize, at: usize, high: v128, low: v128): void {
  v128.store(at + part * INPUT_PART, high);
  v128.store(at + part * INPUT_PART, low, 16);
}

/** Cuts the input: halves v and w into v + w, w and v, and each of them again. */
// @ts-ignore: decorator
@inline
function cut(): void {
  for (let n: usize = 0; n < 4; n++) {
    const a = v128.load(SUMS + (n << 4));
    const b = v128.load(SUMS + (n << 4), 64);
    const c = v128.load(SUMS + (n << 4), 128);
    const d = v128.load(SUMS + (n << 4), 192);
    const ah = highNibbles(a);
    const al = lowNibbles(a);
    const bh = highNibbles(b);
    const bl = lowNibbles(b);
    const ch = highNibbles(c);
    const cl = lowNibbles(c);
    const dh = highNibbles(d);
    const dl = lowNibbles(d);
    const at = INPUT + (n << 5);
    const bdh = v128.xor(bh, dh);
    const bdl = v128.xor(bl, dl);
    const ach = v128.xor(ah, ch);
    const acl = v128.xor(al, cl);
    put(0, at, v128.xor(ach, bdh), v128.xor(acl, bdl));
    put(1, at, bdh, bdl);
    put(2, at, ach, acl);
    put(3, at, v128.xor(ch, dh), v128.xor(cl, dl));
    put(4, at, dh, dl);
    put(5, at, ch, cl);
    put(6, at, v128.xor(ah, bh), v128.xor(al, bl));
    put(7, at, bh, bl);
    put(8, at, ah, al);
  }
}

// @ts-ignore: decorator
@inline
function times(table: v128, nibbles: v128): v128 {
  return i8x16.swizzle(table, nibbles);
}

/**
 * Four nibbles of each lane, the high or the low ones of four bytes, times a matrix of four blocks
 * a side that is cut in halves twice. Compilers move loads before a store ahead of all computation;
 * in this order the registers suffice.
 */
// @ts-ignore: decorator
@inline
function quarter(tables: usize, input: usize, output: usize, first: bool): void {
  const a = v128.load(input);
  const b = v128.load(input, 32);
  const c = v128.load(input, 64);
  const d = v128.load(input, 96);
  const ac = v128.xor(a, c);
  const bd = v128.xor(b, d);
  const all = times(v128.load(tables), v128.xor(ac, bd));
  const even = v128.xor(all, times(v128.load(tables, 32), bd));
  const low = times(v128.load(tables, 96), v128.xor(c, d));
  const to0 = v128.xor(even, v128.xor(low, times(v128.load(tables, 128), d)));
  v128.store(output, first ? to0 : v128.xor(to0, v128.load(output)));
  const odd = v128.xor(all, times(v128.load(tables, 64), ac));
  const to1 = v128.xor(odd, v128.xor(low, times(v128.load(tables, 160), c)));
  v128.store(output, first ? to1 : v128.xor(to1, v128.load(output, 16)), 16);
  const high = times(v128.load(tables, 192), v128.xor(a, b));
  const to2 = v128.xor(even, v128.xor(high, times(v128.load(tables, 224), b)));
  v128.store(output, first ? to2 : v128.xor(to2, v128.load(output, 32)), 32);
  const to3 = v128.xor(odd, v128.xor(high, times(v128.load(tables, 256), a)));
  v128.store(output, first ? to3 : v128.xor(to3, v128.load(output, 48)), 48);
}

// @ts-ignore: decorator
@inline
function part(number: usize, at: usize): v128 {
  return v128.load(at + number * OUTPUT_PART);
}

/** Combines the parts of the output. */
// @ts-ignore: decorator
@inline
function join(): void {
  for (let n: usize = 0; n < 4; n++) {
    const at = OUTPUT + (n << 4);
    const first = v128.xor(part(0, at), part(1, at));
    const second = v128.xor(part(0, at), part(2, at));
    v128.store(SUMS + (n << 4), v128.xor(first, v128.xor(part(3, at), part(4, at))));
    v128.store(SUMS + (n << 4), v128.xor(second, v128.xor(part(3, at), part(5, at))), 64);
    v128.store(SUMS + (n << 4), v128.xor(first, v128.xor(part(6, at), part(7, at))), 128);
    v128.store(SUMS + (n << 4), v128.xor(second, v128.xor(part(6, at), part(8, at))), 192);
  }
  const last = v128.load(SUMS, 240);
  const parts = v128.xor(v128.xor(i8x16.shl(last, 1), i8x16.shl(last, 6)), i8x16.shl(last, 7));
  v128.store(SUMS, v128.xor(v128.load(SUMS), parts));
}

export function clearLanes(): void {
  for (let at: usize = 0; at < 256; at += 16) v128.store(SUMS + at, i64x2(0, 0));
}

/** Multiplies the sixteen sums by the power with the tables at `tables`. */
export function multiplyLanes(tables: usize): void {
  cut();
  for (let n: usize = 0; n < 9; n++) {
    const at = tables + n * TABLES_PART;
    const from = INPUT + n * INPUT_PART;
    const to = OUTPUT + n * OUTPUT_PART;
    quarter(at, from, to, true);
    quarter(at + 16, from + 16, to, false);
  }
  join();
}

/** Overwrites the last values in the lanes. */
export function wipeLanes(): void {
  clearLanes();
  memory.fill(INPUT, 0, 9 * INPUT_PART);
  memory.fill(OUTPUT, 0, 9 * OUTPUT_PART);
}
