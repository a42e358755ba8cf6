/** What the parser ties together across levels: tunnel headers, and the packet inside. Lines cite docs/parsing.md. */
import {
  PRESENT_ETH,
  PRESENT_GENEVE,
  PRESENT_GENEVE_OPTION_0,
  PRESENT_GRE,
  PRESENT_GTPU,
  PRESENT_GTPU_DW_2,
  PRESENT_GTPU_EXTENSION,
  PRESENT_INNER_MPLS_OVER_GRE,
  PRESENT_INNER_MPLS_OVER_UDP,
  PRESENT_IPV6,
  PRESENT_L3,
  PRESENT_MACSEC,
  PRESENT_MACSEC_SCI,
  PRESENT_MPLS_OVER_GRE,
  PRESENT_MPLS_OVER_UDP,
  PRESENT_PROTOCOL,
  PRESENT_TUNNEL_DWORD,
  PRESENT_UDP,
  PRESENT_VXLAN,
  PRESENT_VXLAN_GPE,
} from "../../abi/key.js";
import {
  ETHERTYPE_ETHERNET,
  ETHERTYPE_IPV4,
  ETHERTYPE_IPV6,
  ETHERTYPE_MACSEC,
  PORT_MPLS,
  PROTOCOL_GRE,
  PROTOCOL_IPV4,
  PROTOCOL_IPV6,
} from "../../abi/protocols.js";
import { HEADERS, OVER_UDP } from "../../headers/headers.js";
import type { HeaderRecord } from "../../headers/record.js";
import { bits, equals, fact, GENEVE_VERSION_0, IP_IN_IP, LATER, not, present, type Term } from "./cells.js";
import { carriedByGre, constrainGre } from "./greConstraints.js";
import type { Declaration, Plan } from "./plan.js";
import { tunnelBits } from "./wire.js";

const here = (bit: number): Term => present("tunnel", bit);
const VXLAN = here(PRESENT_VXLAN);
const GPE = here(PRESENT_VXLAN_GPE);
const GENEVE = here(PRESENT_GENEVE);
const GTPU = here(PRESENT_GTPU);
const GRE = here(PRESENT_GRE);
const LABELS_OVER_GRE = here(PRESENT_MPLS_OVER_GRE);
const LABELS_OVER_UDP = here(PRESENT_MPLS_OVER_UDP);
const GTPU_LONG = here(PRESENT_GTPU_DW_2);
const GTPU_EXTENDED = here(PRESENT_GTPU_EXTENSION);

/** | version 3, PT 1, 0 1, E 1, S 1, PN 1 | type 1 | length 2 |. */
const GTPU_WORD = bits("misc3.gtpu_dw_0");
const [GTPU_E, GTPU_S, GTPU_PN] = GTPU_WORD.slice(5, 8) as [Term, Term, Term];
const GTPU_VERSION_1 = equals(GTPU_WORD.slice(0, 4), 3);

const GENEVE_0 = GENEVE_VERSION_0 + 1;
const DIRECT = IP_IN_IP + 1;

const DWORDS = [0, 1, 2, 3].map((n) => here(PRESENT_TUNNEL_DWORD << n)) as [Term, Term, Term, Term];

/** Adds the constraints of tunnels. */
export function constrainTunnels(plan: Plan, { udpPorts }: Declaration): void {
  overUdp(plan, udpPorts);
  constrainGre(plan);
  geneve(plan);
  gtpu(plan);
  macsec(plan);
  dwords(plan);
  innerPacket(plan);
}

function overUdp(plan: Plan, udpPorts: Declaration["udpPorts"]): void {
  const udp = present("outer", PRESENT_UDP);
  for (const header of OVER_UDP) {
    const { present: own, variants }: HeaderRecord = HEADERS[header];
    const bit = own?.tunnel ?? variants?.["mpls_over_udp"]?.present.tunnel;
    if (bit === undefined) continue;
    plan.after(here(bit), udp);
    plan.implies(here(bit), udp);
    isOneOf(plan, here(bit), bits("outer.udp_dport"), udpPorts[header]);
  }
}

