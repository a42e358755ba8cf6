/** Short arrays that share buffers. */
import { expect, test } from "vitest";
import { SharedBytes } from "../../src/base/sharedBytes.js";

const LENGTHS = [0, 1, 7, 8, 9, 64, 512, 2047, 2048, 2049, 9000];

test("each array is zeros, and none lies on another", () => {
  const shared = new SharedBytes();
  const arrays = Array.from({ length: 300 }, (_, i) => {
    const array = shared.take(LENGTHS[i % LENGTHS.length]!);
    expect(array.every((byte) => byte === 0)).toBe(true);
    return array.fill(1 + (i % 255));
  });
  for (const [i, array] of arrays.entries()) {
    expect(array).toHaveLength(LENGTHS[i % LENGTHS.length]!);
    expect(array.every((byte) => byte === 1 + (i % 255))).toBe(true);
  }
  expect(new Set(arrays.map(({ buffer }) => buffer)).size).toBeLessThan(arrays.length / 2);
});

test("only arrays of more than 2,048 bytes have a buffer of their own", () => {
  const shared = new SharedBytes();
  for (const length of LENGTHS.slice(1)) expect(shared.take(length).buffer.byteLength === length).toBe(length > 2048);
});

test("a copy is one of the bytes that were asked for, also of a part of a buffer", () => {
  const shared = new SharedBytes();
  const memory = Uint8Array.from({ length: 20_000 }, (_, i) => i % 251);
  for (const part of [memory, memory.subarray(100)]) {
    for (const length of LENGTHS) expect(shared.copy(part, 3, length)).toEqual(part.slice(3, 3 + length));
  }
});

test("a buffer that was transferred is not used again", () => {
  const shared = new SharedBytes();
  for (const length of [0, 8]) {
    const { buffer } = shared.take(length);
    structuredClone(buffer, { transfer: [buffer] });
    expect(shared.take(length)).toEqual(new Uint8Array(length));
  }
});
