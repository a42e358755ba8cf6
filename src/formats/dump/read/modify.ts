/** Header changes as ConnectX-6 Dx and later keep them (model/dump/headerChanges.ts), as changes of scenarios. */
import {
  ADD,
  COPY,
  NOP,
  SET,
  SHIFT,
  SHIFT_BASE,
  SHIFTED_FROM,
  WORDS,
  type Codes,
} from "../../../model/dump/headerChanges.js";
import { format } from "../../../model/match/term.js";
import { changeFieldNamed } from "../../../scenario/action/changeFields.js";
import type { ScenarioHeaderChangeObject } from "../../../scenario/action/changes.js";

/**
 * The changes that hardware words are.
 * @param words 16 hexadecimal digits each
 * @param codes those of ConnectX-6 Dx (steering format 1), or of ConnectX-7 and later
 * @returns a text that says why if a word is not known
 */
export function changesOf(words: readonly string[], codes: Codes = "first"): ScenarioHeaderChangeObject[] | string {
  const changes: ScenarioHeaderChangeObject[] = [];
  for (const word of words) {
    const digits = word.replace(/^0x/, "").padStart(16, "0");
    const change = changeOf(digits, codes);
    if (change === null) return `the device's word 0x${digits} for a header change is not known`;
    changes.push(...change);
  }
  return changes;
}

interface Bits {
  readonly code: number;
  /** From the least significant bit. */
  readonly low: number;
  readonly length: number;
}

function changeOf(digits: string, codes: Codes): ScenarioHeaderChangeObject[] | null {
  const byte = (n: number): number => Number.parseInt(digits.slice(2 * n, 2 * n + 2), 16);
  const action = byte(0);
  if (action === NOP) return [];
  const length = byte(3) & 0x3f || 32;
  const fields = fieldsAt({ code: codeOf(byte(1), codes), low: (byte(2) & 0x3f) - SHIFT_BASE, length });
  if (fields.length === 0) return null;
  const value = Number.parseInt(digits.slice(8), 16);
  if (action === SET) return fields.map((field) => setting(field, length, value));
  if (action === ADD) return fields.map(({ name }) => ({ add: name, by: signed(value, length) }));
  if (action !== COPY) return null;
  const [source] = fieldsAt({ code: codeOf(byte(5), codes), low: (byte(6) & 0x3f) - SHIFT_BASE, length });
  if (source === undefined) return null;
  return fields.map(({ name, low }) => ({
    copy: source.name,
    into: name,
    bits: length,
    ...(source.low === 0 ? {} : { fromBit: source.low }),
    ...(low === 0 ? {} : { intoBit: low }),
  }));
}

function codeOf(code: number, codes: Codes): number {
  return codes === "later" && code >= SHIFTED_FROM ? code - SHIFT : code;
}

interface FieldBits {
  readonly name: string;
  /** The first bit in the field. */
  readonly low: number;
  readonly width: number;
}

function fieldsAt({ code, low, length }: Bits): FieldBits[] {
  return (WORDS.get(code) ?? [])
    .filter(([, first, last]) => first <= low && low + length - 1 <= last)
    .map(([name, first, last]) => ({ name, low: low - first, width: last - first + 1 }));
}

function setting({ name, low, width }: FieldBits, length: number, value: number): ScenarioHeaderChangeObject {
  const bits = length === 32 ? value : value % 2 ** length;
  if (length === width) return { set: name, to: bits };
  const field = changeFieldNamed(name);
  const written = (part: number): string => {
    const number = BigInt(part) << BigInt(low);
    return field === undefined || field.kind === "number" ? `0x${number.toString(16)}` : format(field, number);
  };
  return { set: name, to: `${written(bits)}/${written(2 ** length - 1)}` };
}

function signed(value: number, length: number): number {
  const bits = length === 32 ? value : value % 2 ** length;
  return bits >= 2 ** (length - 1) ? bits - 2 ** length : bits;
}
