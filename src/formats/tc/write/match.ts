/** What a rule asks for, as keys of flower filters: more than one where it leaves tags or the IP version open. */
import { ones } from "../../../base/bits.js";
import { fieldNamed } from "../../../model/match/fields.js";
import { format, fullMask } from "../../../model/match/term.js";
import { FLOWER_KEYS, ICMP_FIELDS, IP_PROTOCOLS, PORT_FIELDS } from "../fields.js";
import { NotExported, type Terms } from "../../writing/terms.js";

export interface Variant {
  readonly protocol: string;
  readonly keys: readonly string[];
  readonly version: 4 | 6 | undefined;
  readonly l4: "tcp" | "udp" | undefined;
}

const V4 = ["outer.ipv4_src", "outer.ipv4_dst", "misc3.icmp_type", "misc3.icmp_code"];
const V6 = ["outer.ipv6_src", "outer.ipv6_dst", "misc3.icmpv6_type", "misc3.icmpv6_code"];
const IP = ["outer.ip_protocol", "outer.ip_dscp", "outer.ip_ecn", "outer.ip_ttl_hoplimit"];
const TAGS = { C: "802.1Q", S: "802.1ad" } as const;
type Tag = keyof typeof TAGS;
const SHAPES: readonly (readonly Tag[])[] = [[], ["C"], ["S"], ["C", "C"], ["C", "S"], ["S", "C"], ["S", "S"]];
const PORTS = Object.values(PORT_FIELDS).flatMap((one) => {
  return [[`${outer(one)}_sport`, "src_port"] as const, [`${outer(one)}_dport`, "dst_port"] as const];
});
/** Keys that are one match field. */
const DIRECT = ["dst_mac", "src_mac", "vlan_id", "vlan_prio", "cvlan_id", "cvlan_prio", "ip_ttl"] as const;
const HANDLED = new Set([
  ...V4,
  ...V6,
  ...IP,
  ...DIRECT.map((key) => outer(FLOWER_KEYS[key].field)),
  ...PORTS.map(([name]) => name),
  ...["outer.ethertype", "outer.ip_version", "outer.frag", "outer.tcp_flags", "outer.cvlan_tag", "outer.svlan_tag"],
  ...["misc.outer_second_cvlan_tag", "misc.outer_second_svlan_tag", "misc.source_port", "ext.port"],
]);

/** @throws NotExported */
export function variantsOf(terms: Terms): Variant[] {
  for (const name of terms.keys()) if (!HANDLED.has(name)) throw new NotExported(`tc filters have no key for ${name}`);
  const common = [...macKeys(terms)];
  const types = typesOf(terms);
  const shapes = SHAPES.filter((shape) => fits(shape, terms));
  if (types === undefined) return [...open(terms, shapes, common)];
  const variants: Variant[] = [];
  for (const type of types) {
    const keys = [...common, ...l3Keys(terms, type)];
    for (const shape of shapes) {
      const inside = shape.flatMap((_, n) => {
        const next = shape[n + 1];
        return [`${n === 0 ? "" : "c"}vlan_ethtype ${next === undefined ? nameOf(type) : TAGS[next]}`];
      });
      variants.push({
        protocol: shape[0] === undefined ? nameOf(type) : TAGS[shape[0]],
        keys: [...inside, ...tagKeys(terms), ...keys],
        version: type === 0x800 ? 4 : type === 0x86dd ? 6 : undefined,
        l4: l4Of(terms),
      });
    }
  }
  return variants;
}

/** Rules that ask for no EtherType. */
function* open(terms: Terms, shapes: readonly (readonly Tag[])[], common: readonly string[]): Generator<Variant> {
  const rest = { version: undefined, l4: undefined };
  if (shapes.length === SHAPES.length) yield { protocol: "all", keys: common, ...rest };
  else if (shapes.length === 1 && shapes[0]?.length === 0)
    yield { protocol: "all", keys: ["num_of_vlans 0", ...common], ...rest };
  else {
    for (const tag of ["C", "S"] as const) {
      const own = shapes.filter(([first]) => first === tag);
      if (own.length === 0) continue;
      if (own.length === 3) yield { protocol: TAGS[tag], keys: [...tagKeys(terms), ...common], ...rest };
      else {
        for (const [, second] of own) {
          if (second === undefined)
            throw new NotExported("tc filters ask for a single tag only with the type after it");
          yield { protocol: TAGS[tag], keys: [`vlan_ethtype ${TAGS[second]}`, ...tagKeys(terms), ...common], ...rest };
        }
      }
    }
    if (shapes.some((shape) => shape.length === 0))
      throw new NotExported("tc filters ask for tagged or for other frames");
  }
}

