/** Tags, extension headers, fragments, RoCE and other protocols. */
import {
  HOSTS,
  ip,
  of,
  payload,
  queue,
  replace,
  request,
  rule,
  scenario,
  tcp,
  to,
  tunnel,
  udp,
  vlan,
  type Planted,
} from "./shapes.js";

const one = (match: object, frame: readonly object[], more: object = {}): object =>
  scenario({ tables: { root: [["wanted", match, to("wanted")]] }, frames: [frame], ...more });
const match = (value: object) => replace("/rules/0/match", value);
const roce = (more: object, port = 4791): object[] => [
  ip("10.0.0.1", "10.0.0.2"),
  udp(port, 49152),
  tunnel("bth", { opcode: 100, dst_qp: 17, ...more }),
  payload(12),
];

export const HEADERS: readonly Planted[] = [
  {
    name: "the tags of QinQ in the opposite order, beside another rule",
    scenario: scenario({
      tables: {
        root: [
          ["wanted", { "outer.first_vid": 20, "misc.outer_second_vid": 10 }, to("wanted")],
          ["other customer", { "outer.first_vid": 11, "misc.outer_second_vid": 20 }, to("rest"), 1],
        ],
      },
      frames: [[vlan(10, { type: "0x8100" }), vlan(20), ...request()]],
    }),
    target: rule("wanted"),
    first: ["outer.first_vid is 10, not 20", "misc.outer_second_vid"],
    never: [],
    repair: of("rule", "corrects", "match outer.first_vid 10 instead of 20 and misc.outer_second_vid 20 instead of 10"),
    correction: [match({ "outer.first_vid": 10, "misc.outer_second_vid": 20 })],
  },
  {
    name: "one VLAN that is wrong, and no order",
    scenario: scenario({
      tables: {
        root: [
          ["wanted", { "outer.first_vid": 30, "misc.outer_second_vid": 20 }, to("wanted")],
          ["swapped", { "outer.first_vid": 20, "misc.outer_second_vid": 10 }, to("rest")],
        ],
      },
      frames: [[vlan(10, { type: "0x8100" }), vlan(20), ...request()]],
    }),
    target: queue("wanted"),
    first: ['rule "wanted"', "outer.first_vid is 10, not 30"],
    never: ["opposite order"],
    repair: of("frame", null, "outer.first_vid 30 instead of 10"),
    correction: [replace("/rules/0/match/outer.first_vid", 10)],
  },
  {
    name: "a tag with VLAN 0, and a rule for untagged frames",
    scenario: one({ "outer.cvlan_tag": 0, "outer.tcp_dport": 80 }, [vlan(0, { pcp: 5 }), ...request()]),
    target: rule("wanted"),
    first: ["outer.cvlan_tag is 1, not 0"],
    never: ["add outer"],
    // Without the bit the rule would take all VLANs.
    repair: of("frame", null, "outer.cvlan_tag 0 instead of 1"),
    correction: [match({ "outer.tcp_dport": 80 })],
  },
  {
    name: "the second tag as a service tag",
    scenario: one({ "misc.outer_second_svlan_tag": 1, "misc.outer_second_vid": 20 }, [
      vlan(10, { type: "0x8100" }),
      vlan(20),
      ...request(),
    ]),
    target: rule("wanted"),
    first: ["misc.outer_second_svlan_tag is 0, not 1"],
    never: ["opposite order"],
    repair: of("rule", "corrects", "match misc.outer_second_cvlan_tag 1"),
    correction: [match({ "misc.outer_second_cvlan_tag": 1, "misc.outer_second_vid": 20 })],
  },
  {
    name: "the number of a fragment header as protocol",
    scenario: one({ "outer.ip_protocol": 44 }, [
      ip("2001:db8::9", "2001:db8::80"),
      tunnel("ipv6_fragment", { m: 1, identification: 5 }),
      tcp(80),
    ]),
    target: rule("wanted"),
    first: ["outer.ip_protocol is tcp, not 44"],
    never: ["leave out"],
    repair: of("rule", "corrects", "match outer.ip_protocol tcp"),
    correction: [match({ "outer.frag": 1 })],
  },
  {
    name: "a header without options expected of a packet with options",
    scenario: one({ "outer.ipv4_ihl": 5, "outer.tcp_dport": 80 }, [
      ip("198.51.100.9", "192.0.2.80", { options: "94040000" }),
      tcp(80),
    ]),
    target: rule("wanted"),
    first: ["outer.ipv4_ihl is 6, not 5"],
    never: ["hexadecimal"],
    repair: of("rule", "disables", "outer.ipv4_ihl 6 instead of 5"),
    correction: [match({ "outer.tcp_dport": 80 })],
  },
  {
    name: "neighbour discovery, and a rule for the host's own address",
    scenario: one({ "outer.ipv6_dst": "2001:db8::80" }, [
      { header: "ethernet", destination: "33:33:ff:00:00:80" },
      ip("2001:db8::9", "ff02::1:ff00:80"),
      { header: "icmpv6", type: 135, code: 0, rest: 0 },
      payload(20),
    ]),
    target: queue("wanted"),
    first: ["outer.ipv6_dst is ff02::1:ff00:80, not 2001:db8::80"],
    never: ["swapped"],
    repair: of("frame", null, "outer.ipv6_dst 2001:db8::80"),
    correction: [match({ "outer.ipv6_dst": "ff02::1:ff00:80" })],
  },
  {
    name: "the opcode of a datagram in the wrong base",
    scenario: one({ "misc.bth_opcode": 64 }, roce({})),
    target: rule("wanted"),
    first: ["misc.bth_opcode is 100, not 64"],
    never: ["leave out"],
    repair: of("rule", "corrects", "match misc.bth_opcode 100 instead of 64"),
    correction: [match({ "misc.bth_opcode": 100 })],
  },
  {
    name: "RoCE on a port of its own",
    scenario: one({ "misc.bth_dst_qp": 17 }, roce({ p_key: 65535 }, 4793)),
    target: rule("wanted"),
    first: ["misc.bth_dst_qp", "UDP port 4793 is not 4791"],
    never: ["add misc"],
    repair: of("frame", null, "outer.udp_dport 4791 instead of 4793"),
    correction: [replace("/frames/0/headers/2/destination_port", 4791)],
  },
  {
    name: "the port of TCP in an association of SCTP",
    scenario: one({ "outer.tcp_dport": 3868 }, [HOSTS, { header: "sctp", source_port: 40000, destination_port: 3868 }]),
    target: rule("wanted"),
    mistake: "tcp-fields-for-sctp",
    first: ["outer.tcp_dport", "SCTP"],
    never: ["udp_dport"],
    repair: of("rule", "corrects", "match ext.outer_sctp_dport 3868 instead of outer.tcp_dport"),
    correction: [match({ "ext.outer_sctp_dport": 3868 })],
  },
  {
    name: "the port of a packet inside PPPoE",
    scenario: one({ "outer.tcp_dport": 80 }, [{ header: "ethernet", type: "0x8864" }, payload(60)]),
    target: rule("wanted"),
    first: ["outer.tcp_dport", "0x8864"],
    never: ["add outer"],
    repair: null,
    correction: [match({ "outer.ethertype": "0x8864" })],
  },
  {
    name: "a rule that expects whole packets, and the first fragment",
    scenario: one({ "outer.frag": 0, "outer.udp_dport": 514 }, [
      ip("198.51.100.9", "192.0.2.80", { flags: "mf" }),
      udp(514),
      payload(24),
    ]),
    target: rule("wanted"),
    first: ["outer.frag is 1, not 0"],
    never: ["does not have that header"],
    repair: of("rule", "safe", "outer.frag"),
    correction: [match({ "outer.udp_dport": 514 })],
  },
  {
    name: "source and destination of a flow swapped, and the source lies in the network too",
    scenario: one({ "outer.ipv4_dst": "10.1.0.0/16", "outer.tcp_dport": 443 }, [ip("10.1.0.5", "10.2.0.7"), tcp(80)]),
    target: rule("wanted"),
    first: ["outer.tcp_dport is 80, not 443", "outer.ipv4_dst"],
    never: ["addresses are swapped", "address are swapped"],
    repair: of("frame", null, "outer.tcp_dport 443 instead of 80"),
    correction: [match({ "outer.ipv4_dst": "10.2.0.0/16", "outer.tcp_dport": 80 })],
  },
  {
    name: "ARP in a rule for the address that it asks for",
    scenario: one({ "outer.ipv4_dst": "192.0.2.80" }, [
      { header: "ethernet", destination: "ff:ff:ff:ff:ff:ff" },
      { header: "arp", sender_protocol: "198.51.100.9", target_protocol: "192.0.2.80" },
    ]),
    target: queue("wanted"),
    first: ["ARP (EtherType 0x0806), not IP"],
    never: ["add outer"],
    repair: null,
    correction: [match({ "outer.ethertype": "arp" })],
  },
];
