/** Keys of flower as tc itself reads them (scripts/golden-tc.mjs): the same values and masks, and the same refusals. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";
import { fieldNamed } from "../../../src/model/match/fields.js";
import { parseTerm } from "../../../src/model/match/term.js";

interface Row {
  readonly filter: string;
  readonly attributes: Readonly<Record<string, string>> | null;
}
const ROWS = JSON.parse(readFileSync(new URL("../../golden/tc/keys.json", import.meta.url), "utf8")) as readonly Row[];

/** Attributes in network order, with a mask of their own or compared as a whole. */
const FIELDS: Readonly<Record<string, string>> = {
  ETH_DST: "outer.dmac",
  ETH_SRC: "outer.smac",
  IP_PROTO: "outer.ip_protocol",
  IPV4_SRC: "outer.ipv4_src",
  IPV4_DST: "outer.ipv4_dst",
  IPV6_SRC: "outer.ipv6_src",
  IPV6_DST: "outer.ipv6_dst",
  TCP_DST: "outer.tcp_dport",
  UDP_SRC: "outer.udp_sport",
  UDP_DST: "outer.udp_dport",
  IP_TTL: "outer.ip_ttl_hoplimit",
  ICMPV4_TYPE: "misc3.icmp_type",
  ICMPV4_CODE: "misc3.icmp_code",
  ICMPV6_TYPE: "misc3.icmpv6_type",
  VLAN_PRIO: "outer.first_prio",
  MPLS_TC: "misc2.outer_first_mpls_exp",
  MPLS_BOS: "misc2.outer_first_mpls_s_bos",
  MPLS_TTL: "misc2.outer_first_mpls_ttl",
};
/** Attributes in the order of the host's bytes. */
const HOST: Readonly<Record<string, string>> = {
  VLAN_ID: "outer.first_vid",
  CVLAN_ID: "misc.outer_second_vid",
  MPLS_LABEL: "misc2.outer_first_mpls_label",
};
const TAG_TYPES: Readonly<Record<string, string>> = { "8100": "cvlan_tag", "88a8": "svlan_tag" };

type Bits = Record<string, { value: bigint; mask: bigint }>;

/** What the attributes ask for, by our fields. */
function askedBy(attributes: Readonly<Record<string, string>>): { bits: Bits; range: string | undefined } {
  const bits: Bits = {};
  const ask = (name: string, value: bigint, mask?: bigint): void => {
    bits[name] = {
      value: mask === undefined ? value : value & mask,
      mask: mask ?? (1n << BigInt(fieldNamed(name)?.width ?? 0)) - 1n,
    };
  };
  const numberOf = (hex: string): bigint => BigInt(`0x${hex}`);
  for (const [name, hex] of Object.entries(attributes)) {
    const mask = attributes[`${name}_MASK`];
    if (FIELDS[name] !== undefined) ask(FIELDS[name], numberOf(hex), mask === undefined ? undefined : numberOf(mask));
    if (HOST[name] !== undefined) ask(HOST[name], numberOf((hex.match(/../g) ?? []).toReversed().join("")));
  }
  const { IP_TOS: tos, IP_TOS_MASK: tosMask = "ff", TCP_FLAGS: flags, TCP_FLAGS_MASK: flagsMask = "0fff" } = attributes;
  if (tos !== undefined) {
    ask("outer.ip_dscp", numberOf(tos) >> 2n, numberOf(tosMask) >> 2n);
    if ((numberOf(tosMask) & 3n) !== 0n) ask("outer.ip_ecn", numberOf(tos) & 3n, numberOf(tosMask) & 3n);
  }
  if (flags !== undefined) ask("outer.tcp_flags", numberOf(flags), numberOf(flagsMask) & 0x1ffn);
  askTypes(attributes, ask);
  const { PORT_DST_MIN: low, PORT_DST_MAX: high } = attributes;
  return { bits, range: low === undefined || high === undefined ? undefined : `${numberOf(low)}-${numberOf(high)}` };
}

function askTypes(attributes: Readonly<Record<string, string>>, ask: (name: string, value: bigint) => void): void {
  const { ETH_TYPE: type, VLAN_ETH_TYPE: next, CVLAN_ETH_TYPE: last } = attributes;
  if (type === undefined) return;
  const first = TAG_TYPES[type];
  if (first === undefined) for (const tag of ["cvlan_tag", "svlan_tag"]) ask(`outer.${tag}`, 0n);
  else ask(`outer.${first}`, 1n);
  const second = first === undefined ? undefined : TAG_TYPES[next ?? ""];
  if (second !== undefined) ask(`misc.outer_second_${second}`, 1n);
  else if (next !== undefined) for (const tag of ["cvlan_tag", "svlan_tag"]) ask(`misc.outer_second_${tag}`, 0n);
  const inside = first === undefined ? type : second === undefined ? next : last;
  if (inside !== undefined) ask("outer.ethertype", BigInt(`0x${inside}`));
}

test.each(ROWS)("$filter", ({ filter, attributes }) => {
  const text = `tc filter add dev eth0 ingress prio 1 ${filter} action mirred egress redirect dev eth1`;
  const { scenario } = importRules(text, { format: "tc" });
  if (attributes === null) {
    expect(scenario).toBe(null);
    return;
  }
  const [rule] = (scenario?.rules ?? []).filter(({ table }) => table === "eth0");
  const { bits, range } = askedBy(attributes);
  const found: Bits = {};
  let foundRange: string | undefined;
  for (const [name, value] of Object.entries(rule?.match ?? {})) {
    const field = fieldNamed(name);
    if (field === undefined) throw new Error(name);
    const term = parseTerm(name, field, value);
    if (term.kind === "bits") found[name] = { value: term.value, mask: term.mask };
    else if (term.kind === "range") foundRange = `${term.low}-${term.high}`;
  }
  expect(found).toEqual(bits);
  expect(foundRange).toBe(range);
});
