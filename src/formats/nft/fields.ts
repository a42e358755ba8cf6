/** Fields that the kernel hands to a NIC, and the match fields that they are. */
import { ones } from "../../base/bits.js";
import type { Element } from "../reading/format.js";
import type { MatchDraft } from "../rules/matchDraft.js";
import { notImported, type Word } from "../text/refusal.js";

/** What a rule asks for besides its fields. */
export interface Asked {
  readonly match: MatchDraft;
  readonly device: string;
  /** EtherType after the tag, and IP protocol, as far as the rule says. */
  type?: number;
  protocol?: number;
  tagged: boolean;
}

export interface Header {
  readonly element: Element;
  readonly width: number;
  readonly kind: "number" | "mac" | "ipv4" | "ipv6";
  readonly names?: Readonly<Record<string, number>>;
  readonly ask: (asked: Asked, value: bigint, mask: bigint, word: Word) => void;
}

const TYPES: Readonly<Record<string, number>> = {
  ip: 0x800,
  ip6: 0x86dd,
  arp: 0x806,
  vlan: 0x8100,
  "8021q": 0x8100,
  "8021ad": 0x88a8,
};
const PROTOCOLS: Readonly<Record<string, number>> = {
  tcp: 6,
  udp: 17,
  icmp: 1,
  "ipv6-icmp": 58,
  icmpv6: 58,
  sctp: 132,
  esp: 50,
  ah: 51,
  gre: 47,
};

/** Ports by the names that scripts use most. */
const SERVICES: Readonly<Record<string, number>> = {
  ftp: 21,
  ssh: 22,
  telnet: 23,
  smtp: 25,
  domain: 53,
  tftp: 69,
  http: 80,
  ntp: 123,
  snmp: 161,
  bgp: 179,
  https: 443,
  mdns: 5353,
};

const known = (
  becomes: string,
  width: number,
  kind: Header["kind"],
  ask: Header["ask"],
  names?: Readonly<Record<string, number>>,
): Header => ({ element: { becomes }, width, kind, ask, ...(names === undefined ? {} : { names }) });

function typeIs(asked: Asked, type: number, word: Word): void {
  if (asked.type !== undefined && asked.type !== type) notImported(word, "it matches two protocols: no frame has both");
  asked.type = type;
}

function protocolIs(asked: Asked, protocol: number, word: Word): void {
  if (asked.protocol !== undefined && asked.protocol !== protocol)
    notImported(word, "it matches two protocols: no frame has both");
  asked.protocol = protocol;
}

const address =
  (name: string, type: number): Header["ask"] =>
  (asked, value, mask, word) => {
    typeIs(asked, type, word);
    asked.match.ask(name, value, mask);
  };

const whole = (mask: bigint, width: number, word: Word): void => {
  if (mask !== ones(width)) notImported(word, "it is compared as a whole");
};

const protocolField =
  (type?: number): Header["ask"] =>
  (asked, value, mask, word) => {
    whole(mask, 8, word);
    if (type !== undefined) typeIs(asked, type, word);
    protocolIs(asked, Number(value), word);
  };

const typeField: Header["ask"] = (asked, value, mask, word) => {
  whole(mask, 16, word);
  if (value === 0x8100n && !asked.tagged) asked.tagged = true;
  else if (value === 0x88a8n) notImported(word, "tags of nftables have type 0x8100");
  else typeIs(asked, Number(value), word);
};

const port =
  (protocol: 6 | 17 | undefined, side: "sport" | "dport"): Header["ask"] =>
  (asked, value, mask, word) => {
    if (protocol !== undefined) protocolIs(asked, protocol, word);
    const name = { 6: "tcp", 17: "udp" }[asked.protocol ?? 0];
    if (name === undefined) notImported(word, "no match before it tells TCP from UDP");
    asked.match.ask(`outer.${name}_${side}`, value, mask);
  };

const tag =
  (name: string): Header["ask"] =>
  (asked, value, mask) => {
    asked.tagged = true;
    asked.match.ask(name, value, mask);
  };

export const HEADERS: Readonly<Record<string, Header>> = {
  "ether daddr": known("`outer.dmac`", 48, "mac", (asked, value, mask) => {
    asked.match.ask("outer.dmac", value, mask);
  }),
  "ether saddr": known("`outer.smac`", 48, "mac", (asked, value, mask) => {
    asked.match.ask("outer.smac", value, mask);
  }),
  "ether type": known("`outer.ethertype`, or a tag", 16, "number", typeField, TYPES),
  "vlan id": known("`outer.first_vid`", 12, "number", tag("outer.first_vid")),
  "vlan pcp": known("`outer.first_prio`", 3, "number", tag("outer.first_prio")),
  "vlan type": known(
    "`outer.ethertype` after a tag",
    16,
    "number",
    (asked, value, mask, word) => {
      asked.tagged = true;
      whole(mask, 16, word);
      typeIs(asked, Number(value), word);
    },
    TYPES,
  ),
  "ip saddr": known("`outer.ipv4_src`", 32, "ipv4", address("outer.ipv4_src", 0x800)),
  "ip daddr": known("`outer.ipv4_dst`", 32, "ipv4", address("outer.ipv4_dst", 0x800)),
  "ip protocol": known("`outer.ip_protocol`", 8, "number", protocolField(0x800), PROTOCOLS),
  "ip6 saddr": known("`outer.ipv6_src`", 128, "ipv6", address("outer.ipv6_src", 0x86dd)),
  "ip6 daddr": known("`outer.ipv6_dst`", 128, "ipv6", address("outer.ipv6_dst", 0x86dd)),
  "ip6 nexthdr": known("`outer.ip_protocol`", 8, "number", protocolField(0x86dd), PROTOCOLS),
  "tcp sport": known("`outer.tcp_sport`", 16, "number", port(6, "sport"), SERVICES),
  "tcp dport": known("`outer.tcp_dport`", 16, "number", port(6, "dport"), SERVICES),
  "udp sport": known("`outer.udp_sport`", 16, "number", port(17, "sport"), SERVICES),
  "udp dport": known("`outer.udp_dport`", 16, "number", port(17, "dport"), SERVICES),
  "th sport": known(
    "the source port of the protocol that is matched",
    16,
    "number",
    port(undefined, "sport"),
    SERVICES,
  ),
  "th dport": known(
    "the destination port of the protocol that is matched",
    16,
    "number",
    port(undefined, "dport"),
    SERVICES,
  ),
  "meta protocol": known("`outer.ethertype`, or a tag", 16, "number", typeField, TYPES),
  "meta l4proto": known("`outer.ip_protocol`", 8, "number", protocolField(), PROTOCOLS),
};

/** Matches of the device that a frame came by: a chain has the frames of one. */
export const DEVICE_OF_CHAIN = ["meta iifname", "meta iif"];
