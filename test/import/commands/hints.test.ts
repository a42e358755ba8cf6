/** Texts of no format that people have: a line says what to do with them. */
import { expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";

test.each([
  ["iptables -A INPUT -p tcp --dport 80 -j DROP", "iptables rules run in the kernel"],
  ["sudo ip6tables -t nat -A POSTROUTING -j MASQUERADE", "iptables rules run in the kernel"],
  ["*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -j DROP\nCOMMIT", "iptables rules run in the kernel"],
  ['SEC("xdp")\nint drop(struct xdp_md *ctx) { return XDP_DROP; }', "XDP programs run on the host"],
  ["ip link set dev eth0 xdp obj prog.o", "XDP programs run on the host"],
  ["#include <v1model.p4>\ncontrol c(inout headers hdr) { apply { } }", "P4 programs are not read"],
])("%s", (text, hint) => {
  expect(importRules(text).findings).toMatchObject([{ reason: expect.stringContaining(hint) as string }]);
});
