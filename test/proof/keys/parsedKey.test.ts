/** `ParsedKey`: contradictions that the parser's constraints show, and keys of packets inside others. */
import { describe, expect, test } from "vitest";
import { KEY_SIZE } from "../../../src/abi/key.js";
import { fieldNamed } from "../../../src/model/match/fields.js";
import { addPresence, emptyMatch, matchOf, type MatchFields } from "../../../src/model/match/match.js";
import { writeField } from "../../../src/model/match/fields.js";
import { ParserDeclaration, type ParserOptions } from "../../../src/model/base/parser.js";
import { buildFrame } from "../../../src/packet/builder/build.js";
import { hexOf } from "../../../src/packet/bytes.js";
import { frameOf } from "../../../src/proof/keys/frameOf.js";
import { ParsedKey } from "../../../src/proof/keys/parsedKey.js";
import { Solver } from "../../../src/proof/solver/solver.js";

interface Bits {
  readonly mask: Uint8Array;
  readonly value: Uint8Array;
}

/** The literals that a frame's key must have to match. */
function wanted(key: ParsedKey, { mask, value }: Bits): number[] {
  const literals: number[] = [];
  for (let bit = 0; bit < KEY_SIZE * 8; bit++) {
    const at = 0x80 >> (bit & 7);
    if (((mask[bit >> 3] ?? 0) & at) === 0) continue;
    const literal = key.bit(bit);
    literals.push(((value[bit >> 3] ?? 0) & at) !== 0 ? literal : -literal);
  }
  return literals;
}

function possible(bits: Bits, parser: ParserOptions = {}): boolean | undefined {
  const solver = new Solver();
  const key = new ParsedKey(solver, { parser: new ParserDeclaration(parser) });
  return solver.solve(wanted(key, bits));
}

const match = (fields: MatchFields): Bits => matchOf("match", fields);

/** A match as device bytes can have it: fields as they are, and presence. */
function raw(fields: Readonly<Record<string, bigint>>): Bits {
  const { mask, value } = emptyMatch();
  for (const [name, number] of Object.entries(fields)) {
    const field = fieldNamed(name)!;
    writeField(mask, field, (1n << BigInt(field.width)) - 1n);
    writeField(value, field, number);
  }
  addPresence(mask, value);
  return { mask, value };
}

