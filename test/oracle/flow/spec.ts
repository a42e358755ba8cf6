// Reference of flows, part 1: the specs of a flow, written from the manual page ibv_create_flow(3)
// and docs/flows.md. Each spec becomes a list of terms over the fields of the reference parser.

import { type Fields, type Term, termMatches } from "../walk/match.js";
import { type Level } from "../wire/packet.js";

/** enum ibv_flow_spec_type. */
export const SPEC = {
  ETH: 0x20,
  IPV4: 0x30,
  IPV6: 0x31,
  IPV4_EXT: 0x32,
  ESP: 0x34,
  TCP: 0x40,
  UDP: 0x41,
  VXLAN_TUNNEL: 0x50,
  GRE: 0x51,
  MPLS: 0x60,
  ACTION_TAG: 0x1000,
  ACTION_DROP: 0x1001,
  ACTION_COUNT: 0x1003,
} as const;
export const INNER = 0x100;

/** The fields of a filter in C order, with their widths in bits. */
export const FILTERS: ReadonlyMap<number, Readonly<Record<string, number>>> = new Map(
  Object.entries({
    [SPEC.ETH]: { dst_mac: 48, src_mac: 48, ether_type: 16, vlan_tag: 16 },
    [SPEC.IPV4]: { src_ip: 32, dst_ip: 32 },
    [SPEC.IPV4_EXT]: { src_ip: 32, dst_ip: 32, proto: 8, tos: 8, ttl: 8, flags: 8 },
    [SPEC.IPV6]: { src_ip: 128, dst_ip: 128, flow_label: 32, next_hdr: 8, traffic_class: 8, hop_limit: 8 },
    [SPEC.ESP]: { spi: 32, seq: 32 },
    [SPEC.TCP]: { dst_port: 16, src_port: 16 },
    [SPEC.UDP]: { dst_port: 16, src_port: 16 },
    [SPEC.GRE]: { c_ks_res0_ver: 16, protocol: 16, key: 32 },
    [SPEC.VXLAN_TUNNEL]: { tunnel_id: 32 },
    [SPEC.MPLS]: { label: 32 },
  }).map(([type, fields]) => [Number(type), fields]),
);

export type Filter = Readonly<Record<string, bigint>>;

/** A spec: a filter, whose omitted fields are 0, or an action. */
export interface FlowSpec {
  type: number;
  val?: Filter;
  mask?: Filter;
  /** ACTION_TAG */
  tag_id?: number;
  /** ACTION_COUNT: the name of a counters object. */
  counters?: string;
}

/** Bits of a field: `width` bits of `part`, starting at bit `from` (0 is the lowest). */
type Slice = readonly [field: string, from: number, width: number];

/** Fields of a level that are in groups of their own. */
function grouped(level: Level): Record<"flags" | "label" | "spi" | "seq", string> {
  return {
    flags: `ext.${level}_ipv4_flags`,
    label: `misc.${level}_ipv6_flow_label`,
    spi: `misc.${level}_esp_spi`,
    seq: `ext.${level}_esp_seq`,
  };
}

const TRAFFIC_CLASS = (level: Level): Slice[] => [
  [`${level}.ip_dscp`, 2, 6],
  [`${level}.ip_ecn`, 0, 2],
];

