/** What a filter says otherwise: `protocol 802.1Q` for frames of its protocol behind a VLAN tag, a jump to its chain. */
import type { Change } from "../../reading/format.js";

const PROTOCOL = /\bprotocol\s+(ip|ipv6|arp)(?=\s)/d;
const FLOWER = /\bflower(?=\s|$)/d;

const TAG = /^outer\.[cs]vlan_tag$/;

/** The changes of a filter: `protocol 802.1Q ... flower vlan_ethtype ip`; null where it has no such words. */
export function askingTag(text: string, field: string, value: string): readonly Change[] | null {
  if (!TAG.test(field) || value !== "1") return null;
  const [protocol, flower] = [PROTOCOL.exec(text)?.indices, FLOWER.exec(text)?.indices];
  if (protocol?.[1] === undefined || flower?.[0] === undefined) return null;
  const [from, to] = protocol[1];
  const [at, end] = flower[0];
  return [
    { from, to, text: "802.1Q" },
    { from: at, to: end, text: `flower vlan_ethtype ${text.slice(from, to)}` },
  ];
}

const CHAIN = /\bfilter\s+add\s+((?:dev|block)\s+\S+(?:\s+ingress)?)\b[^]*?\bchain\s+(\d+)/;

/** The command that leads frames of a device to the chain of a filter. */
export function gotoChain(text: string): string | null {
  const [, device, chain] = CHAIN.exec(text) ?? [];
  const [, protocol = "all"] = /\bprotocol\s+(\S+)/.exec(text) ?? [];
  if (device === undefined || Number(chain) === 0) return null;
  return `tc filter add ${device} protocol ${protocol} flower action goto chain ${chain}`;
}
