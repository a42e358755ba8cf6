// Addresses and the fields of IP headers.

import {
  arp,
  built,
  captured,
  data,
  ethernet,
  icmp,
  icmpv6,
  ipv4,
  ipv6,
  padded,
  spoilt,
  tcp,
  tuned,
  udp,
  vlan,
} from "../frames.mjs";
import {
  bits,
  copy,
  decrementHopLimit,
  decrementTtl,
  dscp,
  ecn,
  ethDestination,
  ethSource,
  exchange,
  hopLimit,
  ipv4Destination,
  ipv4Source,
  ipv6Destination,
  ipv6Source,
  load,
  PARTS,
  ttl,
} from "../pairs.mjs";
import { changed } from "./make.mjs";

const from4 = ipv4Source("198.51.100.77");
const to4 = ipv4Destination("10.254.3.199");
const from6 = ipv6Source("2001:db8:aaaa:bbbb:1:2:3:4");
const to6 = ipv6Destination("fd00::fffe:9876");

/** Offset of the checksum of what follows Ethernet and an IP header without options. */
const TCP4 = 14 + 20 + 16;
const UDP4 = 14 + 20 + 6;
const TCP6 = 14 + 40 + 16;
const UDP6 = 14 + 40 + 6;
const IP4 = 14 + 10;

const over4 = (...layers) => built(ethernet, ipv4, ...layers);
const over6 = (...layers) => built(ethernet, ipv6, ...layers);

/** How a datagram of 300 bytes begins. */
const FIRST = built({ ...udp, length: 300, checksum: 0x4321 }, data(64)).bytes;

/** Every upper layer, with its checksum right, wrong or left out. */
const UPPER4 = {
  tcp: over4(tcp, data(33)),
  "tcp, checksum wrong": spoilt(over4(tcp, data(33)), TCP4),
  udp: over4(udp, data(32)),
  "udp of odd length": over4(udp, data(7)),
  "udp, checksum wrong": spoilt(over4(udp, data(32)), UDP4),
  "udp, checksum 0": over4({ ...udp, checksum: 0 }, data(32)),
  "udp without payload": over4(udp),
  icmp: over4(icmp, data(20)),
  sctp: over4({ header: "sctp" }, { header: "payload", bytes: "04000010 0001000c 0102030405060708" }),
  "an unknown protocol": over4({ header: "payload", bytes: data(40) }),
  "ip checksum wrong": spoilt(over4(tcp, data(8)), IP4),
  "ethernet padding": padded(ethernet, ipv4, udp, data(2)),
  "a vlan tag": built(ethernet, vlan(5), ipv4, tcp, data(9)),
  "two vlan tags": built(ethernet, vlan(5), vlan(6), ipv4, udp, data(9)),
  "ip options": built(ethernet, { ...ipv4, options: [{ option: "router_alert", value: 0 }] }, tcp, data(5)),
  "a first fragment": over4Fragment({ flags: "mf" }, FIRST),
  "a later fragment": over4Fragment({ flags: "mf", fragment_offset: 9 }, data(64)),
  "a last fragment": over4Fragment({ fragment_offset: 17, protocol: 1 }, data(23)),
};

const UPPER6 = {
  tcp: over6(tcp, data(33)),
  "tcp, checksum wrong": spoilt(over6(tcp, data(33)), TCP6),
  udp: over6(udp, data(32)),
  "udp of odd length": over6(udp, data(7)),
  "udp, checksum wrong": spoilt(over6(udp, data(32)), UDP6),
  "udp, checksum 0": over6({ ...udp, checksum: 0 }, data(32)),
  icmpv6: over6(icmpv6, data(20)),
  "an unknown protocol": over6({ header: "payload", bytes: data(40) }),
  "a vlan tag": built(ethernet, vlan(5), ipv6, tcp, data(9)),
  "a destination options header": over6({ header: "ipv6_destination" }, udp, data(12)),
  "a hop-by-hop header": over6({ header: "ipv6_hop_by_hop" }, tcp, data(12)),
  "a first fragment": over6({ header: "ipv6_fragment", m: true, next_header: 17 }, { header: "payload", bytes: FIRST }),
  "a later fragment": over6(
    { header: "ipv6_fragment", fragment_offset: 9, next_header: 17 },
    { header: "payload", bytes: data(31) },
  ),
};

function over4Fragment(fields, payload) {
  return built(ethernet, { ...ipv4, protocol: 17, ...fields }, { header: "payload", bytes: payload });
}

/** Where the payload of a later fragment would have a checksum if it began with UDP. */
const TAKEN_FOR_CHECKSUM = { offset: UDP4, length: 2, what: "fragment_payload" };

/** A right IPv4 header whose checksum is `checksum`. */
const summedUpTo = (checksum) =>
  tuned((identification) => built(ethernet, { ...ipv4, identification }, tcp, data(8)), IP4, checksum);

