/** Compares two devices that must be in the same state. */
import { expect } from "vitest";
import type { Device } from "../../../src/index.js";
import { unpack } from "../../../src/snapshot/container.js";
import { snapshotOf, type Kept } from "../../../src/snapshot/index.js";

/** A value as text, without what differs between devices of a process. */
export function text(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? `${one}n` : one));
}

/** Every field of every object, every global of the core, every counter. */
export function sameState(a: Device, b: Device, keepA: Kept = {}, keepB: Kept = {}): void {
  expect(text(b.metrics())).toBe(text(a.metrics()));
  expect(b.memoryUsed).toBe(a.memoryUsed);
  const [left, right] = [snapshotOf(a, { keep: keepA }), snapshotOf(b, { keep: keepB })].map((bytes) => unpack(bytes));
  for (const part of ["device", "objects", "values", "tables", "buffers"] as const) {
    const [was, is] = [left?.[part] as Uint8Array, right?.[part] as Uint8Array];
    if (Buffer.compare(was, is) !== 0) expect([...is], part).toEqual([...was]);
  }
}
