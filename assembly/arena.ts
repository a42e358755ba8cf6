/**
 * The arena: allocates and frees blocks of linear memory. In: a size. Out: an address, 0 when
 * memory is full; a refused allocation changes nothing.
 *
 * Blocks up to 1 KiB have sizes in multiples of 16 bytes, larger blocks powers of two. Each size
 * has a free list, linked through the first word of its blocks. A missing large block is split off
 * the next larger free one, else memory grows. A missing small block is cut from a slab; when there
 * is no memory for a slab, from a larger free block.
 *
 *     size class   0 .. 63: 16 .. 1,024 bytes        64 + n: 2^(11 + n) bytes
 *
 * Invariant: a block is either on one free list or in use; `used` is the sum of the blocks in use.
 */
import { PAGE } from "../src/abi/engine";
import { ARENA } from "./memory";

const SMALL_LIMIT: u32 = 1024;
const SMALL_CLASSES: u32 = 64;
const LARGE_SHIFT: u32 = 11;
const CLASSES: u32 = SMALL_CLASSES + 21;
/** Small blocks are cut from slabs of this size. */
const SLAB: u32 = 65536;
/** The size of a slab that is split off a free block when memory does not grow. */
const MIN_SLAB: u32 = 2048;
/** A cache line. */
const LINE: u32 = 64;
/** The least distance of lent memory from the top of the arena. */
const APART: usize = 1 << 15;

// The head of each class's free list, in static memory.
const HEADS: usize = memory.data(<i32>(CLASSES * 4), 16);

/** Where linear memory ends at the latest. */
const END: usize = 0xffff0000;

export namespace Arena {
  /** Where it begins: after the areas that were reserved before the first block. */
  export let start: usize = ARENA;
  /** The first byte that was never allocated. */
  export let top: usize = ARENA;
  /** Blocks end before this address. */
  export let limit: usize = END;
  /** Nothing is allocated or reserved past this address. */
  export let end: usize = END;
  /** Bytes between `start` and `top` that are areas, no blocks. */
  export let reserved: usize = 0;
  export let used: usize = 0;
  /** The rest of the slab that small blocks are cut from. */
  export let slab: usize = 0;
  export let slabEnd: usize = 0;
}

/**
 * Memory beyond the arena that is lent to the flow cache (walk/flowCache.ts). The arena takes it
 * back when it grows into it.
 */
export namespace Loan {
  /** The address of the lent memory; NO_LOAN if nothing is lent. */
  export let start: usize = usize.MAX_VALUE;
  /** Whether the borrower holds addresses in the lent memory at the moment. */
  export let inUse: bool = false;
}

/** The value of `Loan.start` while nothing is lent. */
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

/** Allocates a block of at least `size` bytes with undefined content; 0 when memory is full. */
export function allocate(size: u32): usize {
  // Unreached: the host refuses what would take so much.
  if (size > 0x7fffffff) return 0;
  const sizeClass = classOf(max<u32>(size, 16));
  let block = pop(sizeClass);
  if (block == 0) block = sizeClass < SMALL_CLASSES ? cut(sizeOf(sizeClass)) : large(sizeClass);
  if (block != 0) Arena.used += sizeOf(sizeClass);
  return block;
}

/** Frees a block of `allocate(size)`. */
export function release(block: usize, size: u32): void {
  const sizeClass = classOf(max<u32>(size, 16));
  push(sizeClass, block);
  Arena.used -= sizeOf(sizeClass);
}

/**
 * Frees the end of a small block, without memory for another one. Its first bytes stay where they
 * are. @returns false for a large block
 */
export function shrink(block: usize, from: u32, to: u32): bool {
  const before = sizeOf(classOf(max<u32>(from, 16)));
  const after = sizeOf(classOf(max<u32>(to, 16)));
  if (before > SMALL_LIMIT) return false;
  pushPart(block + after, before - after);
  Arena.used -= before - after;
  return true;
}

/** Cuts a small block from a slab. */
function cut(size: u32): usize {
  const gap = gapBefore(Arena.slab, size);
  if (Arena.slabEnd - Arena.slab >= size + gap) {
    pushPart(Arena.slab, gap);
    Arena.slab += gap;
  } else {
    let slabSize = SLAB;
    let slab = large(classOf(SLAB));
    if (slab == 0) {
      const block = cutFree(size);
      if (block != 0) return block;
      slabSize = MIN_SLAB;
      slab = popLarge(classOf(MIN_SLAB));
      if (slab == 0) return 0;
    }
    // The rest of the old slab becomes a free block.
    pushPart(Arena.slab, <u32>(Arena.slabEnd - Arena.slab));
    Arena.slab = slab;
    Arena.slabEnd = slab + slabSize;
  }
  const block = Arena.slab;
  Arena.slab = block + size;
  return block;
}

/** Cuts a small block from the smallest free small block that holds it; 0 for none. */
function cutFree(size: u32): usize {
  for (let larger = classOf(size) + 1; larger < SMALL_CLASSES; larger++) {
    const free: usize = load<u32>(HEADS + ((<usize>larger) << 2));
    if (free == 0) continue;
    const gap = gapBefore(free, size);
    const end = gap + size;
    if (end > sizeOf(larger)) continue;
    pop(larger);
    pushPart(free, gap);
    pushPart(free + end, sizeOf(larger) - end);
    return free + gap;
  }
  return 0;
}

