/** The layers of a tunnel with the bits of a solution, and of the packet inside. */
import {
  PRESENT_BTH,
  PRESENT_ETH,
  PRESENT_GENEVE,
  PRESENT_GENEVE_OPTION_0,
  PRESENT_GRE,
  PRESENT_GTPU,
  PRESENT_GTPU_DW_2,
  PRESENT_GTPU_EXTENSION,
  PRESENT_INNER_MPLS_OVER_GRE,
  PRESENT_INNER_MPLS_OVER_UDP,
  PRESENT_L3,
  PRESENT_MPLS_OVER_GRE,
  PRESENT_MPLS_OVER_UDP,
  PRESENT_TUNNEL_DWORD,
  PRESENT_VXLAN,
  PRESENT_VXLAN_GPE,
} from "../../abi/key.js";
import { buildFrame } from "../../packet/builder/build.js";
import type { HeaderLayer, Layer } from "../../packet/builder/layers.js";
import { writeBits } from "../../packet/bytes.js";
import { TUNNEL_ETHERTYPES } from "../../headers/announcers.js";
import { bits, GENEVE_VERSION_0, GRE_WHOLE, present, type Level, type Term } from "./cells.js";
import type { Solution } from "./solution.js";
import type { WireHeader } from "../../headers/fields.js";
import { tunnelBits } from "./wire.js";

/** A frame that is being built. */
export interface Draft {
  readonly layers: Layer[];
  /** Layers whose checksum is to be wrong. */
  readonly wrongSums: Set<Layer>;
  /** Adds the packet inside a tunnel: a whole frame, or an IP packet. */
  addInner(at: Solution, level: Level, begins: "frame" | "packet"): void;
}

/** Fields of GTP-U that only some of its headers have. */
const GTPU_OPTIONS = ["sequence", "n_pdu", "next_extension"];

const tunnel = (bit: number): Term => present("tunnel", bit);

/** Adds what UDP carries. */
export function overUdp(draft: Draft, at: Solution, level: Level): void {
  const labels = level === "outer" ? tunnel(PRESENT_MPLS_OVER_UDP) : present(level, PRESENT_INNER_MPLS_OVER_UDP);
  if (at.has(labels)) {
    addLabels(draft, at, level, "mpls_over_udp", level === "outer" && carries(at));
    if (level === "outer") addInner(draft, at);
    return;
  }
  if (level === "inner") return;
  if (at.has(tunnel(PRESENT_BTH))) draft.layers.push(at.layer({ level, header: "bth" }));
  else if (at.has(tunnel(PRESENT_VXLAN))) addTunnel(draft, at, at.layer({ level, header: "vxlan", tunnel: 0 }));
  else if (at.has(tunnel(PRESENT_VXLAN_GPE))) addTunnel(draft, at, at.layer({ level, header: "vxlan_gpe", tunnel: 0 }));
  else if (at.has(tunnel(PRESENT_GENEVE))) addTunnel(draft, at, geneve(at));
  else if (at.has(tunnel(PRESENT_GTPU))) addGtpu(draft, at);
}

/** Adds GRE and what it carries. */
export function overGre(draft: Draft, at: Solution, level: Level): void {
  if (level === "inner") {
    if (!at.has(present(level, PRESENT_INNER_MPLS_OVER_GRE))) return;
    draft.layers.push({ header: "gre" });
    addLabels(draft, at, level, "mpls_over_gre", false);
    return;
  }
  if (!at.has(tunnel(PRESENT_GRE))) return;
  const layer = gre(at);
  if (!at.has(GRE_WHOLE + 1, true)) {
    addPart(draft, layer, 4);
    return;
  }
  draft.layers.push(layer);
  if (at.has(tunnel(PRESENT_MPLS_OVER_GRE))) addLabels(draft, at, level, "mpls_over_gre", carries(at));
  addInner(draft, at);
}

