// Tests the reference parser on checksums; the correct ones were computed separately.

import { describe, expect, test } from "vitest";
import { AT_IP4, ETH4, ETH6, TCP, UDP4, ip4, ip6, over4, over6, overUdp, parse } from "./handmade.js";

const right = (one: ReturnType<typeof parse>, level = "outer") => one.f(`${level}.l4_checksum_ok`);
const tcp = (checksum: string) => TCP.replace("ffff 0000", `ffff ${checksum}`);
const udp = (length: string, checksum: string, data: string) => `1234 1b58 ${length} ${checksum} ${data}`;

describe("ipv4_checksum_ok", () => {
  const header = (checksum: string) => ip4(20, 6).replace("06 0000", `06 ${checksum}`);

  test("right or wrong, whatever l3_ok says", () => {
    const ok = (...parts: string[]) => parse([ETH4, ...parts]).f("outer.ipv4_checksum_ok");
    expect([ok(header("6614"), TCP), ok(header("6615"), TCP), ok(header("0000"), TCP)]).toEqual([1n, 0n, 0n]);
    const beyond = parse([ETH4, header("6614")]);
    expect([beyond.f("outer.l3_ok"), beyond.f("outer.ipv4_checksum_ok")]).toEqual([0n, 1n]);
  });

  test("of the inner packet; 0 without a header", () => {
    expect(parse(over4(4, header("6614"), TCP)).f("inner.ipv4_checksum_ok")).toBe(1n);
    expect(parse(over6(6, TCP)).f("outer.ipv4_checksum_ok")).toBe(0n);
  });
});

