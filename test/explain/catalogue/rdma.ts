/** RoCE. */
import type { Entry } from "./support/entry.js";

export const RDMA: readonly Entry[] = [
  {
    file: "rdma/wrong-queue-number",
    target: { kind: "flow", name: "messages" },
    mistake: "swapped-bytes",
    says: ["misc.bth_dst_qp"],
    correction: [{ op: "replace", path: "/deviceFlows/0/match/misc.bth_dst_qp", value: 17 }],
  },
  {
    file: "rdma/not-rdma",
    target: { kind: "flow", name: "all" },
    mistake: null,
    says: ["RoCE"],
    correction: [
      {
        op: "replace",
        path: "/frames/0",
        value: {
          name: "packet",
          headers: [
            { header: "ethernet", source: "02:00:00:00:00:11", destination: "02:00:00:00:00:12" },
            { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
            { header: "udp", source_port: 49152, destination_port: 4791 },
            { header: "bth", opcode: 4, dst_qp: 17 },
            { header: "payload", bytes: "68656c6c6f000000" },
          ],
        },
      },
    ],
  },
  {
    file: "rdma/roce-version-1",
    target: { kind: "flow", name: "rdma" },
    mistake: "roce-version-1",
    says: ["outer.ip_protocol"],
    correction: [
      {
        op: "replace",
        path: "/frames/0",
        value: {
          name: "packet",
          headers: [
            { header: "ethernet", source: "02:00:00:00:00:11", destination: "02:00:00:00:00:12" },
            { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
            { header: "udp", source_port: 49152, destination_port: 4791 },
            { header: "bth", opcode: 4, dst_qp: 17 },
            { header: "payload", bytes: "68656c6c6f000000" },
          ],
        },
      },
    ],
  },
  {
    file: "rdma/rc-other-queue-number",
    target: { kind: "queue", name: "server" },
    mistake: null,
    says: ["misc.bth_dst_qp", "2", "3"],
    correction: [
      {
        op: "replace",
        path: "/frames/0/hex",
        value:
          "02bde034c20202bde034c20186dd6000000000201140fe8000000000000000bde0fffe34c201fe8000000000000000bde0fffe34c202c00212b7002000000470ffff000000028000000068656c6c6f000000196a82a0",
      },
    ],
  },
  {
    file: "rdma/rc-other-peer",
    target: { kind: "queue", name: "server" },
    mistake: null,
    says: ["outer.ipv6_src"],
    correction: [
      {
        op: "replace",
        path: "/frames/0/hex",
        value:
          "02bde034c20202bde034c20186dd6000000000201140fe8000000000000000bde0fffe34c201fe8000000000000000bde0fffe34c202c00212b7002000000470ffff000000028000000068656c6c6f000000196a82a0",
      },
    ],
  },
  {
    file: "rdma/rc-datagram-port",
    target: { kind: "queue", name: "server" },
    mistake: "tunnel-on-other-port",
    says: ["4791"],
    correction: [
      {
        op: "replace",
        path: "/frames/0/hex",
        value:
          "02bde034c20202bde034c20186dd6000000000201140fe8000000000000000bde0fffe34c201fe8000000000000000bde0fffe34c202c00212b7002000000470ffff000000028000000068656c6c6f000000196a82a0",
      },
    ],
  },
];
