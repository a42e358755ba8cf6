/** Long rule lists: rules of one value and mask with many ranks, some of them equal. */
import { expect, test } from "vitest";
import { KEY_SIZE } from "../../../src/abi/key.js";
import { loadOpenCore } from "../../support/openCore.js";
import { rounds } from "../../support/tier.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../support/core.js";
import { ModelTable } from "./support/plainClassifier.js";

const MASK = new Uint8Array(KEY_SIZE).fill(0xff, 60, 64);
const VALUE = new Uint8Array(KEY_SIZE).fill(0x5a, 60, 64);
/** Of a field beside the masked one, so that the first rule by rank is not always the one that matches. */
const RANGE = { dword: 128, shift: 0, fieldMask: 0xffff };

/** The rule that is found from `lower` on is the expected one. */
function checkOne(model: ModelTable, lower: bigint, field: number, seed: number): void {
  const key = VALUE.slice();
  key.set([field >> 8, field & 255], RANGE.dword + 2);
  const text = `from rank ${lower}, field ${field}, ${model.rules.length} rules (FLOWSTEER_SEED=${seed})`;
  expect(model.classify([key], lower), text).toEqual([model.find(key, lower)?.handle ?? 0]);
}

test.each([
  ["two ranks", 2n],
  ["few ranks", 12n],
  ["many ranks", 1n << 40n],
])("the first rule by rank is found, while rules come, go and get other ranks: %s", async (_, ranks) => {
  const seed = seedFor("long lists");
  const random = new Random(seed);
  const core = await loadOpenCore();
  const before = core.exports.arenaUsed();
  const model = new ModelTable(core);
  const draw = (): bigint => (BigInt(random.below(2 ** 31)) % ranks) << (ranks > 12n ? 9n : 0n);
  for (const most of [100, 400, 200, 1200, 130, 900, 0]) {
    let left = rounds(6000);
    while (left-- > 0 || model.rules.length > most) {
      const grows = model.rules.length < most;
      if (random.chance(0.1)) model.rerank(random.below(model.rules.length || 1), draw());
      else if (random.chance(grows ? 0.8 : 0.2)) {
        const low = random.below(2 ** 16);
        const range = { ...RANGE, low, high: random.between(low, 0xffff) };
        model.insert(draw(), MASK, VALUE, random.chance(0.5) ? [range] : []);
      } else if (model.rules.length > 0) model.remove(random.below(model.rules.length));
      if (random.chance(0.3)) checkOne(model, random.chance(0.2) ? 0n : draw(), random.below(2 ** 16), seed);
    }
    for (const { rank } of model.rules) checkOne(model, rank, random.below(2 ** 16), seed);
  }
  model.destroy();
  expect(core.exports.arenaUsed()).toBe(before);
});

test("a full memory adds no marks, and the order stays right", async () => {
  const seed = seedFor("long lists, full memory");
  const random = new Random(seed);
  const core = await loadOpenCore();
  const model = new ModelTable(core);
  for (const more of [0, 300, 700, 2000, 5000]) {
    for (let n = 0; n < 100; n++) model.insert(BigInt(random.below(1000)), MASK, VALUE);
    core.exports.limitArena(core.exports.arenaUsed() + more);
    while (model.rules.length < 4000 && model.insert(BigInt(random.below(1000)), MASK, VALUE));
    for (let rank = 0n; rank < 1000n; rank += 7n) checkOne(model, rank, 0, seed);
    while (model.rules.length > 60) model.remove(random.below(model.rules.length));
    for (const { rank } of model.rules) checkOne(model, rank, 0, seed);
    core.exports.limitArena(2 ** 24);
  }
  model.destroy();
});

test("a memory with room for rules alone adds no marks either", async () => {
  const seed = seedFor("long lists, room for rules");
  const random = new Random(seed);
  const core = await loadOpenCore();
  const model = new ModelTable(core);
  const draw = (): bigint => BigInt(random.below(1000));
  const check = (): void => {
    for (let rank = 0n; rank < 1000n; rank += 7n) checkOne(model, rank, 0, seed);
  };
  // Free blocks are as large as a rule: marks fit nowhere, then no more of them.
  for (const before of [20, 2500]) {
    for (let n = 0; n < before; n++) model.insert(draw(), MASK, VALUE);
    const others = Array.from({ length: 2500 }, () => core.exports.createCounters(4) >>> 0);
    for (const other of others) core.exports.releaseCounters(other, 4);
    core.exports.limitArena(core.exports.arenaUsed());
    const rest: number[] = [];
    for (let block = 1; block !== 0;) rest.push((block = core.exports.createCounters(16) >>> 0));
    for (let n = 0; n < 2000 && model.insert(draw(), MASK, VALUE); n++);
    expect(model.rules.length).toBeGreaterThan(before + 1000);
    check();
    core.exports.limitArena(2 ** 24);
    for (const block of rest) if (block !== 0) core.exports.releaseCounters(block, 16);
    model.clear(random);
  }
  model.destroy();
});
