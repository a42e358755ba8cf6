/** Fields of ethtool's rules: their names in commands and in listings, and what they ask for. */
import type { Element } from "../reading/format.js";
import type { MatchDraft } from "../rules/matchDraft.js";
import { addressOf, bigOf } from "../text/numbers.js";
import { notImported, type Word } from "../text/refusal.js";

export interface FlowType {
  readonly title: string;
  readonly version?: 4 | 6;
  readonly protocol?: number;
  readonly ports?: "tcp" | "udp" | "sctp";
}

const ip = (version: 4 | 6, name: string, protocol: number, ports?: "tcp" | "udp" | "sctp"): FlowType => {
  return { title: `${name} over IPv${version}`, version, protocol, ...(ports === undefined ? {} : { ports }) };
};

export const FLOW_TYPES: Readonly<Record<string, FlowType>> = {
  ether: { title: "Raw Ethernet" },
  ip4: { title: "Raw IPv4", version: 4 },
  tcp4: ip(4, "TCP", 6, "tcp"),
  udp4: ip(4, "UDP", 17, "udp"),
  sctp4: ip(4, "SCTP", 132, "sctp"),
  ah4: ip(4, "IPSEC AH", 51),
  esp4: ip(4, "IPSEC ESP", 50),
  ip6: { title: "Raw IPv6", version: 6 },
  tcp6: ip(6, "TCP", 6, "tcp"),
  udp6: ip(6, "UDP", 17, "udp"),
  sctp6: ip(6, "SCTP", 132, "sctp"),
  ah6: ip(6, "IPSEC AH", 51),
  esp6: ip(6, "IPSEC ESP", 50),
};

type Kind = "mac" | "ip" | "number";
/** `mask` has a 1 for each bit that is compared. */
type Ask = (match: MatchDraft, type: FlowType, value: bigint, mask: bigint, word: Word) => void;

export interface RuleField {
  readonly element: Element;
  /** Its name in `ethtool -n`. */
  readonly listed: string;
  readonly kind: Kind;
  readonly width: number;
  readonly ask?: Ask;
}

const field = (listed: string, kind: Kind, width: number, becomes: string, ask: Ask): RuleField => {
  return { element: { becomes }, listed, kind, width, ask };
};
const no = (listed: string, width: number, refused: string): RuleField => {
  return { element: { refused }, listed, kind: "number", width };
};

const to =
  (name: string): Ask =>
  (match, _type, value, mask) => {
    match.ask(name, value, mask);
  };

const address =
  (side: "src" | "dst"): Ask =>
  (match, { version }, value, mask, word) => {
    if (version === undefined) notImported(word, "addresses need a flow type of IPv4 or IPv6");
    match.ask(`outer.ipv${version}_${side}`, value, mask);
  };

const port =
  (side: "sport" | "dport"): Ask =>
  (match, { ports }, value, mask, word) => {
    if (ports === undefined) return notImported(word, "ports need a flow type of TCP, UDP or SCTP");
    match.ask(ports === "sctp" ? `ext.outer_sctp_${side}` : `outer.${ports}_${side}`, value, mask);
  };

/** The byte of DSCP and ECN. */
const service: Ask = (match, _type, value, mask) => {
  if (mask >> 2n !== 0n) match.ask("outer.ip_dscp", value >> 2n, mask >> 2n);
  if ((mask & 3n) !== 0n) match.ask("outer.ip_ecn", value & 3n, mask & 3n);
};

/** The whole tag: priority, DEI and VLAN. */
const vlan: Ask = (match, _type, value, mask) => {
  if ((mask & 0xfffn) !== 0n) match.ask("outer.first_vid", value & 0xfffn, mask & 0xfffn);
  if (((mask >> 12n) & 1n) !== 0n) match.ask("outer.first_cfi", (value >> 12n) & 1n);
  if (mask >> 13n !== 0n) match.ask("outer.first_prio", value >> 13n, mask >> 13n);
};

const tagType: Ask = (match, _type, value, mask, word) => {
  if (mask !== 0xffffn) notImported(word, "the type of a tag is compared as a whole");
  if (value !== 0x8100n && value !== 0x88a8n) notImported(word, "a tag has type 0x8100 or 0x88a8");
  match.ask(value === 0x8100n ? "outer.cvlan_tag" : "outer.svlan_tag", 1);
};

const spi: Ask = (match, { protocol }, value, mask, word) => {
  if (protocol !== 50) notImported(word, "the device matches the SPI of ESP, not that of AH");
  match.ask("misc.outer_esp_spi", value, mask);
};

export const RULE_FIELDS: Readonly<Record<string, RuleField>> = {
  src: field("Src MAC addr", "mac", 48, "`outer.smac`", to("outer.smac")),
  dst: field("Dest MAC addr", "mac", 48, "`outer.dmac`", to("outer.dmac")),
  proto: field("Ethertype", "number", 16, "`outer.ethertype`", to("outer.ethertype")),
  "src-ip": field("Src IP addr", "ip", 0, "`outer.ipv4_src`, `outer.ipv6_src`", address("src")),
  "dst-ip": field("Dest IP addr", "ip", 0, "`outer.ipv4_dst`, `outer.ipv6_dst`", address("dst")),
  tos: field("TOS", "number", 8, "`outer.ip_dscp`, `outer.ip_ecn`", service),
  tclass: field("Traffic Class", "number", 8, "`outer.ip_dscp`, `outer.ip_ecn`", service),
  l4proto: field("Protocol", "number", 8, "`outer.ip_protocol`", to("outer.ip_protocol")),
  "src-port": field("Src port", "number", 16, "the source port of the flow type", port("sport")),
  "dst-port": field("Dest port", "number", 16, "the destination port of the flow type", port("dport")),
  spi: field("SPI", "number", 32, "`misc.outer_esp_spi`; of AH it is refused", spi),
  "vlan-etype": field("VLAN EtherType", "number", 16, "`outer.cvlan_tag`, `outer.svlan_tag`", tagType),
  vlan: field("VLAN", "number", 16, "`outer.first_vid`, `outer.first_prio`, `outer.first_cfi`", vlan),
  "dst-mac": field("Dest MAC addr", "mac", 48, "`outer.dmac`", to("outer.dmac")),
  l4data: no("L4 bytes", 32, "the device does not match the first bytes after an arbitrary IP header"),
  "user-def": no("User-defined", 64, "the meaning of the bits depends on the driver"),
};

/** Reads a value or a mask of a field. @throws NotImported */
export function valueOf({ kind, width }: RuleField, { version = 4 }: FlowType, word: Word, what: string): bigint {
  if (kind === "mac") return addressOf(word, "mac");
  if (kind === "ip") return addressOf(word, version === 4 ? "ipv4" : "ipv6");
  return bigOf(word, what, width);
}

/** Every bit of a field. */
export function allBits({ kind, width }: RuleField, { version = 4 }: FlowType): bigint {
  return (1n << BigInt(kind === "ip" ? (version === 4 ? 32 : 128) : width)) - 1n;
}

/** Asks for the headers of a flow type. */
export function askType(match: MatchDraft, { version, protocol }: FlowType): void {
  if (version !== undefined) match.ask("outer.ip_version", version);
  if (protocol !== undefined) match.ask("outer.ip_protocol", protocol);
}
