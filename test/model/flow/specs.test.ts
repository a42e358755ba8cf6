/** Lists of specs: effective ones, contradictions, invalid flows, actions. */
import { describe, expect, test } from "vitest";
import { fieldsOutsideMask } from "../../../src/model/match/flowSpec.js";
import * as v from "../../../src/verbs/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { FILTERS, SPEC, specsAreValid, type FlowSpec } from "../../oracle/flow/spec.js";
import { Random } from "../../oracle/generate/random.js";
import {
  INNER,
  specsOf,
  matchOf,
  refusalOf,
  asked,
  here,
  PROTOCOL,
  UDP,
  takesInner,
  referenceMatch,
  differences,
} from "../support/flows.js";
import { checkReached, rounds } from "../../support/tier.js";

describe("several specs", () => {
  const dport = (dst_port: number): object => ({
    type: v.IBV_FLOW_SPEC_UDP,
    val: { dst_port },
    mask: { dst_port: 0xffff },
  });
  const sport = { type: v.IBV_FLOW_SPEC_UDP, val: { src_port: 7 }, mask: { src_port: 0xffff } };

  test("of two of the same header the later one counts, whole", () => {
    expect(asked(matchOf(dport(1), sport))).toEqual({ "outer.ip_protocol": "11/ff", "outer.udp_sport": "7/ffff" });
    expect(here(matchOf(dport(1), sport))).toEqual([PROTOCOL | UDP, 0, 0]);
    const ext = { type: v.IBV_FLOW_SPEC_IPV4_EXT, val: { ttl: 3 }, mask: { ttl: 255 } };
    const plain = { type: v.IBV_FLOW_SPEC_IPV4, val: { src_ip: 9 }, mask: { src_ip: 15 } };
    expect(asked(matchOf(ext, plain))).toEqual({ "outer.ip_version": "4/f", "outer.ipv4_src": "9/f" });
    expect(asked(matchOf(plain, ext))).toEqual({ "outer.ip_version": "4/f", "outer.ip_ttl_hoplimit": "3/ff" });
  });

  test("a spec that is replaced is checked all the same", () => {
    const bad = { type: v.IBV_FLOW_SPEC_IPV6, mask: { flow_label: 0x100000 } };
    expect(refusalOf(bad, { type: v.IBV_FLOW_SPEC_IPV6 })).toContain("specs[0].mask.flow_label");
  });

  test("the same header outside and inside are two", () => {
    const inner = { type: v.IBV_FLOW_SPEC_UDP | INNER, val: { dst_port: 2 }, mask: { dst_port: 0xffff } };
    expect(asked(matchOf(dport(1), inner))).toEqual({
      "outer.ip_protocol": "11/ff",
      "outer.udp_dport": "1/ffff",
      "inner.ip_protocol": "11/ff",
      "inner.udp_dport": "2/ffff",
    });
  });

  const type = (name: keyof typeof SPEC): object => ({ type: SPEC[name] });
  const proto = (proto: number, mask: number): object => ({
    type: v.IBV_FLOW_SPEC_IPV4_EXT,
    val: { proto },
    mask: { proto: mask },
  });
  const ether = (ether_type: number, mask = 0xffff): object => ({
    type: v.IBV_FLOW_SPEC_ETH,
    val: { ether_type },
    mask: { ether_type: mask },
  });
  const inner = (spec: object): object => ({ ...spec, type: (spec as { type: number }).type | INNER });

  test.each<[string, object[], string]>([
    [
      "TCP and UDP",
      [type("TCP"), type("UDP")],
      "specs[1]: two fields require different values of the same bits (EINVAL)",
    ],
    ["UDP and GRE", [type("UDP"), type("GRE")], "another spec asks something else of outer.ip_protocol"],
    ["IPV4 and IPV6", [type("IPV4"), type("IPV6")], "outer.ip_version"],
    ["IPV6 and IPV4_EXT", [type("IPV6"), type("IPV4_EXT")], "specs[1]: two fields"],
    ["inner IPV4 and IPV6", [inner(type("IPV4")), inner(type("IPV6"))], "inner.ip_version"],
    ["protocol 17 and TCP", [proto(17, 0xff), type("TCP")], "specs[1]: two fields"],
    ["TCP and protocol 17", [type("TCP"), proto(17, 0xff)], "specs[1].val.proto: two fields"],
    ["one wrong bit of a protocol", [proto(0, 1), type("UDP")], "outer.ip_protocol"],
    [
      "next header and UDP",
      [type("UDP"), { type: SPEC.IPV6, val: { next_hdr: 6 }, mask: { next_hdr: 2 } }],
      "next_hdr",
    ],
    ["EtherType of IPv6, IPv4", [ether(0x86dd), type("IPV4")], 'specs[0].val.ether_type = "0x86dd"'],
    ["EtherType of IPv4, IPv6", [type("IPV6"), ether(0x0800)], 'specs[1].val.ether_type = "0x0800"'],
    [
      "EtherType of IPv6, IPv4_EXT",
      [type("IPV4_EXT"), ether(0x86dd)],
      "specs[0] is IBV_FLOW_SPEC_IPV4_EXT, carried by",
    ],
    ["EtherType of ARP", [ether(0x0806), type("IPV4")], "(EINVAL)"],
    ["inner EtherType", [inner(ether(0x0806)), inner(type("IPV6"))], "carried by 0x86dd"],
  ])("%s: no frame matches", (_name, specs, text) => {
    expect(refusalOf(...specs)).toContain(text);
    expect(refusalOf(...specs)).toContain("(EINVAL)");
  });

  test.each<[string, object[]]>([
    ["one right bit of a protocol", [proto(1, 1), type("UDP")]],
    ["the same protocol", [proto(17, 0xff), type("UDP")]],
    ["a value outside the mask", [proto(6, 0), type("UDP")]],
    ["TCP outside, UDP inside", [type("TCP"), inner(type("UDP"))]],
    ["IPV6 outside, IPV4 inside", [type("IPV6"), inner(type("IPV4"))]],
    ["the EtherType of another level", [inner(ether(0x86dd)), type("IPV4")]],
    ["the EtherType of it", [ether(0x0800), type("IPV4")]],
    ["an EtherType in part", [ether(0x86dd, 0xff00), type("IPV4")]],
    ["the EtherType of MPLS", [ether(0x8847), type("IPV4")]],
    ["an EtherType that is replaced", [ether(0x86dd), ether(0x0800), type("IPV4")]],
    ["an IP spec that is replaced", [ether(0x0800), type("IPV4"), type("IPV4_EXT")]],
    ["an EtherType without IP", [ether(0x0806), type("UDP")]],
  ])("%s: a frame can match", (_name, specs) => {
    expect(refusalOf(...specs)).toBe("accepted");
  });
});

