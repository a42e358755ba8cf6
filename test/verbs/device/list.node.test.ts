/** The list of the process's devices. */
import v8 from "node:v8";
import vm from "node:vm";
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, createDevicePool, type Device } from "../../../src/index.js";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";

/** Index of a device before those of the test: tests of other files leave devices open. */
let before: number;

beforeEach(async () => {
  const device = await createDevice();
  before = device.index;
  device.close();
});

const own = (list = v.ibv_get_device_list()): Device[] => list.filter(({ index }) => index > before);

describe("the list", () => {
  test("has the devices that are not closed, in the order of their creation", async () => {
    const first = await createDevice({ name: "same" });
    const second = await createDevice({ name: "same", vports: 1 });
    const pool = await createDevicePool({ workers: 1, name: "pool" });
    const count = new Int32Array(1);
    const list = v.ibv_get_device_list(count);
    expect([own(list), count[0]]).toEqual([[first, second, pool], list.length]);
    expect(own(list).map(v.ibv_get_device_name)).toEqual(["same", "same", "pool"]);
    first.close();
    expect(own()).toEqual([second, pool]);
    // A list does not change.
    expect(own(list)).toHaveLength(3);
    pool.close();
  });

  test("leads to contexts and attributes", async () => {
    await createDevice({ name: "mlx5_0", vports: 1 });
    const [entry] = own() as [Device];
    const context = v.ibv_open_device(entry);
    expect(v.ibv_get_device_guid(entry)).toBe(v.ibv_query_device(context).node_guid);
    expect(v.ibv_get_device_guid(entry.function(1))).toBe(v.ibv_get_device_guid(entry));
    expect(v.ibv_get_device_name(entry.function(1))).toBe("mlx5_0/vf1");
    const other = await createDevice();
    expect(v.ibv_get_device_index(other)).toBe(v.ibv_get_device_index(entry) + 1);
    expect(v.ibv_get_device_index(entry.function(1))).toBe(v.ibv_get_device_index(entry));
    v.ibv_close_device(context);
    entry.close();
    const third = await createDevice();
    expect(v.ibv_get_device_index(third)).toBe(v.ibv_get_device_index(other) + 1);
    for (const call of [v.ibv_get_device_name, v.ibv_get_device_guid, v.ibv_get_device_index]) {
      expect(() => call(context as never)).toThrow("device must be a Device or a DeviceFunction, not Context");
    }
  });

  test("is freed once", async () => {
    const device = await createDevice();
    const count: number[] = [];
    const list = v.ibv_get_device_list(count);
    expect(count).toEqual([list.length]);
    v.ibv_free_device_list(list);
    expect(list).toEqual([]);
    expect(refused(() => v.ibv_free_device_list(list))).toMatchObject({ code: "EINVAL", reason: "object_destroyed" });
    expect(refused(() => v.ibv_free_device_list([device]))).toMatchObject({ code: "EINVAL", reason: "bad_object" });
    expect(() => v.ibv_free_device_list(null as never)).toThrow(TypeError);
    expect(() => v.ibv_get_device_list(1 as never)).toThrow(TypeError);
    expect(own()).toEqual([device]);
  });

  test("keeps no device alive that nothing else refers to", async () => {
    v8.setFlagsFromString("--expose-gc");
    const collect = vm.runInNewContext("gc") as () => void;
    const references: WeakRef<Device>[] = [];
    for (let i = 0; i < 5; i++) references.push(new WeakRef(await createDevice()));
    expect(own()).toHaveLength(5);
    for (let i = 0; i < 20 && references.some((one) => one.deref() !== undefined); i++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      collect();
    }
    expect(own()).toEqual([]);
  });

  test("keeps few alive in a loop that awaits nothing but new devices", async () => {
    v8.setFlagsFromString("--expose-gc");
    const collect = vm.runInNewContext("gc") as () => void;
    let collected = 0;
    const registry = new FinalizationRegistry(() => collected++);
    for (let i = 0; i < 200; i++) registry.register(await createDevice(), undefined);
    // In the task of the loop: what it keeps alive survives this collection.
    collect();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(collected).toBeGreaterThan(150);
  });
});
