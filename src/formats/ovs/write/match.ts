/** What a rule asks for, as words of OpenFlow flows: several flows where one cannot say it. */
import type { Scenario } from "../../../scenario/index.js";
import type { Term } from "../../../model/match/term.js";
import { fieldNamed } from "../../../model/match/fields.js";
import { formatMac } from "../../../packet/addresses.js";
import { format, fullMask } from "../../../model/match/term.js";
import { NotExported, type Terms } from "../../writing/terms.js";

/** What is known of the frames of a flow. */
export interface Kind {
  readonly type: number | undefined;
  readonly protocol: number | undefined;
  readonly tagged: boolean | undefined;
  /** The port that they came from; undefined: any. */
  readonly from: string | undefined;
}

export interface Matched {
  readonly words: readonly string[];
  readonly kind: Kind;
}

type Bits = Extract<Term, { kind: "bits" }>;

const IPV4 = 0x0800;
const IPV6 = 0x86dd;
const ARP = 0x0806;
const UPLINK = 0xffffn;

/** Fields that are one field of OpenFlow, and the EtherTypes and protocols that have them. */
export const PLAIN: Readonly<Record<string, readonly [name: string, types?: readonly number[], protocol?: number]>> = {
  "outer.smac": ["eth_src"],
  "outer.dmac": ["eth_dst"],
  "outer.ipv4_src": ["ip_src", [IPV4]],
  "outer.ipv4_dst": ["ip_dst", [IPV4]],
  "outer.ipv6_src": ["ipv6_src", [IPV6]],
  "outer.ipv6_dst": ["ipv6_dst", [IPV6]],
  "misc.outer_ipv6_flow_label": ["ipv6_label", [IPV6]],
  "outer.ip_dscp": ["ip_dscp", [IPV4, IPV6]],
  "outer.ip_ecn": ["nw_ecn", [IPV4, IPV6]],
  "outer.ip_ttl_hoplimit": ["nw_ttl", [IPV4, IPV6]],
  "outer.tcp_sport": ["tcp_src", [IPV4, IPV6], 6],
  "outer.tcp_dport": ["tcp_dst", [IPV4, IPV6], 6],
  "outer.tcp_flags": ["tcp_flags", [IPV4, IPV6], 6],
  "outer.udp_sport": ["udp_src", [IPV4, IPV6], 17],
  "outer.udp_dport": ["udp_dst", [IPV4, IPV6], 17],
  "ext.outer_sctp_sport": ["sctp_src", [IPV4, IPV6], 132],
  "ext.outer_sctp_dport": ["sctp_dst", [IPV4, IPV6], 132],
  "misc3.icmp_type": ["icmp_type", [IPV4], 1],
  "misc3.icmp_code": ["icmp_code", [IPV4], 1],
  "misc3.icmpv6_type": ["icmpv6_type", [IPV6], 58],
  "misc3.icmpv6_code": ["icmpv6_code", [IPV6], 58],
};
/** Fields that Open vSwitch compares bit by bit; of others it compares all bits. */
const WHOLE = new Set(["outer.ip_dscp", "outer.ip_ecn", "outer.ip_ttl_hoplimit", "misc3.icmp_type", "misc3.icmp_code"]);
const REGISTER = /^misc2\.metadata_reg_c_(\d)$/;
const ARP_FIELDS: Readonly<Record<number, string>> = { 14: "arp_spa", 24: "arp_tpa" };

