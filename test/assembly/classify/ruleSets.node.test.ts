/**
 * Every header of the stored traces finds the rule that an exhaustive search found when the traces
 * were made. The search is repeated, for one header in sixteen of the longest traces.
 */
import { describe, expect, test } from "vitest";
import { CoreKeys, CoreRules } from "../../../bench/classify/coreRules.js";
import {
  LinearSearch,
  readRules,
  readTrace,
  SETS,
  type SetName,
  type SetSize,
  type TraceKind,
} from "../../../bench/classify/ruleSets.js";
import { MAX_BATCH } from "../../../src/abi/engine.js";
import { loadOpenCore } from "../../support/openCore.js";
import { DEEP, sampleOf } from "../../support/tier.js";

type Trace = [size: SetSize, kind: TraceKind];

const LARGE: readonly Trace[] = [
  ["10k", "mix"],
  ["100k", "uniform"],
];
const QUICK: readonly Trace[] = [
  ["1k", "uniform"],
  ["10k", "uniform"],
];
const TRACES: readonly Trace[] = [...QUICK, ...(DEEP ? LARGE : [])];

describe.each(sampleOf(SETS))("%s", (set: SetName) => {
  test.each(TRACES)("%s rules, %s trace", async (size, kind) => {
    const core = await loadOpenCore();
    const before = core.exports.arenaUsed();
    const table = core.exports.createTable(0) >>> 0;
    const rules = new CoreRules(readRules(set, size));
    const handles = Array.from({ length: rules.count }, (_, i) => rules.insert(core, table, i));
    const lineOf = new Map(handles.map((handle, line) => [handle, line]));

    const { headers, expected } = readTrace(set, size, kind);
    const keys = new CoreKeys(core, headers);
    const found = expected.slice().fill(-2);
    // Batches of every size: 256, then 1, 2, 3 ... and again.
    for (let first = 0, n = 0; first < found.length; n++) {
      const count = Math.min(n % 2 === 0 ? MAX_BATCH : 1 + ((n >> 1) % MAX_BATCH), found.length - first);
      keys.fill(first, count);
      core.exports.classify(table, count, 0, 0);
      const at = core.found >> 2;
      for (let i = 0; i < count; i++) found[first + i] = lineOf.get(core.u32[at + i]!) ?? -1;
      first += count;
    }
    expect(found.length).toBe(32_768);
    for (const [i, line] of expected.entries()) {
      if (found[i] !== line) expect.fail(`header ${i}: line ${found[i]}, not ${line}`);
    }
    for (const handle of handles) core.exports.removeRule(handle);
    core.exports.destroyTable(table);
    expect(core.exports.arenaUsed()).toBe(before);
  });

  test.each(TRACES)("%s rules one after the other, %s trace", (size, kind) => {
    const search = new LinearSearch(readRules(set, size));
    const { headers, expected } = readTrace(set, size, kind);
    const step = size === "100k" ? 16 : 1;
    for (let i = 0; i < expected.length; i += step) {
      const line = search.find(headers, i);
      if (line !== expected[i]) expect.fail(`header ${i}: line ${line}, not ${expected[i]}`);
    }
  });
});
