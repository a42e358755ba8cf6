/** Lookups of branches with different lower bounds, and lookups while rules move to other tuples. */
import { expect, test } from "vitest";
import { Op, RANK_SLOT, TABLE_ROOT, VPORT_MANAGER } from "../../../src/abi/engine.js";
import { Link } from "../../../src/abi/headers.js";
import { KEY_SIZE } from "../../../src/abi/key.js";
import { Batch } from "../../../src/engine/batch.js";
import { loadOpenCore } from "../../support/openCore.js";
import { insertRule } from "../../../src/engine/rules.js";
import { matchOf } from "../../../src/model/match/match.js";
import { ModelTable } from "./support/plainClassifier.js";

test("each branch has its own lower bound, whatever bound the others of the batch have", async () => {
  const core = await loadOpenCore();
  const [root, table] = [core.exports.createTable(TABLE_ROOT) >>> 0, core.exports.createTable(TABLE_ROOT) >>> 0];
  // Frames of port n go to the rules of the table from slot n on.
  const [FROM_0, FROM_1, FROM_2, IN_0, IN_1, IN_2] = [1, 2, 3, 10, 11, 12] as const;
  const add = (at: number, id: number, slot: number, terms: Record<string, string>, actions: number[]): void => {
    const rank = BigInt(slot) << BigInt(RANK_SLOT);
    const words = { rankHigh: Number(rank >> 32n), rankLow: id };
    expect(insertRule(core, at, { id, ...words, ...matchOf("match", terms), actions })).not.toBe(0);
  };
  for (const [port, id] of [FROM_0, FROM_1, FROM_2].entries()) {
    const record = core.exports.createCounters(1) >>> 0;
    core.u32.set([table, port], record >> 2);
    add(root, id, 0, { "ext.port": String(port) }, port === 0 ? [Op.table, table] : [Op.root, record]);
  }
  for (const [slot, id] of [IN_0, IN_1, IN_2].entries()) add(table, id, slot, {}, [Op.drop, 0]);
  const batch = new Batch(core);
  for (const ports of [
    [0, 1],
    [0, 0, 2],
    [1, 0],
    [2, 1, 0, 0, 1, 2],
    [0, 2, 1],
  ]) {
    batch.clear();
    for (const port of ports) batch.put(new Uint8Array(60), 60, port, Link.ethernet, VPORT_MANAGER);
    batch.steer(root);
    const hits = ports.map((_, i) => Array.from({ length: batch.hits(i) }, (_hit, n) => batch.hit(i, n)));
    expect(hits).toEqual(ports.map((port) => [FROM_0 + port, IN_0 + port]));
  }
});

test("lookups find rules that a rebuild moves to another tuple, before it ends as well", async () => {
  const model = new ModelTable(await loadOpenCore());
  const MASKS = 40;
  // Each mask has a whole byte of its own, which alone makes the tuples of later masks.
  const maskOf = (n: number): Uint8Array => {
    const mask = new Uint8Array(KEY_SIZE).fill(0xfe, 64, 66);
    mask[n] = 0xff;
    return mask;
  };
  const add = (mask: number, i: number): void => {
    const value = new Uint8Array(KEY_SIZE);
    value.set([(i & 127) << 1, (i >> 7) << 1], 64);
    value[mask] = 1 + mask;
    expect(model.insert(BigInt(model.rules.length), maskOf(mask), value)).toBe(true);
  };
  const check = (): void => {
    for (let from = 0; from < model.rules.length; from += 256) {
      const some = model.rules.slice(from, from + 256);
      expect(model.classify(some.map(({ value }) => value))).toEqual(some.map(({ handle }) => handle));
    }
  };
  for (let i = 0; i < 2 * MASKS; i++) add(i % MASKS, i);
  for (let i = 0; i < 400; i++) {
    add(MASKS - 1 - (i & 1), 1000 + i);
    check();
  }
  model.destroy();
});

/** A table of rules on prefixes of an address, of so many masks. */
function prefixes(model: ModelTable, rules: number, masks: number): Uint8Array[] {
  return Array.from({ length: rules }, (_, i) => {
    const length = 1 + (i % masks);
    const mask = new Uint8Array(KEY_SIZE).fill(0xff, 64, 64 + length);
    const value = new Uint8Array(KEY_SIZE);
    value.set([i & 255, i >> 8, 3, 4, 5, 6, 7, 8].slice(0, length), 64);
    model.insert(BigInt(i), mask, value);
    return value;
  });
}

function checkRepeatedly(model: ModelTable, keys: readonly Uint8Array[], times = 100): void {
  const some = keys.slice(0, 64);
  const wanted = some.map((key) => model.find(key)?.handle);
  for (let n = 0; n < times; n++) expect(model.classify(some)).toEqual(wanted);
}

test("lookups stay right when memory ends at each step of a rebuild", async () => {
  const core = await loadOpenCore();
  for (let more = 0; more < 160_000; more += 6000) {
    const model = new ModelTable(core);
    const keys = prefixes(model, 300, 8);
    core.exports.limitArena(core.exports.arenaUsed());
    const rest: number[] = [];
    for (let block = 1; block !== 0;) rest.push((block = core.exports.createCounters(256) >>> 0));
    core.exports.limitArena(core.exports.arenaUsed() + more);
    checkRepeatedly(model, keys);
    core.exports.limitArena(2 ** 24);
    for (const block of rest) if (block !== 0) core.exports.releaseCounters(block, 256);
    model.destroy();
  }
});

test("lookups stay right in a table with few rules and room for many", async () => {
  const core = await loadOpenCore();
  const model = new ModelTable(core);
  expect(core.exports.reserveRules(model.table, 80_000)).toBe(1);
  checkRepeatedly(model, prefixes(model, 40, 8), 900);
  model.clear();
  checkRepeatedly(model, prefixes(model, 1000, 8));
  model.destroy();
});

test("lookups find rules of a long list, and of masks that come after a rebuild", async () => {
  const core = await loadOpenCore();
  const model = new ModelTable(core);
  const keys = prefixes(model, 40, 8);
  const mask = new Uint8Array(KEY_SIZE).fill(0xff, 64, 68);
  const value = new Uint8Array(KEY_SIZE).fill(9, 64, 68);
  for (let i = 0; i < 600; i++) model.insert(BigInt(1000 + i), mask, value);
  checkRepeatedly(model, [value, ...keys]);
  for (let byte = 65; byte < 72; byte++) {
    const other = new Uint8Array(KEY_SIZE);
    other[byte] = 0xff;
    model.insert(BigInt(5000 + byte), other, new Uint8Array(KEY_SIZE).fill(byte, byte, byte + 1));
    const key = new Uint8Array(KEY_SIZE).fill(byte, byte, byte + 1);
    checkRepeatedly(model, [key, value, ...keys], 3);
  }
  model.destroy();
});
