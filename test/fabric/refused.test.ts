/** What a fabric refuses, with the place; a refused call changes nothing. */
import { expect, test } from "vitest";
import { numbers } from "../../bench/random.js";
import { createFabric, fabricAttachmentsOf, restoreFabric, type FabricOptions } from "../../src/fabric/index.js";
import { createDevice, createSink, SteeringError } from "../../src/index.js";
import { pack, unpack, type Pieces } from "../../src/snapshot/container.js";
import { restoreDevice, snapshotOf } from "../../src/snapshot/index.js";
import { IBV_QPT_UD, ibv_alloc_pd, ibv_create_cq, ibv_create_qp, ibv_open_device } from "../../src/verbs/index.js";
import { refused } from "../mlx5dv/support/directRules.js";
import { rounds, setting } from "../support/tier.js";

const SEED = Number(setting("FLOWSTEER_SEED") ?? Date.now() % 2 ** 31);

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
  [{ links: [{ from: "b", to: "a:x" }] }, { reason: "out_of_range", path: "links[0].to", value: "a:x" }],
  [{ links: [{ from: "a:1:2", to: "b" }] }, { reason: "out_of_range", path: "links[0].from", value: "a:1" }],
  [
    { nodes: [{ name: "a" }, { name: "b" }], links: [{ from: "b", to: "a:2" }] },
    { reason: "out_of_range", path: "links[0].to" },
  ],
  [{ links: [{ from: "a", to: "b", latency: 5n }] }, { reason: "unknown_option", path: "links[0].latency" }],
  [{ links: [{ from: "a", to: "b", ecn: 4 }] }, { reason: "option_missing", path: "links[0].ecn" }],
  [{ links: [{ from: "a", to: "b", queue: 4 }] }, { reason: "option_missing", path: "links[0].queue" }],
  [{ links: [{ from: "a", to: "b", reorder: 0.1 }] }, { reason: "option_missing", path: "links[0].reorder" }],
  [{ links: [{ from: "a", to: "b", ecn: 0, rate: 1 }] }, { reason: "out_of_range", path: "links[0].ecn" }],
  [
    { nodes: [{ name: "a" }, { name: "a" }] },
    { reason: "duplicate_name", path: "nodes[1].name", call: "createFabric" },
  ],
  [
    { nodes: [{ name: "leaf0" }, { name: "h1" }], links: [{ from: "leef0", to: "h1" }] },
    { reason: "unknown_name", path: "links[0].from", hint: 'did you mean "leaf0"? devices: leaf0, h1' },
  ],
  [{ nodes: [], links: [{ from: "a", to: "b" }] }, { hint: "there are no devices" }],
  [{ links: [{ from: "a", to: "a:1" }] }, { reason: "bad_object", path: "links[0].to" }],
  [{ nodes: [{ name: "a" }, { name: "b" }], links: [{ from: "a", to: "b:2" }] }, { hint: "only 1" }],
  [{ links: [{ from: "a", to: "b", ecm: 5 }] }, { hint: expect.stringMatching(/^did you mean "ecn".*capture$/) }],
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
  expect(await message({ nodes: [{}] })).toContain("nodes[0].name must be a string, not undefined");
  expect(await message({ nodes: [{ name: "a" }], make: () => 5 })).toContain("make(a) must be a Device");
});

