/** Structs that calls fill are objects of the program: an object of the device is refused and stays as it is. */
import { expect, test } from "vitest";
import { createDevice } from "../../../src/index.js";
import * as v from "../../../src/verbs/index.js";

test("an object of the device is no struct to fill", async () => {
  const context = v.ibv_open_device(await createDevice());
  const pd = v.ibv_alloc_pd(context);
  const cq = v.ibv_create_cq(context, 4);
  const before = Object.entries(cq);
  expect(() => v.ibv_query_device(context, cq as Parameters<typeof v.ibv_query_device>[1])).toThrow(
    /^ibv_query_device: device_attr must be an object of the program/,
  );
  expect(Object.entries(cq)).toEqual(before);
  expect(pd.users).toBe(0);
});
