/**
 * The match of a flow: its specs become mask and value over the key (docs/flows.md, "What a flow
 * matches").
 *
 * Filters and keys are both in wire order, so nearly every field is a copy of bytes. Each spec
 * becomes a translation: where its fields go, and what it implies. The translations that count are
 * then combined; contradicting bits are refused.
 */
import { EXT_PORT, PRESENT_ETH, EXT_PRESENT_OUTER, KEY_SIZE, LAYER_DMAC, OUTER } from "../../abi/key.js";
import {
  IBV_FLOW_SPEC_ESP,
  IBV_FLOW_SPEC_ETH,
  IBV_FLOW_SPEC_GRE,
  IBV_FLOW_SPEC_IPV4,
  IBV_FLOW_SPEC_IPV4_EXT,
  IBV_FLOW_SPEC_IPV6,
  IBV_FLOW_SPEC_MPLS,
  IBV_FLOW_SPEC_TCP,
  IBV_FLOW_SPEC_UDP,
  IBV_FLOW_SPEC_VXLAN_TUNNEL,
} from "../../abi/verbs.js";
import {
  ETHERTYPE_ARP,
  ETHERTYPE_IPV4,
  ETHERTYPE_IPV6,
  PROTOCOL_GRE,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
} from "../../abi/protocols.js";
import { refuse } from "../../errors.js";
import { writeDword } from "../match/fieldParts.js";
import { fieldAtBit, fieldNamed, type Field, type Presence } from "../match/fields.js";
import { layoutOf, type MatchSpec, type Spec } from "../match/flowSpec.js";

/** An object that an action names: the caller's, unchecked. */
export interface NamedObject {
  readonly object: unknown;
  /** The argument that names it, such as `specs[2].counters`. */
  readonly path: string;
}

/** What a flow does besides delivering. */
export interface FlowActions {
  /** 24 bits; null without one. */
  readonly tag: number | null;
  readonly drop: boolean;
  readonly counters: NamedObject | null;
  readonly handles: readonly NamedObject[];
}

/** Mask and value over the key, 512 bytes each; the value has no bit that the mask lacks. */
export interface KeyBits {
  readonly mask: Uint8Array;
  readonly value: Uint8Array;
}

export interface FlowMatch extends KeyBits {
  readonly actions: FlowActions;
}

/**
 * The match of a flow's specs on a port, and its actions. Each spec was checked alone (checks.ts).
 * `bits`, all zero, becomes the match.
 * @throws EINVAL specs that contradict each other
 */
export function flowMatch(
  specs: readonly Spec[],
  port: number,
  bits: KeyBits = { mask: new Uint8Array(KEY_SIZE), value: new Uint8Array(KEY_SIZE) },
): FlowMatch {
  matchPort(bits, port);
  const asking = lastOfEach(specs);
  for (const one of asking) addSpec(bits, one);
  checkEtherTypes(asking);
  return { mask: bits.mask, value: bits.value, actions: actionsOf(specs) };
}

/** Matches every frame of a port. */
export function portMatch(port: number): KeyBits {
  const bits = { mask: new Uint8Array(KEY_SIZE), value: new Uint8Array(KEY_SIZE) };
  matchPort(bits, port);
  return bits;
}

function matchPort({ mask, value }: KeyBits, port: number): void {
  mask[EXT_PORT] = mask[EXT_PORT + 1] = 0xff;
  value[EXT_PORT] = port >> 8;
  value[EXT_PORT + 1] = port & 0xff;
}

/**
 * Matches the frames of a port whose destination MAC has the group bit set (or clear): MC_DEFAULT,
 * the halves of ALL_DEFAULT.
 */
export function groupMatch(port: number, set: boolean): KeyBits {
  const bits = portMatch(port);
  const group = 0x01;
  bits.mask[OUTER + LAYER_DMAC] = group;
  bits.value[OUTER + LAYER_DMAC] = set ? group : 0;
  require(bits, { word: EXT_PRESENT_OUTER, bit: PRESENT_ETH });
  return bits;
}

/** One field of a filter: `bytes` of it from byte `from` go to byte `to` of the key. */
interface Copy {
  readonly name: string;
  readonly from: number;
  readonly bytes: number;
  readonly to: number;
  readonly here: Presence | null;
  readonly turn: (bits: number) => number;
}

/** Bits of one byte of the key, and the presence of their header. */
interface Implied {
  readonly at: number;
  readonly mask: number;
  readonly value: number;
  readonly here: Presence | null;
}

