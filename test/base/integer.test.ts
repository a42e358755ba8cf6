/** Integers as text. */
import { expect, test } from "vitest";
import { integerOf } from "../../src/base/integer.js";

test.each<[string, bigint | undefined]>([
  ["0", 0n],
  ["007", 7n],
  ["0x1F", 31n],
  ["0b101", 5n],
  ["18446744073709551616", 1n << 64n],
  ["", undefined],
  ["-1", undefined],
  ["1.5", undefined],
  ["0x", undefined],
  ["0b2", undefined],
  ["1n", undefined],
])("%j", (text, value) => {
  expect(integerOf(text)).toBe(value);
});

test("up to 1024 digits are converted, zeros before them uncounted; more are a number that is too big", () => {
  const digits = "9".repeat(1024);
  expect(integerOf(digits)).toBe(BigInt(digits));
  expect(integerOf(`0x${"0".repeat(1_000_000)}7`)).toBe(7n);
  for (const text of [`${digits}9`, "9".repeat(20_000_000), `0x${"f".repeat(20_000_000)}`])
    expect(integerOf(text)).toBe(1n << 4096n);
});
