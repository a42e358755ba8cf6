/** Engine and reference agree on every bit of plain headers, and on jumbo lengths: what random frames seldom hit. */
import { beforeAll, expect, test } from "vitest";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { parseReference } from "../../oracle/wire/parse.js";
import { fieldsOf, frameText, parseAll, type TestFrame } from "../support/core.js";

let core: Core;
beforeAll(async () => {
  core = await loadOpenCore();
});

function agree(frames: readonly TestFrame[]): void {
  parseAll(core, frames, (i, key) => {
    const frame = frames[i]!;
    const { fields } = parseReference(frame.bytes, { ...frame, port: frame.port ?? 1 });
    const ours = fieldsOf(key);
    for (const name of new Set([...ours.keys(), ...fields.keys()]))
      if (ours.get(name) !== fields.get(name))
        expect.fail(`${frameText(frame)}\n${name}: engine ${ours.get(name)}, reference ${fields.get(name)}`);
  });
}

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/[0-9a-f]{2}/g) ?? [], (byte) => parseInt(byte, 16));

const ETHERNET = "020000000002 020000000001";
const UDP = "c000 08af 000c 0000 01020304";
const TCP = "c000 0050 11121314 21222324 5012 ffff 0000 0000";
const IPV4 = (protocol: string, length: string): string =>
  `4500 ${length} 0000 0000 40${protocol} 0000 0a000001 0a000002`;
const IPV6 = (next: string, length: string): string => `6b812345 ${length} ${next}40 ${"20010db8".repeat(8)}`;
const VXLAN = `0800 0000 00002a00 ${ETHERNET} 8100 6001 0800 ${IPV4("11", "0020")} ${UDP}`;

const size = (hex: string): number => bytesOf(hex).length;
const be16 = (value: number): string => value.toString(16).padStart(4, "0");
const over = (protocol: string, payload: string): string =>
  `${ETHERNET} 0800 ${IPV4(protocol, be16(20 + size(payload)))} ${payload}`;
const overUdp = (port: number, payload: string): string =>
  over("11", `c000 ${be16(port)} ${be16(8 + size(payload))} 0000 ${payload}`);
const INNER = `${IPV4("11", "0020")} ${UDP}`;
const INNER_ETHERNET = `${ETHERNET} 0800 ${INNER}`;

const PLAIN: Readonly<Record<string, string>> = {
  "UDP over IPv4 behind two tags": `${ETHERNET} 88a8 2001 8100 4002 0800 ${IPV4("11", "0020")} ${UDP}`,
  "TCP over IPv4": `${ETHERNET} 0800 ${IPV4("06", "0028")} ${TCP}`,
  "TCP over IPv6": `${ETHERNET} 86dd ${IPV6("06", "0014")} ${TCP}`,
  "UDP over IPv6 behind extension headers":
    `${ETHERNET} 86dd ${IPV6("00", "0034")} 3c00 010400000000` +
    `2c01 ${"00".repeat(14)} 3300 0000 00000001 1101 0000 00000000 00000000 ${UDP}`,
  "VXLAN over IPv4": `${ETHERNET} 0800 ${IPV4("11", "005a")} c000 12b5 0046 0000 ${VXLAN}`,
  "GRE with checksum, key and sequence": over("2f", `b000 0800 aaaa 0000 01020304 05060708 ${INNER}`),
  "GRE with a source route": over("2f", `4000 6558 0000 0000 0002 0004 0a000001 0000 0000 ${INNER_ETHERNET}`),
  "GRE version 1": over("2f", "3081 880b 0004 0001 00000002 00000003 ff03c021"),
  "labels over GRE": over("2f", `0000 8847 00010040 00011140 ${INNER}`),
  "Geneve with options": overUdp(
    6081,
    `0480 6558 00002a00 01020300 01020181 01020304 05060701 00000000 ${INNER_ETHERNET}`,
  ),
  "VXLAN-GPE": overUdp(4790, `0c000001 00002a00 ${INNER}`),
  "GTP-U with extensions": overUdp(2152, `34ff 0030 00000001 0001 00 85 01100985 01000000 ${INNER}`),
  "labels over UDP": overUdp(6635, `00010040 00011140 ${INNER}`),
  "labels over Ethernet": `${ETHERNET} 8847 00010040 00011140 ${INNER}`,
  MACsec: `${ETHERNET} 88e5 2c00 00000001 020000000001 0001 deadbeef`,
  ESP: over("32", "00000001 00000002 deadbeef"),
  "ESP over UDP": overUdp(4500, "00000001 00000002 deadbeef"),
  SCTP: over("84", "0001 0002 00000003 00000004 deadbeef"),
  RoCEv2: overUdp(4791, "0440 ffff 00000011 80000001 deadbeef"),
  "IPv4 in IPv4": over("04", INNER),
  ICMPv6: `${ETHERNET} 86dd ${IPV6("3a", "0008")} 8000 0000 00010002`,
};

test.each(Object.entries(PLAIN))("every bit of %s", (_name, hex) => {
  const bytes = bytesOf(hex);
  const frames: TestFrame[] = [{ bytes, linkType: 1, wireLength: bytes.length }];
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const flipped = bytes.slice();
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7));
    frames.push({ bytes: flipped, linkType: 1, wireLength: bytes.length });
  }
  agree(frames);
  // The frame itself is what its name says: nothing stops its parse.
  expect(parseReference(bytes, { linkType: 1, wireLength: bytes.length, port: 1 }).stopped).toBeNull();
});

/** The last two end the header in the midst of an option. */
const OPTIONS = [
  "c204 LENGTH",
  "c204 LENGTH c204 00020000",
  "0100 c205 LENGTH00 c204 00020000",
  "0103000000 c2",
  "c20a LENGTH",
];

test("jumbo lengths (RFC 2675) of every kind, of a packet as long, longer and shorter", () => {
  const frames: TestFrame[] = [];
  for (const upper of [`11 ${UDP}`, `06 ${TCP}`]) {
    const [next = "", ...rest] = upper.split(" ");
    for (const options of OPTIONS) {
      for (const length of [0, 8, 65535, 65536, 70000, 0x80000000, 0xffffff00]) {
        const option = options.replace("LENGTH", length.toString(16).padStart(8, "0"));
        const body = bytesOf(option);
        const padded = option + "00".repeat((22 - (body.length % 8)) % 8);
        const units = ((bytesOf(padded).length + 2) / 8 - 1).toString(16).padStart(2, "0");
        const bytes = bytesOf(`${IPV6("00", "0000")} ${next}${units} ${padded} ${rest.join(" ")}`);
        for (const wireLength of [bytes.length, 40 + length - 1, 40 + length, 40 + length + 1, 0xffffffff])
          if (wireLength >= bytes.length && wireLength <= 0xffffffff) frames.push({ bytes, linkType: 229, wireLength });
      }
    }
  }
  agree(frames);
});
