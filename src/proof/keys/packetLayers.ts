/**
 * The layers of a packet with the bits of a solution: link layer, network layer, upper layer. Where a number announces a
 * header that is to be absent, the packet ends: its own length says so.
 */
import {
  PRESENT_ESP,
  PRESENT_ETHERTYPE,
  PRESENT_IPV6,
  PRESENT_L3,
  PRESENT_MACSEC,
  PRESENT_MACSEC_SCI,
  PRESENT_MPLS,
  PRESENT_PROTOCOL,
  PRESENT_UDP,
  PRESENT_VLAN,
  PRESENT_VLAN2,
} from "../../abi/key.js";
import {
  ETHERTYPE_ARP,
  ETHERTYPE_ESP_METADATA,
  ETHERTYPE_IPV4,
  ETHERTYPE_IPV6,
  PROTOCOL_DESTINATION,
  PROTOCOL_HOP_BY_HOP,
  TPID_CVLAN,
  TPID_SVLAN,
} from "../../abi/protocols.js";
import { HEADERS, UPPER } from "../../headers/headers.js";
import { bits, fact, LATER, present, type Level, type Term } from "./cells.js";
import type { FieldName } from "../../model/match/fields.js";
import type { Solution } from "./solution.js";
import { addLabels, ipInIp, overGre, overUdp, type Draft } from "./tunnelLayers.js";
import type { WireHeader } from "../../headers/fields.js";

/** The offset of later fragments, in 8 bytes: after a first one of 1,480. */
const OFFSET = 185;
const IPV6_TOO_LONG = 0xffff;

/** Adds a frame: an Ethernet header and what it carries. */
export function addFrame(draft: Draft, at: Solution, level: Level): void {
  const type = at.asked(bits(`${level}.ethertype`)) ? at.number(bits(`${level}.ethertype`)) : undefined;
  const tags = tagsOf(at, level);
  const whole = at.has(present(level, PRESENT_ETHERTYPE), true);
  const types = [...tags.map(({ tpid }) => tpid), whole ? type : TPID_CVLAN];
  draft.layers.push(at.layer({ level, header: "ethernet", fields: ethernetType(types[0]) }));
  for (const [i, { header }] of tags.entries()) {
    const next = types[i + 1];
    draft.layers.push(at.layer({ level, header, fields: next === undefined ? {} : { type: next } }));
  }
  if (!whole) return;
  if (at.has(present(level, PRESENT_MPLS))) addLabels(draft, at, level, "mpls", at.has(present(level, PRESENT_L3)));
  else if (level === "outer" && at.has(present("tunnel", PRESENT_MACSEC))) addMacsec(draft, at);
  else if (type === ETHERTYPE_ARP) draft.layers.push(at.layer({ level, header: "arp" }));
  const usually = type === ETHERTYPE_IPV4 || type === ETHERTYPE_IPV6;
  if (at.has(present(level, PRESENT_L3), usually)) addPacket(draft, at, level, type === ETHERTYPE_IPV6);
}

/** The type of an untagged header can be that of metadata, behind which it stands again. */
function ethernetType(type: number | undefined): Record<string, unknown> {
  if (type === undefined) return {};
  return type === ETHERTYPE_ESP_METADATA ? { type, carried: type } : { type };
}

function tagsOf(at: Solution, level: Level): { header: WireHeader; tpid: number }[] {
  const tag = (header: WireHeader, here: number, svlan: FieldName): { header: WireHeader; tpid: number }[] =>
    at.has(present(level, here)) ? [{ header, tpid: at.has(bits(svlan)[0] as Term) ? TPID_SVLAN : TPID_CVLAN }] : [];
  return [
    ...tag("vlan", PRESENT_VLAN, `${level}.svlan_tag`),
    ...tag("vlan2", PRESENT_VLAN2, `misc.${level}_second_svlan_tag`),
  ];
}

function addMacsec(draft: Draft, at: Solution): void {
  const channel = at.has(present("tunnel", PRESENT_MACSEC_SCI));
  draft.layers.push(at.layer({ level: "outer", header: "macsec", without: channel ? [] : ["sci"] }));
}

