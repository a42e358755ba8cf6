/** Turns the items of a pattern into what a rule asks of frames. Items after a tunnel ask it of the inner packet. */
import { ones } from "../../../../base/bits.js";
import { prefixMask } from "../../../text/numbers.js";
import { notImported, type Word } from "../../../text/refusal.js";
import type { ItemField, Piece } from "../../fields/kind.js";
import { maskOf, type FieldValue, type Item } from "./read.js";
import { SPECIALS, type Asked } from "./special.js";
import { PatternWalk, type PatternPlace } from "./walk.js";

/** What the items ask. @throws NotImported */
export function matchOf(items: readonly Item[], place: PatternPlace): PatternWalk {
  const walk = new PatternWalk(place);
  for (const item of items) addItem(walk, item);
  return walk;
}

function addItem(walk: PatternWalk, item: Item): void {
  checkParts(item);
  enter(walk, item);
  let asked = false;
  for (const [name, field] of Object.entries(item.kind.fields)) {
    if (field.partOf !== undefined) continue;
    const value = item.fields.get(name) ?? { word: item.word, spec: 0n, last: 0n, mask: 0n };
    const mask = maskOf(item, name);
    if (mask === 0n && field.special !== "port") continue;
    if (item.hasSpec && !item.hasMask && !item.fields.has(name) && field.special === undefined) {
      walk.place.assume(item.word, `${item.name} has values and no masks: ${name} must be 0 too, as DPDK says`);
    }
    addField(walk, item, field, { ...value, mask });
    asked = true;
  }
  askPresence(walk, item, asked && item.kind.loose !== true);
  if (PORTS.includes(item.name) && item.fields.size === 0) SPECIALS.port(walk, item, undefined);
  leave(walk, item);
}

function checkParts(item: Item): void {
  if (!item.hasSpec && (item.hasMask || item.hasLast)) {
    notImported(
      item.word,
      `${item.name} has ${item.hasLast ? "an upper end" : "a mask"} and no value: DPDK refuses that`,
    );
  }
}

/** Headers that follow a tunnel are those of the inner packet. */
function enter(walk: PatternWalk, { word, name, kind }: Item): void {
  const { layer } = kind;
  if (walk.place.checksLayers === true) checkLayers(walk, word, name, layer);
  const isPacket = layer === "l2" || layer === "vlan" || layer === "ipv4" || layer === "ipv6";
  const isSecondIp = (layer === "ipv4" || layer === "ipv6") && walk.ipVersion !== undefined;
  if (isPacket && (walk.tunnel || isSecondIp)) {
    if (walk.level === "inner")
      notImported(word, "the parser of the device does not read a packet inside an inner one");
    if (!walk.tunnel) walk.match.ask("outer.ip_protocol", layer === "ipv4" ? 4n : 41n);
    walk.level = "inner";
    walk.tunnel = false;
    walk.vlans = 0;
    walk.ipVersion = undefined;
    walk.upper = undefined;
  }
  if (kind.outerOnly === true && walk.level === "inner") {
    notImported(word, `the parser of the device does not read ${name} inside a tunnel`);
  }
  if (kind.port !== undefined && walk.udpPort !== undefined) checkUdpPort(walk, word, name, kind.port);
  else if (kind.port !== undefined && walk.upper === "udp") askUdpPort(walk, word, kind.port);
  if (layer === "vlan" && ++walk.vlans > 2) notImported(word, "no match field has a third VLAN tag");
  if (layer === "mpls") enterMpls(walk, word);
  if (layer === "ipv4" || layer === "ipv6") walk.ipVersion = layer === "ipv4" ? 4 : 6;
  if (layer === "l4") walk.upper = name;
}

/** Of VXLAN, the driver takes each port (`mlx5_flow.c`), and the device may read it at this one later. */
function checkUdpPort({ udpPort, place }: PatternWalk, word: Word, name: string, only: number): void {
  if (udpPort === BigInt(only)) return;
  if (name === "vxlan") place.atVxlanPort?.(Number(udpPort), word);
  else notImported(word, `the parser of the device reads ${name} on UDP port ${only} only, not ${udpPort}`);
}

/** As the driver does, which asks for a UDP port where the pattern asks for none (docs/drivers.md). */
function askUdpPort({ place, match, level }: PatternWalk, word: Word, port: number): void {
  const name = `${level}.udp_dport`;
  if (place.asksUdpPort === undefined || (match.bits(name)?.mask ?? 0n) !== 0n) return;
  match.ask(name, BigInt(port));
  place.asksUdpPort(word, name, port);
}

