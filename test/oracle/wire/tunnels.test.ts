// Tests the reference parser on handmade frames: VXLAN-GPE, MPLS over UDP and GRE, Geneve, GRE and
// GTP-U.

import { describe, expect, test } from "vitest";
import {
  AT_IP4,
  AT_UDP,
  ETH4,
  MACS,
  TCP4,
  UDP4,
  UDP6,
  ip4,
  over4,
  over6,
  overUdp,
  parse,
  size,
  udp,
} from "./handmade.js";

/** The tunnel header dwords that are present. */
const dwords = (one: ReturnType<typeof parse>) => Object.values(one.of("misc5.tunnel_header_"));
const inner = (one: ReturnType<typeof parse>) => [one.f("inner.ip_version"), one.f("inner.udp_dport")];
const ETHERNET = `${ETH4} ${UDP4}`;

describe("VXLAN-GPE", () => {
  test.each([
    [1, UDP4, [4n, 53n]],
    [2, UDP6, [6n, 53n]],
    [3, ETHERNET, [4n, 53n]],
    [4, UDP4, [undefined, undefined]],
    [0, UDP4, [undefined, undefined]],
  ])("next protocol %d", (next, payload, expected) => {
    const one = parse(overUdp(4790, `0c0000 0${next} 00002a 07`, payload));
    expect(one.of("misc3.outer_vxlan_gpe_")).toEqual({ flags: 0xcn, next_protocol: BigInt(next), vni: 0x2an });
    expect([inner(one), dwords(one)]).toEqual([expected, [0x0c000000n + BigInt(next), 0x2a07n]]);
    expect(one.f("inner.dmac") !== undefined).toBe(next === 3);
  });

  test("flags do not matter; another version than announced does", () => {
    expect(inner(parse(overUdp(4790, "00000001 00002a00", UDP4)))).toEqual([4n, 53n]);
    expect(parse(overUdp(4790, "0c000001 00002a00", UDP6)).stopped).toMatchObject({
      header: "ipv4",
      reason: "bad_version",
    });
  });
});

describe("MPLS over UDP", () => {
  test("the first entry, and the inner packet by its nibble", () => {
    const one = parse(overUdp(6635, "00010 6 40 00020 3 ff", UDP4));
    expect(one.of("misc2.")).toEqual({
      outer_first_mpls_over_udp_label: 16n,
      outer_first_mpls_over_udp_exp: 3n,
      outer_first_mpls_over_udp_s_bos: 0n,
      outer_first_mpls_over_udp_ttl: 64n,
    });
    expect([inner(one), one.f("inner.dmac"), dwords(one)]).toEqual([[4n, 53n], undefined, []]);
    expect(one.headers.filter(({ level }) => level === "outer").at(-1)).toMatchObject({
      kind: "mpls",
      offset: AT_UDP + 4,
    });
    expect(inner(parse(overUdp(6635, "00010140", UDP6)))).toEqual([6n, 53n]);
  });

  test("another nibble: no inner packet", () => {
    const one = parse(overUdp(6635, "00010140", "00000000", ETHERNET));
    expect([inner(one), one.stopped, one.payload.offset]).toEqual([[undefined, undefined], null, AT_UDP + 4]);
  });
});

