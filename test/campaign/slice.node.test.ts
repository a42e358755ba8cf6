/** A slice of a campaign: a failing input is run alone and made small. */
import { expect, test } from "vitest";
import { NO_COVERAGE } from "./coverage/coverage.js";
import { textOf } from "./input/input.js";
import { Corpus } from "./runner/corpus.js";
import { type Failed, runSlice } from "./runner/slice.js";
import type { Target } from "./target.js";

/** Fails where one of its words is small; with a stack of one function, so that those who call it are near. */
const SMALL = 2 ** 28;
const target: Target = {
  name: "failing",
  about: "no word is small",
  unit: "words",
  guide: null,
  open: () =>
    Promise.resolve(function failing(random) {
      for (let n = 0; n < 10; n++) if (random.word() < SMALL) throw new Error("a small word");
      return 10;
    }),
};

test("a failure under an input is the same failure when that input runs alone", async () => {
  const found: Failed[] = [];
  const order = {
    target,
    corpus: new Corpus(target.name),
    coverage: NO_COVERAGE,
    guided: false,
    seed: 7,
    seconds: 0.2,
  };
  await runSlice({ ...order, note: () => undefined, failed: (failed) => found.push(failed) });
  expect(found.map(({ alone, input }) => [alone, textOf(input)])).toEqual([[true, "0"]]);
});
