/** Headers of the link layer, and what follows them before IP. */
import {
  PRESENT_ETH,
  PRESENT_INNER_MPLS_OVER_GRE,
  PRESENT_INNER_MPLS_OVER_UDP,
  PRESENT_MACSEC,
  PRESENT_MPLS,
  PRESENT_MPLS_OVER_GRE,
  PRESENT_MPLS_OVER_UDP,
  PRESENT_VLAN,
  PRESENT_VLAN2,
} from "../abi/key.js";
import {
  ETHERTYPE_ARP,
  ETHERTYPE_ETHERNET,
  ETHERTYPE_MACSEC,
  ETHERTYPE_MPLS,
  PORT_MPLS,
  TPID_CVLAN,
} from "../abi/protocols.js";
import type { HeaderRecord, MatchFields } from "./record.js";

const label = (name: string): MatchFields => ({
  label: `${name}_label`,
  exp: `${name}_exp`,
  s_bos: `${name}_s_bos`,
  ttl: `${name}_ttl`,
});

export const ethernet = {
  name: "Ethernet",
  announced: { tunnelType: ETHERTYPE_ETHERNET, gpe: 3 },
  present: { outer: PRESENT_ETH, inner: PRESENT_ETH },
  match: { destination: "*.dmac", source: "*.smac" },
  reads: { type: "*.ethertype" },
} as const satisfies HeaderRecord;

/** A service tag has another TPID. */
export const vlan = {
  name: "VLAN",
  title: "VLAN tag",
  announced: { etherType: TPID_CVLAN },
  present: { outer: PRESENT_VLAN, inner: PRESENT_VLAN },
  match: { pcp: "*.first_prio", dei: "*.first_cfi", vid: "*.first_vid" },
  reads: { type: "*.ethertype" },
  variants: {
    vlan2: {
      name: "second VLAN",
      present: { outer: PRESENT_VLAN2, inner: PRESENT_VLAN2 },
      match: { pcp: "misc.*_second_prio", dei: "misc.*_second_cfi", vid: "misc.*_second_vid" },
    },
  },
} as const satisfies HeaderRecord;

export const loopback = { name: "loopback" } as const satisfies HeaderRecord;

export const linux_cooked = { name: "Linux cooked" } as const satisfies HeaderRecord;

export const linux_cooked_v2 = { name: "Linux cooked" } as const satisfies HeaderRecord;

export const arp = { name: "ARP", announced: { etherType: ETHERTYPE_ARP } } as const satisfies HeaderRecord;

/** One label stack entry, over a link layer, GRE (RFC 4023) or UDP (RFC 7510). */
export const mpls = {
  name: "MPLS",
  title: "MPLS label",
  announced: { etherType: ETHERTYPE_MPLS, port: PORT_MPLS },
  present: { outer: PRESENT_MPLS, inner: PRESENT_MPLS },
  match: label("misc2.*_first_mpls"),
  variants: {
    mpls_over_gre: {
      name: "MPLS over GRE",
      present: { tunnel: PRESENT_MPLS_OVER_GRE, inner: PRESENT_INNER_MPLS_OVER_GRE },
      match: label("misc2.outer_first_mpls_over_gre"),
      innerMatch: label("ext.inner_first_mpls_over_gre"),
    },
    mpls_over_udp: {
      name: "MPLS over UDP",
      present: { tunnel: PRESENT_MPLS_OVER_UDP, inner: PRESENT_INNER_MPLS_OVER_UDP },
      match: label("misc2.outer_first_mpls_over_udp"),
      innerMatch: label("ext.inner_first_mpls_over_udp"),
    },
  },
  tunnel: "packet",
} as const satisfies HeaderRecord;

export const macsec = {
  name: "MACsec",
  title: "MACsec tag",
  announced: { etherType: ETHERTYPE_MACSEC },
  present: { tunnel: PRESENT_MACSEC },
  // The first word begins with the EtherType, which precedes the header.
  match: { "-16": "misc5.macsec_tag_0", 16: "misc5.macsec_tag_1", 48: "misc5.macsec_tag_2", 80: "misc5.macsec_tag_3" },
} as const satisfies HeaderRecord;
