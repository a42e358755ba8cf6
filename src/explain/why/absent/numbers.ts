/** Numbers that announce headers, as sentences name them. */
import { PROTOCOL_IPV4, PROTOCOL_IPV6, PROTOCOL_NONE } from "../../../abi/protocols.js";
import { etherTypeName, protocolName } from "../../../headers/names.js";

/** Protocols whose packets have other names than their headers. */
const PACKETS: Readonly<Record<number, string>> = {
  [PROTOCOL_IPV4]: "IPv4 in IP",
  [PROTOCOL_IPV6]: "IPv6 in IP",
  [PROTOCOL_NONE]: "without a next header",
};

/** "0x0800". */
export function hex4(value: number): string {
  return `0x${value.toString(16).padStart(4, "0")}`;
}

/** What a packet of an IP protocol is: "UDP (ip_protocol 17)", or "ip_protocol 99". */
export function protocolText(protocol: number): string {
  const name = PACKETS[protocol] ?? protocolName(protocol);
  return name === undefined ? `ip_protocol ${protocol}` : `${name} (ip_protocol ${protocol})`;
}

/** What a frame of an EtherType is: "ARP (EtherType 0x0806)", or "EtherType 0x1234". */
export function ethertypeText(ethertype: number): string {
  const name = etherTypeName(ethertype);
  return name === undefined ? `EtherType ${hex4(ethertype)}` : `${name} (EtherType ${hex4(ethertype)})`;
}
