/** The items of testpmd's patterns. */
import type { Element } from "../../reading/format.js";
import { ONE_KNOWN, type ItemField, type ItemKind } from "./kind.js";
import { METADATA_ITEMS } from "./metadata.js";
import { PACKET_ITEMS } from "./packet.js";
import { TUNNEL_ITEMS } from "./tunnels.js";

/** Items that have an equal. */
export const ITEMS: Readonly<Record<string, ItemKind>> = { ...METADATA_ITEMS, ...PACKET_ITEMS, ...TUNNEL_ITEMS };

/** Items of DPDK 22.11 to 25 that have no equal, and why. */
export const REFUSED_ITEMS: Readonly<Record<string, string>> = {
  invert: "a rule cannot match what others do not",
  raw: "bytes at any place: no match field has them",
  fuzzy: "every match of the device is exact",
  mark: "no match field reads the tag of a frame",
  e_tag: ONE_KNOWN,
  arp_eth_ipv4: "no match field has ARP; ask for eth type 0x0806",
  ipv6_ext: "no match field says that an extension header is there",
  icmp6_nd_opt: ONE_KNOWN,
  icmp6_nd_opt_sla_eth: ONE_KNOWN,
  icmp6_nd_opt_tla_eth: ONE_KNOWN,
  gtpc: "the parser of the device reads GTP on UDP port 2152 only",
  pppoes: ONE_KNOWN,
  pppoed: ONE_KNOWN,
  pppoe_proto_id: ONE_KNOWN,
  higig2: ONE_KNOWN,
  l2tpv3oip: ONE_KNOWN,
  ah: "no match field has the SPI of AH",
  pfcp: ONE_KNOWN,
  ecpri: ONE_KNOWN,
  flex: "its layout is in a file of its own",
  l2tpv2: ONE_KNOWN,
  ppp: ONE_KNOWN,
  ipv6_routing_ext: "no match field has the routing header of IPv6",
  nsh: ONE_KNOWN,
  tx_queue: "no match field has the queue that a frame was sent from",
  aggr_affinity: "the ports of a device are not bonded",
  quota: "quotas are objects of the driver",
  ptype: "the device numbers no kinds of packets",
  random: "every match of the device is of the frame",
  compare: "two fields cannot be compared with each other",
};

export const ITEM_NAMES: readonly string[] = [...Object.keys(ITEMS), ...Object.keys(REFUSED_ITEMS), "end"];

/** The items as elements of the page. */
export const ITEM_ELEMENTS: Readonly<Record<string, Element>> = {
  ...Object.fromEntries(Object.entries(ITEMS).map(([name, item]) => [name, { becomes: described(item) }])),
  ...Object.fromEntries(Object.entries(REFUSED_ITEMS).map(([name, reason]) => [name, { refused: reason }])),
};

function described({ becomes, fields }: ItemKind): string {
  const parts = Object.entries(fields).map(([name, field]) => `\`${name}\`: ${fieldText(field)}`);
  return parts.length === 0 ? becomes : `${becomes}. ${parts.join("; ")}`;
}

function fieldText({ to: pieces = [], becomes, refused: reason }: ItemField): string {
  if (reason !== undefined) return `refused, ${reason}`;
  if (becomes !== undefined) return becomes;
  return pieces.map(({ to: name }) => `\`${plain(name)}\``).join(", ");
}

function plain(name: string): string {
  return name.startsWith("{}.") ? name.slice(3) : name.replace("MPLS", "misc2.outer_first_mpls").replace("{}", "outer");
}
