/**
 * Numbers by which a header announces the next one: EtherTypes, VLAN TPIDs, IP protocols, UDP ports.
 *
 * Both compilers read this file: numeric constants only, no imports.
 */

/** EtherTypes (IEEE "Ethertype" registry). */
export const ETHERTYPE_IPV4 = 0x0800;
export const ETHERTYPE_ARP = 0x0806;
/** Transparent Ethernet bridging: GRE and Geneve announce an Ethernet frame with it. */
export const ETHERTYPE_ETHERNET = 0x6558;
export const ETHERTYPE_IPV6 = 0x86dd;
export const ETHERTYPE_MPLS = 0x8847;
/** MPLS with an upstream-assigned label (RFC 5332). */
export const ETHERTYPE_MPLS_UPSTREAM = 0x8848;
export const ETHERTYPE_MACSEC = 0x88e5;
/** Network service header (RFC 8300 section 2). */
export const ETHERTYPE_NSH = 0x894f;
/** The metadata element of inline ESP actions (docs/esp.md, "Inline crypto"). */
export const ETHERTYPE_ESP_METADATA = 0x8ce4;

/** TPIDs of VLAN tags (IEEE 802.1Q clause 9.5): customer tag and service tag. */
export const TPID_CVLAN = 0x8100;
export const TPID_SVLAN = 0x88a8;

/** IP protocols and IPv6 next headers (IANA "protocol-numbers"). */
export const PROTOCOL_HOP_BY_HOP = 0;
export const PROTOCOL_ICMP = 1;
export const PROTOCOL_IPV4 = 4;
export const PROTOCOL_TCP = 6;
export const PROTOCOL_UDP = 17;
export const PROTOCOL_IPV6 = 41;
export const PROTOCOL_ROUTING = 43;
export const PROTOCOL_FRAGMENT = 44;
export const PROTOCOL_GRE = 47;
export const PROTOCOL_ESP = 50;
export const PROTOCOL_AH = 51;
export const PROTOCOL_ICMPV6 = 58;
/** No next header. In ESP it marks a dummy packet (RFC 4303 section 2.6). */
export const PROTOCOL_NONE = 59;
export const PROTOCOL_DESTINATION = 60;
export const PROTOCOL_SCTP = 132;

/** UDP destination ports (IANA "service-names-port-numbers"). */
export const PORT_GTPU = 2152;
export const PORT_ESP = 4500;
export const PORT_VXLAN = 4789;
export const PORT_VXLAN_GPE = 4790;
export const PORT_ROCE = 4791;
export const PORT_GENEVE = 6081;
export const PORT_MPLS = 6635;
