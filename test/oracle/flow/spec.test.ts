// Tests the spec reference on handmade frames.

import { describe, expect, test } from "vitest";
import { type FlowSpec, INNER, SPEC, merged, specsAreValid, specsMatch, termsOf } from "./spec.js";
import { ETH4, MACS, TCP, UDP4, UDP6, ip4, over4, over6, overUdp, parse, size, udp } from "../wire/handmade.js";

const fields = (parts: string[]) => parse(parts).fields;
const UDP_FRAME = fields([ETH4, UDP4]);
const TCP_FRAME = fields(over4(6, TCP));
const VXLAN = fields(overUdp(4789, "08000000 00002a00", `${MACS} 8100 600a 0800`, UDP4));
const full = (width: number): bigint => (1n << BigInt(width)) - 1n;

/** A spec with a full mask, or with a given mask. */
function one(type: number, name: string, val: bigint, mask?: bigint, width = 32): FlowSpec {
  return { type, val: { [name]: val }, mask: { [name]: mask ?? full(width) } };
}

describe("what a spec asks", () => {
  const ext4 = (name: string, val: bigint, mask = 0xffn) => one(SPEC.IPV4_EXT, name, val, mask);
  const v6 = (name: string, val: bigint, width = 8) => one(SPEC.IPV6, name, val, undefined, width);
  const TAGGED = fields([`${MACS} 8100 600a 0800`, UDP4]);
  const IP6 = fields(over6(17, udp(53, 8)));
  const DF = fields([ETH4, ip4(8, 17, 0x4000), udp(53, 8)]);
  const MF = fields([ETH4, ip4(8, 17, 0x2000), udp(53, 8)]);
  const ESP = fields(over4(50, "11223344 00000005"));
  const GRE = fields(over4(47, "2000 0800 0000002a", UDP4));
  const LABEL = fields([`${MACS} 8847`, "00010 7 40", UDP4]);

  test.each<[string, FlowSpec, ReadonlyMap<string, bigint>, boolean]>([
    ["dst_mac", one(SPEC.ETH, "dst_mac", 0x661122334455n, full(48)), UDP_FRAME, true],
    ["src_mac", one(SPEC.ETH, "src_mac", 0x020000000001n, full(48)), UDP_FRAME, true],
    ["a source MAC of 0, as in the page's example", one(SPEC.ETH, "src_mac", 0n, full(48)), UDP_FRAME, false],
    ["ether_type", one(SPEC.ETH, "ether_type", 0x0800n, 0xffffn), UDP_FRAME, true],
    ["ether_type behind a tag", one(SPEC.ETH, "ether_type", 0x0800n, 0xffffn), TAGGED, true],
    ["a tag of its PCP", one(SPEC.ETH, "vlan_tag", 0x6000n, 0xe000n), TAGGED, true],
    ["a tag of another VID", one(SPEC.ETH, "vlan_tag", 0x600bn, 0x0fffn), TAGGED, false],
    ["VID 0 of no tag", one(SPEC.ETH, "vlan_tag", 0n, 0x0fffn), UDP_FRAME, false],
    ["no bit of a tag", one(SPEC.ETH, "vlan_tag", 0n, 0n), UDP_FRAME, true],
    ["src_ip", one(SPEC.IPV4, "src_ip", 0x0a000001n), UDP_FRAME, true],
    ["dst_ip under a prefix", one(SPEC.IPV4, "dst_ip", 0x0a0000ffn, 0xffffff00n), UDP_FRAME, true],
    ["an IPv4 that asks nothing", { type: SPEC.IPV4 }, IP6, false],
    ["an IPv6 that asks nothing", { type: SPEC.IPV6 }, IP6, true],
    ["proto", ext4("proto", 17n), UDP_FRAME, true],
    ["tos: DSCP and ECN", ext4("tos", 0xb9n), UDP_FRAME, true],
    ["tos: ECN", ext4("tos", 0x02n, 0x03n), UDP_FRAME, false],
    ["ttl", ext4("ttl", 0x40n), UDP_FRAME, true],
    ["don't fragment, which is 2", ext4("flags", 2n, 6n), DF, true],
    ["more fragments, which is 4 though it is 1 on the wire", ext4("flags", 4n, 6n), MF, true],
    ["more fragments in a frame without", ext4("flags", 4n, 4n), DF, false],
    ["traffic_class", v6("traffic_class", 0xb9n), IP6, true],
    ["next_hdr", v6("next_hdr", 17n), IP6, true],
    ["hop_limit", v6("hop_limit", 0x40n), IP6, true],
    ["flow_label", v6("flow_label", 0x12345n, 20), IP6, true],
    ["an IPv6 source", v6("src_ip", 0xfe800000000000000000000000000001n, 128), IP6, true],
    ["a TCP that asks nothing", { type: SPEC.TCP }, TCP_FRAME, true],
    ["a UDP that asks nothing", { type: SPEC.UDP }, TCP_FRAME, false],
    ["UDP over IPv6", one(SPEC.UDP, "dst_port", 53n, 0xffffn), IP6, true],
    ["src_port", one(SPEC.UDP, "src_port", 0x1234n, 0xffffn), UDP_FRAME, true],
    ["a TCP port of 0 in a UDP frame", one(SPEC.TCP, "dst_port", 0n, 1n), UDP_FRAME, false],
    ["spi", one(SPEC.ESP, "spi", 0x11223344n), ESP, true],
    ["seq", one(SPEC.ESP, "seq", 5n), ESP, true],
    ["an SPI of 0 in no ESP", one(SPEC.ESP, "spi", 0n), UDP_FRAME, false],
    ["an ESP that asks nothing", { type: SPEC.ESP }, UDP_FRAME, true],
    ["a GRE that asks nothing", { type: SPEC.GRE }, GRE, true],
    ["a GRE that asks nothing, in UDP", { type: SPEC.GRE }, UDP_FRAME, false],
    ["key", one(SPEC.GRE, "key", 0x2an), GRE, true],
    ["protocol", one(SPEC.GRE, "protocol", 0x0800n, 0xffffn), GRE, true],
    ["c_ks_res0_ver", one(SPEC.GRE, "c_ks_res0_ver", 0x2000n, 0xffffn), GRE, true],
    ["tunnel_id", one(SPEC.VXLAN_TUNNEL, "tunnel_id", 0x2an, 0xffffffn), VXLAN, true],
    ["VNI 0 of no VXLAN", one(SPEC.VXLAN_TUNNEL, "tunnel_id", 0n, 0xffffffn), UDP_FRAME, false],
    ["label", one(SPEC.MPLS, "label", 0x00010740n), LABEL, true],
    ["traffic class of a label", one(SPEC.MPLS, "label", 0x00000600n, 0x00000e00n), LABEL, true],
    ["value bits outside the mask", one(SPEC.IPV4, "src_ip", 0xffffffffn, 0n), UDP_FRAME, true],
  ])("%s", (_name, spec, frame, hit) => {
    expect(specsMatch(frame, [spec])).toBe(hit);
  });

  test("INNER asks the inner packet, and nothing of a frame without one", () => {
    const port = one(SPEC.UDP | INNER, "dst_port", 53n, 0xffffn);
    expect(specsMatch(VXLAN, [port, one(SPEC.UDP, "dst_port", 4789n, 0xffffn)])).toBe(true);
    expect(specsMatch(UDP_FRAME, [port])).toBe(false);
    expect(specsMatch(VXLAN, [one(SPEC.ETH | INNER, "vlan_tag", 10n, 0xfffn)])).toBe(true);
    expect(specsMatch(UDP_FRAME, [{ type: SPEC.IPV4 | INNER }])).toBe(false);
    const esp = fields(overUdp(4789, "08000000 00002a00", ETH4, ip4(8, 50), "11223344 00000005"));
    expect(specsMatch(esp, [one(SPEC.ESP | INNER, "spi", 0x11223344n)])).toBe(true);
    expect(specsMatch(esp, [one(SPEC.ESP, "spi", 0x11223344n)])).toBe(false);
  });
});