/**
 * The bytes to leave free at `address` before a block of `size` bytes. Blocks of whole cache lines
 * are aligned, so that a rule is one line.
 */
// @ts-ignore: decorator
@inline
function gapBefore(address: usize, size: u32): u32 {
  return size % LINE == 0 ? (0 - <u32>address) % LINE : 0;
}

/** Puts a part of a slab or of a small block on the free lists. */
function pushPart(part: usize, size: u32): void {
  if (size == 0) return;
  const gap = gapBefore(part, size);
  if (gap != 0) push(classOf(gap), part);
  push(classOf(size - gap), part + gap);
}

function large(sizeClass: u32): usize {
  const block = popLarge(sizeClass);
  return block != 0 ? block : fresh(sizeOf(sizeClass));
}

/** Takes a large block off the free lists, split off a larger one if need be; 0 for none. */
function popLarge(sizeClass: u32): usize {
  for (let larger = sizeClass; larger < CLASSES; larger++) {
    const block = pop(larger);
    if (block == 0) continue;
    while (larger > sizeClass) {
      larger--;
      push(larger, block + sizeOf(larger));
    }
    return block;
  }
  return 0;
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
  // Grows by an eighth at least: each growth detaches the views of the host.
  const ample = max<usize>(wanted, memory.size() >> 3);
  return memory.grow(<i32>ample) >= 0 || memory.grow(<i32>wanted) >= 0;
}

/** The bytes beyond the arena and under its limit. */
export function beyond(): usize {
  return Arena.limit > Arena.top ? Arena.limit - Arena.top : 0;
}

/**
 * Lends `size` bytes beyond the arena; 0 when memory is full. The arena allocates as if nothing
 * were lent, and ends the loan when it grows into it.
 */
export function lend(size: usize): usize {
  const apart = min(beyond() - size, max<usize>(APART, (Arena.top - Arena.start) / 4));
  const block = (Arena.top + apart) & ~(<usize>LINE - 1);
  if (!growTo(block + size)) return 0;
  Loan.start = block;
  return block;
}

/** Makes the lent memory `size` bytes long; false when memory is full, and the loan stays as it is. */
export function extendLoan(size: usize): bool {
  return Loan.start <= Arena.limit && size <= Arena.limit - Loan.start && growTo(Loan.start + size);
}

/**
 * Ends the loan. The borrower checks `Loan.inUse` before it follows an address, and `Loan.start`
 * before it uses the memory again.
 */
export function endLoan(): void {
  Loan.start = NO_LOAN;
  Loan.inUse = false;
}

/** Takes the memory of the fixed areas: the module declares less. */
export function growToArena(): bool {
  const wanted = (ARENA + PAGE - 1) / PAGE;
  const have = <usize>memory.size();
  return wanted <= have || memory.grow(<i32>(wanted - have)) >= 0;
}

/** Sets how many bytes the arena may use. Blocks in use stay. */
export function limitArena(bytes: u32): void {
  const first = Arena.start + Arena.reserved;
  Arena.limit = first + min<usize>(bytes, Arena.end - first);
}

/**
 * Takes memory that is never freed for an area (rows.ts), all of it 0; returns 0 when linear memory is
 * full. Blocks have as much room as before: the limit moves with the top.
 */
export function reserve(size: usize): usize {
  const whole = (size + LINE - 1) & ~(<usize>LINE - 1);
  const area = (Arena.top + LINE - 1) & ~(<usize>LINE - 1);
  // Unreached: the area would end beyond 4 GiB. Tests of full memory fill it with blocks.
  if (whole > Arena.end || area > Arena.end - whole) return 0;
  const top = area + whole;
  if (top > Loan.start) endLoan();
  // What was lent holds entries of the flow cache. New pages are 0.
  const have = <usize>memory.size() * PAGE;
  if (!growTo(top)) return 0;
  // Unreached: memory has whole pages, and no area begins exactly at the end of one.
  if (area < have) memory.fill(area, 0, min(top, have) - area);
  const taken = top - Arena.top;
  if (Arena.top == Arena.start) Arena.start = top;
  else Arena.reserved += taken;
  Arena.top = top;
  Arena.limit += min<usize>(taken, Arena.end - Arena.limit);
  return area;
}

/** Restarts the arena at `top` with empty free lists. The bytes before are a copy of another arena. */
export function restartArena(top: usize, limit: usize): void {
  memory.fill(HEADS, 0, CLASSES * 4);
  Arena.top = top;
  Arena.limit = limit;
  Arena.end = limit;
  Arena.slab = 0;
  Arena.slabEnd = 0;
}

/** Bytes of the arena in use. */
export function arenaUsed(): usize {
  return Arena.used;
}

/** The end of what the arena stores. */
export function arenaTop(): usize {
  return Arena.top;
}

/** The bytes that are not in use, in blocks of whatever size. */
export function arenaRoom(): usize {
  const bytes = Arena.limit - Arena.start - Arena.reserved;
  return bytes > Arena.used ? bytes - Arena.used : 0;
}
