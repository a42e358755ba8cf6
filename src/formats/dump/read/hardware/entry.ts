/**
 * A steering entry of hardware steering, 64 bytes in hexadecimal digits
 * (hws/src/dr_ste.py of the public steering dump tool).
 *
 *     | format 8 | counter 24 | miss 16 | definer 8 | miss .. 96 | hit 16 | - 8 | hit 8 | hit 27 | - 5 |
 *     | word 8 .. word 6: three words of actions, of jumbo entries a part of the tag |
 *     | word 5 .. word 0 | byte 7 .. byte 0 |
 */
import type { DumpRecord } from "../records.js";

export interface HardwareEntry {
  readonly record: Pick<DumpRecord, "line" | "column">;
  /** Of the table of entries that has it. */
  readonly owner: string;
  /** In units of entries. */
  readonly address: number;
  readonly hex: string;
}

const MATCH = 4;
const JUMBO = 5;
/** Digits before the three words of actions, and before the words of the tag. */
const ACTIONS = 40;
const DIGITS_OF_WORD = 8;
const ACTION_WORDS = 3;
const WORDS = 9;
const BYTES_AT = ACTIONS + WORDS * DIGITS_OF_WORD;
const BYTES = 8;
export const ENTRY_DIGITS = 128;
/** Digits of the mask of a definer, which has the layout of an entry from the words of actions on. */
export const MASK_DIGITS = ENTRY_DIGITS - ACTIONS;

const number = (hex: string, from: number, digits: number): number =>
  Number.parseInt(hex.slice(from, from + digits), 16);

/** Why an entry's kind is not imported; null if it is. */
export function refusedFormat({ hex }: HardwareEntry): string | null {
  const format = number(hex, 0, 2);
  if (format === MATCH || format === JUMBO) return null;
  return format === 7 || format === 8
    ? "entries that compare ranges of fields"
    : `entries of format ${format} are not known`;
}

export const counterOf = ({ hex }: HardwareEntry): number => number(hex, 2, 6);
export const definerOf = ({ hex }: HardwareEntry): number => number(hex, 12, 2);

/** The address that a frame goes to which matches: its lowest bit that is set says the size of the table there. */
export function hitOf({ hex }: HardwareEntry): number {
  const low = number(hex, 32, DIGITS_OF_WORD) >>> 5;
  return (number(hex, 30, 2) * 2 ** 26 + ((low & (low - 1)) >>> 1)) % 2 ** 32;
}

/** The words of actions, in the order of their execution. */
export function actionWordsOf({ hex }: HardwareEntry): string[] {
  if (number(hex, 0, 2) === JUMBO) return [];
  return Array.from({ length: ACTION_WORDS }, (_, n) =>
    hex.slice(ACTIONS + n * DIGITS_OF_WORD).slice(0, DIGITS_OF_WORD),
  );
}

/** Where an entry has its words and bytes: the digits of words 0 to 8 and of bytes 0 to 7. */
export const wordPlace = (selector: number): number => ACTIONS + (WORDS - 1 - selector) * DIGITS_OF_WORD;
export const bytePlace = (selector: number): number => BYTES_AT + (BYTES - 1 - selector) * 2;

/** The mask of a definer as if it were an entry. */
export const maskAsEntry = (mask: string): string => `${"0".repeat(ACTIONS)}${mask}`;
