/** Frames that rules took, and that were lost or not copied afterwards. */
import type { Entry } from "./support/entry.js";

export const OUTCOMES: readonly Entry[] = [
  {
    file: "outcomes/mirror-by-table",
    target: { kind: "twice" },
    mistake: null,
    says: ['"mirror"'],
    correction: [
      { op: "replace", path: "/rules/0/actions/0", value: { array: [{ queue: "analyser" }, { table: "services" }] } },
    ],
  },
  {
    file: "outcomes/sampler",
    target: { kind: "queue", name: "samples" },
    mistake: null,
    says: ["one of 64"],
    correction: [{ op: "replace", path: "/actions/0/flow_sampler/sample_ratio", value: 1 }],
  },
  {
    file: "outcomes/array-member-misses",
    target: { kind: "queue", name: "analyser" },
    mistake: null,
    says: ["outer.tcp_dport", "443", "80"],
    correction: [{ op: "replace", path: "/rules/1/match/outer.tcp_dport", value: 80 }],
  },
  {
    file: "outcomes/unset-queue",
    target: { kind: "queue", name: "web" },
    mistake: "queue-not-ready",
    says: ["RTR"],
    correction: [{ op: "replace", path: "/queues/0/state", value: "rtr" }],
  },
  {
    file: "outcomes/no-receive-buffer",
    target: { kind: "queue", name: "web" },
    mistake: "no-receive-buffer",
    says: ["receive buffer"],
    correction: [{ op: "replace", path: "/queues/0/buffers", value: 2 }],
  },
  {
    file: "outcomes/short-buffer",
    target: { kind: "queue", name: "web" },
    mistake: "receive-buffer-too-short",
    says: ["86 bytes", "shorter"],
    correction: [{ op: "replace", path: "/queues/0/bufferSize", value: 128 }],
  },
  {
    file: "outcomes/work-queue-down",
    target: { kind: "end" },
    mistake: "queue-not-ready",
    says: ["cpu 1"],
    correction: [{ op: "replace", path: "/queues/1/state", value: "rdy" }],
  },
  {
    file: "outcomes/rss-of-fragments",
    target: { kind: "queue", name: "cpu 0" },
    mistake: null,
    says: ["RSS", "wq:cpu 1"],
    correction: [
      {
        op: "replace",
        path: "/frames/0/headers",
        value: [
          { header: "ethernet" },
          { header: "ipv4", source: "198.51.100.9", destination: "192.0.2.80" },
          { header: "udp", source_port: 40003, destination_port: 80 },
        ],
      },
    ],
  },
  {
    file: "outcomes/waits-for-sync",
    target: { kind: "rule", name: "web" },
    mistake: "rule-not-synced",
    says: ["sync"],
    correction: [{ op: "replace", path: "/domains/0/sync", value: true }],
  },
];