/** The parsed fields for the bits of a filter field, by spec type and name. */
function slicesIn(level: Level): ReadonlyMap<string, Slice[]> {
  const { flags, label, spi, seq } = grouped(level);
  const slices: Record<string, Slice[]> = {
    [`${SPEC.ETH} dst_mac`]: [[`${level}.dmac`, 0, 48]],
    [`${SPEC.ETH} src_mac`]: [[`${level}.smac`, 0, 48]],
    [`${SPEC.ETH} ether_type`]: [[`${level}.ethertype`, 0, 16]],
    [`${SPEC.ETH} vlan_tag`]: [
      [`${level}.first_prio`, 13, 3],
      [`${level}.first_cfi`, 12, 1],
      [`${level}.first_vid`, 0, 12],
    ],
    [`${SPEC.IPV4} src_ip`]: [[`${level}.ipv4_src`, 0, 32]],
    [`${SPEC.IPV4} dst_ip`]: [[`${level}.ipv4_dst`, 0, 32]],
    [`${SPEC.IPV4_EXT} src_ip`]: [[`${level}.ipv4_src`, 0, 32]],
    [`${SPEC.IPV4_EXT} dst_ip`]: [[`${level}.ipv4_dst`, 0, 32]],
    [`${SPEC.IPV4_EXT} proto`]: [[`${level}.ip_protocol`, 0, 8]],
    [`${SPEC.IPV4_EXT} tos`]: TRAFFIC_CLASS(level),
    [`${SPEC.IPV4_EXT} ttl`]: [[`${level}.ip_ttl_hoplimit`, 0, 8]],
    [`${SPEC.IPV4_EXT} flags`]: [[flags, 0, 3]],
    [`${SPEC.IPV6} src_ip`]: [[`${level}.ipv6_src`, 0, 128]],
    [`${SPEC.IPV6} dst_ip`]: [[`${level}.ipv6_dst`, 0, 128]],
    [`${SPEC.IPV6} flow_label`]: [[label, 0, 20]],
    [`${SPEC.IPV6} next_hdr`]: [[`${level}.ip_protocol`, 0, 8]],
    [`${SPEC.IPV6} traffic_class`]: TRAFFIC_CLASS(level),
    [`${SPEC.IPV6} hop_limit`]: [[`${level}.ip_ttl_hoplimit`, 0, 8]],
    [`${SPEC.ESP} spi`]: [[spi, 0, 32]],
    [`${SPEC.ESP} seq`]: [[seq, 0, 32]],
    [`${SPEC.TCP} dst_port`]: [[`${level}.tcp_dport`, 0, 16]],
    [`${SPEC.TCP} src_port`]: [[`${level}.tcp_sport`, 0, 16]],
    [`${SPEC.UDP} dst_port`]: [[`${level}.udp_dport`, 0, 16]],
    [`${SPEC.UDP} src_port`]: [[`${level}.udp_sport`, 0, 16]],
    [`${SPEC.GRE} c_ks_res0_ver`]: [["ext.gre_c_ks_res0_ver", 0, 16]],
    [`${SPEC.GRE} protocol`]: [["misc.gre_protocol", 0, 16]],
    [`${SPEC.GRE} key`]: [["misc.gre_key", 0, 32]],
    [`${SPEC.VXLAN_TUNNEL} tunnel_id`]: [["misc.vxlan_vni", 0, 24]],
  };
  return new Map(Object.entries(slices));
}

const SLICES = { outer: slicesIn("outer"), inner: slicesIn("inner") };

/** The same; `entry` is the index of the MPLS entry. */
function slicesOf(type: number, level: Level, name: string, entry: string): readonly Slice[] {
  if (type !== SPEC.MPLS) return SLICES[level].get(`${type} ${name}`) ?? [];
  return [
    [`${entry}_label`, 12, 20],
    [`${entry}_exp`, 9, 3],
    [`${entry}_s_bos`, 8, 1],
    [`${entry}_ttl`, 0, 8],
  ];
}

const ALL = (width: number): bigint => (1n << BigInt(width)) - 1n;

/** ib_ipv4_flags: 0x2 don't fragment, 0x4 more fragments. On the wire the two are 0x2 and 0x1. */
const wireFlags = (flags: bigint): bigint => (flags & 2n) | (flags & 4n ? 1n : 0n);

