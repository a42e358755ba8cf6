/** Expressions of nftables that the kernel hands to a NIC: what rules match. */
import { ones } from "../../../base/bits.js";
import type { Element } from "../../reading/format.js";
import type { MatchDraft } from "../../rules/matchDraft.js";
import { addressOf, prefixMask } from "../../text/numbers.js";
import { notImported, type Word } from "../../text/refusal.js";
import { NO_MATCH, NO_SETS } from "./elements.js";

/** Values of JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** What a rule asks for besides its fields. */
export interface Asked {
  readonly match: MatchDraft;
  readonly device: string;
  /** EtherType after the tag, and IP protocol, as far as the rule says. */
  type?: number;
  protocol?: number;
  tagged: boolean;
}

interface Header {
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
  if (asked.type !== undefined && asked.type !== type)
    notImported(word, "it asks for two protocols: no frame has both");
  asked.type = type;
}

function protocolIs(asked: Asked, protocol: number, word: Word): void {
  if (asked.protocol !== undefined && asked.protocol !== protocol)
    notImported(word, "it asks for two protocols: no frame has both");
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
    if (name === undefined) notImported(word, "whether it is a port of TCP or of UDP is not asked before it");
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
  "th sport": known("the source port of the protocol that is asked", 16, "number", port(undefined, "sport"), SERVICES),
  "th dport": known(
    "the destination port of the protocol that is asked",
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

/** Reads `{ match: { op, left, right } }`. @throws NotImported */
export function askMatch(asked: Asked, expression: Json, word: Word): void {
  const { op, left, right } = objectOf(expression);
  if (op !== "==" && op !== "in") notImported(word, `the kernel hands equal values to a NIC, not "${text(op)}"`);
  const { name, mask: masked } = leftOf(left, word);
  if (DEVICE_OF_CHAIN.includes(name)) {
    if (right !== asked.device) notImported(word, `the chain is for frames of ${asked.device}`);
    return;
  }
  const header = HEADERS[name];
  if (header === undefined) return notImported({ ...word, text: name }, NO_MATCH);
  const full = (1n << BigInt(header.width)) - 1n;
  const mask = masked === undefined ? full : numberIn(masked, header, { ...word, text: text(masked) });
  const { prefix } = objectOf(right);
  if (prefix !== undefined) {
    const { addr, len } = objectOf(prefix);
    const value = numberIn(addr, header, { ...word, text: text(addr) });
    header.ask(asked, value, prefixMask(prefixLength(len, header.width, word), header.width), word);
    return;
  }
  if (typeof right === "object" || (typeof right === "string" && right.startsWith("@"))) {
    notImported({ ...word, text: text(right) }, NO_SETS);
  }
  header.ask(asked, numberIn(right, header, { ...word, text: text(right) }), mask, word);
}

function leftOf(left: Json | undefined, word: Word): { name: string; mask?: Json | undefined } {
  const { payload, meta, "&": and } = objectOf(left);
  if (Array.isArray(and)) return { ...leftOf(and[0] as Json, word), mask: and[1] as Json };
  if (payload !== undefined) {
    const { protocol, field } = objectOf(payload);
    return { name: `${text(protocol)} ${text(field)}` };
  }
  if (meta !== undefined) return { name: `meta ${text(objectOf(meta)["key"])}` };
  return notImported({ ...word, text: text(left) }, NO_MATCH);
}

function prefixLength(value: Json | undefined, width: number, word: Word): number {
  if (isWhole(value) && value <= width) return value;
  return notImported({ ...word, text: text(value) }, `a prefix has 0 to ${width} bits`);
}

function isWhole(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function numberIn(value: Json | undefined, { kind, width, names }: Header, word: Word): bigint {
  if (typeof value === "string") {
    if (kind !== "number") return addressOf(word, kind);
    const named = names?.[value];
    if (named !== undefined) return BigInt(named);
  }
  const number =
    typeof value === "number"
      ? value
      : typeof value === "string" && /^(0x[\da-f]+|\d+)$/i.test(value)
        ? Number(value)
        : NaN;
  if (!isWhole(number) || number >= 2 ** width)
    notImported(word, `it is a number of ${width} bits, or a name: ${Object.keys(names ?? {}).join(", ")}`);
  return BigInt(number);
}

/** The keys of an object; none of another value. */
export function objectOf(value: Json | undefined): { readonly [key: string]: Json | undefined } {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as { [key: string]: Json }) : {};
}

export function text(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
