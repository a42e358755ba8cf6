/** The hash of rule values: its formula, and values of one hash. */
import { beforeEach, expect, test } from "vitest";
import { MULTIPLIERS_SIZE } from "../../../src/abi/engine.js";
import { KEY_SIZE, MISC4 } from "../../../src/abi/key.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { Random } from "../../oracle/generate/random.js";
import { ModelTable } from "./support/plainClassifier.js";
import { seedFor } from "../support/core.js";

/** The offset of the hash in a rule (assembly/classify/rule.ts), and the bit that every hash has. */
const RULE_HASH = 12;
const HASHED = 0x80000000n;
/** The seed of the tuple at an index. */
const seedOf = (index: number): bigint => BigInt(Math.imul(index + 1, 0x9e3779b1) >>> 0);

let core: Core;
beforeEach(async () => {
  core = await loadOpenCore();
});

function multipliers(): BigUint64Array {
  return new BigUint64Array(core.u8.slice(core.multipliers, core.multipliers + MULTIPLIERS_SIZE).buffer);
}

/** A mask or value with these words from MISC4 on. */
function keyOf(words: readonly number[]): Uint8Array {
  const key = new Uint8Array(KEY_SIZE);
  for (const [i, word] of words.entries()) new DataView(key.buffer).setUint32(MISC4 + 4 * i, word, true);
  return key;
}

test("the hash is the high half of an inner product with random multipliers", () => {
  const random = new Random(seedFor("hash"));
  for (const words of [1, 2, 3, 4, 5, 8, 13, 16, 32]) {
    core.drawMultipliers();
    const model = new ModelTable(core);
    const mask = keyOf(Array.from({ length: words }, () => 0xffffffff));
    for (let n = 1; n <= 20; n++) {
      const value = Array.from({ length: words }, () => Number(random.bits(32)));
      expect(model.insert(BigInt(n), mask, keyOf(value))).toBe(true);
      const product = value.reduce((sum, word, i) => sum + BigInt(word) * multipliers()[i]!, 0n);
      const hash = BigInt.asUintN(32, (BigInt.asUintN(64, product) >> 32n) + seedOf(0)) | HASHED;
      expect(BigInt(core.u32[(model.rules.at(-1).handle + RULE_HASH) >> 2]!), `${words} words`).toBe(hash);
    }
    model.destroy();
  }
});

test("each draw gives other multipliers, none of them 0", () => {
  const drawn = new Set<bigint>(multipliers());
  core.drawMultipliers();
  for (const one of multipliers()) drawn.add(one);
  expect(drawn.size).toBe((2 * MULTIPLIERS_SIZE) / 8);
  expect(drawn.has(0n)).toBe(false);
});

test("values of two tuples with one hash are told apart", () => {
  // The hash of a value is its first word and the seed of its tuple.
  core.u8.fill(0, core.multipliers, core.multipliers + MULTIPLIERS_SIZE);
  core.u32[(core.multipliers >> 2) + 1] = 1;
  const model = new ModelTable(core);
  const [first, second] = [0x1234_5678, Number(BigInt.asUintN(32, 0x1234_5678n + seedOf(0) - seedOf(1)))];
  const [narrow, wide] = [keyOf([0xffffffff]), keyOf([0xffffffff, 0xffffffff])];
  model.insert(1n, narrow, keyOf([first]));
  model.insert(2n, wide, keyOf([second, 7]));
  const hashes = model.rules.map(({ handle }) => core.u32[(handle + RULE_HASH) >> 2]);
  expect(hashes[0]).toBe(hashes[1]);
  model.insert(3n, narrow, keyOf([first]));
  model.insert(4n, wide, keyOf([second, 7]));
  model.insert(5n, wide, keyOf([second, 8]));
  const keys = [[first, 7], [second, 7], [second, 8], [first], [second]].map(keyOf);
  while (model.rules.length > 0) {
    expect(model.classify(keys)).toEqual(keys.map((key) => model.find(key)?.handle ?? 0));
    model.remove(0);
  }
  model.destroy();
});