describe("l4_checksum_ok", () => {
  test("TCP over either version, with an odd last byte, wrong by one bit", () => {
    expect(right(parse(over4(6, tcp("9a2c"))))).toBe(1n);
    expect(right(parse(over6(6, tcp("b12a"))))).toBe(1n);
    expect(right(parse(over4(6, tcp("ef2a"), "ab")))).toBe(1n);
    expect(right(parse(over4(6, tcp("9a2d"))))).toBe(0n);
    expect(right(parse(over6(6, tcp("312a"))))).toBe(0n);
  });

  test("UDP as far as its length says", () => {
    expect(right(parse(over4(17, udp("000b", "ba47", "010203"))))).toBe(1n);
    expect(right(parse(over6(17, udp("000b", "d145", "010203"))))).toBe(1n);
    expect(right(parse(over4(17, udp("000a", "bd49", "010203"))))).toBe(1n);
    expect(right(parse(over4(17, udp("000b", "bd49", "010203"))))).toBe(0n);
    expect(right(parse(over4(17, udp("000c", "ba47", "010203"))))).toBe(0n);
  });

  test("a UDP checksum of 0 is right over IPv4 only", () => {
    expect(right(parse(over4(17, udp("000b", "0000", "010203"))))).toBe(1n);
    expect(right(parse(over6(17, udp("000b", "0000", "010203"))))).toBe(0n);
  });

  test("of the inner packet", () => {
    const one = parse(overUdp(4790, "0c000001 00002a00", ip4(20, 6), tcp("9a2c")));
    expect(right(one, "inner")).toBe(1n);
  });

  test("Ethernet padding does not count", () => {
    expect(right(parse([...over4(6, tcp("9a2c")), "ffff"]))).toBe(1n);
  });

  test("not with l3_ok 0, of a fragment, or when bytes are missing", () => {
    const cut = { cut: AT_IP4 + 20 };
    expect(right(parse(over4(6, tcp("ef2a"), "ab"), cut))).toBe(0n);
    expect(right(parse(over4(17, udp("000b", "0000", "010203")), { cut: AT_IP4 + 10 }))).toBe(0n);
    expect(right(parse([ETH4, ip4(20, 6, 0, 0), tcp("9a2c")]))).toBe(0n);
    expect(right(parse([ETH4, ip4(20, 6, 0x2000), tcp("9a2c")]))).toBe(0n);
    expect(right(parse([ETH6, ip6(28, 44), "06000001 00000001", tcp("b12a")]))).toBe(0n);
    expect(right(parse([ETH6, ip6(28, 44), "06000000 00000001", tcp("b12a")]))).toBe(1n);
    expect(right(parse([ETH6, ip6(0, 6), tcp("b12a")]))).toBe(0n);
  });

  test("l4_ok 0 leaves it 0", () => {
    const one = parse(over4(6, tcp("9a2c").replace("5112", "4112")));
    expect([one.f("outer.l4_ok"), right(one)]).toEqual([0n, 0n]);
  });

  test.each([
    ["at its end", "8307 08 0a000003 00", 1n],
    ["under way", "8307 04 0a000003 00", 0n],
    ["at its last hop's end", "8907 07 0a000003 00", 0n],
    ["strict and under way, behind no-operations", "01 01 8903 03 000000", 0n],
    ["behind an end of list", "00 8307 04 0a000003", 1n],
    ["without a pointer", "8302 04 04 00000000", 1n],
    ["behind an option of length 1", "4401 8307 04 0a0000", 1n],
    ["beyond the header", "8309 04 0a000003 00", 1n],
    ["a record route", "0707 04 0a000003 00", 1n],
  ])("IPv4 source route %s", (_name, options, expected) => {
    const header = ip4(20, 6, 0, 48).replace("45 b9", "47 b9");
    expect(right(parse([ETH4, header, options, tcp("9a2c")]))).toBe(expected);
  });

  describe("an IPv6 routing header with segments left: the pseudo header has the final destination", () => {
    // That of the fixed header, so that the sum is known.
    const final = ip6(0, 0).replaceAll(" ", "").slice(-32);
    const other = "20010db8000000000000000000000999";
    const routed = (type: number, left: number, ...rest: string[]) => {
      const units = (rest.join("").replaceAll(" ", "").length / 2 - 4) / 8;
      const fixed = [6, units, type, left].map((byte) => byte.toString(16).padStart(2, "0")).join("");
      return right(parse([ETH6, ip6(28 + 8 * units, 43), fixed, ...rest, tcp("b12a")]));
    };
    const none = "00000000";

    test.each([
      ["without an address, none left", routed(0, 0, none), 1n],
      ["without an address", routed(0, 1, none), 0n],
      ["type 0", routed(0, 1, none, final), 1n],
      ["type 0, the last of two", routed(0, 2, none, other, final), 1n],
      ["type 0, not the first of two", routed(0, 1, none, final, other), 0n],
      ["type 0 with half an address", routed(0, 1, none, "0".repeat(16), final), 0n],
      ["type 2", routed(2, 1, none, final), 1n],
      ["type 4, the first of two", routed(4, 1, "01000000", final, other), 1n],
      ["type 4, not the last of two", routed(4, 1, "01000000", other, final), 0n],
      ["type 4 with a TLV behind its list", routed(4, 1, "00000000", final, "0506000000000000"), 1n],
      ["a type of another format", routed(3, 1, none, final), 0n],
      ["all segments behind it", routed(0, 0, none, other), 1n],
    ])("%s", (_, found, expected) => expect(found).toBe(expected));

    test("the last of several counts", () => {
      const [first, second] = [`2b 02 00 01 ${none} ${other}`, `06 02 00 01 ${none} ${final}`];
      expect(right(parse([ETH6, ip6(68, 43), first, second, tcp("b12a")]))).toBe(1n);
    });
  });

  test("SCTP and ICMP have none", () => {
    expect(right(parse(over4(132, "00".repeat(12))))).toBe(0n);
    expect(right(parse(over4(1, "0800f7ff00000000")))).toBe(0n);
    expect(right(parse(over4(4, UDP4)), "inner")).toBe(1n);
  });
});
