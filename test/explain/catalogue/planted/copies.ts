/** Functions and ports, copies, samples, RSS, counters, looped-back frames. */
import {
  add,
  flow,
  HOSTS,
  of,
  queue,
  remove,
  replace,
  request,
  rule,
  scenario,
  to,
  udp,
  type FrameText,
  type Parts,
  type Planted,
} from "./shapes.js";

const VM = [
  { name: "vm 1", function: 1 },
  { name: "vm 2", function: 2 },
];
const DEFAULTS = [
  { name: "pf", queue: "pf", type: "all_default" },
  { name: "vm 1", queue: "vm 1", type: "all_default" },
  { name: "vm 2", queue: "vm 2", type: "all_default" },
];
/** An eSwitch with two VFs, each with a default flow. */
const eswitch = (rules: Required<Parts>["tables"], frame: FrameText, more: object = {}): object =>
  scenario({
    device: { vports: 2 },
    domain: "fdb",
    queues: VM,
    flows: DEFAULTS,
    tables: rules,
    frames: [frame],
    ...more,
  });

const RSS_KEY = "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa";
const spread = (fields: readonly string[], frame: readonly object[]): object =>
  scenario({
    queues: [0, 1, 2, 3].map((n) => ({ name: `cpu ${n}`, type: "wq", buffers: 4 })),
    rqts: [{ name: "cpus", queues: ["cpu 0", "cpu 1"] }],
    tirs: [
      {
        name: "rss",
        rqt: "cpus",
        rx_hash_fn: "toeplitz",
        rx_hash_toeplitz_key: RSS_KEY,
        rx_hash_field_selector_outer: { l4_prot_type: "tcp", selected_fields: fields },
      },
    ],
    tables: { root: [["spread", {}, [{ tir: "rss" }]]] },
    frames: [frame],
  });

