// Tests the reference parser on handmade frames: SCTP, ESP, BTH, IP in IP, and the ports of UDP.

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
  u16,
  udp,
} from "./handmade.js";

const VXLAN = "08000000 00002a00";
const inVxlan = (...parts: string[]) => overUdp(4789, VXLAN, ETH4, ...parts);

describe("SCTP", () => {
  const SCTP = "0b80 0050 00000001 00000000";

  test("its ports, at either level", () => {
    const outer = parse(over6(132, SCTP, "01020304"));
    expect([outer.of("ext.outer_sctp_"), outer.f("outer.l4_ok")]).toEqual([{ sport: 0xb80n, dport: 0x50n }, 0n]);
    expect(outer.payload).toEqual({ offset: 66, end: 70 });
    expect(parse(inVxlan(ip4(12, 132), SCTP)).of("ext.inner_sctp_")).toEqual({ sport: 0xb80n, dport: 0x50n });
  });

  test("twelve bytes or nothing", () => {
    const { of, stopped } = parse(over4(132, SCTP), { cut: 45 });
    expect(of("ext.outer_sctp")).toEqual({});
    expect(stopped).toMatchObject({ header: "sctp", offset: AT_IP4, wanted: 12, had: 11 });
  });
});

describe("ESP", () => {
  const ESP = "12345678 00000007";
  const spi = (level: string, one: { f: (name: string) => bigint | undefined }) => [
    one.f(`misc.${level}_esp_spi`),
    one.f(`ext.${level}_esp_seq`),
  ];

  test("over IP and in UDP 4500, at either level", () => {
    for (const frame of [over4(50, ESP, "ff"), over6(50, ESP), overUdp(4500, ESP)])
      expect(spi("outer", parse(frame))).toEqual([0x12345678n, 7n]);
    expect(spi("inner", parse(inVxlan(ip4(8, 50), ESP)))).toEqual([0x12345678n, 7n]);
    expect(spi("inner", parse(inVxlan(ip4(16, 17), udp(4500, 16), ESP)))).toEqual([0x12345678n, 7n]);
    const inUdp = parse(overUdp(4500, ESP));
    expect([inUdp.f("outer.ip_protocol"), inUdp.f("outer.udp_dport")]).toEqual([17n, 4500n]);
  });

  test.each([
    ["nothing", "", 0],
    ["three zero bytes", "000000", 3],
    ["0xff and more", "ff00", 2],
    ["one byte that is not 0xff", "fe", 1],
  ])("UDP 4500 with %s is ESP that is cut", (_name, payload, had) => {
    expect(parse(overUdp(4500, payload)).stopped).toMatchObject({
      header: "esp",
      offset: AT_UDP,
      wanted: 8,
      had,
      reason: "beyond_packet",
    });
  });

  test.each([
    ["a keep-alive", "ff"],
    ["the non-ESP marker alone", "00000000"],
    ["IKE", "00000000 0102030405060708"],
  ])("UDP 4500 with %s is no ESP", (_name, payload) => {
    const { kinds, stopped, payload: left } = parse(overUdp(4500, payload));
    expect([kinds.at(-1), stopped, left.offset]).toEqual(["udp", null, AT_UDP]);
  });

  test("0xff that is one of more bytes on the wire, and a marker that is cut, are ESP", () => {
    expect(parse(overUdp(4500, "ffffffff 00000001"), { cut: AT_UDP + 1 }).stopped).toMatchObject({
      header: "esp",
      had: 1,
    });
    expect(parse(overUdp(4500, "00000000 00000001"), { cut: AT_UDP + 3 }).stopped).toMatchObject({
      header: "esp",
      had: 3,
    });
    expect(parse(overUdp(4500, "00000000 00000001"), { cut: AT_UDP + 4 }).stopped).toBeNull();
  });

  test.each(["ESP", "a keep-alive", "IKE"])("%s from port 4500, as to it, at either level", (what) => {
    const payload = { ESP, "a keep-alive": "ff", IKE: "00000000 0102030405060708" }[what] ?? "";
    const header = `1194 c000 ${u16(8 + size(payload))} 0000`;
    const frames = [over4(17, header, payload), over6(17, header, payload)].map((frame) => parse(frame));
    const inner = parse(inVxlan(ip4(8 + size(payload), 17), header, payload));
    const expected = what === "ESP" ? [0x12345678n, 7n] : [undefined, undefined];
    for (const one of frames) expect([spi("outer", one), one.stopped]).toEqual([expected, null]);
    expect([spi("inner", inner), inner.stopped]).toEqual([expected, null]);
  });

  test("the destination port decides, if it is known", () => {
    for (const [port, kind] of [
      ["12b5", "vxlan"],
      ["12b7", "bth"],
      ["0868", "gtpu"],
    ] as const) {
      const one = parse(over4(17, `1194 ${port} 0018 0000`, "30ff 0000 00000001 0000000000000000"));
      expect([spi("outer", one), one.kinds[3]]).toEqual([[undefined, undefined], kind]);
    }
    // In the inner packet the tunnels of these ports are payload.
    const inner = parse(inVxlan(ip4(16, 17), "1194 12b5 0010 0000", ESP));
    expect([spi("inner", inner), inner.kinds.at(-1)]).toEqual([[undefined, undefined], "udp"]);
  });

  test("other source ports are never looked at", () => {
    for (const port of ["12b5", "12b7", "0868"]) {
      const { kinds } = parse(over4(17, `${port} 1234 0010 0000`, "0102030405060708"));
      expect(kinds.at(-1)).toBe("udp");
    }
  });
});

