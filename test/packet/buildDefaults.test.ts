/** Default values, compared with headers written by hand and with checksums of other programs. */
import { expect, test } from "vitest";
import { buildFrame, type Layer } from "../../src/packet/index.js";
import { hexBytes, hexOf } from "../../src/packet/bytes.js";
import { onesComplementSum, pseudoHeader } from "../oracle/wire/checksum.js";

const hex = (...layers: readonly Layer[]): string => hexOf(buildFrame(layers));
const DATA = Uint8Array.of(1, 2, 3);

test("defaults are what correct frames have", () => {
  // An IPv4 header whose checksum textbooks give.
  const ip = buildFrame([
    {
      header: "ipv4",
      identification: 0,
      flags: "df",
      protocol: 17,
      source: "192.168.0.1",
      destination: "192.168.0.199",
    },
    new Uint8Array(95),
  ]);
  expect(hexOf(ip.slice(0, 20))).toBe("45000073000040004011b861c0a80001c0a800c7");
  // SCTP: the CRC32c check value of "123456789" is 0xe3069283, sent lowest byte first.
  const sctp = buildFrame([{ header: "ipv4" }, { header: "sctp" }, DATA]);
  const crc = crc32cBitwise([...sctp.slice(20, 28), 0, 0, 0, 0, ...DATA]);
  expect([...sctp.slice(28, 32)]).toEqual([crc & 0xff, (crc >>> 8) & 0xff, (crc >>> 16) & 0xff, crc >>> 24]);
  expect(crc32cBitwise([...new TextEncoder().encode("123456789")])).toBe(0xe3069283);
  for (const [layers, expected] of DEFAULT_HEADERS) expect(hex(...layers)).toBe(expected.replaceAll(" ", ""));
});

/** RFC 9260 appendix A, bit by bit and not reflected until the end. */
function crc32cBitwise(bytes: readonly number[]): number {
  let crc = 0xffffffff;
  const mirror = (value: number, bits: number): number => {
    let out = 0;
    for (let i = 0; i < bits; i++) if ((value >>> i) & 1) out |= 1 << (bits - 1 - i);
    return out >>> 0;
  };
  for (const byte of bytes) {
    crc = (crc ^ (mirror(byte, 8) << 24)) >>> 0;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x80000000 ? 0x1edc6f41 : 0)) >>> 0;
  }
  return (mirror(crc, 32) ^ 0xffffffff) >>> 0;
}

const A4 = "c0000201";
const B4 = "c0000202";
const A6 = "20010db8000000000000000000000001";
const B6 = "20010db8000000000000000000000002";

/** Written by hand; checksums by the reference of test/oracle/wire/checksum.ts. */
const sum = (...parts: readonly string[]): string => {
  const all = parts.map((part) => hexBytes(part) as Uint8Array);
  return (0xffff - onesComplementSum(...all)).toString(16).padStart(4, "0");
};
const pseudo4 = (protocol: number, length: number): string =>
  hexOf(Uint8Array.from(pseudoHeader(hexBytes(A4 + B4) as Uint8Array, protocol, length)));
const pseudo6 = (protocol: number, length: number): string =>
  hexOf(Uint8Array.from(pseudoHeader(hexBytes(A6 + B6) as Uint8Array, protocol, length)));

function ipv4(protocol: string, length: number, checksumOf = ""): string {
  const head = `4500${length.toString(16).padStart(4, "0")}00000000 40${protocol}`;
  return `${head} ${checksumOf || sum(`${head} 0000 ${A4}${B4}`)} ${A4}${B4}`;
}

const ETHERNET = "020000000002 020000000001";

