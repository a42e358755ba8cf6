/** Types of a parsed frame: its fields, its headers with their offsets, and the point where parsing stopped. */
import type { Stop } from "../abi/headers.js";
import type { HeaderName } from "../headers/record.js";

/** Where and why parsing stopped before the end. */
export interface ParseStop {
  header: HeaderName;
  /** The first field that could not be read, or that made no sense. */
  field: string;
  /** Offset of the header in the frame. */
  offset: number;
  /** Bytes that the header takes, and bytes that were there. */
  wanted: number;
  had: number;
  reason: keyof typeof Stop;
}

export type { HeaderName } from "../headers/record.js";

/** A header that was read whole; of TCP, GRE and GTP-U also one whose options are cut. */
export interface ParsedHeader {
  header: HeaderName;
  /** A tunnel's own header is of the outer level. */
  level: "outer" | "inner";
  /** Offset in the frame. */
  offset: number;
}

/** The headers of a frame, without its fields. */
export interface ParsedHeaders {
  /** In the order of the frame; the first 28 of them. */
  headers: ParsedHeader[];
  /** What lies behind the last header, up to the end of the packet or of the captured bytes: offsets in the frame. */
  payload: { offset: number; end: number };
  stopped: ParseStop | null;
}

export interface ParsedFrame extends ParsedHeaders {
  /** Fields of the frame that are present: numbers, or addresses as text. */
  fields: Record<string, number | string>;
}
