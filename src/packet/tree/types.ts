/** Types of a frame tree: headers, their fields, and the options in a field. */
import type { Option } from "../options.js";
import type { HeaderName, ParseStop } from "../parsedFrame.js";

/** An option among the bytes of a field. */
export interface TreeItem {
  /** Bytes from the start of the frame. */
  offset: number;
  length: number;
  /** The option as `buildFrame` takes it; an address of a routing header as `{ address }`. */
  value: Option;
  text: string;
}

export interface TreeField {
  /** As in docs/parsing.md and `buildFrame`: `source_port`, `ihl`. */
  name: string;
  /** The byte that it begins in, from the start of the frame, and the bit there: 0 is the highest. */
  offset: number;
  bit: number;
  /** Its width. */
  bits: number;
  /** Numbers up to 32 bits, wider ones as bigint; addresses as text; anything else as bytes, copied from the frame. */
  value: number | bigint | string | Uint8Array;
  /** The value for people: `6 (tcp)`, `0x012 (ack, syn)`. */
  text: string;
  /** Options in their order, where the field holds options. */
  items?: readonly TreeItem[] | undefined;
  /** Of a checksum that could be verified: whether it is right, and if not, what it should be. */
  right?: boolean;
  should?: number;
}

export interface TreeNode {
  /**
   * A header; `payload`: the bytes after the last header of its packet, which include a header that
   * stopped the parse unless only its options are cut; `trailer`: the bytes after the packet;
   * `unlisted`: headers beyond those that the parser lists.
   */
  header: HeaderName | "payload" | "trailer" | "unlisted";
  level: "outer" | "inner";
  /** Bytes from the start of the frame. */
  offset: number;
  length: number;
  /** In wire order, without gaps: their widths add up to the length. What is no header has one, `bytes`. */
  fields: TreeField[];
}

export interface FrameTree {
  /** The captured bytes. */
  frame: Uint8Array;
  /** In the order of the frame, without gaps: every byte of it is in one of them. */
  nodes: TreeNode[];
  /** Where and why parsing stopped before the end. */
  stopped: ParseStop | null;
}

/** Bytes of a header that none of its fields has: where the list of headers ended before it did. */
export const LEFTOVER = "leftover";
