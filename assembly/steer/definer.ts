/**
 * The definer of a table: which bytes of the key its rules ask about, packed into 128-bit lanes.
 *
 *     key     | ...................... 512 bytes ...................... |
 *                 \ \        \\\\          \\
 *     lanes       | 16 bytes | 16 bytes | ...                            up to 32 lanes
 *
 * It only ever grows, at its end: a byte keeps its place, so rules that are already there stay right while a new mask
 * brings new bytes. A table that loses its last rule starts anew.
 *
 * The program that gathers a key is a list of shuffles, sorted by lane:
 *
 *     0      4      8           16               32
 *     | block| lane | 0         | pattern 16     |     lane |= swizzle(key[block .. block + 16], pattern)
 */
import { KEY_SIZE } from "../../src/abi/key";
import { allocate, release } from "../arena";

/*
 *     0       4        8       12         16
 *     | bytes | places | steps | step room | program |
 */
const BYTES: usize = 0;
/** For each key byte, its place in the lanes plus one, u16; 0 where it is not there. */
const PLACES: usize = 4;
const STEPS: usize = 8;
const ROOM: usize = 12;
const PROGRAM: usize = 16;
export const DEFINER_SIZE: usize = 20;

const STEP_SIZE: u32 = 32;
const STEP_LANE: usize = 4;
const STEP_PATTERN: usize = 16;
const PLACES_SIZE: u32 = KEY_SIZE * 2;
const FIRST_ROOM: u32 = 8;

/** An empty definer at `definer`; it holds no memory until the first mask. */
export function openDefiner(definer: usize): void {
  memory.fill(definer, 0, DEFINER_SIZE);
}

/** Forgets every byte and gives its memory back. */
export function clearDefiner(definer: usize): void {
  const places: usize = load<u32>(definer, PLACES);
  const program: usize = load<u32>(definer, PROGRAM);
  if (places != 0) release(places, PLACES_SIZE);
  if (program != 0) release(program, load<u32>(definer, ROOM) * STEP_SIZE);
  openDefiner(definer);
}

/** Lanes in use; one, all zero, where nothing is asked. */
// @ts-ignore: decorator
@inline
export function definerLanes(definer: usize): u32 {
  return max<u32>((load<u32>(definer, BYTES) + 15) >> 4, 1);
}

// @ts-ignore: decorator
@inline
export function definerSteps(definer: usize): u32 {
  return load<u32>(definer, STEPS);
}

/** The key block that step n reads; block 0 where there is no such step. */
export function stepBlock(definer: usize, n: u32): usize {
  if (n >= definerSteps(definer)) return 0;
  return load<u32>(<usize>load<u32>(definer, PROGRAM) + <usize>n * STEP_SIZE);
}

/** How step n shuffles its block; to nothing where there is no such step. */
export function stepPattern(definer: usize, n: u32): v128 {
  if (n >= definerSteps(definer)) return i64x2.splat(-1);
  return v128.load(<usize>load<u32>(definer, PROGRAM) + <usize>n * STEP_SIZE, STEP_PATTERN);
}

/** Takes in every byte that `mask` (a whole key) asks about; false when memory is full. */
export function widen(definer: usize, mask: usize): bool {
  let places: usize = load<u32>(definer, PLACES);
  if (places == 0) {
    places = allocate(PLACES_SIZE);
    if (places == 0) return false;
    memory.fill(places, 0, PLACES_SIZE);
    store<u32>(definer, <u32>places, PLACES);
  }
  for (let block: usize = 0; block < <usize>KEY_SIZE; block += 16) {
    if (!v128.any_true(v128.load(mask + block))) continue;
    for (let byte = block; byte < block + 16; byte++) {
      if (load<u8>(mask + byte) == 0 || load<u16>(places + (byte << 1)) != 0) continue;
      if (!append(definer, <u32>byte)) return false;
    }
  }
  return true;
}

function append(definer: usize, byte: u32): bool {
  const place = load<u32>(definer, BYTES);
  const step = stepFor(definer, byte & ~15, place >> 4);
  if (step == 0) return false;
  store<u8>(step + <usize>(place & 15), <u8>(byte & 15), STEP_PATTERN);
  store<u16>(<usize>load<u32>(definer, PLACES) + ((<usize>byte) << 1), <u16>(place + 1));
  store<u32>(definer, place + 1, BYTES);
  return true;
}

/** The step that moves bytes of this block to this lane: only the last lane can still get one. */
function stepFor(definer: usize, block: u32, lane: u32): usize {
  const steps = load<u32>(definer, STEPS);
  let program: usize = load<u32>(definer, PROGRAM);
  for (let i = steps; i > 0; i--) {
    const step = program + <usize>(i - 1) * STEP_SIZE;
    if (load<u32>(step, STEP_LANE) != lane) break;
    if (load<u32>(step) == block) return step;
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
  const step = program + <usize>steps * STEP_SIZE;
  store<u32>(step, block);
  store<u32>(step, lane, STEP_LANE);
  store<u64>(step, 0, 8);
  // An index of 0xff makes swizzle give 0.
  v128.store(step, i64x2.splat(-1), STEP_PATTERN);
  store<u32>(definer, steps + 1, STEPS);
  return step;
}

/** Gathers the bytes of `key` (a whole key, mask or value) into the lanes at `lanes`. */
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