describe("Geneve", () => {
  test("fields, options and what follows by protocol type", () => {
    const one = parse(overUdp(6081, "02 80 6558 00002a 00", "0102 80 01 11223344", ETHERNET));
    expect(one.of("misc.geneve_")).toEqual({
      opt_len: 2n,
      oam: 1n,
      protocol_type: 0x6558n,
      vni: 0x2an,
      tlv_option_0_exist: 0n,
    });
    expect(dwords(one)).toEqual([0x02806558n, 0x2a00n, 0x01028001n, 0x11223344n]);
    expect([inner(one), one.f("inner.dmac") === undefined]).toEqual([[4n, 53n], false]);
    expect(inner(parse(overUdp(6081, "0000 0800 00002a 00", UDP4)))).toEqual([4n, 53n]);
    expect(inner(parse(overUdp(6081, "0000 86dd 00002a 00", UDP6)))).toEqual([6n, 53n]);
    expect(inner(parse(overUdp(6081, "0000 894f 00002a 00", UDP4)))).toEqual([undefined, undefined]);
  });

  test("options are part of the header: whole or not at all", () => {
    const one = parse(overUdp(6081, "02 00 6558 00002a 00", "0102 80 01 112233"));
    expect([one.f("misc.geneve_vni"), dwords(one)]).toEqual([undefined, []]);
    expect(one.stopped).toMatchObject({
      header: "geneve",
      offset: AT_UDP,
      wanted: 16,
      had: 15,
      reason: "beyond_packet",
    });
  });

  test("another version: eight bytes, two dwords, nothing behind", () => {
    const one = parse(overUdp(6081, "42 80 0800 00002a 00", UDP4));
    expect([one.f("misc.geneve_opt_len"), one.f("misc.geneve_vni"), dwords(one).length]).toEqual([2n, 0x2an, 2]);
    expect([inner(one), one.stopped, one.payload.offset]).toEqual([[undefined, undefined], null, AT_UDP + 8]);
  });

  const parser = { geneveOption0: { class: 0x0102, type: 0x80 } };
  const option0 = (options: string, words: number, over = {}) => {
    const one = parse(overUdp(6081, `0${words} 00 0800 00002a 00`, options, UDP4), { parser, ...over });
    return [one.f("misc.geneve_tlv_option_0_exist"), one.f("misc3.geneve_tlv_option_0_data")];
  };

  test.each([
    ["the first", "0102 80 01 11223344", 2, [1n, 0x11223344n]],
    ["the second, with reserved bits set", "0103 80 01 55667788 0102 80 e1 11223344", 4, [1n, 0x11223344n]],
    ["the first of two", "0102 80 01 11223344 0102 80 01 55667788", 4, [1n, 0x11223344n]],
    ["longer data", "0102 80 02 11223344 55667788", 3, [1n, 0x11223344n]],
    ["no data", "0102 80 00 0102 80 01 11223344", 3, [1n, undefined]],
    ["another type, the critical bit only", "0102 00 01 11223344", 2, [0n, undefined]],
    ["one that reaches beyond the options", "0102 80 02 11223344", 2, [0n, undefined]],
    ["one behind an option that does", "0103 80 1f 55667788 0102 80 01 11223344", 4, [0n, undefined]],
  ])("option 0: %s", (_name, options, words, expected) => {
    expect(option0(options, words)).toEqual(expected);
  });

  test("option 0: without a declaration, and of another version, there is none", () => {
    expect(option0("0102 80 01 11223344", 2, { parser: {} })).toEqual([0n, undefined]);
    const one = parse(overUdp(6081, "42 00 0800 00002a 00", "0102 80 01 11223344"), { parser });
    expect(one.f("misc.geneve_tlv_option_0_exist")).toBe(0n);
  });
});

