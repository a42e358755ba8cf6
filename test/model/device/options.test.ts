/**
 * Options of `createDevice` and `createDevicePool`: an unknown option or a wrong type is refused by
 * name.
 */
import { describe, expect, test } from "vitest";
import {
  createDevice,
  createDevicePool,
  SteeringError,
  type DeviceOptions,
  type PoolOptions,
} from "../../../src/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";

async function failure(options: unknown): Promise<Error> {
  return createDevice(options as DeviceOptions).then(
    () => expect.fail("nothing was refused"),
    (error: unknown) => error as Error,
  );
}

describe("what is no option", () => {
  test.each([
    [
      { port: 2 },
      "port",
      'createDevice: port = 2: no option has this name (EINVAL); did you mean "ports"? options: name,',
    ],
    [
      { limits: { memry: 4 } },
      "limits.memry",
      'limits.memry = 4: no option has this name (EINVAL); did you mean "memory"?',
    ],
    [{ cache: { entry: 4 } }, "cache.entry", "cache.entry = 4: no option has this name (EINVAL); options: entries"],
    [{ parser: { sample: 1 } }, "parser.sample", 'did you mean "samples"? options: geneveOption0, samples'],
    [
      { parser: { geneveOption0: { class: 1, type: 2, kind: 3 } } },
      "parser.geneveOption0.kind",
      "parser.geneveOption0.kind = 3: no option has this name (EINVAL); options: class, type",
    ],
    [
      { parser: { samples: [{ id: 0, header: "payload", ofset: 0 }] } },
      "parser.samples[0].ofset",
      'parser.samples[0].ofset = 0: no option has this name (EINVAL); did you mean "offset"?',
    ],
    [{ toString: 1 }, "toString", "createDevice: toString = 1: no option has this name"],
    [{ workers: 2 }, "workers", "createDevice: workers = 2: no option has this name"],
  ])("%o", async (options, path, text) => {
    const error = await failure(options);
    expect(error).toBeInstanceOf(SteeringError);
    expect(error).toMatchObject({ code: "EINVAL", errno: 22, reason: "unknown_option", path });
    expect(error.message).toContain(text);
  });

  test("createDevicePool names itself", async () => {
    const options = { worker: 2 } as PoolOptions;
    await expect(createDevicePool(options)).rejects.toThrow(
      'createDevicePool: worker = 2: no option has this name (EINVAL); did you mean "workers"?',
    );
  });
});

describe("an option of the wrong type", () => {
  test.each([
    [5, "createDevice: options must be an object, not number"],
    [[], "createDevice: options must be an object, not Array"],
    [{ ports: "2" }, "createDevice: ports must be a number, not string"],
    [{ vports: 1n }, "createDevice: vports must be a number, not bigint"],
    [{ name: 7 }, "createDevice: name must be a string, not number"],
    [{ profile: null }, "createDevice: profile must be a string, not null"],
    [{ seed: 1n }, "createDevice: seed must be a number, not bigint"],
    [{ now: 5 }, "createDevice: now must be a function, not number"],
    [{ now: () => 5 }, "createDevice: now must return nanoseconds as a bigint, not number"],
    [{ now: () => -1n }, "createDevice: now() = -1: outside the range"],
    [{ asyncRules: 1 }, "createDevice: asyncRules must be a boolean, not number"],
    [{ copyFrames: 1 }, "createDevice: copyFrames must be a boolean, not number"],
    [{ managedFlowSteering: "no" }, "createDevice: managedFlowSteering must be a boolean, not string"],
    [{ limits: 5 }, "createDevice: limits must be an object, not number"],
    [{ limits: { max_qp: "1" } }, "createDevice: limits.max_qp must be a number, not string"],
    [{ cache: true }, "createDevice: cache must be an object, false or 0, not boolean"],
    [{ cache: { entries: "8" } }, "createDevice: cache.entries must be a number, not string"],
    [{ parser: [] }, "createDevice: parser must be an object, not Array"],
    [{ parser: { samples: {} } }, "createDevice: parser.samples must be an array, not Object"],
    [{ parser: { samples: [{ level: 1 }] } }, "createDevice: parser.samples[0].level must be a string, not number"],
    [{ macs: "02:00:00:00:00:01" }, "createDevice: macs must be an array, not string"],
  ])("%o", async (options, text) => {
    expect((await failure(options)).message).toContain(text);
  });
});

test("an option that is undefined counts as left out", async () => {
  const options = { ports: undefined, port: undefined } as unknown as DeviceOptions;
  expect((await createDevice(options)).ports).toBe(1);
});

test("the virtual clock moves forward, by nanoseconds as a bigint", async () => {
  const device = await createDevice();
  device.advance(5n);
  expect(refused(() => device.advance(-1n))?.message).toBe(
    "device.advance: nanoseconds = -1: outside the range that the field can hold (EINVAL); nanoseconds, 0 to 2^64 - 1",
  );
  expect(refused(() => device.advance(2n ** 64n - 1n))?.path).toBe("clock");
  expect(() => device.advance(5 as unknown as bigint)).toThrow(
    new TypeError("device.advance: nanoseconds must be a bigint, not number"),
  );
  expect(device.now()).toBe(5n);
});