/** Adds the packet that an IP packet carries itself. */
export function ipInIp(draft: Draft, at: Solution): void {
  if (carries(at) && !at.has(tunnel(PRESENT_GRE))) addInner(draft, at);
}

function addTunnel(draft: Draft, at: Solution, layer: HeaderLayer): void {
  draft.layers.push(layer);
  addInner(draft, at);
}

/** Whether there is a packet inside. */
function carries(at: Solution): boolean {
  return at.has(present("inner", PRESENT_ETH)) || at.has(present("inner", PRESENT_L3));
}

function addInner(draft: Draft, at: Solution): void {
  const { inside } = at;
  const [packet, level] = inside === null ? [at, "inner" as const] : [inside, "outer" as const];
  if (at.has(present("inner", PRESENT_ETH))) draft.addInner(packet, level, "frame");
  else if (at.has(present("inner", PRESENT_L3))) draft.addInner(packet, level, "packet");
}

/** Adds the first bytes of a header: the rest is cut. */
function addPart(draft: Draft, layer: HeaderLayer, length: number): void {
  draft.layers.push(buildFrame([layer]).slice(0, length));
}

/** GRE: checksum, key and sequence follow the first dword as far as they are there. */
function gre(at: Solution): HeaderLayer {
  const without = ["checksum", "offset", "key", "sequence", "acknowledgement"];
  const fixed = at.layer({ level: "outer", header: "gre", tunnel: 0, without });
  const values = new Map<string, unknown>(Object.entries(fixed));
  const is = (name: string): boolean => values.get(name) === 1n;
  const sum = is("c") || is("r");
  const parts = [
    ["checksum", 16, sum],
    ["offset", 16, sum],
    ["key", 32, is("k")],
    ["sequence", 32, is("s")],
    ["acknowledgement", 32, is("a") && !readAsVersion0(values)],
  ] as const;
  const fields: Record<string, number> = {};
  let next = 32;
  for (const [name, width, here] of parts) {
    if (!here) continue;
    const repeated = next + width <= 128 ? tunnelBits(next, width) : [];
    const own = name === "key" ? bits("misc.gre_key") : repeated;
    if (at.asked(own) || at.asked(repeated)) fields[name] = at.number(own, at.number(repeated));
    next += width;
  }
  const routed = is("r") && readAsVersion0(values);
  return { ...fixed, ...fields, ...(routed ? { routing: route(at, next) } : {}) };
}

/** A source route: | family 2 | offset 1 | length 1 | ... up to an entry of zeros; one is enough unless a dword follows. */
function route(at: Solution, first: number): Uint8Array {
  const more = first < 96 && at.has(tunnel(PRESENT_TUNNEL_DWORD << 3));
  const word = at.number(tunnelBits(first, Math.min(32, 128 - first)), more ? 0x00010004 : 0);
  const ends = word >>> 16 === 0 && (word & 0xff) === 0;
  const bytes = new Uint8Array(ends ? 4 : 8 + (word & 0xff));
  writeBits(bytes, 0, 32, BigInt(word));
  for (const [i, term] of tunnelBits(first, Math.min(8 * bytes.length, 128 - first)).entries()) {
    const bit = at.value(term);
    if (bit !== undefined) writeBits(bytes, i, 1, BigInt(bit));
  }
  return bytes;
}

function readAsVersion0(values: ReadonlyMap<string, unknown>): boolean {
  const version = Number(values.get("version") ?? 0);
  return (
    version === 0 || (version === 1 && Object.values(TUNNEL_ETHERTYPES).includes(Number(values.get("protocol_type"))))
  );
}

/** Geneve: the declared option is the first one, or the second if the dwords say another first one. */
function geneve(at: Solution): HeaderLayer {
  const known = at.has(GENEVE_VERSION_0 + 1, true);
  const length = known ? at.number(bits("misc.geneve_opt_len")) : 0;
  const first = optionsOf(at, 4 * length, 0);
  const options = agrees(at, first) ? first : optionsOf(at, 4 * length, 1);
  writeDwords(at, options);
  const version = known ? {} : { version: at.number(tunnelBits(0, 2), 1) };
  return at.layer({ level: "outer", header: "geneve", tunnel: 0, fields: { options, ...version } });
}

