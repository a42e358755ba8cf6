/**
 * The memory of the flow cache: the arena may take it at any time, also during the walk. The cache
 * pauses while its hit rate is low.
 */
import { describe, expect, test } from "vitest";
import { MAX_BATCH, Op, TABLE_ROOT } from "../../../src/abi/engine.js";
import { INSTRUCTION_SIZE, MODIFY_SET, Place, PROGRAM_FIRST } from "../../../src/abi/program.js";
import { INNER, LAYER_SRC_IPV4, MISC, MISC3, MISC4, OUTER } from "../../../src/abi/key.js";
import { insertRule } from "../../../src/engine/rules.js";
import { Random } from "../../oracle/generate/random.js";
import { packet, CorePair, type Pair, type Step, type PairFrame } from "./support/twoCores.js";

const MANY = 65_536;
const WINDOW = 4096;

const from = (last: number, length?: number): PairFrame => ({
  bytes: packet({ src: 0x0a000000 + last, ...(length === undefined ? {} : { payload: new Uint8Array(length) }) }),
});
const SOME = [1, 2, 3, 4].map((last) => from(last));

async function scene(entries: number, memory?: number): Promise<{ cores: CorePair; root: Pair; queue: Pair }> {
  const cores = await CorePair.make(entries, memory);
  const [root, queue] = [cores.table(TABLE_ROOT), cores.queue()];
  for (const last of [1, 2])
    cores.rule(root, [[LAYER_SRC_IPV4, 4, 0xffffffff, 0x0a000000 + last]], [[Op.queue, queue]]);
  return { cores, root, queue };
}

/**
 * Inserts rules for other frames until memory is full, or `most` of them; as many on both sides.
 */
function fill(cores: CorePair, root: Pair, most = Infinity): number {
  const mask = new Uint8Array(512).fill(0xff, LAYER_SRC_IPV4, LAYER_SRC_IPV4 + 4);
  const value = new Uint8Array(512);
  const made = cores.both((core, side) => {
    for (let n = 0; n < most; n++) {
      new DataView(value.buffer).setUint32(LAYER_SRC_IPV4, 0x0b000000 + n);
      const rule = { id: 9, rankHigh: 0, rankLow: 0, mask, value, ranges: [], actions: [Op.drop, 0] };
      if (insertRule(core, root[side], rule) === 0) return n;
    }
    return most;
  });
  expect(made[0]).toBe(made[1]);
  return made[0];
}

const used = (cores: CorePair): Pair => cores.both(({ exports }) => exports.arenaUsed());
const paused = (cores: CorePair): boolean => cores.core.exports.isCachePaused() !== 0;