describe("BTH", () => {
  const BTH = "04 40 ffff 00 000123 80 000001";

  test("opcode, acknowledge request and queue pair of the outer packet", () => {
    const { of, payload } = parse(overUdp(4791, BTH, "0102"));
    expect(of("misc.bth_")).toEqual({ opcode: 4n, dst_qp: 0x123n, a: 1n });
    expect(payload).toEqual({ offset: 54, end: 56 });
    expect(parse(overUdp(4791, BTH.replace("80 ", "7f "))).f("misc.bth_a")).toBe(0n);
  });

  test("an inner one is listed and fills nothing; a cut one stops", () => {
    const { of, headers } = parse(inVxlan(ip4(20, 17), udp(4791, 20), BTH));
    expect([of("misc.bth_"), headers.at(-1)]).toEqual([{}, { kind: "bth", level: "inner", offset: 92 }]);
    expect(parse(overUdp(4791, BTH), { cut: 53 }).stopped).toMatchObject({ header: "bth", wanted: 12, had: 11 });
    expect(parse(overUdp(4791, BTH), { cut: 53 }).of("misc.bth_")).toEqual({});
  });
});

describe("IP in IP", () => {
  test.each([
    ["IPv4 in IPv4", over4(4, UDP4), 4n, AT_IP4],
    ["IPv4 in IPv6", over6(4, UDP4), 4n, 54],
    ["IPv6 in IPv4", over4(41, UDP6), 6n, AT_IP4],
    ["IPv6 in IPv6, behind an extension header", over6(60, "2900000000000000", UDP6), 6n, 62],
  ])("%s: no L2 fields, no dwords", (_name, frame, version, offset) => {
    const { f, of, headers } = parse(frame);
    expect([f("inner.ip_version"), f("inner.udp_dport"), f("inner.l3_ok")]).toEqual([version, 53n, 1n]);
    expect([f("inner.dmac"), f("inner.ethertype"), of("misc5.")]).toEqual([undefined, undefined, {}]);
    expect(headers.at(-2)).toMatchObject({ level: "inner", offset });
  });

  test("another version stops there", () => {
    const { f, stopped } = parse(over4(4, UDP6));
    expect([f("outer.ip_protocol"), f("inner.ip_version")]).toEqual([4n, undefined]);
    expect(stopped).toMatchObject({ header: "ipv4", offset: AT_IP4, reason: "bad_version" });
    expect(parse(over4(41, TCP4)).stopped).toMatchObject({ header: "ipv6", reason: "bad_version" });
  });

  test("a third packet is payload, and so are GRE and tunnels' ports inside", () => {
    expect(parse(over4(4, ip4(28, 4), UDP4)).kinds).toEqual(["ethernet", "ipv4", "ipv4"]);
    expect(parse(over4(4, ip4(8, 47), "0000080000000000")).kinds.at(-1)).toBe("ipv4");
    for (const port of [2152, 4789, 4790, 6081, 6635])
      expect(parse(over4(4, ip4(16, 17), udp(port, 16), VXLAN)).kinds.at(-1)).toBe("udp");
  });

  test("behind a later fragment nothing, behind a first one all that is there", () => {
    expect(parse([ETH4, ip4(28, 4, 1), UDP4]).kinds).toEqual(["ethernet", "ipv4"]);
    expect(parse([ETH4, ip4(28, 4, 0x2000), UDP4]).f("inner.udp_dport")).toBe(53n);
  });

  test.each([97, 137, 143])("protocol %d is no tunnel", (protocol) => {
    expect(parse(over4(protocol, "0000", MACS, "0800", UDP4)).kinds).toEqual(["ethernet", "ipv4"]);
  });

  test("IPv4's AH ends the walk, IPv6's does not", () => {
    const ah = "3201 0000 00000001 00000001";
    expect(parse(over4(51, ah, "1234567800000007")).kinds.at(-1)).toBe("ipv4");
    expect(parse(over6(51, ah, "1234567800000007")).f("misc.outer_esp_spi")).toBe(0x12345678n);
  });
});

test("the inner packet ends where its own length says", () => {
  const { payload, stopped } = parse([...over4(4, ip4(2, 6), "0102", "ff".repeat(30))]);
  expect([payload, stopped?.reason]).toEqual([{ offset: 54, end: 56 }, "beyond_packet"]);
  expect(parse(over6(4, ip4(0, 59))).payload).toEqual({ offset: 74, end: 74 });
});
