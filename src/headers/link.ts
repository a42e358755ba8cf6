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
} from "../abi/key.js";
import {
  ETHERTYPE_ARP,
  ETHERTYPE_ETHERNET,
  ETHERTYPE_MACSEC,
  ETHERTYPE_MPLS,
  PORT_MPLS,
  TPID_CVLAN,
} from "../abi/protocols.js";
import type { HeaderRecord } from "./record.js";

export const ethernet = {
  name: "Ethernet",
  announced: { tunnelType: ETHERTYPE_ETHERNET, gpe: 3 },
  present: { outer: PRESENT_ETH, inner: PRESENT_ETH },
} as const satisfies HeaderRecord;

/** A service tag has another TPID. */
export const vlan = {
  name: "VLAN",
  title: "VLAN tag",
  announced: { etherType: TPID_CVLAN },
  present: { outer: PRESENT_VLAN, inner: PRESENT_VLAN },
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
  over: {
    gre: {
      name: "MPLS over GRE",
      present: { tunnel: PRESENT_MPLS_OVER_GRE, inner: PRESENT_INNER_MPLS_OVER_GRE },
    },
    udp: {
      name: "MPLS over UDP",
      present: { tunnel: PRESENT_MPLS_OVER_UDP, inner: PRESENT_INNER_MPLS_OVER_UDP },
    },
  },
  tunnel: "packet",
} as const satisfies HeaderRecord;

export const macsec = {
  name: "MACsec",
  title: "MACsec tag",
  announced: { etherType: ETHERTYPE_MACSEC },
  present: { tunnel: PRESENT_MACSEC },
} as const satisfies HeaderRecord;
