/** The plan of a device's parser. */
import {
  EXT_PORT,
  EXT_REGISTER_B,
  PRESENT_GENEVE_OPTION_0,
  PRESENT_GRE_KEY,
  PRESENT_GTPU_EXTENSION,
  PRESENT_ICMP,
  PRESENT_ICMPV6,
  PRESENT_INNER_MPLS_OVER_GRE,
  PRESENT_INNER_MPLS_OVER_UDP,
  PRESENT_ETH,
  PRESENT_ETHERTYPE,
  PRESENT_SAMPLE,
  PRESENT_TUNNEL_DWORD,
  PRESENT_VXLAN,
} from "../../abi/key.js";
import { HEADERS, TUNNELS } from "../../headers/headers.js";
import { FIELDS, type FieldName } from "../../model/match/fields.js";
import { bits, equals, present, presenceAt, type Level, type Term } from "./cells.js";
import { constrainLevel } from "./levelConstraints.js";
import { ABSENT, Plan, VARIABLE, type Declaration } from "./plan.js";
import { constrainSamples } from "./samples.js";
import { constrainTunnels } from "./tunnelConstraints.js";
import { tunnelBits, wireOf } from "./wire.js";

const PLANS = new WeakMap<Declaration, Plan>();

/** The plan for a declaration. */
export function planFor(parser: Declaration): Plan {
  let plan = PLANS.get(parser);
  if (plan === undefined) PLANS.set(parser, (plan = makePlan(parser)));
  return plan;
}

function makePlan(parser: Declaration): Plan {
  const plan = new Plan();
  places(plan);
  undeclared(plan, parser);
  fieldsNeedHeaders(plan);
  constrainLevel(plan, "outer", parser);
  constrainLevel(plan, "inner", parser);
  constrainTunnels(plan, parser);
  repeats(plan);
  constrainSamples(plan, parser);
  ordinary(plan);
  return plan;
}

/** Every bit of a field is a variable, presence bits too; all other bits are 0. */
function places(plan: Plan): void {
  for (const { bit, width, filled, ofWay, here } of FIELDS) {
    for (let at = bit; filled && at < bit + width; at++) {
      if (ofWay) plan.given(at + 1);
      else plan.variable(at + 1);
    }
    if (filled && here !== null) plan.variable(presenceAt(here.word, here.bit));
  }
  for (const [byte, width] of [
    [EXT_PORT, 16],
    [EXT_REGISTER_B, 32],
  ] as const)
    // prettier-ignore
    for (let i = 0; i < width; i++) plan.given(byte * 8 + i + 1);
  for (const level of ["outer", "inner"] as const) plan.prefer(present(level, PRESENT_ETH));
  plan.variable(present("inner", PRESENT_INNER_MPLS_OVER_UDP));
  plan.variable(present("inner", PRESENT_INNER_MPLS_OVER_GRE));
}

function undeclared(plan: Plan, { geneveOption, samples, udpPorts }: Declaration): void {
  if (udpPorts.vxlan.length === 0) plan.absent(present("tunnel", PRESENT_VXLAN), ...bits("misc.vxlan_vni"));
  if (geneveOption === undefined) {
    plan.absent(present("tunnel", PRESENT_GENEVE_OPTION_0), ...bits("misc.geneve_tlv_option_0_exist"));
    plan.absent(...bits("misc3.geneve_tlv_option_0_data"));
  }
  for (let id = 0; id < 8; id++) {
    if (samples.some((sample) => sample.id === id)) continue;
    plan.absent(present("tunnel", PRESENT_SAMPLE << id), ...bits(`misc4.prog_sample_field_value_${id}` as FieldName));
  }
  // "An inner ICMP is listed and fills nothing."
  plan.absent(present("inner", PRESENT_ICMP), present("inner", PRESENT_ICMPV6));
}

/** "A field of an absent header is 0": a bit that is 1 brings the presence bit of its header. */
function fieldsNeedHeaders(plan: Plan): void {
  const done = new Set<number>();
  // The last dword of an address is IPv4's too, which asks less.
  const list = [...FIELDS].sort((a, b) => Number(a.kind === "ipv6") - Number(b.kind === "ipv6"));
  for (const { bit, width, here } of list) {
    if (here === null) continue;
    const header = presenceAt(here.word, here.bit);
    for (let at = bit; at < bit + width; at++) {
      if (plan.kinds[at] !== VARIABLE || done.has(at)) continue;
      done.add(at);
      plan.after(at + 1, header);
      plan.implies(at + 1, header);
    }
  }
}

/** Dwords of a tunnel header repeat its fields. */
function repeats(plan: Plan): void {
  const all = tunnelBits(0, 128);
  for (const header of TUNNELS) {
    const here = present("tunnel", HEADERS[header].present.tunnel);
    for (const [at, term] of wireOf("outer", header)) same(plan, all[at] as Term, [here], term);
  }
  for (const [at, term] of wireOf("outer", "gtpu_extension"))
    same(plan, all[96 + at] as Term, [present("tunnel", PRESENT_GTPU_EXTENSION)], term);
  const [c, r] = bits("ext.gre_c_ks_res0_ver") as [Term, Term];
  const key = present("tunnel", PRESENT_GRE_KEY);
  for (const [i, term] of bits("misc.gre_key").entries()) {
    same(plan, all[32 + i] as Term, [key, -c, -r], term);
    same(plan, all[64 + i] as Term, [key, c], term);
    same(plan, all[64 + i] as Term, [key, r], term);
  }
  for (let n = 0; n < 4; n++) plan.after(all[32 * n] as Term, present("tunnel", PRESENT_TUNNEL_DWORD << n));
}

/** Where all of `when` hold, a bit is the same as another one. */
function same(plan: Plan, bit: Term, when: readonly Term[], other: Term): void {
  plan.when(bit, [...when, other], [bit]);
  plan.when(bit, [...when, -other], [-bit]);
}

/** Values that a frame has where nothing asks for others: those of `buildFrame`. */
const ORDINARY: readonly (readonly [field: string, value: number])[] = [
  ["smac", 0x020000000001],
  ["dmac", 0x020000000002],
  ["ip_ttl_hoplimit", 64],
  ["ipv4_ihl", 5],
  ["ipv4_src", 0xc0000201],
  ["ipv4_dst", 0xc0000202],
  ["tcp_sport", 49152],
  ["udp_sport", 49152],
  ["tcp_dport", 9],
  ["udp_dport", 9],
  ["tcp_flags", 2],
  ["first_vid", 1],
];

function ordinary(plan: Plan): void {
  for (const level of ["outer", "inner"] as Level[]) {
    plan.prefer(present(level, PRESENT_ETHERTYPE));
    for (const [name, value] of ORDINARY) {
      for (const term of equals(`${level}.${name}` as FieldName, value))
        if (plan.kinds[Math.abs(term) - 1] !== ABSENT) plan.prefer(term);
    }
  }
}
