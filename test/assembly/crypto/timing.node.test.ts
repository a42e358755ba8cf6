/** Times of the ciphers tell nothing of secrets. Only where FLOWSTEER_TIMING=1: it takes a machine that is not too busy. */
import { beforeAll, describe, expect, test } from "vitest";
import release from "../../../build/release/core.wasm";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../support/core.js";
import { SURELY, timesOf, type Secret } from "./support/times.js";

const SAMPLES = 40_000;

describe.runIf(process.env["FLOWSTEER_TIMING"] === "1")("Times", () => {
  const random = new Random(seedFor("timing"));
  let core: Core;
  beforeAll(async () => {
    core = await loadOpenCore(release);
  });
  const measured = (secret: Secret): number => {
    const t = timesOf(core, random, secret, SAMPLES);
    console.log(`${secret}: t = ${t.toFixed(2)}`);
    return t;
  };

  test.each(["data", "keys", "where a wrong ICV is wrong"] as const)("do not tell %s", (secret) => {
    expect(measured(secret)).toBeLessThan(SURELY);
  });

  // A block more takes longer.
  test("tell lengths, as the comparison sees", () => {
    expect(measured("lengths")).toBeGreaterThan(SURELY);
  });
});
