// Tests the reference parser on handmade frames; each test covers one rule of docs/parsing.md.

import { describe, expect, test } from "vitest";
import { ETH4, ETH6, MACS, TCP, ip4, ip6, parse, udp } from "./handmade.js";

describe("layer 2", () => {
  test("three tags: the outermost two are kept, the ethertype follows the last", () => {
    const { f, kinds } = parse([MACS, "88a8 e001 8100 1002 8100 0003 0806"]);
    expect([f("outer.first_prio"), f("outer.first_cfi"), f("outer.first_vid")]).toEqual([7n, 0n, 1n]);
    expect([f("misc.outer_second_prio"), f("misc.outer_second_cfi"), f("misc.outer_second_vid")]).toEqual([0n, 1n, 2n]);
    expect([f("outer.svlan_tag"), f("outer.cvlan_tag")]).toEqual([1n, 0n]);
    expect([f("misc.outer_second_svlan_tag"), f("misc.outer_second_cvlan_tag")]).toEqual([0n, 1n]);
    expect(f("outer.ethertype")).toBe(0x0806n);
    expect(kinds).toEqual(["ethernet", "vlan", "vlan", "vlan"]);
  });

  test("a cut tag: the tags before it stay, no ethertype", () => {
    const { f, stopped } = parse([MACS, "8100 0005 8100 00"]);
    expect([f("outer.first_vid"), f("outer.ethertype"), f("misc.outer_second_cvlan_tag")]).toEqual([5n, undefined, 0n]);
    expect(stopped).toEqual({ header: "vlan", field: "tci", offset: 18, wanted: 4, had: 1, reason: "beyond_packet" });
  });

  test("TPID 0x9100 and an 802.3 length are ethertypes with nothing behind", () => {
    for (const type of ["9100", "0026"]) {
      const { f, stopped } = parse([MACS, type, ip4(0, 59)]);
      expect([f("outer.ethertype"), f("outer.ip_version"), stopped]).toEqual([BigInt(`0x${type}`), undefined, null]);
    }
  });

  test("13 bytes of Ethernet give no field; state bits and the port are there all the same", () => {
    const { f, stopped } = parse([ETH4], { cut: 13 });
    expect([f("outer.dmac"), f("outer.l3_ok"), f("inner.frag"), f("ext.port")]).toEqual([undefined, 0n, 0n, 1n]);
    expect(stopped).toMatchObject({ header: "ethernet", field: "ethertype", wanted: 14, had: 13 });
  });

  test.each([
    [0, "02000000", ip4(0, 59), 4n],
    [0, "0000001e", ip6(0, 59), 6n],
    [108, "00000002", ip4(0, 59), 4n],
    [108, "02000000", ip4(0, 59), undefined],
    [12, "", ip6(0, 59), 6n],
    [228, "", ip4(0, 59), 4n],
    [113, "0000 0001 0006 000000000000 0000 8100 0001 0800", ip4(0, 59), 4n],
    [276, "86dd 0000 00000001 0001 00 06 0000000000000000", ip6(0, 59), 6n],
    [9999, "", ip4(0, 59), undefined],
  ])("link type %d %s", (linkType, link, ip, version) => {
    const { f, stopped } = parse([link, ip], { linkType });
    expect([f("outer.ip_version"), f("outer.ethertype"), f("outer.cvlan_tag")]).toEqual([version, undefined, 0n]);
    expect(stopped).toBeNull();
  });
});

describe("IPv4", () => {
  test("fields and lengths", () => {
    const { f } = parse([ETH4, ip4(20, 6, 0x4000), TCP]);
    expect([f("outer.ip_dscp"), f("outer.ip_ecn"), f("ext.outer_ipv4_flags")]).toEqual([0x2en, 1n, 2n]);
    expect([f("outer.ipv4_src"), f("outer.ipv4_dst"), f("outer.ipv4_ihl")]).toEqual([0x0a000001n, 0x0a000002n, 5n]);
    expect([f("outer.tcp_flags"), f("misc3.outer_tcp_ack_num")]).toEqual([0x112n, 2n]);
    expect([f("outer.l3_ok"), f("outer.l4_ok"), f("outer.frag")]).toEqual([1n, 1n, 0n]);
  });

  test.each([
    ["bad version", `65${ip4(0, 6).slice(2)}`, "bad_version"],
    ["bad IHL", `44${ip4(0, 6).slice(2)}`, "bad_header_length"],
    ["cut options", `46${ip4(0, 6).slice(2)}`, "beyond_packet"],
  ])("%s gives no L3 field", (_name, ip, reason) => {
    const { f, stopped } = parse([ETH4, ip]);
    expect([f("outer.ip_version"), f("outer.ipv4_src"), f("outer.l3_ok")]).toEqual([undefined, undefined, 0n]);
    expect(stopped).toMatchObject({ header: "ipv4", reason });
  });

  test("a later fragment has no ports, a first one has", () => {
    const first = parse([ETH4, ip4(8, 17, 0x2000), udp(53, 100)]);
    expect([first.f("outer.frag"), first.f("outer.udp_dport"), first.f("outer.l4_ok")]).toEqual([1n, 53n, 0n]);
    const later = parse([ETH4, ip4(8, 17, 0x0001), udp(53, 8)]);
    expect([later.f("outer.frag"), later.f("outer.udp_dport"), later.stopped]).toEqual([1n, undefined, null]);
  });

  test("Ethernet padding is not payload", () => {
    const { f, stopped } = parse([ETH4, ip4(0, 17), udp(53, 8)]);
    expect([f("outer.l3_ok"), f("outer.udp_dport")]).toEqual([1n, undefined]);
    expect(stopped).toMatchObject({ header: "udp", offset: 34, wanted: 8, had: 0 });
  });

  test.each([[0], [19], [9000]])("total length %d: read on, l3_ok 0", (total) => {
    const { f } = parse([ETH4, ip4(0, 17, 0, total), udp(53, 8)]);
    expect([f("outer.l3_ok"), f("outer.udp_dport")]).toEqual([0n, 53n]);
  });
});

