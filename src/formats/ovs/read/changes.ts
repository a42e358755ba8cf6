/** Changes of fields: `set_field`, `load`, `move`, and the older words for them. */
import { ones } from "../../../base/bits.js";
import { namesHint } from "../../../base/nearest.js";
import { addressOf, bigOf, numberOf } from "../../text/numbers.js";
import { notImported } from "../../text/refusal.js";
import {
  bitsOf as fieldBits,
  FIELD_NAMES,
  fieldNamed,
  SHORTHANDS,
  TYPE,
  whyRefused,
  type Needs,
  type OvsField,
} from "../fields.js";
import { ANY_KIND, lacksHeader, realName, type Around, type Kind } from "./match.js";
import type { Change, Plain, TunnelKey } from "./steps.js";
import type { Piece } from "./text.js";
import { maskedOf, type Masked } from "./values.js";
import { portWord } from "./words.js";

const TAGGED = 0x1000n;

interface Bits {
  readonly field: OvsField;
  readonly low: number;
  readonly width: number;
}

/** `set_field:VALUE[/MASK]->FIELD`. */
export function setField(of: Piece, around: Around): Plain {
  const [value, to] = arrow(of);
  const field = target(to, around);
  return written(field, maskedOf(value, field), to);
}

/** `load:VALUE->FIELD[LOW..HIGH]`. */
export function load(of: Piece, around: Around): Plain {
  const [value, to] = arrow(of);
  const { field, low, width } = bitsOf(to, around);
  const number = bigOf(value, `${field.name}[]`, width);
  return written(field, { value: number << BigInt(low), mask: ones(width) << BigInt(low) }, to);
}

/** `move:FIELD[LOW..HIGH]->FIELD[LOW..HIGH]`. */
export function move(of: Piece, around: Around): Plain {
  const [source, to] = arrow(of);
  const from = bitsOf(source, around);
  const into = bitsOf(to, around);
  if (from.width !== into.width) notImported(of, "both sides of a move have as many bits");
  if (!into.field.writable) notImported(to, `the device does not change ${into.field.name}`);
  const sources = partsOf(from.field);
  const targets = partsOf(into.field);
  const changes: Change[] = [];
  let bit = 0;
  while (bit < from.width) {
    const one = sources.find(({ low, width }) => low <= from.low + bit && from.low + bit < low + width);
    const other = targets.find(({ low, width }) => low <= into.low + bit && into.low + bit < low + width);
    if (one === undefined || !canCopy(one.field))
      return notImported(source, `the device does not copy from ${from.field.name}`);
    if (other === undefined) return notImported(to, `the device does not copy to ${into.field.name}`);
    const bits = Math.min(
      from.width - bit,
      one.low + one.width - from.low - bit,
      other.low + other.width - into.low - bit,
    );
    const fromBit = one.at + from.low + bit - one.low;
    const intoBit = other.at + into.low + bit - other.low;
    changes.push({ kind: "copy", from: one.field, fromBit, field: other.field, intoBit, bits });
    bit += bits;
  }
  return { kind: "change", changes };
}

/** Fields that changes read: those that they can write. */
function canCopy(field: string): boolean {
  return field.startsWith("@reg") || !/^(misc|ext|@|outer\.(ip_protocol|frag))/.test(field);
}

/** Parts of a field, tags included. */
function partsOf({ name, parts }: OvsField): OvsField["parts"] {
  const vid = { field: "outer.first_vid", low: 0, width: 12, at: 0 };
  if (name === "vlan_vid") return [vid];
  if (name === "vlan_pcp") return [{ field: "outer.first_prio", low: 0, width: 3, at: 0 }];
  if (name === "vlan_tci") return [vid, { field: "outer.first_prio", low: 13, width: 3, at: 0 }];
  return parts;
}

/** The older words, such as `mod_nw_dst`. */
export const MODIFIERS: Readonly<Record<string, (of: Piece, around: Around) => Plain>> = {
  mod_dl_src: (of) => whole("eth_src", addressOf(of, "mac")),
  mod_dl_dst: (of) => whole("eth_dst", addressOf(of, "mac")),
  mod_nw_src: (of) => whole("ip_src", addressOf(of, "ipv4")),
  mod_nw_dst: (of) => whole("ip_dst", addressOf(of, "ipv4")),
  mod_nw_tos: (of) => whole("nw_tos", BigInt(numberOf(of, "nw_tos", 8))),
  mod_nw_ecn: (of) => whole("nw_ecn", BigInt(numberOf(of, "nw_ecn", 2))),
  mod_nw_ttl: (of, around) => {
    checkHeader(of, fieldNamed("nw_ttl") as OvsField, around);
    return whole("nw_ttl", BigInt(numberOf(of, "nw_ttl", 8)));
  },
  mod_tp_src: (of, { kind }) => port("tp_src", of, kind),
  mod_tp_dst: (of, { kind }) => port("tp_dst", of, kind),
};