const DEFAULT_HEADERS: readonly (readonly [readonly Layer[], string])[] = [
  [[{ header: "ethernet" }], `${ETHERNET} 88b5`],
  [[{ header: "ethernet" }, DATA], `${ETHERNET} 88b5 010203`],
  [[{ header: "ethernet" }, { header: "vlan" }], `${ETHERNET} 8100 0001 88b5`],
  [[{ header: "ethernet" }, { header: "vlan" }, { header: "vlan" }], `${ETHERNET} 88a8 0001 8100 0001 88b5`],
  [
    [{ header: "ethernet", source: "02:00:00:00:00:99" }, { header: "arp" }],
    `020000000002 020000000099 0806 0001 0800 06 04 0001 020000000099 ${A4} 000000000000 ${B4}`,
  ],
  [[{ header: "ethernet" }, { header: "mpls" }, { header: "mpls" }], `${ETHERNET} 8847 00010040 00010140`],
  [[{ header: "ethernet" }, { header: "macsec" }, new Uint8Array(20)], `${ETHERNET} 88e5 0c 04 00000001 ${"00".repeat(20)}`],
  [[{ header: "ethernet" }, { header: "macsec", sci: 1n }, new Uint8Array(64)], `${ETHERNET} 88e5 2c 00 00000001 0000000000000001 ${"00".repeat(64)}`],
  [[{ header: "loopback" }, { header: "ipv4" }], `00000002 ${ipv4("fd", 20)}`],
  [[{ header: "loopback" }, { header: "ipv6" }], `00000018 60000000 0000 3b 40 ${A6}${B6}`],
  [[{ header: "linux_cooked" }, { header: "ipv4" }], `0000 0001 0006 020000000001 0000 0800 ${ipv4("fd", 20)}`],
  [[{ header: "linux_cooked_v2" }, { header: "ipv4" }], `0800 0000 00000001 0001 00 06 020000000001 0000 ${ipv4("fd", 20)}`],
  [
    [{ header: "ipv4" }, { header: "udp" }, DATA],
    `${ipv4("11", 31)} c000 0009 000b ${sum(pseudo4(17, 11), "c0000009000b 0000 010203")} 010203`,
  ],
  [
    [{ header: "ipv6" }, { header: "udp" }, DATA],
    `60000000 000b 11 40 ${A6}${B6} c000 0009 000b ${sum(pseudo6(17, 11), "c0000009000b 0000 010203")} 010203`,
  ],
  [
    [{ header: "ipv4" }, { header: "tcp" }],
    `${ipv4("06", 40)} c000 0009 00000000 00000000 5002 ffff ${sum(pseudo4(6, 20), "c00000090000000000000000 5002ffff 00000000")} 0000`,
  ],
  [
    [{ header: "ipv4" }, { header: "icmp" }, DATA],
    `${ipv4("01", 31)} 0800 ${sum("0800 0000 0001 0001 010203")} 0001 0001 010203`,
  ],
  [
    [{ header: "ipv6" }, { header: "icmpv6" }],
    `60000000 0008 3a 40 ${A6}${B6} 8000 ${sum(pseudo6(58, 8), "8000 0000 00010001")} 0001 0001`,
  ],
  [[{ header: "ipv6" }, { header: "ipv6_hop_by_hop" }], `60000000 0008 00 40 ${A6}${B6} 3b 00 010400000000`],
  [[{ header: "ipv6" }, { header: "ipv6_destination" }, DATA], `60000000 000b 3c 40 ${A6}${B6} fd 00 010400000000 010203`],
  [[{ header: "ipv6" }, { header: "ipv6_routing" }], `60000000 0018 2b 40 ${A6}${B6} 3b 02 04 00 00000000 ${B6}`],
  [[{ header: "ipv6" }, { header: "ipv6_fragment" }], `60000000 0008 2c 40 ${A6}${B6} 3b 00 0000 00000000`],
  [[{ header: "ipv6" }, { header: "ah" }], `60000000 0018 33 40 ${A6}${B6} 3b 04 0000 00000100 00000001 ${"00".repeat(12)}`],
  [[{ header: "ipv4" }, { header: "esp" }], `${ipv4("32", 28)} 00000100 00000001`],
  [[{ header: "ipv4" }, { header: "gre" }], `${ipv4("2f", 24)} 0000 88b5`],
  [[{ header: "ipv4" }, { header: "gre", c: 1 }, DATA], `${ipv4("2f", 31)} 8000 88b5 ${sum("800088b5 00000000 010203")} 0000 010203`],
  [
    [{ header: "ipv4" }, { header: "gre", routing: "08000004 0a000001 00000000", key: 5 }, DATA],
    `${ipv4("2f", 47)} 6000 88b5 0000 0000 00000005 08000004 0a000001 00000000 010203`,
  ],
  [[{ header: "ipv4" }, { header: "gre", acknowledgement: 5 }], `${ipv4("2f", 28)} 0081 88b5 00000005`],
  [[{ header: "gtpu" }], "30 ff 0000 00000001"],
  [[{ header: "gtpu", n_pdu: 5 }, DATA], "31 ff 0007 00000001 0000 05 00 010203"],
  [[{ header: "gtpu" }, { header: "gtpu_extension" }, { header: "gtpu_extension", content: "0102030405060708090a" }], "34 ff 0014 00000001 0000 00 85 01 0000 85 03 0102030405060708090a 00"],
  [[{ header: "geneve", options: [{ class: 1, type: 2, data: DATA.slice(0, 0) }] }], "01 00 88b5 000001 00 0001 02 00"],
  [[{ header: "geneve", options: [{ class: 1, type: 0x82, data: new Uint8Array(4) }] }], "02 40 88b5 000001 00 0001 82 01 00000000"],
  [[{ header: "vxlan" }], "08000000 000001 00"],
  [[{ header: "vxlan_gpe" }], "0c000000 000001 00"],
  [[{ header: "bth" }], "04 00 ffff 00 000002 00 000000"],
]; // prettier-ignore