describe("IPv6", () => {
  test("extension headers are walked over to the upper layer", () => {
    const chain = "2b00010400000000 3c00000000000000 3300000000000000 11010000 00000000 00000000";
    const { f, kinds } = parse([ETH6, ip6(44, 0), chain, udp(53, 8), "00".repeat(8)]);
    expect([f("outer.ip_protocol"), f("outer.udp_dport"), f("outer.l4_ok")]).toEqual([17n, 53n, 1n]);
    expect([f("misc.outer_ipv6_flow_label"), f("outer.ip_dscp")]).toEqual([0x12345n, 0x2en]);
    expect(kinds).toEqual(["ethernet", "ipv6", "ipv6_hop_by_hop", "ipv6_routing", "ipv6_destination", "ah", "udp"]);
  });

  test("a cut extension header: the fixed header's fields, no ip_protocol", () => {
    const { f, stopped } = parse([ETH6, ip6(16, 0), "1101010400000000 00000000"]);
    expect([f("outer.ip_version"), f("outer.ip_protocol")]).toEqual([6n, undefined]);
    expect(stopped).toMatchObject({ header: "ipv6_hop_by_hop", offset: 54, wanted: 16, had: 12 });
  });

  test("fragments: atomic is none, a later one says what follows", () => {
    const atomic = parse([ETH6, ip6(16, 44), "11000000 00000001", udp(53, 8)]);
    expect([atomic.f("outer.frag"), atomic.f("outer.udp_dport")]).toEqual([0n, 53n]);
    const later = parse([ETH6, ip6(16, 44), "3c000009 00000001", udp(53, 8)]);
    expect([later.f("outer.frag"), later.f("outer.ip_protocol"), later.f("outer.udp_dport")]).toEqual([
      1n,
      60n,
      undefined,
    ]);
  });

  test("length 0: read on, l4_ok only where a jumbo option says the length", () => {
    const plain = parse([ETH6, ip6(0, 17), udp(53, 8)]);
    expect([plain.f("outer.l3_ok"), plain.f("outer.udp_dport"), plain.f("outer.l4_ok")]).toEqual([1n, 53n, 0n]);
    const jumbo = (length: string) =>
      parse([ETH6, ip6(0, 0), `1100 c204 ${length}`, udp(53, 60000)], { wireLength: 80054 });
    const made = ["00013880", "00013881", "0000ffff"].map(jumbo);
    expect(made.map(({ f }) => f("outer.l4_ok"))).toEqual([1n, 0n, 0n]);
    expect(made.map(({ f }) => f("outer.udp_dport"))).toEqual([53n, 53n, 53n]);
  });

  test("a jumbo length beyond the frame: l3_ok 0, and the packet ends with the frame", () => {
    const jumbo = (length: string, wireLength: number, next = "") =>
      parse([ETH6, ip6(0, 0), `1100 c204 ${length} ${next}`, udp(53, 8)], { wireLength });
    const ok = (length: string, wireLength: number) => jumbo(length, wireLength).f("outer.l3_ok");
    // The payload begins at byte 54.
    expect([ok("00013880", 80054), ok("00013880", 80053), ok("ffffffff", 80054)]).toEqual([1n, 0n, 0n]);
    // RFC 2675 allows no length of 65,535 or less: it is not taken, but it is checked all the same.
    expect([ok("00000010", 80054), ok("00000010", 70), ok("00000011", 70)]).toEqual([1n, 1n, 0n]);
    const beyond = jumbo("7fffffff", 80054);
    expect([beyond.f("outer.udp_dport"), beyond.f("outer.l4_ok"), beyond.payload]).toEqual([
      53n,
      0n,
      { offset: 70, end: 70 },
    ]);
  });
});

