/** Translation of specs to the key: field by field, bit by bit. */
import { describe, expect, test } from "vitest";
import { EXT_PRESENT_OUTER, KEY_SIZE } from "../../../src/abi/key.js";
import { flowMatch, groupMatch, portMatch } from "../../../src/model/flow/specMatch.js";
import * as v from "../../../src/verbs/index.js";
import { FILTERS, specsAreValid } from "../../oracle/flow/spec.js";
import {
  INNER,
  matchOf,
  refusalOf,
  asked,
  word,
  here,
  ETH,
  ETHERTYPE,
  VLAN,
  L3,
  IPV4,
  IPV6,
  PROTOCOL,
  TCP,
  UDP,
  ESP,
  MPLS,
  VXLAN,
  GRE,
  GRE_KEY,
  takesInner,
  referenceMatch,
  differences,
} from "../support/flows.js";

/**
 * A field with a full mask: [type, field, value, fields of the key as "@" for the level, presence
 * of outer level, of tunnels]
 */
const WHOLE: [string, number, string, number | string, Record<string, string>, number, number?][] = [
  ["ETH", v.IBV_FLOW_SPEC_ETH, "dst_mac", "66:11:22:33:44:55", { "@.dmac": "661122334455/ffffffffffff" }, ETH],
  ["ETH", v.IBV_FLOW_SPEC_ETH, "src_mac", "02:00:00:00:00:01", { "@.smac": "20000000001/ffffffffffff" }, ETH],
  ["ETH", v.IBV_FLOW_SPEC_ETH, "ether_type", 0x88f7, { "@.ethertype": "88f7/ffff" }, ETHERTYPE],
  [
    "ETH",
    v.IBV_FLOW_SPEC_ETH,
    "vlan_tag",
    0x7123,
    { "@.first_prio": "3/7", "@.first_cfi": "1/1", "@.first_vid": "123/fff", "@.cvlan_tag": "1/1" },
    VLAN,
  ],
  ...[v.IBV_FLOW_SPEC_IPV4, v.IBV_FLOW_SPEC_IPV4_EXT].flatMap((type): typeof WHOLE => [
    ["IPV4", type, "src_ip", "11.134.200.6", { "@.ip_version": "4/f", "@.ipv4_src": "b86c806/ffffffff" }, L3],
    ["IPV4", type, "dst_ip", "10.0.0.1", { "@.ip_version": "4/f", "@.ipv4_dst": "a000001/ffffffff" }, L3],
  ]),
  [
    "IPV4_EXT",
    v.IBV_FLOW_SPEC_IPV4_EXT,
    "proto",
    17,
    { "@.ip_version": "4/f", "@.ip_protocol": "11/ff" },
    L3 | PROTOCOL,
  ],
  [
    "IPV4_EXT",
    v.IBV_FLOW_SPEC_IPV4_EXT,
    "tos",
    0xb9,
    { "@.ip_version": "4/f", "@.ip_dscp": "2e/3f", "@.ip_ecn": "1/3" },
    L3,
  ],
  ["IPV4_EXT", v.IBV_FLOW_SPEC_IPV4_EXT, "ttl", 64, { "@.ip_version": "4/f", "@.ip_ttl_hoplimit": "40/ff" }, L3],
  [
    "IPV6",
    v.IBV_FLOW_SPEC_IPV6,
    "src_ip",
    "2001:db8::1",
    { "@.ip_version": "6/f", "@.ipv6_src": `20010db8${"0".repeat(23)}1/${"f".repeat(32)}` },
    L3 | IPV6,
  ],
  [
    "IPV6",
    v.IBV_FLOW_SPEC_IPV6,
    "dst_ip",
    "fe80::2",
    { "@.ip_version": "6/f", "@.ipv6_dst": `fe80${"0".repeat(27)}2/${"f".repeat(32)}` },
    L3 | IPV6,
  ],
  ["IPV6", v.IBV_FLOW_SPEC_IPV6, "next_hdr", 58, { "@.ip_version": "6/f", "@.ip_protocol": "3a/ff" }, L3 | PROTOCOL],
  [
    "IPV6",
    v.IBV_FLOW_SPEC_IPV6,
    "traffic_class",
    0x2e,
    { "@.ip_version": "6/f", "@.ip_dscp": "b/3f", "@.ip_ecn": "2/3" },
    L3,
  ],
  ["IPV6", v.IBV_FLOW_SPEC_IPV6, "hop_limit", 255, { "@.ip_version": "6/f", "@.ip_ttl_hoplimit": "ff/ff" }, L3],
  ["ESP", v.IBV_FLOW_SPEC_ESP, "spi", 0x11223344, { "misc.@_esp_spi": "11223344/ffffffff" }, ESP],
  ["ESP", v.IBV_FLOW_SPEC_ESP, "seq", 5, { "ext.@_esp_seq": "5/ffffffff" }, ESP],
  ["TCP", v.IBV_FLOW_SPEC_TCP, "dst_port", 443, { "@.ip_protocol": "6/ff", "@.tcp_dport": "1bb/ffff" }, TCP | PROTOCOL],
  ["TCP", v.IBV_FLOW_SPEC_TCP, "src_port", 80, { "@.ip_protocol": "6/ff", "@.tcp_sport": "50/ffff" }, TCP | PROTOCOL],
  [
    "UDP",
    v.IBV_FLOW_SPEC_UDP,
    "dst_port",
    4789,
    { "@.ip_protocol": "11/ff", "@.udp_dport": "12b5/ffff" },
    UDP | PROTOCOL,
  ],
  ["UDP", v.IBV_FLOW_SPEC_UDP, "src_port", 53, { "@.ip_protocol": "11/ff", "@.udp_sport": "35/ffff" }, UDP | PROTOCOL],
  [
    "MPLS",
    v.IBV_FLOW_SPEC_MPLS,
    "label",
    0x12345b40,
    {
      "misc2.@_first_mpls_label": "12345/fffff",
      "misc2.@_first_mpls_exp": "5/7",
      "misc2.@_first_mpls_s_bos": "1/1",
      "misc2.@_first_mpls_ttl": "40/ff",
    },
    MPLS,
  ],
  [
    "GRE",
    v.IBV_FLOW_SPEC_GRE,
    "c_ks_res0_ver",
    0x2000,
    { "@.ip_protocol": "2f/ff", "ext.gre_c_ks_res0_ver": "2000/ffff" },
    PROTOCOL,
    GRE,
  ],
  [
    "GRE",
    v.IBV_FLOW_SPEC_GRE,
    "protocol",
    0x6558,
    { "@.ip_protocol": "2f/ff", "misc.gre_protocol": "6558/ffff" },
    PROTOCOL,
    GRE,
  ],
  [
    "GRE",
    v.IBV_FLOW_SPEC_GRE,
    "key",
    0xdeadbe01,
    { "@.ip_protocol": "2f/ff", "misc.gre_key": "deadbe01/ffffffff" },
    PROTOCOL,
    GRE_KEY,
  ],
];

