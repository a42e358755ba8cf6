/** What a fabric refuses, with the place; a refused call changes nothing. */
import { expect, test } from "vitest";
import { createFabric, type FabricOptions } from "../../src/fabric/index.js";
import { createDevice, createSink, type SteeringError } from "../../src/index.js";
import { ibv_open_device } from "../../src/verbs/index.js";
import { refused } from "../mlx5dv/support/directRules.js";

async function errorOf(options: FabricOptions): Promise<SteeringError> {
  return createFabric(options).then(
    () => expect.fail("it was not refused"),
    (error: unknown) => error as SteeringError,
  );
}

test.each([
  [{ cables: [] }, { reason: "unknown_option", path: "cables" }],
  [{ seed: 0.5 }, { reason: "out_of_range", path: "seed" }],
  [
    {
      links: [
        { from: "a", to: "b" },
        { from: "c", to: "b:1" },
      ],
    },
    { code: "EBUSY", path: "links[1].to" },
  ],
  [{ links: [{ from: "a:0", to: "b" }] }, { reason: "out_of_range", path: "links[0].from" }],
  [
    { nodes: [{ name: "a" }], links: [{ from: "b", to: "a:2" }] },
    { reason: "out_of_range", path: "links[0].to" },
  ],
  [{ links: [{ from: "a", to: "b", latency: 5n }] }, { reason: "unknown_option", path: "links[0].latency" }],
  [{ nodes: [{ name: "a" }, { name: "a" }] }, { reason: "duplicate_name", path: "device.name" }],
  [{ nodes: [{ name: "a", colour: "red" }] }, { reason: "unknown_option", path: "nodes[0].colour" }],
  [{ links: [{ from: "a", to: "b", capture: "/no/such/folder/a.pcapng" }] }, { path: "links[0].capture" }],
])("the options of case %# are refused at their place", async (options, refusal) => {
  expect(await errorOf(options as FabricOptions)).toMatchObject({ code: "EINVAL", ...refusal });
});

test("wrong types name the place", async () => {
  const message = async (options: unknown): Promise<string> => (await errorOf(options as FabricOptions)).message;
  expect(await message({ links: [5] })).toContain("createFabric: links[0] must be an object");
  expect(await message({ links: [{ to: "b" }] })).toContain("links[0].from must be a port, as leaf0:3");
  expect(await message({ links: [{ from: "a", to: "b", delay: 5 }] })).toContain("links[0].delay must be nanoseconds");
  expect(await message({ devices: [{}] })).toContain("devices[0] must be a Device");
  expect(await message({ nodes: [{ name: "a" }], make: () => 5 })).toContain("make(a) must be a Device");
});

test("a refused fabric leaves its devices as they were", async () => {
  const devices = [await createDevice({ name: "a" }), await createDevice({ name: "b" })] as const;
  await errorOf({
    devices,
    links: [
      { from: "a", to: "b" },
      { from: "a", to: "c" },
    ],
  });
  for (const device of devices) {
    device.advance(5n);
    expect(device.hardware.ports[0]?.cable).toBeNull();
  }
});

test("a device of a fabric has no other clock", async () => {
  const own = await createDevice({ name: "own", now: () => 0n });
  expect(await errorOf({ devices: [own] })).toMatchObject({ reason: "own_clock", path: "device" });
  const fabric = await createFabric({ nodes: [{ name: "a" }] });
  fabric.advance(50n);
  const a = fabric.device("a");
  expect(a.now()).toBe(50n);
  expect(refused(() => a.advance(5n))).toMatchObject({ reason: "own_clock" });
  expect(refused(() => a.advanceTo(60n))?.hint).toContain("call advance or advanceTo of the fabric");
  expect(await errorOf({ devices: [a] })).toMatchObject({ code: "EBUSY", path: "device" });
  const ahead = await createDevice({ name: "ahead" });
  ahead.advance(60n);
  expect(refused(() => fabric.add(ahead))).toMatchObject({ reason: "time_back", path: "device" });
  expect(refused(() => fabric.advanceTo(49n))).toMatchObject({ reason: "time_back", path: "time" });
  fabric.close();
  a.advance(5n);
  expect(a.now()).toBe(55n);
});

test("what runs now cannot move the clock", async () => {
  const fabric = await createFabric({ nodes: [{ name: "a", ports: 2 }], links: [{ from: "a", to: "b", delay: 5n }] });
  const queue = createSink(ibv_open_device(fabric.device("b")), "out");
  const errors: unknown[] = [];
  fabric.device("a").on("frame", () => errors.push(refused(() => fabric.run())));
  fabric.device("b").send(queue, new Uint8Array(60));
  fabric.run();
  expect(errors).toMatchObject([{ code: "EBUSY", call: "fabric.run", path: "fabric" }]);
  expect(fabric.now()).toBe(5n);
});

test("names are looked up", async () => {
  const fabric = await createFabric({ nodes: [{ name: "leaf0" }] });
  expect(refused(() => fabric.device("leef0"))?.hint).toContain('did you mean "leaf0"');
  expect(refused(() => fabric.connect({ from: "leaf0", to: "leaf9" }))).toMatchObject({
    path: "to",
    call: "fabric.connect",
  });
  expect(refused(() => fabric.disconnect("leaf0:2"))).toMatchObject({ path: "port" });
  expect(refused(() => fabric.capture("leaf0", () => undefined))).toMatchObject({ reason: "bad_object", path: "port" });
});
