/**
 * Memory that ends at every possible allocation: the call that fails reports it and keeps no
 * memory, and everything that was there still works.
 *
 * One slab of 64 KiB is all the memory there is. Counters fill it except for the last bytes, 16
 * fewer each time.
 */
import { expect, test } from "vitest";
import { KEY_SIZE } from "../../src/abi/key.js";
import type { Core } from "../../src/engine/core.js";
import { loadOpenCore } from "../support/openCore.js";
import { insertRule, type FieldRange } from "../../src/engine/rules.js";
import { matchOf, type Match } from "../../src/model/match/match.js";
import { DEEP, checkReached } from "../support/tier.js";

const SLAB = 65_536;
const BLOCK = 16;
/** Distance between two tried ends of memory. */
const STRIDE = DEEP ? BLOCK : 16 * BLOCK;
const MAX = 14_000;
/** Room for the blocks of candidate bitmaps, which are larger than a slab. */
const MORE = 140_000;

/**
 * Values of one mask (buckets split), five more masks (tuples are moved), two ranges: enough for a
 * rebuild.
 */
const MATCHES: Match[] = [
  ...Array.from({ length: 12 }, (_, i) => matchOf("m", { "outer.ipv4_dst": `10.0.0.${i}` })),
  matchOf("m", { "outer.tcp_dport": "1-9", "outer.tcp_sport": "5-7", "outer.ip_ttl_hoplimit": 3 }),
  matchOf("m", { "outer.dmac": "02:00:00:00:00:01", "misc.outer_second_vid": 9 }),
  matchOf("m", { "inner.ipv6_src": "fe80::1", "misc.vxlan_vni": 5 }),
  matchOf("m", { "misc3.outer_tcp_seq_num": 77, "inner.udp_dport": 53, "misc5.tunnel_header_0": 1 }),
  matchOf("m", { "misc3.icmp_type": 8, "outer.smac": "02:00:00:00:00:09", "inner.ip_ecn": 1 }),
  ...Array.from({ length: 60 }, (_, i) => matchOf("m", { "outer.ipv4_dst": `10.0.1.${i}` })),
];

/** A key that matches: the value, with the low end of each range. */
function keyFor({ value, ranges }: Match): Uint8Array {
  const key = value.slice();
  for (const range of ranges) putRange(key, range);
  return key;
}

function putRange(key: Uint8Array, { dword, shift, low }: FieldRange): void {
  const view = new DataView(key.buffer);
  view.setUint32(dword, (view.getUint32(dword) | (low * 2 ** shift)) >>> 0);
}

/** Fills the slab except for `rest` bytes. */
function fill(core: Core, rest: number): void {
  core.exports.limitArena(SLAB);
  for (let left = SLAB - rest; left > 0; left -= Math.min(left, 64 * BLOCK)) {
    expect(core.exports.createCounters(Math.min(left, 64 * BLOCK) / BLOCK)).not.toBe(0);
  }
}

/**
 * Fills a table with rules until memory is full, looks them up, and destroys it; returns the number
 * of rules.
 */
function fillTable(core: Core, what: string): number {
  const before = core.exports.arenaUsed();
  const table = core.exports.createTable(0) >>> 0;
  if (table === 0) {
    expect(core.exports.arenaUsed()).toBe(before);
    return 0;
  }
  const empty = core.exports.arenaUsed();
  const rules: { id: number; handle: number }[] = [];
  for (const [id, match] of MATCHES.entries()) {
    const handle = insertRule(core, table, { id, rankHigh: 0, rankLow: id, ...match, actions: [] });
    if (handle !== 0) rules.push({ id, handle });
    else if (rules.length === 0) expect(core.exports.arenaUsed(), `${what}, rule ${id}`).toBe(empty);
  }
  checkAll(core, table, rules);
  for (const { handle } of rules) core.exports.removeRule(handle);
  expect(core.exports.arenaUsed()).toBe(empty);
  core.exports.destroyTable(table);
  expect(core.exports.arenaUsed()).toBe(before);
  return rules.length;
}

test("every allocation of a table and its rules fails cleanly", async () => {
  const counts = new Set<number>();
  for (let rest = 0; rest < MAX; rest += STRIDE) {
    const core = await loadOpenCore();
    fill(core, rest);
    counts.add(fillTable(core, `rest ${rest}`));
  }
  // Every number of rules from none to all was reached.
  checkReached(() => {
    expect(Math.min(...counts)).toBe(0);
    expect(Math.max(...counts)).toBe(MATCHES.length);
    expect(counts.size).toBeGreaterThan(8);
  });
});

