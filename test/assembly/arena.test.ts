/** The arena: blocks never overlap, are reused after they are freed, and are counted. */
import { describe, expect, test } from "vitest";
import debug from "../../build/debug/core.wasm";
import release from "../../build/release/core.wasm";
import type { Core } from "../../src/engine/core.js";
import { loadOpenCore } from "../support/openCore.js";
import { Random } from "../oracle/generate/frame.js";
import { seedFor } from "./support/core.js";

/** The size of a counter: n counters take a block of 16 n bytes. */
const UNIT = 16;
const LINE = 64;

interface Block {
  address: number;
  count: number;
  pattern: number;
}

/** The memory that a block takes: a multiple of 16 up to 1 KiB, then a power of two. */
function taken(size: number): number {
  return size <= 1024 ? Math.max(16, Math.ceil(size / 16) * 16) : 2 ** Math.ceil(Math.log2(size));
}

/** Sizes around every limit of a size class. */
function drawCount(random: Random): number {
  const kind = random.below(10);
  if (kind < 5) return random.between(1, 64);
  if (kind < 9) return random.pick([63, 64, 65, 66, 127, 128, 129, 256, 257, 511, 512, 513, 1024, 1025]);
  return random.between(1, 8192);
}

class Blocks {
  readonly #core: Core;
  readonly live: Block[] = [];
  #pattern = 1;
  /** The memory of the live blocks. */
  sum = 0;
  /** The end of the highest block so far. */
  top = 0;

  constructor(core: Core) {
    this.#core = core;
  }

  get used(): number {
    return this.#core.exports.arenaUsed() >>> 0;
  }

