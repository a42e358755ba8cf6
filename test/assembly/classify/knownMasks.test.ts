/**
 * Masks by number: whichever masks the core knows, lookups find what a plain list finds. Masks of
 * equal content, of two tables, and more of them than the core remembers.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { UNKNOWN_MASK } from "../../../src/abi/engine.js";
import { KEY_SIZE } from "../../../src/abi/key.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { insertRule } from "../../../src/engine/rules.js";
import { RuleMask } from "../../../src/engine/ruleMask.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../support/core.js";
import { rounds } from "../../support/tier.js";
import { drawMask, drawRanges, drawRank, hittingKey, missingKey, under } from "./support/draw.js";
import { ModelTable } from "./support/plainClassifier.js";

const ROUNDS = rounds(60);
const STEPS = 300;
/** The core remembers 1024. */
const REMEMBERED = 1024;

let core: Core;
beforeAll(async () => {
  core = await loadOpenCore();
});

/** Whether the core knows the mask in the table. */
function isKnown(table: number, mask: RuleMask): boolean {
  const made = core.exports.insertKnown(table, 0, 0, 0, 0, 0, mask.number) >>> 0;
  if (made === UNKNOWN_MASK) return false;
  core.exports.removeRule(made);
  return true;
}

function insert(table: number, mask: RuleMask): number {
  const rule = { id: 0, rankHigh: 0, rankLow: 0, mask, value: new Uint8Array(KEY_SIZE), ranges: [], actions: [] };
  return insertRule(core, table, rule);
}

function maskOf(...bytes: number[]): Uint8Array {
  const mask = new Uint8Array(KEY_SIZE);
  for (const at of bytes) mask[at] = 0xff;
  return mask;
}

describe("a mask with a number", () => {
  test("is known while the table has a rule of it, and in this table only", () => {
    const [one, other] = [core.exports.createTable(0) >>> 0, core.exports.createTable(0) >>> 0];
    const mask = new RuleMask(maskOf(4, 20));
    expect(isKnown(one, mask)).toBe(false);
    const rule = insert(one, mask);
    expect([isKnown(one, mask), isKnown(other, mask)]).toEqual([true, false]);
    core.exports.removeRule(rule);
    expect(isKnown(one, mask)).toBe(false);
  });

  test("is known by the last number of its content", () => {
    const table = core.exports.createTable(0) >>> 0;
    const [first, second] = [new RuleMask(maskOf(5)), new RuleMask(maskOf(5))];
    const rules = [insert(table, first), insert(table, second)];
    expect([isKnown(table, first), isKnown(table, second)]).toEqual([false, true]);
    core.exports.removeRule(rules[1]!);
    expect(isKnown(table, second)).toBe(true);
    core.exports.removeRule(rules[0]!);
    expect([isKnown(table, first), isKnown(table, second)]).toEqual([false, false]);
  });

  test("is forgotten for another one in its entry, and leaves that alone", () => {
    const table = core.exports.createTable(0) >>> 0;
    const old = new RuleMask(maskOf(6));
    const rule = insert(table, old);
    let taking = new RuleMask(maskOf(7));
    while (taking.number % REMEMBERED !== old.number % REMEMBERED) taking = new RuleMask(maskOf(7));
    insert(table, taking);
    expect([isKnown(table, old), isKnown(table, taking)]).toEqual([false, true]);
    core.exports.removeRule(rule);
    expect(isKnown(table, taking)).toBe(true);
  });
});

test(`${ROUNDS} tables of numbered masks find what a plain list finds`, () => {
  const seed = seedFor("known masks");
  const random = new Random(seed);
  for (let round = 0; round < ROUNDS; round++) {
    const tables = [new ModelTable(core), new ModelTable(core)];
    const contents = Array.from({ length: random.pick([1, 8, 40]) }, () => drawMask(random));
    const masks = contents.flatMap((content) => [new RuleMask(content), new RuleMask(content)]);
    const bases = Array.from({ length: 6 }, () => Uint8Array.from(random.bytes(KEY_SIZE)));
    for (let step = 0; step < STEPS; step++) {
      const table = random.pick(tables);
      if (table.rules.length > 0 && random.chance(0.4)) {
        table.remove(random.below(table.rules.length));
        continue;
      }
      // A burst of numbers makes entries change hands.
      if (random.chance(0.02)) for (let n = random.below(REMEMBERED); n > 0; n--) new RuleMask(contents[0]!);
      const mask = random.chance(0.1) ? new RuleMask(random.pick(contents)) : random.pick(masks);
      const key = random.pick(bases);
      const rank = table.freeRank(() => drawRank(random));
      const given = random.chance(0.2) ? mask.key : mask;
      expect(table.insert(rank, given, under(mask.key, key), drawRanges(random, key))).toBe(true);
    }
    for (const table of tables) {
      const keys = table.rules.slice(0, 64).map((rule) => {
        const base = random.pick(bases);
        return random.chance(0.6) ? hittingKey(random, rule, base) : missingKey(random, rule, base);
      });
      const expected = keys.map((key) => table.find(key)?.handle ?? 0);
      expect(table.classify(keys), `FLOWSTEER_SEED=${seed}`).toEqual(expected);
      table.destroy();
    }
  }
});
