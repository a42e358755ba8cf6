/** Frames as hexadecimal digits: plain, and as tools print them. */
import { describe, expect, test } from "vitest";
import { buildFrame, parsePacket, readHex } from "../../src/packet/index.js";
import { hexOf } from "../../src/base/hex.js";
import { seedFor } from "../assembly/support/core.js";
import { Random } from "../oracle/generate/random.js";
import { rounds } from "../support/tier.js";

const frameOf = (text: string): { bytes: Uint8Array; linkType: number } => {
  const { layers, linkType } = parsePacket(text);
  return { bytes: buildFrame(layers), linkType };
};
const ETHERNET = 1;
const RAW = 101;

/** The layouts of tools: print-ascii.c of tcpdump, Wireshark's packet bytes, hexdump -C, xxd, ovs_hex_dump. */
const LAYOUTS: Readonly<Record<string, (bytes: Uint8Array) => string>> = {
  "tcpdump -x": (bytes) => dump(bytes, (at) => `\t0x${hex4(at)}:  `, 2, ""),
  "tcpdump -X": (bytes) => dump(bytes, (at) => `\t0x${hex4(at)}:  `, 2, "  "),
  Wireshark: (bytes) => dump(bytes, (at) => `${hex4(at)}  `, 1, "   "),
  "Wireshark, hexadecimal digits alone": (bytes) => dump(bytes, (at) => `${hex4(at)}   `, 1, ""),
  xxd: (bytes) => dump(bytes, (at) => `${at.toString(16).padStart(8, "0")}: `, 2, "  "),
  "hexdump -C": (bytes) => dump(bytes, (at) => `${at.toString(16).padStart(8, "0")}  `, 1, "  |", "  "),
  "Open vSwitch": (bytes) => dump(bytes, (at) => `${at.toString(16).padStart(8, "0")}  `, 1, " |", "-"),
};
const hex4 = (at: number): string => at.toString(16).padStart(4, "0");

function dump(bytes: Uint8Array, offset: (at: number) => string, group: number, beside: string, middle = " "): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.subarray(at, at + 16);
    let text = "";
    for (let n = 0; n < row.length; n += group)
      text += `${n === 0 ? "" : n === 8 ? middle : " "}${hexOf(row.subarray(n, n + group))}`;
    const width = 32 + 16 / group - 1 + middle.length - 1;
    const letters = [...row].map((byte) => (byte > 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(offset(at) + (beside === "" ? text : `${text.padEnd(width)}${beside}${letters}`));
  }
  return lines.join("\n");
}

describe.each(Object.entries(LAYOUTS))("%s", (_, write) => {
  test("frames of any bytes and length", () => {
    const random = new Random(seedFor("hexadecimal dumps"));
    for (let round = 0; round < rounds(2000); round++) {
      const letters = random.below(2) === 0;
      // Letters that are digits too are the hardest.
      const bytes = Uint8Array.from({ length: 1 + random.below(200) }, () =>
        letters ? "0123456789abcdef 0a".charCodeAt(random.below(19)) : random.below(256),
      );
      bytes[0] = 2;
      const text = write(bytes);
      expect(readHex(text), text).toEqual({ bytes, linkType: ETHERNET });
      const heading = "12:00:00.000001 IP 10.0.0.1.1 > 10.0.0.2.2: UDP, length 3\r\n";
      expect(readHex(`${heading}${text.replaceAll("\n", "\r\n")}\r\n\r\n`)).toEqual({ bytes, linkType: ETHERNET });
    }
  });

  test("a byte less, or another sign, is refused at its place", () => {
    const bytes = Uint8Array.from({ length: 40 }, (_value, n) => n + 16);
    const lines = write(bytes).split("\n");
    const at = (lines[1] ?? "").lastIndexOf("22");
    const second = (with_: string): string =>
      [lines[0], `${lines[1]?.slice(0, at)}${with_}${lines[1]?.slice(at + 2)}`, lines[2]].join("\n");
    expect(readHex(second("zz"))).toEqual({ line: 2, column: at + 1, fault: '"z" is not a hexadecimal digit' });
    expect(readHex(second(""))).toMatchObject({ line: 2 });
    expect(readHex([lines[0], lines[2]].join("\n"))).toMatchObject({
      line: 1,
      fault: "the line has 16 bytes, and the next offset is 32 further",
    });
    expect(readHex([...lines, "", ...lines].join("\n"))).toMatchObject({
      line: 5,
      fault: "another frame begins here: one at a time",
    });
    expect(readHex([...lines, "-- 3 frames"].join("\n"))).toMatchObject({
      line: 4,
      column: 1,
      fault: "a line of the dump begins with its offset, in hexadecimal digits",
    });
  });
});