/** Terms of a spec that hold whatever its mask is. */
function implied(type: number, level: Level, mask: Filter): Term[] {
  const version = (value: bigint): Term => ({ field: `${level}.ip_version`, mask: 0xfn, value });
  const protocol = (value: bigint): Term => ({ field: `${level}.ip_protocol`, mask: 0xffn, value });
  switch (type) {
    case SPEC.ETH:
      return (mask["vlan_tag"] ?? 0n) === 0n ? [] : [{ field: `${level}.cvlan_tag`, mask: 1n, value: 1n }];
    case SPEC.IPV4:
    case SPEC.IPV4_EXT:
      return [version(4n)];
    case SPEC.IPV6:
      return [version(6n)];
    case SPEC.TCP:
      return [protocol(6n)];
    case SPEC.UDP:
      return [protocol(17n)];
    case SPEC.GRE:
      return [protocol(47n)];
    default:
      return [];
  }
}

/** The MPLS entry that a spec refers to, given by the spec directly before it. */
function mplsEntry(level: Level, before: FlowSpec | undefined): string {
  const same = (type: number): boolean => before?.type === (level === "inner" ? type | INNER : type);
  const group = level === "inner" ? "ext" : "misc2";
  if (same(SPEC.UDP)) return `${group}.${level}_first_mpls_over_udp`;
  if (same(SPEC.GRE)) return `${group}.${level}_first_mpls_over_gre`;
  return `misc2.${level}_first_mpls`;
}

const levelOf = (spec: FlowSpec): Level => ((spec.type & INNER) === 0 ? "outer" : "inner");
export const bare = (spec: FlowSpec): number => spec.type & ~INNER;
export const isAction = (spec: FlowSpec): boolean => spec.type >= SPEC.ACTION_TAG;

/** The frame's value for a filter field, in the layout of the filter; undefined if absent. */
export function valueFor(fields: Fields, { spec, before }: Effective, name: string): bigint | undefined {
  const [type, level] = [bare(spec), levelOf(spec)];
  if (type === SPEC.ETH && name === "vlan_tag" && fields.get(`${level}.cvlan_tag`) !== 1n) return undefined;
  let value = 0n;
  for (const [field, from] of slicesOf(type, level, name, mplsEntry(level, before))) {
    const found = fields.get(field);
    if (found === undefined) return undefined;
    value |= found << BigInt(from);
  }
  // The reserved flag has no bit in a filter.
  return type === SPEC.IPV4_EXT && name === "flags" ? (value & 2n) | (value & 1n ? 4n : 0n) : value;
}

/** The terms of one spec. */
function termsOfSpec(spec: FlowSpec, before: FlowSpec | undefined): Term[] {
  const level = levelOf(spec);
  const type = bare(spec);
  const { val = {}, mask = {} } = spec;
  const terms = implied(type, level, mask);
  for (const name of Object.keys(FILTERS.get(type) ?? {})) {
    const isFlags = type === SPEC.IPV4_EXT && name === "flags";
    const [m = 0n, v = 0n] = isFlags
      ? [wireFlags(mask[name] ?? 0n), wireFlags(val[name] ?? 0n)]
      : [mask[name], val[name]];
    for (const [field, from, width] of slicesOf(type, level, name, mplsEntry(level, before))) {
      const part = (whole: bigint): bigint => (whole >> BigInt(from)) & ALL(width);
      if (part(m) !== 0n) terms.push({ field, mask: part(m), value: part(v) & part(m) });
    }
  }
  return terms;
}

export interface Effective {
  spec: FlowSpec;
  before: FlowSpec | undefined;
}

/**
 * The header of a spec. IPV4 and IPV4_EXT have the same one, as do MPLS specs for the same entry.
 */
function aboutOf({ spec, before }: Effective): string {
  const type = bare(spec);
  if (type === SPEC.MPLS) return mplsEntry(levelOf(spec), before);
  return `${levelOf(spec)} ${type === SPEC.IPV4_EXT ? SPEC.IPV4 : type}`;
}

