/** What the parser ties together within a level: link layer, network layer, upper layer. Lines cite docs/parsing.md. */
import {
  PRESENT_ESP,
  PRESENT_ETH,
  PRESENT_ETHERTYPE,
  PRESENT_IPV4,
  PRESENT_IPV6,
  PRESENT_L3,
  PRESENT_MACSEC,
  PRESENT_MPLS,
  PRESENT_PROTOCOL,
  PRESENT_TCP,
  PRESENT_UDP,
  PRESENT_VLAN,
  PRESENT_VLAN2,
} from "../../abi/key.js";
import {
  ETHERTYPE_IPV4,
  ETHERTYPE_IPV6,
  ETHERTYPE_MACSEC,
  ETHERTYPE_MPLS,
  PORT_ESP,
  PROTOCOL_ESP,
  TPID_CVLAN,
  TPID_SVLAN,
} from "../../abi/protocols.js";
import { EXTENSIONS, HEADERS, UPPER } from "../../headers/headers.js";
import type { HeaderRecord } from "../../headers/record.js";
import {
  bits,
  equals,
  ESP_FROM_PORT,
  ESP_TO_PORT,
  fact,
  field,
  LATER,
  not,
  present,
  type Level,
  type Term,
} from "./cells.js";
import type { Declaration, Plan } from "./plan.js";

/** Adds the constraints of a level. */
export function constrainLevel(plan: Plan, level: Level, { udpPorts }: Declaration): void {
  linkLayer(plan, level);
  networkLayer(plan, level);
  upperLayer(plan, level);
  esp(plan, level, Object.values(udpPorts).flat());
}

function linkLayer(plan: Plan, level: Level): void {
  const here = (bit: number): Term => present(level, bit);
  const [eth, ethertype, vlan, vlan2] = [PRESENT_ETH, PRESENT_ETHERTYPE, PRESENT_VLAN, PRESENT_VLAN2].map(here) as [
    Term,
    Term,
    Term,
    Term,
  ];
  plan.implies(ethertype, eth);
  plan.implies(vlan, eth);
  plan.implies(vlan2, vlan);
  plan.after(ethertype, eth);
  plan.after(vlan, eth);
  plan.after(vlan2, vlan);
  tag(plan, vlan, bits(`${level}.cvlan_tag`), bits(`${level}.svlan_tag`));
  tag(plan, vlan2, bits(`misc.${level}_second_cvlan_tag`), bits(`misc.${level}_second_svlan_tag`));
  mpls(plan, level);
  types(plan, level);
}

/** A tag is of one kind. */
function tag(plan: Plan, here: Term, cvlan: readonly Term[], svlan: readonly Term[]): void {
  const [c, s] = [cvlan[0] as Term, svlan[0] as Term];
  plan.clause(here, -here, c, s);
  for (const kind of [c, s]) {
    plan.after(kind, here);
    plan.implies(kind, here);
  }
  plan.clause(s, -c, -s);
}

function mpls(plan: Plan, level: Level): void {
  const here = present(level, PRESENT_MPLS);
  plan.implies(here, present(level, PRESENT_ETHERTYPE));
  plan.after(here, present(level, PRESENT_ETHERTYPE));
}

/** The EtherType after the last tag says which header follows ("Link layer"). */
function types(plan: Plan, level: Level): void {
  const all = bits(`${level}.ethertype`);
  const [eth, l3, v6, labels] = [PRESENT_ETH, PRESENT_L3, PRESENT_IPV6, PRESENT_MPLS].map((bit) =>
    present(level, bit),
  ) as [Term, Term, Term, Term];
  const first = plan.together(all);
  for (const at of [ETHERTYPE_IPV4, ETHERTYPE_IPV6]) {
    const version = at === ETHERTYPE_IPV4 ? -v6 : v6;
    plan.when(first, [l3, version, eth, -labels], equals(all, at));
  }
  labelType(plan, first, labels, all);
  for (const tpid of [TPID_CVLAN, TPID_SVLAN]) plan.clause(first, ...not(equals(all, tpid)));
  if (level === "outer") {
    const macsec = present("tunnel", PRESENT_MACSEC);
    plan.when(first, [macsec], equals(all, ETHERTYPE_MACSEC));
    plan.implies(macsec, present(level, PRESENT_ETHERTYPE), -l3, -labels);
    plan.after(macsec, present(level, PRESENT_ETHERTYPE), l3, labels);
  }
}

/** Labels need one of the two types of MPLS, which end in 7 and 8. */
export function labelType(plan: Plan, at: Term, labels: Term, type: readonly Term[]): void {
  const [high, ...low] = type.slice(-4) as [Term, Term, Term, Term];
  plan.when(at, [labels], equals(type.slice(0, -4), ETHERTYPE_MPLS >> 4));
  for (const bit of low) {
    plan.clause(at, -labels, high, bit);
    plan.clause(at, -labels, -high, -bit);
  }
}