test("every allocation of a rebuild fails cleanly, and takes nothing from rules", async () => {
  for (let more = 0; more < MORE; more += 64 * STRIDE) {
    const core = await loadOpenCore();
    fill(core, MAX);
    core.exports.limitArena(SLAB + more);
    expect(fillTable(core, `${more} more`)).toBe(MATCHES.length);
  }
});

/** Each inserted rule is found by its key, and no other rule is. */
function checkAll(core: Core, table: number, rules: readonly { id: number; handle: number }[]): void {
  for (const [id, match] of MATCHES.entries()) {
    core.u8.set(keyFor(match), core.keys + id * KEY_SIZE);
  }
  core.exports.classify(table, MATCHES.length, 0, 0);
  const found = MATCHES.map((_, id) => core.u32[(core.found >> 2) + id] ?? 0);
  const wanted = MATCHES.map((_, id) => rules.find((rule) => rule.id === id)?.handle ?? 0);
  expect(found).toEqual(wanted);
}

/** The key of a rule of a mask: all ones, but with `id` in the first byte. */
function valueOf(id: number, mask: Uint8Array): Uint8Array {
  return mask.map((bits, at) => (at === 0 ? bits & id : bits));
}

/** Inserts a rule of a mask; 0 when memory is full. */
function insertMasked(core: Core, table: number, id: number, mask: Uint8Array): number {
  const rule = { id, rankHigh: 0, rankLow: id, mask, value: valueOf(id, mask), ranges: [], actions: [] };
  return insertRule(core, table, rule) >>> 0;
}

test("a refused mask takes no columns of the definer", async () => {
  const core = await loadOpenCore();
  const table = core.exports.createTable(0) >>> 0;
  // The program of the definer has room for so many blocks of the key.
  const narrow = new Uint8Array(KEY_SIZE);
  for (let block = 0; block < 8; block++) narrow[16 * block] = 0xff;
  const rules = [insertMasked(core, table, 1, narrow)];
  core.exports.limitArena(SLAB);
  while (core.exports.createCounters(32) !== 0);
  const whole = new Uint8Array(KEY_SIZE).fill(0xff);
  for (let id = 2; id < 200; id++) expect(insertMasked(core, table, id, whole)).toBe(0);
  core.exports.limitArena(2 ** 24);
  const sizes: number[] = [];
  for (let id = 2; id < 6; id++) {
    const before = core.exports.arenaUsed();
    rules.push(insertMasked(core, table, id, whole));
    sizes.push(core.exports.arenaUsed() - before);
  }
  // A rule that matches the whole key stores the key and 48 bytes.
  expect(Math.min(...sizes)).toBe(KEY_SIZE + 48);
  for (const at of rules.keys()) {
    core.u8.set(valueOf(at + 1, at === 0 ? narrow : whole), core.keys + at * KEY_SIZE);
  }
  core.exports.classify(table, rules.length, 0, 0);
  expect(rules.map((_, at) => core.u32[(core.found >> 2) + at])).toEqual(rules);
});

test("after a wider mask is refused, a mask of a removed rule still gets its tuple again", async () => {
  const core = await loadOpenCore();
  const table = core.exports.createTable(0) >>> 0;
  const [one, other, wide] = [4, 8, 128].map((end) => new Uint8Array(KEY_SIZE).fill(0xff, end === 8 ? 4 : 0, end));
  const first = insertMasked(core, table, 1, one!);
  expect(insertMasked(core, table, 2, other!)).not.toBe(0);
  core.exports.limitArena(SLAB);
  for (const count of [64, 1]) while (core.exports.createCounters(count) !== 0);
  expect(insertMasked(core, table, 3, wide!)).toBe(0);
  core.exports.removeRule(first);
  expect(insertMasked(core, table, 1, one!)).not.toBe(0);
});

test("every allocation of a queue fails cleanly", async () => {
  for (let rest = 0; rest < 400; rest += BLOCK) {
    const core = await loadOpenCore();
    fill(core, rest);
    const before = core.exports.arenaUsed();
    const completions = core.exports.createCompletionQueue(8) >>> 0;
    const queue = completions === 0 ? 0 : core.exports.createQueue(0, completions, 16) >>> 0;
    if (queue !== 0) core.exports.destroyQueue(queue);
    if (completions !== 0) core.exports.destroyCompletionQueue(completions);
    expect(core.exports.arenaUsed()).toBe(before);
  }
});
