// Tests the reference parser on programmable samples.

import { describe, expect, test } from "vitest";
import { ETH4, MACS, UDP4, ip4, over4, overUdp, parse, udp } from "./handmade.js";
import { type SampleOptions } from "./packet.js";

type Sample = Omit<SampleOptions, "id">;

function sample(parts: string[], declared: Sample, over = {}): bigint | undefined {
  const parser = { samples: [{ id: 3, ...declared }] };
  return parse(parts, { parser, ...over }).f("misc4.prog_sample_field_value_3");
}

const outer = (header: string, offset: number): Sample => ({ header, level: "outer", offset });
const inner = (header: string, offset: number): Sample => ({ header, level: "inner", offset });

describe("where a sample begins", () => {
  const FRAME = [MACS, "8100 0005 8100 0006 0800", ip4(16, 17), udp(9000, 16), "0102030405060708"];

  test.each([
    [outer("ethernet", 0), 0x66112233n],
    [outer("vlan", 0), 0x00058100n],
    [outer("ipv4", 12), 0x0a000001n],
    [outer("udp", 8), 0x01020304n],
    [outer("udp", 9), 0x02030405n],
    [outer("payload", 4), 0x05060708n],
    [outer("udp", 12), 0x05060708n],
    [outer("udp", 13), undefined],
    [outer("payload", 5), undefined],
    [outer("tcp", 0), undefined],
    [inner("payload", 0), undefined],
    [inner("udp", 0), undefined],
  ])("%o", (declared, expected) => {
    expect(sample(FRAME, declared)).toBe(expected);
  });

  test("only where the level's UDP port is the declared one", () => {
    expect(sample(FRAME, { ...outer("udp", 8), port: 9000 })).toBe(0x01020304n);
    expect(sample(FRAME, { ...outer("ethernet", 0), port: 9001 })).toBeUndefined();
    expect(sample(over4(4, UDP4), { ...inner("ipv4", 0), port: 53 })).toBeDefined();
    expect(sample(over4(4, UDP4), { ...outer("ipv4", 0), port: 53 })).toBeUndefined();
  });

  test("the end is that of the level's packet, or of the captured bytes", () => {
    const padded = [...over4(59), "ffffffff"];
    expect(sample(padded, outer("ipv4", 16))).toBe(0x0a000002n);
    expect(sample(padded, outer("ipv4", 17))).toBeUndefined();
    expect(sample(FRAME, outer("payload", 0), { cut: 22 + 28 + 3 })).toBeUndefined();
    expect(sample([MACS, "1234", "01020304"], outer("payload", 0))).toBe(0x01020304n);
  });
});

test("an outer payload begins behind the tunnel's own header, and ends with the outer packet", () => {
  const frame = overUdp(4789, "08000000 00002a00", ETH4, ip4(0, 59), "0a0b0c0d");
  expect(sample(frame, outer("payload", 0))).toBe(0x66112233n);
  expect(sample(frame, outer("payload", 34))).toBe(0x0a0b0c0dn);
  expect(sample(frame, outer("vxlan", 4))).toBe(0x2a00n);
  expect(sample(frame, inner("ipv4", 16))).toBe(0x0a000002n);
  expect(sample(frame, inner("payload", 0))).toBeUndefined();
});

test("a header that is cut is none, and the payload begins with it", () => {
  const frame = [ETH4, ip4(6, 17), "1234 1234 0006"];
  expect(sample(frame, outer("udp", 0))).toBeUndefined();
  expect(sample(frame, outer("payload", 2))).toBe(0x12340006n);
});

test("the first header of a kind counts, and only those that the list has room for", () => {
  const tags = (count: number) => Array.from({ length: count }, (_, i) => `8100 00${(16 + i).toString(16)}`);
  expect(sample([MACS, ...tags(3), "0800", ip4(0, 59)], outer("vlan", 0))).toBe(0x00108100n);
  expect(sample([MACS, ...tags(26), "0800", ip4(0, 59)], outer("ipv4", 12))).toBe(0x0a000001n);
  expect(sample([MACS, ...tags(27), "0800", ip4(0, 59)], outer("ipv4", 12))).toBeUndefined();
});