describe("specs that can stand in no flow", () => {
  test.each<[string, object, string]>([
    [
      "a type that does not exist",
      { type: 0x77 },
      'specs[0].type = "0x77": a flow spec of this type is not allowed here (EINVAL)',
    ],
    ["an inner action", { type: v.IBV_FLOW_SPEC_ACTION_DROP | INNER }, 'specs[0].type = "0x1101"'],
    ["an inner GRE", { type: v.IBV_FLOW_SPEC_GRE | INNER }, 'specs[0].type = "IBV_FLOW_SPEC_GRE"'],
    ["an inner VXLAN", { type: v.IBV_FLOW_SPEC_VXLAN_TUNNEL | INNER }, "leave IBV_FLOW_SPEC_INNER out"],
    [
      "a flow label's mask",
      { type: v.IBV_FLOW_SPEC_IPV6, mask: { flow_label: 0x100000 } },
      "specs[0].mask.flow_label = 1048576: outside the range that the field can hold (EINVAL); flow_label has 20 bits",
    ],
    [
      "a flow label's value, whatever the mask",
      { type: v.IBV_FLOW_SPEC_IPV6 | INNER, val: { flow_label: 0x80000000 } },
      "specs[0].val.flow_label = 2147483648",
    ],
    [
      "a tunnel's mask",
      { type: v.IBV_FLOW_SPEC_VXLAN_TUNNEL, mask: { tunnel_id: 0xffffffff } },
      "tunnel_id has 24 bits",
    ],
    [
      "a tunnel's value",
      { type: v.IBV_FLOW_SPEC_VXLAN_TUNNEL, val: { tunnel_id: 0x1000000 } },
      "specs[0].val.tunnel_id",
    ],
    ["IPv4 flags", { type: v.IBV_FLOW_SPEC_IPV4_EXT, mask: { flags: 1 } }, "specs[0].mask.flags = 1: a reserved bit"],
    ["IPv4 flags beyond", { type: v.IBV_FLOW_SPEC_IPV4_EXT | INNER, mask: { flags: 0xe } }, "0x4 more fragments"],
    ["a tag", { type: v.IBV_FLOW_SPEC_ACTION_TAG, tag_id: 0x1000000 }, "specs[0].tag_id = 16777216: outside the range"],
  ])("%s", (_name, spec, text) => {
    expect(refusalOf(spec)).toContain(`ibv_create_flow: ${text.startsWith("specs") ? text : ""}`);
    expect(refusalOf(spec)).toContain(text);
    expect(refusalOf(spec)).toContain("(EINVAL)");
  });

  test("the largest that fit", () => {
    expect(
      refusalOf(
        { type: v.IBV_FLOW_SPEC_IPV6, val: { flow_label: 0xfffff }, mask: { flow_label: 0xfffff } },
        { type: v.IBV_FLOW_SPEC_VXLAN_TUNNEL, val: { tunnel_id: 0xffffff }, mask: { tunnel_id: 0xffffff } },
        { type: v.IBV_FLOW_SPEC_ACTION_TAG, tag_id: 0xffffff },
      ),
    ).toBe("accepted");
  });
});

