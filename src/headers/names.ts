/** Names of numbers that announce headers, as sentences and lists of frames have them. */
import { ETHERTYPE_MPLS_UPSTREAM, TPID_SVLAN } from "../abi/protocols.js";
import { ETHERTYPES, PROTOCOLS, TUNNEL_ETHERTYPES, type Carried } from "./announcers.js";
import { HEADERS } from "./headers.js";
import type { HeaderName } from "./record.js";

type Names = Readonly<Record<number, string>>;

function names(carried: Carried): Names {
  const headers = Object.entries(carried) as [HeaderName, number][];
  return Object.fromEntries(headers.map(([header, number]) => [number, HEADERS[header].name]));
}

const ETHERTYPE_NAMES: Names = /* @__PURE__ */ {
  ...names(TUNNEL_ETHERTYPES),
  ...names(ETHERTYPES),
  [TPID_SVLAN]: "VLAN",
  0x8809: "LACP",
  [ETHERTYPE_MPLS_UPSTREAM]: "MPLS",
  0x8863: "PPPoE",
  0x8864: "PPPoE",
  0x888e: "EAPOL",
  0x88cc: "LLDP",
  0x88f7: "PTP",
  0x8915: "RoCE version 1",
};

const PROTOCOL_NAMES: Names = /* @__PURE__ */ {
  ...names(PROTOCOLS),
  2: "IGMP",
  89: "OSPF",
  103: "PIM",
  112: "VRRP",
};

/** The name of a header: "VXLAN-GPE". */
export function headerName(header: HeaderName): string {
  return HEADERS[header].name;
}

/** What an EtherType announces: "IPv4"; undefined without a name. */
export function etherTypeName(type: number): string | undefined {
  return ETHERTYPE_NAMES[type];
}

/** What an IP protocol is: "UDP"; undefined without a name. */
export function protocolName(protocol: number): string | undefined {
  return PROTOCOL_NAMES[protocol];
}
