/** How masks and values of flows are found: values of one hash are two flows, and destroying one leaves the others. */
import { describe, expect, test } from "vitest";
import { KEY_SIZE } from "../../../src/abi/key.js";
import { FlowTables } from "../../../src/model/flow/entries.js";
import { HashTable, KeyHash, MaskBits } from "../../../src/model/flow/masks.js";
import { flowMatch } from "../../../src/model/flow/specMatch.js";
import { trappingSlot } from "../../../src/model/table/classifier.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import { FlowBench } from "../../verbs/support/flows.js";
import { specsOf } from "../support/flows.js";

class Item {
  next: Item | null = null;
  constructor(
    readonly hash: number,
    readonly name: string,
  ) {}
}

/** The names of the items with this hash. */
function namesOf(table: HashTable<Item>, hash: number): string[] {
  const names: string[] = [];
  for (let one = table.first(hash); one !== null; one = one.next) names.push(one.name);
  return names;
}

const ends = (source: number, target: number): object => ({
  type: v.IBV_FLOW_SPEC_IPV4,
  val: { src_ip: source, dst_ip: target },
  mask: { src_ip: 0xffffffff, dst_ip: 0xffffffff },
});
const keyOf = (spec: object): ReturnType<typeof flowMatch> => flowMatch(specsOf([spec]), 1);

/** Two pairs of addresses whose entries have the same hash at the slot of priority 0. */
function collision(hash: KeyHash): [number[], number[]] {
  const bits = new MaskBits<never>(hash, keyOf(ends(0, 0)).mask);
  const seen = new Map<number, number[]>();
  const { value } = keyOf(ends(0, 0));
  for (let n = 1; ; n++) {
    const pair = [Math.imul(n, 0x9e3779b1) >>> 0, Math.imul(n, 0x85ebca6b) >>> 0];
    value.set(keyOf(ends(pair[0]!, pair[1]!)).value);
    const number = bits.entryHash(hash, trappingSlot(0), value);
    const other = seen.get(number);
    if (other !== undefined) return [other, pair];
    seen.set(number, pair);
  }
}

const bytesOf = (ip: number): number[] => [ip >>> 24, (ip >>> 16) & 0xff, (ip >>> 8) & 0xff, ip & 0xff];

function frameOf([source, target]: number[]): Uint8Array {
  const frame = ipv4Frame({ dst: bytesOf(target!) });
  frame.set(bytesOf(source!), 26);
  return frame;
}

describe("objects of one hash", () => {
  const orders = ["a b c", "a c b", "b a c", "b c a", "c a b", "c b a"].map((text) => [text, text.split(" ")] as const);
  test.each(orders)("are all found, and removed as %s", (_text, order) => {
    const table = new HashTable<Item>();
    const items = ["a", "b", "c"].map((name) => new Item(7, name));
    const other = new Item(8, "x");
    for (const one of [...items, other]) table.add(one);
    expect(namesOf(table, 7)).toEqual(["c", "b", "a"]);
    for (let removed = 1; removed <= 3; removed++) {
      const item = items.find(({ name }) => name === order[removed - 1])!;
      table.remove(item);
      expect(item.next).toBeNull();
      expect(namesOf(table, 7).sort()).toEqual(order.slice(removed).sort());
    }
    expect(namesOf(table, 8)).toEqual(["x"]);
    table.add(items[0]!);
    expect(namesOf(table, 7)).toEqual(["a"]);
  });
});

test("two flows whose hashes are equal take their own frames, and live on their own", async () => {
  const bench = await FlowBench.open();
  const tables = bench.device.function(0).part(FlowTables);
  const [a, b] = collision((tables as unknown as { _hash: KeyHash })._hash);
  const first = bench.flow("a", [ends(a[0]!, a[1]!)]);
  const second = bench.flow("b", [ends(b[0]!, b[1]!)]);
  expect(first.entries[0]).not.toBe(second.entries[0]);
  expect(first.entries[0]?.hash).toBe(second.entries[0]?.hash);
  const third = bench.flow("c", [ends(a[0]!, a[1]!)]);
  expect(third.entries[0]).toBe(first.entries[0]);
  expect(bench.received(frameOf(a))).toBe("a c deliver");
  expect(bench.received(frameOf(b))).toBe("b deliver");
  v.ibv_destroy_flow(second);
  expect(bench.received(frameOf(a))).toBe("a c deliver");
  expect(bench.received(frameOf(b))).toMatch(/^miss/);
  const again = bench.flow("d", [ends(b[0]!, b[1]!)]);
  expect(again.entries[0]).not.toBe(first.entries[0]);
  expect(bench.received(frameOf(b))).toBe("d deliver");
});

test("a mask is found by its bits, whatever has its hash", () => {
  const hash = new KeyHash();
  const table = new HashTable<MaskBits<never>>();
  const keys = [0, 1, 2].map((byte) => {
    const key = new Uint8Array(KEY_SIZE);
    key[4 * byte] = 0xff;
    return key;
  });
  const known = new MaskBits<never>(hash, keys[0]!);
  table.add(known);
  // In the list of another mask: as if both had one hash.
  table.add(Object.assign(new MaskBits<never>(hash, keys[1]!), { hash: known.hash }));
  expect(MaskBits.find(table, hash, keys[0]!)).toBe(known);
  expect(MaskBits.find(table, hash, keys[1]!)).toBeNull();
  expect(MaskBits.find(table, hash, keys[2]!)).toBeNull();
});

test("values have the hashes of HalfSipHash-1-3", () => {
  // The vectors for 4 and 8 bytes of Linux, lib/tests/siphash_kunit.c (hsiphash where a long has 32 bits).
  const hash = new KeyHash(0x03020100, 0x07060504);
  const value = new Uint8Array(KEY_SIZE);
  value.set([4, 5, 6, 7]);
  expect(hash.ofValue(0x03020100, value, []) >>> 0).toBe(0x7e059ea6);
  expect(hash.ofValue(0x03020100, value, [0]) >>> 0).toBe(0x577999b1);
});

test("hashes depend on every word, its place and the secret", () => {
  const hashes = new Set<number>();
  const secrets = [new KeyHash(1, 2), new KeyHash(1, 3), new KeyHash()];
  for (const hash of secrets) {
    for (let byte = 0; byte < KEY_SIZE; byte++) {
      const key = new Uint8Array(KEY_SIZE);
      key[byte] = 0x80;
      hashes.add(hash.ofMask(key));
      hashes.add(hash.ofValue(0, key, [...Array(KEY_SIZE / 4).keys()]));
    }
  }
  // Of 3,072 random hashes two may be equal, hardly three pairs.
  expect(hashes.size).toBeGreaterThan(3 * 2 * KEY_SIZE - 3);
});
