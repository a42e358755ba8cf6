/** The flow cache of a device: its option, its counts, and `clear`. */
import { expect, test } from "vitest";
import { createDevice, createSink, SteeringError, type DeviceOptions } from "../../../src/index.js";
import { ibv_open_device } from "../../../src/verbs/index.js";
import * as verbs from "../../../src/verbs/index.js";

const FRAME = Uint8Array.from([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, ...new Uint8Array(50)]);

test("what a device has if nothing is said, and none", async () => {
  const { cache } = await createDevice();
  expect(cache).toMatchObject({ entries: 65_536, hits: 0n, misses: 0n, paused: false });
  for (const none of [false, 0, { entries: 0 }] as const) {
    const device = await createDevice({ cache: none });
    expect(device.cache).toMatchObject({ entries: 0, paused: false });
    device.receiveBatch(1, [FRAME, FRAME]);
    expect([device.cache.hits, device.cache.misses]).toEqual([0n, 0n]);
  }
});

test("frames that are found, and that it forgets", async () => {
  const device = await createDevice({ cache: { entries: 64 } });
  const sink = createSink(ibv_open_device(device), "sink");
  verbs.ibv_create_flow(sink, { type: verbs.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, priority: 0, flags: 0, specs: [] });
  const receive = (): void => expect(device.receive(1, FRAME).verdict).toBe("deliver");
  receive();
  receive();
  receive();
  expect(device.cache).toMatchObject({ entries: 64, hits: 2n, misses: 1n, paused: false });
  device.cache.clear();
  receive();
  receive();
  expect(device.cache).toMatchObject({ hits: 3n, misses: 2n });
});

test.each([
  [{ entries: 3 }, "cache.entries"],
  [{ entries: 2 ** 21 }, "cache.entries"],
  [{ entries: -1 }, "cache.entries"],
  [{ entries: 1.5 }, "cache.entries"],
] as const)("%j is refused", async (cache, path) => {
  const refused = await createDevice({ cache }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(SteeringError);
  expect(refused).toMatchObject({ code: "EINVAL", call: "createDevice", path });
});

test.each([true, 4, "yes", null, { entries: "4" }])("%j is a TypeError", async (cache) => {
  await expect(createDevice({ cache } as unknown as DeviceOptions)).rejects.toBeInstanceOf(TypeError);
});
