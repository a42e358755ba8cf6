/**
 * The arena: blocks of linear memory that are given back.
 *
 * Small blocks (up to 1 KiB) come in multiples of 16 bytes, large ones in powers of two; every size has a free list,
 * linked through the first word of its blocks. A large block that is missing is split from the next larger free one,
 * else memory grows. A refused allocation (0) changes nothing.
 *
 *     size class   0 .. 63: 16 .. 1,024 bytes        64 + n: 2^(11 + n) bytes
 *
 * Invariant: a block is on one free list or in use, never both; `used` is the sum of the blocks in use.
 */
import { ARENA } from "./memory";

const SMALL_LIMIT: u32 = 1024;
const SMALL_CLASSES: u32 = 64;
const LARGE_SHIFT: u32 = 11;
const CLASSES: u32 = SMALL_CLASSES + 21;
/** Small blocks are cut from slabs of this size. */
const SLAB: u32 = 65536;
const PAGE: usize = 65536;
/** A cache line. */
const LINE: u32 = 64;
/** The arena grows by so much at least before it comes to what it has lent. */
const APART: usize = 1 << 20;

// One free-list head for each class, in static memory.
const HEADS: usize = memory.data(<i32>(CLASSES * 4), 16);

export namespace Arena {
  /** Next byte never handed out. */
  export let top: usize = ARENA;
  /** Linear memory may not grow past this address. */
  export let limit: usize = 0xffff0000;
  export let used: usize = 0;
  /** What is left of the slab that small blocks are cut from. */
  export let slab: usize = 0;
  export let slabEnd: usize = 0;
}

/**
 * Memory beyond the arena, which the flow cache borrows (walk/flowCache.ts). The arena takes it back when it grows to it.
 */
export namespace Loan {
  /** Where the borrowed memory begins; NONE where nothing is lent. */
  export let start: usize = usize.MAX_VALUE;
  /** Whether the borrower follows addresses in the borrowed memory at the moment. */
  export let inUse: bool = false;
}

/** `Loan.start` while nothing is lent. */
export const NO_LOAN: usize = usize.MAX_VALUE;

// @ts-ignore: decorator
@inline
function classOf(size: u32): u32 {
  if (size <= SMALL_LIMIT) return (size + 15) / 16 - 1;
  return SMALL_CLASSES + (32 - clz(size - 1)) - LARGE_SHIFT;
}

// @ts-ignore: decorator
@inline
function sizeOf(sizeClass: u32): u32 {
  return sizeClass < SMALL_CLASSES ? (sizeClass + 1) * 16 : (<u32>1) << (sizeClass - SMALL_CLASSES + LARGE_SHIFT);
}

// @ts-ignore: decorator
@inline
function pop(sizeClass: u32): usize {
  const head = HEADS + ((<usize>sizeClass) << 2);
  const block: usize = load<u32>(head);
  if (block != 0) store<u32>(head, load<u32>(block));
  return block;
}

// @ts-ignore: decorator
@inline
function push(sizeClass: u32, block: usize): void {
  const head = HEADS + ((<usize>sizeClass) << 2);
  store<u32>(block, load<u32>(head));
  store<u32>(head, <u32>block);
}

/** A block of at least `size` bytes, its content undefined; 0 when the limit is reached. */
export function allocate(size: u32): usize {
  if (size > 0x7fffffff) return 0;
  const sizeClass = classOf(max<u32>(size, 16));
  let block = pop(sizeClass);
  if (block == 0) block = sizeClass < SMALL_CLASSES ? cut(sizeOf(sizeClass)) : large(sizeClass);
  if (block != 0) Arena.used += sizeOf(sizeClass);
  return block;
}

/** Gives back a block of `allocate(size)`. */
export function release(block: usize, size: u32): void {
  const sizeClass = classOf(max<u32>(size, 16));
  push(sizeClass, block);
  Arena.used -= sizeOf(sizeClass);
}

/** Blocks of whole cache lines begin with one: a rule is one line, not two halves. */
function cut(size: u32): usize {
  const gap: u32 = size % LINE == 0 ? (0 - <u32>Arena.slab) % LINE : 0;
  if (Arena.slabEnd - Arena.slab >= size + gap) {
    if (gap != 0) push(classOf(gap), Arena.slab);
    Arena.slab += gap;
  } else {
    const slab = large(classOf(SLAB));
    if (slab == 0) return 0;
    // The rest of the old slab is a small block itself.
    const rest = <u32>(Arena.slabEnd - Arena.slab);
    if (rest >= 16) push(classOf(rest), Arena.slab);
    Arena.slab = slab;
    Arena.slabEnd = slab + SLAB;
  }
  const block = Arena.slab;
  Arena.slab = block + size;
  return block;
}

function large(sizeClass: u32): usize {
  for (let larger = sizeClass; larger < CLASSES; larger++) {
    const block = pop(larger);
    if (block == 0) continue;
    while (larger > sizeClass) {
      larger--;
      push(larger, block + sizeOf(larger));
    }
    return block;
  }
  return fresh(sizeOf(sizeClass));
}

function fresh(size: usize): usize {
  const block = Arena.top;
  if (size > Arena.limit || block > Arena.limit - size) return 0;
  const end = block + size;
  if (end > Loan.start) endLoan();
  if (!growTo(end)) return 0;
  Arena.top = end;
  return block;
}

function growTo(end: usize): bool {
  const have = <usize>memory.size() * PAGE;
  if (end <= have) return true;
  const wanted = (end - have + PAGE - 1) / PAGE;
  // By an eighth at least: each growth detaches the host's views.
  const ample = max<usize>(wanted, memory.size() >> 3);
  return memory.grow(<i32>ample) >= 0 || memory.grow(<i32>wanted) >= 0;
}

/** Bytes beyond the arena, some way on from what it has taken, and under its limit. */
export function beyond(): usize {
  return Arena.limit > Arena.top ? Arena.limit - Arena.top : 0;
}

/**
 * Lends `size` of these bytes; 0 when there is no memory. The arena is laid out as if nothing was lent, and ends the loan
 * when it grows to it.
 */
export function lend(size: usize): usize {
  const apart = min(beyond() - size, max<usize>(APART, (Arena.top - ARENA) / 4));
  const block = (Arena.top + apart) & ~(<usize>LINE - 1);
  if (!growTo(block + size)) return 0;
  Loan.start = block;
  return block;
}

/** Takes back what is lent: the borrower checks `Loan.inUse` before it follows an address, and `Loan.start` before it uses the memory again. */
export function endLoan(): void {
  Loan.start = NO_LOAN;
  Loan.inUse = false;
}

/** Makes the fixed areas real: the module declares less memory than they take. */
export function growToArena(): bool {
  const wanted = (ARENA + PAGE - 1) / PAGE;
  const have = <usize>memory.size();
  return wanted <= have || memory.grow(<i32>(wanted - have)) >= 0;
}

/** Sets how many bytes the arena may use. Blocks in use stay. */
export function limitArena(bytes: u32): void {
  const room = <usize>0xffff0000 - ARENA;
  Arena.limit = ARENA + (<usize>bytes < room ? <usize>bytes : room);
}

/** Bytes of the arena in use. */
export function arenaUsed(): usize {
  return Arena.used;
}

/** The end of what the arena stores. */
export function arenaTop(): usize {
  return Arena.top;
}

/** Bytes that are not in use, whatever sizes they have become. */
export function arenaRoom(): usize {
  const bytes = Arena.limit - ARENA;
  return bytes > Arena.used ? bytes - Arena.used : 0;
}
