/** `HeaderDraft`: a header of a frame that is being built, as defaults and checksums of other fields read it. */
import type { LaidOutHeader } from "../layout.js";

export type LayerName = LaidOutHeader | "payload" | "trailer";

export interface HeaderDraft {
  readonly header: LayerName;
  /** Its place in the arguments, for messages: `layers[2]`. */
  readonly path: string;
  readonly index: number;
  /** All layers of the frame, this one among them. */
  readonly all: readonly HeaderDraft[];
  /** The bytes that follow the header within its packet. */
  readonly body: Uint8Array;
  readonly bodyLength: number;
  /** The next header; undefined at the end of the packet. */
  readonly next: LayerName | undefined;
  /** Size of the header in bytes. */
  readonly size: number;
  /** Whether the caller gave the field. */
  given(name: string): boolean;
  /** The value of a numeric field, given or derived; 0 for a field of bytes. */
  number(name: string): number;
  /** The value of a field of bytes, given or derived; empty for a numeric field. */
  bytes(name: string): Uint8Array;
  /** Refuses the frame: a field was left out that does not follow from the other layers. */
  cannotDerive(name: string, hint: string): never;
}

/** The default value of a field. */
export type DefaultOf = (draft: HeaderDraft) => number | Uint8Array;

/** Default values of a header's fields; a field without one is 0 or empty. */
export type Defaults = Readonly<Record<string, DefaultOf>>;
