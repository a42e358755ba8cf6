/** What a format is: how its sources are recognized, read, and described on its page. */
import type { Drivers } from "../../drivers/driver.js";
import type { StateFlags } from "../text/connection.js";
import type { Draft } from "./draft.js";
import type { Findings } from "./findings.js";

/** Reads the sources of one format, one after the other, into a draft. */
export interface Importer {
  /** Reads a source; `findings.file` is its name. */
  add(text: string): void;
  /** Called once, after the last source: adds what several sources make together. */
  finish?(): void;
}

/**
 * An element of a format, on its page in `docs/import/`: what happens to it, or why it is refused.
 * The importer looks its elements up in the same table, so the page cannot say otherwise.
 */
export type Element = { readonly becomes: string } | { readonly refused: string };

/** The elements of a format by their names, in groups that the page has headings for. */
export type ElementGroups = Readonly<Record<string, Readonly<Record<string, Element>>>>;

/** A change of the text of an element: the characters from `from` to `to` become `text`. */
export interface Change {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

export interface Format {
  /** What stands in the format, in a few words: "testpmd commands". */
  readonly title: string;
  /** Whether a text is in this format: it has something that no other format has. */
  readonly recognizes: (text: string) => boolean;
  readonly importer: (draft: Draft, findings: Findings, drivers: Drivers) => Importer;
  readonly elements: ElementGroups;
  /** Whether the order of the text is that of its rules, by definition: nothing else could give them one. */
  readonly isOrdered?: true;
  /** Whether its fields are the match parameters of the device, which have no other names. */
  readonly hasDeviceFields?: true;
  /** The flags of `ct_state`, where the importer keeps connections in a register (`text/connection.ts`). */
  readonly states?: StateFlags;
  /** The changes of an element that make its rule ask for a field that none of its words names; null where it cannot. */
  readonly asking?: (text: string, field: string, value: string) => readonly Change[] | null;
  /** An element whose rule leads all frames to the table of an element's rule; null where it is the first table. */
  readonly leading?: (text: string) => string | null;
  /** Whether a mask has a 1 for each bit that is ignored. */
  readonly hasWildcardMasks?: boolean;
  /** What its texts call the port that a frame comes from. */
  readonly portName?: string;
  /** The fields of elements that have some, by the names of the elements. */
  readonly fields?: Readonly<Record<string, readonly string[]>>;
}