function networkLayer(plan: Plan, level: Level): void {
  const here = (bit: number): Term => present(level, bit);
  const [l3, v4, v6] = [here(PRESENT_L3), here(PRESENT_IPV4), here(PRESENT_IPV6)];
  const protocol = here(PRESENT_PROTOCOL);
  const later = fact(level, LATER);
  plan.implies(v6, l3);
  plan.after(v6, l3);
  plan.after(v4, l3, v6);
  plan.implies(v4, l3, -v6);
  plan.clause(v4, -l3, v6, v4);
  plan.after(protocol, l3);
  plan.implies(protocol, l3);
  plan.clause(protocol, -l3, v6, protocol);
  if (level === "outer") {
    // MODEL: proofs are about Ethernet frames.
    plan.implies(l3, here(PRESENT_ETHERTYPE));
    plan.after(l3, here(PRESENT_ETHERTYPE));
  } else {
    plan.clause(l3, -l3, -here(PRESENT_ETH), here(PRESENT_ETHERTYPE));
    plan.after(l3, here(PRESENT_ETH));
  }
  // The version: 4 where IPv4 is present, 6 where IPv6 is.
  const [bit8, bit4, bit2, bit1] = bits(`${level}.ip_version`) as [Term, Term, Term, Term];
  plan.absent(bit8, bit1);
  plan.alias(bit4, l3);
  plan.alias(bit2, v6);
  const frag = bits(`${level}.frag`)[0] as Term;
  const more = bits(`ext.${level}_ipv4_flags`)[2] as Term;
  plan.variable(later);
  plan.after(later, protocol);
  plan.implies(later, protocol);
  plan.after(frag, l3);
  plan.implies(frag, l3);
  plan.clause(frag, -later, frag);
  plan.implies(more, frag);
  plan.clause(more, -frag, v6, more, later);
  const [ihl8, ihl4, ihl2, ihl1] = bits(`${level}.ipv4_ihl`) as [Term, Term, Term, Term];
  plan.together([ihl8, ihl4, ihl2, ihl1]);
  plan.clause(ihl8, -v4, ihl8, ihl4);
  plan.clause(ihl8, -v4, ihl8, ihl2, ihl1);
  states(plan, level);
}

/** State bits: 0 where there is nothing ("Rules for every header"; "ESP, SCTP, TCP and checksums"). */
function states(plan: Plan, level: Level): void {
  const here = (bit: number): Term => present(level, bit);
  const one = (name: "l3_ok" | "l4_ok" | "ipv4_checksum_ok" | "l4_checksum_ok" | "frag"): Term =>
    field(`${level}.${name}`).bit + 1;
  const [l3ok, l4ok, sum3, sum4] = [one("l3_ok"), one("l4_ok"), one("ipv4_checksum_ok"), one("l4_checksum_ok")];
  plan.implies(l3ok, here(PRESENT_L3));
  plan.after(l3ok, here(PRESENT_L3));
  plan.clause(l4ok, -l4ok, here(PRESENT_TCP), here(PRESENT_UDP));
  plan.after(l4ok, here(PRESENT_UDP), here(PRESENT_TCP));
  plan.implies(sum3, here(PRESENT_IPV4));
  plan.after(sum3, here(PRESENT_IPV4));
  plan.implies(sum4, l3ok, l4ok, -one("frag"));
  plan.after(sum4, l3ok, l4ok);
  for (const bit of [l3ok, l4ok, sum3, sum4]) plan.prefer(bit);
}

function upperLayer(plan: Plan, level: Level): void {
  const known = present(level, PRESENT_PROTOCOL);
  const later = fact(level, LATER);
  const protocol = bits(`${level}.ip_protocol`);
  const first = plan.together(protocol);
  for (const header of EXTENSIONS) {
    const passed = equals(protocol, HEADERS[header].announced.protocol);
    plan.clause(first, -present(level, PRESENT_IPV6), later, -known, ...not(passed));
  }
  for (const header of UPPER) {
    const { announced, present: own }: HeaderRecord = HEADERS[header];
    const bit = own?.[level];
    if (header === "esp" || bit === undefined) continue;
    const here = present(level, bit);
    plan.after(here, known);
    plan.implies(here, known, -later, ...equals(protocol, announced?.protocol ?? 0));
  }
}

/** ESP over IP, or over UDP to or from port 4500 ("UDP 4500"). */
function esp(plan: Plan, level: Level, ports: readonly number[]): void {
  const here = present(level, PRESENT_ESP);
  const udp = present(level, PRESENT_UDP);
  const [to, from] = [fact(level, ESP_TO_PORT), fact(level, ESP_FROM_PORT)];
  const known = present(level, PRESENT_PROTOCOL);
  plan.variable(to);
  plan.variable(from);
  plan.after(here, known, udp);
  plan.implies(here, known, -fact(level, LATER));
  plan.when(here, [here, -udp], equals(`${level}.ip_protocol`, PROTOCOL_ESP));
  plan.clause(here, -here, -udp, to, from);
  plan.implies(to, ...equals(`${level}.udp_dport`, PORT_ESP));
  plan.implies(from, ...equals(`${level}.udp_sport`, PORT_ESP));
  for (const port of ports) {
    if (port !== PORT_ESP) plan.clause(from, -from, ...not(equals(`${level}.udp_dport`, port)));
  }
  const spi = bits(`misc.${level}_esp_spi`);
  plan.clause(plan.together(spi), -here, -udp, ...spi);
}
