/** What items of testpmd's patterns consist of: their fields, and the match fields that those are. */
import { ones } from "../../../base/bits.js";

export type ValueKind = "number" | "mac" | "ipv4" | "ipv6" | "hex" | "boolean" | "color";

/** Bits of a field of an item, and the bits of a match field that they become; `{}` stands for outer or inner. */
export interface Piece {
  readonly to: string;
  /** The lowest bit in the field of the item. */
  readonly from?: number;
  /** The lowest bit in the match field. */
  readonly into?: number;
  /** Left out, all bits of the field of the item. */
  readonly bits?: number;
}

/** A field that does not become a match field bit by bit: the reader of the pattern knows it by this name. */
export type Special =
  | "etherType"
  | "innerType"
  | "hasVlan"
  | "hasMoreVlan"
  | "ipv4Fragment"
  | "ipv6Fragment"
  | "hasFragment"
  | "greChecksum"
  | "optionWord"
  | "integrity"
  | "tag"
  | "meta"
  | "colour"
  | "connection"
  | "port"
  | "any"
  | "with";

export interface ItemField {
  readonly bits: number;
  readonly kind?: ValueKind;
  /** The bits that are compared where the item has values, but no masks. */
  readonly preset?: bigint;
  readonly to?: readonly Piece[];
  readonly special?: Special;
  /** What a special field becomes, for the page. */
  readonly becomes?: string;
  readonly refused?: string;
  /** Bits of another field of the item, from this one on: the item has one value for both. */
  readonly partOf?: { readonly field: string; readonly low: number };
  /** Never written. */
  readonly readOnly?: true;
  /** Where the field is in its header: its first bit, for headers that actions put in front of frames. */
  readonly at?: number;
}

export interface ItemKind {
  readonly fields: Readonly<Record<string, ItemField>>;
  /** What asks that the header is there: match fields with a value, or with any. */
  readonly present?: Readonly<Record<string, bigint | "any">>;
  readonly layer?: "l2" | "vlan" | "ipv4" | "ipv6" | "l4" | "tunnel" | "option" | "mpls" | "meta";
  /** Whether its fields are not enough to ask for the header. */
  readonly loose?: true;
  /** Its only field, where testpmd has no word for it. */
  readonly nameless?: string;
  /** Only the outer packet has it. */
  readonly outerOnly?: true;
  /** The UDP port on which the header is recognized. */
  readonly port?: number;
  readonly becomes: string;
  /** Bytes of the header that actions put in front of frames. */
  readonly length?: number;
}

export const ONE_KNOWN = "the parser of the device does not read it";
export function to(name: string, bits: number, at?: number, preset: bigint = 0n): ItemField {
  return { bits, preset, to: [{ to: name }], ...(at === undefined ? {} : { at }) };
}

export function ports(name: string): Readonly<Record<string, ItemField>> {
  return { src: to(`${name}_sport`, 16, 0, ones(16)), dst: to(`${name}_dport`, 16, 16, ones(16)) };
}

export function refused(bits: number, reason: string, more: Partial<ItemField> = {}): ItemField {
  return { bits, refused: reason, ...more };
}