test("ports, protocols and types follow from the next layer", () => {
  const port = (next: Layer): number =>
    Number.parseInt(hex({ header: "ipv4" }, { header: "udp" }, next).slice(44, 48), 16);
  const ports = ["vxlan", "vxlan_gpe", "geneve", "gtpu", "mpls", "esp", "bth"].map((header) =>
    port({ header } as Layer),
  );
  expect(ports).toEqual([4789, 4790, 6081, 2152, 6635, 4500, 4791]);
  const protocol = (next: Layer): number => Number.parseInt(hex({ header: "ipv4" }, next).slice(18, 20), 16);
  const uppers = ["icmp", "ipv4", "tcp", "udp", "ipv6", "gre", "esp", "ah", "icmpv6", "sctp"] as const;
  expect(uppers.filter((header) => header !== "icmpv6").map((header) => protocol({ header }))).toEqual([
    1, 4, 6, 17, 41, 47, 50, 51, 132,
  ]);
  const ethertype = (next: Layer): string => hex({ header: "ethernet" }, next).slice(24, 28);
  const network = ["ipv4", "ipv6", "arp", "vlan", "mpls", "macsec"] as const;
  expect(network.map((header) => ethertype({ header }))).toEqual(["0800", "86dd", "0806", "8100", "8847", "88e5"]);
  const carried = (header: "gre" | "geneve", next: Layer): string => hex({ header }, next).slice(4, 8);
  const tunnelled = ["ipv4", "ipv6", "ethernet"] as const;
  expect(tunnelled.map((header) => carried("gre", { header }))).toEqual(["0800", "86dd", "6558"]);
  expect(tunnelled.map((header) => carried("geneve", { header }))).toEqual(["0800", "86dd", "6558"]);
  expect(tunnelled.map((header) => hex({ header: "vxlan_gpe" }, { header }).slice(6, 8))).toEqual(["01", "02", "03"]);
});

test("a segment's checksum covers the final destination of a source route", () => {
  const given = (destination: string): string =>
    hex({ header: "ipv6", destination }, { header: "udp" }, DATA).slice(-10, -6);
  const routed = (layer: Layer): string => hex({ header: "ipv6" }, layer, { header: "udp" }, DATA).slice(-10, -6);
  const data = ["2001:db8::c", "2001:db8::b"];
  expect(routed({ header: "ipv6_routing", segments_left: 1, data })).toBe(given("2001:db8::c"));
  expect(routed({ header: "ipv6_routing", type: 0, segments_left: 1, data })).toBe(given("2001:db8::b"));
  expect(routed({ header: "ipv6_routing", data })).toBe(given("2001:db8::2"));
  const given4 = (destination: string): string => hex({ header: "ipv4", destination }, { header: "tcp" }).slice(-8, -4);
  const option = { option: "strict_source_route", addresses: ["192.0.2.8", "192.0.2.9"] } as const;
  const routed4 = (pointer: number): string =>
    hex({ header: "ipv4", options: [{ ...option, pointer }] }, { header: "tcp" }).slice(-8, -4);
  expect([routed4(4), routed4(8), routed4(12)]).toEqual([
    given4("192.0.2.9"),
    given4("192.0.2.9"),
    given4("192.0.2.2"),
  ]);
});

test("a UDP checksum that sums up to 0 is 0xffff", () => {
  const right = buildFrame([{ header: "ipv4" }, { header: "udp" }, Uint8Array.of(0, 0)]).slice(26, 28);
  expect(hex({ header: "ipv4" }, { header: "udp" }, right).slice(52, 56)).toBe("ffff");
});
