/** Which rule came first, and tables that no frame reaches. */
import {
  add,
  flow,
  HOSTS,
  jump,
  of,
  queue,
  remove,
  replace,
  request,
  rule,
  scenario,
  tcp,
  to,
  type Planted,
} from "./shapes.js";

/** Nobody leads to its table. */
const UNLED = scenario({
  tables: {
    root: [["rest", {}, to("rest")]],
    services: [["web", { "outer.tcp_dport": 80 }, to("web")]],
  },
  frames: [request()],
});

const RSS_KEY = "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa";

export const ORDER: readonly Planted[] = [
  {
    name: "priorities as OpenFlow has them: the highest first",
    scenario: scenario({
      tables: {
        root: [
          ["all", {}, to("rest"), 1],
          ["servers", { "outer.ipv4_dst": "192.0.2.0/24" }, to("rest"), 50],
          ["web", { "outer.ipv4_dst": "192.0.2.0/24", "outer.tcp_dport": 80 }, to("web"), 100],
        ],
      },
      frames: [request()],
    }),
    target: queue("web"),
    first: ['rule "all" took the frame first', "(1 before 100)"],
    never: ["leave out"],
    repair: of("rule", "safe", 'In rule "web" use priority 0 instead of 100'),
    correction: [replace("/rules/2/priority", 0)],
  },
  {
    name: "two rules with one match",
    scenario: scenario({
      tables: {
        root: [
          ["web", { "outer.tcp_dport": 80 }, to("web")],
          ["copy", { "outer.tcp_dport": 80 }, to("copy")],
        ],
      },
      frames: [request()],
    }),
    target: rule("copy"),
    mistake: "duplicate-rule",
    first: ['rule "web" took the frame first'],
    never: ["priorities", "use priority"],
    repair: null,
    correction: [remove("/rules/0")],
  },
  {
    name: "two rules of priority 0",
    scenario: scenario({
      tables: {
        root: [
          ["all", { "outer.ip_version": 4 }, to("rest")],
          ["web", { "outer.tcp_dport": 80 }, to("web")],
        ],
      },
      frames: [request()],
    }),
    target: rule("web"),
    mistake: "equal-priority",
    first: ['rule "all" took the frame first'],
    never: ["lower number."],
    repair: of("rule", "safe", 'In rule "all" use priority 1 instead of 0'),
    correction: [replace("/rules/0/priority", 1)],
  },
  {
    name: "a table that nothing leads to, beside one that the frame misses",
    scenario: scenario({
      tables: {
        root: [["all", {}, jump("dns")]],
        services: [["web", { "outer.tcp_dport": 80 }, to("web")]],
        dns: [["dns", { "outer.udp_dport": 53 }, to("dns")]],
      },
      frames: [request()],
    }),
    target: rule("web"),
    mistake: "table-not-linked",
    first: ['no rule leads to table "services"'],
    never: ["No rule of table"],
    repair: null,
    correction: [replace("/rules/0/actions/0/table", "services")],
  },
  {
    name: "a queue of a table that nothing leads to",
    scenario: UNLED,
    target: queue("web"),
    first: ['rule "web"', 'no rule leads to table "services"'],
    never: ["does not match"],
    repair: null,
    correction: [replace("/rules/0/actions/0", { table: "services" })],
  },
  {
    name: "a queue of RSS in a table that nothing leads to",
    scenario: scenario({
      queues: [
        { name: "cpu 0", type: "wq", buffers: 4 },
        { name: "cpu 1", type: "wq", buffers: 4 },
      ],
      rqts: [{ name: "cpus", queues: ["cpu 0", "cpu 1"] }],
      tirs: [
        {
          name: "rss",
          rqt: "cpus",
          rx_hash_fn: "toeplitz",
          rx_hash_toeplitz_key: RSS_KEY,
          rx_hash_field_selector_outer: { selected_fields: ["src_ip", "dst_ip"] },
        },
      ],
      tables: {
        root: [["rest", {}, to("rest")]],
        spread: [["spread", {}, [{ tir: "rss" }]]],
      },
      frames: [request()],
    }),
    target: queue("cpu 0"),
    first: ['no rule leads to table "spread"'],
    never: ["gave this one to", "RSS, which"],
    repair: null,
    correction: [
      replace("/rules/0/actions/0", { table: "spread" }),
      replace("/frames/0/headers/1/source", "198.51.100.12"),
    ],
  },
  {
    name: "the first table of a chain is not led to",
    scenario: scenario({
      tables: {
        root: [["rest", {}, to("rest")]],
        filter: [["filter", { "outer.ip_protocol": "tcp" }, jump("services")]],
        services: [["web", { "outer.tcp_dport": 80 }, to("web")]],
      },
      frames: [request()],
    }),
    target: rule("web"),
    first: ['no rule leads to table "filter"'],
    never: ["does not match"],
    repair: null,
    correction: [replace("/rules/0/actions/0", { table: "filter" })],
  },
  {
    name: "a flow that drops in front of a flow that delivers",
    scenario: scenario({
      flows: [
        { name: "block", queue: "web", specs: [{ ipv4: { src_ip: "198.51.100.0/24" } }, "drop"] },
        {
          name: "web",
          queue: "web",
          priority: 1,
          specs: [{ ipv4: { src_ip: "198.51.100.9" } }, { tcp: { dst_port: 80 } }],
        },
      ],
      frames: [request()],
    }),
    target: flow("web"),
    first: ['flow "block" took the frame first', "(0 before 1)"],
    never: ["leave out"],
    repair: of("rule", "safe", 'In flow "block" use priority 2 instead of 0'),
    correction: [replace("/flows/1/priority", 0), add("/flows/0/priority", 1)],
  },
  {
    name: "three tables in a circle",
    scenario: scenario({
      tables: {
        root: [["in", {}, jump("a")]],
        a: [["first", {}, jump("b")]],
        b: [["second", {}, jump("c")]],
        c: [
          ["third", { "outer.tcp_dport": 80 }, jump("a")],
          ["web", {}, to("web"), 1],
        ],
      },
      frames: [request()],
    }),
    target: queue("web"),
    first: ['"first", rule "second" and rule "third"', "in a circle"],
    never: [],
    repair: null,
    correction: [remove("/rules/3")],
  },
  {
    name: "a table that is entered for UDP alone",
    scenario: scenario({
      tables: {
        root: [
          ["datagrams", { "outer.ip_protocol": "udp" }, jump("ports")],
          ["rest", {}, to("rest"), 1],
        ],
        ports: [["dns", { "outer.tcp_dport": 53 }, to("dns")]],
      },
      frames: [request(53)],
    }),
    target: queue("dns"),
    first: ['"datagrams"', "outer.ip_protocol is tcp, not udp"],
    never: ["no rule leads"],
    repair: of("rule", "disables", 'In rule "datagrams" match outer.ip_protocol tcp'),
    correction: [replace("/rules/0/match/outer.ip_protocol", "tcp")],
  },
  {
    name: "a miss goes to the default flow",
    scenario: scenario({
      tables: { root: [["web", { "outer.ipv4_dst": "192.0.2.8", "outer.tcp_dport": 80 }, to("web")]] },
      flows: [{ name: "kernel", queue: "kernel", type: "all_default" }],
      frames: [request()],
    }),
    target: queue("web"),
    first: ['rule "web"', "outer.ipv4_dst is 192.0.2.80, not 192.0.2.8"],
    never: ["addresses are swapped"],
    repair: of("frame", null, "outer.ipv4_dst 192.0.2.8 instead of 192.0.2.80"),
    correction: [replace("/rules/0/match/outer.ipv4_dst", "192.0.2.80")],
  },
  {
    name: "a later rule of the same priority in the root table",
    scenario: scenario({
      tables: {
        root: [
          ["subnet", { "outer.ipv4_dst": "192.0.2.0/24" }, to("rest")],
          ["host", { "outer.ipv4_dst": "192.0.2.80" }, to("web")],
        ],
      },
      frames: [request()],
    }),
    target: rule("host"),
    first: ['rule "subnet" took the frame first', "the older rule of the same matcher"],
    never: ["leave out"],
    repair: of("rule", "safe", 'In rule "subnet" use priority 1 instead of 0'),
    correction: [replace("/rules/0/priority", 1)],
  },
  {
    name: "a rule for a frame that an earlier table drops",
    scenario: scenario({
      tables: {
        root: [
          ["spoofed", { "outer.ipv4_src": "198.51.100.0/24" }, ["drop"]],
          ["in", {}, jump("services"), 1],
        ],
        services: [["web", { "outer.tcp_dport": 80 }, to("web")]],
      },
      frames: [request()],
    }),
    target: rule("web"),
    first: ['rule "spoofed" took the frame first', 'table "services"'],
    never: ["leave out", 'In rule "spoofed" use priority'],
    repair: null,
    correction: [replace("/rules/0/match/outer.ipv4_src", "203.0.113.0/24")],
  },
  {
    name: "a rule for datagrams, and the frame is a segment",
    scenario: scenario({
      tables: { root: [["syslog", { "outer.ip_protocol": "udp", "outer.udp_dport": 514 }, to("log")]] },
      frames: [[HOSTS, tcp(514)]],
    }),
    target: rule("syslog"),
    first: ["outer.ip_protocol is tcp, not udp"],
    never: ['In rule "syslog" leave out'],
    repair: of("rule", "corrects", "outer.tcp_dport 514"),
    correction: [replace("/rules/0/match", { "outer.tcp_dport": 514 })],
  },
  {
    name: "DONT_TRAP missing on the flow that comes first",
    scenario: scenario({
      flows: [
        { name: "web", queue: "web", specs: [{ tcp: { dst_port: 80 } }] },
        { name: "audit", queue: "audit", priority: 3, specs: [{ ipv4: { dst_ip: "192.0.2.0/24" } }, { tcp: {} }] },
      ],
      frames: [request()],
    }),
    target: { kind: "twice" },
    first: ["delivered once, to qp:web", 'flow "web"'],
    never: ["swapped"],
    repair: of("rule", "safe", 'In flow "web" set the flag dont_trap'),
    correction: [add("/flows/0/flags", ["dont_trap"])],
  },
];