describe("MPLS, by the spec right before it", () => {
  const ENTRY = "0001 2 140";
  const label = (type: number = SPEC.MPLS) => one(type, "label", 0x00012000n, 0xfffff000n);
  const inUdp = fields(overUdp(6635, ENTRY, UDP6));
  const inGre = fields(over4(47, "0000 8847", ENTRY, UDP6));
  const own = fields([`${MACS} 8847`, ENTRY, UDP4]);
  const udpInner = fields(
    overUdp(4789, "08000000 00002a00", ETH4, ip4(8 + size(ENTRY), 17), udp(6635, 8 + size(ENTRY)), ENTRY),
  );
  const UDP: FlowSpec = { type: SPEC.UDP };

  test.each<[string, FlowSpec[], ReadonlyMap<string, bigint>[]]>([
    ["nothing", [label()], [own]],
    ["UDP", [UDP, label()], [inUdp]],
    ["GRE", [{ type: SPEC.GRE }, label()], [inGre]],
    ["ETH", [{ type: SPEC.ETH }, label()], [own]],
    ["UDP, with another spec between", [UDP, { type: SPEC.IPV4 }, label()], [own]],
    ["an inner UDP", [{ type: SPEC.UDP | INNER }, label(SPEC.MPLS | INNER)], [udpInner]],
    ["an outer UDP, asked of the inner packet", [UDP, label(SPEC.MPLS | INNER)], []],
  ])("behind %s", (_name, specs, hit) => {
    for (const frame of [own, inUdp, inGre, udpInner]) expect(specsMatch(frame, specs)).toBe(hit.includes(frame));
  });
});

