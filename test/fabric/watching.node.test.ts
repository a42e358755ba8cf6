/** Captures of cables, metrics of a whole fabric, and steps. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFabric, restoreFabric, type Fabric } from "../../src/fabric/index.js";
import { CaptureDecoder, createSink } from "../../src/index.js";
import { ibv_open_device } from "../../src/verbs/index.js";

const LINK = { from: "a", to: "b:2", delay: 50n, rate: 1e9, queue: 2 };

function sendFrom(fabric: Fabric, name: string, ...lengths: number[]): void {
  const queue = createSink(ibv_open_device(fabric.device(name)), "out", fabric.device(name).ports);
  for (const length of lengths) fabric.device(name).send(queue, new Uint8Array(length).fill(length));
}

interface Record {
  readonly by: string | null | undefined;
  readonly time: bigint | null;
  readonly length: number;
}

function read(bytes: Uint8Array): Record[] {
  const decoder = new CaptureDecoder();
  const frames = decoder.push(bytes);
  return frames.map(({ time, bytes, interfaceId }) => ({
    by: decoder.interfaces[interfaceId]?.name,
    time,
    length: bytes.length,
  }));
}

test("a capture has what both ports give to the cable, with their times", async () => {
  const folder = mkdtempSync(join(tmpdir(), "flowsteer-capture-"));
  try {
    const file = join(folder, "a-b.pcapng");
    const fabric = await createFabric({ links: [{ ...LINK, capture: file, loss: 1 }] });
    // The third finds the queue full.
    sendFrom(fabric, "a", 100, 101, 102);
    fabric.advanceTo(1_000n);
    sendFrom(fabric, "b", 103);
    fabric.close();
    sendFrom(fabric, "b", 104);
    expect(read(readFileSync(file))).toEqual([
      { by: "a:1", time: 0n, length: 100 },
      { by: "a:1", time: 0n, length: 101 },
      { by: "b:2", time: 1_000n, length: 103 },
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a capture can begin and end at any time, and a restored fabric has none", async () => {
  const fabric = await createFabric({ links: [LINK] });
  const pieces: Uint8Array[] = [];
  sendFrom(fabric, "a", 100);
  const end = fabric.capture("b:2", (bytes) => pieces.push(bytes));
  expect(() => fabric.capture("a:1", () => undefined)).toThrow(expect.objectContaining({ code: "EBUSY" }));
  sendFrom(fabric, "a", 101);
  const { fabric: copy } = await restoreFabric(fabric.snapshot());
  sendFrom(copy, "b", 102);
  end();
  end();
  sendFrom(fabric, "a", 103);
  expect(read(Buffer.concat(pieces)).map(({ by, length }) => [by, length])).toEqual([["a:1", 101]]);
  copy.capture("a", () => undefined);
  fabric.capture("a", () => undefined);
  fabric.disconnect("b:2");
  expect(fabric.cables()).toEqual([]);
});

test("one text has the metrics of all devices, and cables what they have counted", async () => {
  const fabric = await createFabric({ links: [LINK, { from: "b:1", to: "c" }] });
  sendFrom(fabric, "a", 100, 101, 102);
  expect(fabric.step()).toBe(true);
  expect(fabric.now()).toBe(850n);
  expect(fabric.cables()).toMatchObject([
    { from: "a:1", to: "b:2", forth: { sent: 3, arrived: 1, overflowed: 1, underWay: 1 }, back: { sent: 0 } },
    { from: "b:1", to: "c:1", forth: { sent: 0 } },
  ]);
  expect(fabric.run()).toBe(1_658n);
  expect(fabric.step()).toBe(false);
  const text = fabric.metricsText();
  for (const name of ["a", "b", "c"]) expect(text).toContain(`flowsteer_clock_seconds{device="${name}"} 0.000001658\n`);
  expect(text).toContain('flowsteer_cable_arrived_frames_total{device="a",port="1"} 2\n');
  expect(text.match(/# TYPE flowsteer_clock_seconds/g)).toHaveLength(1);
});