describe("GRE", () => {
  const gre = (...parts: string[]) => parse(over4(47, ...parts));
  const ROUTE = "0800 00 04 0a000003";
  const END = "0000 00 00";

  test.each([
    ["nothing", "0000", "", 4, {}],
    ["a checksum", "8000", "11111111", 8, { c_present: 1n }],
    ["a key", "2000", "22222222", 8, { k_present: 1n, key: 0x22222222n }],
    ["a sequence number", "1000", "33333333", 8, { s_present: 1n }],
    [
      "all three",
      "b000",
      "111111112222222233333333",
      16,
      { c_present: 1n, k_present: 1n, s_present: 1n, key: 0x22222222n },
    ],
    ["routing and a key", "6000", `11111111 22222222 ${END}`, 16, { k_present: 1n, key: 0x22222222n }],
    ["routes", "4000", `11111111 ${ROUTE} 0000 00 04 00000000 0800 00 00 ${END}`, 32, {}],
    ["strict route, recursion, A and other flags of version 0", "0ff8", "", 4, {}],
  ])("version 0 with %s", (_name, flags, rest, length, expected) => {
    const one = gre(flags, "0800", rest, UDP4);
    const none = { c_present: 0n, k_present: 0n, s_present: 0n };
    expect(one.of("misc.gre_")).toEqual({ ...none, protocol: 0x0800n, ...expected });
    expect([one.f("ext.gre_c_ks_res0_ver"), inner(one)]).toEqual([BigInt(`0x${flags}`), [4n, 53n]]);
    expect(dwords(one).length).toBe(Math.min(4, length / 4));
    expect(one.headers.at(-2)).toMatchObject({ level: "inner", offset: AT_IP4 + length });
  });

  test("an entry of odd length: the dwords are those that are whole", () => {
    const one = gre("4000 0800 11111111", "0800 00 01 ff", END, UDP4);
    expect([dwords(one).length, inner(one)]).toEqual([4, [4n, 53n]]);
    expect(dwords(gre("4001 880b 11111111", UDP4)).length).toBe(2);
  });

  test.each([
    ["its first four bytes", "080000", 12, 11],
    ["its bytes", "0800 00 04 0a0000", 16, 15],
    ["the one behind it", `${ROUTE} 0000`, 20, 18],
  ])(
    "routes that are cut in %s: the first dword, and the bytes up to there are wanted",
    (_name, routes, wanted, had) => {
      const one = gre("4000 0800 11111111", routes);
      expect([one.f("misc.gre_protocol"), dwords(one)]).toEqual([0x0800n, [0x40000800n]]);
      expect(one.stopped).toMatchObject({ header: "gre", offset: AT_IP4, wanted, had, reason: "beyond_packet" });
      expect(one.payload).toEqual({ offset: AT_IP4 + had, end: AT_IP4 + had });
    },
  );

  test.each([
    ["all of them", "b000 0800", 0],
    ["the checksum", "b000 0800 1111", 2],
    ["the key", "b000 0800 11111111 222222", 7],
    ["the sequence number", "b000 0800 11111111 22222222 333333", 11],
    ["all of them, in version 1", "b001 6558", 0],
    ["the acknowledgement of another version", "b087 0800 11111111 22222222 33333333 44", 13],
  ])("options that are cut, %s: the first dword without a key, nothing behind", (_name, header, had) => {
    const frame = over4(47, header, "55555555 55555555 55555555 55555555", UDP4);
    const flags = parseInt(header.slice(0, 4), 16);
    for (const one of [parse(frame, { cut: AT_IP4 + 4 + had }), gre(header)]) {
      const present = { c_present: 1n, k_present: 1n, s_present: 1n };
      expect(one.of("misc.gre_")).toEqual({ ...present, protocol: BigInt(`0x${header.slice(5, 9)}`) });
      expect([one.f("ext.gre_c_ks_res0_ver"), dwords(one).length, inner(one)]).toEqual([
        BigInt(flags),
        1,
        [undefined, undefined],
      ]);
      const wanted = flags === 0xb087 ? 20 : 16;
      expect(one.stopped).toMatchObject({ header: "gre", field: "options", offset: AT_IP4, wanted, had: 4 + had });
      expect([one.kinds.at(-1), one.payload]).toEqual(["gre", { offset: AT_IP4 + 4 + had, end: AT_IP4 + 4 + had }]);
    }
  });

  test("three bytes are no header", () => {
    const one = gre("b000 08");
    expect([one.of("misc.gre_"), one.kinds.at(-1)]).toEqual([{ c_present: 0n, k_present: 0n, s_present: 0n }, "ipv4"]);
    expect(one.stopped).toMatchObject({ header: "gre", wanted: 4, had: 3 });
  });

  test.each([
    ["0800", UDP4, [4n, 53n]],
    ["86dd", UDP6, [6n, 53n]],
    ["6558", ETHERNET, [4n, 53n]],
  ])("version 1 with protocol type %s is read as version 0", (type, payload, expected) => {
    for (const [flags, rest, length] of [
      ["2001", "22222222", 8],
      // A says nothing in version 0, R brings routes.
      ["2081", "22222222", 8],
      ["7081", `11111111 22222222 33333333 ${ROUTE} ${END}`, 28],
    ] as const) {
      const one = gre(flags, type, rest, payload);
      expect([one.f("misc.gre_key"), one.f("misc.gre_protocol")]).toEqual([0x22222222n, BigInt(`0x${type}`)]);
      expect([one.f("ext.gre_c_ks_res0_ver"), inner(one)]).toEqual([BigInt(`0x${flags}`), expected]);
      expect(one.headers.find(({ level }) => level === "inner")?.offset).toBe(AT_IP4 + length);
    }
  });

  test("other versions, and version 1 of PPTP: an acknowledgement, no routes, the key as ever, nothing behind", () => {
    const one = gre("7081 880b 11111111 22222222 33333333 44444444", UDP4);
    expect([one.f("misc.gre_key"), one.f("misc.gre_protocol"), dwords(one).length]).toEqual([0x22222222n, 0x880bn, 4]);
    expect([inner(one), one.payload.offset]).toEqual([[undefined, undefined], AT_IP4 + 20]);
    for (const header of ["0007 0800", "0002 6558", "0001 880b", "0001 88be"])
      expect(inner(gre(header, UDP4))).toEqual([undefined, undefined]);
    expect(gre("0001 8847 00010140", UDP4).of("misc2.")).toEqual({});
    expect(gre("0087 0800 4444").stopped).toMatchObject({ wanted: 8, had: 6 });
  });

  test.each([
    ["0800", UDP4, [4n, 53n]],
    ["86dd", UDP6, [6n, 53n]],
    ["6558", ETHERNET, [4n, 53n]],
    ["880b", UDP4, [undefined, undefined]],
    ["88be", ETHERNET, [undefined, undefined]],
    ["894f", UDP4, [undefined, undefined]],
  ])("protocol type %s", (type, payload, expected) => {
    expect(inner(gre("0000", type, payload))).toEqual(expected);
    expect(gre("0000", type, payload).f("inner.dmac") !== undefined).toBe(type === "6558");
  });

  test("NVGRE: the key is VSID and flow", () => {
    const one = parse(over6(47, "2000 6558 00123407", `${MACS} 8100 0005 0800`, UDP4));
    expect([one.f("misc.gre_key"), one.f("inner.first_vid"), inner(one)]).toEqual([0x123407n, 5n, [4n, 53n]]);
  });

  test.each(["8847", "8848"])("MPLS, protocol type %s", (type) => {
    const one = gre("2000", type, "0000002a 00010 6 40 00020 3 ff", UDP6);
    expect([one.f("misc2.outer_first_mpls_over_gre_label"), inner(one)]).toEqual([16n, [6n, 53n]]);
    expect(one.kinds.slice(2)).toEqual(["gre", "mpls", "mpls", "ipv6", "udp"]);
    const other = gre("0000", type, "00010140", "00000000");
    expect([inner(other), other.f("misc2.outer_first_mpls_over_gre_s_bos")]).toEqual([[undefined, undefined], 1n]);
  });
});