/** Options of a size; `before` options with data stand before the declared one. */
function optionsOf(at: Solution, size: number, before: 0 | 1): Uint8Array {
  const options = new Uint8Array(size);
  const { geneveOption } = at.key.settings.parser;
  // Options without data of the class for experiments (RFC 8926 section 4.3.1).
  for (let byte = 0; byte < size; byte += 4) options.set([0xff, 0xff, geneveOption?.type === 0 ? 1 : 0, 0], byte);
  if (geneveOption === undefined || !at.has(bits("misc.geneve_tlv_option_0_exist")[0] as Term)) return options;
  const data = at.has(tunnel(PRESENT_GENEVE_OPTION_0));
  let place = 0;
  if (before === 1 && size > 4) {
    options[3] = 1;
    writeDwords(at, options);
    place = 4 + 4 * ((options[3] ?? 0) & 0x1f);
  }
  if (place + (data ? 8 : 4) > size) return options;
  writeBits(options, 8 * place, 24, BigInt(geneveOption.class * 256 + geneveOption.type));
  writeBits(options, 8 * place + 24, 8, data ? 1n : 0n);
  if (data) writeBits(options, 8 * place + 32, 32, BigInt(at.number(bits("misc3.geneve_tlv_option_0_data"))));
  return options;
}

/** Whether options have the bits of the third and fourth dword. */
function agrees(at: Solution, options: Uint8Array): boolean {
  const same = options.slice();
  writeDwords(at, same);
  return same.every((byte, i) => byte === options[i]);
}

/** Writes the third and the fourth dword of the header, as far as they were asked. */
function writeDwords(at: Solution, options: Uint8Array): void {
  for (const [i, term] of tunnelBits(64, Math.min(64, 8 * options.length)).entries()) {
    const bit = at.value(term);
    if (bit !== undefined) writeBits(options, i, 1, BigInt(bit));
  }
}

function addGtpu(draft: Draft, at: Solution): void {
  const long = at.has(tunnel(PRESENT_GTPU_DW_2));
  const layer = at.layer({ level: "outer", header: "gtpu", tunnel: 0, without: long ? [] : GTPU_OPTIONS });
  const flags = at.number(bits("misc3.gtpu_dw_0").slice(0, 8), 0x30);
  if (!long && flags >> 4 === 3 && (flags & 7) !== 0) {
    addPart(draft, layer, 8);
    return;
  }
  draft.layers.push(layer);
  if (at.has(tunnel(PRESENT_GTPU_EXTENSION))) addExtensions(draft, at);
  addInner(draft, at);
}

/** The first extension header, and a last one if it says that another one follows. */
function addExtensions(draft: Draft, at: Solution): void {
  const word = bits("misc3.gtpu_first_ext_dw_0");
  const length = at.number(word.slice(0, 8), 1);
  const bytes = new Uint8Array(4 * length);
  for (const [i, term] of [...word].entries()) {
    writeBits(
      bytes,
      i,
      1,
      BigInt(at.value(term) ?? at.value(tunnelBits(96 + i, 1)[0] as Term) ?? (i === 7 && length === 1)),
    );
  }
  draft.layers.push({ header: "gtpu_extension", bytes });
  if (bytes.at(-1) !== 0) draft.layers.push({ header: "gtpu_extension", bytes: Uint8Array.of(1, 0, 0, 0) });
}

/** Adds a label stack; if a packet follows, its last entry is the bottom. */
export function addLabels(draft: Draft, at: Solution, level: Level, header: WireHeader, carried: boolean): void {
  const first = at.layer({ level, header }) as HeaderLayer & { s_bos?: unknown };
  draft.layers.push(first);
  if (first.s_bos === 0n && carried) draft.layers.push({ header: "mpls", s_bos: 1 });
}