/** Adds an IP packet. */
export function addPacket(draft: Draft, at: Solution, level: Level, usuallyV6 = false): void {
  const later = at.has(fact(level, LATER));
  const frag = later || at.has(bits(`${level}.frag`)[0] as Term);
  if (at.has(present(level, PRESENT_IPV6), usuallyV6)) addIpv6(draft, at, level, frag, later);
  else addIpv4(draft, at, level, frag, later);
  if (!later && at.has(present(level, PRESENT_PROTOCOL), true)) addUpper(draft, at, level);
}

function addIpv4(draft: Draft, at: Solution, level: Level, frag: boolean, later: boolean): void {
  const flags = bits(`ext.${level}_ipv4_flags`);
  const ihl = bits(`${level}.ipv4_ihl`);
  const layer = at.layer({
    level,
    header: "ipv4",
    fields: {
      flags: at.number(flags, frag && !later ? 1 : 0),
      ...(later ? { fragment_offset: OFFSET } : {}),
      ...(at.asked(ihl) ? { options: new Uint8Array(Math.max(0, 4 * at.number(ihl, 5) - 20)) } : {}),
      ...(isGood(at, level, "l3_ok") ? {} : { total_length: 0 }),
    },
  });
  draft.layers.push(layer);
  if (!isGood(at, level, "ipv4_checksum_ok")) draft.wrongSums.add(layer);
}

function addIpv6(draft: Draft, at: Solution, level: Level, frag: boolean, later: boolean): void {
  const known = at.has(present(level, PRESENT_PROTOCOL), true);
  const asked = bits(`${level}.ip_protocol`);
  // Without a known protocol the walk of extension headers ends before the first one that is cut.
  const next = known
    ? at.asked(asked)
      ? at.number(asked)
      : undefined
    : frag
      ? PROTOCOL_DESTINATION
      : PROTOCOL_HOP_BY_HOP;
  const says = next === undefined ? {} : { next_header: next };
  draft.layers.push(
    at.layer({
      level,
      header: "ipv6",
      fields: { ...(frag ? {} : says), ...(isGood(at, level, "l3_ok") ? {} : { payload_length: IPV6_TOO_LONG }) },
    }),
  );
  if (frag)
    draft.layers.push({ header: "ipv6_fragment", fragment_offset: later ? OFFSET : 0, m: later ? 0 : 1, ...says });
}

/** Whether a state bit may be 1. */
function isGood(at: Solution, level: Level, name: "l3_ok" | "l4_ok" | "ipv4_checksum_ok" | "l4_checksum_ok"): boolean {
  return at.has(bits(`${level}.${name}`)[0] as Term, true);
}

function addUpper(draft: Draft, at: Solution, level: Level): void {
  const asked = bits(`${level}.ip_protocol`);
  const protocol = at.asked(asked) ? at.number(asked) : undefined;
  const udp = at.has(present(level, PRESENT_UDP));
  for (const header of UPPER) {
    const { announced, present: own } = HEADERS[header];
    // The key does not say whether an inner ICMP header is there.
    const usually = protocol === announced.protocol;
    const here = level === "inner" && header.startsWith("icmp") ? usually : at.has(present(level, own.outer), usually);
    if (!here || (header === "esp" && udp)) continue;
    const fields = isGood(at, level, "l4_ok") ? {} : header === "tcp" ? { data_offset: 0 } : header === "udp" ? { length: 0 } : {}; // prettier-ignore
    const layer = at.layer({ level, header, fields });
    draft.layers.push(layer);
    if ((header === "tcp" || header === "udp") && !isGood(at, level, "l4_checksum_ok")) draft.wrongSums.add(layer);
    if (header === "udp") addOverUdp(draft, at, level);
    return;
  }
  overGre(draft, at, level);
  if (level === "outer") ipInIp(draft, at);
}

function addOverUdp(draft: Draft, at: Solution, level: Level): void {
  if (at.has(present(level, PRESENT_ESP))) draft.layers.push(at.layer({ level, header: "esp" }));
  else overUdp(draft, at, level);
}