describe("GTP-U", () => {
  const gtpu = (...parts: string[]) => parse(overUdp(2152, ...parts));

  test("eight bytes and the inner packet by its nibble", () => {
    const one = gtpu("30 ff 001c 00000007", UDP4);
    expect(one.of("misc3.gtpu_")).toEqual({ msg_flags: 0x30n, msg_type: 255n, teid: 7n, dw_0: 0x30ff001cn });
    expect([dwords(one), inner(one)]).toEqual([
      [0x30ff001cn, 7n],
      [4n, 53n],
    ]);
    expect(inner(gtpu("30 ff 0000 00000007", UDP6))).toEqual([6n, 53n]);
    expect(inner(gtpu("30 ff 0000 00000007", "00000000"))).toEqual([undefined, undefined]);
  });

  test.each(["31", "32", "34"])("flags %s: twelve bytes", (flags) => {
    const one = gtpu(flags, "ff 0020 00000007 0102 03 00", UDP4);
    expect([one.f("misc3.gtpu_dw_2"), dwords(one).length, inner(one)]).toEqual([0x01020300n, 3, [4n, 53n]]);
    for (const [third, had] of [
      ["", 8],
      ["0102 03", 11],
    ] as const) {
      const cut = gtpu(flags, "ff 0020 00000007", third);
      expect(cut.stopped).toMatchObject({ header: "gtpu", field: "gtpu_dw_2", offset: AT_UDP, wanted: 12, had });
      expect(Object.keys(cut.of("misc3.gtpu_")).sort()).toEqual(["dw_0", "msg_flags", "msg_type", "teid"]);
      expect([dwords(cut), inner(cut)]).toEqual([
        [BigInt(`0x${flags}ff0020`), 7n],
        [undefined, undefined],
      ]);
      expect([cut.kinds.at(-1), cut.payload]).toEqual(["gtpu", { offset: AT_UDP + had, end: AT_UDP + had }]);
    }
    expect(gtpu(flags, "ff 0020 000000").of("misc3.gtpu_")).toEqual({});
  });

  test("extension headers up to a next type of 0, with E only", () => {
    const one = gtpu("34 ff 0030 00000007 0000 00 85", "01 1009 40", "02 000000000000 00", UDP4);
    expect([one.f("misc3.gtpu_first_ext_dw_0"), dwords(one).at(-1)]).toEqual([0x01100940n, 0x01100940n]);
    expect([one.kinds.slice(3), inner(one)]).toEqual([
      ["gtpu", "gtpu_extension", "gtpu_extension", "ipv4", "udp"],
      [4n, 53n],
    ]);
    const without = gtpu("32 ff 0020 00000007 0000 00 85", UDP4);
    expect([without.f("misc3.gtpu_first_ext_dw_0"), inner(without)]).toEqual([undefined, [4n, 53n]]);
  });

  test("an extension header of no words, or one that is cut", () => {
    const none = gtpu("34 ff 0030 00000007 0000 00 85", "00 1009 00", UDP4);
    expect(none.stopped).toMatchObject({ header: "gtpu_extension", offset: AT_UDP + 12, reason: "bad_header_length" });
    expect([none.f("misc3.gtpu_dw_2"), none.f("misc3.gtpu_first_ext_dw_0")]).toEqual([0x85n, undefined]);
    const cut = gtpu("34 ff 0030 00000007 0000 00 85", "01 1009 40", "02 0000 0000");
    expect(cut.f("misc3.gtpu_first_ext_dw_0")).toBe(0x01100940n);
    expect(cut.stopped).toMatchObject({ header: "gtpu_extension", offset: AT_UDP + 16, wanted: 8, had: 5 });
    expect(gtpu("34 ff 0030 00000007 0000 00 85", "0000").stopped).toMatchObject({ wanted: 4, had: 2 });
  });

  test("another message: its extension headers, and nothing behind", () => {
    const one = gtpu("36 01 0008 00000000 0000 00 85", "01 1009 00", UDP4);
    expect([one.kinds.slice(3), inner(one)]).toEqual([
      ["gtpu", "gtpu_extension"],
      [undefined, undefined],
    ]);
    expect(one.payload.offset).toBe(AT_UDP + 16);
  });

  test.each(["57", "27", "f7"])("flags %s are another version, or GTP': eight bytes, nothing behind", (flags) => {
    const one = gtpu(flags, "ff 0020 00000007 0102 03 85", UDP4);
    expect([one.f("misc3.gtpu_teid"), one.f("misc3.gtpu_dw_2"), dwords(one).length]).toEqual([7n, undefined, 2]);
    expect([inner(one), one.payload.offset]).toEqual([[undefined, undefined], AT_UDP + 8]);
  });
});

