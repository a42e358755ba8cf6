/** Direct rules: priorities, tables, misses, changes on the way. */
import type { Entry } from "./support/entry.js";

export const DIRECT: readonly Entry[] = [
  {
    file: "direct/priority-inverted",
    target: { kind: "rule", name: "web" },
    mistake: "priority-reversed",
    says: ['"rest"', "priority"],
    correction: [{ op: "replace", path: "/rules/1/priority", value: 1 }],
  },
  {
    file: "direct/default-rule-first",
    target: { kind: "rule", name: "bearer" },
    mistake: "priority-reversed",
    says: ['"default"', "priority"],
    correction: [{ op: "add", path: "/rules/1/priority", value: 5 }],
  },
  {
    file: "direct/newer-matcher-first",
    target: { kind: "rule", name: "flow" },
    mistake: "equal-priority",
    says: ['"miss"', "priority"],
    correction: [{ op: "add", path: "/matchers/1/priority", value: 1 }],
  },
  {
    file: "direct/table-without-way",
    target: { kind: "rule", name: "web" },
    mistake: "table-not-linked",
    says: ["services", "leads to"],
    correction: [{ op: "replace", path: "/rules/0/actions/0", value: { table: "services" } }],
  },
  {
    file: "direct/way-not-taken",
    target: { kind: "table", name: "services" },
    mistake: null,
    says: ['"to services"', "outer.ip_protocol", "udp"],
    correction: [{ op: "remove", path: "/rules/0/match/outer.ip_protocol" }],
  },
  {
    file: "direct/no-table-miss-rule",
    target: { kind: "queue", name: "rest" },
    mistake: "no-miss-rule",
    says: ["services", "No rule"],
    correction: [
      {
        op: "add",
        path: "/rules/2",
        value: { name: "others", table: "services", priority: 1, match: {}, actions: [{ queue: "rest" }] },
      },
    ],
  },
  {
    file: "direct/default-miss-drops",
    target: { kind: "queue", name: "rest" },
    mistake: "default-miss-drops",
    says: ['"to the kernel"', "default miss"],
    correction: [{ op: "replace", path: "/rules/0/actions/0", value: "default_miss" }],
  },
  {
    file: "direct/circle",
    target: { kind: "queue", name: "out" },
    mistake: "table-loop",
    says: ["64 tables"],
    correction: [{ op: "remove", path: "/rules/2" }],
  },
  {
    file: "direct/ttl-decremented",
    target: { kind: "rule", name: "peer" },
    mistake: "rewritten-before-match",
    says: ['"route"', "255", "254"],
    correction: [{ op: "replace", path: "/rules/1/match/outer.ip_ttl_hoplimit", value: 254 }],
  },
  {
    file: "direct/address-translated",
    target: { kind: "rule", name: "server" },
    mistake: "rewritten-before-match",
    says: ['"dnat"', "203.0.113.80", "10.0.0.80"],
    correction: [{ op: "replace", path: "/rules/1/match/outer.ipv4_dst", value: "10.0.0.80" }],
  },
  {
    file: "direct/tag-popped",
    target: { kind: "rule", name: "office" },
    mistake: "rewritten-before-match",
    says: ['"untag"', "outer.first_vid"],
    correction: [{ op: "remove", path: "/rules/0/actions/0" }],
  },
  {
    file: "direct/other-register",
    target: { kind: "rule", name: "inside" },
    mistake: "register-not-written",
    says: ["misc2.metadata_reg_c_2", "7"],
    correction: [
      { op: "remove", path: "/rules/1/match/misc2.metadata_reg_c_2" },
      { op: "add", path: "/rules/1/match/misc2.metadata_reg_c_1", value: 7 },
    ],
  },
  {
    file: "direct/register-overwritten",
    target: { kind: "rule", name: "detect" },
    mistake: null,
    says: ['"encapsulate"', "misc2.metadata_reg_c_1", "5001"],
    correction: [{ op: "replace", path: "/rules/1/actions/0/modify/0/set", value: "misc2.metadata_reg_c_2" }],
  },
  {
    file: "direct/no-end",
    target: { kind: "rule", name: "web" },
    mistake: "no-actions",
    says: ['"count"', "destination"],
    correction: [
      { op: "add", path: "/rules/0/actions/1", value: { queue: "web" } },
      { op: "replace", path: "/rules/1/priority", value: 0 },
      { op: "replace", path: "/rules/0/match", value: { "outer.udp_dport": 80 } },
    ],
  },
  {
    file: "direct/back-to-root",
    target: { kind: "rule", name: "web" },
    mistake: null,
    says: ['"web"', "priority"],
    correction: [{ op: "replace", path: "/rules/2/actions/1/priority", value: 1 }],
  },
];
