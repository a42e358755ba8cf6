/** Masks and values whose bits lie elsewhere, and units. */
import { flow, HOSTS, ip, jump, of, queue, replace, request, rule, scenario, tcp, to, type Planted } from "./shapes.js";

/** One rule of the root table. */
const one = (match: object, frame: readonly object[], more: object = {}): object =>
  scenario({ tables: { root: [["wanted", match, to("wanted")]] }, frames: [frame], ...more });
const oneFlow = (specs: readonly object[], frame: readonly object[]): object =>
  scenario({ flows: [{ name: "wanted", queue: "wanted", specs }], frames: [frame] });

export const MASKS: readonly Planted[] = [
  {
    name: "a hole in the mask of a network",
    scenario: one({ "outer.ipv4_dst": "192.0.0.0/255.255.0.255" }, request()),
    target: rule("wanted"),
    mistake: "inverted-mask",
    first: ["outer.ipv4_dst is 192.0.2.80, not 192.0.0.0/255.255.0.255"],
    never: ["source and destination"],
    repair: of("rule", "corrects", "match outer.ipv4_dst 192.0.2.0/24"),
    correction: [replace("/rules/0/match/outer.ipv4_dst", "192.0.0.0/16")],
  },
  {
    name: "the mask of a port in the opposite byte order",
    scenario: one({ "outer.tcp_dport": "80/0xf0ff" }, request(85)),
    target: rule("wanted"),
    mistake: "inverted-mask",
    first: ["outer.tcp_dport is 85, not 0x50/0xf0ff"],
    never: ["leave out"],
    repair: of("rule", "corrects", "match outer.tcp_dport 0x50/0xfff0"),
    correction: [replace("/rules/0/match/outer.tcp_dport", "80/0xfff0")],
  },
  {
    name: "the low byte of a port, which is no mask in the opposite byte order",
    scenario: one({ "outer.tcp_dport": "0x50/0xff" }, request(81)),
    target: rule("wanted"),
    first: ["outer.tcp_dport is 81, not 0x50/0xff"],
    never: ["prefix", "0xff00"],
    repair: of("frame", null, "outer.tcp_dport 80 instead of 81"),
    correction: [replace("/rules/0/match/outer.tcp_dport", "81/0xff")],
  },
  {
    name: "the wildcard mask of an IPv4 network, which leaves none of its bits",
    scenario: one({ "outer.ipv4_src": "0.0.0.0/0.255.255.255" }, request()),
    target: rule("wanted"),
    mistake: "inverted-mask",
    first: ["outer.ipv4_src is 198.51.100.9, not 0.0.0.0/0.255.255.255"],
    never: ["Widens"],
    repair: of("rule", "corrects", "match outer.ipv4_src 198.0.0.0/8"),
    correction: [replace("/rules/0/match/outer.ipv4_src", "198.0.0.0/8")],
  },
  {
    name: "only SYN of the flags, and the frame has SYN and ACK",
    scenario: one({ "outer.tcp_flags": "0x2" }, [HOSTS, tcp(80, { flags: "syn ack" })]),
    target: rule("wanted"),
    mistake: "tcp-flags-exact",
    first: ["outer.tcp_flags is 0x012, not 0x002"],
    never: ["0x2/0x1ef"],
    repair: of("frame", null, "outer.tcp_flags 0x002"),
    correction: [replace("/rules/0/match/outer.tcp_flags", "0x2/0x2")],
  },
  {
    name: "the wildcard mask of an IPv6 network",
    scenario: one({ "outer.ipv6_dst": "::1/::ffff:ffff:ffff:ffff" }, [ip("2001:db8::9", "2001:db8::80"), tcp(80)]),
    target: rule("wanted"),
    mistake: "inverted-mask",
    first: ["outer.ipv6_dst is 2001:db8::80", "::1/::ffff:ffff:ffff:ffff"],
    never: ["source and destination"],
    repair: of("rule", "corrects", "match outer.ipv6_dst 2001:db8::/64"),
    correction: [replace("/rules/0/match/outer.ipv6_dst", "2001:db8::/64")],
  },
  {
    name: "DSCP given as the TOS byte of a flow",
    scenario: oneFlow([{ ipv4_ext: { tos: "44/0xfc" } }], [ip("198.51.100.9", "192.0.2.80", { dscp: 46 }), tcp(80)]),
    target: flow("wanted"),
    first: ["outer.ip_dscp is 46, not 11"],
    never: ["leave out"],
    repair: of("rule", "corrects", "match ipv4_ext.tos 0xb8/0xfc"),
    correction: [replace("/flows/0/specs/0/ipv4_ext/tos", "184/0xfc")],
  },
  {
    name: "the TOS byte given as DSCP",
    scenario: one({ "outer.ip_dscp": 40 }, [ip("198.51.100.9", "192.0.2.80", { dscp: 10 }), tcp(80)]),
    target: rule("wanted"),
    first: ["outer.ip_dscp is 10, not 40"],
    never: ["routers"],
    repair: of("rule", "corrects", "match outer.ip_dscp 10 instead of 40"),
    correction: [replace("/rules/0/match/outer.ip_dscp", 10)],
  },
  {
    name: "DSCP given as the traffic class of IPv6",
    scenario: oneFlow(
      [{ ipv6: { traffic_class: "40/0xfc" } }],
      [ip("2001:db8::9", "2001:db8::80", { dscp: 40 }), tcp(80)],
    ),
    target: flow("wanted"),
    first: ["outer.ip_dscp is 40, not 10"],
    never: ["leave out"],
    repair: of("rule", "corrects", "match ipv6.traffic_class 0xa0/0xfc"),
    correction: [replace("/flows/0/specs/0/ipv6/traffic_class", "160/0xfc")],
  },
  {
    name: "a flow label in the byte order of the CPU",
    scenario: one({ "misc.outer_ipv6_flow_label": "0x30100" }, [
      ip("2001:db8::9", "2001:db8::80", { flow_label: "0x12345" }),
      tcp(80),
    ]),
    target: rule("wanted"),
    first: ["misc.outer_ipv6_flow_label is 74565, not 196864"],
    never: ["leave out"],
    repair: of("rule", "corrects", "match misc.outer_ipv6_flow_label 74565"),
    correction: [replace("/rules/0/match/misc.outer_ipv6_flow_label", "0x12345")],
  },
  {
    name: "SYN and ACK expected of a first segment",
    scenario: one({ "outer.tcp_flags": "0x12/0x12", "outer.tcp_dport": 80 }, request()),
    target: rule("wanted"),
    first: ["outer.tcp_flags is 0x002, not 0x12/0x12"],
    never: ["others. Mask only"],
    repair: of("frame", null, "outer.tcp_flags"),
    correction: [replace("/rules/0/match/outer.tcp_flags", "0x2/0x12")],
  },
  {
    name: "type and code of ICMP in each other's place",
    scenario: one({ "misc3.icmp_type": 1, "misc3.icmp_code": 3 }, [HOSTS, { header: "icmp", type: 3, code: 1 }]),
    target: rule("wanted"),
    mistake: "type-and-code-swapped",
    first: ["misc3.icmp_type is 3, not 1", "misc3.icmp_code"],
    never: ["addresses", "ports"],
    repair: of("rule", "corrects", "match misc3.icmp_type 3 instead of 1 and misc3.icmp_code 1 instead of 3"),
    correction: [replace("/rules/0/match", { "misc3.icmp_type": 3, "misc3.icmp_code": 1 })],
  },
  {
    name: "percent for the ratio of a sampler",
    scenario: scenario({
      actions: [
        {
          name: "all",
          flow_sampler: { sample_ratio: 100, default_next_table: "services", sample_actions: [{ queue: "samples" }] },
        },
      ],
      tables: {
        root: [["in", {}, jump("sample")]],
        sample: [["sample", {}, [{ action: "all" }]]],
        services: [["web", {}, to("web")]],
      },
      frames: [request()],
    }),
    target: queue("samples"),
    first: ['rule "sample"', "one of 100 frames"],
    never: ["no rule"],
    repair: null,
    correction: [replace("/actions/0/flow_sampler/sample_ratio", 1)],
  },
  {
    name: "packets for bytes in the burst of a meter",
    scenario: scenario({
      actions: [
        {
          name: "contract",
          flow_meter: { next_table: "coloured", reg_c_index: 1, meter_mode: "l2_len", cir: 1000000, cbs: 32 },
        },
      ],
      tables: {
        root: [["in", {}, jump("police")]],
        police: [["police", {}, [{ action: "contract" }]]],
        coloured: [
          ["red", { "misc2.metadata_reg_c_1": "0/0xff" }, ["drop"]],
          ["web", {}, to("web"), 1],
        ],
      },
      frames: [request()],
    }),
    target: { kind: "end" },
    first: ['rule "red" drops the frame', "coloured the frame red", "54 bytes", "32"],
    never: ["use priority"],
    repair: null,
    correction: [replace("/actions/0/flow_meter/cbs", 32000)],
  },
  {
    name: "a mask of IPv4 in the opposite byte order",
    scenario: one({ "outer.ipv4_src": "0.51.100.9/0.255.255.255" }, [ip("198.51.100.77", "192.0.2.80"), tcp(80)]),
    target: rule("wanted"),
    first: ["outer.ipv4_src is 198.51.100.77, not 0.51.100.9/0.255.255.255"],
    never: ["swapped: source"],
    repair: of("rule", "corrects", "match outer.ipv4_src 198.51.100.0/24"),
    correction: [replace("/rules/0/match/outer.ipv4_src", "198.51.100.0/24")],
  },
];