describe("labels inside the inner packet", () => {
  const ENTRY = "00010 6 40 00020 3 ff";
  const FIRST = { label: 16n, exp: 3n, s_bos: 0n, ttl: 64n };
  /** IPv4 in VXLAN-GPE, with GRE inside. */
  const inGre = (...parts: string[]) => overUdp(4790, "0c000001 00002a00", ip4(size(...parts), 47), ...parts);
  const inUdp = (port: number, ...parts: string[]) =>
    overUdp(4790, "0c000001 00002a00", ip4(8 + size(...parts), 17), udp(port, 8 + size(...parts)), ...parts);
  const labels = (one: ReturnType<typeof parse>) => [
    one.of("ext.inner_first_mpls_over_udp_"),
    one.of("ext.inner_first_mpls_over_gre_"),
  ];
  const AT_INNER = AT_UDP + 8 + 20;

  test("over UDP: the first entry, and all of it is payload", () => {
    const one = parse(inUdp(6635, ENTRY, UDP4));
    expect([labels(one), one.of("misc2."), one.stopped]).toEqual([[FIRST, {}], {}, null]);
    expect([one.kinds.slice(-2), one.payload.offset]).toEqual([["ipv4", "udp"], AT_INNER + 8]);
    expect(labels(parse(inUdp(6634, ENTRY)))).toEqual([{}, {}]);
  });

  test.each([
    ["bare", "0000 8847"],
    ["multicast", "0000 8848"],
    ["with everything", "b000 8847 00000001 00000002 00000003"],
    ["with a route", "4000 8847 00000000 0800 00 04 0a000003 0000 00 00"],
  ])("over GRE %s: the first entry, and all of it is payload", (_name, header) => {
    const one = parse(inGre(header, ENTRY, UDP4));
    expect([labels(one), one.of("misc2."), one.stopped]).toEqual([[{}, FIRST], {}, null]);
    expect([one.kinds.slice(-2), one.payload.offset]).toEqual([["vxlan_gpe", "ipv4"], AT_INNER]);
    expect([one.f("misc.gre_protocol"), one.f("ext.gre_c_ks_res0_ver"), dwords(one).length]).toEqual([
      undefined,
      undefined,
      2,
    ]);
  });

  test.each([
    ["another version", "0001 8847"],
    ["another type", "0000 0800"],
    ["a route that does not end", "4000 8847 00000000 0800 00 ff"],
  ])("over GRE, not behind %s", (_name, header) => {
    const one = parse(inGre(header, ENTRY));
    expect([labels(one), one.stopped]).toEqual([[{}, {}], null]);
  });

  test("an entry that is cut is none, and stops nothing", () => {
    for (const [frame, at] of [
      [inUdp(6635, ENTRY), AT_INNER + 8],
      [inGre("0000 8847", ENTRY), AT_INNER + 4],
    ] as const) {
      const one = parse(frame, { cut: at + 3 });
      expect([labels(one), one.stopped]).toEqual([[{}, {}], null]);
      expect(labels(parse(frame, { cut: at + 4 })).some((found) => found["label"] === 16n)).toBe(true);
    }
    expect(parse(inGre("0000")).stopped).toBeNull();
  });
});

test("the inner IPv4 packet that is announced and cut: inner fields stay away", () => {
  const one = parse(overUdp(4790, "0c000001 00002a00", TCP4), { cut: AT_UDP + 8 + 19 });
  expect([one.of("inner."), one.stopped?.header]).toMatchObject([{ l3_ok: 0n }, "ipv4"]);
  expect(inner(one)).toEqual([undefined, undefined]);
});
