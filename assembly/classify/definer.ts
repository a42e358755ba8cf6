/**
 * The definer of a table: the key dwords that its rules match, packed into 128-bit lanes of four
 * columns. In: masks of rules. Out: a program that gathers the lanes of a key.
 *
 *     key     | ...................... 512 bytes ...................... |
 *                 \ \        \\\\          \\
 *     lanes       | 16 bytes | 16 bytes | ...                            up to 32 lanes
 *
 * A dword with an address, ports or an identifier gets a column of its own, so that its prefixes
 * can be told apart (fieldChunk.ts). Bytes of dwords with many small fields (`sharesColumn`) share
 * columns. A definer grows only at its end: a byte keeps its position, so stored rules stay valid
 * when a mask adds bytes. It is cleared when the table loses its last rule.
 *
 * The program is a list of steps, sorted by lane:
 *
 *     0      4      8   16           32
 *     | block| lane | 0 | pattern 16 |       lane |= swizzle(key[block .. block + 16], pattern)
 */
import { EXT, EXT_OUTER_ESP_SEQ, INNER, KEY_SIZE, LAYER_OK, LAYER_PROTOCOL, OUTER } from "../../src/abi/key";
import { DEFINER_SIZE } from "../../src/abi/table";
import { allocate, release } from "../arena";
import { groupOf } from "./requiredFields";

/*
 *     0         4             8           12      16     20        24
 *     | columns | shared next | positions | steps | room | program | dwords |
 */
const COLUMNS: usize = 0;
/** The position of the next byte in the shared column; a multiple of 4 when that column is full. */
const SHARED_NEXT: usize = 4;
/**
 * For each key byte, its position in the lanes plus one, u16; 0 if the definer does not have it.
 */
const POSITIONS: usize = 8;
const STEPS: usize = 12;
const ROOM: usize = 16;
const PROGRAM: usize = 20;
/** For each column, the number of its dword; SHARED for a shared column. */
const DWORDS: usize = 24;

const STEP_SIZE: u32 = 32;
/**
 * The largest number of steps of `layOut`: one for each block of the key, and one for each lane
 * that begins within a block.
 */
const LAID_STEPS: u32 = 64;
export const LAID_SIZE: u32 = LAID_STEPS * STEP_SIZE;
const STEP_LANE: usize = 4;
const STEP_PATTERN: usize = 16;
const POSITIONS_SIZE: u32 = KEY_SIZE * 2;
const DWORDS_SIZE: u32 = KEY_SIZE / 4;
const FIRST_ROOM: u32 = 8;
const COLUMN: u32 = 4;
/** Marks a column of small fields. */
const SHARED: u32 = 0xff;

export namespace Definers {
  /** Whether a definer got or lost bytes since the flow cache read them (walk/flowCacheKey.ts). */
  export let changed: bool = true;
  /**
   * The dwords without a column of their own that a range reads, a bit each: the first half of the
   * key, then the second.
   */
  export let ranged: u64 = 0;
  export let rangedBehind: u64 = 0;
}

/** Makes an empty definer. It takes no memory until the first mask. */
export function openDefiner(definer: usize): void {
  memory.fill(definer, 0, DEFINER_SIZE);
}

/** Removes every byte and gives the memory back. */
export function clearDefiner(definer: usize): void {
  const positions: usize = load<u32>(definer, POSITIONS);
  const dwords: usize = load<u32>(definer, DWORDS);
  const program: usize = load<u32>(definer, PROGRAM);
  if (positions != 0) Definers.changed = true;
  if (positions != 0) release(positions, POSITIONS_SIZE);
  if (dwords != 0) release(dwords, DWORDS_SIZE);
  if (program != 0) release(program, load<u32>(definer, ROOM) * STEP_SIZE);
  openDefiner(definer);
}

/** The number of lanes. A definer without bytes has one, all zero. */
// @ts-ignore: decorator
@inline
export function definerLanes(definer: usize): u32 {
  return max<u32>((load<u32>(definer, COLUMNS) + 3) >> 2, 1);
}

// @ts-ignore: decorator
@inline
export function definerSteps(definer: usize): u32 {
  return load<u32>(definer, STEPS);
}

/** The key block of step n; block 0 if there is no such step. */
export function stepBlock(definer: usize, n: u32): usize {
  if (n >= definerSteps(definer)) return 0;
  return load<u32>(<usize>load<u32>(definer, PROGRAM) + <usize>n * STEP_SIZE);
}

/** The shuffle pattern of step n; one that yields zero if there is no such step. */
export function stepPattern(definer: usize, n: u32): v128 {
  if (n >= definerSteps(definer)) return i64x2.splat(-1);
  return v128.load(<usize>load<u32>(definer, PROGRAM) + <usize>n * STEP_SIZE, STEP_PATTERN);
}

/**
 * Makes a definer of every nonzero byte of `mask`, in the order of the key; returns its lanes. The
 * program is written to `program`, which has room for LAID_STEPS steps.
 */
