/** Which of two ways work is done, as either costs. */
import { describe, expect, it } from "vitest";
import { Trial } from "../../src/run/adaptiveMode.js";

/** How many of so many pieces one did alone, where pieces of seven units cost so much by either way. */
function alone(pieces: number, cost: (alone: boolean, n: number) => number): number {
  const trial = new Trial();
  let count = 0;
  for (let n = 0; n < pieces; n++) {
    if (trial.alone) count++;
    trial.done(7, 7 * cost(trial.alone, n));
  }
  return count;
}

describe("a trial", () => {
  it("goes the way that costs less, but for few pieces", () => {
    expect(alone(10_000, (isAlone) => (isAlone ? 1 : 2))).toBeGreaterThan(9_800);
    expect(alone(10_000, (isAlone) => (isAlone ? 2 : 1))).toBeLessThan(200);
  });

  it("begins with both", () => {
    const count = alone(32, () => 1);
    expect(count).toBe(16);
  });

  it("notices that the other way has become better", () => {
    const count = alone(20_000, (isAlone, n) => (isAlone === n < 5_000 ? 1 : 2));
    expect(count).toBeGreaterThan(4_800);
    expect(count).toBeLessThan(12_000);
  });

  it("asks what a unit costs, not a piece", () => {
    const trial = new Trial();
    for (let n = 0; n < 16; n++) trial.done(100, 100);
    expect(trial.alone).toBe(true);
    for (let n = 0; n < 16; n++) trial.done(10, 20);
    expect(trial.alone).toBe(false);
  });
});
