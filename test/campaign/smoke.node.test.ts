/** Each target of the campaign runs, on some hundred inputs of what it counts. */
import { expect, test } from "vitest";
import { setting } from "../support/tier.js";
import { inputOf, textOf } from "./input/input.js";
import { attempt } from "./runner/failure.js";
import { TARGETS } from "./targets/index.js";

const SEED = Number(setting("FLOWSTEER_SEED") ?? Date.now() % 2 ** 31);
const UNITS = 200;
/** Targets whose inputs take long have fewer. */
const MAX = 20;

test.each(TARGETS)(`$name (FLOWSTEER_SEED=${SEED})`, async (target) => {
  const run = await target.open();
  let units = 0;
  for (let n = 0; n < MAX && units < UNITS; n++) {
    const input = inputOf(SEED + n);
    const ran = await attempt(run, input);
    if (ran.failure !== null) throw new Error(`${target.name}, input ${textOf(input)}: ${ran.failure.text}`);
    units += ran.units;
  }
  expect(units).toBeGreaterThan(0);
});