interface Translation {
  /** Specs of the same header replace each other. */
  readonly header: string;
  readonly copies: readonly Copy[];
  /** Matched whatever the mask is. */
  readonly implied: readonly Implied[];
}

/** For each field of a filter the key fields that it covers, back to back; @ is the level. */
const PLACES: ReadonlyMap<number, Readonly<Record<string, readonly string[]>>> = new Map([
  [
    IBV_FLOW_SPEC_ETH,
    {
      dst_mac: ["@.dmac"],
      src_mac: ["@.smac"],
      ether_type: ["@.ethertype"],
      vlan_tag: ["@.first_prio", "@.first_cfi", "@.first_vid"],
    },
  ],
  [IBV_FLOW_SPEC_IPV4, { src_ip: ["@.ipv4_src"], dst_ip: ["@.ipv4_dst"] }],
  [
    IBV_FLOW_SPEC_IPV4_EXT,
    {
      src_ip: ["@.ipv4_src"],
      dst_ip: ["@.ipv4_dst"],
      proto: ["@.ip_protocol"],
      tos: ["@.ip_dscp", "@.ip_ecn"],
      ttl: ["@.ip_ttl_hoplimit"],
      flags: ["ext.@_ipv4_flags"],
    },
  ],
  [
    IBV_FLOW_SPEC_IPV6,
    {
      src_ip: ["@.ipv6_src"],
      dst_ip: ["@.ipv6_dst"],
      flow_label: ["misc.@_ipv6_flow_label"],
      next_hdr: ["@.ip_protocol"],
      traffic_class: ["@.ip_dscp", "@.ip_ecn"],
      hop_limit: ["@.ip_ttl_hoplimit"],
    },
  ],
  [IBV_FLOW_SPEC_ESP, { spi: ["misc.@_esp_spi"], seq: ["ext.@_esp_seq"] }],
  [IBV_FLOW_SPEC_TCP, { dst_port: ["@.tcp_dport"], src_port: ["@.tcp_sport"] }],
  [IBV_FLOW_SPEC_UDP, { dst_port: ["@.udp_dport"], src_port: ["@.udp_sport"] }],
  [
    IBV_FLOW_SPEC_GRE,
    { c_ks_res0_ver: ["ext.gre_c_ks_res0_ver"], protocol: ["misc.gre_protocol"], key: ["misc.gre_key"] },
  ],
  [IBV_FLOW_SPEC_VXLAN_TUNNEL, { tunnel_id: ["misc.vxlan_vni"] }],
]);

const IMPLIED: ReadonlyMap<number, readonly [name: string, value: number]> = new Map([
  [IBV_FLOW_SPEC_IPV4, ["ip_version", 4]],
  [IBV_FLOW_SPEC_IPV4_EXT, ["ip_version", 4]],
  [IBV_FLOW_SPEC_IPV6, ["ip_version", 6]],
  [IBV_FLOW_SPEC_TCP, ["ip_protocol", PROTOCOL_TCP]],
  [IBV_FLOW_SPEC_UDP, ["ip_protocol", PROTOCOL_UDP]],
  [IBV_FLOW_SPEC_GRE, ["ip_protocol", PROTOCOL_GRE]],
]);

type Level = "outer" | "inner";

/**
 * The label stacks that an MPLS spec can mean: the packet's own, that over its UDP, that over its
 * GRE.
 */
const STACKS: Readonly<Record<Level, readonly [own: string, udp: string, gre: string]>> = {
  outer: ["misc2.outer_first_mpls", "misc2.outer_first_mpls_over_udp", "misc2.outer_first_mpls_over_gre"],
  inner: ["misc2.inner_first_mpls", "ext.inner_first_mpls_over_udp", "ext.inner_first_mpls_over_gre"],
};

const same = (bits: number): number => bits;
/**
 * enum ib_ipv4_flags and the three bits of the header differ in order: in the header, more
 * fragments is the lowest bit.
 */
const turnFlags = (bits: number): number => ((bits & 2) | ((bits & 4) >> 2)) << 5;

/** The fields of a filter. Each goes to the key bytes that end with its last key field. */
function copiesOf(type: number, level: Level, places: Readonly<Record<string, readonly string[]>>): Copy[] {
  const { fields = [] } = layoutOf(type) ?? {};
  return fields.map(({ name, at, size }) => {
    const covered = (places[name] ?? []).map((place) => fieldNamed(place.replace("@", level)) as Field);
    const bytes = Math.ceil(covered.reduce((sum, field) => sum + field.width, 0) / 8);
    const { bit, width, here } = covered[covered.length - 1]!;
    const to = ((bit + width + 7) >> 3) - bytes;
    return { name, from: at + size - bytes, bytes, to, here, turn: name === "flags" ? turnFlags : same };
  });
}

