/**
 * GHASH of several packets of one association: sixteen at a time, one per lane, if that is faster.
 */
import { JOB_AAD, JOB_AAD_LENGTH, JOB_DATA, JOB_LENGTH, JOB_SIZE } from "../../src/abi/cipher";
import { ghash, LIST, MANY, SPARE, ZERO } from "./ghash";
import { LANES_1, LANES_2, lengthsTimesH } from "./hashKey";
import { clearLanes, multiplyLanes } from "./lanes";
import { countBlocks, findBlock } from "./packet";
import { addBlocks, firstBlocks, lastBlocks } from "./transpose";

/** Address steps of the lanes from block to block. */
const STEPS: usize = memory.data(64, 16);

// Measured nanoseconds per block, and for the rest: in lanes (all sixteen), in a packet alone, in a
// long packet.
const LANES_BLOCK: u32 = 128;
const LANES_ELSE: u32 = 300;
const ALONE_BLOCK: u32 = 21;
const ALONE_ELSE: u32 = 15;
const LONG_BLOCK: u32 = 8;
const LONG_ELSE: u32 = 360;

/** Computes GHASH of `count` jobs, 16 bytes each at `out`. */
export function ghashMany(hash: usize, jobs: usize, count: u32, out: usize): void {
  while (count != 0) {
    const group = min<u32>(count, 16);
    const rows = longest(jobs, group);
    if (rows * LANES_BLOCK + LANES_ELSE < alone(jobs, group)) {
      hashGroup(hash, jobs, group, rows);
      for (let lane: u32 = 0; lane < group; lane++) {
        const job = jobs + lane * JOB_SIZE;
        const lengths = lengthsTimesH(hash, load<u16>(job, JOB_AAD_LENGTH), load<u32>(job, JOB_LENGTH));
        v128.store(out + (lane << 4), v128.xor(v128.load(SPARE + (lane << 4)), lengths));
      }
    } else {
      for (let n: u32 = 0; n < group; n++) hashJob(hash, jobs + n * JOB_SIZE, out + (n << 4));
    }
    jobs += group * JOB_SIZE;
    out += group << 4;
    count -= group;
  }
}

function hashJob(hash: usize, job: usize, out: usize): void {
  const aadLength: u32 = load<u16>(job, JOB_AAD_LENGTH);
  ghash(hash, load<u32>(job, JOB_AAD), aadLength, load<u32>(job, JOB_DATA), load<u32>(job, JOB_LENGTH), out);
}

// @ts-ignore: decorator
@inline
function blocksOf(job: usize): u32 {
  return countBlocks(load<u16>(job, JOB_AAD_LENGTH), load<u32>(job, JOB_LENGTH));
}

function longest(jobs: usize, count: u32): u32 {
  let blocks: u32 = 0;
  for (let n: u32 = 0; n < count; n++) blocks = max(blocks, blocksOf(jobs + n * JOB_SIZE));
  return blocks;
}

/** The cost of the jobs one by one. */
function alone(jobs: usize, count: u32): u32 {
  let cost: u32 = 0;
  for (let n: u32 = 0; n < count; n++) {
    const blocks = blocksOf(jobs + n * JOB_SIZE);
    cost += blocks < MANY ? blocks * ALONE_BLOCK + ALONE_ELSE : blocks * LONG_BLOCK + LONG_ELSE;
  }
  return cost;
}

/**
 * Hashes up to sixteen jobs, with zeros before the shorter ones: their sums without the lengths, at
 * `SPARE`.
 */
function hashGroup(hash: usize, jobs: usize, count: u32, rows: u32): void {
  clearLanes();
  for (let lane: u32 = 0; lane < 16; lane++) {
    store<u32>(LIST + (lane << 2), <u32>ZERO);
    store<u32>(STEPS + (lane << 2), lane < count ? 16 : 0);
  }
  // Between these two rows all lanes have whole blocks of data.
  let from: u32 = 0;
  let to: u32 = rows;
  for (let lane: u32 = 0; lane < count; lane++) {
    const job = jobs + lane * JOB_SIZE;
    const inData = rows - ((load<u32>(job, JOB_LENGTH) + 15) >> 4);
    from = max(from, inData);
    to = min(to, inData + (load<u32>(job, JOB_LENGTH) >> 4));
  }
  for (let row: u32 = 0; row < rows; row++) {
    if (row != 0) multiplyLanes(hash + LANES_1);
    if (row > from && row < to) stepLanes();
    else findLanes(jobs, count, rows, row);
    addBlocks(LIST);
  }
  multiplyLanes(hash + LANES_2);
  firstBlocks(SPARE);
  lastBlocks(SPARE + 128);
}

/** Moves every lane to its next block. */
function stepLanes(): void {
  for (let at: usize = 0; at < 64; at += 16) {
    v128.store(LIST + at, i32x4.add(v128.load(LIST + at), v128.load(STEPS + at)));
  }
}

/** Finds the block of every lane in a row. */
function findLanes(jobs: usize, count: u32, rows: u32, row: u32): void {
  for (let lane: u32 = 0; lane < count; lane++) {
    const job = jobs + lane * JOB_SIZE;
    const padding = rows - blocksOf(job);
    if (row < padding) continue;
    const at = findBlock(
      row - padding,
      load<u32>(job, JOB_AAD),
      load<u16>(job, JOB_AAD_LENGTH),
      load<u32>(job, JOB_DATA),
      load<u32>(job, JOB_LENGTH),
      SPARE + (lane << 4),
    );
    store<u32>(LIST + (lane << 2), <u32>at);
  }
}