/** Whether frames with these tags can match. */
function fits(shape: readonly Tag[], terms: Terms): boolean {
  const [first, second] = shape;
  const is = (name: string, value: boolean): boolean => {
    const term = terms.get(name);
    return term === undefined || term.kind !== "bits" || term.mask === 0n || (term.value === 1n) === value;
  };
  if (!is("outer.cvlan_tag", first === "C") || !is("outer.svlan_tag", first === "S")) return false;
  if (!is("misc.outer_second_cvlan_tag", second === "C") || !is("misc.outer_second_svlan_tag", second === "S"))
    return false;
  if (first === undefined && (terms.has("outer.first_vid") || terms.has("outer.first_prio"))) return false;
  return second !== undefined || !(terms.has("misc.outer_second_vid") || terms.has("misc.outer_second_prio"));
}

/** The EtherTypes that a rule is for; undefined: any. @throws NotExported */
function typesOf(terms: Terms): number[] | undefined {
  const asked = terms.get("outer.ethertype");
  const version = terms.get("outer.ip_version");
  const four = V4.some((name) => terms.has(name));
  const six = V6.some((name) => terms.has(name));
  const needsIp =
    four || six || version !== undefined || IP.some((name) => terms.has(name)) || l4Of(terms, true) !== undefined;
  let types = needsIp ? [0x800, 0x86dd] : undefined;
  if (version !== undefined) {
    if (version.kind !== "bits" || version.mask !== 15n) throw new NotExported("tc filters ask for one IP version");
    types = types?.filter((type) => (type === 0x800 ? 4n : 6n) === version.value);
  }
  if (four) types = types?.filter((type) => type === 0x800);
  if (six) types = types?.filter((type) => type === 0x86dd);
  if (asked === undefined) {
    if (terms.has("outer.frag") && !needsIp) throw new NotExported("tc filters ask for fragments only of IP");
    return types;
  }
  if (asked.kind !== "bits" || asked.mask !== 0xffffn) throw new NotExported("tc filters ask for a whole EtherType");
  const type = Number(asked.value);
  if (type === 0x8100 || type === 0x88a8) return [];
  return types === undefined || types.includes(type) ? [type] : [];
}

/** @throws NotExported */
function l4Of(terms: Terms, withSctp?: false): "tcp" | "udp" | undefined;
function l4Of(terms: Terms, withSctp: true): "tcp" | "udp" | "sctp" | undefined;
function l4Of(terms: Terms, withSctp = false): "tcp" | "udp" | "sctp" | undefined {
  const names = [...terms.keys()].flatMap((name) => /(?:outer\.|outer_)(tcp|udp|sctp)_/.exec(name)?.[1] ?? []);
  const [name] = names as ("tcp" | "udp" | "sctp")[];
  if (name !== undefined) return name === "sctp" && !withSctp ? undefined : name;
  const asked = terms.get("outer.ip_protocol");
  if (asked?.kind !== "bits" || asked.mask !== 0xffn) return undefined;
  return ({ 6: "tcp", 17: "udp" } as const)[Number(asked.value)];
}

function nameOf(type: number): string {
  return { 0x800: "ip", 0x86dd: "ipv6" }[type] ?? `0x${type.toString(16).padStart(4, "0")}`;
}

/** `KEY VALUE`, with a mask where not all bits are asked. */
function bitsKey(terms: Terms, name: string, key: string, isHex = false): string[] {
  const term = terms.get(name);
  const field = fieldNamed(name);
  if (term === undefined || field === undefined || term.kind === "any") return [];
  if (term.kind === "range") throw new NotExported(`tc filters have no ranges of ${name}`);
  const text = (value: bigint): string => (isHex ? `0x${value.toString(16)}` : format(field, value));
  const whole = term.mask === fullMask(field);
  if (term.mask === 0n) return [];
  const mask = field.kind === "number" ? `0x${term.mask.toString(16)}` : maskText(name, term.mask, field.width);
  return [`${key} ${text(term.value)}${whole ? "" : `/${mask}`}`];
}