const widthOf = (type: number, name: string): number => FILTERS.get(type)?.[name] ?? 0;
const fullOf = (type: number, name: string): bigint => (1n << BigInt(widthOf(type, name))) - 1n;

describe("a field with a full mask", () => {
  test.each(WHOLE)("%s %i %s", (_name, type, name, value, fields, outer, tunnels = 0) => {
    const filters = { val: { [name]: value }, mask: { [name]: fullOf(type, name) } };
    const named = (level: string): object =>
      Object.fromEntries(Object.entries(fields).map(([field, bits]) => [field.replace("@", level), bits]));
    const match = matchOf({ type, ...filters });
    expect(asked(match)).toEqual(named("outer"));
    expect(here(match)).toEqual([outer, 0, tunnels]);
    if (!takesInner(type)) return;
    const inner = matchOf({ type: type | INNER, ...filters });
    expect(asked(inner)).toEqual(named("inner"));
    expect(here(inner)).toEqual([0, outer, 0]);
  });

  test("flow_label, 20 bits", () => {
    for (const [level, flag] of [
      ["outer", 0],
      ["inner", INNER],
    ] as const) {
      const type = v.IBV_FLOW_SPEC_IPV6 | flag;
      const match = matchOf({ type, val: { flow_label: 0x54321 }, mask: { flow_label: 0xfffff } });
      expect(asked(match)).toEqual({
        [`${level}.ip_version`]: "6/f",
        [`misc.${level}_ipv6_flow_label`]: "54321/fffff",
      });
      expect(here(match)[flag === 0 ? 0 : 1]).toBe(L3 | IPV6);
    }
  });

  test("tunnel_id, 24 bits", () => {
    const filters = { val: { tunnel_id: 0x123456 }, mask: { tunnel_id: 0xffffff } };
    const match = matchOf({ type: v.IBV_FLOW_SPEC_VXLAN_TUNNEL, ...filters });
    expect(asked(match)).toEqual({ "misc.vxlan_vni": "123456/ffffff" });
    expect(here(match)).toEqual([0, 0, VXLAN]);
  });

  test("flags: don't fragment is 2 on the wire, more fragments is 1", () => {
    const flags = (val: number, mask: number): string | undefined =>
      asked(matchOf({ type: v.IBV_FLOW_SPEC_IPV4_EXT, val: { flags: val }, mask: { flags: mask } }))[
        "ext.outer_ipv4_flags"
      ];
    expect([flags(2, 2), flags(4, 4), flags(6, 6), flags(0, 6), flags(4, 2), flags(7, 0)]).toEqual([
      "2/2",
      "1/1",
      "3/3",
      "0/3",
      "0/2",
      undefined,
    ]);
    const inner = matchOf({ type: v.IBV_FLOW_SPEC_IPV4_EXT | INNER, val: { flags: 4 }, mask: { flags: 6 } });
    expect(asked(inner)).toEqual({ "inner.ip_version": "4/f", "ext.inner_ipv4_flags": "1/3" });
    expect(here(inner)).toEqual([0, L3 | IPV4, 0]);
  });
});