test("a refused fabric leaves its devices as they were", async () => {
  const devices = [await createDevice({ name: "a", ports: 2 }), await createDevice({ name: "b", ports: 2 })] as const;
  devices[0].connect(2, devices[1], 2, { delay: 5n });
  await errorOf({
    devices,
    links: [
      { from: "a", to: "b" },
      { from: "a", to: "b" },
    ],
  });
  for (const device of devices) {
    device.advance(5n);
    expect(device.hardware.ports.map(({ cable }) => cable !== null)).toEqual([false, true]);
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

test("a device that is removed goes on alone, and can come back", async () => {
  const fabric = await createFabric({ links: [{ from: "a", to: "b", delay: 5n }] });
  const b = fabric.device("b");
  fabric.advance(50n);
  fabric.device("a").send(createSink(ibv_open_device(fabric.device("a")), "out"), new Uint8Array(60));
  fabric.remove("b");
  expect(refused(() => fabric.remove("b"))).toMatchObject({ reason: "unknown_name", path: "name" });
  expect([fabric.nextDeadline(), b.nextDeadline(), b.now()]).toEqual([null, 55n, 50n]);
  expect(refused(() => fabric.snapshot())).toBeUndefined();
  fabric.add(b);
  expect(fabric.run()).toBe(55n);
  expect(fabric.cables()[0]?.forth.arrived).toBe(1);
});

test("what runs now cannot move the clock", async () => {
  const fabric = await createFabric({
    nodes: [{ name: "a", ports: 2 }, { name: "b" }],
    links: [{ from: "a", to: "b", delay: 5n }],
  });
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
  expect(refused(() => fabric.add(fabric.device("leaf0")))).toMatchObject({ call: "fabric.add", path: "device.name" });
  expect(refused(() => fabric.device("leef0"))?.hint).toContain('did you mean "leaf0"');
  expect(refused(() => fabric.connect({ from: "leaf0", to: "leaf9" }))).toMatchObject({
    path: "to",
    call: "fabric.connect",
  });
  expect(refused(() => fabric.disconnect("leaf0:2"))).toMatchObject({ path: "port" });
  expect(refused(() => fabric.capture("leaf0", () => undefined))).toMatchObject({ reason: "bad_object", path: "port" });
});

/** A snapshot with other parts, and checksums that fit them. */
function forged(bytes: Uint8Array, change: (parts: Record<string, Uint8Array>) => void): Uint8Array {
  const parts = Object.fromEntries(Object.entries(unpack(bytes)).map(([name, part]) => [name, part.slice()]));
  change(parts);
  return pack(Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, [part]])) as unknown as Pieces);
}

function described(parts: Record<string, Uint8Array>, change: (description: Described) => void): void {
  const description = JSON.parse(new TextDecoder().decode(parts["device"])) as Described;
  change(description);
  parts["device"] = new TextEncoder().encode(JSON.stringify(description));
}
type Described = Record<string, unknown> & {
  devices: Record<string, unknown>[];
  names: { count: unknown; shapes: string[][]; strings: string[] };
  buffers: number[];
};

test("forged snapshots are refused", async () => {
  const fabric = await createFabric({ links: [{ from: "a", to: "b", delay: 5n }] });
  fabric.device("a").send(createSink(ibv_open_device(fabric.device("a")), "out"), new Uint8Array(60));
  const bytes = fabric.snapshot();
  const changes: ((parts: Record<string, Uint8Array>) => void)[] = [
    (parts) => described(parts, (all) => (all.names.count = 2 ** 50)),
    (parts) => described(parts, (all) => (all.names.count = 3)),
    (parts) => described(parts, (all) => (all.names.count = "all")),
    (parts) => described(parts, (all) => all.names.shapes.push(["__proto__"])),
    (parts) => described(parts, (all) => all.names.shapes.splice(2)),
    (parts) => described(parts, (all) => all.buffers.push(1, -1)),
    (parts) => described(parts, (all) => all.buffers.push(2 ** 40)),
    (parts) => described(parts, (all) => (all.devices = Array.from({ length: 1e4 }, () => all.devices[0]!))),
    (parts) => described(parts, (all) => all.devices.pop()),
    (parts) => described(parts, (all) => (all["devices"] = 5 as never)),
    (parts) => described(parts, (all) => (all.devices[0]!["attach"] = "port:1")),
    (parts) => described(parts, (all) => (all.devices[0]!["options"] = { ports: "many" })),
    (parts) => described(parts, (all) => (all["fabric"] = { time: "soon", seed: 0, connected: 1 })),
    (parts) => described(parts, (all) => (all["fabric"] = { time: "7", seed: 0, connected: 1 })),
    (parts) => (parts["device"] = new TextEncoder().encode("null")),
    (parts) => (parts["objects"] = parts["objects"]!.subarray(0, 40)),
    (parts) => (parts["values"] = parts["values"]!.subarray(0, 400)),
    (parts) => (parts["values"] = new Uint8Array(1e6).fill(0xff)),
    (parts) => (parts["tables"] = new Uint8Array(1000).fill(1)),
    (parts) => (parts["memory"] = new Uint8Array(16)),
    (parts) => new DataView(parts["memory"]!.buffer, parts["memory"]!.byteOffset).setUint32(4, 0xffffffff, true),
  ];
  for (const [i, change] of changes.entries()) {
    const error = await restoreFabric(forged(bytes, change)).then(
      () => expect.fail(`change ${i} was not refused`),
      (error: unknown) => error as SteeringError,
    );
    expect(error, `change ${i}: ${error.message}`).toMatchObject({ code: "EINVAL", call: "restoreFabric" });
  }
  // What is not changed is restored.
  expect((await restoreFabric(forged(bytes, () => undefined))).fabric.cables()[0]?.forth.underWay).toBe(1);
});

