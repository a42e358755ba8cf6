/** A header in one line: what people look for first, as tcpdump and Wireshark have it. */
import {
  ARP_OPERATION_NAMES,
  ETHERTYPE_NAMES,
  FAMILY_NAMES,
  GPE_NAMES,
  PROTOCOL_NAMES,
  type Names,
} from "../numbers.js";
import { addressText, flagsSet, hexNumber, shortHex } from "./fieldText.js";
import { IPV4_FLAGS, TCP_FLAGS, type LaidOutHeader } from "../layout.js";
import type { TreeField, TreeNode } from "./types.js";

/** Fields of one header, by name. */
class Fields {
  readonly #fields: readonly TreeField[];
  constructor(node: TreeNode) {
    this.#fields = node.fields;
  }

  /** Of two fields of one name, the later one. */
  #get(name: string): TreeField | undefined {
    for (let i = this.#fields.length - 1; i >= 0; i--) if (this.#fields[i]?.name === name) return this.#fields[i];
    return undefined;
  }

  number(name: string): number {
    const value = this.#get(name)?.value;
    return typeof value === "number" ? value : 0;
  }

  bytes(name: string): Uint8Array {
    const value = this.#get(name)?.value;
    return value instanceof Uint8Array ? value : new Uint8Array();
  }

  text(name: string): string {
    return this.#get(name)?.text ?? "";
  }

  has(name: string): boolean {
    return this.#get(name) !== undefined;
  }

  /** `echo request` of `8 (echo request)`; the text where it says no more than the number. */
  meaning(name: string): string {
    const text = this.text(name);
    return text.endsWith(")") && text.includes("(") ? text.slice(text.indexOf("(") + 1, -1) : text;
  }

  /** `tcp`, or the number where it has no name. */
  named(name: string, names: Names): string {
    return names[this.number(name)] ?? this.text(name);
  }

  /** `name value`, nothing where the value is 0 or not there. */
  unlessZero(name: string, shown = name): string[] {
    const value = this.#get(name)?.value ?? 0;
    return value === 0 || value === 0n ? [] : [`${shown} ${this.text(name)}`];
  }

  options(): string[] {
    return this.text("options") === "" ? [] : [`[${this.text("options")}]`];
  }
}

type Summary = (fields: Fields) => readonly string[];

const ends = (f: Fields): string => `${f.text("source")} > ${f.text("destination")}`;
const ports = (f: Fields): string => `${f.number("source_port")} > ${f.number("destination_port")}`;
const next = (f: Fields): string => f.named("next_header", PROTOCOL_NAMES);
const type = (f: Fields, name = "type"): string =>
  f.number(name) < 0x600 ? `length ${f.number(name)}` : f.named(name, ETHERTYPE_NAMES);
/** A bare number would be read as a value without a name. */
const gpeProtocol = (f: Fields): string[] => {
  const name = GPE_NAMES[f.number("next_protocol")];
  return name === undefined ? [`next_protocol ${f.number("next_protocol")}`] : [name];
};
const traffic = (f: Fields): string[] => [...f.unlessZero("dscp"), ...f.unlessZero("ecn")];

/** tcpdump's letters. */
const LETTERS: Readonly<Record<(typeof TCP_FLAGS)[number], string>> = {
  ns: "N",
  cwr: "W",
  ece: "E",
  urg: "U",
  ack: ".",
  psh: "P",
  rst: "R",
  syn: "S",
  fin: "F",
};

/** Texts of all values, made when they are first met. */
const FLAG_TEXTS: string[] = [];

/** `[S.]`, `[none]`. */
export function tcpFlags(flags: number): string {
  const set = flagsSet(flags, TCP_FLAGS) as (typeof TCP_FLAGS)[number][];
  const order = [...set].sort((a, b) => "FSRPUEWN.".indexOf(LETTERS[a]) - "FSRPUEWN.".indexOf(LETTERS[b]));
  return set.length === 0 ? "[none]" : `[${order.map((name) => LETTERS[name]).join("")}]`;
}

function fragment(f: Fields): string[] {
  const offset = f.number("fragment_offset");
  const more = (f.number("flags") & 1) === 1 || f.number("m") === 1;
  if (offset === 0 && !more) return [];
  return [`fragment ${f.text("identification")} at ${8 * offset}${more ? "+" : ", the last"}`];
}

const icmp: Summary = (f) => [
  f.has("identifier") ? f.meaning("type") : `type ${f.text("type")}`,
  ...f.unlessZero("code"),
  ...(f.has("identifier") ? [`id ${f.number("identifier")}`, `seq ${f.number("sequence")}`] : []),
];

const cooked: Summary = (f) => [f.meaning("packet_type"), cookedAddress(f), type(f, "protocol")];

function cookedAddress(f: Fields): string {
  const bytes = f.bytes("address").subarray(0, f.number("address_length"));
  return addressText(bytes) ?? (bytes.length === 0 ? "no address" : shortHex(bytes));
}