describe("a mask of zero", () => {
  test.each<[string, number, Record<string, string>, number]>([
    ["ETH", v.IBV_FLOW_SPEC_ETH, {}, 0],
    ["IPV4", v.IBV_FLOW_SPEC_IPV4, { "@.ip_version": "4/f" }, L3],
    ["IPV4_EXT", v.IBV_FLOW_SPEC_IPV4_EXT, { "@.ip_version": "4/f" }, L3],
    ["IPV6", v.IBV_FLOW_SPEC_IPV6, { "@.ip_version": "6/f" }, L3],
    ["ESP", v.IBV_FLOW_SPEC_ESP, {}, 0],
    ["TCP", v.IBV_FLOW_SPEC_TCP, { "@.ip_protocol": "6/ff" }, PROTOCOL],
    ["UDP", v.IBV_FLOW_SPEC_UDP, { "@.ip_protocol": "11/ff" }, PROTOCOL],
    ["GRE", v.IBV_FLOW_SPEC_GRE, { "@.ip_protocol": "2f/ff" }, PROTOCOL],
    ["MPLS", v.IBV_FLOW_SPEC_MPLS, {}, 0],
    ["VXLAN_TUNNEL", v.IBV_FLOW_SPEC_VXLAN_TUNNEL, {}, 0],
  ])("%s asks nothing but what it implies", (_name, type, implied, outer) => {
    const ones = Object.fromEntries(Object.keys(FILTERS.get(type) ?? {}).map((name) => [name, 1]));
    for (const [level, flag] of [
      ["outer", 0],
      ["inner", INNER],
    ] as const) {
      if (flag !== 0 && !takesInner(type)) continue;
      const match = matchOf({ type: type | flag, val: ones });
      expect(asked(match)).toEqual(
        Object.fromEntries(Object.entries(implied).map(([field, bits]) => [field.replace("@", level), bits])),
      );
      expect(here(match)).toEqual(flag === 0 ? [outer, 0, 0] : [0, outer, 0]);
    }
  });

  test("no spec asks nothing but the port", () => {
    const match = flowMatch([], 0x12);
    expect(asked(match)).toEqual({});
    expect([word(match.mask, 460), word(match.value, 460)]).toEqual([0xffff0000, 0x00120000]);
    expect(match.mask.filter((byte) => byte !== 0).length).toBe(2);
    expect(match).toMatchObject(portMatch(0x12));
    expect(match.mask.length).toBe(KEY_SIZE);
  });
});