function impliedBits(level: Level, name: string, value: number): Implied {
  const { bit, width, here } = fieldNamed(`${level}.${name}`) as Field;
  const shift = 8 - (bit & 7) - width;
  return { at: bit >> 3, mask: ((1 << width) - 1) << shift, value: value << shift, here };
}

function translate(type: number, level: Level): Translation {
  const implied = IMPLIED.get(type);
  const header = type === IBV_FLOW_SPEC_IPV4_EXT ? IBV_FLOW_SPEC_IPV4 : type;
  return {
    header: `${level} ${header}`,
    copies: copiesOf(type, level, PLACES.get(type) ?? {}),
    implied: implied === undefined ? [] : [impliedBits(level, ...implied)],
  };
}

function translateStack(level: Level, stack: string): Translation {
  const copies = copiesOf(IBV_FLOW_SPEC_MPLS, level, { label: stackEntry(stack) });
  return { header: stack, copies, implied: [] };
}

/** Translations, made on first use, by spec type and level or label stack. */
const TRANSLATIONS: Readonly<Record<Level, Map<number | string, Translation>>> = { outer: new Map(), inner: new Map() };

function translationOf(spec: MatchSpec, before: Spec | undefined, level: Level): Translation {
  const { type } = spec.layout;
  const stack = type === IBV_FLOW_SPEC_MPLS ? stackBehind(spec, before) : null;
  const known = TRANSLATIONS[level].get(stack ?? type);
  if (known !== undefined) return known;
  const translation = stack === null ? translate(type, level) : translateStack(level, stack);
  TRANSLATIONS[level].set(stack ?? type, translation);
  return translation;
}

/** A field of a filter, and the match fields that it covers, the most significant first. */
export interface FilterPlace {
  readonly spec: MatchSpec;
  readonly name: string;
  readonly covers: readonly string[];
}

/** The field of the specs of a flow that a match field is, or is a part of; null if its bits are not those of the header. */
export function filterPlaceOf(specs: readonly Spec[], field: string): FilterPlace | null {
  for (const { spec, index, level } of lastOfEach(specs)) {
    const { type } = spec.layout;
    const stack = type === IBV_FLOW_SPEC_MPLS ? stackEntry(stackBehind(spec, specs[index - 1])) : null;
    for (const [name, places] of Object.entries(stack === null ? (PLACES.get(type) ?? {}) : { label: stack })) {
      const covers = places.map((place) => place.replace("@", level));
      if (name !== "flags" && covers.includes(field)) return { spec, name, covers };
    }
  }
  return null;
}

function stackEntry(stack: string): string[] {
  return ["label", "exp", "s_bos", "ttl"].map((part) => `${stack}_${part}`);
}

const CVLAN: Readonly<Record<Level, Implied>> = {
  outer: impliedBits("outer", "cvlan_tag", 1),
  inner: impliedBits("inner", "cvlan_tag", 1),
};

/** A spec, its position in the list, and its translation. */
interface Asking {
  readonly spec: MatchSpec;
  readonly index: number;
  readonly level: Level;
  readonly translation: Translation;
}

/**
 * The specs that count, in the order of the list: of several for one header the last (as drivers
 * do).
 */
function lastOfEach(specs: readonly Spec[]): Asking[] {
  const asking: Asking[] = [];
  for (let index = 0; index < specs.length; index++) {
    const spec = specs[index]!;
    if (spec.kind !== "match") continue;
    const level = spec.inner ? "inner" : "outer";
    const translation = translationOf(spec, specs[index - 1], level);
    for (let i = 0; i < asking.length; i++) {
      if (asking[i]!.translation.header === translation.header) asking.splice(i, 1);
    }
    asking.push({ spec, index, level, translation });
  }
  return asking;
}

/**
 * The label stack that an MPLS spec means, from the spec before it (ibv_create_flow(3), "Rules
 * definition ordering"). SPEC: a spec of the other level or an action is no header below it; the
 * spec then means the packet's own stack.
 */