export function layOut(definer: usize, program: usize, mask: usize): u32 {
  let position: u32 = 0;
  let step = program - STEP_SIZE;
  let last: u32 = u32.MAX_VALUE;
  for (let byte: u32 = 0; byte < <u32>KEY_SIZE; byte++) {
    if (load<u8>(mask + <usize>byte) == 0) continue;
    // The block and the lane as one number.
    const now = (byte & ~15) | (position >> 4);
    if (now != last) {
      step += STEP_SIZE;
      openStep(step, byte & ~15, position >> 4);
      last = now;
    }
    move(step, byte, position);
    position++;
  }
  openDefiner(definer);
  store<u32>(definer, (position + COLUMN - 1) / COLUMN, COLUMNS);
  store<u32>(definer, <u32>(step + STEP_SIZE - program) / STEP_SIZE, STEPS);
  store<u32>(definer, <u32>program, PROGRAM);
  return definerLanes(definer);
}

/** Whether a dword has several small fields, of which a rule usually matches one. */
function sharesColumn(dword: u32): bool {
  if (dword >= <u32>EXT) return dword < <u32>EXT_OUTER_ESP_SEQ;
  const inLayer = dword & 63;
  const layer = dword - inLayer;
  if (layer != <u32>OUTER && layer != <u32>INNER) return false;
  return inLayer == <u32>LAYER_PROTOCOL || inLayer == <u32>(LAYER_OK & ~3);
}

/** Adds every nonzero byte of `mask` (a whole key); false when memory is full. */
export function addMask(definer: usize, mask: usize): bool {
  let positions: usize = load<u32>(definer, POSITIONS);
  if (positions == 0) {
    positions = allocate(POSITIONS_SIZE);
    if (positions == 0) return false;
    const dwords = allocate(DWORDS_SIZE);
    if (dwords == 0) {
      release(positions, POSITIONS_SIZE);
      return false;
    }
    memory.fill(positions, 0, POSITIONS_SIZE);
    store<u32>(definer, <u32>positions, POSITIONS);
    store<u32>(definer, <u32>dwords, DWORDS);
  }
  for (let block: u32 = 0; block < <u32>KEY_SIZE; block += 16) {
    if (!v128.any_true(v128.load(mask + <usize>block))) continue;
    for (let dword = block; dword < block + 16; dword += COLUMN) {
      if (load<u32>(mask + <usize>dword) != 0 && !addDword(definer, positions, mask, dword)) return false;
    }
  }
  return true;
}

/** Adds the dword of a range if it can have a column of its own; false when memory is full. */
export function addRange(definer: usize, dword: u32): bool {
  if (!sharesColumn(dword)) return addDword(definer, load<u32>(definer, POSITIONS), 0, dword);
  const bit: u64 = (<u64>1) << ((dword / COLUMN) & 63);
  if (dword < <u32>KEY_SIZE / 2) Definers.ranged |= bit;
  else Definers.rangedBehind |= bit;
  Definers.changed = true;
  return true;
}

/** Marks every byte of the definer in `mask` (a whole key). */
export function addBytes(definer: usize, mask: usize): void {
  const positions: usize = load<u32>(definer, POSITIONS);
  if (positions == 0) return;
  for (let at: usize = 0; at < <usize>KEY_SIZE; at += 16) {
    const low = i16x8.ne(v128.load(positions + (at << 1)), i64x2.splat(0));
    const high = i16x8.ne(v128.load(positions + (at << 1), 16), i64x2.splat(0));
    v128.store(mask + at, v128.or(v128.load(mask + at), i8x16.narrow_i16x8_s(low, high)));
  }
}

/**
 * Marks in `mask` the dwords that ranges read and no definer has, for groups of the key in
 * `required`.
 */
export function addRangedDwords(mask: usize, required: u32): void {
  for (let half: usize = 0; half < 2; half++) {
    for (let bits = half == 0 ? Definers.ranged : Definers.rangedBehind; bits != 0; bits &= bits - 1) {
      const dword = mask + half * (KEY_SIZE / 2) + ((<usize>ctz(bits)) << 2);
      if (required & groupOf(dword - mask)) store<u32>(dword, 0xffffffff);
    }
  }
}

/** The column of a dword; -1 if it has none of its own. */
export function ownColumn(definer: usize, dword: u32): i32 {
  if (sharesColumn(dword)) return -1;
  const position = load<u16>(<usize>load<u32>(definer, POSITIONS) + ((<usize>dword) << 1));
  // Unreached: `addRange` has given the dword a column before.
  return position == 0 ? -1 : <i32>((<u32>position - 1) / COLUMN);
}