const SUMMARIES: Readonly<Record<LaidOutHeader, Summary>> = {
  ethernet: (f) => [ends(f), type(f)],
  vlan: (f) => [`vid ${f.number("vid")}`, ...f.unlessZero("pcp"), ...f.unlessZero("dei"), type(f)],
  loopback: (f) => [`family ${f.named("family", FAMILY_NAMES)}`],
  linux_cooked: cooked,
  linux_cooked_v2: (f) => [...cooked(f), `interface ${f.number("interface")}`],
  arp: (f) => [
    f.named("operation", ARP_OPERATION_NAMES),
    `${f.text("sender_protocol")} (${f.text("sender_hardware")}) > ${f.text("target_protocol")} (${f.text("target_hardware")})`,
  ],
  ipv4: (f) => [
    ends(f),
    `ttl ${f.number("ttl")}`,
    ...traffic(f),
    ...fragment(f),
    ...flagsSet(f.number("flags"), IPV4_FLAGS).filter((name) => name === "df"),
    f.named("protocol", PROTOCOL_NAMES),
    `length ${f.number("total_length")}`,
    ...f.options(),
  ],
  ipv6: (f) => [
    ends(f),
    `hop limit ${f.number("hop_limit")}`,
    ...traffic(f),
    ...f.unlessZero("flow_label", "flow"),
    next(f),
    `length ${f.number("payload_length")}`,
  ],
  ipv6_hop_by_hop: (f) => [...f.options(), next(f)],
  ipv6_destination: (f) => [...f.options(), next(f)],
  ipv6_routing: (f) => [
    `type ${f.text("type")}`,
    `segments left ${f.number("segments_left")}`,
    ...(f.has("data") ? [`[${f.text("data").replace(/^word \w+(, )?/, "")}]`] : []),
    next(f),
  ],
  ipv6_fragment: (f) => [...(fragment(f).length === 0 ? [`atomic ${f.text("identification")}`] : fragment(f)), next(f)],
  ah: (f) => [`spi ${f.text("spi")}`, `seq ${f.number("sequence")}`, next(f)],
  tcp: (f) => [
    `${ports(f)} ${(FLAG_TEXTS[f.number("flags")] ??= tcpFlags(f.number("flags")))}`,
    `seq ${f.number("sequence")}`,
    ...((f.number("flags") & 0x10) === 0 ? [] : [`ack ${f.number("acknowledgement")}`]),
    `win ${f.number("window")}`,
    ...f.unlessZero("urgent"),
    ...f.options(),
  ],
  udp: (f) => [ports(f), `length ${f.number("length")}`],
  icmp,
  icmpv6: icmp,
  sctp: (f) => [ports(f), `tag ${f.text("verification_tag")}`],
  vxlan: (f) => [`vni ${f.number("vni")}`, ...(f.number("flags") === 8 ? [] : [`flags ${f.text("flags")}`])],
  vxlan_gpe: (f) => [
    `vni ${f.number("vni")}`,
    ...(f.number("flags") === 12 ? [] : [`flags ${f.text("flags")}`]),
    ...gpeProtocol(f),
  ],
  geneve: (f) => [
    `vni ${f.number("vni")}`,
    ...(f.number("oam") === 1 ? ["oam"] : []),
    ...(f.number("critical") === 1 ? ["critical"] : []),
    type(f, "protocol_type"),
    ...f.options(),
  ],
  gre: (f) => [
    ...f.unlessZero("version"),
    ...["key", "sequence", "acknowledgement", "checksum"].flatMap((name) =>
      f.has(name) ? [`${name} ${f.text(name).replace(/ \(.*/, "")}`] : [],
    ),
    ...f.unlessZero("routing"),
    type(f, "protocol_type"),
  ],
  gtpu: (f) => [
    f.meaning("message_type"),
    `teid ${f.text("teid")}`,
    ...(f.number("s") === 1 ? [`seq ${f.number("sequence")}`] : []),
    ...(f.number("pn") === 1 ? [`n-pdu ${f.number("n_pdu")}`] : []),
    `length ${f.number("length")}`,
  ],
  gtpu_extension: (f) => [f.text("content"), `next ${f.meaning("next_extension")}`],
  mpls: (f) => [
    `label ${f.number("label")}`,
    ...f.unlessZero("exp"),
    `ttl ${f.number("ttl")}`,
    ...(f.number("s_bos") === 1 ? ["bottom of stack"] : []),
  ],
  esp: (f) => [`spi ${f.text("spi")}`, `seq ${f.number("sequence")}`],
  bth: (f) => [
    `opcode ${f.text("opcode")}`,
    `qp ${f.text("dst_qp")}`,
    `psn ${f.number("psn")}`,
    ...(f.number("a") === 1 ? ["ack wanted"] : []),
  ],
  macsec: (f) => [
    `an ${f.number("an")}`,
    `pn ${f.number("packet_number")}`,
    ...f.unlessZero("short_length", "short length"),
    ...(f.has("sci") ? [`sci ${f.text("sci")}`] : []),
    ...(f.number("e") === 1 ? ["encrypted"] : []),
  ],
  nsh: (f) => [`spi ${f.number("spi")}`, `si ${f.number("si")}`, `ttl ${f.number("ttl")}`, ...gpeProtocol(f)],
};

/** `10.0.0.1 > 10.0.0.2`, `ttl 64`, `tcp`, `length 40`: joined by commas they are the line. */
export function summaryOf(node: TreeNode): readonly string[] {
  const summary = (SUMMARIES as Readonly<Record<string, Summary>>)[node.header];
  if (summary !== undefined) return summary(new Fields(node));
  const length = `${node.length} ${node.length === 1 ? "byte" : "bytes"}`;
  return node.header === "unlisted" ? ["more headers", length] : [length];
}

/** `bad checksum 0x1234 (0x1235)`, where a checksum is known to be wrong. */
export function faultsOf(node: TreeNode): string[] {
  const faults: string[] = [];
  for (const field of node.fields) {
    const { name, bits, should } = field;
    if (should === undefined || typeof field.value !== "number") continue;
    faults.push(`bad ${name} ${hexNumber(field.value, bits)} (${hexNumber(should, bits)})`);
  }
  return faults;
}
