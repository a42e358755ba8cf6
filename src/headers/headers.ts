/** One record for each header, in the order of `Header` (src/abi/headers.ts): facts that more than one room needs. */
import { arp, ethernet, linux_cooked, linux_cooked_v2, loopback, macsec, mpls, vlan } from "./link.js";
import { ah, ip, ipv4, ipv6, ipv6_destination, ipv6_fragment, ipv6_hop_by_hop, ipv6_routing, none } from "./network.js";
import type { HeaderName, HeaderRecord } from "./record.js";
import { geneve, gre, gtpu, gtpu_extension, nsh, vxlan, vxlan_gpe } from "./tunnels.js";
import { bth, esp, icmp, icmpv6, sctp, tcp, udp } from "./upper.js";

export const HEADERS = {
  none,
  ethernet,
  vlan,
  loopback,
  linux_cooked,
  linux_cooked_v2,
  arp,
  ipv4,
  ipv6,
  ipv6_hop_by_hop,
  ipv6_routing,
  ipv6_destination,
  ipv6_fragment,
  ah,
  tcp,
  udp,
  icmp,
  icmpv6,
  vxlan,
  ip,
  sctp,
  gre,
  vxlan_gpe,
  geneve,
  gtpu,
  gtpu_extension,
  mpls,
  esp,
  bth,
  macsec,
  nsh,
} as const satisfies Record<HeaderName, HeaderRecord>;

/** The records as a list, in the same order. */
export const HEADER_LIST = /* @__PURE__ */ Object.entries(HEADERS) as readonly [HeaderName, HeaderRecord][];

/** Headers whose records have these facts. */
export type HeadersWith<Facts> = {
  [Name in HeaderName]: (typeof HEADERS)[Name] extends Facts ? Name : never;
}[HeaderName];

function headersWith<Facts>(has: (record: HeaderRecord) => boolean): HeadersWith<Facts>[] {
  return HEADER_LIST.flatMap(([name, record]) => (has(record) ? [name as HeadersWith<Facts>] : []));
}

export const EXTENSIONS = /* @__PURE__ */ headersWith<{ layer: "extension" }>(({ layer }) => layer === "extension");
export const UPPER = /* @__PURE__ */ headersWith<{ layer: "upper" }>(({ layer }) => layer === "upper");
/** Tunnels with a header of their own: labels have none. */
export const TUNNELS = /* @__PURE__ */ headersWith<{ tunnel: string; present: { tunnel: number } }>(
  ({ tunnel, present }) => tunnel !== undefined && present?.tunnel !== undefined,
);
/** What a UDP port announces. */
export const OVER_UDP = /* @__PURE__ */ headersWith<{ announced: { port: number } }>(
  ({ announced }) => announced?.port !== undefined,
);
/** Tunnels over UDP, labels too. */
export const UDP_TUNNELS = /* @__PURE__ */ headersWith<{ tunnel: string; announced: { port: number } }>(
  ({ tunnel, announced }) => tunnel !== undefined && announced?.port !== undefined,
);

/** "VXLAN header". */
export function titleOf(header: HeaderName): string {
  const { name, title = `${name} header` }: HeaderRecord = HEADERS[header];
  return title;
}

/** Whether a header is one of a list. */
export function isOneOf<Name extends HeaderName>(list: readonly Name[], header: string | undefined): header is Name {
  return (list as readonly (string | undefined)[]).includes(header);
}
