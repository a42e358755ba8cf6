/** Reads the fields of keys: those that are present, and those that differ between two keys. */
import { EXT_REGISTER_B, MISC2_REGISTER_A, MISC2_REGISTER_C_7 } from "../../abi/key.js";
import { FIELDS, isPresent, readField, type Field } from "../../model/match/fields.js";
import { format } from "../../model/match/term.js";
import { valueText } from "../match/notation.js";
import type { FieldChange } from "./trace.js";

/** A field and the bytes of the key that hold it. */
interface Place {
  readonly field: Field;
  readonly first: number;
  readonly end: number;
  /** Bits below the field in its last byte. */
  readonly below: number;
}

const PLACES: readonly Place[] = FIELDS.filter(({ filled }) => filled).map((field) => {
  const end = (field.bit + field.width + 7) >> 3;
  return { field, first: field.bit >> 3, end, below: end * 8 - field.bit - field.width };
});

const PARSED = PLACES.filter(({ field }) => !field.ofWay);

/** The fields of a frame by name, as `device.parse` gives them. */
export function presentFields(key: Uint8Array): Record<string, number | string> {
  const fields: Record<string, number | string> = {};
  for (const place of PARSED) {
    const { field } = place;
    if (!isPresent(key, field)) continue;
    if (field.kind !== "number") {
      fields[field.name] = format(field, readField(key, field));
      continue;
    }
    const value = readNumber(key, place);
    // A state bit names the header that is there; absence needs no text.
    if (value !== 0 || field.here !== null || field.width > 1) fields[field.name] = value;
  }
  return fields;
}

/** A field of at most 32 bits. */
function readNumber(key: Uint8Array, { field, first, end, below }: Place): number {
  let value = 0;
  for (let byte = first; byte < end; byte++) value = value * 256 + (key[byte] as number);
  return Math.floor(value / 2 ** below) % 2 ** field.width;
}

/** The value of a field in the notation of scenario files; null where its header is absent. */
export function fieldText(key: Uint8Array, field: Field): string | null {
  return isPresent(key, field) ? valueText(field, readField(key, field)) : null;
}

/** The fields that differ, in key order. A header that came or went counts with all its fields. */
export function fieldChanges(before: Uint8Array, after: Uint8Array): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const place of PLACES) {
    const { field } = place;
    const same = sameBytes(before, after, place);
    if (same && isPresent(before, field) === isPresent(after, field)) continue;
    const [was, is] = [fieldText(before, field), fieldText(after, field)];
    if (was !== is) changes.push({ field: field.name, before: was, after: is });
  }
  return changes;
}

function sameBytes(a: Uint8Array, b: Uint8Array, { first, end }: Place): boolean {
  for (let byte = first; byte < end; byte++) if (a[byte] !== b[byte]) return false;
  return true;
}

/** Copies the metadata registers of a key into another one. */
export function copyRegisters(from: Uint8Array, to: Uint8Array): void {
  for (const [first, end] of REGISTERS) for (let byte = first; byte < end; byte++) to[byte] = from[byte] as number;
}

const REGISTERS = [
  [MISC2_REGISTER_C_7, MISC2_REGISTER_A + 4],
  [EXT_REGISTER_B, EXT_REGISTER_B + 4],
] as const;
