/**
 * The memory of tables: kept when rules are removed, trimmed, reserved. Bulk insertion gives the
 * same table as single insertions.
 */
import { describe, expect, test } from "vitest";
import {
  BULK_ACTION_COUNT,
  BULK_ACTIONS,
  BULK_HANDLE,
  BULK_HEAD,
  BULK_ID,
  Op,
  STAGE_MASK,
  STAGE_VALUE,
  TABLE_KEEPS,
} from "../../../src/abi/engine.js";
import { GROUP_OUTER, GROUP_SIZE, KEY_SIZE } from "../../../src/abi/key.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { insertRule } from "../../../src/engine/rules.js";
import { matchOf } from "../../../src/model/match/match.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../support/core.js";

const RULES = 2000;
const CRITERIA = 1 << GROUP_OUTER;

function ruleOf(n: number): ReturnType<typeof matchOf> {
  return matchOf("match", { "outer.ipv4_dst": `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` });
}

function insert(core: Core, table: number, n: number): number {
  const rule = { id: n, rankHigh: 0, rankLow: n, ...ruleOf(n), actions: [Op.drop, 0] };
  return insertRule(core, table, rule);
}

function fill(core: Core, table: number): number[] {
  return Array.from({ length: RULES }, (_, n) => insert(core, table, n));
}

/** The rule that a lookup finds for the key of each rule. */
function answers(core: Core, table: number, numbers: readonly number[]): number[] {
  return numbers.map((n) => {
    core.u8.set(ruleOf(n).value, core.keys);
    core.exports.classify(table, 1, 0, 0);
    return core.u32[core.found >> 2]!;
  });
}

describe("a table", () => {
  test("gives back what it does not need, unless it keeps it", async () => {
    const core = await loadOpenCore();
    const used = (): number => core.exports.arenaUsed() >>> 0;
    const [plain, keeping] = [core.exports.createTable(0), core.exports.createTable(TABLE_KEEPS)];
    const empty = used();
    for (const rule of fill(core, plain)) core.exports.removeRule(rule);
    expect(used()).toBe(empty);
    const first = fill(core, keeping);
    const full = used();
    for (const rule of first) core.exports.removeRule(rule);
    const kept = used() - empty;
    expect(kept).toBeGreaterThan((RULES / 4) * 16);
    expect(fill(core, keeping)).toHaveLength(RULES);
    expect(used()).toBe(full);
    core.exports.trimTable(keeping);
    expect(used()).toBe(full);
    expect(answers(core, keeping, [0, 7, RULES - 1])).not.toContain(0);
  });

  test("gives back what it kept when it is trimmed, when it keeps no more, and when it goes", async () => {
    const core = await loadOpenCore();
    const used = (): number => core.exports.arenaUsed() >>> 0;
    const before = used();
    const table = core.exports.createTable(TABLE_KEEPS);
    const empty = used();
    for (const rule of fill(core, table)) core.exports.removeRule(rule);
    expect(used()).toBeGreaterThan(empty);
    core.exports.trimTable(table);
    expect(used()).toBe(empty);
    for (const rule of fill(core, table)) core.exports.removeRule(rule);
    core.exports.keepTable(table, 0);
    expect(used()).toBe(empty);
    core.exports.keepTable(table, 1);
    for (const rule of fill(core, table)) core.exports.removeRule(rule);
    expect(used()).toBeGreaterThan(empty);
    core.exports.destroyTable(table);
    expect(used()).toBe(before);
  });

  test("takes what others keep before it says that memory is full", async () => {
    const core = await loadOpenCore();
    const table = core.exports.createTable(TABLE_KEEPS);
    for (const rule of fill(core, table)) core.exports.removeRule(rule);
    const other = core.exports.createTable(0);
    insert(core, other, 0);
    let n = 1;
    // The arena ends here: nothing more fits beside the memory that is kept.
    core.exports.limitArena(core.exports.arenaUsed() >>> 0);
    while (insert(core, other, n) !== 0) n++;
    const kept = core.exports.arenaUsed() >>> 0;
    core.exports.trimTable(table);
    expect(core.exports.arenaUsed() >>> 0).toBe(kept);
    expect(answers(core, other, [0, 1, n - 1])).not.toContain(0);
    expect(answers(core, other, [n])).toEqual([0]);
  });

  test("reserves room at once, and shrinks to it", async () => {
    const core = await loadOpenCore();
    const used = (): number => core.exports.arenaUsed() >>> 0;
    const table = core.exports.createTable(0);
    const empty = used();
    expect(core.exports.reserveRules(table, RULES)).toBe(1);
    const room = used() - empty;
    expect(room).toBeGreaterThan((RULES / 2.25) * 32);
    const rules = fill(core, table);
    expect(answers(core, table, [0, 100, RULES - 1])).toEqual([rules[0], rules[100], rules[RULES - 1]]);
    for (const rule of rules) core.exports.removeRule(rule);
    expect(used() - empty).toBe(room);
    expect(core.exports.reserveRules(table, 0)).toBe(1);
    expect(used() - empty).toBe(room);
    core.exports.trimTable(table);
    expect(used()).toBe(empty);
  });

  test("that cannot reserve stays as it was", async () => {
    const core = await loadOpenCore();
    const table = core.exports.createTable(0);
    const rule = insert(core, table, 5);
    core.exports.limitArena((core.exports.arenaUsed() >>> 0) + 4096);
    expect(core.exports.reserveRules(table, 1 << 20)).toBe(0);
    expect(answers(core, table, [5, 6])).toEqual([rule, 0]);
    expect(insert(core, table, 6)).not.toBe(0);
  });
});