/** Adds a dword; when memory is full it returns false and takes no column. */
function addDword(definer: usize, positions: usize, mask: usize, dword: u32): bool {
  const block = dword & ~15;
  if (!sharesColumn(dword)) {
    if (load<u16>(positions + ((<usize>dword) << 1)) != 0) return true;
    const first = load<u32>(definer, COLUMNS) * COLUMN;
    const step = stepFor(definer, block, first >> 4);
    if (step == 0) return false;
    newColumn(definer, dword / COLUMN);
    for (let n: u32 = 0; n < COLUMN; n++) addByte(positions, step, dword + n, first + n);
    return true;
  }
  for (let byte = dword; byte < dword + COLUMN; byte++) {
    if (load<u8>(mask + <usize>byte) == 0 || load<u16>(positions + ((<usize>byte) << 1)) != 0) continue;
    let position = load<u32>(definer, SHARED_NEXT);
    const full = position % COLUMN == 0;
    if (full) position = load<u32>(definer, COLUMNS) * COLUMN;
    const step = stepFor(definer, block, position >> 4);
    if (step == 0) return false;
    if (full) newColumn(definer, SHARED);
    addByte(positions, step, byte, position);
    store<u32>(definer, position + 1, SHARED_NEXT);
  }
  return true;
}

function newColumn(definer: usize, dword: u32): void {
  const column = load<u32>(definer, COLUMNS);
  store<u8>(<usize>load<u32>(definer, DWORDS) + <usize>column, <u8>dword);
  store<u32>(definer, column + 1, COLUMNS);
}

/** Adds one byte to its step. */
function addByte(positions: usize, step: usize, byte: u32, position: u32): void {
  move(step, byte, position);
  store<u16>(positions + ((<usize>byte) << 1), <u16>(position + 1));
  Definers.changed = true;
}

/** The step from a key block to a lane, inserted in order if it is new; 0 when memory is full. */
function stepFor(definer: usize, block: u32, lane: u32): usize {
  const steps = load<u32>(definer, STEPS);
  let program: usize = load<u32>(definer, PROGRAM);
  let before = steps;
  for (; before > 0; before--) {
    const step = program + <usize>(before - 1) * STEP_SIZE;
    const at = load<u32>(step, STEP_LANE);
    if (at < lane) break;
    if (at == lane && load<u32>(step) == block) return step;
  }
  const room = load<u32>(definer, ROOM);
  if (steps == room) {
    const wider = max(room * 2, FIRST_ROOM);
    const larger = allocate(wider * STEP_SIZE);
    if (larger == 0) return 0;
    memory.copy(larger, program, steps * STEP_SIZE);
    if (program != 0) release(program, room * STEP_SIZE);
    program = larger;
    store<u32>(definer, <u32>program, PROGRAM);
    store<u32>(definer, wider, ROOM);
  }
  const step = program + <usize>before * STEP_SIZE;
  memory.copy(step + STEP_SIZE, step, <usize>(steps - before) * STEP_SIZE);
  openStep(step, block, lane);
  store<u32>(definer, steps + 1, STEPS);
  return step;
}

/** Adds one byte to a step. */
// @ts-ignore: decorator
@inline
function move(step: usize, byte: u32, position: u32): void {
  store<u8>(step + <usize>(position & 15), <u8>(byte & 15), STEP_PATTERN);
}

/** Makes a step that moves no byte. */
function openStep(step: usize, block: u32, lane: u32): void {
  store<u32>(step, block);
  store<u32>(step, lane, STEP_LANE);
  store<u64>(step, 0, 8);
  // swizzle yields 0 for the index 0xff.
  v128.store(step, i64x2.splat(-1), STEP_PATTERN);
}

/** Gathers the bytes of `key` (a key, mask or value) into the lanes at `lanes`. */
export function gather(definer: usize, key: usize, lanes: usize): void {
  let step: usize = load<u32>(definer, PROGRAM);
  const end = step + <usize>load<u32>(definer, STEPS) * STEP_SIZE;
  let lane: usize = 0;
  let bytes = i64x2.splat(0);
  while (step < end) {
    const next: usize = load<u32>(step, STEP_LANE);
    if (next != lane) {
      v128.store(lanes + (lane << 4), bytes);
      bytes = i64x2.splat(0);
      lane = next;
    }
    const block = v128.load(key + <usize>load<u32>(step));
    bytes = v128.or(bytes, i8x16.swizzle(block, v128.load(step, STEP_PATTERN)));
    step += STEP_SIZE;
  }
  v128.store(lanes + (lane << 4), bytes);
}

/** Writes the bytes of `count` lanes back to their offsets in a key. */
export function scatter(definer: usize, lanes: usize, count: u32, key: usize): void {
  let step: usize = load<u32>(definer, PROGRAM);
  const end = step + <usize>load<u32>(definer, STEPS) * STEP_SIZE;
  for (; step < end; step += STEP_SIZE) {
    const lane: usize = load<u32>(step, STEP_LANE);
    if (lane >= count) break;
    for (let i: usize = 0; i < 16; i++) {
      const from: usize = load<u8>(step + i, STEP_PATTERN);
      if (from < 16) store<u8>(key + <usize>load<u32>(step) + from, load<u8>(lanes + (lane << 4) + i));
    }
  }
}

/** The number of columns. */
export function definerColumns(definer: usize): u32 {
  return load<u32>(definer, COLUMNS);
}

/** The dword of a column; -1 for a shared column. */
export function columnDword(definer: usize, column: u32): i32 {
  const dword: u32 = load<u8>(<usize>load<u32>(definer, DWORDS) + <usize>column);
  return dword == SHARED ? -1 : <i32>(dword * COLUMN);
}
