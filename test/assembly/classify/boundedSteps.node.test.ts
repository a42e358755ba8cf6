/**
 * Hostile rule sets: what one change and one lookup cost at most, in statements of the core that are executed. The
 * coverage core counts them, so no clock takes part.
 */
import { describe, expect, test } from "vitest";
import { KEY_SIZE } from "../../../src/abi/key.js";
import { RuleMask } from "../../../src/engine/ruleMask.js";
import { insertRule } from "../../../src/engine/rules.js";
import { setting } from "../../support/tier.js";
import { loadOpenCore } from "../../support/openCore.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../support/core.js";
import { countSteps, mostSteps, Steps } from "../support/countSteps.js";

interface HostileRule {
  rank: number;
  mask: RuleMask;
  value: Uint8Array;
}

const AT = 64;
const WIDTH = 8;

/** A key with these bytes among those that rules match. */
function keyOf(bytes: readonly number[]): Uint8Array {
  const key = new Uint8Array(KEY_SIZE);
  key.set(bytes, AT);
  return key;
}

function maskOf(random: Random): RuleMask {
  return new RuleMask(keyOf(Array.from({ length: WIDTH }, () => random.below(256) & random.below(256))));
}

const SETS: Record<string, (random: Random) => HostileRule[]> = {
  "64k rules of one value, ranks in random order": (random) => {
    const mask = new RuleMask(keyOf([255, 255, 255, 255]));
    const value = keyOf([1, 2, 3, 4]);
    return Array.from({ length: 65_536 }, () => ({ rank: random.below(2 ** 31), mask, value }));
  },
  "64k rules of one value beside other masks": (random) => {
    const masks = [[255], [255, 255, 255, 255], [0, 255], [0, 0, 255], [0, 0, 0, 255]].map(
      (bytes) => new RuleMask(keyOf(bytes)),
    );
    return Array.from({ length: 65_536 }, (_, n) => {
      const mask = masks[n < 200 ? n % masks.length : 1]!;
      const value = keyOf(n < 200 ? [n, n, n, n] : [1, 2, 3, 4]).map((byte, at) => byte & mask.key[at]!);
      return { rank: random.below(2 ** 31), mask, value };
    });
  },
  "64k rules of one value, all of one rank": () => {
    const mask = new RuleMask(keyOf([255, 255, 255, 255]));
    return Array.from({ length: 65_536 }, () => ({ rank: 1, mask, value: keyOf([1, 2, 3, 4]) }));
  },
  "a thousand masks, four rules each": (random) => {
    const masks = Array.from({ length: 1000 }, () => maskOf(random));
    return Array.from({ length: 4000 }, (_, rank) => {
      const mask = masks[rank % masks.length]!;
      return { rank, mask, value: mask.key.map((bits) => bits & random.below(256)) };
    });
  },
  "masks that leave five bits of their chunks open": (random) => {
    // All bits but five of one byte.
    const masks = Array.from({ length: 400 }, (_, n) => {
      const bytes = new Array<number>(WIDTH).fill(255);
      const open = new Set<number>();
      while (open.size < 5) open.add(random.below(8));
      bytes[n % WIDTH] = 255 - [...open].reduce((sum, bit) => sum + 2 ** bit, 0);
      return new RuleMask(keyOf(bytes));
    });
    return Array.from({ length: 4000 }, (_, rank) => {
      const mask = masks[rank % masks.length]!;
      return { rank, mask, value: mask.key.map((bits) => bits & random.below(256)) };
    });
  },
  "a thousand rules that all overlap": (random) => {
    const value = random.bytes(WIDTH);
    return Array.from({ length: 1000 }, (_, rank) => {
      const mask = maskOf(random);
      return { rank, mask, value: keyOf([...value]).map((byte, at) => byte & mask.key[at]!) };
    });
  },
};

describe.skipIf(setting("FLOWSTEER_CORE") === "coverage")("hostile rules", () => {
  test.each(Object.keys(SETS))("%s", async (name) => {
    const random = new Random(seedFor(name));
    const rules = SETS[name]!(random);
    const core = await countSteps(loadOpenCore);
    const table = core.exports.createTable(0) >>> 0;
    const handles: number[] = [];
    const add = ({ rank, mask, value }: HostileRule, id: number): void => {
      handles[id] = insertRule(core, table, {
        id,
        rankHigh: 0,
        rankLow: rank,
        mask,
        value,
        ranges: [],
        actions: [1, 0],
      });
    };
    const look = ({ value }: HostileRule): void => {
      core.u8.set(value, core.keys);
      core.exports.classify(table, 1, 0, 0);
    };
    const some = rules.filter((_, n) => n % Math.ceil(rules.length / 1000) === 0);
    const insertion = mostSteps(rules, add);
    const rebuilding = mostSteps(some, look);
    for (let n = 0; n < 20; n++) some.forEach(look);
    const lookup = mostSteps(some, look);
    const change = mostSteps(rules, (rule, n) => {
      if (n % 16 === 0) look(rule);
      Steps.count = 0;
      core.exports.removeRule(handles[n]!);
      add(rule, n);
    });
    const removal = mostSteps(handles, (handle) => core.exports.removeRule(handle));
    expect({ insertion, rebuilding, lookup, change, removal }).toEqual({
      insertion: expect.toSatisfy((worst: number) => worst < 4000),
      // A lookup walks over some buckets, chooses some tuples, or chooses four chunks.
      rebuilding: expect.toSatisfy((worst: number) => worst < 400_000),
      // It probes all tuples at most, and some have lists of rules that do not match.
      lookup: expect.toSatisfy((worst: number) => worst < 80_000),
      change: expect.toSatisfy((worst: number) => worst < 8000),
      removal: expect.toSatisfy((worst: number) => worst < 4000),
    });
  });
});