test("words of an odd number of bytes, which hexdump and od print with a zero in front", () => {
  const bytes = Uint8Array.of(0x12, 0x34, 0x56);
  expect(readHex("0000000 3412 0056\n0000003\n")).toEqual({ bytes, linkType: ETHERNET });
});

test("plain digits of an IP packet that is whole begin with it", () => {
  for (const text of ["raw / ipv4 / udp", "raw / ipv6 / udp"]) {
    const { bytes } = frameOf(text);
    expect(readHex(hexOf(bytes))).toEqual({ bytes, linkType: RAW });
    expect(readHex(hexOf(Uint8Array.of(...bytes, 0)))).toMatchObject({ linkType: ETHERNET });
  }
});

test("the heading of a second frame ends the first", () => {
  const one = "12:00:00.000000 IP 10.0.0.1.1 > 10.0.0.2.53: UDP, length 0\n\t0x0000:  4500 001c 0000 0000\n";
  expect(readHex(one + one)).toEqual({ line: 3, column: 1, fault: "another frame begins here: one at a time" });
});

test("plain digits", () => {
  const bytes = Uint8Array.from([0, 0x0a, 0xff, 1]);
  for (const text of ["000aff01", "0x000aff01", "00 0a ff 01", "00:0A:FF:01", "000a ff01\n", "00\n0aff01"])
    expect(readHex(text), text).toEqual({ bytes, linkType: ETHERNET });
  expect(readHex("")).toEqual({ bytes: new Uint8Array(), linkType: ETHERNET });
  const zeros = { bytes: new Uint8Array(6), linkType: ETHERNET };
  expect(readHex("0000 0000 0000")).toEqual(zeros);
  expect(readHex('ovs-ofctl packet-out br0 "in_port=1,packet=000aff01,actions=normal"')).toEqual({
    bytes,
    linkType: ETHERNET,
  });
  expect(readHex("00 0g")).toEqual({ line: 1, column: 5, fault: '"g" is not a hexadecimal digit' });
  expect(readHex("00\n 0")).toEqual({ line: 2, column: 3, fault: "odd number of digits (3); a byte has two" });
  expect(() => readHex(1 as unknown as string)).toThrow("readHex: text must be a string, not");
});

describe("where the bytes begin", () => {
  const cooked = (text: string): unknown => readHex(hexOf(frameOf(text).bytes));
  test.each([
    ["linux_cooked / ipv4 / udp", 113],
    ["linux_cooked / ipv6 / tcp", 113],
    ["linux_cooked_v2 / ipv4 / udp", 276],
    ["linux_cooked_v2 / ipv6 / udp", 276],
    ["ipv4 / udp", ETHERNET],
    ["eth 02:00:00:00:00:01 > 00:00:00:00:00:01 / ipv6", ETHERNET],
    ["eth 06:00:00:00:00:01 > 00:00:00:01:00:06 / ipv4 / udp", ETHERNET],
  ])("%s", (text, linkType) => {
    expect(cooked(text)).toEqual({ bytes: frameOf(text).bytes, linkType });
  });

  test("tcpdump -x leaves the link layer out", () => {
    const write = LAYOUTS["tcpdump -x"] as (bytes: Uint8Array) => string;
    for (const text of ["raw / ipv4 / udp", "raw / ipv6 / udp"]) {
      const { bytes } = frameOf(text);
      expect(readHex(write(bytes))).toEqual({ bytes, linkType: RAW });
      expect(readHex(write(frameOf(text.replace("raw", "eth")).bytes))).toMatchObject({ linkType: ETHERNET });
    }
    // A checksum that is wrong: as good a MAC address.
    const { bytes } = frameOf("raw / ipv4 / udp");
    bytes[10] = (bytes[10] ?? 0) ^ 1;
    expect(readHex(write(bytes))).toMatchObject({ linkType: ETHERNET });
  });
});

test("source and destination of a header with ports are its ports", () => {
  for (const header of ["udp", "tcp", "sctp"])
    expect(frameOf(`ipv4 / ${header} source 7, destination 53`)).toEqual(frameOf(`ipv4 / ${header} 7 > 53`));
  expect(() => parsePacket("ipv4 / icmp destination 5")).toThrow("no field has this name");
});
