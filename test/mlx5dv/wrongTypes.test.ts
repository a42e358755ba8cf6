/** Every function with values of wrong types, and with destroyed objects. */
import { expect, test } from "vitest";
import { ERRNO, SteeringError } from "../../src/index.js";
import * as dv from "../../src/mlx5dv/index.js";
import { MISSING_MLX5DV } from "../../src/mlx5dv/missing.js";
import { destroyedObjects, replaced, unclear } from "../support/wrongTypes.js";
import { everyCall } from "./support/everyCall.js";

/** No calls: a class, a table, and functions that refuse all arguments. */
const OTHERS = ["DevxObject", ...Object.values(MISSING_MLX5DV).flat()];

test("the arguments that are replaced are correct", async () => {
  const refused: string[] = [];
  for (const [name, args] of Object.entries(await everyCall())) {
    try {
      ((dv as Record<string, unknown>)[name] as (...args: unknown[]) => unknown)(...args);
    } catch (error) {
      refused.push(String(error));
    }
  }
  expect(refused).toEqual([]);
});

test("wrong types and values are refused by name", async () => {
  const calls = await everyCall();
  const functions = Object.entries(dv).filter(([, member]) => typeof member === "function");
  const missing = functions.filter(([name]) => !(name in calls) && !OTHERS.includes(name));
  expect(missing.map(([name]) => name)).toEqual([]);
  const found: string[] = [];
  for (const [name, args] of Object.entries(calls)) {
    const call = { name, run: (dv as Record<string, unknown>)[name] as (...args: unknown[]) => unknown, args };
    for (const [path, list] of replaced(args)) {
      const said = unclear(call, list);
      if (said !== undefined) found.push(`${name}, ${path}: ${said}`);
    }
  }
  expect(found).toEqual([]);
});

test("destroyed objects are refused", async () => {
  const calls = await everyCall();
  const others = await everyCall();
  const found: string[] = [];
  for (const [name, args] of Object.entries(calls)) {
    const run = (dv as Record<string, unknown>)[name] as (...args: unknown[]) => unknown;
    for (const [path, list] of destroyedObjects(args, others[name] ?? [])) {
      let said: unknown;
      try {
        // The dump calls return a negative errno.
        said = run(...list) === -ERRNO.EINVAL ? "object_destroyed" : "accepted";
      } catch (error) {
        said = error instanceof SteeringError ? error.reason : error;
      }
      if (said !== "object_destroyed") found.push(`${name}, ${path}: ${String(said)}`);
    }
  }
  expect(found).toEqual([]);
});
