/** What the parser ties together in a GRE header (docs/parsing.md, "GRE (RFC 2784, 2890, 1701, 2637, 7637)"). */
import {
  PRESENT_GRE,
  PRESENT_GRE_KEY,
  PRESENT_MPLS_OVER_GRE,
  PRESENT_PROTOCOL,
  PRESENT_TUNNEL_DWORD,
} from "../../abi/key.js";
import { ETHERTYPE_ETHERNET, ETHERTYPE_IPV4, ETHERTYPE_IPV6, PROTOCOL_GRE } from "../../abi/protocols.js";
import { bits, equals, fact, GRE_VERSION_0, GRE_WHOLE, LATER, not, present, type Term } from "./cells.js";
import { labelType } from "./levelConstraints.js";
import type { Plan } from "./plan.js";

const here = (bit: number): Term => present("tunnel", bit);
const GRE = here(PRESENT_GRE);
const LABELS_OVER_GRE = here(PRESENT_MPLS_OVER_GRE);
/** | C R K S s recur 3 | A flags 4 version 3 |. */
const GRE_FLAGS = bits("ext.gre_c_ks_res0_ver");
const GRE_TYPE = bits("misc.gre_protocol");
const [GRE_C, GRE_R, GRE_K, GRE_S] = GRE_FLAGS as [Term, Term, Term, Term];
const GRE_A = GRE_FLAGS[8] as Term;
const GRE_VERSION = GRE_FLAGS.slice(-3) as [Term, Term, Term];
const WHOLE = GRE_WHOLE + 1;
const GRE_0 = GRE_VERSION_0 + 1;
const DWORDS = [0, 1, 2, 3].map((n) => here(PRESENT_TUNNEL_DWORD << n)) as [Term, Term, Term, Term];

/** The terms that hold where GRE carries a packet of an EtherType. */
export function carriedByGre(ethertype: number): Term[] {
  return [WHOLE, -GRE_VERSION[0], -GRE_VERSION[1], ...equals(GRE_TYPE, ethertype)];
}

/** Adds the constraints of GRE. */
export function constrainGre(plan: Plan): void {
  const protocol = present("outer", PRESENT_PROTOCOL);
  plan.after(GRE, protocol);
  plan.implies(GRE, protocol, -fact("outer", LATER), ...equals("outer.ip_protocol", PROTOCOL_GRE));
  for (const [name, flag] of [
    ["misc.gre_c_present", GRE_C],
    ["misc.gre_k_present", GRE_K],
    ["misc.gre_s_present", GRE_S],
  ] as const)
    // prettier-ignore
    plan.alias(bits(name)[0] as Term, flag);
  plan.variable(WHOLE);
  plan.prefer(WHOLE);
  plan.after(WHOLE, GRE);
  plan.implies(WHOLE, GRE);
  plan.clause(WHOLE, -GRE, WHOLE, GRE_C, GRE_R, GRE_K, GRE_S, GRE_A);
  const key = here(PRESENT_GRE_KEY);
  plan.after(key, GRE);
  plan.implies(key, WHOLE, GRE_K);
  plan.clause(key, -WHOLE, -GRE_K, key);
  plan.after(LABELS_OVER_GRE, GRE);
  plan.implies(LABELS_OVER_GRE, WHOLE, ...not(GRE_VERSION));
  labelType(plan, LABELS_OVER_GRE, LABELS_OVER_GRE, GRE_TYPE);
  version0(plan);
  greDwords(plan);
}

/** "version 1 with protocol type 0x0800, 0x86dd or 0x6558 is read as version 0". */
function version0(plan: Plan): void {
  const [v4, v2, v1] = GRE_VERSION;
  const types = [ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_ETHERNET];
  plan.variable(GRE_0);
  plan.after(GRE_0, GRE);
  plan.implies(GRE_0, GRE, -v4, -v2);
  plan.clause(GRE_0, GRE_0, -GRE, v4, v2, v1);
  for (const type of types) plan.clause(GRE_0, GRE_0, -GRE, v4, v2, ...not(equals(GRE_TYPE, type)));
  // What the three types have in common.
  for (let first = 0; first < 16; first++) {
    const term = GRE_TYPE[first] as Term;
    const ones = types.filter((type) => (type & (0x8000 >> first)) !== 0);
    if (ones.length === types.length) plan.clause(GRE_0, -GRE_0, -v1, term);
    else if (ones.length === 0) plan.clause(GRE_0, -GRE_0, -v1, -term);
  }
}

/** The size is 4, and 4 more each for C or R, K, S; with R a route, or with A of another version 4. */
function greDwords(plan: Plan): void {
  const [, dword1, dword2, dword3] = DWORDS;
  const parts: Term[][] = [[GRE_C, GRE_R], [GRE_K], [GRE_S], [GRE_A]];
  plan.clause(dword1, -dword1, -GRE, WHOLE);
  plan.clause(dword1, -dword1, -GRE, GRE_C, GRE_R, GRE_K, GRE_S, GRE_A);
  plan.clause(dword1, -dword1, -GRE, GRE_C, GRE_R, GRE_K, GRE_S, -GRE_0);
  for (const flag of [GRE_C, GRE_R, GRE_K, GRE_S]) plan.clause(dword1, -WHOLE, -flag, dword1);
  plan.clause(dword1, -WHOLE, -GRE_A, GRE_0, dword1);
  // R brings the checksum's dword and, in version 0, a route.
  plan.clause(dword2, -WHOLE, -GRE_R, -GRE_0, dword2);
  for (const [i, one] of parts.entries()) {
    for (const two of parts.slice(i + 1)) {
      for (const a of one)
        for (const b of two) plan.clause(dword2, -WHOLE, -a, -b, ...(b === GRE_A ? [GRE_0] : []), dword2);
    }
    const rest = parts.filter((part) => part !== one).flat();
    plan.clause(dword2, -dword2, -GRE, GRE_R, ...rest);
    if (one[0] !== GRE_A) plan.clause(dword2, -dword2, -GRE, GRE_R, -GRE_0, ...rest.filter((term) => term !== GRE_A));
  }
  plan.implies(dword3, dword2);
  plan.after(dword3, dword2);
  for (const [c, others] of [
    [GRE_C, [GRE_K, GRE_S]],
    [GRE_R, [GRE_K, GRE_S]],
  ] as const)
    // prettier-ignore
    plan.clause(dword3, -WHOLE, -c, ...not(others), dword3);
  for (const flag of [GRE_K, GRE_S]) plan.clause(dword3, -WHOLE, -GRE_R, -GRE_0, -flag, dword3);
  for (const flag of [GRE_C, GRE_K, GRE_S]) plan.clause(dword3, -dword3, -GRE, -GRE_0, GRE_R, flag);
  // Three parts of C or R, K, S and A, unless there is a route, which can be long.
  plan.clause(dword2, -dword2, -GRE, GRE_0, GRE_K, GRE_S, GRE_A);
  for (const [i, one] of parts.entries()) {
    for (const two of parts.slice(i + 1)) {
      plan.clause(dword3, -dword3, -GRE, GRE_0, ...one, ...two);
      plan.clause(dword3, -dword3, -GRE, GRE_R, ...one, ...two);
    }
  }
}
