// Ports of TCP and UDP.

import { built, captured, data, ethernet, ipv4, ipv6, spoilt, tcp, tuned, udp, vlan } from "../frames.mjs";
import {
  bits,
  copy,
  exchange,
  ipv4Destination,
  ipv4Source,
  ipv6Source,
  load,
  PARTS,
  tcpDestination,
  tcpSource,
  udpDestination,
  udpSource,
} from "../pairs.mjs";
import { changed } from "./make.mjs";

const UDP4 = 14 + 20 + 6;
const UDP6 = 14 + 40 + 6;
const TCP4 = 14 + 20 + 16;

const over4 = (...layers) => built(ethernet, ipv4, ...layers);
const over6 = (...layers) => built(ethernet, ipv6, ...layers);
const word = (value) => Uint8Array.of(value >> 8, value & 0xff, ...data(8));

/** UDP to port `destination_port` whose checksum is made of a sum of `sum`: 0 stands as 0xffff. */
const summedUpTo = (ip, at, destination_port, sum) =>
  tuned((one) => built(ethernet, ip, { ...udp, destination_port }, word(one)), at, sum);

/** The same bytes, sent to another port, the checksum as right. */
function to(port, { bytes }, ip) {
  const payload = bytes.slice(-10);
  return built(ethernet, ip, { ...udp, destination_port: port }, payload);
}

const tcpSummedUpTo = (destination_port, sum) =>
  tuned((one) => over4({ ...tcp, destination_port }, word(one)), TCP4, sum).bytes.slice(-10);

const FRAMES = {
  "tcp, ipv4": [over4(tcp, data(11)), "tcp"],
  "tcp, ipv6": [over6(tcp, data(11)), "tcp6"],
  "tcp, ipv4, checksum wrong": [spoilt(over4(tcp, data(11)), TCP4), "tcp"],
  "tcp behind ip options": [built(ethernet, { ...ipv4, options: [{ option: "nop" }] }, tcp, data(4)), "tcp"],
  "udp, ipv4": [over4(udp, data(10)), "udp"],
  "udp, ipv6": [over6(udp, data(10)), "udp6"],
  "udp, ipv4, checksum wrong": [spoilt(over4(udp, data(10)), UDP4), "udp"],
  "udp, ipv6, checksum wrong": [spoilt(over6(udp, data(10)), UDP6), "udp6"],
  "udp, ipv4, checksum 0": [over4({ ...udp, checksum: 0 }, data(10)), "udp"],
  "udp, ipv6, checksum 0": [over6({ ...udp, checksum: 0 }, data(10)), "udp6"],
  "udp behind a tag": [built(ethernet, vlan(9), ipv4, udp, data(3)), "udp"],
  "udp behind a destination options header": [over6({ header: "ipv6_destination" }, udp, data(6)), "udp6"],
  "udp of a first fragment": [
    built(
      ethernet,
      { ...ipv4, flags: "mf", protocol: 17 },
      { header: "payload", bytes: built({ ...udp, length: 300, checksum: 0x4321 }, data(40)).bytes },
    ),
    "udp",
  ],
};

export const ports = async () => [
  ...Object.entries(FRAMES).flatMap(([what, [frame, match]]) => {
    const [source, destination] = /tcp/.test(match) ? [tcpSource, tcpDestination] : [udpSource, udpDestination];
    return [
      changed(`source port: ${what}`, frame, match, source(1024)),
      changed(`destination port: ${what}`, frame, match, destination(65535)),
    ];
  }),
  changed(
    "both ports and both addresses: tcp",
    FRAMES["tcp, ipv4"][0],
    "tcp",
    tcpSource(1),
    tcpDestination(2),
    ipv4Source("1.1.1.1"),
    ipv4Destination("2.2.2.2"),
  ),
  changed("port and address: udp of ipv6", FRAMES["udp, ipv6"][0], "udp6", udpDestination(53), ipv6Source("fe80::1")),
  changed(
    "ports change places: tcp",
    FRAMES["tcp, ipv6"][0],
    "tcp6",
    ...exchange(PARTS.tcpSource, PARTS.tcpDestination),
  ),
  changed(
    "ports change places: udp",
    FRAMES["udp, ipv4"][0],
    "udp",
    ...exchange(PARTS.udpSource, PARTS.udpDestination),
  ),
  changed("eight bits of a port", FRAMES["tcp, ipv4"][0], "tcp", load(bits(PARTS.tcpDestination[0], 4, 8), 0x3c)),
  changed(
    "half a port to the other",
    FRAMES["udp, ipv4"][0],
    "udp",
    copy(bits(PARTS.udpSource[0], 8, 8), bits(PARTS.udpDestination[0], 0, 8)),
  ),
  changed("a port to what it is", FRAMES["udp, ipv4"][0], "udp", udpSource(40000)),

  // RFC 768: a checksum that comes out as 0 is sent as 0xffff. That of TCP is sent as it is.
  changed("udp checksum that becomes 0", to(5000, summedUpTo(ipv4, UDP4, 53, 0), ipv4), "udp", udpDestination(53)),
  changed(
    "udp checksum that becomes 0, ipv6",
    to(5000, summedUpTo(ipv6, UDP6, 53, 0), ipv6),
    "udp6",
    udpDestination(53),
  ),
  changed("udp checksum that was 0xffff", summedUpTo(ipv4, UDP4, 5000, 0), "udp", udpDestination(53)),
  changed("udp checksum that becomes 1", to(5000, summedUpTo(ipv4, UDP4, 53, 1), ipv4), "udp", udpDestination(53)),
  changed("tcp checksum that becomes 0", over4(tcp, tcpSummedUpTo(80, 0)), "tcp", tcpDestination(80)),
  changed("tcp checksum that was 0", over4(tcp, tcpSummedUpTo(443, 0)), "tcp", tcpDestination(80)),
  changed(
    "tcp checksum that was 0xffff",
    spoilt(over4(tcp, tcpSummedUpTo(443, 0)), TCP4, 0xffff),
    "tcp",
    tcpDestination(80),
  ),

  changed(
    "a captured segment of 5,551 bytes",
    await captured("print-flags.pcap", 6),
    "tcp",
    tcpDestination(8080),
    ipv4Destination("10.0.0.1"),
  ),
  changed(
    "a captured query",
    await captured("dns_udp.pcap", 1),
    "udp",
    udpDestination(5353),
    ipv4Destination("224.0.0.251"),
  ),
  changed(
    "a captured datagram, checksum wrong",
    await captured("ip4-udp-bad-chksum.pcap", 1),
    "udp",
    udpSource(7),
    ipv4Source("10.1.1.1"),
  ),
  changed(
    "the same, checksum right",
    await captured("ip4-udp-good-chksum.pcap", 1),
    "udp",
    udpSource(7),
    ipv4Source("10.1.1.1"),
  ),
  changed(
    "a captured segment of ipv6",
    await captured("ipv6.pcap", 4),
    "tcp6",
    tcpSource(1),
    ipv6Source("2001:db8::9"),
  ),
];