function stackBehind(spec: MatchSpec, before: Spec | undefined): string {
  const [own, udp, gre] = STACKS[spec.inner ? "inner" : "outer"];
  if (before?.kind !== "match" || before.inner !== spec.inner) return own;
  if (before.layout.type === IBV_FLOW_SPEC_UDP) return udp;
  return before.layout.type === IBV_FLOW_SPEC_GRE ? gre : own;
}

function addSpec(bits: KeyBits, { spec, index, level, translation }: Asking): void {
  for (const implied of translation.implied) addImplied(bits, index, implied);
  for (const copy of translation.copies) {
    const asked = addField(bits, index, spec, copy);
    if (asked && copy.name === "vlan_tag") addImplied(bits, index, CVLAN[level]);
  }
}

function addImplied(bits: KeyBits, index: number, { at, mask, value, here }: Implied): void {
  const differing = addByte(bits, at, mask, value);
  if (differing !== 0) refuseContradiction(`specs[${index}]`, at, differing);
  if (here !== null) require(bits, here);
}

/** Whether the mask covers any bit of the field. */
function addField(bits: KeyBits, index: number, { val, mask }: MatchSpec, copy: Copy): boolean {
  let asked = false;
  for (let i = 0; i < copy.bytes; i++) {
    const masked = mask[copy.from + i]!;
    if (masked === 0) continue;
    const wanted = copy.turn(masked);
    if (wanted === 0) continue;
    asked = true;
    const differing = addByte(bits, copy.to + i, wanted, copy.turn(val[copy.from + i]!) & wanted);
    if (differing !== 0) refuseContradiction(`specs[${index}].val.${copy.name}`, copy.to + i, differing);
  }
  if (asked && copy.here !== null) require(bits, copy.here);
  return asked;
}

/** Adds bits to a byte of a match. Returns those that contradict what is there; 0 where none does. */
function addByte(bits: KeyBits, at: number, mask: number, value: number): number {
  const differing = (bits.value[at]! ^ value) & bits.mask[at]! & mask;
  bits.mask[at]! |= mask;
  bits.value[at]! |= value;
  return differing;
}

function refuseContradiction(path: string, at: number, differing: number): never {
  const hint = `another spec asks something else of ${fieldAtBit(at * 8 + Math.clz32(differing) - 24)}`;
  refuse({ code: "EINVAL", reason: "contradiction", path, hint });
}

function require({ mask, value }: KeyBits, { word, bit }: Presence): void {
  writeDword(mask, word, bit, bit);
  writeDword(value, word, bit, bit);
}

/** An IP spec beside an EtherType that cannot carry it matches no frame. */
function checkEtherTypes(asking: readonly Asking[]): void {
  for (const { spec, index, level } of asking) {
    if (spec.layout.type !== IBV_FLOW_SPEC_ETH || spec.mask[12] !== 0xff || spec.mask[13] !== 0xff) continue;
    const etherType = (spec.val[12]! << 8) | spec.val[13]!;
    for (const other of asking) {
      const carrier = other.level === level ? carrierOf(other.spec.layout.type) : 0;
      if (carrier === 0 || carrier === etherType) continue;
      if (etherType !== ETHERTYPE_IPV4 && etherType !== ETHERTYPE_IPV6 && etherType !== ETHERTYPE_ARP) continue;
      const hint = `specs[${other.index}] is ${other.spec.layout.name}, carried by 0x${carrier.toString(16).padStart(4, "0")}`;
      const value = `0x${etherType.toString(16).padStart(4, "0")}`;
      refuse({ code: "EINVAL", reason: "contradiction", path: `specs[${index}].val.ether_type`, value, hint });
    }
  }
}

function carrierOf(type: number): number {
  if (type === IBV_FLOW_SPEC_IPV4 || type === IBV_FLOW_SPEC_IPV4_EXT) return ETHERTYPE_IPV4;
  return type === IBV_FLOW_SPEC_IPV6 ? ETHERTYPE_IPV6 : 0;
}

function actionsOf(specs: readonly Spec[]): FlowActions {
  let tag: number | null = null;
  let drop = false;
  let counters: NamedObject | null = null;
  const handles: NamedObject[] = [];
  for (let i = 0; i < specs.length; i++) {
    const spec = specs[i]!;
    if (spec.kind === "tag") tag = spec.tag_id;
    else if (spec.kind === "drop") drop = true;
    else if (spec.kind === "count") counters = { object: spec.counters, path: `specs[${i}].counters` };
    else if (spec.kind === "handle") handles.push({ object: spec.action, path: `specs[${i}].action` });
  }
  return { tag, drop, counters, handles };
}