/** The specs that match; of two with the same type and level, the later one. */
export function effective(specs: readonly FlowSpec[]): Effective[] {
  const list = specs.map((spec, i) => ({ spec, before: specs[i - 1] })).filter(({ spec }) => !isAction(spec));
  return list.filter((one, i) => !list.slice(i + 1).some((later) => aboutOf(later) === aboutOf(one)));
}

/** The terms of all specs of a flow, spec by spec. */
export function termsOf(specs: readonly FlowSpec[]): Term[] {
  return effective(specs).flatMap(({ spec, before }) => termsOfSpec(spec, before));
}

/** Whether a frame matches all specs. A masked field matches only if its header is present. */
export function specsMatch(fields: Fields, specs: readonly FlowSpec[]): boolean {
  return termsOf(specs).every((term) => termMatches(fields, term));
}

/** Terms with each field once; null if two require opposite bits. */
export function merged(terms: readonly Term[]): Term[] | null {
  const byField = new Map<string, Term>();
  for (const { field, mask, value } of terms) {
    const have = byField.get(field) ?? { field, mask: 0n, value: 0n };
    if (((have.value ^ value) & have.mask & mask) !== 0n) return null;
    byField.set(field, { field, mask: have.mask | mask, value: have.value | (value & mask) });
  }
  return [...byField.values()].sort((a, b) => (a.field < b.field ? -1 : 1));
}

const TAKES_INNER: readonly number[] = [
  ...[SPEC.ETH, SPEC.IPV4, SPEC.IPV4_EXT, SPEC.IPV6, SPEC.ESP, SPEC.TCP, SPEC.UDP, SPEC.MPLS],
];

/** Whether docs/flows.md accepts the specs (EINVAL if not). */
export function specsAreValid(specs: readonly FlowSpec[]): boolean {
  const of = (type: number): FlowSpec[] => specs.filter((spec) => spec.type === type);
  if (of(SPEC.ACTION_TAG).length > 1 || of(SPEC.ACTION_COUNT).length > 1) return false;
  return specs.every(specIsValid) && merged(termsOf(specs)) !== null && !wrongEtherType(specs);
}

function specIsValid(spec: FlowSpec): boolean {
  if (isAction(spec)) {
    if (spec.type === SPEC.ACTION_TAG) return (spec.tag_id ?? 0) < 2 ** 24;
    return spec.type === SPEC.ACTION_DROP || spec.type === SPEC.ACTION_COUNT;
  }
  const type = bare(spec);
  if (!FILTERS.has(type) || (levelOf(spec) === "inner" && !TAKES_INNER.includes(type))) return false;
  const { val = {}, mask = {} } = spec;
  const below = (name: string, width: number): boolean =>
    (mask[name] ?? 0n) <= ALL(width) && (val[name] ?? 0n) <= ALL(width);
  if (type === SPEC.IPV6) return below("flow_label", 20);
  if (type === SPEC.VXLAN_TUNNEL) return below("tunnel_id", 24);
  if (type === SPEC.IPV4_EXT) return ((mask["flags"] ?? 0n) & ~6n) === 0n;
  return true;
}

/**
 * A fully masked EtherType of IPv4, IPv6 or ARP beside an IP spec of the same level and another
 * protocol.
 */
function wrongEtherType(specs: readonly FlowSpec[]): boolean {
  const list = effective(specs).map(({ spec }) => spec);
  return list.some((eth) => {
    if (bare(eth) !== SPEC.ETH || eth.mask?.["ether_type"] !== 0xffffn) return false;
    const type = eth.val?.["ether_type"] ?? 0n;
    if (![0x0800n, 0x86ddn, 0x0806n].includes(type)) return false;
    return list.some((ip) => {
      if (levelOf(ip) !== levelOf(eth)) return false;
      if (bare(ip) === SPEC.IPV6) return type !== 0x86ddn;
      return (bare(ip) === SPEC.IPV4 || bare(ip) === SPEC.IPV4_EXT) && type !== 0x0800n;
    });
  });
}
