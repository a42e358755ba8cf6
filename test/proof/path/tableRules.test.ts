/** Overlaps and containment of rules, judged by all keys of a small world: fields of four bits, some with ranges. */
import { expect, test } from "vitest";
import type { RuleReader } from "../../../src/explain/why/rules.js";
import { STAGE_MASK, STAGE_RANGES, STAGE_VALUE } from "../../../src/abi/engine.js";
import { greatestIn, leastIn } from "../../../src/proof/path/cube.js";
import { Overlaps } from "../../../src/proof/path/overlaps.js";
import { TableRules } from "../../../src/proof/path/tableRules.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../../assembly/support/core.js";
import { rounds } from "../../support/tier.js";

const TABLES = rounds(300);
const RULES = 8;
/** Bits of a field, and where it lies: two fields of one dword, one of another. */
const WIDTH = 4;
const FIELDS = [
  { dword: 0, shift: 28 },
  { dword: 0, shift: 0 },
  { dword: 8, shift: 12 },
] as const;
const ALL = Array.from({ length: 2 ** (WIDTH * FIELDS.length) }, (_, n) => n);

/** For each field the numbers that a rule takes: those of mask and value, from low to high. */
interface Rule {
  readonly sets: readonly { mask: number; value: number; low: number; high: number }[];
}

function randomRule(random: Random): Rule {
  const sets = FIELDS.map(() => {
    const mask = random.pick([0, 15, 8, 12, random.below(16)]);
    const ranged = random.chance(0.3);
    const [a, b] = [random.below(16), random.below(16)];
    return {
      mask,
      value: random.below(16) & mask,
      low: ranged ? Math.min(a, b) : 0,
      high: ranged ? Math.max(a, b) : 15,
    };
  });
  // A rule has at most two ranges.
  const third = sets[2] as { low: number; high: number };
  if (sets.filter(({ low, high }) => low > 0 || high < 15).length > 2) [third.low, third.high] = [0, 15];
  return { sets };
}

function takes({ sets }: Rule, key: number): boolean {
  return sets.every(({ mask, value, low, high }, i) => {
    const number = (key >> (WIDTH * i)) & 15;
    return (number & mask) === value && number >= low && number <= high;
  });
}

/** What `TableRules` reads of a table: rules whose addresses are their indices, staged as by the core. */
function tableOf(rules: readonly Rule[]): TableRules {
  const memory = new DataView(new ArrayBuffer(2048));
  const core = { staging: 0, u32: new Uint32Array(memory.buffer) };
  const stageRule = (address: number): number => {
    core.u32.fill(0);
    let ranges = 0;
    (rules[address] as Rule).sets.forEach(({ mask, value, low, high }, i) => {
      const { dword, shift } = FIELDS[i] as (typeof FIELDS)[number];
      const add = (at: number, bits: number): void =>
        memory.setUint32(at + dword, (memory.getUint32(at + dword) | (bits << shift)) >>> 0);
      add(STAGE_MASK, mask);
      add(STAGE_VALUE, value);
      if (low === 0 && high === 15) return;
      [dword, shift, 15, low, high].forEach((word, n) => (core.u32[(STAGE_RANGES + 20 * ranges + 4 * n) >> 2] = word));
      ranges++;
    });
    return ranges;
  };
  const stored = rules.map((_, address) => ({ address, id: address, rankHigh: address << 15, rankLow: 0 }));
  const traced = { core, stageRule, maskAddress: (address: number) => address, rulesOf: () => stored };
  const reader: unknown = { traced };
  return new TableRules(reader as RuleReader, 0);
}

test(`${TABLES} tables of ${RULES} rules`, () => {
  const random = new Random(seedFor("tableRules"));
  for (let n = 0; n < TABLES; n++) {
    const rules = Array.from({ length: RULES }, () => randomRule(random));
    const table = tableOf(rules);
    const taken = rules.map((rule) => new Set(ALL.filter((key) => takes(rule, key))));
    for (const [i, one] of taken.entries()) {
      for (const [j, other] of taken.entries()) {
        const text = JSON.stringify([rules[i], rules[j]]);
        if (one.size === 0 || other.size === 0) continue;
        expect(table.overlaps(i, j), text).toBe([...one].some((key) => other.has(key)));
        expect(table.contains(i, j), text).toBe([...other].every((key) => one.has(key)));
      }
    }
    expect(table.firstFrom(3)).toBe(3);
    expect(table.indexOf(5)).toBe(5);
  }
});

test("overlapping rules of a table, from one rule to another one", () => {
  const random = new Random(seedFor("overlaps"));
  for (let n = 0; n < rounds(60); n++) {
    const count = random.between(1, 100);
    const table = tableOf(Array.from({ length: count }, () => randomRule(random)));
    const overlaps = new Overlaps(table);
    const indices = Array.from({ length: count }, (_, i) => i);
    for (const i of indices) {
      const [a, b] = [random.between(0, count), random.between(0, count)];
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      const even = random.chance(0.5) ? [overlaps.bitmapOf((j) => j % 2 === 0)] : [];
      const expected = indices
        .slice(from, to)
        .filter((j) => j !== i && (even.length === 0 || j % 2 === 1) && table.overlaps(i, j));
      expect([...overlaps.of(i, from, to, even)], `${i} in ${from} to ${to} of ${count}`).toEqual(expected);
    }
  }
});

test("the least and the greatest number with given bits", () => {
  for (let mask = 0; mask < 32; mask++) {
    for (let value = 0; value < 32; value++) {
      if ((value & ~mask) !== 0) continue;
      const fits = Array.from({ length: 32 }, (_, n) => n).filter((n) => (n & mask) === value);
      for (let bound = 0; bound < 32; bound++) {
        const above = (mask | ~31) >>> 0;
        expect(leastIn(above, value, bound)).toBe(fits.find((n) => n >= bound) ?? Infinity);
        expect(greatestIn(above, value, bound)).toBe(fits.findLast((n) => n <= bound) ?? -1);
      }
    }
  }
});
