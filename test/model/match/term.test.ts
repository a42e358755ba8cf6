/** Values that users write after the name of a field. */
import { describe, expect, it, test } from "vitest";
import { inCall, SteeringError } from "../../../src/errors.js";
import { formatIpv6, parseIpv6, parseMac } from "../../../src/packet/addresses.js";
import { fieldNamed, type Field } from "../../../src/model/match/fields.js";
import { parseBits, parseMask, parseTerm, type TermText } from "../../../src/model/match/term.js";

const field = (name: string): Field => fieldNamed(name) as Field;
const term = (name: string, text: TermText): unknown =>
  inCall("test", () => parseTerm(`match.${name}`, field(name), text));

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof SteeringError) return error.message;
    throw error;
  }
  return "accepted";
}

test.each<[string, TermText, unknown]>([
  ["outer.tcp_dport", 443, { kind: "bits", mask: 0xffffn, value: 443n }],
  ["outer.tcp_dport", 443n, { kind: "bits", mask: 0xffffn, value: 443n }],
  ["outer.tcp_dport", " 0x1bb ", { kind: "bits", mask: 0xffffn, value: 443n }],
  ["outer.tcp_flags", "0x2/0x3f", { kind: "bits", mask: 0x3fn, value: 2n }],
  ["outer.tcp_dport", "1024-65535", { kind: "range", low: 1024n, high: 65535n }],
  ["outer.tcp_dport", "80-80", { kind: "bits", mask: 0xffffn, value: 80n }],
  ["outer.tcp_dport", "any", { kind: "any" }],
  ["outer.ip_protocol", "udp", { kind: "bits", mask: 0xffn, value: 17n }],
  ["misc.source_port", "uplink", { kind: "bits", mask: 0xffffn, value: 0xffffn }],
  ["inner.ethertype", "ipv6", { kind: "bits", mask: 0xffffn, value: 0x86ddn }],
  ["outer.ipv4_dst", "10.0.0.0/8", { kind: "bits", mask: 0xff000000n, value: 0x0a000000n }],
  ["outer.ipv4_dst", "11.134.200.6", { kind: "bits", mask: 0xffffffffn, value: 0x0b86c806n }],
  ["outer.ipv4_dst", "10.0.3.0/255.0.255.0", { kind: "bits", mask: 0xff00ff00n, value: 0x0a000300n }],
  ["outer.ipv4_dst", "10.0.0.1-10.0.0.9", { kind: "range", low: 0x0a000001n, high: 0x0a000009n }],
  ["outer.ipv4_dst", "0.0.0.0/0", { kind: "bits", mask: 0n, value: 0n }],
  ["outer.ipv6_src", "fe80::/10", { kind: "bits", mask: 0x3ffn << 118n, value: 0xfe80n << 112n }],
  ["outer.dmac", "66:11:22:33:44:55", { kind: "bits", mask: 0xffffffffffffn, value: 0x661122334455n }],
  ["outer.dmac", "66-11-22-33-44-55", { kind: "bits", mask: 0xffffffffffffn, value: 0x661122334455n }],
  ["outer.dmac", "01:00:00:00:00:00/01:00:00:00:00:00", { kind: "bits", mask: 1n << 40n, value: 1n << 40n }],
])("%s %s", (name, text, expected) => {
  expect(term(name, text)).toEqual(expected);
});

test.each<[string, TermText, string]>([
  [
    "outer.tcp_dport",
    65536,
    "test: match.outer.tcp_dport = 65536: not a number that fits the field (EINVAL); outer.tcp_dport has 16 bits: 0 to 65535",
  ],
  ["outer.tcp_dport", -1, "not a number that fits the field (EINVAL)"],
  ["outer.tcp_dport", 1.5, "not a number that fits the field (EINVAL)"],
  [
    "outer.tcp_dport",
    "http",
    'match.outer.tcp_dport = "http": not a number that fits the field (EINVAL); write it as 80',
  ],
  ["outer.tcp_dport", "__proto__", "not a number that fits the field"],
  ["outer.tcp_dport", "", "not a number that fits the field"],
  ["outer.tcp_dport", "1/2/3", "not a number that fits the field"],
  ["outer.tcp_dport", "9-1", 'not a range that fits the field (EINVAL); the lower end comes first: "1-9"'],
  ["outer.tcp_dport", "1-99999", "0 to 65535"],
  [
    "outer.ipv4_dst",
    "10.0.0.0/33",
    "not a prefix length of this address (EINVAL); a prefix of outer.ipv4_dst has 0 to 32 bits",
  ],
  ["outer.ipv4_dst", "10.1.0.0/8", "the value has a bit outside its mask (EINVAL); the mask keeps 10.0.0.0/8"],
  ["outer.ipv4_dst", "10.0.0", "not an address of this kind (EINVAL)"],
  ["outer.ipv4_dst", "10.0.0.256", "not an address of this kind"],
  ["outer.ipv6_src", "fe80::1::2", "not an address of this kind"],
  ["outer.dmac", "66:11:22:33:44", "not an address of this kind"],
])("%s %s is refused", (name, text, message) => {
  expect(refusal(() => term(name, text))).toContain(message);
});

