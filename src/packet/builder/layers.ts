/** Types of the layers and options of `buildFrame`. */
import type { BytesText } from "../bytes.js";
import type { FieldKind, LAYOUTS, LaidOutHeader } from "../layout.js";
import type { GeneveOption, Ipv4Option, Ipv6Option, TcpOption } from "../options.js";

/** What a field of each kind is given as. */
interface Values {
  number: number | bigint;
  hex: number | bigint;
  flag: boolean | number;
  /** Names of what is set, as a list or with commas between them. */
  flags: number | string | readonly string[];
  mac: BytesText;
  ipv4: BytesText;
  ipv6: BytesText;
  /** MAC, IPv4 or IPv6 address, or any bytes. */
  address: BytesText;
  bytes: BytesText;
  tcp_options: BytesText | readonly TcpOption[];
  ipv4_options: BytesText | readonly Ipv4Option[];
  ipv6_options: BytesText | readonly Ipv6Option[];
  geneve_options: BytesText | readonly GeneveOption[];
  /** IPv6 addresses in the order of the header; text with a colon is one of them. */
  route: Uint8Array | readonly string[];
}

type FieldOf<H extends LaidOutHeader> = (typeof LAYOUTS)[H][number];
type ValueOf<K> = K extends FieldKind ? Values[K] : never;

/** What every header takes instead of fields: its bytes, whatever they are. Nothing in them is looked at. */
interface Raw {
  bytes?: BytesText | undefined;
}

/** A header with the fields that are not to be what they follow from. */
export type HeaderLayer<H extends LaidOutHeader = LaidOutHeader> = {
  [One in H]: { header: One } & Raw & { [F in FieldOf<One> as F[0]]?: ValueOf<F[2]> | undefined };
}[H];

/** Bytes behind the last header; lengths and checksums count them. */
export interface PayloadLayer {
  header: "payload";
  bytes: BytesText;
}

/** Bytes behind the packet, such as padding: no length or checksum counts them. */
export interface TrailerLayer {
  header: "trailer";
  bytes: BytesText;
}

/** A layer of a frame; bare bytes are a payload. */
export type Layer = HeaderLayer | PayloadLayer | TrailerLayer | Uint8Array;

export interface BuildOptions {
  /** Fills the frame up with zeros to the 60 bytes that Ethernet asks for. @default false */
  pad?: boolean;
}