export const COPIES: readonly Planted[] = [
  {
    name: "the number of a VF given as that of a port",
    scenario: eswitch({ switch: [["to vm", { "outer.ipv4_dst": "192.0.2.80" }, [{ port: 2 }]]] }, request(), {
      device: { vports: 2, ports: 2 },
    }),
    target: { kind: "vport", vport: 2 },
    first: ['rule "to vm"', "port 2", "VF 2"],
    never: ["accepts the frame"],
    repair: null,
    correction: [replace("/rules/0/actions/0", { vport: 2 })],
  },
  {
    name: "a member of an array that leads back to the wire",
    scenario: eswitch({ switch: [["flood", {}, [{ array: [{ vport: "uplink" }, { vport: 1 }] }]]] }, request()),
    target: { kind: "vport", vport: 65535 },
    first: ['rule "flood"', "back to port 1, where it arrived"],
    never: ["no rule of the FDB"],
    repair: null,
    correction: [add("/frames/0/send", "vm 1")],
  },
  {
    name: "a frame between functions that no rule of the switch takes",
    scenario: eswitch(
      { switch: [["to vm 2", { "outer.ipv4_dst": "192.0.2.81" }, [{ vport: 2 }]]] },
      { headers: request(), send: "vm 1" },
    ),
    target: queue("vm 2"),
    first: ['rule "to vm 2"', "outer.ipv4_dst is 192.0.2.80, not 192.0.2.81"],
    never: ["addresses are swapped"],
    repair: of("rule", "safe", "outer.ipv4_dst"),
    correction: [replace("/rules/0/match/outer.ipv4_dst", "192.0.2.80")],
  },
  {
    name: "a flow of the PF for a frame that the switch gives to a VF",
    scenario: scenario({
      device: { vports: 2 },
      domain: "fdb",
      queues: VM,
      flows: [{ name: "web", queue: "web", specs: [{ tcp: { dst_port: 80 } }] }, ...DEFAULTS],
      tables: { switch: [["to vm 1", { "outer.ipv4_dst": "192.0.2.0/24" }, [{ vport: 1 }]]] },
      frames: [request()],
    }),
    target: flow("web"),
    first: ['rule "to vm 1"', "VF 1", "the PF"],
    never: ["does not match"],
    repair: null,
    correction: [remove("/rules/0")],
  },
  {
    name: "a flow of a VF to which no rule of the switch leads",
    scenario: eswitch({ switch: [["to vm 2", { "outer.ipv4_dst": "192.0.2.80" }, [{ vport: 2 }]]] }, request()),
    target: flow("vm 1"),
    first: ["no rule of the FDB sends frames to VF 1"],
    never: ["does not match"],
    repair: null,
    correction: [replace("/rules/0/actions/0", { vport: 1 })],
  },
  {
    name: "a port that is the frame's own",
    scenario: eswitch({ switch: [["out", {}, [{ port: 1 }]]] }, request(), { device: { vports: 2, ports: 2 } }),
    target: { kind: "end" },
    first: ['rule "out" sends the frame back to port 1'],
    never: ["default flow"],
    repair: null,
    correction: [replace("/rules/0/actions/0", { port: 2 })],
  },
  {
    name: "a looped-back frame that a flow drops",
    scenario: scenario({
      queues: [{ name: "sender" }],
      flows: [
        { name: "no peers", queue: "receiver", specs: [{ ipv4: { src_ip: "198.51.100.0/24" } }, "drop"] },
        { name: "receiver", queue: "receiver", priority: 1, specs: [{ tcp: { dst_port: 80 } }] },
      ],
      frames: [{ headers: request(), send: "sender" }],
    }),
    target: flow("receiver"),
    first: ['flow "no peers" took the frame first', "(0 before 1)"],
    never: ["only frames that its own queue pairs send"],
    repair: of("rule", "safe", "use priority"),
    correction: [remove("/flows/0")],
  },
  {
    name: "a member of an array without a receive buffer",
    scenario: scenario({
      queues: [{ name: "analyser", buffers: 1 }],
      tables: { root: [["both", {}, [{ array: [{ queue: "analyser" }, { queue: "web" }] }]]] },
      frames: [request(), request()],
    }),
    target: queue("analyser"),
    first: ["qp:analyser is out of receive buffers"],
    never: ["no rule delivers"],
    repair: null,
    correction: [replace("/queues/0/buffers", 2)],
  },
  {
    name: "RSS by ports of TCP, and a datagram",
    scenario: spread(["src_ip", "dst_ip", "l4_sport", "l4_dport"], [HOSTS, udp(80)]),
    target: queue("cpu 0"),
    first: ['rule "spread"', "wq:cpu 1", "outer.tcp_sport"],
    never: ["no rule delivers"],
    repair: null,
    correction: [replace("/frames/0/headers/1/source", "198.51.100.12")],
  },
  {
    name: "a queue that the indirection table leaves out",
    scenario: spread(["src_ip", "dst_ip"], request()),
    target: queue("cpu 3"),
    first: ["no rule delivers to wq:cpu 3"],
    never: ["gave this one to"],
    repair: null,
    correction: [replace("/rqts/0/queues", ["cpu 3", "cpu 3"])],
  },
  {
    name: "a counter in a rule after the one that takes the frames",
    scenario: scenario({
      counters: [{ name: "hits" }],
      tables: {
        root: [
          ["web", { "outer.tcp_dport": 80 }, to("web")],
          ["count", { "outer.ipv4_dst": "192.0.2.80" }, [{ count: "hits" }, { queue: "web" }], 1],
        ],
      },
      frames: [request()],
    }),
    target: rule("count"),
    first: ['rule "web" took the frame first', "(0 before 1)"],
    never: ["leave out"],
    repair: of("rule", "safe", 'In rule "web" use priority 2 instead of 0'),
    correction: [replace("/rules/0/priority", 2)],
  },
  {
    name: "a rule of the sending side for a frame from the wire",
    scenario: scenario({
      domain: "nic_tx",
      tables: { out: [["mark", { "outer.tcp_dport": 80 }, [{ tag: 1 }, "drop"].slice(1)]] },
      frames: [request()],
    }),
    target: rule("mark"),
    first: ["NIC_TX of the PF", "the frame came from the wire on port 1"],
    never: ["does not match"],
    repair: null,
    correction: [replace("/tables/0/domain", "nic_rx")],
  },
  {
    name: "a copy to a table that drops what it does not match",
    scenario: scenario({
      tables: {
        root: [["both", {}, [{ array: [{ table: "mirror" }, { queue: "web" }] }]]],
        mirror: [["only TLS", { "outer.tcp_dport": 443 }, to("analyser")]],
      },
      frames: [request()],
    }),
    target: queue("analyser"),
    first: ['rule "only TLS"', "outer.tcp_dport is 80, not 443"],
    never: ["no rule leads"],
    repair: of("frame", null, "outer.tcp_dport 443 instead of 80"),
    correction: [replace("/rules/1/match", {})],
  },
  {
    name: "a sniffer of a function that does not get the frame",
    scenario: scenario({
      device: { vports: 2 },
      domain: "fdb",
      queues: VM,
      flows: [{ name: "capture", queue: "vm 1", type: "sniffer" }, ...DEFAULTS],
      tables: { switch: [["to vm 2", {}, [{ vport: 2 }]]] },
      frames: [request()],
    }),
    target: flow("capture"),
    first: ["no rule of the FDB sends frames to VF 1"],
    never: ["default flow"],
    repair: null,
    correction: [replace("/rules/0/actions/0", { vport: 1 })],
  },
  {
    name: "a frame of a VF, and a rule for those from the wire",
    scenario: eswitch(
      { switch: [["to vm 2", { "misc.source_port": "uplink", "outer.ipv4_dst": "192.0.2.80" }, [{ vport: 2 }]]] },
      { headers: request(), send: "vm 1" },
    ),
    target: { kind: "vport", vport: 2 },
    first: ['rule "to vm 2"', "misc.source_port is 1, not uplink"],
    never: ["Send the frame with"],
    repair: of("rule", "corrects", "match misc.source_port 1 instead of uplink"),
    correction: [replace("/rules/0/match/misc.source_port", 1)],
  },
];
