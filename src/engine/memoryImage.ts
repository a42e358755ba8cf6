/**
 * The state of a core as bytes: its mutable globals, which it saves itself (scripts/core-globals.mjs),
 * and the blocks of its memory that are not zero.
 *
 *     0         4                    8
 *     | pages   | number of blocks   | index of each block, u32 | blocks of 4,096 bytes |
 */
import { Area, KNOWN_MASKS_SIZE, PAGE, STAGE_SIZE } from "../abi/engine.js";
import type { Core } from "./core.js";

const BLOCK = 4096;
const WORDS = BLOCK / 4;
const NAME = /^core-([0-9a-f]{12})$/;
/** A saved global, in words; the second word before them is their number (scripts/core-globals.mjs). */
const SLOT_WORDS = 2;
const COUNT_WORD = 1;

/** The hash of the core's module; null for a core that was built without it. */
export function coreHash(core: Core): string | null {
  for (const name of Object.keys(core.exports)) {
    const found = NAME.exec(name);
    if (found !== null) return found[1] as string;
  }
  return null;
}

/** The values of all mutable globals. */
export function readGlobals(core: Core): string[] {
  return withSlots(core, (words) => {
    const count = words[COUNT_WORD] as number;
    const slots = words.subarray(SLOT_WORDS, SLOT_WORDS * (1 + count));
    return Array.from({ length: count }, (_, n) => {
      const high = slots[SLOT_WORDS * n + 1] as number;
      return String((BigInt(high) << 32n) | BigInt(slots[SLOT_WORDS * n] as number));
    });
  });
}

export function writeGlobals(core: Core, values: readonly string[]): void {
  withSlots(core, (words) => {
    for (const [n, text] of values.entries()) {
      const value = BigInt(text);
      words[SLOT_WORDS * (1 + n)] = Number(value & 0xffffffffn);
      words[SLOT_WORDS * (1 + n) + 1] = Number(value >> 32n);
    }
    core.exports.takeGlobals(core.staging);
  });
}

/** Calls back with the saved globals. What is staged stays as it is. */
function withSlots<T>(core: Core, run: (words: Uint32Array) => T): T {
  const words = core.u32.subarray(core.staging >> 2, (core.staging + STAGE_SIZE) >> 2);
  const staged = words.slice();
  words.fill(0);
  core.exports.keepGlobals(core.staging);
  const result = run(words);
  words.set(staged);
  return result;
}

/**
 * Memory without the bytes of the frames in the batch, as the pieces of an image. They are views of the
 * memory: copy them before the core goes on.
 */
export function memoryImage(core: Core): Uint8Array[] {
  const { u8, u32 } = core;
  const blocks: number[] = [];
  const [scratch, end] = [Math.ceil(core.bytes / BLOCK), Math.floor((core.bytes + core.bytesSize) / BLOCK)];
  for (let block = 0; block * WORDS < u32.length; block++) {
    if (block === scratch && end > scratch) block = end;
    if (isUsed(u32, block)) blocks.push(block);
  }
  const head = Uint32Array.of(u8.length / PAGE, blocks.length);
  const pieces: Uint8Array[] = [new Uint8Array(head.buffer), new Uint8Array(Uint32Array.from(blocks).buffer)];
  for (let i = 0; i < blocks.length;) {
    // Neighbours are copied together.
    const first = blocks[i] as number;
    let count = 1;
    while (blocks[i + count] === first + count) count++;
    pieces.push(u8.subarray(first * BLOCK, (first + count) * BLOCK));
    i += count;
  }
  return pieces;
}

function isUsed(u32: Uint32Array, block: number): boolean {
  for (let at = block * WORDS, end = at + WORDS; at < end; at++) if (u32[at] !== 0) return true;
  return false;
}

/** The images of several cores in a row. @throws RangeError they are not as many as `count` */
export function imagesOf(bytes: Uint8Array, count: number): Uint8Array[] {
  const images: Uint8Array[] = [];
  let from = 0;
  for (; images.length < count; from += images.at(-1)?.length ?? 0) {
    const [, blocks] = new Uint32Array(bytes.buffer, bytes.byteOffset + from, 2);
    const image = bytes.subarray(from, from + 8 + (4 + BLOCK) * (blocks as number));
    // No core is without blocks, so the bytes bound their number.
    if (blocks === 0 || image.length !== 8 + (4 + BLOCK) * (blocks as number)) throw new RangeError("no image");
    images.push(image);
  }
  if (from !== bytes.length) throw new RangeError("more than the images");
  return images;
}

/** Replaces the memory of a core. @returns false when there is no memory */
export function writeMemory(core: Core, image: Uint8Array): boolean {
  const words = new Uint32Array(image.buffer, image.byteOffset, 2);
  const [pages, count] = [words[0] as number, words[1] as number];
  const more = pages - core.u8.length / PAGE;
  try {
    if (more > 0) core.exports.memory.grow(more);
  } catch {
    return false;
  }
  const { u8 } = core;
  // What was grown is zero already, and takes no memory until it is written.
  const old = u8.length - Math.max(more, 0) * PAGE;
  const places = new Uint32Array(image.buffer, image.byteOffset + 8, count);
  const head = 8 + 4 * count;
  u8.fill(0, 0, old);
  for (let i = 0; i < count;) {
    const first = places[i] as number;
    let run = 1;
    while (places[i + run] === first + run) run++;
    u8.set(image.subarray(head + i * BLOCK, head + (i + run) * BLOCK), first * BLOCK);
    i += run;
  }
  // Numbers of masks are those of a process.
  const known = core.exports.areaAddress(Area.known_masks) >>> 0;
  u8.fill(0, known, known + KNOWN_MASKS_SIZE);
  return true;
}
