import { expect, test } from "vitest";
import { minimalSubset } from "../../../src/proof/solver/minimalSubset.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";

test("random conditions: the subset suffices and has nothing to spare", () => {
  const random = new Random(seedFor("subsets"));
  for (let round = 0; round < rounds(4000); round++) {
    const size = random.below(24);
    const candidates = Array.from({ length: size }, (_, n) => n);
    // A subset suffices if it contains one of these sets.
    const sets = Array.from({ length: 1 + random.below(3) }, () =>
      candidates.filter(() => random.chance(random.pick([0.1, 0.3, 0.9]))),
    );
    const suffices = (subset: readonly number[]) => sets.some((set) => set.every((n) => subset.includes(n)));
    const subset = minimalSubset(candidates, suffices);
    expect(suffices(subset)).toBe(true);
    for (const left of subset) expect(suffices(subset.filter((n) => n !== left))).toBe(false);
    expect(subset).toEqual(subset.toSorted((a, b) => a - b));
  }
});

test("few of many candidates are found with few questions", () => {
  let questions = 0;
  const subset = minimalSubset(
    Array.from({ length: 1024 }, (_, n) => n),
    (numbers) => {
      questions++;
      return [17, 400, 1000].every((n) => numbers.includes(n));
    },
  );
  expect(subset).toEqual([17, 400, 1000]);
  expect(questions).toBeLessThan(70);
});