describe("contradictions", () => {
  test.each<[string, Bits]>([
    ["a TCP port with protocol 17", match({ "outer.tcp_dport": 80, "outer.ip_protocol": 17 })],
    ["an inner field without a tunnel", match({ "inner.ipv4_dst": "10.0.0.1", "outer.tcp_dport": 80 })],
    ["an inner address over UDP port 53", match({ "inner.ipv4_dst": "10.0.0.1", "outer.udp_dport": 53 })],
    ["an IPv6 address with ip_version 4", raw({ "outer.ipv6_src": 1n << 100n, "outer.ip_version": 4n })],
    ["TCP and UDP", match({ "outer.tcp_dport": 80, "outer.udp_dport": 80 })],
    ["IPv4 with the EtherType of IPv6", match({ "outer.ipv4_dst": "10.0.0.1", "outer.ethertype": 0x86dd })],
    ["IPv4 with the EtherType of ARP", match({ "outer.ipv4_dst": "10.0.0.1", "outer.ethertype": 0x0806 })],
    ["a VNI of VXLAN to port 4790", match({ "misc.vxlan_vni": 1, "outer.udp_dport": 4790 })],
    ["VXLAN and Geneve", match({ "misc.vxlan_vni": 1, "misc.geneve_vni": 1 })],
    ["inner Ethernet in IP in IP", match({ "inner.smac": "02:00:00:00:00:01", "outer.ip_protocol": 4 })],
    ["inner IPv6 in Geneve of IPv4", match({ "inner.ipv6_dst": "::1:0:0:0:1", "misc.geneve_protocol_type": 0x0800 })],
    ["a tag that is no tag", match({ "outer.first_vid": 5, "outer.cvlan_tag": 0, "outer.svlan_tag": 0 })],
    ["two kinds of tag", match({ "outer.cvlan_tag": 1, "outer.svlan_tag": 1 })],
    ["a second tag without a first one", match({ "misc.outer_second_vid": 1, "outer.cvlan_tag": 0, "outer.svlan_tag": 0 })], // prettier-ignore
    ["the EtherType of a tag", match({ "outer.ethertype": 0x8100 })],
    ["ports of a fragment without MF", match({ "outer.udp_dport": 53, "outer.frag": 1, "ext.outer_ipv4_flags": 0, "outer.ip_version": 4 })], // prettier-ignore
    ["a header length below 5", match({ "outer.ipv4_ihl": 4 })],
    ["a good TCP checksum of a fragment", match({ "outer.l4_checksum_ok": 1, "outer.frag": 1 })],
    ["two names for the K bit", match({ "misc.gre_k_present": 1, "ext.gre_c_ks_res0_ver": 0 })],
    ["a GRE key without the K bit", match({ "misc.gre_key": 7, "misc.gre_k_present": 0 })],
    ["a dword that says another VNI", match({ "misc.vxlan_vni": 1, "misc5.tunnel_header_1": 0x200 })],
    ["a third dword of VXLAN", match({ "misc.vxlan_vni": 1, "misc5.tunnel_header_2": 0 })],
    ["GTP-U flags of another first byte", match({ "misc3.gtpu_msg_flags": 0x30, "misc3.gtpu_dw_0": 0x34ff0000 })],
    ["an inner packet of a GTP-U echo", match({ "misc3.gtpu_msg_type": 1, "inner.ip_protocol": 6 })],
    ["a Geneve option that is not declared", raw({ "misc.geneve_tlv_option_0_exist": 1n })],
    ["version 5", raw({ "outer.ip_version": 5n })],
  ])("%s", (_name, bits) => {
    expect(possible(bits)).toBe(false);
  });

  test.each<[string, Bits]>([
    ["a TCP port", match({ "outer.tcp_dport": 80, "outer.ip_protocol": 6 })],
    ["TCP over IPv6", match({ "outer.tcp_dport": 80, "outer.ip_version": 6 })],
    [
      "VXLAN with an inner address",
      match({ "misc.vxlan_vni": 5, "inner.ipv4_dst": "10.0.0.1", "inner.tcp_dport": 80 }),
    ],
    ["inner IPv4 below labels over GRE", match({ "misc2.outer_first_mpls_over_gre_label": 5, "inner.ip_version": 4 })],
    ["IPv4 below labels", match({ "misc2.outer_first_mpls_label": 5, "outer.ipv4_dst": "10.0.0.1" })],
    ["ESP in UDP", match({ "misc.outer_esp_spi": 7, "outer.udp_dport": 4500 })],
    ["ESP from a NAT", match({ "misc.outer_esp_spi": 7, "outer.udp_sport": 4500, "outer.udp_dport": 1024 })],
    ["a tunnel's dwords", match({ "misc.gre_key": 7, "misc5.tunnel_header_1": 7, "inner.ip_version": 6 })],
    ["a routed key", match({ "misc.gre_key": 7, "misc5.tunnel_header_1": 8, "misc5.tunnel_header_2": 7 })],
  ])("no contradiction: %s", (_name, bits) => {
    expect(possible(bits)).toBe(true);
  });
});

describe("a packet inside", () => {
  const parser = new ParserDeclaration({});

  test("its outer fields are the inner ones", () => {
    const solver = new Solver();
    const outside = new ParsedKey(solver, { parser });
    const inside = new ParsedKey(solver, { parser, insideOf: outside });
    const wrong = [
      ...wanted(outside, match({ "inner.tcp_dport": 80 })),
      ...wanted(inside, match({ "outer.tcp_dport": 81 })),
    ];
    expect(solver.solve(wrong)).toBe(false);
    const right = [
      ...wanted(outside, match({ "inner.tcp_dport": 80 })),
      ...wanted(inside, match({ "outer.tcp_dport": 80 })),
    ];
    expect(solver.solve(right)).toBe(true);
  });

  test("what the inner level has no fields for is free", () => {
    const solver = new Solver();
    const outside = new ParsedKey(solver, { parser });
    const inside = new ParsedKey(solver, { parser, insideOf: outside });
    const nested = [
      ...wanted(outside, match({ "misc.vxlan_vni": 1 })),
      ...wanted(inside, match({ "misc.vxlan_vni": 2 })),
    ];
    expect(solver.solve(nested)).toBe(true);
    const icmp = [
      ...wanted(outside, match({ "inner.ip_protocol": 17 })),
      ...wanted(inside, match({ "misc3.icmp_type": 8 })),
    ];
    expect(solver.solve(icmp)).toBe(false);
  });
});

