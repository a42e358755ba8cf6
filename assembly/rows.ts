/**
 * The areas that grow: what each frame of a batch needs, the bytes of frames, sums by outcome class.
 * In: how many frames a call has. Out: the address of each area.
 *
 *     frames | times | lengths | branches | keys | maps | outcomes | destinations | hits | lanes
 *     | lanes of the flow cache | recorded lookups | jobs
 *
 * A new core has one row in fixed memory, so a device that gets its frames one by one stays small.
 * Larger areas are reserved from the arena (`reserve`) when the host first asks for them. They never
 * become smaller, and what they leave is not used again.
 */
import {
  CLASSES_NUMBERS,
  CLASSES_SIZE,
  FRAME_ARENA,
  FRAME_SIZE,
  HITS_PER_FRAME,
  MAX_BATCH,
  MAX_ROWS,
} from "../src/abi/engine";
import { DEST_SIZE, OUTCOME_SIZE } from "../src/abi/outcome";
import { JOB_SIZE } from "../src/abi/cipher";
import { MAP_SIZE } from "../src/abi/headers";
import { KEY_SIZE } from "../src/abi/key";
import { reserve } from "./arena";
import {
  BATCH,
  BRANCH_SIZE,
  CACHE_MAX_LANES,
  FIRST_BYTES,
  FIRST_BYTES_SIZE,
  FIRST_LISTS,
  FIRST_ROWS,
  FIRST_ROWS_SIZE,
  RECORDED_SIZE,
} from "./memory";

const LINE: usize = 64;
const AREAS: usize = 13;

/** Areas with an element for each row. */
export namespace Rows {
  /** The number of rows in `frames` and `times`, and in the other areas, which have MAX_BATCH at most. */
  export let waiting: u32 = 0;
  export let count: u32 = 0;
  /** Frame descriptors, and the time of each frame in nanoseconds, which the host writes. */
  export let frames: usize = 0;
  export let times: usize = 0;
  /** The length of each frame as it came, captured and on the wire. */
  export let lengths: usize = 0;
  export let branches: usize = 0;
  export let keys: usize = 0;
  export let maps: usize = 0;
  export let outcomes: usize = 0;
  /** The first destination of each frame. */
  export let destinations: usize = 0;
  export let hits: usize = 0;
  export let cacheLanes: usize = 0;
  export let recorded: usize = 0;
  /** Packets to encrypt or decrypt (src/abi/cipher.ts). */
  export let jobs: usize = 0;
}

/** What the keys of a lookup are gathered to, a whole key each (classify/lookup/gather.ts). */
export namespace Lanes {
  export let start: usize = 0;
  /**
   * How many branches a lookup can have: each row, and all branches of the frames that are walked
   * together, up to BATCH.
   */
  export let count: u32 = 0;
}

/** Lists of branches, u32 each: of this round, of the next one, not yet looked up. */
export namespace Lists {
  export let round: usize = 0;
  export let waiting: usize = 0;
  export let pending: usize = 0;
}

/** Further branches of frames (branch/fork.ts). */
export namespace Forks {
  /** How many frames that are walked together can have forks. */
  export let frames: u32 = 0;
  /** The branch of the first fork. */
  export let start: usize = 0;
  /**
   * The first frame that is walked at the moment: the forks of frame n have fixed places by its
   * distance.
   */
  export let first: u32 = 0;
}

/** The bytes of frames, and rules in bulk. */
export namespace Bytes {
  export let start: usize = 0;
  export let size: u32 = 0;
}

/** Sums over frames (out/outcomeClasses.ts); 0 before the host first asks for them. */
export namespace Classes {
  export let start: usize = 0;
}

/** Makes the areas those of a new core: one row, in fixed memory. */
export function closeRows(): void {
  assert(endOf(1, 1) <= FIRST_ROWS_SIZE, "the areas of a row fit in FIRST_ROWS");
  Lanes.count = 0;
  place(FIRST_ROWS, 1, 1);
  placeLists(FIRST_LISTS, <u32>BATCH);
  Forks.frames = 0;
  Bytes.start = FIRST_BYTES;
  Bytes.size = <u32>FIRST_BYTES_SIZE;
  Classes.start = 0;
}

