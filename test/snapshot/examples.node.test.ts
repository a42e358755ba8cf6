/**
 * Snapshots of the devices of all examples, in the middle of their frames: the restored device and the
 * first one go on alike, in every outcome, counter and field.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createDevice } from "../../src/index.js";
import { loadScenario, parseScenario } from "../../src/scenario/index.js";
import { cloneDevice, restoreDevice, snapshotOf } from "../../src/snapshot/index.js";
import { sameState, text } from "./support/same.js";

const EXAMPLES = new URL("../../examples/", import.meta.url);
const NAMES = readdirSync(EXAMPLES).filter((name) => name.endsWith(".json"));

describe("examples", () => {
  test.each(NAMES)("%s", async (name) => {
    const loaded = await loadScenario(parseScenario(readFileSync(new URL(name, EXAMPLES), "utf8")));
    const { device, frames } = loaded;
    const coming = frames.filter(({ send }) => send === undefined);
    const half = Math.ceil(coming.length / 2);
    for (const { port = 1, bytes, time = null } of coming.slice(0, half)) device.receive(port, bytes, { time });
    const { device: copy } = await cloneDevice(device);
    sameState(device, copy);
    for (const { port = 1, bytes, time = null } of coming) {
      expect(text(copy.receive(port, bytes, { time }))).toBe(text(device.receive(port, bytes, { time })));
    }
    sameState(device, copy);
  });
});

test("restores a device of a Buffer of Node.js", async () => {
  const device = await createDevice({ countHits: true });
  const half = { value: 0.5, bytes: new Uint8Array([1, 2, 3]) };
  const bytes = Buffer.from(snapshotOf(device, { keep: half }));
  const { kept } = await restoreDevice(bytes);
  expect(kept).toEqual(half);
});
