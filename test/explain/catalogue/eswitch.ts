/** Functions and the eSwitch. */
import type { Entry } from "./support/entry.js";

export const ESWITCH: readonly Entry[] = [
  {
    file: "eswitch/no-default-flow-in-the-vf",
    target: { kind: "queue", name: "vm" },
    mistake: "no-default-flow",
    says: ["VF 1", "no flow"],
    correction: [{ op: "add", path: "/flows", value: [{ name: "vm", queue: "vm", type: "all_default" }] }],
  },
  {
    file: "eswitch/fdb-miss",
    target: { kind: "vport", vport: 2 },
    mistake: "source-port-of-other-function",
    says: ["misc.source_port", "VF 1"],
    correction: [
      {
        op: "add",
        path: "/rules/1",
        value: { name: "to VF 2", table: "switch", match: { "outer.ipv4_dst": "192.0.2.80" }, actions: [{ vport: 2 }] },
      },
    ],
  },
  {
    file: "eswitch/source-port-of-another",
    target: { kind: "rule", name: "out" },
    mistake: "source-port-of-other-function",
    says: ["misc.source_port", "VF 1"],
    correction: [{ op: "replace", path: "/rules/0/match/misc.source_port", value: 1 }],
  },
  {
    file: "eswitch/source-port-of-the-wire",
    target: { kind: "rule", name: "in" },
    mistake: "source-port-of-other-function",
    says: ["misc.source_port", "wire"],
    correction: [{ op: "replace", path: "/rules/0/match/misc.source_port", value: "uplink" }],
  },
  {
    file: "eswitch/wire-to-wire",
    target: { kind: "end" },
    mistake: "wire-to-wire",
    says: ["port 1", "wire"],
    correction: [
      { op: "add", path: "/rules/0/match/misc.source_port", value: 1 },
      { op: "add", path: "/frames/0/send", value: "vm" },
    ],
  },
  {
    file: "eswitch/dropped-before-the-switch",
    target: { kind: "rule", name: "out" },
    mistake: null,
    says: ['"no web"'],
    correction: [{ op: "remove", path: "/rules/1" }],
  },
  {
    file: "eswitch/flow-of-the-pf",
    target: { kind: "flow", name: "web" },
    mistake: "flow-of-other-function",
    says: ['"to the VM"', "the PF"],
    correction: [{ op: "replace", path: "/flows/0/queue", value: "vm" }],
  },
  {
    file: "eswitch/register-lost",
    target: { kind: "rule", name: "marked" },
    mistake: "register-lost",
    says: ["misc2.metadata_reg_c_2", "C0 and C1"],
    correction: [
      { op: "replace", path: "/rules/0/actions/0/modify/0/set", value: "misc2.metadata_reg_c_1" },
      { op: "replace", path: "/rules/1/match", value: { "misc2.metadata_reg_c_1": 7 } },
    ],
  },
  {
    file: "eswitch/tag-pushed-before",
    target: { kind: "rule", name: "out" },
    mistake: "rewritten-before-match",
    says: ['"tag"', "outer.cvlan_tag"],
    correction: [{ op: "remove", path: "/rules/0/match/outer.cvlan_tag" }],
  },
  {
    file: "eswitch/metadata-not-given",
    target: { kind: "rule", name: "marked" },
    mistake: "register-not-written",
    says: ["misc2.metadata_reg_a", "4660"],
    correction: [{ op: "add", path: "/frames/0/metadata", value: 4660 }],
  },
  {
    file: "eswitch/received-for-sent",
    target: { kind: "rule", name: "count what is sent" },
    mistake: "flow-of-other-function",
    says: ["VF 1", "frames of VFs go to the PF"],
    correction: [
      { op: "remove", path: "/frames/0/send" },
      { op: "add", path: "/tables/1", value: { name: "switch", level: 0, domain: "fdb" } },
      { op: "add", path: "/rules/1", value: { name: "in", table: "switch", match: {}, actions: [{ vport: 1 }] } },
    ],
  },
  {
    file: "eswitch/other-vport",
    target: { kind: "vport", vport: 2 },
    mistake: "other-vport",
    says: ['"to the second VM"', "VF 2"],
    correction: [{ op: "replace", path: "/rules/0/actions/0/vport", value: 2 }],
  },
];