test("values that count up in any byte take no more room than scattered ones", async () => {
  const core = await loadOpenCore();
  const room = (value: (n: number) => Record<string, string>): number => {
    const table = core.exports.createTable(0);
    const before = core.exports.arenaUsed();
    for (let n = 0; n < 6000; n++) {
      const match = matchOf("match", { "outer.ip_version": "4", "outer.ip_protocol": "6", ...value(n) });
      insertRule(core, table, { id: n, rankHigh: 0, rankLow: n, ...match, actions: [Op.drop, 0] });
    }
    return core.exports.arenaUsed() - before;
  };
  const fields = (src: number, dst: number, sport: number, dport: number): Record<string, string> => {
    const address = (n: number): string => [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join(".");
    const [ipv4_src, ipv4_dst] = [address(src), address(dst)];
    return {
      "outer.ipv4_src": ipv4_src,
      "outer.ipv4_dst": ipv4_dst,
      "outer.tcp_sport": `${sport}`,
      "outer.tcp_dport": `${dport}`,
    };
  };
  const scattered = room((n) => fields(Math.imul(n, 2654435761), Math.imul(n, 40503), n & 1023, n >> 10));
  for (const counting of [
    (n: number) => fields(n, 1, 2, 3),
    (n: number) => fields(1, n, 2, 3),
    (n: number) => fields(1, 2, n, 3),
    (n: number) => fields(1, 2, 3, n),
    (n: number) => fields(n * 65536, 1, 2, 3),
    (n: number) => fields(1, n * 65536, 2, 3),
  ]) {
    expect(room(counting) / scattered).toBeLessThan(1.05);
  }
});

describe("rules in bulk", () => {
  const STRIDE = GROUP_SIZE;

  /** The head of rule `i` of `count`. */
  function headOf(core: Core, count: number, i: number): number {
    return core.bytes + count * STRIDE + i * BULK_HEAD;
  }

  /** Stages the mask and writes the rules to the area `bytes`, with one action after them. */
  function lay(core: Core, numbers: readonly number[]): void {
    const { mask, value } = ruleOf(0);
    core.u8.set(mask, core.staging + STAGE_MASK);
    core.u8.set(value, core.staging + STAGE_VALUE);
    const actions = numbers.length * (STRIDE + BULK_HEAD);
    for (const [i, n] of numbers.entries()) {
      const head = headOf(core, numbers.length, i);
      core.u32[(head + BULK_ID) >> 2] = n;
      core.u32[(head + BULK_ACTIONS) >> 2] = actions;
      core.u32[(head + BULK_ACTION_COUNT) >> 2] = 1;
      core.u8.set(ruleOf(n).value.subarray(0, STRIDE), core.bytes + i * STRIDE);
    }
    core.u32.set([Op.drop, 0], (core.bytes + actions) >> 2);
  }

  test("answer as those that are made one by one", async () => {
    const random = new Random(seedFor("bulk"));
    const core = await loadOpenCore();
    const table = core.exports.createTable(0);
    const numbers = [...new Set(Array.from({ length: RULES }, () => random.below(2 ** 20)))];
    lay(core, numbers);
    expect(core.exports.firstOutside(numbers.length, STRIDE, CRITERIA)).toBe(-1);
    expect(core.exports.insertRules(table, numbers.length, STRIDE, CRITERIA, 0, 5)).toBe(numbers.length);
    const handles = numbers.map((_, i) => core.u32[(headOf(core, numbers.length, i) + BULK_HANDLE) >> 2]!);
    expect(answers(core, table, numbers)).toEqual(handles);
    const others = Array.from({ length: 200 }, () => random.below(2 ** 20)).filter((n) => !numbers.includes(n));
    expect(answers(core, table, others)).toEqual(others.map(() => 0));
    for (const handle of handles) core.exports.removeRule(handle);
    core.exports.destroyTable(table);
  });

  test("name the first value outside the mask, in the groups that count", async () => {
    const core = await loadOpenCore();
    lay(core, [1, 2, 3]);
    // The TTL is outside the mask.
    core.u8[core.bytes + 2 * STRIDE + 27] = 64;
    expect(core.exports.firstOutside(3, STRIDE, CRITERIA)).toBe(2);
    expect(core.exports.firstOutside(2, STRIDE, CRITERIA)).toBe(-1);
    expect(core.exports.firstOutside(3, STRIDE, 0)).toBe(-1);
    expect(KEY_SIZE).toBe(512);
  });

  test("stop where memory ends", async () => {
    const core = await loadOpenCore();
    const table = core.exports.createTable(0);
    core.exports.limitArena((core.exports.arenaUsed() >>> 0) + 65536 + 8192);
    const numbers = Array.from({ length: RULES }, (_, n) => n);
    lay(core, numbers);
    const made = core.exports.insertRules(table, RULES, STRIDE, CRITERIA, 0, 0);
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(RULES);
    expect(answers(core, table, [0, made - 1])).not.toContain(0);
    expect(answers(core, table, [made])).toEqual([0]);
  });
});
