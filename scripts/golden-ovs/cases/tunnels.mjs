// Into tunnels, out of tunnels, and what else happens to a frame on the way.

import { arp, built, captured, data, ethernet, ipv4, ipv6, padded, spoilt, tcp, udp, vlan } from "../frames.mjs";
import {
  decrementHopLimit,
  decrementTtl,
  ethDestination,
  ethSource,
  ipv4Destination,
  ipv6Destination,
  popVlan,
  pushVlan,
  tcpDestination,
  udpDestination,
} from "../pairs.mjs";
import { TUNNELS } from "../switch.mjs";
import { decapsulated, encapsulated, outer4, outer6, toLocal } from "./make.mjs";

const TAGGED = "vlan_tci=0x1000/0x1000";

const plain = built(ethernet, ipv4, tcp, data(45));
const plain6 = built(ethernet, ipv6, udp, data(40));
const tagged = built(ethernet, vlan(100, { pcp: 3 }), ipv4, udp, data(21));
const tunnelled = built(ethernet, ipv4, udp, { header: "vxlan", vni: 1 }, ethernet, ipv4, tcp, data(3));
const jumbo = built(ethernet, ipv4, tcp, data(8900));

/** A VLAN tag in front of the outer IP header. */
const TAGGED_UNDER = { under: ["in_port=LOCAL,actions=push_vlan:0x8100,set_field:4196->vlan_vid,output:1"], tags: 4 };

/** Options as class, type and data, and the fields that Open vSwitch has for them. */
export const OPTION_MAPS = [
  "{class=0x0102,type=0x81,len=4}->tun_metadata0",
  "{class=0x0103,type=0x02,len=8}->tun_metadata1",
  // Of geneve.pcap: critical, so a frame with it is dropped where nobody knows it.
  "{class=0x0000,type=0x80,len=4}->tun_metadata2",
];
const OPTIONS = [
  { class: 0x0102, type: 0x81, data: "deadbeef" },
  { class: 0x0103, type: 2, data: "0123456789abcdef" },
];
const OPTION_FIELDS = ["set_field:0xdeadbeef->tun_metadata0", "set_field:0x0123456789abcdef->tun_metadata1"];

const WITH_ETHERNET = ["vxlan", "gre", "gre_key", "geneve"];
const WITH_IP = ["gre_ip", "vxlan_gpe_ip", "gtpu"];

/** What a frame to this switch has between its outer IP header and what is inside. */
const HEADERS = {
  vxlan: [
    { header: "udp", checksum: 0 },
    { header: "vxlan", vni: 0x123456 },
  ],
  gre: [{ header: "gre" }],
  gre_key: [{ header: "gre", key: 0x123456 }],
  geneve: [
    { header: "udp", checksum: 0 },
    { header: "geneve", vni: 0x123456 },
  ],
  gre_ip: [{ header: "gre" }],
  vxlan_gpe_ip: [
    { header: "udp", checksum: 0 },
    { header: "vxlan_gpe", vni: 0x123456 },
  ],
  gtpu: [
    { header: "udp", checksum: 0 },
    { header: "gtpu", teid: 0x123456 },
  ],
};
const inner = { ...ethernet, destination: "02:11:11:11:11:11", source: "02:22:22:22:22:22" };
const inside = [inner, ipv4, tcp, data(31)];
const inside6 = [inner, ipv6, udp, data(30)];

