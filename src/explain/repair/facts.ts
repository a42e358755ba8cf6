/** The facts of a case: which terms of the rule the frame fails, and what the frame has instead. */
import { isPresent, readField, fieldNamed, type Field, type FieldName } from "../../model/match/fields.js";
import type { Device } from "../../model/device/device.js";
import type { FrameOptions } from "../../model/traffic/input.js";
import type { ParsedFrame } from "../../packet/parsedFrame.js";
import { valueText } from "../match/notation.js";
import { presenceWord, termsOf, type KeyMatch, type MatchTerm } from "../match/terms.js";
import type { RepairContext } from "./context.js";

/** A term of a rule beside what a frame has. */
export interface TermFact extends MatchTerm {
  readonly name: string;
  /** What the frame has; null if the header is absent. */
  readonly found: bigint | null;
  readonly agrees: boolean;
}

/** The terms of a rule beside a key. */
export function termFacts(rule: KeyMatch, key: Uint8Array): TermFact[] {
  return termsOf(rule).map((term) => ({
    ...term,
    name: term.field.name,
    found: isPresent(key, term.field) ? readField(key, term.field) : null,
    agrees: agrees(term, key),
  }));
}

function agrees({ field, mask, value, range }: MatchTerm, key: Uint8Array): boolean {
  if (field.here !== null && (presenceWord(key, field.here.word) & field.here.bit) === 0) return false;
  const found = readField(key, field);
  return range === null ? (found & mask) === value : range.low <= found && found <= range.high;
}

/** A frame with the key and the headers that the parser finds. */
export interface ParsedBytes {
  readonly bytes: Uint8Array;
  readonly key: Uint8Array;
  readonly parsed: ParsedFrame;
}

/** Parses a frame. Nothing is steered. */
export function parseBytes(device: Device, bytes: Uint8Array, options: FrameOptions): ParsedBytes {
  const [parsed] = device.parseBatch([bytes], options);
  return { bytes, key: device.traffic.batch.key(0).slice(), parsed: parsed as ParsedFrame };
}

/** The options of a changed frame: as much is missing behind it as behind the frame that came in. */
export function optionsOf({ options, frame }: RepairContext, bytes: Uint8Array): FrameOptions {
  const { wireLength } = options;
  if (wireLength === undefined) return options;
  return { ...options, wireLength: Math.max(bytes.length, wireLength + bytes.length - frame.length) };
}

/** A context with what detectors ask for most. */
export class Facts {
  readonly context: RepairContext;
  readonly terms: readonly TermFact[];
  readonly failing: readonly TermFact[];
  #there: ParsedFrame | undefined;

  constructor(context: RepairContext) {
    const { rule, key } = context;
    this.context = context;
    this.terms = rule === null ? [] : termFacts(rule, key);
    this.failing = this.terms.filter((term) => !term.agrees);
  }

  /** The frame at the table of the rule, parsed. */
  get there(): ParsedFrame {
    const { device, frameThere } = this.context;
    this.#there ??= parseBytes(device, frameThere, optionsOf(this.context, frameThere)).parsed;
    return this.#there;
  }

  /** The rule's term of a field. */
  term(name: FieldName): TermFact | undefined {
    return this.terms.find((term) => term.name === name);
  }

  /** The rule's term of a field, if the frame fails it. */
  failed(name: FieldName): TermFact | undefined {
    return this.failing.find((term) => term.name === name);
  }

  /** What the frame has of a field; null if the header is absent. */
  found(name: FieldName): bigint | null {
    const field = named(name);
    return isPresent(this.context.key, field) ? readField(this.context.key, field) : null;
  }

  /** What the frame has of a field, as people write it. */
  foundText(name: FieldName): string {
    const found = this.found(name);
    return found === null ? "absent" : valueText(named(name), found);
  }
}

/** The field of a name that exists. */
export function named(name: FieldName): Field {
  return fieldNamed(name) as Field;
}