test("another JavaScript type is a TypeError", () => {
  expect(() => term("outer.tcp_dport", true as unknown as TermText)).toThrow(TypeError);
});

test("masks", () => {
  const mask = (name: string, text: TermText): bigint => parseMask(`mask.${name}`, field(name), text);
  expect(mask("outer.ipv4_dst", "/24")).toBe(0xffffff00n);
  expect(mask("outer.ipv4_dst", "full")).toBe(0xffffffffn);
  expect(mask("outer.ipv4_dst", "255.255.0.0")).toBe(0xffff0000n);
  expect(mask("outer.tcp_dport", "0xff00")).toBe(0xff00n);
  expect(mask("outer.tcp_dport", 255)).toBe(255n);
  expect(refusal(() => mask("outer.tcp_dport", "wide"))).toContain("not a number that fits the field");
});

test("IPv6 addresses as RFC 4291 and RFC 5952 write them", () => {
  const known: [string, string][] = [
    ["::", "::"],
    ["::1", "::1"],
    ["fe80::1", "fe80::1"],
    ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["::ffff:192.0.2.1", "::ffff:c000:201"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
  ];
  for (const [text, canonical] of known) expect(formatIpv6(parseIpv6(text) as bigint), text).toBe(canonical);
  for (const text of [
    "",
    ":",
    ":::",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7:8::",
    "g::",
    "1.2.3.4",
    "12345::",
  ]) {
    expect(parseIpv6(text), text).toBeUndefined();
  }
  expect(parseMac("6:1:2:3:4:5")).toBe(0x060102030405n);
});

describe("parseBits", () => {
  const form = (name: string, width: number, kind: "number" | "ipv4" = "number") => ({ name, width, kind });

  it.each([
    [form("tcp.dst_port", 16), 443, { mask: 0xffffn, value: 443n }],
    [form("tcp.dst_port", 16), " 0x1/0xff ", { mask: 0xffn, value: 1n }],
    [form("ipv4.dst_ip", 32, "ipv4"), "10.0.0.0/8", { mask: 0xff00_0000n, value: 0x0a00_0000n }],
    [form("ipv4_ext.proto", 8), "udp", { mask: 0xffn, value: 17n }],
    [form("ipv6.next_hdr", 8), "esp", { mask: 0xffn, value: 50n }],
    [form("eth.ether_type", 16), "arp", { mask: 0xffffn, value: 0x0806n }],
    [form("gre.protocol", 16), "ipv6", { mask: 0xffffn, value: 0x86ddn }],
  ])("%j: %j", (field, text, bits) => {
    expect(parseBits("path", field, text)).toEqual(bits);
  });

  it("asks the bits that can be asked where no mask is given", () => {
    expect(parseBits("path", form("a.flags", 8), 2, 6n)).toEqual({ mask: 6n, value: 2n });
    expect(parseBits("path", form("a.flags", 8), "2/3", 6n)).toEqual({ mask: 3n, value: 2n });
  });

  it.each([
    ["80-90", /write it as 80, "0x50" or "0x2\/0x3f"$/],
    ["any", /write it as 80, "0x50" or "0x2\/0x3f"$/],
    ["tcp", /not a number that fits the field/],
    ["7", /the mask keeps 6\/0x6$/],
    [7, /bits that can be asked: 0x6$/],
    [256, /a\.flags has 8 bits: 0 to 255$/],
  ])("refuses %j", (text, message) => {
    expect(() => parseBits("path", form("a.flags", 8), text, 6n)).toThrow(message);
  });
});
