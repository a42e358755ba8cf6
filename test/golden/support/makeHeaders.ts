// Makes frames of headers that no available public capture has, as input for tshark. The file in
// the repository is the one that tshark parsed:
//
//   node --import tsx test/golden/support/makeHeaders.ts test/golden/made/headers-made.pcap
//   node scripts/golden-keys.mjs test/golden/made test/golden/keys

import { writeFileSync } from "node:fs";
import { onesComplementSum, pseudoHeader } from "../../oracle/wire/checksum.js";
import { be } from "../../oracle/generate/draw.js";

type Bytes = readonly number[];

const hex = (text: string): number[] => (text.match(/[0-9a-f]{2}/g) ?? []).map((pair) => parseInt(pair, 16));

const MACS = hex("020000000002 020000000001");
const ADDRESSES4 = hex("0a000001 0a000002");
const ADDRESSES6 = hex("20010db8000000000000000000000001 20010db8000000000000000000000002");
const DATA = hex("de ad be ef 00 01 02 03");

const ethernet = (type: number, payload: Bytes, tags = ""): number[] => [
  ...MACS,
  ...hex(tags),
  ...be(type, 2),
  ...payload,
];

/** A segment with its checksum at `at`, correct or wrong by one bit. */
type Segment = (addresses: Bytes) => number[];
const summed =
  (protocol: number, at: number, segment: Bytes, wrong = 0): Segment =>
  (addresses) => {
    const sum = onesComplementSum(pseudoHeader([...addresses], protocol, segment.length), segment);
    const bytes = [...segment];
    bytes.splice(at, 2, ...be((0xffff - sum) ^ wrong, 2));
    return bytes;
  };
const plain =
  (bytes: Bytes): Segment =>
  () => [...bytes];

const udp = (port: number, payload: Bytes, wrong = 0): Segment =>
  summed(17, 6, [...be(49152, 2), ...be(port, 2), ...be(8 + payload.length, 2), 0, 0, ...payload], wrong);
const tcp = (wrong = 0): Segment =>
  summed(6, 16, [...hex("c0000051 00000001 00000002 5018ffff 00000000"), ...DATA], wrong);

function ip4(protocol: number, segment: Segment, wrong = 0, fragment = "4000"): number[] {
  const payload = segment(ADDRESSES4);
  const header = [
    ...hex("45b8"),
    ...be(20 + payload.length, 2),
    ...hex(`0001${fragment} 40`),
    protocol,
    0,
    0,
    ...ADDRESSES4,
  ];
  header.splice(10, 2, ...be((0xffff - onesComplementSum(header)) ^ wrong, 2));
  return [...header, ...payload];
}

function ip6(next: number, segment: Segment): number[] {
  const payload = segment(ADDRESSES6);
  return [...hex("6b812345"), ...be(payload.length, 2), next, 64, ...ADDRESSES6, ...payload];
}

const over4 = (protocol: number, segment: Segment): number[] => ethernet(0x0800, ip4(protocol, segment));
const over6 = (next: number, segment: Segment): number[] => ethernet(0x86dd, ip6(next, segment));
const tcp4 = ip4(6, tcp());
const tcp6 = ip6(6, tcp());
const udp4 = ip4(17, udp(7000, DATA));
const inner = ethernet(0x0800, tcp4, "8100 2005 8100 4006");
const sctp = [...hex("c0000050 00000001 00000000"), ...hex("0b000004")];
const esp = [...hex("00001234 00000007"), ...DATA, ...DATA];
const bth = (flags: string): number[] => [...hex(`04 40 ffff 00 000123 ${flags} 000001`), ...DATA, ...DATA];

/** A frame of which the last bytes were not captured. */
interface Cut {
  bytes: Bytes;
  missing: number;
}
const cut = (missing: number, bytes: Bytes): Cut => ({ bytes, missing });

/** TCP with 12 bytes of options and no data. */
const tcpOptions = summed(6, 16, hex("c0000051 00000001 00000002 8010ffff 00000000 0101080a 0000000100000002"));
const udpFrom = (source: number, port: number, payload: Bytes): Segment =>
  summed(17, 6, [...be(source, 2), ...be(port, 2), ...be(8 + payload.length, 2), 0, 0, ...payload]);

