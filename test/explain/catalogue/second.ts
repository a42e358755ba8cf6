/** The second catalogue: what the first line must say, what must not be said, and the repair that comes first. */
import type { Repair } from "../../../src/explain/index.js";
import type { Entry } from "./support/entry.js";

export interface SecondEntry extends Entry {
  /** A part of the first line. */
  readonly first: string;
  /** Parts that no sentence has. */
  readonly never: readonly string[];
  /** The first repair, with a part of its sentence and its standing; null for none. */
  readonly repair: (Pick<Repair, "of" | "standing"> & { readonly says: string }) | null;
}

/** The fields inside of a tunnel that the device did not read. */
const UNREAD = ["add misc", "add inner", "leave out"];

export const SECOND: readonly SecondEntry[] = [
  {
    file: "second/vport-for-port",
    target: { kind: "rule", name: "first port" },
    mistake: "vport-for-port",
    first: "misc.source_port is uplink, not 1",
    says: ["the number of a vport is not that of a port"],
    never: [],
    repair: { of: "rule", standing: "safe", says: "match misc.source_port uplink instead of 1" },
    correction: [
      { op: "remove", path: "/rules/0/match/misc.source_port" },
      { op: "add", path: "/rules/0/match/ext.port", value: 1 },
    ],
  },
  {
    file: "second/geneve-length-in-bytes",
    target: { kind: "rule", name: "ovn" },
    mistake: "geneve-length-in-bytes",
    first: "misc.geneve_opt_len is 2, not 8",
    says: ["4-byte words", "8 bytes"],
    never: ["shifted", "leave out"],
    repair: { of: "rule", standing: "corrects", says: "match misc.geneve_opt_len 2 instead of 8" },
    correction: [{ op: "replace", path: "/rules/0/match/misc.geneve_opt_len", value: 2 }],
  },
  {
    file: "second/dont-trap-on-later-flow",
    target: { kind: "flow", name: "monitor" },
    mistake: "dont-trap-on-other-flow",
    first: 'flow "web" took the frame first',
    says: ["dont_trap", '"web"'],
    never: [],
    repair: { of: "rule", standing: "safe", says: 'In flow "web" set the flag dont_trap' },
    correction: [{ op: "add", path: "/flows/0/flags", value: ["dont_trap"] }],
  },
  {
    file: "second/vxlan-other-port",
    target: { kind: "rule", name: "tenant" },
    mistake: "tunnel-on-other-port",
    first: "UDP port 8472 is not 4789, so no VXLAN header was read",
    says: ["misc.vxlan_vni"],
    never: UNREAD,
    repair: { of: "device", standing: null, says: "Register UDP port 8472" },
    correction: [{ op: "add", path: "/device", value: { parser: { vxlanPorts: [4789, 8472] } } }],
  },
  {
    file: "second/geneve-other-port",
    target: { kind: "rule", name: "tenant" },
    mistake: "tunnel-on-other-port",
    first: "UDP port 6082 is not 6081, so no Geneve header was read",
    says: ["misc.geneve_vni"],
    never: UNREAD,
    repair: { of: "frame", standing: null, says: "Send the frame with outer.udp_dport 6081 instead of 6082." },
    correction: [{ op: "replace", path: "/frames/0/headers/2/destination_port", value: 6081 }],
  },
  {
    file: "second/gtpu-other-port",
    target: { kind: "rule", name: "tenant" },
    mistake: "tunnel-on-other-port",
    first: "UDP port 2153 is not 2152, so no GTP-U header was read",
    says: ["misc3.gtpu_teid"],
    never: UNREAD,
    repair: { of: "frame", standing: null, says: "Send the frame with outer.udp_dport 2152 instead of 2153." },
    correction: [{ op: "replace", path: "/frames/0/headers/2/destination_port", value: 2152 }],
  },
  {
    file: "second/meter-writes-other-register",
    target: { kind: "rule", name: "green" },
    mistake: "register-not-written",
    first: "no rule wrote register C1 before",
    says: ["misc2.metadata_reg_c_1"],
    never: ["coloured", "wrote green"],
    repair: { of: "rule", standing: "safe", says: "match misc2.metadata_reg_c_1" },
    correction: [{ op: "replace", path: "/actions/0/flow_meter/reg_c_index", value: 1 }],
  },
  {
    file: "second/zero-is-a-write",
    target: { kind: "rule", name: "marked" },
    mistake: null,
    first: 'rule "clear" wrote it',
    says: ["misc2.metadata_reg_c_1"],
    never: ["no rule wrote", "no rule before"],
    repair: { of: "rule", standing: "safe", says: "match misc2.metadata_reg_c_1 0 instead of 7" },
    correction: [{ op: "replace", path: "/rules/0/actions/0/modify/0/to", value: 7 }],
  },
  {
    file: "second/red-first",
    target: { kind: "rule", name: "web" },
    mistake: null,
    first: 'rule "red" took the frame first',
    says: ["coloured the frame red"],
    never: ["use priority", "leave out"],
    repair: null,
    correction: [{ op: "replace", path: "/actions/0/flow_meter/cbs", value: 2 }],
  },
  {
    file: "second/drop-shadows",
    target: { kind: "end" },
    mistake: null,
    first: 'rule "block" drops the frame; rule "web" would match too',
    says: ["by its lower priority number"],
    never: ["use priority"],
    repair: null,
    correction: [{ op: "replace", path: "/rules/0/match/outer.ipv4_src", value: "203.0.113.0/24" }],
  },
  {
    file: "second/only-field",
    target: { kind: "rule", name: "quic" },
    mistake: "tcp-fields-for-udp",
    first: "outer.tcp_dport",
    says: ["outer.udp_dport"],
    never: ['In rule "quic" leave out'],
    repair: { of: "rule", standing: "corrects", says: "match outer.udp_dport 443 instead of outer.tcp_dport" },
    correction: [
      { op: "remove", path: "/rules/0/match/outer.tcp_dport" },
      { op: "add", path: "/rules/0/match/outer.udp_dport", value: 443 },
    ],
  },
  {
    file: "second/address-written",
    target: { kind: "rule", name: "web" },
    mistake: null,
    first: 'rule "inside" took the frame first',
    says: ['rule "translate" changed outer.ipv4_dst from 192.0.2.80 to 10.0.0.7'],
    never: [],
    repair: { of: "rule", standing: "safe", says: "use priority" },
    correction: [{ op: "replace", path: "/rules/1/match/outer.ipv4_dst", value: "172.16.0.0/12" }],
  },
];
