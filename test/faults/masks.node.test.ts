/** Masks of a table while there is hardly any memory, and keys that its candidate bitmaps exclude. */
import { expect, test } from "vitest";
import debug from "../../build/debug/core.wasm";
import { KEY_SIZE, LAYER_DST_IPV4, LAYER_SRC_IPV4, LAYER_TCP_PORTS, OUTER } from "../../src/abi/key.js";
import type { Core } from "../../src/engine/core.js";
import { RuleMask } from "../../src/engine/ruleMask.js";
import { insertRule } from "../../src/engine/rules.js";
import { under } from "../assembly/classify/support/draw.js";
import { loadOpenCore } from "../support/openCore.js";
import { Countdown, faultyCore } from "./support/faultyCore.js";

const NO_LIMIT = -1;

function classify(core: Core, table: number, keys: readonly Uint8Array[]): number[] {
  for (const [i, key] of keys.entries()) core.u8.set(key, core.keys + i * KEY_SIZE);
  core.exports.classify(table, keys.length, 0, 0);
  return [...core.u32.subarray(core.found >> 2, (core.found >> 2) + keys.length)];
}

test("a mask shares a tuple where there is no memory for its own", async () => {
  let shared = 0;
  for (let room = 64; room <= 1024; room += 64) {
    const core = await loadOpenCore(debug);
    const table = core.exports.createTable(0) >>> 0;
    const key = new Uint8Array(KEY_SIZE).fill(0x5a);
    const handles: number[] = [];
    // Each mask has a bit more than the one before. Later rules come first.
    for (let bits = 1; bits <= 120; bits++) {
      const mask = new Uint8Array(KEY_SIZE);
      for (let bit = 0; bit < bits; bit++) mask[bit >> 3]! |= 0x80 >> (bit & 7);
      const rule = { id: bits, rankHigh: 0, rankLow: 1000 - bits, mask, value: under(mask, key) };
      core.exports.limitArena(bits % 8 === 0 ? core.exports.arenaUsed() + room : NO_LIMIT);
      const handle = insertRule(core, table, { ...rule, ranges: [], actions: [] });
      if (handle !== 0) handles.push(handle);
      if (handle !== 0 && bits % 8 === 0) shared++;
      expect(classify(core, table, [key])).toEqual([handles.at(-1)]);
    }
  }
  expect(shared).toBeGreaterThan(0);
});

test("a rule of a known mask, with a range of a field that no rule has named", async () => {
  let refusals = 0;
  for (let n = 1; n <= 6; n++) {
    const core = await loadOpenCore(faultyCore(debug));
    const countdown = new Countdown({ core });
    const table = core.exports.createTable(0) >>> 0;
    const key = new Uint8Array(KEY_SIZE);
    const mask = new Uint8Array(KEY_SIZE);
    mask[OUTER + LAYER_DST_IPV4] = 0xff;
    const known = new RuleMask(mask);
    const rule = { rankHigh: 0, mask: known, value: new Uint8Array(KEY_SIZE), actions: [] };
    const first = insertRule(core, table, { ...rule, id: 1, rankLow: 9, ranges: [] });
    for (let field = 0; field < 24; field++) {
      const range = { dword: 256 + 4 * field, shift: 0, fieldMask: 0xffff, low: 0, high: field };
      let handle = 0;
      countdown.run(n, () => (handle = insertRule(core, table, { ...rule, id: 2, rankLow: 1, ranges: [range] })));
      if (handle === 0) refusals++;
      expect(classify(core, table, [key])).toEqual([handle === 0 ? first : handle]);
      if (handle !== 0) core.exports.removeRule(handle);
    }
  }
  expect(refusals).toBeGreaterThan(0);
});

test("keys that no tuple can match", async () => {
  const core = await loadOpenCore(debug);
  const table = core.exports.createTable(0) >>> 0;
  const [source, destination, port] = [OUTER + LAYER_SRC_IPV4, OUTER + LAYER_DST_IPV4, LAYER_TCP_PORTS];
  const whole = (...places: readonly number[]): Uint8Array => {
    const mask = new Uint8Array(KEY_SIZE);
    for (const at of places) mask.fill(0xff, at, at + 4);
    return mask;
  };
  const masks = [
    whole(source),
    whole(destination),
    whole(source, destination),
    whole(source, port),
    whole(destination, port),
    whole(source, destination, port),
  ];
  const keyOf = (n: number): Uint8Array => {
    const key = new Uint8Array(KEY_SIZE);
    for (const at of [source, destination, port]) new DataView(key.buffer).setUint32(at, Math.imul(n + at, 0x9e3779b1));
    return key;
  };
  const handles = Array.from({ length: 300 }, (_, n) => {
    const mask = masks[n % masks.length]!;
    const rule = { id: n, rankHigh: 0, rankLow: n, mask, value: under(mask, keyOf(n)), ranges: [], actions: [] };
    return insertRule(core, table, rule);
  });
  for (let n = 0; n < 300; n++) {
    const keys = [keyOf(n), keyOf(1000 + n), keyOf(2000 + n)];
    expect(classify(core, table, keys)).toEqual([handles[n], 0, 0]);
  }
});
