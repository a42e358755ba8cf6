/** IP and the extension headers of IPv6. */
import { PRESENT_IPV4, PRESENT_IPV6 } from "../abi/key.js";
import {
  ETHERTYPE_IPV4,
  ETHERTYPE_IPV6,
  PROTOCOL_AH,
  PROTOCOL_DESTINATION,
  PROTOCOL_FRAGMENT,
  PROTOCOL_HOP_BY_HOP,
  PROTOCOL_IPV4,
  PROTOCOL_IPV6,
  PROTOCOL_ROUTING,
} from "../abi/protocols.js";
import type { HeaderRecord } from "./record.js";

/** No header. */
export const none = { name: "", title: "header" } as const satisfies HeaderRecord;

/** IP of a version that is neither 4 nor 6. */
export const ip = { name: "IP" } as const satisfies HeaderRecord;

export const ipv4 = {
  name: "IPv4",
  announced: { etherType: ETHERTYPE_IPV4, tunnelType: ETHERTYPE_IPV4, protocol: PROTOCOL_IPV4, gpe: 1, family: 2 },
  present: { outer: PRESENT_IPV4, inner: PRESENT_IPV4 },
  match: {
    ihl: "*.ipv4_ihl",
    dscp: "*.ip_dscp",
    ecn: "*.ip_ecn",
    flags: "ext.*_ipv4_flags",
    ttl: "*.ip_ttl_hoplimit",
    protocol: "*.ip_protocol",
    source: "*.ipv4_src",
    destination: "*.ipv4_dst",
  },
  reads: { version: "*.ip_version", fragment_offset: "*.frag", checksum: "*.ipv4_checksum_ok" },
} as const satisfies HeaderRecord;

export const ipv6 = {
  name: "IPv6",
  announced: { etherType: ETHERTYPE_IPV6, tunnelType: ETHERTYPE_IPV6, protocol: PROTOCOL_IPV6, gpe: 2, family: 24 },
  present: { outer: PRESENT_IPV6, inner: PRESENT_IPV6 },
  match: {
    dscp: "*.ip_dscp",
    ecn: "*.ip_ecn",
    flow_label: "misc.*_ipv6_flow_label",
    hop_limit: "*.ip_ttl_hoplimit",
    source: "*.ipv6_src",
    destination: "*.ipv6_dst",
  },
  reads: { version: "*.ip_version", next_header: "*.ip_protocol" },
} as const satisfies HeaderRecord;

export const ipv6_hop_by_hop = {
  name: "IPv6 hop-by-hop",
  announced: { protocol: PROTOCOL_HOP_BY_HOP },
  reads: { next_header: "*.ip_protocol" },
  layer: "extension",
} as const satisfies HeaderRecord;

export const ipv6_routing = {
  name: "IPv6 routing",
  announced: { protocol: PROTOCOL_ROUTING },
  reads: { next_header: "*.ip_protocol" },
  layer: "extension",
} as const satisfies HeaderRecord;

export const ipv6_destination = {
  name: "IPv6 destination options",
  announced: { protocol: PROTOCOL_DESTINATION },
  reads: { next_header: "*.ip_protocol" },
  layer: "extension",
} as const satisfies HeaderRecord;

export const ipv6_fragment = {
  name: "IPv6 fragment",
  announced: { protocol: PROTOCOL_FRAGMENT },
  reads: { next_header: "*.ip_protocol", fragment_offset: "*.frag" },
  layer: "extension",
} as const satisfies HeaderRecord;

export const ah = {
  name: "AH",
  announced: { protocol: PROTOCOL_AH },
  reads: { next_header: "*.ip_protocol" },
  layer: "extension",
} as const satisfies HeaderRecord;
