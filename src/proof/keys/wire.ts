/** Which bit of a header is which bit of the key. */
import { MISC5_TUNNEL_HEADER } from "../../abi/key.js";
import { matchFieldsOf, plainHeader, type WireHeader } from "../../headers/fields.js";
import type { FieldName } from "../../model/match/fields.js";
import { layoutOf, type LaidOutHeader } from "../../packet/layout.js";
import { bits, type Level, type Term } from "./cells.js";

/** The layout of a header on the wire. */
export function layoutHeader(header: WireHeader): LaidOutHeader {
  return plainHeader(header) as LaidOutHeader;
}

/** The first bit of a field in its header; all fields before it have a fixed width. */
function wireBit(header: WireHeader, name: string): number {
  let at = 0;
  for (const [one, width] of layoutOf(layoutHeader(header))) {
    if (one === name) return at;
    at += typeof width === "number" ? width : 0;
  }
  throw new Error(`${header} has no ${name}`);
}

/** Terms of the key by bit of the header. */
export type WireBits = ReadonlyMap<number, Term>;

const WIRES: Readonly<Record<Level, Map<WireHeader, WireBits>>> = { outer: new Map(), inner: new Map() };

/** Terms of the key that are bits of a header, by bit of the header. */
export function wireOf(level: Level, header: WireHeader): WireBits {
  let wire = WIRES[level].get(header);
  if (wire === undefined) WIRES[level].set(header, (wire = wireBits(level, header)));
  return wire;
}

function wireBits(level: Level, header: WireHeader): WireBits {
  const map = new Map<number, Term>();
  for (const [wire, match] of matchFieldsOf(level, header)) {
    const number = Number(wire);
    const first = Number.isNaN(number) ? wireBit(header, wire) : number;
    for (const [i, term] of bits(match as FieldName).entries()) if (first + i >= 0) map.set(first + i, term);
  }
  return map;
}

/** A term of `misc5.tunnel_header_*`: a bit of the tunnel's header. */
export function tunnelBit(bit: number): Term {
  return MISC5_TUNNEL_HEADER * 8 + bit + 1;
}

export function tunnelBits(from: number, count: number): Term[] {
  return Array.from({ length: count }, (_, i) => tunnelBit(from + i));
}