/** @throws NotExported */
export function matchedOf(terms: Terms, scenario: Scenario): Matched[] {
  const bits = new Map<string, Bits>();
  for (const [name, term] of terms) {
    if (term.kind === "range") throw new NotExported(`flows compare masks, not the range of ${name}`);
    bits.set(name, term.kind === "any" ? { kind: "bits", mask: 0n, value: 0n } : term);
  }
  const words: string[] = [];
  const from = portOf(bits, scenario, words);
  const tagged = tagOf(bits, words);
  let types = exact(bits, "outer.ethertype");
  const version = take(bits, "outer.ip_version");
  if (version !== undefined && version.mask !== 0n) {
    if (version.mask !== 15n) throw new NotExported("flows ask for a whole IP version");
    types = narrowed(types, [version.value === 4n ? IPV4 : IPV6]);
  } else if (version !== undefined) types = narrowed(types, [IPV4, IPV6]);
  let protocols = exact(bits, "outer.ip_protocol");
  if (protocols !== undefined) types = narrowed(types, [IPV4, IPV6]);
  const frag = take(bits, "outer.frag");
  if (frag !== undefined && frag.mask !== 0n) {
    types = narrowed(types, [IPV4, IPV6]);
  }
  const isFragment = frag !== undefined && frag.mask !== 0n && frag.value === 1n;
  const samples = sampleWords(bits, scenario, isFragment);
  if (samples.type !== undefined) types = narrowed(types, [samples.type]);
  words.push(...samples.words);
  if (frag !== undefined && frag.mask !== 0n && !samples.words.includes("nw_frag=first")) {
    words.push(`nw_frag=${isFragment ? "yes" : "no"}`);
  }
  let lists: readonly (readonly string[])[] = [words];
  const add = (word: string): void => {
    lists = lists.map((list) => [...list, word]);
  };
  for (const [name, { mask, value }] of bits) {
    const [, register] = REGISTER.exec(name) ?? [];
    if (register !== undefined) {
      if (mask !== 0n) add(`reg${register}=0x${value.toString(16)}/0x${mask.toString(16)}`);
      continue;
    }
    const [word, needs, protocol] = PLAIN[name] ?? [];
    if (word === undefined) throw new NotExported(`flows have no field for ${name}`);
    types = needs === undefined ? types : narrowed(types, needs);
    if (protocol !== undefined) {
      protocols = narrowed(protocols, [protocol]);
      if (word !== "tcp_flags" && mask !== 0n && !(frag?.mask === 1n && frag.value === 0n)) {
        throw new NotExported("Open vSwitch takes ports and types of fragments for 0: ask for outer.frag 0 too");
      }
      if (mask === 0n) throw new NotExported(`flows do not ask whether there is ${name}`);
    }
    if (mask === 0n) continue;
    const texts = WHOLE.has(name) ? valuesOf(name, { mask, value }) : [maskedText(name, { mask, value })];
    lists = lists.flatMap((list) => texts.map((text) => [...list, `${word}=${text}`]));
  }
  const kinds = (types ?? [undefined]).flatMap((type) =>
    (protocols ?? [undefined]).map((protocol) => ({ type, protocol })),
  );
  return kinds.flatMap(({ type, protocol }) =>
    lists.map((list) => ({
      words: [
        ...(type === undefined ? [] : [`eth_type=0x${type.toString(16).padStart(4, "0")}`]),
        ...(protocol === undefined ? [] : [`nw_proto=${protocol}`]),
        ...list,
      ],
      kind: { type, protocol, tagged, from },
    })),
  );
}

/** What samples read of ARP and of fragments, as words; they are taken out of `bits`. */
function sampleWords(
  bits: Map<string, Bits>,
  { device }: Scenario,
  isFragment: boolean,
): { words: string[]; type: number | undefined } {
  const words: string[] = [];
  const macs = { arp_sha: { value: 0n, mask: 0n }, arp_tha: { value: 0n, mask: 0n } };
  let type: number | undefined;
  for (const { id, header, level, offset, port } of device?.parser?.samples ?? []) {
    const name = `misc4.prog_sample_field_value_${id}`;
    const found = bits.get(name);
    if (found === undefined || level === "inner" || port !== undefined) continue;
    const { value, mask } = found;
    const [word, high] = MAC_PARTS[offset] ?? [];
    if (header === "arp" && ARP_FIELDS[offset] !== undefined)
      words.push(`${ARP_FIELDS[offset]}=${quad(value)}/${quad(mask)}`);
    else if (header === "arp" && offset === 4 && mask === 0xffffn) words.push(`arp_op=${value}`);
    else if (header === "arp" && word !== undefined && (high === true || (mask & 0xffffn) === 0n)) {
      macs[word].value |= high === true ? value << 16n : value >> 16n;
      macs[word].mask |= high === true ? mask << 16n : mask >> 16n;
    } else if (header === "ipv4" && offset === 4 && mask === 0x1fffn && value === 0n && isFragment)
      words.push("nw_frag=first");
    else continue;
    type = header === "arp" ? ARP : IPV4;
    bits.delete(name);
  }
  for (const [word, { value, mask }] of Object.entries(macs)) {
    if (mask !== 0n) words.push(`${word}=${formatMac(value)}/${formatMac(mask)}`);
  }
  return { words, type };
}

/** Offsets of samples of MAC addresses in ARP; `true`: their first four bytes. */
const MAC_PARTS: Readonly<Record<number, readonly ["arp_sha" | "arp_tha", boolean]>> = {
  8: ["arp_sha", true],
  12: ["arp_sha", false],
  18: ["arp_tha", true],
  22: ["arp_tha", false],
};