function maskText(name: string, mask: bigint, width: number): string {
  const below = ones(width) ^ mask;
  if ((below & (below + 1n)) === 0n) return String(width - below.toString(2).length);
  const field = fieldNamed(name);
  if (field?.kind !== "mac") throw new NotExported(`tc filters have prefixes of ${name}, and no other masks`);
  return format(field, mask);
}

/** A key that is one match field. */
function directKey(terms: Terms, key: (typeof DIRECT)[number]): string[] {
  const { field, value } = FLOWER_KEYS[key];
  const name = outer(field);
  const [text] = bitsKey(terms, name, key, value === "byte");
  if (value === "whole" && text?.includes("/") === true)
    throw new NotExported(`tc filters compare all bits of ${name}`);
  return text === undefined ? [] : [text];
}

const macKeys = (terms: Terms): string[] =>
  ["dst_mac" as const, "src_mac" as const].flatMap((key) => directKey(terms, key));

function tagKeys(terms: Terms): string[] {
  return (["vlan_id", "vlan_prio", "cvlan_id", "cvlan_prio"] as const).flatMap((key) => directKey(terms, key));
}

function outer(field: string): string {
  return field.replace("{}", "outer");
}

function l3Keys(terms: Terms, type: number): string[] {
  if (type !== 0x800 && type !== 0x86dd) return [];
  const ip = type === 0x800 ? "ipv4" : "ipv6";
  return [
    ...protocolKey(terms, type),
    ...bitsKey(terms, `outer.${ip}_src`, "src_ip"),
    ...bitsKey(terms, `outer.${ip}_dst`, "dst_ip"),
    ...tosKey(terms),
    ...directKey(terms, "ip_ttl"),
    ...fragKey(terms),
    ...PORTS.flatMap(([name, key]) => portKey(terms, name, key)),
    ...flagsKey(terms),
    ...Object.values(ICMP_FIELDS).flatMap((name) => [
      ...bitsKey(terms, `${name}_type`, "type"),
      ...bitsKey(terms, `${name}_code`, "code"),
    ]),
  ];
}

/** The protocol that is asked, or that other fields belong to. */
function protocolKey(terms: Terms, type: number): string[] {
  const l4 = l4Of(terms, true);
  const icmp = [...terms.keys()].some((name) => name.startsWith("misc3.icmp"));
  const needed = l4 === undefined ? (icmp ? (type === 0x800 ? 1 : 58) : undefined) : IP_PROTOCOLS[l4];
  const asked = terms.get("outer.ip_protocol");
  if (asked === undefined || asked.kind === "any")
    return needed === undefined ? [] : [`ip_proto 0x${needed.toString(16)}`];
  if (asked.kind !== "bits" || asked.mask !== 0xffn) throw new NotExported("tc filters compare the whole IP protocol");
  if (needed !== undefined && Number(asked.value) !== needed)
    throw new NotExported("no frame has this IP protocol and these fields");
  return [`ip_proto 0x${asked.value.toString(16)}`];
}

function tosKey(terms: Terms): string[] {
  const parts = [terms.get("outer.ip_dscp"), terms.get("outer.ip_ecn")];
  let value = 0n;
  let mask = 0n;
  parts.forEach((term, n) => {
    if (term?.kind === "range") throw new NotExported("tc filters have no ranges of ip_dscp");
    if (term?.kind !== "bits") return;
    value |= n === 0 ? term.value << 2n : term.value;
    mask |= n === 0 ? term.mask << 2n : term.mask;
  });
  if (mask === 0n) return [];
  return [`ip_tos 0x${value.toString(16)}${mask === 0xffn ? "" : `/0x${mask.toString(16)}`}`];
}

function fragKey(terms: Terms): string[] {
  const term = terms.get("outer.frag");
  return term?.kind === "bits" && term.mask === 1n ? [`ip_flags ${term.value === 1n ? "frag" : "nofrag"}`] : [];
}

function portKey(terms: Terms, name: string, key: string): string[] {
  const term = terms.get(name);
  return term?.kind === "range" ? [`${key} ${term.low}-${term.high}`] : bitsKey(terms, name, key);
}

function flagsKey(terms: Terms): string[] {
  const term = terms.get("outer.tcp_flags");
  if (term === undefined || term.kind === "any") return [];
  if (term.kind === "range") throw new NotExported("tc filters have no ranges of tcp_flags");
  return [`tcp_flags 0x${term.value.toString(16)}/0x${term.mask.toString(16)}`];
}
