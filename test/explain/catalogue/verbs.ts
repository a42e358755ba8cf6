/** Flows of the verbs: priorities, default flows, sniffers, copies, loopback. */
import type { Entry } from "./support/entry.js";

export const VERBS: readonly Entry[] = [
  {
    file: "verbs/broad-flow-first",
    target: { kind: "flow", name: "web" },
    mistake: "priority-reversed",
    says: ['"all"', "priority"],
    correction: [{ op: "add", path: "/flows/0/priority", value: 2 }],
  },
  {
    file: "verbs/older-mask-first",
    target: { kind: "flow", name: "DHCP in VLAN 4094" },
    mistake: "equal-priority",
    says: ['"DHCP"', "priority"],
    correction: [{ op: "replace", path: "/flows/1/priority", value: 1 }],
  },
  {
    file: "verbs/no-default-flow",
    target: { kind: "end" },
    mistake: "arp-has-no-ip",
    says: ["default flow"],
    correction: [{ op: "add", path: "/flows/1", value: { name: "rest", queue: "rest", type: "all_default" } }],
  },
  {
    file: "verbs/multicast-default-only",
    target: { kind: "queue", name: "rest" },
    mistake: "mc-default-for-unicast",
    says: ["mc_default", "group address"],
    correction: [{ op: "replace", path: "/flows/0/type", value: "all_default" }],
  },
  {
    file: "verbs/sniffer-alone",
    target: { kind: "end" },
    mistake: "sniffer-does-not-take",
    says: ["no flow"],
    correction: [{ op: "replace", path: "/flows/0/type", value: "all_default" }],
  },
  {
    file: "verbs/trapped",
    target: { kind: "twice" },
    mistake: "dont-trap-missing",
    says: ['"audit"', "DONT_TRAP"],
    correction: [{ op: "add", path: "/flows/0/flags", value: ["dont_trap"] }],
  },
  {
    file: "verbs/host-rule",
    target: { kind: "queue", name: "generator" },
    mistake: null,
    says: ['"kernel"', "default flows"],
    correction: [
      {
        op: "replace",
        path: "/flows/0",
        value: { name: "generator", queue: "generator", specs: [{ ipv4: { dst_ip: "192.0.2.80" } }] },
      },
    ],
  },
  {
    file: "verbs/other-port",
    target: { kind: "flow", name: "web" },
    mistake: "other-port",
    says: ["port"],
    correction: [{ op: "add", path: "/flows/0/port", value: 2 }],
  },
  {
    file: "verbs/own-frames",
    target: { kind: "queue", name: "both" },
    mistake: "own-frames-passed-over",
    says: ["ALLOW_LOOP_BACK"],
    correction: [{ op: "add", path: "/flows/0/flags", value: ["allow_loop_back"] }],
  },
  {
    file: "verbs/egress-for-ingress",
    target: { kind: "flow", name: "web" },
    mistake: "other-direction",
    says: ["NIC_TX", "egress"],
    correction: [{ op: "remove", path: "/flows/0/flags" }],
  },
  {
    file: "verbs/dropped-by-another",
    target: { kind: "flow", name: "web" },
    mistake: "priority-reversed",
    says: ['"no scans"'],
    correction: [
      { op: "replace", path: "/flows/1/priority", value: 0 },
      { op: "add", path: "/flows/0/priority", value: 1 },
    ],
  },
  {
    file: "verbs/arp-reply-missing",
    target: { kind: "flow", name: "rpc" },
    mistake: "arp-has-no-ip",
    says: ["outer.ip_protocol"],
    correction: [
      {
        op: "replace",
        path: "/frames/0/headers",
        value: [
          { header: "ethernet" },
          { header: "ipv4", source: "192.0.2.1", destination: "192.0.2.2" },
          { header: "udp", source_port: 5000, destination_port: 31850 },
        ],
      },
    ],
  },
];
