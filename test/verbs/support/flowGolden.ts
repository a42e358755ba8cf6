/**
 * The meaning of the flows of test/golden/verbs/flowAttr.c, written separately: their objects, and
 * two objects that they name.
 */
import * as v from "../../../src/verbs/index.js";

/** The objects at the pointers of the C program. */
export const ACTION = { name: "an action", handle: 0x1122334455667788n };
export const COUNTERS = { name: "counters", handle: 0x0102030405060708n };

export const handleOf = (object: object): bigint => (object as typeof ACTION).handle;
export const objectOf = (handle: bigint): object | undefined =>
  [ACTION, COUNTERS].find((object) => object.handle === handle);

const ETH = {
  type: v.IBV_FLOW_SPEC_ETH,
  val: { dst_mac: "66:11:22:33:44:55", src_mac: "02:13:24:35:46:57", ether_type: 0x86dd, vlan_tag: 0x6123 },
  mask: { dst_mac: "ff:ff:ff:00:0f:f0", src_mac: "fe:fd:fb:f7:ef:df", ether_type: 0xfff0, vlan_tag: 0xefff },
};
const IPV4 = {
  type: v.IBV_FLOW_SPEC_IPV4,
  val: { src_ip: "11.134.200.6", dst_ip: "192.168.1.2" },
  mask: { src_ip: "255.255.255.0", dst_ip: "255.254.0.0" },
};
const IPV4_EXT = {
  type: v.IBV_FLOW_SPEC_IPV4_EXT,
  val: { ...IPV4.val, proto: 17, tos: 0xb9, ttl: 63, flags: 2 },
  mask: { ...IPV4.mask, proto: 0xff, tos: 0xfc, ttl: 0x7f, flags: 6 },
};
const IPV6 = {
  type: v.IBV_FLOW_SPEC_IPV6,
  val: {
    src_ip: "2001:db8:102:304:506:708:90a:b0c",
    dst_ip: "fe80::1234:5678:9abc:def0",
    flow_label: 0x54321,
    next_hdr: 58,
    traffic_class: 0x2e,
    hop_limit: 254,
  },
  mask: {
    src_ip: "ffff:ffff:ffff:f000::",
    dst_ip: "ffc0::3fff",
    flow_label: 0xfff0f,
    next_hdr: 0xff,
    traffic_class: 0x3c,
    hop_limit: 0xf0,
  },
};
const ESP = {
  type: v.IBV_FLOW_SPEC_ESP,
  val: { spi: 0x01020304, seq: 0x05060708 },
  mask: { spi: 0xfffffff0, seq: 0xff00ff00 },
};
const TCP = {
  type: v.IBV_FLOW_SPEC_TCP,
  val: { dst_port: 443, src_port: 0x1234 },
  mask: { dst_port: 0xffff, src_port: 0xff00 },
};
const UDP = {
  type: v.IBV_FLOW_SPEC_UDP,
  val: { dst_port: 4789, src_port: 0xc0de },
  mask: { dst_port: 0xfffe, src_port: 0x0fff },
};
const GRE = {
  type: v.IBV_FLOW_SPEC_GRE,
  val: { c_ks_res0_ver: 0x2001, protocol: 0x6558, key: 0xdeadbe01 },
  mask: { c_ks_res0_ver: 0xb007, protocol: 0xffff, key: 0xffffff00 },
};
const MPLS = { type: v.IBV_FLOW_SPEC_MPLS, val: { label: 0x12345b40 }, mask: { label: 0xfffff1ff } };
const VXLAN = { type: v.IBV_FLOW_SPEC_VXLAN_TUNNEL, val: { tunnel_id: 0x123456 }, mask: { tunnel_id: 0xfffff0 } };
const TAG = { type: v.IBV_FLOW_SPEC_ACTION_TAG, tag_id: 0xabcdef };
const DROP = { type: v.IBV_FLOW_SPEC_ACTION_DROP };
const HANDLE = { type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action: ACTION };
const COUNT = { type: v.IBV_FLOW_SPEC_ACTION_COUNT, counters: COUNTERS };

const inner = <T extends { type: number }>(spec: T): T => ({ ...spec, type: spec.type | v.IBV_FLOW_SPEC_INNER });
const one = (spec: v.FlowSpec): v.FlowAttr => ({ type: v.IBV_FLOW_ATTR_NORMAL, port: 1, specs: [spec] });

/** By the names of the C program. */
export const FLOWS: Readonly<Record<string, v.FlowAttr>> = {
  "every field of the attr": {
    comp_mask: 0x01020304,
    type: v.IBV_FLOW_ATTR_SNIFFER,
    size: 0x1413,
    priority: 0x1615,
    num_of_specs: 0,
    port: 0x18,
    flags: 0x1c1b1a19,
  },
  "no specs": { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1 },
  ...Object.fromEntries(
    Object.entries({ ETH, IPV4, IPV4_EXT, IPV6, ESP, TCP, UDP, MPLS }).flatMap(([name, spec]) => [
      [name, one(spec)],
      [`INNER ${name}`, one(inner(spec))],
    ]),
  ),
  GRE: one(GRE),
  VXLAN_TUNNEL: one(VXLAN),
  ACTION_TAG: one(TAG),
  ACTION_DROP: one(DROP),
  ACTION_HANDLE: one(HANDLE),
  ACTION_COUNT: one(COUNT),
  "a tunnel, tagged and counted": {
    type: v.IBV_FLOW_ATTR_NORMAL,
    priority: 0x0102,
    port: 2,
    flags: v.IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
    specs: [ETH, IPV4_EXT, UDP, VXLAN, inner(IPV6), inner(TCP), TAG, COUNT, HANDLE],
  },
  "MPLS over GRE, dropped": {
    type: v.IBV_FLOW_ATTR_NORMAL,
    priority: 15,
    port: 1,
    flags: v.IBV_FLOW_ATTR_FLAGS_EGRESS,
    specs: [IPV4, GRE, MPLS, DROP],
  },
  "the manual page's example": {
    type: v.IBV_FLOW_ATTR_NORMAL,
    port: 1,
    specs: [
      {
        type: v.IBV_FLOW_SPEC_ETH,
        val: { dst_mac: "66:11:22:33:44:55" },
        mask: { dst_mac: "ff:ff:ff:ff:ff:ff", src_mac: "ff:ff:ff:ff:ff:ff" },
      },
      { type: v.IBV_FLOW_SPEC_IPV4, val: { src_ip: "6.200.134.11" }, mask: { src_ip: "255.255.255.255" } },
    ],
  },
};