/** `at` brings one of the numbers: bit by bit, where all numbers that begin as the key does go on alike. */
function isOneOf(
  plan: Plan,
  at: Term,
  number: readonly Term[],
  numbers: readonly number[],
  asBefore: Term[] = [],
): void {
  const [bit, ...rest] = number;
  if (bit === undefined || numbers.length === 0) return;
  const place = 2 ** rest.length;
  const [zeros, ones] = [0, place].map((value) => numbers.filter((one) => (one & place) === value)) as [
    number[],
    number[],
  ];
  const unlike = asBefore.map((term) => -term);
  if (zeros.length === 0 || ones.length === 0) {
    plan.clause(at, -at, ...unlike, zeros.length === 0 ? bit : -bit);
    isOneOf(plan, at, rest, numbers, asBefore);
    return;
  }
  isOneOf(plan, at, rest, zeros, [...asBefore, -bit]);
  isOneOf(plan, at, rest, ones, [...asBefore, bit]);
}

/** "Geneve". */
function geneve(plan: Plan): void {
  const exists = bits("misc.geneve_tlv_option_0_exist")[0] as Term;
  const data = here(PRESENT_GENEVE_OPTION_0);
  const length = bits("misc.geneve_opt_len");
  plan.variable(GENEVE_0);
  plan.prefer(GENEVE_0);
  plan.after(GENEVE_0, GENEVE);
  plan.implies(GENEVE_0, GENEVE);
  const version = tunnelBits(0, 2);
  const first = plan.together(version);
  plan.clause(first, -GENEVE, GENEVE_0, ...version);
  plan.when(first, [GENEVE_0], not(version));
  plan.after(exists, GENEVE);
  plan.implies(exists, GENEVE_0);
  plan.clause(exists, -exists, ...length);
  plan.after(data, exists);
  plan.implies(data, exists);
  // 8 bytes of options at least.
  plan.clause(data, -data, ...length.slice(0, -1));
}

/** "GTP-U". */
function gtpu(plan: Plan): void {
  plan.after(GTPU_LONG, GTPU);
  plan.implies(GTPU_LONG, GTPU, ...GTPU_VERSION_1);
  plan.clause(GTPU_LONG, -GTPU_LONG, GTPU_E, GTPU_S, GTPU_PN);
  plan.after(GTPU_EXTENDED, GTPU_LONG);
  plan.implies(GTPU_EXTENDED, GTPU_LONG, GTPU_E);
  plan.clause(GTPU_EXTENDED, -GTPU_EXTENDED, ...bits("misc3.gtpu_dw_2").slice(-8));
  const length = bits("misc3.gtpu_first_ext_dw_0").slice(0, 8);
  plan.clause(plan.together(length), -GTPU_EXTENDED, ...length);
  for (const [name, at] of [
    ["misc3.gtpu_msg_flags", 0],
    ["misc3.gtpu_msg_type", 8],
  ] as const)
    // prettier-ignore
    for (const [i, bit] of bits(name).entries()) plan.alias(bit, GTPU_WORD[at + i] as Term);
}

/** `misc5.macsec_tag_0` (EtherType, TCI/AN, SL), `_2`, `_3` (the SCI, if the SC bit 0x20 of the TCI is set). */
function macsec(plan: Plan): void {
  const [tag, sci] = [here(PRESENT_MACSEC), here(PRESENT_MACSEC_SCI)];
  const words = bits("misc5.macsec_tag_0");
  for (const [i, term] of equals(words.slice(0, 16), ETHERTYPE_MACSEC).entries()) {
    if (term > 0) plan.alias(words[i] as Term, tag);
    else plan.absent(-term);
  }
  const channel = words[18] as Term;
  plan.alias(sci, channel);
}

/** "The first four dwords of the first tunnel's own header, as far as it has them." */
function dwords(plan: Plan): void {
  const [dword0, dword1, dword2, dword3] = DWORDS;
  const long = [GTPU, GPE, GENEVE, VXLAN];
  for (const at of [dword0, dword1]) {
    plan.after(at, GRE, ...long);
    plan.clause(at, -at, ...long, GRE);
    for (const tunnel of long) plan.clause(at, -tunnel, at);
  }
  plan.clause(dword0, -GRE, dword0);
  const length = bits("misc.geneve_opt_len");
  for (const at of [dword2, dword3]) {
    const lead = at === dword2 ? length : length.slice(0, -1);
    plan.after(at, dword1);
    plan.implies(at, dword1, -VXLAN, -GPE);
    plan.clause(at, -at, -GENEVE, GENEVE_0);
    plan.clause(at, -at, -GENEVE, ...lead);
    for (const bit of lead) plan.clause(at, -GENEVE_0, -bit, at);
    const part = at === dword2 ? GTPU_LONG : GTPU_EXTENDED;
    plan.clause(at, -part, at);
    plan.clause(at, -at, -GTPU, part);
  }
}

