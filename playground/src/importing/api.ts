/** What the worker of imports and exports is asked, and what it answers. All of it is plain data. */
import type { DriverName, DriverNote, FormatWord, ImportFinding, ImportFormat, OwnExplanation } from "flowsteer/import";
import type { Scenario } from "flowsteer/scenario";

/** How a text is read. */
export interface SourceOptions {
  /** The name of the text; rules are called by it and their lines: `rules.testpmd:3`. */
  readonly file: string;
  /** Null: it is recognized. */
  readonly format: ImportFormat | null;
  /** What ports and interfaces of the text are on the device: `{ eth1: "vf1" }`. */
  readonly map: Readonly<Record<string, string>>;
  /** Null: that of the format. */
  readonly driver: DriverName | null;
  /** The device profile; null for the default. */
  readonly profile: string | null;
  /** What the scenario has and the text does not: frames, the device. Null for nothing. */
  readonly into: Scenario | null;
}

/** Rules as another program or a device has them. */
export interface Source {
  readonly text: string;
  readonly options: SourceOptions;
}

/** The element that made an object of the scenario. */
export interface ElementOf {
  /** The object: `rules[2]`. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

export interface ReadSource {
  /** The scenario, as text. */
  readonly scenario: string;
  /** Null for a text that is not recognized. */
  readonly format: ImportFormat | null;
  readonly findings: readonly ImportFinding[];
  readonly driver: readonly DriverNote[];
  readonly elements: readonly ElementOf[];
}

/** What a finding of proofs is about. */
export interface ProvedObjects {
  readonly id: string;
  readonly objects: readonly { readonly kind: string; readonly name: string }[];
}

/** What a text can be read as. */
export interface Choices {
  readonly formats: readonly ImportFormat[];
  readonly drivers: readonly DriverName[];
  readonly profiles: readonly string[];
}

/** What an answer says of rules, in the words of their text. */
export interface OwnWords {
  readonly why: OwnExplanation | null;
  /** What the rules that it names call their match fields: `{ "rules:3": { "outer.udp_dport": "udp dst" } }`. */
  readonly names: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface Exported {
  readonly text: string;
  /** What the format cannot express, a line each. */
  readonly left: readonly string[];
}

export type { DriverName, FormatWord, ImportFormat, OwnExplanation };