function portOf(bits: Map<string, Bits>, { device = {} }: Scenario, words: string[]): string | undefined {
  const { ports = 1 } = device;
  const port = take(bits, "misc.source_vhca_port");
  const source = take(bits, "misc.source_port");
  if (port !== undefined && port.mask !== 15n) throw new NotExported("flows ask for a whole port");
  if (source === undefined || source.mask === 0n) {
    if (port !== undefined) throw new NotExported("a flow asks for a port that frames came from, not were sent on");
    return undefined;
  }
  if (source.mask !== UPLINK) throw new NotExported("flows ask for a whole port");
  const isWire = source.value === UPLINK;
  if (isWire && ports > 1 && port === undefined) throw new NotExported("flows ask for one port of the wire");
  if (!isWire && port !== undefined)
    throw new NotExported("a flow asks for a port that frames came from, not were sent on");
  const name = isWire ? String(port === undefined ? 1n : port.value) : portName(Number(source.value), ports);
  words.push(`in_port=${name}`);
  return name;
}

/** The PF is LOCAL; VFs have the numbers after those of the physical ports. */
export function portName(vport: number, ports: number): string {
  return vport === 0 ? "LOCAL" : String(ports + vport);
}

function tagOf(bits: Map<string, Bits>, words: string[]): boolean | undefined {
  const [first, second] = [take(bits, "outer.cvlan_tag"), take(bits, "outer.svlan_tag")];
  const [vid, prio] = [take(bits, "outer.first_vid"), take(bits, "outer.first_prio")];
  const isOff = (one: Bits | undefined): boolean => one?.mask === 1n && one.value === 0n;
  if (vid !== undefined || prio !== undefined) {
    if (first !== undefined || second !== undefined) throw new NotExported("flows do not ask for the type of a tag");
    const value = 0x1000n | (vid?.value ?? 0n) | ((prio?.value ?? 0n) << 13n);
    const mask = 0x1000n | (vid?.mask ?? 0n) | ((prio?.mask ?? 0n) << 13n);
    words.push(`vlan_tci=0x${value.toString(16)}/0x${mask.toString(16)}`);
    return true;
  }
  if (first === undefined && second === undefined) return undefined;
  if (!isOff(first) || !isOff(second)) throw new NotExported("flows do not ask for the type of a tag");
  words.push("vlan_tci=0x0000/0x1fff");
  return false;
}

function take(bits: Map<string, Bits>, name: string): Bits | undefined {
  const found = bits.get(name);
  bits.delete(name);
  return found;
}

function exact(bits: Map<string, Bits>, name: string): readonly number[] | undefined {
  const found = take(bits, name);
  if (found === undefined) return undefined;
  const field = fieldNamed(name);
  if (field === undefined || found.mask !== fullMask(field)) throw new NotExported(`flows ask for all bits of ${name}`);
  return [Number(found.value)];
}

function narrowed(held: readonly number[] | undefined, to: readonly number[]): readonly number[] {
  return held === undefined ? to : held.filter((one) => to.includes(one));
}

/** Each value of a field that is compared as a whole; few bits are left open. */
function valuesOf(name: string, { mask, value }: Pick<Bits, "mask" | "value">): string[] {
  const field = fieldNamed(name);
  if (field === undefined) throw new NotExported(`there is no field ${name}`);
  const open = fullMask(field) ^ mask;
  const values: bigint[] = [];
  for (let bits = open; ; bits = (bits - 1n) & open) {
    values.push(value | bits);
    if (values.length > MAX_VALUES) throw new NotExported(`flows ask for all bits of ${name}`);
    if (bits === 0n) break;
  }
  return values.map(String);
}

const MAX_VALUES = 16;

/** A value as OpenFlow writes it, with its mask. */
export function maskedText(name: string, { mask, value }: Pick<Bits, "mask" | "value">): string {
  const field = fieldNamed(name);
  if (field === undefined) throw new NotExported(`there is no field ${name}`);
  const text = (bits: bigint): string => (field.kind === "number" ? `0x${bits.toString(16)}` : format(field, bits));
  if (mask === fullMask(field)) return text(value);
  if (WHOLE.has(name)) throw new NotExported(`flows ask for all bits of ${name}`);
  const below = fullMask(field) ^ mask;
  const isPrefix = field.kind === "ipv6" && (below & (below + 1n)) === 0n;
  return `${text(value)}/${isPrefix ? String(field.width - below.toString(2).length) : text(mask)}`;
}

function quad(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((at) => String((bits >> at) & 0xffn)).join(".");
}
