// Tests the reference parser on handmade frames: ARP, MACsec and MPLS.

import { describe, expect, test } from "vitest";
import { ETH4, MACS, TCP4, UDP4, UDP6, ip4, overUdp, parse } from "./handmade.js";

test("ARP is listed, fills nothing, and can be cut in its fixed part or its addresses", () => {
  const arp = `${MACS} 0806 0001 0800 06 04 0001 020000000001 0a000001 020000000002 0a000002`;
  expect(parse([arp]).kinds).toEqual(["ethernet", "arp"]);
  expect(parse([arp]).payload).toEqual({ offset: 42, end: 42 });
  expect(parse([arp], { cut: 21 }).stopped).toMatchObject({ header: "arp", offset: 14, wanted: 8, had: 7 });
  expect(parse([arp], { cut: 41 }).stopped).toMatchObject({ header: "arp", wanted: 28, had: 27, reason: "truncated" });
});

describe("NSH", () => {
  test("is listed with its context headers, and ends the parse", () => {
    const { kinds, payload, of, f } = parse([MACS, "894f 0fc60103 00002afe", "00".repeat(16), "0011"]);
    expect(kinds).toEqual(["ethernet", "nsh"]);
    expect(payload).toEqual({ offset: 38, end: 40 });
    expect(f("outer.ethertype")).toBe(0x894fn);
    expect(of("outer.ip_")).toEqual({});
  });

  test("with a length below two words is malformed", () => {
    const { kinds, stopped } = parse([MACS, "894f 0fc10203 00002afe 0011"]);
    expect(kinds).toEqual(["ethernet"]);
    expect(stopped).toMatchObject({ header: "nsh", offset: 14, field: "length", reason: "bad_header_length" });
  });
});

describe("MACsec", () => {
  const short = "0c 05 00000009";
  const long = "2c 05 00000009 0200000000010001";

  test("the SecTAG with its EtherType; the SCI only where the SC bit is set; nothing behind", () => {
    const without = parse([MACS, "88e5", short, ip4(0, 59)]);
    expect(without.of("misc5.macsec_tag_")).toEqual({ 0: 0x88e50c05n, 1: 9n });
    expect([without.kinds.at(-1), without.payload]).toEqual(["macsec", { offset: 20, end: 40 }]);
    const { of, f, kinds } = parse([MACS, "8100 0005 88e5", long, ip4(0, 59)]);
    expect(of("misc5.macsec_tag_")).toEqual({ 0: 0x88e52c05n, 1: 9n, 2: 0x02000000n, 3: 0x00010001n });
    expect([f("outer.ethertype"), f("outer.ip_version"), kinds]).toEqual([
      0x88e5n,
      undefined,
      ["ethernet", "vlan", "macsec"],
    ]);
  });

  test.each([
    [5, 6],
    [13, 14],
  ])("%d bytes of it give nothing", (had, wanted) => {
    const { of, stopped } = parse([MACS, "88e5", long], { cut: 14 + had });
    expect(of("misc5.")).toEqual({});
    expect(stopped).toMatchObject({ header: "macsec", offset: 14, wanted, had, reason: "truncated" });
  });

  test("an inner one is listed and fills nothing", () => {
    const { of, headers } = parse(overUdp(4789, "08000000 00002a00", MACS, "88e5", short));
    expect(of("misc5.macsec")).toEqual({});
    expect(headers.at(-1)).toEqual({ kind: "macsec", level: "inner", offset: 64 });
  });
});

describe("MPLS over a link layer", () => {
  const first = "00010 7 40"; // label 16, exp 3, bottom, ttl 64
  const more = "00010 6 40"; // the same, not the bottom

  test.each(["8847", "8848"])("EtherType %s: the first entry is kept, the bottom leads to IP by its nibble", (type) => {
    const { of, f, kinds } = parse([MACS, "8100 0005", type, more, "00020 2 ff", "00030 3 01", TCP4]);
    expect(of("misc2.")).toEqual({
      outer_first_mpls_label: 16n,
      outer_first_mpls_exp: 3n,
      outer_first_mpls_s_bos: 0n,
      outer_first_mpls_ttl: 64n,
    });
    expect(kinds).toEqual(["ethernet", "vlan", "mpls", "mpls", "mpls", "ipv4", "tcp"]);
    expect([f("outer.ip_version"), f("outer.tcp_dport"), f("inner.ip_version")]).toEqual([4n, 0x51n, undefined]);
  });

  test("IPv6, and a nibble that is neither", () => {
    expect(parse([MACS, "8847", first, UDP6]).f("outer.udp_dport")).toBe(53n);
    const other = parse([MACS, "8847", first, "00000000", ETH4]);
    expect([other.f("outer.ip_version"), other.stopped, other.payload.offset]).toEqual([undefined, null, 18]);
  });

  test("Linux cooked captures lead to MPLS and MACsec as well", () => {
    const link = "0000 0001 0006 000000000000 0000";
    expect(parse([link, "8847", first, TCP4], { linkType: 113 }).f("misc2.outer_first_mpls_label")).toBe(16n);
    expect(parse([link, "88e5 0c05 00000009"], { linkType: 113 }).f("misc5.macsec_tag_0")).toBe(0x88e50c05n);
  });

  test("nothing behind the bottom: fine where the packet ends, IP that is cut where the capture does", () => {
    expect(parse([MACS, "8847", first]).stopped).toBeNull();
    expect(parse([MACS, "8847", first], { wireLength: 60 }).stopped).toEqual({
      header: "ip",
      field: "ip_version",
      offset: 18,
      wanted: 1,
      had: 0,
      reason: "truncated",
    });
  });

  test("an entry that is cut leaves those before it", () => {
    const { f, stopped } = parse([MACS, "8847", more, "000203"]);
    expect(f("misc2.outer_first_mpls_label")).toBe(16n);
    expect(stopped).toMatchObject({ header: "mpls", offset: 18, wanted: 4, had: 3, reason: "beyond_packet" });
  });

  test("inside a tunnel", () => {
    const { of, f } = parse(overUdp(4789, "08000000 00002a00", MACS, "8847", first, UDP4));
    expect(Object.keys(of("misc2."))).toEqual(
      ["label", "exp", "s_bos", "ttl"].map((part) => `inner_first_mpls_${part}`),
    );
    expect([f("misc2.inner_first_mpls_s_bos"), f("inner.udp_dport")]).toEqual([1n, 53n]);
  });
});

test("RoCE version 1 is payload", () => {
  const { of, kinds } = parse([MACS, "8915", "00".repeat(60)]);
  expect([of("misc.bth"), kinds]).toEqual([{}, ["ethernet"]]);
});
