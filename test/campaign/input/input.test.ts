/** Inputs as words, as text, changed, and made small. */
import { describe, expect, test } from "vitest";
import { Random } from "../../oracle/generate/random.js";
import { Choices, TooManyWords } from "./choices.js";
import { head, type Input, inputOf, inputOfWords, parseInput, tail, textOf, wordsOf } from "./input.js";
import { mutated } from "./mutate.js";
import { shrunk } from "./shrink.js";

const some = (input: Input, count: number): number[] => Array.from({ length: count }, wordsOf(input));

describe("an input", () => {
  test("of a seed draws what the seed draws", () => {
    const random = new Random(77);
    expect(some(inputOf(77), 9)).toEqual(Array.from({ length: 9 }, () => random.word()));
    expect(new Choices(inputOf(77)).below(1000)).toBe(new Random(77).below(1000));
  });

  test("is its beginning and its rest", () => {
    const input = parseInput("@1f:3-8 =1,2*3,ff @2:9");
    for (const at of [0, 1, 5, 6, 9, 10, 14]) {
      const { pieces, rest } = tail(input, at);
      expect(some({ pieces: [...head(input, at), ...pieces], rest }, 20)).toEqual(some(input, 20));
    }
  });

  test("is a text", () => {
    for (const text of ["@4d:0", "0", "=1,2*3,ff 0", "@1f:3-8 =0*120 @ffffffff:12"])
      expect(textOf(parseInput(text))).toBe(text);
    for (const text of ["", "1", "=x 0", "@1f", "@1f:3 0"]) expect(() => parseInput(text)).toThrow(/no /);
  });

  test("changes, and what is changed is an input again", () => {
    const random = new Random(5);
    let of: Input = inputOf(3);
    const seen = new Set<string>();
    for (let n = 0; n < 200; n++) {
      of = mutated({ input: of, length: 50 }, { input: inputOf(n), length: 9 }, random);
      const text = textOf(of);
      expect(some(parseInput(text), 80)).toEqual(some(of, 80));
      seen.add(some(of, 80).join());
    }
    expect(seen.size).toBeGreaterThan(150);
  });

  test("draws no more words than it may", () => {
    const choices = new Choices(inputOf(1), 3);
    expect(() => choices.bits(200)).toThrow(TooManyWords);
    expect(choices.count).toBe(4);
  });
});

test("a failing input becomes the smallest one", async () => {
  // It fails where a word above 1000 is followed by an odd one.
  const fails = async (input: Input): Promise<boolean> => {
    const words = some(input, 60);
    return words.some((word, at) => word > 1000 && (words[at + 1] ?? 0) % 2 === 1);
  };
  const small = await shrunk(inputOf(12), 60, fails, performance.now() + 600_000);
  expect(textOf(small)).toBe(textOf(inputOfWords([1001, 1])));
});
