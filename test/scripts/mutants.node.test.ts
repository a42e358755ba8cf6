/** The mutants of an AssemblyScript text: which are found, and that each changes the result once it is on. */
import { beforeAll, describe, expect, test } from "vitest";
import { collect, compile } from "../../scripts/mutation/compile.mjs";
import { matchEquivalent } from "../../scripts/mutation/equivalent.mjs";
import { mutantsOf } from "../../scripts/mutation/operators.mjs";

const FILE = "snippet.ts";

async function changes(text: string): Promise<string[]> {
  const { mutants } = await mutantsOf(text, FILE);
  return mutants.map(({ key }) => key);
}

describe("finds", () => {
  test.each([
    ["return a < b;", ["a < b → a <= b", "a < b → a >= b"]],
    ["return a == b;", ["a == b → a != b"]],
    ["return a + b * 2;", ["a + b * 2 → a - (b * 2)", "b * 2 → b / 2", "2 → 3", "2 → 1"]],
    ["return (a & 1) << b;", ["(a & 1) << b → (a & 1) >> b", "a & 1 → a | 1", "1 → 2", "1 → 0"]],
    ["return min<u32>(a, b);", ["min → max"]],
    ["return select(a, b, 0);", ["a, b → b, a", "0 → 1"]],
    ["return ~a;", ["~a → a"]],
    ["a = b; return a;", ["a = b; → (dropped)"]],
    ["a += b; return a;", ["a += b; → (dropped)", "a += b → a -= b"]],
    ["if (a) return 7; return 0xffffffff;", ["a → !(a)", "7 → 8", "7 → 6", "0xffffffff → 4294967294"]],
    ["return a || b ? a : b;", ["a || b → !(a || b)", "a || b → a && b"]],
    [
      "while (true) { if (a > b) break; a++; } return a;",
      ["a > b → a >= b", "a > b → a <= b", "break; → (dropped)", "a++; → (dropped)", "a++ → a--"],
    ],
    ["assert(a < b); return a;", []],
    // An immediate has to stay a constant: the whole call is switched.
    ["return load<u8>(a, 3);", ["3 → 4", "3 → 2"]],
  ])("%s", async (body, expected) => {
    const found = await changes(`export function f(a: u32, b: u32): u32 { ${body} }`);
    expect(found.sort()).toEqual(expected.map((one) => `f: ${one}`).sort());
  });

  test("nothing outside of functions", async () => {
    expect(await changes("const SIZE: u32 = 1 + 2; enum E { a = 3 }")).toEqual([]);
  });

  test("the same change twice in a function, by number", async () => {
    expect(await changes("function f(a: u32): u32 { return ~a + ~a; }")).toEqual([
      "f: ~a + ~a → ~a - ~a",
      "f: ~a → a",
      "f: ~a → a (2)",
    ]);
  });
});

describe("a mutant that is on", () => {
  const text = `
    export function clamp(a: u32, high: u32): u32 {
      if (a >= high) return high - 1;
      return a;
    }
    export function sum(count: u32): u32 {
      let all: u32 = 0;
      for (let i: u32 = 0; i < count; i++) all += i;
      return all;
    }
    export function typed(a: u8): u64 {
      const wide: u64 = 1;
      return wide << a;
    }`;
  const numbers = new Map<string, number>();
  let exports: Record<string, (...values: number[]) => number | bigint>;
  let mutant: WebAssembly.Global;
  let turns: WebAssembly.Global;

  beforeAll(async () => {
    const sources = await collect([[FILE, text]]);
    for (const { key, number } of sources.get(FILE).mutants) numbers.set(key, number);
    const { binary, invalid } = await compile(sources, FILE, {});
    expect(invalid).toEqual(new Set());
    mutant = new WebAssembly.Global({ value: "i32", mutable: true }, -1);
    turns = new WebAssembly.Global({ value: "i64", mutable: true }, 1000n);
    const { instance } = await WebAssembly.instantiate(binary, { mutants: { mutant, turns }, env: { abort() {} } });
    exports = instance.exports as typeof exports;
  });

  const on = (key: string): void => {
    expect(numbers.has(key), key).toBe(true);
    mutant.value = numbers.get(key);
    turns.value = 1000n;
  };

  test("changes the result", () => {
    expect(exports["clamp"]!(5, 5)).toBe(4);
    on("clamp: a >= high → a > high");
    expect(exports["clamp"]!(5, 5)).toBe(5);
    on("clamp: high - 1 → high + 1");
    expect(exports["clamp"]!(5, 5)).toBe(6);
    on("clamp: 1 → 2");
    expect(exports["clamp"]!(5, 5)).toBe(3);
    on("sum: all += i; → (dropped)");
    expect(exports["sum"]!(4)).toBe(0);
    on("typed: wide << a → wide >> a");
    expect(exports["typed"]!(1)).toBe(0n);
  });

  test("traps when it would run for ever", () => {
    on("sum: i < count → i >= count");
    expect(() => exports["sum"]!(0)).toThrow(WebAssembly.RuntimeError);
  });
});

test("mutants that do not compile are left out, the others stay", async () => {
  const sources = await collect([
    [FILE, "export function f(a: bool): u32 { let b: u32; if (a) b = 1; else b = 2; return b; }"],
  ]);
  const { invalid, binary } = await compile(sources, FILE, {});
  const { mutants } = sources.get(FILE);
  const without = mutants
    .filter(({ number }: { number: number }) => invalid.has(number))
    .map(({ key }: { key: string }) => key);
  expect(without).toEqual(["f: b = 1; → (dropped)", "f: b = 2; → (dropped)"]);
  expect(WebAssembly.validate(binary)).toBe(true);
});

describe("an entry of the list of equivalent mutants", () => {
  const entry = { file: "a.ts", mutant: "f: low < high → low <= high", why: "never equal" };
  const mutant = (file: string, name: string, change: string): object => ({
    file,
    function: name,
    key: `${name}: ${change}`,
  });
  const fits = (...mutants: object[]): number =>
    mutants.indexOf([...matchEquivalent([entry], mutants).reasons.keys()][0]);

  test("fits the same function and change, wherever it stands", () => {
    expect(fits(mutant("b.ts", "g", "low < high → low <= high"), mutant("c.ts", "f", "low < high → low <= high"))).toBe(
      1,
    );
  });

  test("prefers its file", () => {
    expect(fits(mutant("b.ts", "f", "low < high → low <= high"), mutant("a.ts", "f", "low < high → low <= high"))).toBe(
      1,
    );
  });

  test("survives renames", () => {
    expect(fits(mutant("a.ts", "f", "least < most → least <= most"))).toBe(0);
    expect(fits(mutant("a.ts", "renamed", "low < high → low <= high"))).toBe(0);
  });

  test("fits nothing where several could be meant", () => {
    const { lost } = matchEquivalent(
      [entry],
      [mutant("a.ts", "f", "a < b → a <= b"), mutant("a.ts", "f", "c < d → c <= d")],
    );
    expect(lost).toEqual([entry]);
  });
});
