/**
 * An attacker who knows the multipliers of the hash can compute rules that are slow to insert. Under other multipliers
 * these rules are as fast as any. The cost is the number of statements of the core that are executed, as in boundedSteps.node.test.ts.
 */
import { describe, expect, test } from "vitest";
import { MULTIPLIERS_SIZE } from "../../../src/abi/engine.js";
import { KEY_SIZE } from "../../../src/abi/key.js";
import type { Core } from "../../../src/engine/core.js";
import { RuleMask } from "../../../src/engine/ruleMask.js";
import { insertRule } from "../../../src/engine/rules.js";
import { loadOpenCore } from "../../support/openCore.js";
import { Random } from "../../oracle/generate/random.js";
import { setting } from "../../support/tier.js";
import { seedFor } from "../support/core.js";
import { countSteps, mostSteps } from "../support/countSteps.js";

const AT = 64;
const WORDS = 4;
/** Values are a word of 2^31 each, and up to SIDE times each of two small differences. */
const SIDE = 64;
const SAMPLES = 2 ** 19;
const SMALL = 2 ** 19;

/** Two small differences of values whose inner products with the first multipliers are nearly 0. */
function differences(multipliers: BigUint64Array, random: Random): number[][] {
  const samples = Array.from({ length: SAMPLES }, () => Array.from({ length: WORDS }, () => random.below(SMALL)));
  // The high bits of an inner product, and the number of its sample.
  const products = BigUint64Array.from(samples, (words, n) => {
    const product = words.reduce((sum, word, i) => sum + BigInt(word) * multipliers[i]!, 0n);
    return (BigInt.asUintN(64, product) & ~BigInt(SAMPLES - 1)) | BigInt(n);
  }).sort();
  const gaps = Array.from(products.subarray(1), (product, n) => ({ gap: product - products[n]!, n }));
  const smallest = gaps.sort((a, b) => (a.gap < b.gap ? -1 : 1)).slice(0, 2);
  const sampleOf = (product: bigint): number[] => samples[Number(product & BigInt(SAMPLES - 1))]!;
  return smallest.map(({ n }) => {
    const [one, other] = [sampleOf(products[n]!), sampleOf(products[n + 1]!)];
    return one.map((word, i) => word - other[i]!);
  });
}

/** Different values whose hashes under these multipliers are equal, or one of a few. */
function chosenValues(multipliers: BigUint64Array, random: Random): Uint8Array[] {
  const [first, second] = differences(multipliers, random) as [number[], number[]];
  return Array.from({ length: SIDE * SIDE }, (_, n) => {
    const value = new Uint8Array(KEY_SIZE);
    const view = new DataView(value.buffer, AT);
    for (let i = 0; i < WORDS; i++)
      view.setUint32(4 * i, 2 ** 31 + (n % SIDE) * first[i]! + Math.floor(n / SIDE) * second[i]!, true);
    return value;
  });
}

function multipliersOf(core: Core): BigUint64Array {
  return new BigUint64Array(core.u8.slice(core.multipliers, core.multipliers + MULTIPLIERS_SIZE).buffer);
}

/** The most steps of an insertion. */
function costOf(core: Core, values: readonly Uint8Array[]): number {
  const table = core.exports.createTable(0) >>> 0;
  const mask = new RuleMask(new Uint8Array(KEY_SIZE).fill(0xff, AT, AT + 4 * WORDS));
  return mostSteps(values, (value, id) => {
    const rule = { id, rankHigh: 0, rankLow: id, mask, value, ranges: [], actions: [1, 0] };
    expect(insertRule(core, table, rule)).not.toBe(0);
  });
}

describe.skipIf(setting("FLOWSTEER_CORE") === "coverage")("values of one hash", () => {
  test("cost much under the multipliers that they were chosen for, and nothing special under others", async () => {
    const core = await countSteps(loadOpenCore);
    const random = new Random(seedFor("values of one hash"));
    const values = chosenValues(multipliersOf(core), random);
    const known = costOf(core, values);
    core.drawMultipliers();
    const unknown = costOf(core, values);
    console.log(`${values.length} values: ${known} steps for the worst insertion, ${unknown} under others`);
    expect(known).toBeGreaterThan(8000);
    expect(unknown).toBeLessThan(4000);
  });
});
