/** The record of a header. */
import type { Header } from "../abi/headers.js";

/** Kinds of header, by name. */
export type HeaderName = keyof typeof Header;

/** Numbers by which the previous header announces this one. */
export interface Announced {
  /** EtherType (IEEE "Ethertype" registry). */
  readonly etherType?: number;
  /** Protocol type of GRE (RFC 2784, RFC 7637) and Geneve (RFC 8926 section 3.4). */
  readonly tunnelType?: number;
  /** IP protocol or IPv6 next header (IANA "protocol-numbers"). */
  readonly protocol?: number;
  /** UDP destination port. */
  readonly port?: number;
  /** Next protocol of VXLAN-GPE (draft-ietf-nvo3-vxlan-gpe) and NSH (RFC 8300 section 2.2). */
  readonly gpe?: number;
  /** Address family of BSD null and loop headers; IPv6 has four, this one is NetBSD's and OpenBSD's. */
  readonly family?: number;
  /** The type of a GTP-U extension header, which is in the previous header (3GPP TS 29.281 section 5.2). */
  readonly gtpuExtension?: number;
}

/** The presence bit of a header in each presence word of the key (src/abi/key.ts); words that are left out have none. */
export interface Present {
  readonly outer?: number;
  readonly inner?: number;
  readonly tunnel?: number;
}

/**
 * Match fields by the field of the header, or by their first bit where they cover several fields.
 * `*` is the level; a name without it belongs to the outer packet.
 */
export type MatchFields = Readonly<Record<string | number, string>>;

/** The second tag, or a label over GRE or UDP: the key has other fields for it than for the first of its kind. */
export interface HeaderVariant {
  readonly name: string;
  readonly present: Present;
  readonly match: MatchFields;
  /** For the inner packet, where its names differ in more than the level. */
  readonly innerMatch?: MatchFields;
}

export interface HeaderRecord {
  /** "VXLAN". */
  readonly name: string;
  /** As sentences name it; if left out, the name and "header". */
  readonly title?: string;
  readonly announced?: Announced;
  readonly present?: Present;
  /** Match fields that have the same bits as the header. */
  readonly match?: MatchFields;
  /** Match fields that follow from a field, repeat it, or lie at a place that varies. */
  readonly reads?: MatchFields;
  readonly variants?: Readonly<Record<string, HeaderVariant>>;
  /** An extension header of IPv6, or the upper layer: the header that ends the headers of a packet. */
  readonly layer?: "extension" | "upper";
  /** What a tunnel carries: frames from their Ethernet header on, or packets. */
  readonly tunnel?: "frame" | "packet";
}
