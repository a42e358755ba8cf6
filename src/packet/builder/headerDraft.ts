/** `HeaderDraft`: a header of a frame that is being built, as defaults and checksums of other fields read it. */
import type { CheckedLayer } from "./values.js";

export interface HeaderDraft {
  readonly header: CheckedLayer["header"];
  /** Its place in the arguments, for messages: `layers[2]`. */
  readonly path: string;
  readonly index: number;
  /** All layers of the frame, this one among them. */
  readonly all: readonly HeaderDraft[];
  /** The bytes that follow the header within its packet. */
  readonly body: Uint8Array;
  /** The next header; undefined at the end of the packet. */
  readonly next: CheckedLayer["header"] | undefined;
  /** Size of the header in bytes. */
  readonly size: number;
  /** Whether the caller gave one of these fields. */
  given(...names: readonly string[]): boolean;
  /** The value of a numeric field, given or derived; 0 for a field of bytes. */
  number(name: string): number;
  /** The value of a field of bytes, given or derived; empty for a numeric field. */
  bytes(name: string): Uint8Array;
  /** Refuses the frame: a field was left out that does not follow from the other layers. */
  cannotDerive(name: string, hint: string): never;
}

/** Default values of a header's fields; a field without one is 0 or empty. */
export type Defaults = Readonly<Record<string, (draft: HeaderDraft) => number | Uint8Array>>;
