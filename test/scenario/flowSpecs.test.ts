/** Specs of flows as a document writes them, against what the verbs take. */
import { describe, expect, it } from "vitest";
import { inCall, SteeringError } from "../../src/errors.js";
import type { ScenarioFlowSpec } from "../../src/scenario/index.js";
import { flowPlace, specFrom } from "../../src/scenario/flow/specs.js";
import { readFlowAttr, type FlowSpec } from "../../src/verbs/flow/attr.js";
import * as v from "../../src/verbs/index.js";

const counters = { name: "hits" };
const action = { name: "change" };
const read = (spec: ScenarioFlowSpec): unknown =>
  inCall("test", () => specFrom("specs[0]", spec, { counters: () => counters, action: () => action }));

function asVerbs(spec: FlowSpec): unknown {
  return readFlowAttr({ type: v.IBV_FLOW_ATTR_NORMAL, port: 1, specs: [spec] }).specs[0];
}

describe("a spec", () => {
  it.each<[string, ScenarioFlowSpec, FlowSpec]>([
    [
      "asks whole fields where no mask is given",
      { ipv4: { src_ip: "10.0.0.1", dst_ip: "10.0.0.2" } },
      {
        type: v.IBV_FLOW_SPEC_IPV4,
        val: { src_ip: "10.0.0.1", dst_ip: "10.0.0.2" },
        mask: { src_ip: 0xffffffff, dst_ip: 0xffffffff },
      },
    ],
    [
      "takes prefixes and masks",
      { ipv6: { src_ip: "fe80::/10", traffic_class: "0xb8/0xfc", flow_label: "0x5/0xf" } },
      {
        type: v.IBV_FLOW_SPEC_IPV6,
        val: { src_ip: "fe80::", traffic_class: 0xb8, flow_label: 5 },
        mask: { src_ip: "ffc0::", traffic_class: 0xfc, flow_label: 0xf },
      },
    ],
    [
      "takes MACs and names of EtherTypes",
      { eth: { dst_mac: "01:00:00:00:00:00/01:00:00:00:00:00", ether_type: "arp", vlan_tag: "5/0xfff" } },
      {
        type: v.IBV_FLOW_SPEC_ETH,
        val: { dst_mac: "01:00:00:00:00:00", ether_type: 0x0806, vlan_tag: 5 },
        mask: { dst_mac: "01:00:00:00:00:00", ether_type: 0xffff, vlan_tag: 0xfff },
      },
    ],
    [
      "knows protocols by name, and asks the IPv4 flags that there are",
      { ipv4_ext: { proto: "udp", flags: 2 } },
      { type: v.IBV_FLOW_SPEC_IPV4_EXT, val: { proto: 17, flags: 2 }, mask: { proto: 0xff, flags: 6 } },
    ],
    [
      "asks 24 bits of a VNI",
      { vxlan_tunnel: { tunnel_id: 100 } },
      { type: v.IBV_FLOW_SPEC_VXLAN_TUNNEL, val: { tunnel_id: 100 }, mask: { tunnel_id: 0xffffff } },
    ],
    [
      "asks 20 bits of a flow label",
      { ipv6: { flow_label: 7, next_hdr: "esp" } },
      {
        type: v.IBV_FLOW_SPEC_IPV6,
        val: { flow_label: 7, next_hdr: 50 },
        mask: { flow_label: 0xfffff, next_hdr: 0xff },
      },
    ],
    [
      "asks the packet inside",
      { tcp: { dst_port: 443 }, inner: true },
      {
        type: v.IBV_FLOW_SPEC_TCP | v.IBV_FLOW_SPEC_INNER,
        val: { dst_port: 443 },
        mask: { dst_port: 0xffff },
      },
    ],
    ["asks nothing but its header without fields", { udp: {} }, { type: v.IBV_FLOW_SPEC_UDP }],
    ["tags", { tag: 5 }, { type: v.IBV_FLOW_SPEC_ACTION_TAG, tag_id: 5 }],
    ["drops", "drop", { type: v.IBV_FLOW_SPEC_ACTION_DROP }],
    ["drops as an object", { drop: true }, { type: v.IBV_FLOW_SPEC_ACTION_DROP }],
    ["counts", { count: "hits" }, { type: v.IBV_FLOW_SPEC_ACTION_COUNT, counters }],
    ["changes", { action: "change" }, { type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action }],
    [
      "has no action inside",
      { tag: 5, inner: true },
      { type: v.IBV_FLOW_SPEC_ACTION_TAG | v.IBV_FLOW_SPEC_INNER, tag_id: 5 },
    ],
  ])("%s", (_, written, verbs) => {
    expect(read(written)).toEqual(asVerbs(verbs));
  });

  it.each<[ScenarioFlowSpec, string]>([
    [
      { tcp: { dst_port: "80-90" } },
      'specs[0].tcp.dst_port = "80-90": not a number that fits the field (EINVAL); write it as 80, "0x50" or "0x2/0x3f"',
    ],
    [
      { ipv4: { dst_ip: "any" } },
      'specs[0].ipv4.dst_ip = "any": not an address of this kind (EINVAL); write it as "10.0.0.1" or "10.0.0.0/8"',
    ],
    [
      { ipv4: { dst_ip: "10.0.0.1/8" } },
      'specs[0].ipv4.dst_ip = "10.0.0.1/8": the value has a bit outside its mask (EINVAL); the mask keeps 10.0.0.0/8',
    ],
    [
      { vxlan_tunnel: { tunnel_id: 2 ** 24 } },
      "specs[0].vxlan_tunnel.tunnel_id = 16777216: not a number that fits the field (EINVAL); vxlan_tunnel.tunnel_id has 24 bits: 0 to 16777215",
    ],
    [
      { ipv4_ext: { flags: 1 } },
      "specs[0].ipv4_ext.flags = 1: not a number that fits the field (EINVAL); bits that can be asked: 0x6",
    ],
    [
      { ipv4_ext: { flags: "1" } },
      'specs[0].ipv4_ext.flags = "1": the value has a bit outside its mask (EINVAL); the mask keeps 0/0x6',
    ],
    [
      { gre: { protocol: "teb" } },
      'specs[0].gre.protocol = "teb": not a number that fits the field (EINVAL); write it as 80, "0x50" or "0x2/0x3f"',
    ],
  ])("is refused: %j", (spec, message) => {
    expect(() => read(spec)).toThrow(SteeringError);
    expect(() => read(spec)).toThrow(expect.objectContaining({ message: `test: ${message}` }));
  });
});

describe("places of the model in a document", () => {
  const specs: ScenarioFlowSpec[] = [
    { ipv4: { dst_ip: "10.0.0.1" } },
    "drop",
    { tag: 5 },
    { count: "hits" },
    { gre: {}, inner: true },
    { action: "change" },
  ];

  it.each([
    ["specs[0].val.dst_ip", ".specs[0].ipv4.dst_ip"],
    ["specs[0].mask", ".specs[0].ipv4"],
    ["specs[1].type", ".specs[1]"],
    ["specs[2].tag_id", ".specs[2].tag"],
    ["specs[3].counters", ".specs[3].count"],
    ["specs[4].type", ".specs[4]"],
    ["specs[5].action", ".specs[5].action"],
    ["specs[6].type", ".specs[6]"],
    ["attr.port", ".port"],
    ["attr.num_of_specs", ".specs"],
    ["qp", ".queue"],
    ["device", ""],
  ])("%s is %s", (model, document) => {
    expect(flowPlace(model, specs)).toBe(document);
  });
});