  /** False when memory is full. */
  allocate(count: number): boolean {
    const address = this.#core.exports.createCounters(count) >>> 0;
    if (address === 0) return false;
    // Small blocks of whole cache lines are aligned.
    expect(address % ((count * UNIT) % LINE === 0 ? LINE : UNIT)).toBe(0);
    const words = this.#core.u32.subarray(address >> 2, (address + count * UNIT) >> 2);
    expect(words.length).toBe((count * UNIT) >> 2);
    if (words.some((word) => word !== 0)) expect.fail(`a new block of ${count} counters is not zero`);
    words.fill(this.#pattern);
    this.live.push({ address, count, pattern: this.#pattern++ });
    this.sum += taken(count * UNIT);
    this.top = Math.max(this.top, address + count * UNIT);
    return true;
  }

  release(i: number): void {
    const [block] = this.live.splice(i, 1);
    if (block === undefined) return;
    const { address, count, pattern } = block;
    const words = this.#core.u32.subarray(address >> 2, (address + count * UNIT) >> 2);
    if (words.some((word) => word !== pattern)) expect.fail(`somebody wrote to a block of ${count} counters`);
    this.#core.exports.releaseCounters(address, count);
    this.sum -= taken(count * UNIT);
  }

  releaseAll(random: Random): void {
    while (this.live.length > 0) this.release(random.below(this.live.length));
  }
}

describe.each(Object.entries({ release, debug }))("%s core", (build, bytes) => {
  test("blocks never overlap, are given out again, and are counted", async () => {
    const core = await loadOpenCore(bytes);
    const seed = seedFor(`arena, ${build}`);
    const start = core.exports.arenaUsed() >>> 0;
    const sizes: number[] = [];
    for (let round = 0; round < 6; round++) {
      const random = new Random(seed);
      const blocks = new Blocks(core);
      for (let step = 0; step < 4000; step++) {
        if (random.chance(blocks.live.length < 400 ? 0.7 : 0.3)) expect(blocks.allocate(drawCount(random))).toBe(true);
        else if (blocks.live.length > 0) blocks.release(random.below(blocks.live.length));
        expect(blocks.used - start).toBe(blocks.sum);
      }
      blocks.releaseAll(random);
      expect(blocks.used).toBe(start);
      sizes.push(blocks.top - core.arena);
    }
    // Large blocks stay split, so a later round may need a little more, but never as much again.
    console.log(`arena after each round: ${sizes.join(" ")}`);
    expect(sizes.at(-1)).toBeLessThan((sizes[0] ?? 0) * 1.25);
  });

  test("a refusal changes nothing, and what is given back serves again", async () => {
    const core = await loadOpenCore(bytes);
    const random = new Random(seedFor(`arena limit, ${build}`));
    const blocks = new Blocks(core);
    const limit = 1 << 20;
    core.exports.limitArena(limit);
    for (let round = 0; round < 20; round++) {
      let refused = 0;
      while (refused < 20) {
        const before = blocks.used;
        if (blocks.allocate(drawCount(random))) continue;
        expect(blocks.used).toBe(before);
        refused++;
      }
      expect(blocks.sum).toBe(blocks.used);
      expect(blocks.used).toBeLessThanOrEqual(limit);
      // The block fits again after another one is freed.
      const { count } = blocks.live[blocks.live.length - 1]!;
      blocks.release(blocks.live.length - 1);
      expect(blocks.allocate(count)).toBe(true);
      for (let i = blocks.live.length >> 1; i > 0; i--) blocks.release(random.below(blocks.live.length));
    }
    blocks.releaseAll(random);
    expect(blocks.used).toBe(0);
  });

  test("a large block serves as many smaller ones, to its last byte", async () => {
    const core = await loadOpenCore(bytes);
    core.exports.limitArena(65536);
    const blocks = new Blocks(core);
    expect(blocks.allocate(65536 / UNIT)).toBe(true);
    expect(blocks.allocate(1)).toBe(false);
    blocks.release(0);
    for (const size of [32768, 16384, 8192, 4096, 2048, 2048]) expect(blocks.allocate(size / UNIT)).toBe(true);
    expect(blocks.allocate(2048 / UNIT)).toBe(false);
    expect(blocks.used).toBe(65536);
    blocks.releaseAll(new Random(1));
  });

  test("without memory for a slab, small blocks are cut from free ones of any size", async () => {
    const core = await loadOpenCore(bytes);
    core.exports.limitArena(65536);
    const blocks = new Blocks(core);
    for (let n = 0; n < 64; n++) expect(blocks.allocate(1024 / UNIT)).toBe(true);
    expect(blocks.allocate(1)).toBe(false);
    for (const size of [16, 48, 64, 80, 192, 512]) {
      blocks.release(0);
      for (let left = 1024; left >= size; left -= size) expect(blocks.allocate(size / UNIT), `${size}`).toBe(true);
      while (blocks.allocate(1));
    }
    blocks.releaseAll(new Random(1));
    expect(blocks.used).toBe(0);
  });

  test("without memory for a slab, a small block is cut from a large one, the rest of which stays free", async () => {
    const core = await loadOpenCore(bytes);
    core.exports.limitArena(65536);
    const blocks = new Blocks(core);
    expect(blocks.allocate(32768 / UNIT)).toBe(true);
    expect(blocks.allocate(32768 / UNIT)).toBe(true);
    blocks.release(0);
    expect(blocks.allocate(1)).toBe(true);
    for (const size of [16384, 8192, 4096, 2048]) expect(blocks.allocate(size / UNIT)).toBe(true);
    for (let left = 2048 - UNIT; left > 0; left -= UNIT) expect(blocks.allocate(1)).toBe(true);
    expect(blocks.allocate(1)).toBe(false);
    expect(blocks.used).toBe(65536);
    blocks.releaseAll(new Random(1));
  });

  test.each([
    ["a table", (core: Core) => core.exports.createTable(0)],
    ["a queue", (core: Core) => core.exports.createQueue(1, 0, 16)],
    ["a long queue", (core: Core) => core.exports.createQueue(1, 0, 32768)],
    ["a completion queue", (core: Core) => core.exports.createCompletionQueue(10)],
    ["counters", (core: Core) => core.exports.createCounters(1000)],
  ])("without memory there is no %s, and nothing is held", async (_name, create) => {
    const core = await loadOpenCore(bytes);
    for (const limit of [0, 65536, 131072, 262144]) {
      core.exports.limitArena(limit);
      const used = [core.exports.arenaUsed() >>> 0];
      while (create(core) !== 0) used.push(core.exports.arenaUsed() >>> 0);
      expect(core.exports.arenaUsed() >>> 0).toBe(used.at(-1));
      expect(used.at(-1)).toBeLessThanOrEqual(limit);
    }
  });
});