/** Upper items that the driver checks. */
const UPPER = ["tcp", "udp", "icmp", "icmp6", "esp"];

/** As mlx5_flow.c checks them (docs/drivers.md). @throws NotImported */
function checkLayers(walk: PatternWalk, word: Word, name: string, layer: Item["kind"]["layer"]): void {
  const hasIp = walk.ipVersion !== undefined && !walk.tunnel;
  if (layer === "l4" && UPPER.includes(name) && !hasIp)
    notImported(word, `mlx5 refuses ${name} without ipv4 or ipv6 before it: L3 is mandatory to filter on L4`);
  if (layer === "l2" && hasIp) notImported(word, `mlx5 refuses ${name} behind an IP item: L2 does not follow L3`);
}

function enterMpls(walk: PatternWalk, word: Word): void {
  if (walk.mpls !== undefined) notImported(word, "match fields have the first MPLS entry only");
  if (walk.upper === "udp") askUdpPort(walk, word, MPLS_PORT);
  const over = walk.upper === "udp" ? "over_udp_" : walk.tunnel ? "over_gre_" : "";
  const prefix = over !== "" && walk.level === "inner" ? "ext" : "misc2";
  walk.mpls =
    over === "" ? `misc2.${walk.level}_first_mpls` : `${prefix}.${walk.level}_first_mpls_${over.slice(0, -1)}`;
}

function leave(walk: PatternWalk, item: Item): void {
  const { layer } = item.kind;
  if (layer === "tunnel" || (layer === "mpls" && walk.mpls?.includes("over") === true)) walk.tunnel = true;
  if (item.name === "udp") {
    const mask = maskOf(item, "dst");
    const value = item.fields.get("dst");
    if (mask === ones(16) && value !== undefined && value.last === 0n) walk.udpPort = value.spec;
  }
}

/** RFC 7510. */
const MPLS_PORT = 6635;
const PORTS = ["port_id", "represented_port", "port_representor"];

/** Asks for the header; `fixedOnly` leaves out what its fields ask already. */
function askPresence(walk: PatternWalk, { name, kind }: Item, fixedOnly: boolean): void {
  const bare = fixedOnly ? undefined : walk.place.bareItems?.[name];
  if (bare !== undefined) {
    const [field, value] = bare;
    walk.match.ask(`${walk.level}.${field}`, value);
    return;
  }
  for (const [template, value] of Object.entries(kind.present ?? {})) {
    if (template.startsWith("inner.") && walk.level === "outer") continue;
    if (value !== "any") walk.match.ask(walk.nameOf(template), value);
    else if (!fixedOnly) walk.match.ask(walk.nameOf(template), 0n, 0n);
  }
  if (name === "gtp_psc") walk.match.ask("misc3.gtpu_dw_2", 0x85n, 0xffn);
}

function addField(walk: PatternWalk, item: Item, field: ItemField, value: FieldValue): void {
  if (field.refused !== undefined) notImported(value.word, field.refused);
  if (field.special !== undefined) {
    const asked: Asked = value;
    SPECIALS[field.special](walk, item, asked);
    return;
  }
  const pieces = field.to ?? [];
  const spec = value.spec & value.mask;
  const last = value.last & value.mask;
  if (value.last !== 0n && last !== spec) {
    addRange(walk, field, pieces, { ...value, spec, last });
    return;
  }
  for (const { to, from = 0, into = 0, bits = field.bits } of pieces) {
    const of = ones(bits);
    const mask = (value.mask >> BigInt(from)) & of;
    if (mask !== 0n)
      walk.match.ask(walk.nameOf(to), ((spec >> BigInt(from)) & of) << BigInt(into), mask << BigInt(into));
  }
}

function addRange(walk: PatternWalk, field: ItemField, pieces: readonly Piece[], value: FieldValue): void {
  const [piece, ...more] = pieces;
  if (piece === undefined || more.length > 0 || (piece.into ?? 0) !== 0) {
    notImported(value.word, "the match fields that it becomes have no ranges");
  }
  if (value.last < value.spec) notImported(value.word, "the upper end is below the value");
  const below = ones(field.bits) ^ value.mask;
  const prefixed = field.bits - below.toString(2).replace(/^0$/, "").length;
  if (value.mask !== prefixMask(prefixed, field.bits)) notImported(value.word, "a range with a mask that has gaps");
  if (walk.match.ranges >= 2) notImported(value.word, "a rule has two ranges at most");
  walk.match.range(walk.nameOf(piece.to), value.spec, value.last | below);
}