const FRAMES: readonly (Bytes | Cut)[] = [
  // MACsec without and with the SCI, and after a tag (IEEE 802.1AE).
  ethernet(0x88e5, [...hex("0c 00 00000009"), ...DATA, ...DATA, ...DATA]),
  ethernet(0x88e5, [...hex("2c 00 00000009 0200000000010001"), ...DATA, ...DATA, ...DATA]),
  ethernet(0x88e5, [...hex("2d 08 0000000a 0200000000010001"), ...DATA, ...DATA, ...DATA], "8100 2005"),
  // MPLS over Ethernet (IPv6), over GRE and over UDP.
  ethernet(0x8847, [...hex("00010a40 00020140"), ...tcp6]),
  ethernet(0x8848, [...hex("00010b40"), ...tcp4]),
  over4(47, plain([...hex("0000 8847 00011b40"), ...tcp4])),
  over6(47, plain([...hex("2000 8847 0000002a 00011240 00022340"), ...ip6(17, udp(7000, DATA))])),
  over4(17, udp(6635, [...hex("00031540"), ...tcp4])),
  over6(17, udp(6635, [...hex("000312ff 000413ff"), ...tcp6])),
  // VXLAN-GPE to IPv4, IPv6, Ethernet, NSH.
  over4(17, udp(4790, [...hex("0c000001 00002a00"), ...udp4])),
  over6(17, udp(4790, [...hex("0c000002 00002b00"), ...tcp6])),
  over4(17, udp(4790, [...hex("0c000003 00002c07"), ...inner])),
  over4(17, udp(4790, [...hex("0c000004 00002d00"), ...DATA])),
  // RoCEv2.
  over4(17, udp(4791, bth("80"))),
  over6(17, udp(4791, bth("00"))),
  // GRE: everything and IPv6, source routes, version 1 with an acknowledgement, NVGRE.
  over4(47, plain([...hex("b000 86dd 00000000 00000007 00000008"), ...tcp6])),
  over4(47, plain([...hex("6000 0800 00000000 00000007 08000404 0a000003 00000000"), ...udp4])),
  over4(47, plain([...hex("3081 880b 00080007 00000001 00000002"), ...DATA])),
  over6(47, plain([...hex("2000 6558 00123401"), ...inner])),
  // Geneve: options, OAM, IPv6.
  over4(17, udp(6081, [...hex("0540 6558 00002a00 0102 80 01 11223344 0103 01 00 0102 01 01 55667788"), ...inner])),
  over6(17, udp(6081, [...hex("0080 0800 00002b00"), ...tcp4])),
  over4(17, udp(6081, [...hex("0000 86dd 00002c00"), ...tcp6])),
  // GTP-U: plain, sequence number, two extension headers, an echo request.
  over4(17, udp(2152, [...hex("30ff 0030 00000001"), ...tcp4])),
  over6(17, udp(2152, [...hex("32ff 0048 00000002 0007 00 00"), ...tcp6])),
  over4(17, udp(2152, [...hex("34ff 0030 00000003 0000 00 85 01100985 01100900"), ...udp4])),
  over4(17, udp(2152, hex("3201 0004 00000000 0001 00 00"))),
  // IP in IP.
  over4(4, plain(tcp4)),
  over6(4, plain(udp4)),
  over6(41, plain(tcp6)),
  over4(41, plain(ip6(58, summed(58, 2, hex("8000 0000 00010002"))))),
  // Inside a tunnel: tags of both kinds, MPLS, a first fragment, a later one over IPv6.
  over4(17, udp(4789, [...hex("08000000 00002a00"), ...ethernet(0x0800, udp4, "88a8 2005 88a8 4006 8100 0007")])),
  over6(17, udp(4789, [...hex("08000000 00002a00"), ...ethernet(0x8847, [...hex("00016a40 0002054f"), ...tcp6])])),
  over4(47, plain([...hex("0000 0800"), ...ip4(17, udp(7000, DATA), 0, "2000")])),
  over4(47, plain([...hex("0000 86dd"), ...ip6(44, plain([...hex("11 00 0008 00000007"), ...DATA]))])),
  ethernet(0x86dd, tcp6, "88a8 2005 88a8 4006"),
  // SCTP and ESP, in both levels; ESP in UDP.
  over6(132, plain(sctp)),
  over4(17, udp(4789, [...hex("08000000 00002a00"), ...over4(132, plain(sctp))])),
  over6(50, plain(esp)),
  over4(47, plain([...hex("0000 0800"), ...ip4(50, plain(esp))])),
  over4(17, udp(4789, [...hex("08000000 00002a00"), ...over6(17, udp(4500, esp))])),
  over4(17, udp(4500, [0xff])),
  // Checksums with one wrong bit: IPv4, UDP and TCP over either version; and a UDP checksum of 0
  // over IPv6.
  ethernet(0x0800, ip4(6, tcp(), 0x0100)),
  over4(17, udp(7000, DATA, 1)),
  over6(17, udp(7000, DATA, 0x8000)),
  over4(6, tcp(4)),
  over6(6, tcp(0x0400)),
  over6(17, plain(hex("c000 1b58 0010 0000 deadbeef00010203"))),
  // Labels over UDP and GRE inside a tunnel.
  over4(17, udp(4789, [...hex("08000000 00002a00"), ...over6(17, udp(6635, [...hex("000342ff 000413ff"), ...tcp6]))])),
  over6(47, plain([...hex("0000 0800"), ...ip4(47, plain([...hex("2000 8847 0000002a 00019540"), ...tcp4]))])),
  over4(17, udp(4789, [...hex("08000000 00002a00"), ...over4(47, plain([...hex("0000 0800"), ...udp4]))])),
  // GRE version 1 that carries a frame, IPv4 and IPv6; the A bit of version 0.
  over4(47, plain([...hex("2001 6558 00000007"), ...inner])),
  over6(47, plain([...hex("3001 0800 00000007 00000008"), ...udp4])),
  over4(47, plain([...hex("0001 86dd"), ...tcp6])),
  over4(47, plain([...hex("2081 0800 00000007"), ...tcp4])),
  over4(47, plain([...hex("2080 0800 00000007"), ...tcp4])),
  // Options cut: of TCP, also in a first fragment and inside a tunnel; GRE, by the capture and by
  // the packet; GTP-U.
  cut(2, over4(6, tcpOptions)),
  cut(12, over6(6, tcpOptions)),
  cut(4, ethernet(0x0800, ip4(6, tcpOptions, 0, "2000"))),
  cut(7, over4(17, udp(4789, [...hex("08000000 00002a00"), ...over4(6, tcpOptions)]))),
  cut(3, over4(47, plain(hex("b000 0800 00000000 00000007 00000008")))),
  cut(8, over6(47, plain(hex("b000 0800 00000000 00000007 00000008")))),
  over4(47, plain(hex("b000 0800 00000000 0000"))),
  cut(2, over4(17, udp(2152, hex("32ff 0004 00000002 0007 00 00")))),
  cut(4, over4(17, udp(2152, hex("34ff 0004 00000003 0000 00 85")))),
  // UDP from port 4500: ESP, IKE, a keep-alive, and to a port that is known.
  over4(17, udpFrom(4500, 50000, esp)),
  over6(17, udpFrom(4500, 50000, [...hex("00000000"), ...DATA, ...DATA])),
  over4(17, udpFrom(4500, 50000, [0xff])),
  over4(17, udp(4789, [...hex("08000000 00002a00"), ...over4(17, udpFrom(4500, 50000, esp))])),
  over4(17, udpFrom(4500, 2152, [...hex("30ff 0030 00000001"), ...tcp4])),
  // A jumbo payload length beyond the frame.
  ethernet(0x86dd, [...hex("6b812345 0000 00 40"), ...ADDRESSES6, ...hex("3b00 c204 7fffffff"), ...DATA]),
];

/** A pcap record: time 0, the captured length, the length on the wire. */
function record(frame: Bytes | Cut): number[] {
  const { bytes, missing } = "missing" in frame ? frame : cut(0, frame);
  const captured = bytes.slice(0, bytes.length - missing);
  return [...be(0, 8), ...be(captured.length, 4), ...be(bytes.length, 4), ...captured];
}
const HEADER = hex("a1b2c3d4 0002 0004 00000000 00000000 00040000 00000001");

/** The complete file. */
export function headersMade(): Uint8Array {
  return Uint8Array.from([...HEADER, ...FRAMES.flatMap(record)]);
}

const [, script = "", file] = process.argv;
if (script.endsWith("makeHeaders.ts") && file !== undefined) writeFileSync(file, headersMade());
