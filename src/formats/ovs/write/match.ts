/** What a rule asks for, as words of OpenFlow flows: several flows where one cannot say it. */
import type { Scenario } from "../../../scenario/index.js";
import type { Term } from "../../../model/match/term.js";
import { fieldNamed } from "../../../model/match/fields.js";
import { ones } from "../../../base/bits.js";
import { formatIpv4, formatIpv6, formatMac } from "../../../packet/addresses.js";
import { format, fullMask } from "../../../model/match/term.js";
import { FIELDS, PLAIN, sample, TYPE, type FieldPart, type OvsField } from "../fields.js";
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

const { ipv4: IPV4, ipv6: IPV6 } = TYPE;
const UPLINK = 0xffffn;

/** Fields that Open vSwitch compares bit by bit; of others it compares all bits. */
const WHOLE = new Set(["outer.ip_dscp", "outer.ip_ecn", "outer.ip_ttl_hoplimit", "misc3.icmp_type", "misc3.icmp_code"]);
const REGISTER = /^misc2\.metadata_reg_c_(\d)$/;
const ARP_FIELDS = FIELDS.filter(({ parts }) => parts[0]?.field.startsWith(sample("arp", 0).slice(0, -1)));

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
    const plain = PLAIN.get(name);
    if (plain === undefined) throw new NotExported(`flows have no field for ${name}`);
    const { name: word, needs } = plain;
    types = needs.types === undefined ? types : narrowed(types, needs.types);
    if (needs.protocols !== undefined) {
      protocols = narrowed(protocols, needs.protocols);
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
  const arp = new Map<OvsField, { value: bigint; mask: bigint }>();
  let type: number | undefined;
  for (const { id, header, level, offset, port } of device?.parser?.samples ?? []) {
    const name = `misc4.prog_sample_field_value_${id}`;
    const found = bits.get(name);
    if (found === undefined || level === "inner" || port !== undefined) continue;
    const { value, mask } = found;
    const [field, part] = header === "arp" ? arpField(offset, mask) : [];
    if (field !== undefined && part !== undefined) {
      const held = arp.get(field) ?? { value: 0n, mask: 0n };
      held.value |= (value >> BigInt(part.at)) << BigInt(part.low);
      held.mask |= (mask >> BigInt(part.at)) << BigInt(part.low);
      arp.set(field, held);
    } else if (header === "ipv4" && offset === 4 && mask === 0x1fffn && value === 0n && isFragment)
      words.push("nw_frag=first");
    else continue;
    type = header === "arp" ? TYPE.arp : IPV4;
    bits.delete(name);
  }
  const macsLast = [...arp].sort(([a], [b]) => Number(a.kind === "mac") - Number(b.kind === "mac"));
  for (const [{ name, kind }, { value, mask }] of macsLast) {
    const text = { number: String, mac: formatMac, ipv4: formatIpv4, ipv6: formatIpv6 }[kind];
    if (mask !== 0n || kind !== "mac") words.push(`${name}=${text(value)}${kind === "number" ? "" : `/${text(mask)}`}`);
  }
  return { words, type };
}

/** The field of ARP that a sample holds a part of. A number is compared as a whole. */
function arpField(offset: number, mask: bigint): [OvsField, FieldPart] | [] {
  for (const field of ARP_FIELDS) {
    const part = field.parts.find((one) => one.field === sample("arp", offset));
    if (part === undefined) continue;
    const own = ones(part.width) << BigInt(part.at);
    if ((mask & ~own) === 0n && (field.kind !== "number" || mask === own)) return [field, part];
  }
  return [];
}

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
