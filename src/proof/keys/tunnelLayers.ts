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
  PRESENT_VXLAN,
  PRESENT_VXLAN_GPE,
} from "../../abi/key.js";
import { buildFrame } from "../../packet/builder/build.js";
import type { HeaderLayer, Layer } from "../../packet/builder/layers.js";
import { writeBits } from "../../packet/bytes.js";
import { TUNNEL_ETHERTYPES } from "../../packet/numbers.js";
import { bits, GENEVE_VERSION_0, GRE_WHOLE, present, type Level, type Term } from "./cells.js";
import type { Solution } from "./solution.js";
import { tunnelBits, type WireHeader } from "./wire.js";

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
  return { ...fixed, ...fields };
}

function readAsVersion0(values: ReadonlyMap<string, unknown>): boolean {
  const version = Number(values.get("version") ?? 0);
  return (
    version === 0 || (version === 1 && Object.values(TUNNEL_ETHERTYPES).includes(Number(values.get("protocol_type"))))
  );
}

/** Geneve: its options are 4 bytes each, after the declared one. */
function geneve(at: Solution): HeaderLayer {
  const known = at.has(GENEVE_VERSION_0 + 1, true);
  const length = known ? at.number(bits("misc.geneve_opt_len")) : 0;
  const options = new Uint8Array(4 * length);
  // Options without data of the class for experiments (RFC 8926 section 4.3.1).
  for (let byte = 0; byte < options.length; byte += 4) options.set([0xff, 0xff, otherType(at), 0], byte);
  addDeclared(at, options);
  for (const [i, term] of tunnelBits(64, Math.min(64, 8 * options.length)).entries()) {
    const bit = at.value(term);
    if (bit !== undefined) writeBits(options, i, 1, BigInt(bit));
  }
  const version = known ? {} : { version: at.number(tunnelBits(0, 2), 1) };
  return at.layer({ level: "outer", header: "geneve", tunnel: 0, fields: { options, ...version } });
}

function otherType(at: Solution): number {
  return at.key.settings.parser.geneveOption?.type === 0 ? 1 : 0;
}

/** Writes the declared option at the start of the options, if the solution has it. */
function addDeclared(at: Solution, options: Uint8Array): void {
  const { geneveOption } = at.key.settings.parser;
  if (geneveOption === undefined || !at.has(bits("misc.geneve_tlv_option_0_exist")[0] as Term)) return;
  const data = at.has(tunnel(PRESENT_GENEVE_OPTION_0));
  writeBits(options, 0, 24, BigInt(geneveOption.class * 256 + geneveOption.type));
  writeBits(options, 24, 8, data ? 1n : 0n);
  if (data) writeBits(options, 32, 32, BigInt(at.number(bits("misc3.geneve_tlv_option_0_data"))));
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
