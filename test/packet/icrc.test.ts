/** The invariant CRC: covered and excluded bytes. */
import { expect, test } from "vitest";
import { hexBytes, joined } from "../../src/packet/bytes.js";
import { crc32 } from "../../src/packet/checksum.js";
import { invariantCrc } from "../../src/packet/icrc.js";

const bytes = (hex: string): Uint8Array => hexBytes(hex) ?? new Uint8Array();

/** UDP to 4791, a UD BTH, a DETH, eight bytes. */
const BODY = bytes("c00012b700280000 6440ffff0000001200 00abcd 11111111 00000011 646174616772616d");
const IPV4 = bytes("4500003c00004000 40110000 0a000001 0a000002");
const IPV6 = bytes("6201234500281140 fe80000000000000000000fffe000001 fe80000000000000000000fffe000002");

/** By the polynomial as in the standard, highest bit first. */
function bitwise(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of data) {
    for (let bit = 0; bit < 8; bit++) {
      const out = (crc >>> 31) ^ ((byte >> bit) & 1);
      crc = (crc << 1) ^ (out ? 0x04c11db7 : 0);
    }
  }
  // Its bits are mirrored, and the bytes are sent lowest first: as a field, each byte is mirrored.
  const field = [24, 16, 8, 0].map((shift) => (~crc >>> shift) & 0xff);
  return field.reduce((all, byte) => all * 256 + mirrored(byte), 0);
}

const mirrored = (byte: number): number =>
  Array.from({ length: 8 }, (_, i) => ((byte >> i) & 1) << (7 - i)).reduce((all, bit) => all | bit, 0);

test("the CRC-32 of Ethernet", () => {
  const digits = new TextEncoder().encode("123456789");
  // The check value cbf43926, lowest byte first.
  expect(crc32(digits)).toBe(0x2639f4cb);
  expect(crc32(digits.subarray(0, 4), digits.subarray(4))).toBe(0x2639f4cb);
  expect(bitwise(digits)).toBe(0x2639f4cb);
});

test.each([
  ["IPv4", joined(IPV4, BODY), [1, 8, 10, 11], 20, 0xd55409ed],
  ["IPv6", joined(IPV6, BODY), [1, 2, 3, 7], 40, 0x3e8de077],
])("over %s", (_, packet, variant, udp, golden) => {
  // Computed with another program.
  expect(invariantCrc(packet)).toBe(golden);
  const ones = [...variant, udp + 6, udp + 7, udp + 12];
  const masked = packet.slice();
  for (const at of ones) masked[at] = 0xff;
  if (udp === 40) masked[0] = 0x6f;
  expect(bitwise(joined(new Uint8Array(8).fill(0xff), masked))).toBe(golden);
  for (let at = 0; at < packet.length; at++) {
    if (at === 0 && udp === 20) continue;
    const other = packet.slice();
    other[at] = (other[at] ?? 0) ^ 1;
    // The lowest bit of the first byte of IPv6 belongs to the traffic class.
    const free = ones.includes(at) || at === 0;
    expect(invariantCrc(other) === golden, `byte ${at}`).toBe(free);
  }
});

test("behind options of IPv4", () => {
  const header = joined(bytes("46"), IPV4.subarray(1), bytes("01010100"));
  const packet = joined(header, BODY);
  const other = packet.slice();
  other[24 + 12] = 0x55;
  expect(invariantCrc(other)).toBe(invariantCrc(packet));
  other[24 + 13] = 0x55;
  expect(invariantCrc(other)).not.toBe(invariantCrc(packet));
});
