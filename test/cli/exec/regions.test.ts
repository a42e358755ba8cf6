import { expect, test } from "vitest";
import { MessageReader, MessageWriter } from "../../../src/calls/index.js";
import { Regions, isOutside } from "../../../src/cli/exec/regions.js";

const START = 0x1000;

/** A process with 64 bytes of memory at START, registered twice. */
function process(): { regions: Regions; memory: Uint8Array; writes: string[] } {
  const memory = new Uint8Array(64);
  const writes: string[] = [];
  const regions = new Regions({
    read: (address, bytes) => {
      bytes.set(memory.subarray(address - START, address - START + bytes.length));
      return true;
    },
    write: (address, bytes) => {
      writes.push(`${address - START}+${bytes.length}`);
      memory.set(bytes, address - START);
      return true;
    },
  });
  for (const lkey of [1, 2])
    regions.add({ lkey, backing: null }, { bytes: new Uint8Array(64), address: START, iova: START });
  return { regions, memory, writes };
}

function entries(regions: Regions, ...list: readonly (readonly [at: number, length: number, lkey: number])[]) {
  const writer = new MessageWriter();
  writer.u32(list.length);
  for (const [at, length, lkey] of list) {
    writer.wide(START + at);
    writer.u32(length);
    writer.u32(lkey);
  }
  return regions.entries(new MessageReader(writer.framed().subarray(4)));
}

test("a buffer that was used twice is written once, with all that arrived", () => {
  const { regions, memory, writes } = process();
  const { parts } = entries(regions, [8, 16, 1]);
  parts[0]?.view.fill(1);
  regions.arrived(parts, 12);
  parts[0]?.view.fill(2, 0, 4);
  regions.arrived(parts, 4);
  expect(writes).toEqual([]);
  regions.storeArrived();
  expect(writes).toEqual(["8+12"]);
  expect([...memory.subarray(8, 21)]).toEqual([2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
  regions.storeArrived();
  expect(writes).toHaveLength(1);
});

test("memory that is registered twice gets what arrived last", () => {
  const { regions, memory } = process();
  const [first, second] = [entries(regions, [0, 8, 1]).parts, entries(regions, [4, 8, 2]).parts];
  for (const [value, parts] of [first, second, first].entries()) {
    parts[0]?.view.fill(value + 1);
    regions.arrived(parts, 8);
  }
  regions.storeArrived();
  expect([...memory.subarray(0, 13)]).toEqual([3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 0]);
});

test("what arrives fills the entries of a list in their order", () => {
  const { regions, writes } = process();
  const { parts } = entries(regions, [0, 4, 1], [32, 0, 1], [16, 8, 1]);
  regions.arrived(parts, 7);
  regions.storeArrived();
  expect(writes).toEqual(["0+4", "16+3"]);
});

test("memory outside of its region stays as it is", () => {
  const { regions } = process();
  const { list } = entries(regions, [60, 8, 1], [0, 8, 3], [0, 64, 2]);
  expect(list.map(({ addr }) => isOutside(addr))).toEqual([true, true, false]);
});