export const addresses = async () => [
  changed("eth: source", UPPER4.tcp, "", ethSource("02:aa:bb:cc:dd:ee")),
  changed("eth: destination", UPPER6.udp, "", ethDestination("33:33:00:00:00:fb")),
  changed(
    "eth: both of arp",
    padded(ethernet, arp),
    "",
    ethSource("02:aa:bb:cc:dd:ee"),
    ethDestination("ff:ff:ff:ff:ff:ff"),
  ),
  changed(
    "eth: both behind vlan tags",
    UPPER4["two vlan tags"],
    "",
    ethDestination("02:aa:bb:cc:dd:ee"),
    ethSource("06:00:00:00:00:01"),
  ),
  changed(
    "eth: both of 802.3",
    await captured("EthDot3.pcap", 1),
    "",
    ethDestination("02:aa:bb:cc:dd:ee"),
    ethSource("06:00:00:00:00:01"),
  ),

  ...Object.entries(UPPER4).flatMap(([what, frame]) =>
    [changed(`ipv4: source, ${what}`, frame, "ip", from4), changed(`ipv4: destination, ${what}`, frame, "ip", to4)].map(
      (one) => (what === "a later fragment" ? { ...one, differences: [TAKEN_FOR_CHECKSUM] } : one),
    ),
  ),
  changed("ipv4: both to what they are", UPPER4.udp, "ip", ipv4Source("192.0.2.1"), ipv4Destination("192.0.2.2")),
  changed("ipv4: the same field twice", UPPER4.tcp, "ip", ipv4Source("1.2.3.4"), ipv4Source("255.255.255.255")),
  changed("ipv4: eight bits of an address", UPPER4.tcp, "ip", load(bits(PARTS.ipv4Destination[0], 8, 8), 0xee)),
  changed("ipv4: three bits of an address", UPPER4.udp, "ip", load(bits(PARTS.ipv4Source[0], 13, 3), 5)),
  changed(
    "ipv4: half an address to the other",
    UPPER4.tcp,
    "ip",
    copy(bits(PARTS.ipv4Source[0], 0, 16), bits(PARTS.ipv4Destination[0], 16, 16)),
  ),
  changed("ipv4: addresses change places", UPPER4.tcp, "ip", ...exchange(PARTS.ipv4Source, PARTS.ipv4Destination)),
  changed("eth: addresses change places", UPPER6.tcp, "", ...exchange(PARTS.ethSource, PARTS.ethDestination)),

  ...Object.entries(UPPER6).flatMap(([what, frame]) => [
    changed(`ipv6: source, ${what}`, frame, "ipv6", from6),
    changed(`ipv6: destination, ${what}`, frame, "ipv6", to6),
  ]),
  changed("ipv6: addresses change places", UPPER6.udp, "ipv6", ...exchange(PARTS.ipv6Source, PARTS.ipv6Destination)),
  changed("ipv6: source, segments left", await captured("ipv6-srh-ext-header.pcap", 1), "ipv6", from6),
  changed("ipv6: destination, segments left", await captured("ipv6-srh-ext-header.pcap", 1), "ipv6", to6),

  changed("ttl: set", UPPER4.udp, "ip", ttl(17)),
  changed("ttl: set behind options", UPPER4["ip options"], "ip", ttl(255)),
  changed("ttl: less by one", UPPER4.tcp, "ip", decrementTtl),
  changed("ttl: less by three", UPPER4["a vlan tag"], "ip", decrementTtl, decrementTtl, decrementTtl),
  changed("ttl: from 2 to 1", built(ethernet, { ...ipv4, ttl: 2 }, icmp), "ip", decrementTtl),
  changed("ttl: ip checksum wrong", UPPER4["ip checksum wrong"], "ip", decrementTtl),
  changed("ttl: of a later fragment", UPPER4["a later fragment"], "ip", decrementTtl),
  changed("hop limit: set", UPPER6.icmpv6, "ipv6", hopLimit(3)),
  changed("hop limit: less by one", UPPER6.tcp, "ipv6", decrementHopLimit),
  changed(
    "hop limit: behind a hop-by-hop header",
    UPPER6["a hop-by-hop header"],
    "ipv6",
    decrementHopLimit,
    decrementHopLimit,
  ),

  changed("dscp: ipv4", UPPER4.tcp, "ip", dscp(46)),
  changed("dscp: ipv4, to 0", UPPER4["a vlan tag"], "ip", dscp(0)),
  changed("dscp: ipv6", UPPER6.tcp, "ipv6", dscp(46)),
  changed("dscp: ipv6 behind a tag", UPPER6["a vlan tag"], "ipv6", dscp(63)),
  changed("ecn: ipv4", UPPER4.udp, "ip", ecn(3)),
  changed("ecn: ipv6", UPPER6.udp, "ipv6", ecn(2)),
  changed("dscp and ecn: ipv4", UPPER4["ip options"], "ip", dscp(5), ecn(0)),
  changed("dscp and ecn: ipv6", UPPER6.icmpv6, "ipv6", ecn(3), dscp(33)),
  // RFC 1624 section 3: one's complement has two zeros, and a right header never has 0xffff.
  changed("ip checksum that becomes 0", summedUpTo(0xfeff), "ip", decrementTtl),
  changed("ip checksum that was 0", summedUpTo(0x0000), "ip", decrementTtl),
  changed("ip checksum that was 0xffff", spoilt(summedUpTo(0x0000), IP4, 0xffff), "ip", decrementTtl),
];
