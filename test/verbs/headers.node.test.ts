/**
 * Every function and constant of infiniband/verbs.h and infiniband/mlx5dv.h, as scripts/golden-headers.mjs found them in
 * rdma-core 44 and 65. A function is implemented, or refuses and says what is missing.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SteeringError } from "../../src/index.js";
import * as dv from "../../src/mlx5dv/index.js";
import { MISSING_MLX5DV } from "../../src/mlx5dv/missing.js";
import * as v from "../../src/verbs/index.js";
import { MISSING_VERBS } from "../../src/verbs/missing.js";

interface Header {
  functions: string[];
  constants: Record<string, number>;
}

const HEADERS = ["v44", "v65"].map((version) => {
  const text = readFileSync(new URL(`../golden/headers/${version}.json`, import.meta.url), "utf8");
  return JSON.parse(text) as { version: string; verbs: Header; mlx5dv: Header };
});
const FACADES: Readonly<Record<"verbs" | "mlx5dv", readonly [Readonly<Record<string, unknown>>, object]>> = {
  verbs: [v, MISSING_VERBS],
  mlx5dv: [dv, MISSING_MLX5DV],
};

describe.each(["verbs", "mlx5dv"] as const)("%s.h", (name) => {
  const [exports, table] = FACADES[name];
  const missing = Object.entries(table as Record<string, readonly string[]>);

  test.each(HEADERS)("$version: every function is there", ({ [name]: { functions } }) => {
    expect(functions.filter((one) => typeof exports[one] !== "function")).toEqual([]);
    expect(functions.length).toBeGreaterThan(150);
  });

  test.each(HEADERS)("$version: every constant has its value", ({ [name]: { constants } }) => {
    const wrong = Object.entries(constants).filter(([one, value]) => Number(exports[one] ?? NaN) !== value);
    expect(wrong.map(([one, value]) => `${one} is ${String(exports[one])}, not ${value}`)).toEqual([]);
    expect(Object.keys(constants).length).toBeGreaterThan(290);
  });

  test("a missing function refuses any arguments, and says what is missing", () => {
    for (const [what, names] of missing) {
      for (const one of names) {
        for (const args of [[], [null], [{}, 1, 2n, "x", new Uint8Array(4)]]) {
          let error: unknown;
          try {
            (exports[one] as (...args: unknown[]) => unknown)(...args);
          } catch (thrown) {
            error = thrown;
          }
          expect(error, one).toBeInstanceOf(SteeringError);
          expect(error).toMatchObject({
            code: "EOPNOTSUPP",
            call: one,
            reason: "unsupported",
            hint: `missing: ${what}`,
          });
        }
      }
    }
  });

  test("the table of missing functions has functions of the header, each once", () => {
    const names = missing.flatMap(([, list]) => list);
    expect(new Set(names).size).toBe(names.length);
    const known = new Set(HEADERS.flatMap(({ [name]: { functions } }) => functions));
    expect(names.filter((one) => !known.has(one))).toEqual([]);
  });
});