test(
  `random changes of a snapshot are refused or restored, and end (FLOWSTEER_SEED=${SEED})`,
  { timeout: 1e7 },
  async () => {
    const fabric = await createFabric({ links: [{ from: "a", to: "b", delay: 5n }] });
    const bytes = fabric.snapshot({
      keep: { fabric: [...fabric.devices], list: [1n, "two", new Map([[3, new Set([4])]])] },
    });
    const random = numbers(SEED);
    let refusals = 0;
    for (let round = 0; round < rounds(1200, "FLOWSTEER_FORGED"); round++) {
      const damaged = forged(bytes, (parts) => {
        for (let left = 1 + (random() % 3); left > 0; left--) {
          const name = ["objects", "values", "values", "tables", "device"][random() % 5]!;
          const part = parts[name]!;
          part[random() % part.length] = random() & 0xff;
        }
      });
      const error = await restoreFabric(damaged).then(
        () => null,
        (error: unknown) => error,
      );
      if (error === null) continue;
      expect(error, `round ${round}`).toBeInstanceOf(SteeringError);
      expect((error as SteeringError).code).toMatch(/EINVAL|ENOMEM/);
      refusals++;
    }
    expect(refusals).toBeGreaterThan(0);
  },
);

test("snapshots of devices and of fabrics are not mixed up", async () => {
  const fabric = await createFabric({ nodes: [{ name: "a" }] });
  const error = (run: Promise<unknown>): Promise<unknown> => run.catch((error: unknown) => error);
  expect(await error(restoreDevice(fabric.snapshot()))).toMatchObject({
    reason: "bad_snapshot",
    hint: "it is of a fabric: restoreFabric restores it",
  });
  expect(await error(restoreFabric(snapshotOf(fabric.device("a"))))).toMatchObject({
    hint: "it is of a device: restoreDevice restores it",
  });
});

test("ports that lead outside of a fabric are attached by their names", async () => {
  const fabric = await createFabric({
    nodes: [{ name: "a", ports: 2 }, { name: "b" }],
    links: [{ from: "a", to: "b" }],
  });
  fabric.device("a").connect(2, () => undefined, { delays: true });
  const bytes = fabric.snapshot();
  expect(fabricAttachmentsOf(bytes)).toEqual(["a:2"]);
  const missing = await restoreFabric(bytes).catch((error: unknown) => error);
  expect(missing).toMatchObject({ reason: "not_saved", path: "attach.a:2" });
  const { fabric: copy } = await restoreFabric(bytes, { attach: { "a:2": () => undefined } });
  expect(copy.device("a").hardware.ports[1]?.cable).toMatchObject({ delays: true });
});

test("what no snapshot holds is named with its device", async () => {
  const fabric = await createFabric({ nodes: [{ name: "a" }, { name: "b" }] });
  const context = ibv_open_device(fabric.device("b"));
  const cq = ibv_create_cq(context, 4, { call: () => 1 });
  ibv_create_qp(ibv_alloc_pd(context), { qp_type: IBV_QPT_UD, send_cq: cq, recv_cq: cq, cap: {} });
  const refusal = refused(() => fabric.snapshot());
  expect(refusal).toMatchObject({ reason: "not_saved", call: "fabric.snapshot" });
  expect(refusal?.path).toMatch(/^b\..*cq_context\.call$/);
});