describe("actions", () => {
  const objects = [{ name: "a" }, { name: "b" }, { name: "c" }] as const;
  const tag = (tag_id: number): object => ({ type: v.IBV_FLOW_SPEC_ACTION_TAG, tag_id });
  const drop = { type: v.IBV_FLOW_SPEC_ACTION_DROP };
  const count = (counters: object): object => ({ type: v.IBV_FLOW_SPEC_ACTION_COUNT, counters });
  const handle = (action: object): object => ({ type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action });

  test("none", () => {
    expect(matchOf().actions).toEqual({ tag: null, drop: false, counters: null, handles: [] });
  });

  test("all, wherever they stand", () => {
    const { actions } = matchOf(handle(objects[0]), tag(0), drop, handle(objects[1]), count(objects[2]), drop);
    expect(actions).toEqual({
      tag: 0,
      drop: true,
      counters: { object: objects[2], path: "specs[4].counters" },
      handles: [
        { object: objects[0], path: "specs[0].action" },
        { object: objects[1], path: "specs[3].action" },
      ],
    });
    expect(actions.counters?.object).toBe(objects[2]);
  });

  test("one tag, one counters object", () => {
    expect(refusalOf(tag(1), drop, tag(1))).toContain("specs[2].type: these actions cannot be in one rule (EINVAL)");
    expect(refusalOf(count(objects[0]), count(objects[0]))).toContain("specs[1].type");
  });
});

test("values outside the mask are dropped, and can be asked for", () => {
  const spec = {
    type: v.IBV_FLOW_SPEC_IPV4,
    val: { src_ip: 0xffffffff, dst_ip: 3 },
    mask: { src_ip: 0xff, dst_ip: 3 },
  };
  const { mask, value } = matchOf(spec);
  expect(value.every((byte, at) => (byte & ~(mask[at] ?? 0)) === 0)).toBe(true);
  expect(asked(matchOf(spec))["outer.ipv4_src"]).toBe("ff/ff");
  const outside = specsOf([spec]).map((one) => (one.kind === "match" ? fieldsOutsideMask(one) : []));
  expect(outside.map((fields) => fields.map(({ name }) => name))).toEqual([["src_ip"]]);
});

test("random lists of specs are what the reference says", () => {
  const seed = seedFor("flow specs");
  const random = new Random(seed);
  const types = [...FILTERS.keys()];
  const count = { valid: 0, refused: 0 };
  for (let round = 0; round < rounds(3000); round++) {
    const specs = Array.from({ length: random.below(6) }, () => randomSpec(random, types));
    const text = `FLOWSTEER_SEED=${seed}, round ${round}`;
    if (specsAreValid(specs)) {
      expect(differences(matchOf(...specs), referenceMatch(specs, 1)), text).toEqual([]);
      count.valid++;
    } else {
      expect(refusalOf(...specs), text).toContain("(EINVAL)");
      count.refused++;
    }
  }
  checkReached(() => expect(count.valid).toBeGreaterThan(500));
  checkReached(() => expect(count.refused).toBeGreaterThan(500));
});

/** A spec of few bits, so that lists of them often can match. */
function randomSpec(random: Random, types: readonly number[]): FlowSpec {
  if (random.chance(0.15)) {
    return random.chance(0.5)
      ? { type: SPEC.ACTION_TAG, tag_id: random.below(2 ** random.between(20, 25)) }
      : { type: SPEC.ACTION_DROP };
  }
  const type = random.pick(types);
  const filter = (): Record<string, bigint> =>
    Object.fromEntries(
      Object.entries(FILTERS.get(type) ?? {})
        .filter(() => random.chance(0.3))
        .map(([name, width]) => {
          const few = name === "flow_label" ? 20 : name === "tunnel_id" ? 24 : name === "flags" ? 2 : width;
          const bits = random.bits(random.chance(0.03) ? width : few);
          return [name, name === "flags" ? (bits & 0xfn) << 1n : random.chance(0.5) ? bits : bits & random.bits(few)];
        }),
    );
  const [ether_type, protocol] = [random.pick([0x0800n, 0x86ddn, 0x0806n, 0x8847n]), random.pick([6n, 17n, 47n])];
  const flag = random.chance(0.3) && (takesInner(type) || random.chance(0.1)) ? INNER : 0;
  const [val, mask] = [filter(), filter()];
  if (type === SPEC.ETH && random.chance(0.5)) [val["ether_type"], mask["ether_type"]] = [ether_type, 0xffffn];
  if (type === SPEC.IPV4_EXT && random.chance(0.3))
    [val["proto"], mask["proto"]] = [protocol, random.pick([0xffn, 0xfn])];
  if (type === SPEC.IPV6 && random.chance(0.3)) [val["next_hdr"], mask["next_hdr"]] = [protocol, 0xffn];
  return { type: type | flag, val, mask };
}
