/** Every allocation in the core fails once, in every call. */
import { beforeAll, expect, test } from "vitest";
import debug from "../../build/debug/core.wasm";
import type { Device } from "../../src/index.js";
import * as dv from "../../src/mlx5dv/index.js";
import * as v from "../../src/verbs/index.js";
import { everyCall as everyMlx5dvCall } from "../mlx5dv/support/everyCall.js";
import type { Calls } from "../support/everyCall.js";
import { everyCall as everyVerbsCall } from "../verbs/support/everyCall.js";
import { failEveryAllocation, type World } from "./support/everyAllocation.js";
import { faultyCore } from "./support/faultyCore.js";
import { flowCalls, queueCalls, ruleCalls } from "./support/freshCalls.js";

let core: Uint8Array;

beforeAll(() => {
  core = faultyCore(debug);
});

function worldOf(facade: object, calls: Calls, device: Device): World {
  const run = (name: string): ((...args: unknown[]) => unknown) => (facade as Record<string, never>)[name] as never;
  return {
    device,
    calls: Object.entries(calls).map(([name, args]) => ({ name, args, run: () => run(name)(...args) })),
  };
}

/** Fails allocations of calls, and says how many were refused. */
async function fail(open: () => Promise<World>): Promise<number> {
  const failures = await failEveryAllocation(open);
  const met = [...failures].filter(([, { refused, without }]) => refused + without > 0);
  console.log(met.map(([name, { refused, without }]) => `${name}: refused ${refused}, without ${without}`).join("\n"));
  return met.reduce((sum, [, { refused }]) => sum + refused, 0);
}

test("every function of the verbs", async () => {
  const refused = await fail(async () => {
    const calls = await everyVerbsCall({ core });
    return worldOf(v, calls, calls["ibv_get_device_name"]![0] as Device);
  });
  expect(refused).toBeGreaterThan(20);
});

test("every function of mlx5dv", async () => {
  const refused = await fail(async () => {
    const calls = await everyMlx5dvCall({ core });
    return worldOf(dv, calls, calls["mlx5dv_is_supported"]![0] as Device);
  });
  expect(refused).toBeGreaterThan(20);
});

test.each(Object.entries({ flowCalls, ruleCalls, queueCalls }))("on a new device: %s", async (_, open) => {
  expect(await fail(() => open({ core }))).toBeGreaterThan(10);
});