/**
 * Takes memory for `rows` rows, of which more than MAX_BATCH only wait. Frame descriptors and times
 * keep their content. False when memory is full; then nothing has changed.
 */
export function growRows(rows: u32): bool {
  if (rows <= Rows.waiting) return true;
  const waiting = capacityFor(rows);
  const count = min<u32>(waiting, MAX_BATCH);
  const start = reserve(endOf(waiting, count));
  if (start == 0) return false;
  const frames = Rows.frames;
  const times = Rows.times;
  const before: usize = Rows.waiting;
  place(start, waiting, count);
  memory.copy(Rows.frames, frames, before * FRAME_SIZE);
  memory.copy(Rows.times, times, before << 3);
  return true;
}

/** 16, 64, 256, or MAX_ROWS: each leaves behind a quarter of what it takes, at most. */
function capacityFor(rows: u32): u32 {
  let capacity: u32 = 16;
  while (capacity < rows && capacity < <u32>MAX_BATCH) capacity <<= 2;
  return capacity < rows ? MAX_ROWS : capacity;
}

/** The bytes of all areas. */
function endOf(waiting: u32, count: u32): usize {
  const perRow: usize =
    <usize>8 +
    BRANCH_SIZE +
    KEY_SIZE +
    MAP_SIZE +
    OUTCOME_SIZE +
    DEST_SIZE +
    HITS_PER_FRAME * 4 +
    KEY_SIZE +
    CACHE_MAX_LANES * 16 +
    RECORDED_SIZE +
    JOB_SIZE;
  // Each area begins on a line.
  return <usize>waiting * (FRAME_SIZE + 8) + <usize>count * perRow + AREAS * LINE;
}

function place(start: usize, waiting: u32, count: u32): void {
  const rows: usize = count;
  Rows.waiting = waiting;
  Rows.count = count;
  Rows.branches = start;
  Rows.frames = after(Rows.branches + rows * BRANCH_SIZE);
  Rows.times = after(Rows.frames + <usize>waiting * FRAME_SIZE);
  Rows.lengths = after(Rows.times + ((<usize>waiting) << 3));
  Rows.keys = after(Rows.lengths + (rows << 3));
  Rows.maps = after(Rows.keys + rows * KEY_SIZE);
  Rows.outcomes = after(Rows.maps + rows * MAP_SIZE);
  Rows.destinations = after(Rows.outcomes + rows * OUTCOME_SIZE);
  Rows.hits = after(Rows.destinations + rows * DEST_SIZE);
  const lanes = after(Rows.hits + rows * HITS_PER_FRAME * 4);
  placeLanes(lanes, count);
  Rows.cacheLanes = after(lanes + rows * KEY_SIZE);
  Rows.recorded = after(Rows.cacheLanes + rows * CACHE_MAX_LANES * 16);
  Rows.jobs = after(Rows.recorded + rows * RECORDED_SIZE);
}

function after(end: usize): usize {
  return (end + LINE - 1) & ~(LINE - 1);
}

/** Makes the lanes those at `start`, if they are more than there were. */
export function placeLanes(start: usize, count: u32): void {
  if (count <= Lanes.count) return;
  Lanes.start = start;
  Lanes.count = count;
}

/** Makes the lists those at `start`, of `branches` branches each. */
export function placeLists(start: usize, branches: u32): void {
  const size = (<usize>branches) << 2;
  Lists.round = start;
  Lists.waiting = start + size;
  Lists.pending = start + 2 * size;
}

/**
 * Takes memory for `size` bytes of frames. Frames in the area before stay where they are, for as long
 * as the batch. False when memory is full; then nothing has changed.
 */
export function openBytes(size: u32): bool {
  if (size <= Bytes.size) return true;
  let ample = Bytes.size << 1;
  while (ample < size) ample <<= 1;
  ample = min<u32>(ample, max<u32>(size, FRAME_ARENA));
  const start = reserve(ample);
  if (start == 0) return false;
  Bytes.start = start;
  Bytes.size = ample;
  return true;
}

/** Takes memory for sums by outcome class; false when memory is full. */
export function openClasses(): bool {
  if (Classes.start != 0) return true;
  const start = reserve(CLASSES_SIZE);
  if (start == 0) return false;
  memory.fill(start, 0, CLASSES_NUMBERS);
  Classes.start = start;
  return true;
}