export const into = async () => [
  ...WITH_ETHERNET.flatMap((tunnel) => [
    encapsulated(`${tunnel} over ipv4`, plain, tunnel, 4),
    encapsulated(`${tunnel} over ipv6`, plain6, tunnel, 6),
    encapsulated(`${tunnel} over ipv4 behind a tag`, tagged, tunnel, 4, TAGGED_UNDER),
  ]),
  ...WITH_IP.flatMap((tunnel) => [
    encapsulated(`${tunnel}, ipv4 over ipv4`, plain, tunnel, 4),
    encapsulated(`${tunnel}, ipv6 over ipv4`, plain6, tunnel, 4),
    encapsulated(`${tunnel}, ipv4 over ipv6`, plain, tunnel, 6),
    encapsulated(`${tunnel}, ipv6 over ipv6`, plain6, tunnel, 6),
  ]),
  encapsulated("vxlan with a checksum over ipv4", plain, "vxlan_csum", 4),
  encapsulated("geneve with an option over ipv4", plain, "geneve", 4, { fields: OPTION_FIELDS.slice(0, 1), more: 8 }),
  encapsulated("geneve with two options over ipv6", plain, "geneve", 6, { fields: OPTION_FIELDS, more: 20 }),
  encapsulated("data with wrong lengths and checksum, ipv4", plain, "vxlan", 4, { fill: 0xa5 }),
  encapsulated("data with wrong lengths, ipv6", plain, "geneve", 6, { fill: 0xff }),
  encapsulated("arp", padded(ethernet, arp), "vxlan", 4),
  encapsulated("802.3", await captured("EthDot3.pcap", 1), "vxlan", 4),
  encapsulated("a frame of the least length", padded(ethernet, ipv4, udp), "gre", 4),
  encapsulated("the same as ip", padded(ethernet, ipv4, udp), "gre_ip", 4),
  encapsulated("a long frame", jumbo, "geneve", 4),
  encapsulated("a tunnel in a tunnel", tunnelled, "gre_key", 4),
  encapsulated("a checksum inside that is wrong", spoilt(plain, 14 + 20 + 16), "vxlan", 6),
  encapsulated("a later fragment inside", await captured("fragmented-1.pcap", 3), "vxlan", 4),
  encapsulated("mpls inside", await captured("mpls-in-vlan.pcap", 1), "vxlan", 4),
  encapsulated("captured tcp", await captured("print-flags.pcap", 4), "vxlan", 4),
  encapsulated("captured ipv6", await captured("ipv6.pcap", 1), "geneve", 6),
  encapsulated("captured ip options", await captured("ipv4-options.pcap", 1), "gre_ip", 4),
  encapsulated("pop, into vxlan", tagged, "vxlan", 4, { match: TAGGED, changes: [popVlan] }),
  encapsulated("push, into geneve", plain, "geneve", 4, { changes: [pushVlan(0x8100, 9, 1)] }),
  encapsulated("rewritten, into vxlan", plain, "vxlan", 4, {
    match: "tcp",
    changes: [ethSource("02:01:01:01:01:01"), decrementTtl, ipv4Destination("10.3.2.1"), tcpDestination(8443)],
  }),
  encapsulated("pop, rewritten, push, into gre over ipv6", tagged, "gre", 6, {
    match: `${TAGGED},udp`,
    changes: [popVlan, decrementTtl, udpDestination(7), pushVlan(0x88a8, 1)],
  }),
];

