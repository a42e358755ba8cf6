/** The faster of two ways to do a piece of work is used. */
import { describe, expect, it } from "vitest";
import { AdaptiveMode } from "../../src/run/adaptiveMode.js";

/** How many pieces one core did alone, by the cost of a unit; a piece has seven units. */
function alone(pieces: number, cost: (alone: boolean, n: number) => number): number {
  const mode = new AdaptiveMode();
  let count = 0;
  for (let n = 0; n < pieces; n++) {
    if (mode.alone) count++;
    mode.done(7, 7 * cost(mode.alone, n));
  }
  return count;
}

describe("the adaptive mode", () => {
  it("uses the cheaper way but for few pieces", () => {
    expect(alone(10_000, (isAlone) => (isAlone ? 1 : 2))).toBeGreaterThan(9_800);
    expect(alone(10_000, (isAlone) => (isAlone ? 2 : 1))).toBeLessThan(200);
  });

  it("measures both ways first", () => {
    const count = alone(32, () => 1);
    expect(count).toBe(16);
  });

  it("notices that the other way has become cheaper", () => {
    const count = alone(20_000, (isAlone, n) => (isAlone === n < 5_000 ? 1 : 2));
    expect(count).toBeGreaterThan(4_800);
    expect(count).toBeLessThan(12_000);
  });

  it("compares costs of units, not of pieces", () => {
    const mode = new AdaptiveMode();
    for (let n = 0; n < 16; n++) mode.done(100, 100);
    expect(mode.alone).toBe(true);
    for (let n = 0; n < 16; n++) mode.done(10, 20);
    expect(mode.alone).toBe(false);
  });
});
