/** Every function with values of wrong types: each error names the call. */
import { expect, test } from "vitest";
import * as dv from "../../src/mlx5dv/index.js";
import { replaced, unclear } from "../support/wrongTypes.js";
import { everyCall } from "./support/everyCall.js";

const CLASSES = ["DevxObject"];

test("wrong types and values are refused by name", async () => {
  const calls = await everyCall();
  const functions = Object.entries(dv).filter(([, member]) => typeof member === "function");
  const missing = functions.filter(([name]) => !(name in calls) && !CLASSES.includes(name));
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
