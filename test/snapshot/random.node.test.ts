/**
 * Random devices: direct rules, a meter, buffers, messages of connected queue pairs. A copy that is made
 * in the middle goes on as the first one does: in every result, byte, completion and field.
 */
import { expect, test } from "vitest";
import { numbers } from "../../bench/random.js";
import { cloneDevice } from "../../src/snapshot/index.js";
import { rounds, setting } from "../support/tier.js";
import { sameState } from "./support/same.js";
import { answer, drawStep, openWorld } from "./support/world.js";

const SEED = Number(setting("FLOWSTEER_SEED") ?? Date.now() % 2 ** 31);
const ROUNDS = rounds(100, "FLOWSTEER_SNAPSHOTS");
const STEPS = 60;

test(`a copy goes on as the device does (FLOWSTEER_SEED=${SEED}, ${ROUNDS} devices)`, { timeout: 1e7 }, async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const random = numbers(SEED + round);
    const world = await openWorld(random);
    const before = random() % STEPS;
    for (let i = 0; i < before; i++) answer(drawStep(random), world);
    const { kept: copy } = await cloneDevice(world.device, { keep: world });
    for (let i = before; i < STEPS; i++) {
      const step = drawStep(random);
      expect(answer(step, copy), `seed ${SEED + round}, step ${i}`).toBe(answer(step, world));
    }
    expect(copy.ends.map(({ memory }) => Buffer.from(memory).toString("hex"))).toEqual(
      world.ends.map(({ memory }) => Buffer.from(memory).toString("hex")),
    );
    sameState(world.device, copy.device, world, copy);
  }
});
