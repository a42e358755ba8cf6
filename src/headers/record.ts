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
  /** Next protocol of VXLAN-GPE (draft-ietf-nvo3-vxlan-gpe). */
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

export interface HeaderRecord {
  /** "VXLAN". */
  readonly name: string;
  /** As sentences name it; if left out, the name and "header". */
  readonly title?: string;
  readonly announced?: Announced;
  readonly present?: Present;
  /** Where the key tells a header over GRE and over UDP apart from one over the link layer. */
  readonly over?: Readonly<Record<"gre" | "udp", { readonly name: string; readonly present: Present }>>;
  /** An extension header of IPv6, or the upper layer: the header that ends the headers of a packet. */
  readonly layer?: "extension" | "upper";
  /** What a tunnel carries: frames from their Ethernet header on, or packets. */
  readonly tunnel?: "frame" | "packet";
}
