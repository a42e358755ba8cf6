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
import { packet, Twin, type Pair, type Step, type TwinFrame } from "./support/twoCores.js";

const MANY = 65_536;
const WINDOW = 4096;

const from = (last: number, length?: number): TwinFrame => ({
  bytes: packet({ src: 0x0a000000 + last, ...(length === undefined ? {} : { payload: new Uint8Array(length) }) }),
});
const SOME = [1, 2, 3, 4].map((last) => from(last));

async function scene(entries: number, memory?: number): Promise<{ twin: Twin; root: Pair; queue: Pair }> {
  const twin = await Twin.make(entries, memory);
  const [root, queue] = [twin.table(TABLE_ROOT), twin.queue()];
  for (const last of [1, 2]) twin.rule(root, [[LAYER_SRC_IPV4, 4, 0xffffffff, 0x0a000000 + last]], [[Op.queue, queue]]);
  return { twin, root, queue };
}

/**
 * Inserts rules for other frames until memory is full, or `most` of them; as many on both sides.
 */
function fill(twin: Twin, root: Pair, most = Infinity): number {
  const mask = new Uint8Array(512).fill(0xff, LAYER_SRC_IPV4, LAYER_SRC_IPV4 + 4);
  const value = new Uint8Array(512);
  const made = twin.both((core, side) => {
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

const used = (twin: Twin): Pair => twin.both(({ exports }) => exports.arenaUsed());
const paused = (twin: Twin): boolean => twin.core.exports.isCachePaused() !== 0;

describe("memory", () => {
  test("is not that of rules", async () => {
    const { twin, root } = await scene(MANY);
    const before = used(twin);
    twin.steerTwice(root, SOME);
    expect(used(twin)).toEqual(before);
    expect(before[0]).toBe(before[1]);
  });

  test.each([200_000, 1_000_000, 3_000_000])("of %i bytes holds as many rules as without a cache", async (bytes) => {
    const { twin, root } = await scene(MANY, bytes);
    twin.steerTwice(root, SOME);
    expect(twin.hits).toBe(4);
    let made = 0;
    for (let some = 1; some > 0; made += some) {
      some = fill(twin, root, 1000);
      twin.steerTwice(root, SOME);
    }
    expect(made).toBeGreaterThan(bytes / 300);
  });

  test("that is full: no cache, and no error", async () => {
    const { twin, root } = await scene(MANY, 65_536);
    fill(twin, root);
    twin.steerTwice(root, SOME);
    expect([twin.hits, twin.misses, paused(twin)]).toEqual([0, 0, true]);
  });

  test("that is short: fewer entries", async () => {
    const { twin, root } = await scene(MANY, 200_000);
    const frames = Array.from({ length: 250 }, (_, n) => from(n));
    twin.steerTwice(root, frames);
    expect(twin.hits).toBeGreaterThan(200);
    expect(twin.core.exports.memory.buffer.byteLength).toBeLessThan(
      twin.both(({ exports }) => exports.memory.buffer.byteLength)[1] * 1.2,
    );
  });

  test("that rules take while there are entries", async () => {
    const { twin, root } = await scene(MANY);
    for (let round = 0; round < 5; round++) {
      twin.steerTwice(root, SOME);
      expect(twin.hits).toBe(4 * (round + 1));
      fill(twin, root, 6000);
    }
  });

  test("that copies of frames take on the way: what entries say is forgotten at once", async () => {
    const { twin, root, queue } = await scene(MANY);
    const [start, next] = [twin.table(TABLE_ROOT), twin.table(0)];
    const program = new Uint8Array(PROGRAM_FIRST + INSTRUCTION_SIZE);
    program[0] = 1;
    program.set([MODIFY_SET, 8, Place.ipv4, 0, 64], PROGRAM_FIRST);
    const modify = twin.record(program);
    // A copy is delivered first, so the frame needs bytes of its own to change.
    twin.rule(
      start,
      [],
      [
        [Op.copy_queue, queue],
        [Op.modify, modify],
        [Op.table, next],
      ],
    );
    twin.rule(next, [], [[Op.table, root]]);
    const large = Array.from({ length: MAX_BATCH }, (_, n) => from(1 + (n % 4), 15_000));
    twin.steerTwice(start, SOME);
    expect(twin.hits).toBe(4);
    twin.steer(start, large);
    expect(twin.hits).toBe(4 + MAX_BATCH);
    // The entries are gone: the next frames miss.
    twin.steer(start, SOME);
    expect([twin.hits, twin.misses]).toEqual([4 + MAX_BATCH, 8]);
  });
});

/**
 * Walks of every length that an entry has room for, and keys of every width: bytes next to an entry
 * are not part of it.
 */
describe("entries that lie side by side", () => {
  /** Dwords of a key in the order in which rules match them; the first tells frames apart. */
  const DWORDS = [
    LAYER_SRC_IPV4,
    ...[OUTER, MISC, INNER, MISC3].flatMap((group) => Array.from({ length: 16 }, (_, n) => group + 4 * n)),
  ].filter((dword, n, all) => all.indexOf(dword) === n);
  const MOST_LOOKUPS = 7;

  /**
   * Frame n goes through n + 1 tables and has a tag of its own; rules match as many lanes as
   * `askAbout` says.
   */
  async function ways(): Promise<{ askAbout: (lanes: number) => Pair; holds: () => void }> {
    const twin = await Twin.make(4);
    const tables = Array.from({ length: MOST_LOOKUPS }, (_, n) => twin.table(n === 0 ? TABLE_ROOT : 0));
    for (const [n, table] of tables.entries()) {
      const source = [LAYER_SRC_IPV4, 4, 0xffffffff, 0x0a000000 + n] as const;
      const actions: Step[] = [
        [Op.tag, 100 + n],
        [Op.queue, twin.queue()],
      ];
      twin.rule(table, [source], actions);
      const next = tables[n + 1];
      if (next !== undefined) twin.rule(table, [], [[Op.table, next]], 9);
    }
    const elsewhere = twin.table(0);
    const askAbout = (lanes: number): Pair => {
      const asked = DWORDS.slice(0, 4 * lanes).map((dword) => [dword, 4, 0xffffffff, 0x01010101] as const);
      return twin.rule(elsewhere, asked, [[Op.drop, 0]]);
    };
    const holds = (): void => {
      for (const first of [0, 1, 2, 3]) {
        const frames = [0, 1, 2, 3].map((n) => from(first + n));
        const { hits } = twin;
        const rules = twin.steerTwice(tables[0] as Pair, frames);
        expect(rules.map((one) => one.length)).toEqual(frames.map((_, n) => first + n + 1));
        expect(twin.hits).toBe(hits + 4);
        twin.core.exports.clearCache();
      }
    };
    return { askAbout, holds };
  }

  test.each(Array.from({ length: 16 }, (_, n) => n + 1))("for rules that ask about %i lanes", async (lanes) => {
    const { askAbout, holds } = await ways();
    askAbout(lanes);
    holds();
  });

  test("for rules that come to ask about more and more", async () => {
    const { askAbout, holds } = await ways();
    for (let lanes = 1; lanes <= 16; lanes++) {
      askAbout(lanes);
      holds();
    }
  });
});

describe("sleep", () => {
  const strangers = (first: number): TwinFrame[] => Array.from({ length: MAX_BATCH }, (_, n) => from(first + n));

  test("keys that nobody has seen send it to sleep; it wakes up, sleeps longer, and can be woken", async () => {
    const { twin, root } = await scene(1024);
    let next = 0;
    const untilAsleep = (): void => {
      for (let n = 0; !paused(twin) && n < (3 * WINDOW) / MAX_BATCH; n++, next += MAX_BATCH)
        twin.steer(root, strangers(next));
      expect(paused(twin)).toBe(true);
    };
    const again = (batches: number): void => {
      for (let n = 0; n < batches; n++) twin.core.exports.steer(root[0], MAX_BATCH);
    };
    untilAsleep();
    const { hits, misses } = twin;
    again((16 * WINDOW) / MAX_BATCH);
    expect([twin.hits, twin.misses, paused(twin)]).toEqual([hits, misses, false]);
    untilAsleep();
    again((16 * WINDOW) / MAX_BATCH);
    expect(paused(twin)).toBe(true);
    twin.core.exports.clearCache();
    expect(paused(twin)).toBe(false);
    twin.steerTwice(root, SOME);
    expect(twin.hits).toBe(hits + 4);
  });

  test("not while it fills, and not while it pays", async () => {
    const { twin, root } = await scene(MANY);
    // In the first window hardly any key was seen before, in the last ones nearly all were.
    const keys = 4 * WINDOW;
    const random = new Random(1);
    for (let n = 0; n < 2 * keys; n += MAX_BATCH) {
      twin.steer(
        root,
        Array.from({ length: MAX_BATCH }, () => from(random.below(keys))),
      );
      expect(paused(twin)).toBe(false);
    }
    expect(twin.hits).toBeGreaterThan(keys / 2);
  });

  test("rules that change before every batch send it to sleep too", async () => {
    const { twin, root, queue } = await scene(1024);
    for (let n = 0; n < 64 && !paused(twin); n++) {
      twin.rule(root, [[LAYER_SRC_IPV4, 4, 0xffffffff, n]], [[Op.queue, queue]]);
      for (let i = 0; i < 2; i++) twin.steer(root, strangers(0));
    }
    // Half of all frames hit: the cache stays on. If every batch changes rules, it pauses.
    expect(paused(twin)).toBe(false);
    for (let n = 0; n < 64 && !paused(twin); n++) {
      twin.rule(root, [[LAYER_SRC_IPV4, 4, 0xffffffff, 100 + n]], [[Op.queue, queue]]);
      twin.steer(root, strangers(0));
    }
    expect(paused(twin)).toBe(true);
  });

  test("rules that ask about too much of a frame; awake when they are gone", async () => {
    const { twin, root, queue } = await scene(64);
    const table = twin.table(0);
    const asked = [OUTER, MISC, INNER, MISC3].flatMap((group) =>
      Array.from({ length: 16 }, (_, n) => [group + 4 * n, 4, 0xffffffff, 0] as const),
    );
    const wide = twin.rule(table, [...asked, [MISC4, 4, 1, 0]], [[Op.queue, queue]]);
    twin.steerTwice(root, SOME);
    expect([twin.hits + twin.misses, paused(twin)]).toEqual([0, true]);
    twin.remove(wide);
    twin.steerTwice(root, SOME);
    expect([twin.hits, paused(twin)]).toEqual([4, false]);
  });

  test("none at all", async () => {
    const { twin, root } = await scene(0);
    twin.steerTwice(root, SOME);
    expect([twin.hits, twin.misses, paused(twin)]).toEqual([0, 0, false]);
  });
});