function whole(name: string, value: bigint): Plain {
  const field = fieldNamed(name) as OvsField;
  return { kind: "change", changes: setsOf(field, { value, mask: ones(field.width) }) };
}

/** A port of whichever protocol the frame has: changes of headers that are not there do nothing. */
function port(name: string, of: Piece, { type, protocol }: Kind): Plain {
  const value = BigInt(numberOf(of, name, 16));
  const side = name.slice(3);
  if (protocol === 132) notImported(of, "the device does not change ports of SCTP");
  const names = [...(protocol === 17 ? [] : [`tcp_${side}`]), ...(protocol === 6 ? [] : [`udp_${side}`])];
  if (type !== undefined && type !== TYPE.ipv4 && type !== TYPE.ipv6) return { kind: "change", changes: [] };
  return {
    kind: "change",
    changes: names.flatMap((one) => setsOf(fieldNamed(one) as OvsField, { value, mask: 0xffffn })),
  };
}

function written(field: OvsField, bits: Masked, word: Piece): Plain {
  const { name } = field;
  const isWhole = bits.mask === ones(field.width);
  if (name.startsWith("tun_")) {
    if (!isWhole) notImported(word, "a part of a tunnel's fields");
    return { kind: "tunnel", values: { [name.slice(4) as TunnelKey]: bits.value } };
  }
  if (name === "in_port") {
    if (!isWhole) notImported(word, "a part of a port's number");
    return { kind: "set_in_port", port: portWord(String(bits.value)) };
  }
  if (!field.writable) notImported(word, `the device does not change ${name}`);
  if (name === "vlan_tci" && isWhole) return tag(bits.value);
  if (name === "vlan_tci" && (bits.mask & TAGGED) !== 0n) notImported(word, "a part of a tag that adds one");
  return { kind: "change", changes: setsOf(field, bits) };
}

function tag(tci: bigint): Plain {
  if ((tci & TAGGED) === 0n) return { kind: "pop_vlan" };
  return { kind: "set_vlan", vid: Number(tci & 0xfffn), pcp: Number(tci >> 13n) };
}

function setsOf(field: OvsField, { value, mask }: Masked): Change[] {
  return fieldBits({ parts: partsOf(field) }, value, mask).map((bits) => ({ kind: "set", ...bits }));
}

function arrow(of: Piece): readonly [Piece, Piece] {
  return of.cut("->") ?? notImported(of, '"->" and a field are missing');
}

function target(word: Piece, around: Around): OvsField {
  const name = realName(word.text.replace(/\[\]$/, ""), ANY_KIND);
  const refused = whyRefused(name);
  if (refused !== undefined) notImported(word, refused);
  const field = fieldNamed(name);
  if (field === undefined)
    return notImported(word, `there is no field ${word.text}; ${namesHint(word.text, "fields", FIELD_NAMES)}`);
  checkHeader(word, field, around);
  return field;
}

const IN_TAGS: ReadonlySet<string> = new Set(["vlan_vid", "vlan_pcp"]);

/** Open vSwitch refuses actions on headers that frames of the flow may not have (OFPBAC_MATCH_INCONSISTENT). */
export function checkHeader(
  word: Piece,
  { name, needs }: Pick<OvsField, "name" | "needs">,
  { kind, isTagged }: Around,
): void {
  if (isTagged === null) return;
  const says = "Open vSwitch refuses the flow: its match does not say that frames have";
  if (IN_TAGS.has(name) && !isTagged) notImported(word, `${says} the tag of ${name}, as dl_vlan=N does`);
  if (lacksHeader(kind, needs)) notImported(word, `${says} the header of ${name}, as "${headerWord(needs)}" does`);
}

/** The first word of a match that says a frame has a header. */
function headerWord({ types = [], protocols = [] }: Needs): string {
  const found = Object.entries(SHORTHANDS).find(
    ([, [type, protocol]]) => types.includes(type) && protocol === protocols[0],
  );
  return found?.[0] ?? "";
}

/** `FIELD[]`, `FIELD[BIT]`, `FIELD[LOW..HIGH]`, or a field alone. */
function bitsOf(word: Piece, around: Around): Bits {
  const [, name = word.text, low, high = low] = /^([^[]+)\[(?:(\d+)(?:\.\.(\d+))?)?\]$/.exec(word.text) ?? [];
  const field = target(word.part(0, name.length), around);
  if (low === undefined) return { field, low: 0, width: field.width };
  const width = Number(high) - Number(low) + 1;
  if (width < 1 || Number(high) >= field.width) notImported(word, `${field.name} has the bits 0 to ${field.width - 1}`);
  return { field, low: Number(low), width };
}
