/** Tests the sources that the core can be loaded from: each kind gives a device that steers. */
import { expect, test } from "vitest";
import debug from "../../build/debug/core.wasm";
import core from "../../build/release/core.wasm";
import { MAX_FUNCTIONS } from "../../src/abi/engine.js";
import { loadCore } from "../../src/engine/load.js";
import { createDevice, createDeviceSync, type CoreSource } from "../../src/index.js";

/** An address without content. */
const EMPTY = "data:application/wasm;base64,";

test.each<[string, () => CoreSource | Promise<CoreSource>]>([
  ["bytes", () => core],
  ["a buffer", () => core.slice().buffer],
  ["a response", () => new Response(core.slice(), { headers: { "content-type": "application/wasm" } })],
  ["a compiled module", () => WebAssembly.compile(core.slice())],
])("a device runs on a core that is %s", async (_name, source) => {
  const device = await createDevice({ core: await source() });
  expect(device.receive(1, new Uint8Array(60)).verdict).toBe("miss");
});

test("a device is made at once where the core is at hand", async () => {
  const module = await WebAssembly.compile(core.slice());
  for (const source of [module, core, core.slice().buffer]) {
    const device = createDeviceSync({ name: "second", core: source });
    expect([device.name, device.receive(1, new Uint8Array(60)).verdict]).toEqual(["second", "miss"]);
  }
  await createDevice();
  expect(createDeviceSync({ ports: 2 }).ports).toBe(2);
  expect(() => createDeviceSync({ ports: 0, core })).toThrow(expect.objectContaining({ path: "ports" }));
});

test("a core that has to be fetched first is refused", () => {
  const refused = expect.objectContaining({ code: "EINVAL", reason: "not_loaded", path: "core" }) as Error;
  expect(() => createDeviceSync({ core: EMPTY })).toThrow(refused);
  expect(() => createDeviceSync({ core: new Response(core.slice()) })).toThrow(refused);
  expect(() => createDeviceSync({ core: 5 as never })).toThrow(TypeError);
});

test("an address without a core is tried again by the next device", async () => {
  await expect(createDevice({ core: EMPTY })).rejects.toThrow(WebAssembly.CompileError);
  await expect(createDevice({ core: new URL(EMPTY) })).rejects.toThrow(WebAssembly.CompileError);
});

test("what is no source of a core is a TypeError", async () => {
  await expect(createDevice({ core: 5 as never })).rejects.toThrow(TypeError);
  await expect(createDevice({ core: null as never })).rejects.toThrow(TypeError);
});

test("a failed assertion of a debug core throws its message, file and line", async () => {
  const { exports } = await loadCore(debug);
  expect(() => exports.setVport(MAX_FUNCTIONS, 0)).toThrow(
    /^abort: vport number out of range at assembly\/.*eswitch\.ts:\d+:\d+$/,
  );
});