test("bits that were asked after a mark are forgotten", () => {
  const solver = new Solver();
  const key = new ParsedKey(solver, { parser: new ParserDeclaration({}) });
  wanted(key, match({ "outer.ipv4_dst": "10.0.0.1" }));
  const [asked, mark, state] = [[...key.asked], key.mark(), solver.mark()];
  wanted(key, match({ "outer.tcp_dport": 80 }));
  solver.restore(state);
  key.restore(mark);
  expect([...key.asked]).toEqual(asked);
  expect(solver.solve(wanted(key, match({ "outer.tcp_dport": 80, "outer.ip_protocol": 17 })))).toBe(false);
});

describe("frames", () => {
  const parser = new ParserDeclaration({});
  const built = (question: (solver: Solver) => ParsedKey, wants: (key: ParsedKey) => readonly number[]): string => {
    const solver = new Solver();
    const key = question(solver);
    expect(solver.solve(wants(key))).toBe(true);
    const frame = frameOf(solver, key);
    return frame === null ? "none" : hexOf(frame);
  };
  const ethernet = "020000000002020000000001";

  test("an ordinary frame", () => {
    const frame = built((solver) => new ParsedKey(solver, { parser }), (key) => wanted(key, match({ "outer.tcp_dport": 443, "outer.ipv4_dst": "10.0.0.7" }))); // prettier-ignore
    expect(frame).toBe(hexOf(buildFrame([{ header: "ethernet" }, { header: "ipv4", destination: "10.0.0.7" }, { header: "tcp", destination_port: 443 }]))); // prettier-ignore
  });

  test("nothing asked", () => {
    expect(
      built(
        (solver) => new ParsedKey(solver, { parser }),
        () => [],
      ),
    ).toBe(`${ethernet}88b5`);
  });

  test("a wrong checksum is wrong by the checksum alone", () => {
    const fields = { "outer.ipv4_checksum_ok": 0, "outer.udp_dport": 53, "outer.ip_version": 4 } as const;
    const frame = built(
      (solver) => new ParsedKey(solver, { parser }),
      (key) => wanted(key, match(fields)),
    );
    const right = hexOf(
      buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "udp", destination_port: 53 }]),
    );
    expect(frame).not.toBe(right);
    expect(frame.slice(0, 48) + frame.slice(52)).toBe(right.slice(0, 48) + right.slice(52));
  });

  test("a tunnel in a tunnel", () => {
    const frame = built(
      (solver) => {
        const outside = new ParsedKey(solver, { parser });
        const inside = new ParsedKey(solver, { parser, insideOf: outside });
        for (const literal of [
          ...wanted(outside, match({ "misc.vxlan_vni": 1, "inner.ipv4_dst": "10.0.0.7" })),
          ...wanted(inside, match({ "misc.vxlan_vni": 2, "inner.tcp_dport": 443 })),
        ])
          solver.addClause([literal]);
        return outside;
      },
      () => [],
    );
    const tunnel = [{ header: "udp" }, { header: "vxlan" }, { header: "ethernet" }] as const;
    const expected = buildFrame([
      { header: "ethernet" },
      { header: "ipv4" },
      ...tunnel,
      { header: "ipv4", destination: "10.0.0.7" },
      { header: "udp" },
      { header: "vxlan", vni: 2 },
      { header: "ethernet" },
      { header: "ipv4" },
      { header: "tcp", destination_port: 443 },
    ]);
    expect(frame).toBe(hexOf(expected));
  });
});
