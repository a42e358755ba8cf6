/** The hex view without a page: rows, cursor, bits of masks and differences. */
import { expect, test } from "vitest";
import { hexRows, movedCursor } from "../../../playground/src/way/bytes/hexRows.js";
import { maskBits } from "../../../playground/src/way/bytes/mask.js";
import { bitCells, digitsOf } from "../../../playground/src/way/why/bitCells.js";

test("rows hold every byte once, and removed bytes come before the row that they lay in", () => {
  const rows = hexRows(40, 16, [
    { offset: 20, bytes: "aa".repeat(18) },
    { offset: 40, bytes: "bb" },
  ]);
  expect(rows).toEqual([
    { kind: "bytes", offset: 0, length: 16 },
    { kind: "removed", offset: 20, bytes: "aa".repeat(16) },
    { kind: "removed", offset: 20, bytes: "aaaa" },
    { kind: "bytes", offset: 16, length: 16 },
    { kind: "removed", offset: 40, bytes: "bb" },
    { kind: "bytes", offset: 32, length: 8 },
  ]);
  expect(hexRows(0, 16, [{ offset: 0, bytes: "cc" }])).toEqual([{ kind: "removed", offset: 0, bytes: "cc" }]);
  expect(hexRows(9000, 16, []).length).toBe(563);
});

test("the cursor moves by keys and stays in the frame", () => {
  const view = { length: 40, width: 16, page: 2, control: false };
  const moved = (key: string, at: number, control = false): number | null => movedCursor(key, at, { ...view, control });
  expect([moved("ArrowRight", 15), moved("ArrowLeft", 16), moved("ArrowLeft", 0), moved("ArrowRight", 39)]).toEqual([
    16, 15, 0, 39,
  ]);
  expect([moved("ArrowDown", 5), moved("ArrowUp", 21), moved("ArrowUp", 5)]).toEqual([21, 5, 5]);
  // The last row is short: its last byte stands for columns that it does not have.
  expect([moved("ArrowDown", 20), moved("ArrowDown", 30), moved("ArrowDown", 33)]).toEqual([36, 39, 33]);
  expect([moved("PageDown", 3), moved("PageUp", 37), moved("PageDown", 20)]).toEqual([35, 5, 39]);
  expect([
    moved("Home", 21),
    moved("End", 21),
    moved("Home", 21, true),
    moved("End", 21, true),
    moved("End", 36),
  ]).toEqual([16, 31, 0, 39, 39]);
  expect(moved("Enter", 3)).toBe(null);
  const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"];
  for (let length = 1; length < 60; length += 7) {
    for (let at = 0; at < length; at++) {
      for (const key of keys) {
        const to = movedCursor(key, at, { length, width: 8, page: 3, control: false });
        expect(to !== null && to >= 0 && to < length, `${key} at ${at} of ${length}`).toBe(true);
      }
    }
  }
});

test("masks are read from the notation of scenario files", () => {
  expect(maskBits("10.0.0.0/8", 32)).toBe("1".repeat(8) + "0".repeat(24));
  expect(maskBits("10.0.0.1/255.0.0.255", 32)).toBe("1".repeat(8) + "0".repeat(16) + "1".repeat(8));
  expect(maskBits("0x2/0x3f", 9)).toBe("000111111");
  expect(maskBits("5001", 24)).toBe("1".repeat(24));
  expect(maskBits("any", 4)).toBe("0000");
  expect(maskBits("1024-65535", 16)).toBe("1".repeat(16));
  expect(maskBits("2001:db8::/32", 128)).toBe("1".repeat(32) + "0".repeat(96));
  expect(maskBits("02:00:00:00:00:00/ff:00:00:00:00:01", 48)).toBe("1".repeat(8) + "0".repeat(39) + "1");
});

test("values are written as bits", () => {
  expect(digitsOf("192.0.2.1", 32)).toBe("11000000000000000000001000000001");
  expect(digitsOf("::1", 128)).toBe("1".padStart(128, "0"));
  expect(digitsOf("2001:db8::", 128)?.slice(0, 32)).toBe("00100000000000010000110110111000");
  expect(digitsOf("0x1f", 8)).toBe("00011111");
  expect(digitsOf("tcp", 8)).toBe(null);
  expect(digitsOf("300", 8)).toBe(null);
});

test("bits of a difference stand in groups of eight, wanted above found", () => {
  const difference = {
    field: "outer.tcp_dport",
    wanted: "47873",
    found: "443",
    bits: "1011101010111010",
    distance: 10,
    absent: null,
    note: null,
  };
  const groups = bitCells(difference);
  expect(groups.map(({ length }) => length)).toEqual([8, 8]);
  expect(
    groups
      .flat()
      .map(({ wanted }) => wanted)
      .join(""),
  ).toBe("1011101100000001");
  expect(
    groups
      .flat()
      .map(({ found }) => found)
      .join(""),
  ).toBe("0000000110111011");
  expect(groups.flat().filter(({ state }) => state === "differs").length).toBe(10);
  const masked = bitCells({ ...difference, wanted: "0x2/0x3f", found: "1", bits: "...000011" });
  expect(masked.map(({ length }) => length)).toEqual([1, 8]);
  expect(
    masked
      .flat()
      .map(({ wanted }) => wanted)
      .join(""),
  ).toBe("···000010");
  expect(bitCells({ ...difference, wanted: "tcp", found: "udp", bits: "00011011" })).toEqual([]);
  expect(bitCells({ ...difference, found: null })).toEqual([]);
});