describe("memory", () => {
  test("is not that of rules", async () => {
    const { cores, root } = await scene(MANY);
    const before = used(cores);
    cores.steerTwice(root, SOME);
    expect(used(cores)).toEqual(before);
    expect(before[0]).toBe(before[1]);
  });

  test.each([200_000, 1_000_000, 3_000_000])("of %i bytes holds as many rules as without a cache", async (bytes) => {
    const { cores, root } = await scene(MANY, bytes);
    cores.steerTwice(root, SOME);
    expect(cores.hits).toBe(4);
    let made = 0;
    for (let some = 1; some > 0; made += some) {
      some = fill(cores, root, 1000);
      cores.steerTwice(root, SOME);
    }
    expect(made).toBeGreaterThan(bytes / 300);
  });

  test("that is full: no cache, and no error", async () => {
    const { cores, root } = await scene(MANY, 65_536);
    fill(cores, root);
    cores.steerTwice(root, SOME);
    expect([cores.hits, cores.misses, paused(cores)]).toEqual([0, 0, true]);
  });

  test("that is short: fewer entries", async () => {
    const { cores, root } = await scene(MANY, 200_000);
    const frames = Array.from({ length: 250 }, (_, n) => from(n));
    cores.steerTwice(root, frames);
    expect(cores.hits).toBeGreaterThan(200);
    expect(cores.core.exports.memory.buffer.byteLength).toBeLessThan(
      cores.both(({ exports }) => exports.memory.buffer.byteLength)[1] * 1.2,
    );
  });

  test("that rules take while there are entries", async () => {
    const { cores, root } = await scene(MANY);
    for (let round = 0; round < 5; round++) {
      cores.steerTwice(root, SOME);
      expect(cores.hits).toBe(4 * (round + 1));
      fill(cores, root, 6000);
    }
  });

  test("that copies of frames take on the way: what entries say is forgotten at once", async () => {
    const { cores, root, queue } = await scene(MANY);
    const [start, next] = [cores.table(TABLE_ROOT), cores.table(0)];
    const program = new Uint8Array(PROGRAM_FIRST + INSTRUCTION_SIZE);
    program[0] = 1;
    program.set([MODIFY_SET, 8, Place.ipv4, 0, 64], PROGRAM_FIRST);
    const modify = cores.record(program);
    // A copy is delivered first, so the frame needs bytes of its own to change.
    cores.rule(
      start,
      [],
      [
        [Op.copy_queue, queue],
        [Op.modify, modify],
        [Op.table, next],
      ],
    );
    cores.rule(next, [], [[Op.table, root]]);
    const large = Array.from({ length: MAX_BATCH }, (_, n) => from(1 + (n % 4), 15_000));
    cores.steerTwice(start, SOME);
    expect(cores.hits).toBe(4);
    cores.steer(start, large);
    expect(cores.hits).toBe(4 + MAX_BATCH);
    // The entries are gone: the next frames miss.
    cores.steer(start, SOME);
    expect([cores.hits, cores.misses]).toEqual([4 + MAX_BATCH, 8]);
  });
});

/**
 * Walks of every length that an entry has room for, and keys of every width: bytes next to an entry
 * are not part of it.
 */
describe("adjacent entries", () => {
  /** Dwords of a key in the order in which rules match them; the first tells frames apart. */
  const DWORDS = [
    LAYER_SRC_IPV4,
    ...[OUTER, MISC, INNER, MISC3].flatMap((group) => Array.from({ length: 16 }, (_, n) => group + 4 * n)),
  ].filter((dword, n, all) => all.indexOf(dword) === n);
  const MAX_LOOKUPS = 7;

  /**
   * Frame n goes through n + 1 tables and has a tag of its own; rules match as many lanes as
   * `askAbout` says.
   */
  async function ways(): Promise<{ askAbout: (lanes: number) => Pair; holds: () => void }> {
    const cores = await CorePair.make(4);
    const tables = Array.from({ length: MAX_LOOKUPS }, (_, n) => cores.table(n === 0 ? TABLE_ROOT : 0));
    for (const [n, table] of tables.entries()) {
      const source = [LAYER_SRC_IPV4, 4, 0xffffffff, 0x0a000000 + n] as const;
      const actions: Step[] = [
        [Op.tag, 100 + n],
        [Op.queue, cores.queue()],
      ];
      cores.rule(table, [source], actions);
      const next = tables[n + 1];
      if (next !== undefined) cores.rule(table, [], [[Op.table, next]], 9);
    }
    const elsewhere = cores.table(0);
    const askAbout = (lanes: number): Pair => {
      const asked = DWORDS.slice(0, 4 * lanes).map((dword) => [dword, 4, 0xffffffff, 0x01010101] as const);
      return cores.rule(elsewhere, asked, [[Op.drop, 0]]);
    };
    const holds = (): void => {
      for (const first of [0, 1, 2, 3]) {
        const frames = [0, 1, 2, 3].map((n) => from(first + n));
        const { hits } = cores;
        const rules = cores.steerTwice(tables[0] as Pair, frames);
        expect(rules.map((one) => one.length)).toEqual(frames.map((_, n) => first + n + 1));
        expect(cores.hits).toBe(hits + 4);
        cores.core.exports.clearCache();
      }
    };
    return { askAbout, holds };
  }

  test.each(Array.from({ length: 16 }, (_, n) => n + 1))("for rules that ask about %i lanes", async (lanes) => {
    const { askAbout, holds } = await ways();
    askAbout(lanes);
    holds();
  });

  test("for rules that match more and more bytes", async () => {
    const { askAbout, holds } = await ways();
    for (let lanes = 1; lanes <= 16; lanes++) {
      askAbout(lanes);
      holds();
    }
  });
});

