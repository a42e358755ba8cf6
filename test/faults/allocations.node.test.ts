/** Every allocation fails once, in every call: those in the core, and those of the host. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import debug from "../../build/debug/core.wasm";
import type { Device, DeviceOptions } from "../../src/index.js";
import * as dv from "../../src/mlx5dv/index.js";
import * as v from "../../src/verbs/index.js";
import { everyCall as everyMlx5dvCall } from "../mlx5dv/support/everyCall.js";
import type { Calls } from "../support/everyCall.js";
import { everyCall as everyVerbsCall } from "../verbs/support/everyCall.js";
import { failEveryAllocation, type Faults, type World } from "./support/everyAllocation.js";
import { Countdown, faultyCore } from "./support/faultyCore.js";
import { entryCalls, flowCalls, queueCalls, ruleCalls } from "./support/freshCalls.js";
import { HostMemory } from "./support/hostMemory.js";

const WORLDS: Readonly<Record<string, (options: DeviceOptions) => Promise<World>>> = {
  "every function of the verbs": async (options) => {
    const calls = await everyVerbsCall(options);
    return worldOf(v, calls, calls["ibv_get_device_name"]![0] as Device);
  },
  "every function of mlx5dv": async (options) => {
    const calls = await everyMlx5dvCall(options);
    return worldOf(dv, calls, calls["mlx5dv_is_supported"]![0] as Device);
  },
  "flows of a new device": flowCalls,
  "rules of a new device": ruleCalls,
  "rules of one entry": entryCalls,
  "queues of a new device": queueCalls,
};
const NAMES = Object.keys(WORLDS);

function worldOf(facade: object, calls: Calls, device: Device): World {
  const run = (name: string): ((...args: unknown[]) => unknown) => (facade as Record<string, never>)[name] as never;
  return {
    device,
    calls: Object.entries(calls).map(([name, args]) => ({ name, args, run: () => run(name)(...args) })),
  };
}

/** Fails allocations of calls. @returns how many calls were refused */
async function fail(name: string, options: DeviceOptions, faultsOf: (device: Device) => Faults): Promise<number> {
  const failures = await failEveryAllocation(() => WORLDS[name]!(options), faultsOf);
  console.log(
    [...failures].map(([call, { refused, without }]) => `${call}: refused ${refused}, without ${without}`).join("\n"),
  );
  return [...failures.values()].reduce((sum, { refused }) => sum + refused, 0);
}

test.each(NAMES)("in the core: %s", async (name) => {
  expect(await fail(name, { core: faultyCore(debug) }, (device) => new Countdown(device))).toBeGreaterThan(10);
});

describe("of the host", () => {
  let memory: HostMemory;

  beforeAll(() => {
    memory = new HostMemory();
  });

  afterAll(() => {
    memory.close();
  });

  test.each(NAMES)("%s", async (name) => {
    expect(await fail(name, {}, () => memory)).toBeGreaterThan(10);
  });
});