test("bit by bit, every field of every spec is what the reference says", () => {
  let bits = 0;
  for (const [type, fields] of FILTERS) {
    for (const flag of takesInner(type) ? [0, INNER] : [0]) {
      for (const [name, width] of Object.entries(fields)) {
        for (let bit = 0n; bit < width; bit++) {
          for (const value of [0n, (1n << BigInt(width)) - 1n, 1n << bit]) {
            const spec = { type: type | flag, val: { [name]: value }, mask: { [name]: 1n << bit } };
            if (!specsAreValid([spec])) {
              expect(refusalOf(spec), `${type} ${name} ${bit}`).toContain("(EINVAL)");
              continue;
            }
            const match = matchOf(spec);
            const text = `${type} ${name} ${bit}`;
            expect(differences(match, referenceMatch([spec], 1)), text).toEqual([]);
            expect(differences(match, portMatch(1)), text).not.toEqual([]);
            bits++;
          }
        }
      }
    }
  }
  expect(bits).toBeGreaterThan(3 * 2 * 700);
});

describe("MPLS, by the spec right before it", () => {
  const mpls = (flag = 0): object => ({
    type: v.IBV_FLOW_SPEC_MPLS | flag,
    val: { label: 0x00012000 },
    mask: { label: 0xfffff000 },
  });
  const stackOf = (...before: object[]): string[] =>
    Object.keys(asked(matchOf(...before, mpls()))).filter((name) => name.includes("mpls"));
  const innerStackOf = (...before: object[]): string[] =>
    Object.keys(asked(matchOf(...before, mpls(INNER)))).filter((name) => name.includes("mpls"));
  const udp = { type: v.IBV_FLOW_SPEC_UDP };
  const gre = { type: v.IBV_FLOW_SPEC_GRE };
  const innerUdp = { type: v.IBV_FLOW_SPEC_UDP | INNER };

  test("the outer packet", () => {
    expect(stackOf()).toEqual(["misc2.outer_first_mpls_label"]);
    expect(stackOf({ type: v.IBV_FLOW_SPEC_ETH })).toEqual(["misc2.outer_first_mpls_label"]);
    expect(stackOf(udp)).toEqual(["misc2.outer_first_mpls_over_udp_label"]);
    expect(stackOf(gre)).toEqual(["misc2.outer_first_mpls_over_gre_label"]);
    expect(stackOf(udp, { type: v.IBV_FLOW_SPEC_IPV4 })).toEqual(["misc2.outer_first_mpls_label"]);
    expect(stackOf(udp, { type: v.IBV_FLOW_SPEC_ACTION_DROP })).toEqual(["misc2.outer_first_mpls_label"]);
    expect(stackOf(innerUdp)).toEqual(["misc2.outer_first_mpls_label"]);
  });

  test("the inner packet", () => {
    expect(innerStackOf()).toEqual(["misc2.inner_first_mpls_label"]);
    expect(innerStackOf(innerUdp)).toEqual(["ext.inner_first_mpls_over_udp_label"]);
    expect(innerStackOf(udp)).toEqual(["misc2.inner_first_mpls_label"]);
    expect(innerStackOf(gre)).toEqual(["misc2.inner_first_mpls_label"]);
  });

  test("its presence is that of its stack", () => {
    expect(here(matchOf(udp, mpls()))).toEqual([PROTOCOL, 0, 16384]);
    expect(here(matchOf(gre, mpls()))).toEqual([PROTOCOL, 0, 8192]);
    expect(here(matchOf(mpls()))).toEqual([MPLS, 0, 0]);
  });

  test("both of two stacks at different places match, of two at the same place the last", () => {
    expect(stackOf(mpls(), udp)).toEqual(["misc2.outer_first_mpls_label", "misc2.outer_first_mpls_over_udp_label"]);
    const other = { type: v.IBV_FLOW_SPEC_MPLS, val: { label: 64 }, mask: { label: 0xff } };
    expect(asked(matchOf(mpls(), other))).toEqual({ "misc2.outer_first_mpls_ttl": "40/ff" });
  });
});

test("groups: destination MACs with the group bit, and without", () => {
  for (const [set, bit] of [
    [true, 1],
    [false, 0],
  ] as const) {
    const { mask, value } = groupMatch(2, set);
    expect([mask[8], value[8]]).toEqual([1, bit]);
    expect([word(mask, EXT_PRESENT_OUTER), word(value, EXT_PRESENT_OUTER)]).toEqual([ETH, ETH]);
    expect([word(mask, 460), word(value, 460)]).toEqual([0xffff0000, 0x00020000]);
    expect(mask.filter((byte) => byte !== 0).length).toBe(4);
  }
});