describe("layer 4", () => {
  test.each([
    ["data offset 4", "4", 0n, 80n],
    ["data offset beyond the payload", "6", 0n, 80n],
  ])("TCP %s: the fixed header, l4_ok 0", (_name, nibble, ok, sport) => {
    const { f } = parse([ETH4, ip4(20, 6), TCP.replace("5112", `${nibble}112`)]);
    expect([f("outer.tcp_sport"), f("outer.l4_ok")]).toEqual([sport, ok]);
  });

  test.each([
    ["a whole packet", 0],
    ["a first fragment", 0x2000],
  ])("TCP options of %s cut by the capture: the fixed header, l4_ok 0", (_name, fragment) => {
    const tcp = TCP.replace("5112", "6112");
    const frame = [ETH4, ip4(24, 6, fragment), tcp, "01010101"];
    for (const cut of [54, 56, 57]) {
      const { f, stopped, payload, kinds } = parse(frame, { cut });
      expect([f("outer.tcp_sport"), f("outer.tcp_dport"), f("outer.tcp_flags")]).toEqual([80n, 81n, 0x112n]);
      expect([f("misc3.outer_tcp_seq_num"), f("misc3.outer_tcp_ack_num"), f("outer.l4_ok")]).toEqual([1n, 2n, 0n]);
      expect([f("outer.l3_ok"), f("outer.l4_checksum_ok")]).toEqual([1n, 0n]);
      expect(stopped).toEqual({
        header: "tcp",
        field: "options",
        offset: 34,
        wanted: 24,
        had: cut - 34,
        reason: "truncated",
      });
      expect([kinds.at(-1), payload]).toEqual(["tcp", { offset: cut, end: cut }]);
    }
    const whole = parse(frame);
    expect([whole.f("outer.l4_ok"), whole.stopped]).toEqual([1n, null]);
    const fixed = parse(frame, { cut: 53 });
    expect([fixed.f("outer.tcp_sport"), fixed.stopped?.wanted, fixed.kinds.at(-1)]).toEqual([undefined, 20, "ipv4"]);
  });

  test.each([
    [7, 0n],
    [8, 1n],
    [9, 0n],
  ])("UDP length %d in 8 bytes of payload", (length, ok) => {
    expect(parse([ETH4, ip4(8, 17), udp(53, length)]).f("outer.l4_ok")).toBe(ok);
  });

  test("ICMP of either kind by protocol number, eight bytes or nothing", () => {
    const { f } = parse([ETH4, ip4(8, 58), "8000 0000 12345678"]);
    expect([f("misc3.icmpv6_type"), f("misc3.icmpv6_header_data"), f("outer.l4_ok")]).toEqual([128n, 0x12345678n, 0n]);
    expect(parse([ETH4, ip4(8, 1), "0800 0000 12345678"], { cut: 41 }).f("misc3.icmp_type")).toBeUndefined();
  });
});

describe("VXLAN", () => {
  const inner = [MACS, "8100 0007 0800", ip4(20, 6), TCP];
  const outer = (flags: string, dport = 4789) => [ETH4, ip4(74, 17), udp(dport, 74), flags, "000000", "00002a 99"];

  test("the inner packet, with or without the I bit", () => {
    for (const flags of ["08", "00"]) {
      const { f, kinds } = parse([...outer(flags), ...inner]);
      expect([f("misc.vxlan_vni"), f("misc5.tunnel_header_1")]).toEqual([0x2an, 0x2a99n]);
      expect([f("inner.first_vid"), f("inner.tcp_flags"), f("inner.l4_ok")]).toEqual([7n, 0x112n, 1n]);
      expect(kinds.slice(3)).toEqual(["vxlan", "ethernet", "vlan", "ipv4", "tcp"]);
    }
  });

  test("another port is payload, and so is a VXLAN inside", () => {
    expect(parse([...outer("08", 4788), ...inner]).f("inner.dmac")).toBeUndefined();
    const inside = [ETH4, ip4(28, 17), udp(4789, 28), "0800000000002b00", ETH4.slice(0, 36)];
    const { f, kinds } = parse([...outer("08"), ...inside]);
    expect([f("inner.udp_dport"), f("misc.vxlan_vni"), kinds.at(-1)]).toEqual([4789n, 0x2an, "udp"]);
  });

  test("a cut inner Ethernet header says so at its level", () => {
    const { f, stopped } = parse([...outer("08"), ...inner], { cut: 55 });
    expect([f("misc.vxlan_vni"), f("inner.dmac"), f("inner.l3_ok")]).toEqual([0x2an, undefined, 0n]);
    expect(stopped).toMatchObject({ header: "ethernet", offset: 50, had: 5 });
  });
});