describe("several specs", () => {
  test("of two of the same type and level the later one counts", () => {
    const specs = [one(SPEC.UDP, "dst_port", 1n, 0xffffn), one(SPEC.UDP, "src_port", 0x1234n, 0xffffn)];
    expect(specsMatch(UDP_FRAME, specs)).toBe(true);
    expect(specsMatch(UDP_FRAME, specs.toReversed())).toBe(false);
  });

  test("IPV4 and IPV4_EXT are of the same type, MPLS specs of the same entry", () => {
    const [wrong, none] = [one(SPEC.IPV4, "src_ip", 1n), { type: SPEC.IPV4_EXT }];
    expect(specsMatch(UDP_FRAME, [wrong, none])).toBe(true);
    expect(specsMatch(UDP_FRAME, [none, wrong])).toBe(false);
    const [own, over] = [one(SPEC.MPLS, "label", 1n), one(SPEC.MPLS, "label", 2n)];
    expect(termsOf([own, { type: SPEC.UDP }, over]).length).toBe(4 + 1 + 4);
    expect(termsOf([own, over]).length).toBe(4);
  });

  test("no spec asks nothing", () => {
    expect(specsMatch(new Map(), [])).toBe(true);
    expect(termsOf([{ type: SPEC.ACTION_TAG, tag_id: 5 }, { type: SPEC.ACTION_DROP }])).toEqual([]);
  });

  const UDP: FlowSpec = { type: SPEC.UDP };
  const proto = (value: bigint, mask = 0xffn) => one(SPEC.IPV4_EXT, "proto", value, mask);
  const ether = (value: bigint, mask = 0xffffn) => one(SPEC.ETH, "ether_type", value, mask);

  test.each<[string, FlowSpec[], boolean]>([
    ["TCP and UDP", [{ type: SPEC.TCP }, UDP], false],
    ["TCP and an inner UDP", [{ type: SPEC.TCP }, { type: SPEC.UDP | INNER }], true],
    ["IPv4 and IPv6", [{ type: SPEC.IPV4 }, { type: SPEC.IPV6 }], false],
    ["IPv6 around IPv4", [{ type: SPEC.IPV6 }, { type: SPEC.IPV4 | INNER }], true],
    ["protocol 17 and TCP", [proto(17n), { type: SPEC.TCP }], false],
    ["protocol 17 and UDP", [proto(17n), UDP], true],
    ["one bit of a protocol and UDP", [proto(1n, 1n), UDP], true],
    ["one wrong bit of a protocol and UDP", [proto(0n, 1n), UDP], false],
    ["next header 6 and UDP", [one(SPEC.IPV6, "next_hdr", 6n, 0xffn), UDP], false],
    ["GRE and UDP", [{ type: SPEC.GRE }, UDP], false],
    ["the EtherType of IPv6 and IPv4", [ether(0x86ddn), { type: SPEC.IPV4 }], false],
    ["the EtherType of ARP and IPv6", [{ type: SPEC.IPV6 }, ether(0x0806n)], false],
    ["the EtherType of IPv4 and IPv4", [ether(0x0800n), proto(0n, 0n)], true],
    ["part of an EtherType and IPv4", [ether(0x86ddn, 0xfffen), { type: SPEC.IPV4 }], true],
    ["MPLS and IPv4", [ether(0x8847n), { type: SPEC.IPV4 }], true],
    ["an inner EtherType and an outer IP", [{ ...ether(0x86ddn), type: SPEC.ETH | INNER }, { type: SPEC.IPV4 }], true],
    ["a replaced EtherType and IPv4", [ether(0x86ddn), ether(0x0800n), { type: SPEC.IPV4 }], true],
    ["an inner GRE", [{ type: SPEC.GRE | INNER }], false],
    ["an inner VXLAN", [{ type: SPEC.VXLAN_TUNNEL | INNER }], false],
    ["an inner action", [{ type: SPEC.ACTION_DROP | INNER }], false],
    ["a type that does not exist", [{ type: 0x77 }], false],
    ["a flow label of 21 bits", [one(SPEC.IPV6, "flow_label", 0n, 1n << 20n)], false],
    ["a flow label of 21 bits, outside the mask", [one(SPEC.IPV6, "flow_label", 1n << 20n, 0n)], false],
    ["a VNI of 25 bits", [one(SPEC.VXLAN_TUNNEL, "tunnel_id", 0n, 1n << 24n)], false],
    ["an IPv4 flag that does not exist", [one(SPEC.IPV4_EXT, "flags", 0n, 1n)], false],
    ["a tag of 25 bits", [{ type: SPEC.ACTION_TAG, tag_id: 1 << 24 }], false],
    ["two tags", [SPEC.ACTION_TAG, SPEC.ACTION_TAG].map((type) => ({ type, tag_id: 1 })), false],
    ["two counters", [SPEC.ACTION_COUNT, SPEC.ACTION_COUNT].map((type) => ({ type, counters: "c" })), false],
    ["two drops", [{ type: SPEC.ACTION_DROP }, { type: SPEC.ACTION_DROP }], true],
  ])("%s", (_name, specs, valid) => {
    expect(specsAreValid(specs)).toBe(valid);
  });

  test("terms of one field are one", () => {
    expect(merged(termsOf([proto(1n, 1n), UDP]))).toEqual([
      { field: "outer.ip_protocol", mask: 0xffn, value: 17n },
      { field: "outer.ip_version", mask: 0xfn, value: 4n },
    ]);
  });
});