describe("pauses", () => {
  const strangers = (first: number): PairFrame[] => Array.from({ length: MAX_BATCH }, (_, n) => from(first + n));

  test("new keys pause the cache; it resumes, pauses longer, and `clear` ends a pause", async () => {
    const { cores, root } = await scene(1024);
    let next = 0;
    const untilAsleep = (): void => {
      for (let n = 0; !paused(cores) && n < (3 * WINDOW) / MAX_BATCH; n++, next += MAX_BATCH)
        cores.steer(root, strangers(next));
      expect(paused(cores)).toBe(true);
    };
    const again = (batches: number): void => {
      for (let n = 0; n < batches; n++) cores.core.exports.steer(root[0], MAX_BATCH);
    };
    untilAsleep();
    const { hits, misses } = cores;
    again((16 * WINDOW) / MAX_BATCH);
    expect([cores.hits, cores.misses, paused(cores)]).toEqual([hits, misses, false]);
    untilAsleep();
    again((16 * WINDOW) / MAX_BATCH);
    expect(paused(cores)).toBe(true);
    cores.core.exports.clearCache();
    expect(paused(cores)).toBe(false);
    cores.steerTwice(root, SOME);
    expect(cores.hits).toBe(hits + 4);
  });

  test("none while the cache fills, and none while the hit rate is high", async () => {
    const { cores, root } = await scene(MANY);
    // In the first window hardly any key was seen before, in the last ones nearly all were.
    const keys = 4 * WINDOW;
    const random = new Random(1);
    for (let n = 0; n < 2 * keys; n += MAX_BATCH) {
      cores.steer(
        root,
        Array.from({ length: MAX_BATCH }, () => from(random.below(keys))),
      );
      expect(paused(cores)).toBe(false);
    }
    expect(cores.hits).toBeGreaterThan(keys / 2);
  });

  test("rules that change before every batch pause it too", async () => {
    const { cores, root, queue } = await scene(1024);
    for (let n = 0; n < 64 && !paused(cores); n++) {
      cores.rule(root, [[LAYER_SRC_IPV4, 4, 0xffffffff, n]], [[Op.queue, queue]]);
      for (let i = 0; i < 2; i++) cores.steer(root, strangers(0));
    }
    // Half of all frames hit: the cache stays on. If every batch changes rules, it pauses.
    expect(paused(cores)).toBe(false);
    for (let n = 0; n < 64 && !paused(cores); n++) {
      cores.rule(root, [[LAYER_SRC_IPV4, 4, 0xffffffff, 100 + n]], [[Op.queue, queue]]);
      cores.steer(root, strangers(0));
    }
    expect(paused(cores)).toBe(true);
  });

  test("rules that read too many bytes pause it until they are gone", async () => {
    const { cores, root, queue } = await scene(64);
    const table = cores.table(0);
    const asked = [OUTER, MISC, INNER, MISC3].flatMap((group) =>
      Array.from({ length: 16 }, (_, n) => [group + 4 * n, 4, 0xffffffff, 0] as const),
    );
    const wide = cores.rule(table, [...asked, [MISC4, 4, 1, 0]], [[Op.queue, queue]]);
    cores.steerTwice(root, SOME);
    expect([cores.hits + cores.misses, paused(cores)]).toEqual([0, true]);
    cores.remove(wide);
    cores.steerTwice(root, SOME);
    expect([cores.hits, paused(cores)]).toEqual([4, false]);
  });

  test("none at all", async () => {
    const { cores, root } = await scene(0);
    cores.steerTwice(root, SOME);
    expect([cores.hits, cores.misses, paused(cores)]).toEqual([0, 0, false]);
  });
});
