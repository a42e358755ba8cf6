/** Rules for the hosts of one network: their last bytes rule out most masks before any is hashed. */
import { describe, expect, test } from "vitest";
import { KEY_SIZE } from "../../../src/abi/key.js";
import { RuleMask } from "../../../src/engine/ruleMask.js";
import { insertRule } from "../../../src/engine/rules.js";
import { loadOpenCore } from "../../support/openCore.js";
import { Random } from "../../oracle/generate/random.js";
import { setting } from "../../support/tier.js";
import { seedFor } from "../support/core.js";
import { countSteps, Steps } from "../support/countSteps.js";

const AT = 64;
const MASKS = 30;
const HOSTS = 20;

/** A key with a source and a destination of four bytes. */
function keyOf(source: number, destination: readonly number[]): Uint8Array {
  const key = new Uint8Array(KEY_SIZE);
  new DataView(key.buffer).setUint32(AT, source);
  key.set(destination, AT + 4);
  return key;
}

describe.skipIf(setting("FLOWSTEER_CORE") === "coverage")("lookups", () => {
  test.each([0, 1, 2, 3])("hosts that differ in byte %i are looked up under few masks", async (byte) => {
    const random = new Random(seedFor(`hosts, byte ${byte}`));
    const core = await countSteps(loadOpenCore);
    const table = core.exports.createTable(0) >>> 0;
    const hostOf = (n: number): number[] => [10, 0, 0, 1].map((one, i) => (i === byte ? n : one));
    for (let id = 0; id < MASKS * HOSTS; id++) {
      // Prefixes of 3 to 32 bits of the source, and the whole destination.
      const bits = (-1 << (29 - (id % MASKS))) >>> 0;
      const mask = new RuleMask(keyOf(bits, [255, 255, 255, 255]));
      const value = keyOf((Number(random.bits(32)) & bits) >>> 0, hostOf(random.below(256)));
      expect(insertRule(core, table, { id, rankHigh: 0, rankLow: id, mask, value, ranges: [], actions: [] })).not.toBe(
        0,
      );
    }
    const look = (n: number): void => {
      core.u8.set(keyOf(Number(random.bits(32)), hostOf(n)), core.keys);
      core.exports.classify(table, 1, 0, 0);
    };
    for (let n = 0; n < 4096; n++) look(n % 256);
    Steps.count = 0;
    for (let n = 0; n < 256; n++) look(n);
    expect(Steps.count / 256).toBeLessThan(200);
  });
});