export const outOf = async () => [
  ...WITH_ETHERNET.flatMap((tunnel) => [
    decapsulated(`${tunnel} over ipv4`, built(...outer4, ...HEADERS[tunnel], ...inside), tunnel),
    decapsulated(`${tunnel} over ipv6`, built(...outer6, ...right(tunnel), ...inside6), tunnel),
    decapsulated(
      `${tunnel}, a tag inside`,
      built(...outer4, ...HEADERS[tunnel], inner, vlan(7, { pcp: 1 }), ipv4, tcp),
      tunnel,
    ),
  ]),
  ...WITH_IP.flatMap((tunnel) => [
    decapsulated(`${tunnel}, ipv4 over ipv4`, built(...outer4, ...HEADERS[tunnel], ...inside.slice(1)), tunnel),
    decapsulated(`${tunnel}, ipv4 over ipv6`, built(...outer6, ...right(tunnel), ...inside.slice(1)), tunnel),
    decapsulated(`${tunnel}, and gets a tag`, built(...outer4, ...HEADERS[tunnel], ...inside.slice(1)), tunnel, {
      tag: 9,
    }),
  ]),
  // Open vSwitch 3.1.0 takes no IPv6 out of GTP-U ("Receive non-IP packet"), and knows no extension headers of it.
  ...["gre_ip", "vxlan_gpe_ip"].map((tunnel) =>
    decapsulated(`${tunnel}, ipv6 over ipv4`, built(...outer4, ...HEADERS[tunnel], ...inside6.slice(1)), tunnel, {
      ethertype: "86dd",
    }),
  ),
  decapsulated("vxlan with a checksum", built(...outer4, ...right("vxlan"), ...inside), "vxlan"),
  decapsulated(
    "gre with key, checksum and sequence",
    built(...outer4, { header: "gre", c: true, key: 0x123456, sequence: 9 }, ...inside),
    "gre_key",
  ),
  decapsulated(
    "geneve with options",
    built(...outer4, { header: "udp", checksum: 0 }, { header: "geneve", vni: 0x123456, options: OPTIONS }, ...inside),
    "geneve",
  ),
  decapsulated(
    "padding behind the outer packet",
    trailing(built(...outer4, ...HEADERS.vxlan, inner, ipv4, udp), 9),
    "vxlan",
  ),
  decapsulated("outer tags", built(outer4[0], vlan(4), outer4[1], ...HEADERS.vxlan, ...inside), "vxlan", {
    lead: ["strip_vlan"],
  }),
  decapsulated(
    "two outer tags",
    built(outer6[0], vlan(4), vlan(5), outer6[1], ...right("geneve"), ...inside),
    "geneve",
    { lead: ["strip_vlan", "strip_vlan"] },
  ),
  decapsulated("arp inside", built(...outer4, ...HEADERS.vxlan, inner, arp), "vxlan"),
  decapsulated(
    "a tunnel inside",
    built(...outer4, ...HEADERS.geneve, inner, ipv4, udp, { header: "vxlan" }, ...inside),
    "geneve",
  ),
  decapsulated(
    "a checksum inside that is wrong",
    spoilt(built(...outer4, ...HEADERS.gre, ...inside), 14 + 20 + 4 + 14 + 20 + 16),
    "gre",
  ),
  decapsulated("vxlan, captured", await captured("vxlan.pcap", 1), "vxlan", { lead: toLocal }),
  decapsulated("vxlan with arp, captured", await captured("vxlan.pcap", 2), "vxlan", { lead: toLocal }),
  decapsulated("vxlan with wrong tcp, captured", await captured("vxlan-inner-tcp-bad-checksum.pcap", 1), "vxlan", {
    lead: toLocal,
  }),
  decapsulated("geneve with options, captured", await captured("geneve.pcap", 1), "geneve", { lead: toLocal }),
  decapsulated("geneve without, captured", await captured("geneve.pcap", 5), "geneve", { lead: toLocal }),
  decapsulated("gtp-u with a sequence number, captured", await captured("gtp.pcap", 3), "gtpu", { lead: toLocal }),
  decapsulated("out, rewritten", built(...outer4, ...HEADERS.vxlan, ...inside), "vxlan", {
    match: "tcp",
    changes: [decrementTtl, ethDestination("02:09:09:09:09:09"), ipv4Destination("10.3.2.1"), tcpDestination(8443)],
  }),
  decapsulated("out, rewritten, ipv6", built(...outer4, ...HEADERS.geneve, ...inside6), "geneve", {
    match: "udp6",
    changes: [decrementHopLimit, ipv6Destination("fd00::1"), udpDestination(8443)],
  }),
  decapsulated(
    "out, pop, rewritten, push",
    built(...outer6, ...right("vxlan"), inner, vlan(7), ipv4, tcp, data(5)),
    "vxlan",
    {
      match: `${TAGGED},ip`,
      changes: [popVlan, decrementTtl, pushVlan(0x88a8, 11, 4)],
    },
  ),
  decapsulated("out as ip, rewritten, push", built(...outer4, ...HEADERS.gre_ip, ...inside.slice(1)), "gre_ip", {
    match: "tcp",
    changes: [decrementTtl, tcpDestination(80), pushVlan(0x8100, 11, 4)],
  }),
  ...through(),
];

/** The same headers with the checksum of UDP right. */
function right(tunnel) {
  return HEADERS[tunnel].map((one) => (one.header === "udp" ? { header: "udp" } : one));
}

function trailing({ from, bytes }, count) {
  return { from, bytes: Uint8Array.from([...bytes, ...data(count)]) };
}

/** A frame keeps what the tunnel that it came out of has said: not to be used for another. */
const CLEARED = { 4: ["set_field:0.0.0.0->tun_src"], 6: ["set_field:0.0.0.0->tun_src", "set_field:0.0.0.0->tun_dst"] };

/** Out of one tunnel and into another. */
function through() {
  const frame = built(...outer4, ...HEADERS.vxlan, ...inside);
  return [
    ["vxlan", "geneve", 4, []],
    ["vxlan", "gre", 6, [decrementTtl, ethSource("02:03:03:03:03:03")]],
  ].map(([one, other, over, changes]) => {
    const out = decapsulated("", frame, one);
    const back = encapsulated("", frame, other, over, { match: "ip", changes, fields: CLEARED[over] });
    return {
      ...back,
      name: `out of ${one}, into ${other} over ipv${over}`,
      from: "wire",
      openflow: {
        under: [...out.openflow.under, ...back.openflow.under],
        br0: back.openflow.br0.map((flow) => flow.replace("in_port=1", `in_port=${TUNNELS[one][0]}`)),
      },
      ours: [...out.ours, ...back.ours],
    };
  });
}