/** How the inner packet begins. */
function innerPacket(plan: Plan): void {
  const [eth, l3, v6] = [PRESENT_ETH, PRESENT_L3, PRESENT_IPV6].map((bit) => present("inner", bit)) as [
    Term,
    Term,
    Term,
  ];
  const protocol = present("outer", PRESENT_PROTOCOL);
  const gpe = bits("misc3.outer_vxlan_gpe_next_protocol");
  const type = bits("misc.geneve_protocol_type");
  // The cell that is decided last is the one that is left over: VXLAN, and Ethernet.
  plan.after(eth, GPE, GENEVE, GRE, VXLAN);
  plan.clause(eth, -eth, GPE, GENEVE, GRE, VXLAN);
  const begins = (when: readonly Term[], ethertype: number, next: number): void => {
    plan.when(l3 === when[0] ? l3 : eth, [...when, GPE], equals(gpe, next));
    plan.when(l3 === when[0] ? l3 : eth, [...when, GENEVE], [GENEVE_0, ...equals(type, ethertype)]);
    plan.when(l3 === when[0] ? l3 : eth, [...when, GRE, -LABELS_OVER_GRE], carriedByGre(ethertype)); // prettier-ignore
  };
  begins([eth], ETHERTYPE_ETHERNET, HEADERS.ethernet.announced.gpe);
  plan.clause(eth, -eth, -GRE, -LABELS_OVER_GRE);
  plan.after(l3, GPE, GENEVE, GRE, GTPU, LABELS_OVER_UDP, DIRECT);
  plan.clause(l3, -l3, GPE, GENEVE, GRE, GTPU, LABELS_OVER_UDP, DIRECT, eth);
  begins([l3, -eth, -v6], ETHERTYPE_IPV4, HEADERS.ipv4.announced.gpe);
  begins([l3, -eth, v6], ETHERTYPE_IPV6, HEADERS.ipv6.announced.gpe);
  plan.when(l3, [l3, GTPU], [...GTPU_VERSION_1, ...equals("misc3.gtpu_msg_type", 255)]);
  for (const flag of [GTPU_E, GTPU_S, GTPU_PN]) plan.clause(l3, -l3, -GTPU, -flag, GTPU_LONG);
  for (const bit of bits("misc3.gtpu_dw_2").slice(-8)) plan.clause(l3, -l3, -GTPU_LONG, -GTPU_E, -bit, GTPU_EXTENDED);
  // IP in IP ("4, 41").
  const number = bits("outer.ip_protocol");
  plan.variable(DIRECT);
  plan.after(DIRECT, protocol);
  plan.implies(DIRECT, protocol, -fact("outer", LATER), -eth, l3);
  plan.when(DIRECT, [DIRECT, -v6], equals(number, PROTOCOL_IPV4));
  plan.when(DIRECT, [DIRECT, v6], equals(number, PROTOCOL_IPV6));
  innerLabels(plan);
}

/** The first label of a tunnel inside the inner packet. */
function innerLabels(plan: Plan): void {
  const udp = present("inner", PRESENT_UDP);
  const overUdp = present("inner", PRESENT_INNER_MPLS_OVER_UDP);
  plan.after(overUdp, udp);
  plan.implies(overUdp, udp, ...equals("inner.udp_dport", PORT_MPLS));
  const protocol = present("inner", PRESENT_PROTOCOL);
  const overGre = present("inner", PRESENT_INNER_MPLS_OVER_GRE);
  plan.after(overGre, protocol);
  plan.implies(overGre, protocol, -fact("inner", LATER), ...equals("inner.ip_protocol", PROTOCOL_GRE));
}
