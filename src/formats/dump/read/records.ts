/**
 * The records of a steering dump: one a line, in columns that commas separate, without quotes.
 *
 *     3200,0x55ca028a4ce0,0x55ca004902b0,3
 *     type  columns[0]    columns[1]     columns[2]
 *
 * People paste dumps with prompts, log prefixes, marks of diffs and lines of other programs between
 * the records. A record ends its line; spaces stand only after commas, and in the texts of patterns (4911).
 * A line without one is told of.
 */

export interface DumpRecord {
  readonly type: number;
  readonly line: number;
  /** Of the type; the first column of a line is 1. */
  readonly column: number;
  readonly columns: readonly string[];
  /** The whole record. */
  readonly text: string;
}

/** A record that has no place in a dump, and why. */
export interface Misplaced {
  readonly record: DumpRecord;
  readonly reason: string;
}

export interface NoRecord {
  readonly line: number;
  readonly text: string;
}

/** The types of records: 3000 to 3499 of software steering, 4000 to 4999 of hardware steering. */
const RECORD = /(?:^|[\s+\-<>|\]:])([34]\d{3},[^]*|490[01]$)/;
/** One that holds text. */
const TEXT_RECORD = /(?:^|[\s+\-<>|\]:])(4911,[^]*)/;
/** Up to the last blank that no other record has: theirs follow commas. */
const IN_FRONT = /^.*(?:(?<!,) |[^\S ])/;

/** Reads each line: a record, or a line that holds none. Empty lines and comments (`#`) are left out. */
export function* readRecords(text: string): Generator<DumpRecord | NoRecord> {
  let line = 0;
  for (const raw of text.split("\n")) {
    line++;
    const trimmed = raw.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const found = recordIn(raw.trimEnd());
    if (found === null) {
      yield { line, text: trimmed };
      continue;
    }
    const [type, ...columns] = found.split(",").map((one) => one.trim());
    yield { type: Number(type), line, column: raw.trimEnd().length - found.length + 1, columns, text: found };
  }
}

/** The record that ends a line; null if none does. */
function recordIn(line: string): string | null {
  const [front = ""] = IN_FRONT.exec(line) ?? [];
  const found = RECORD.exec(line.slice(Math.max(front.length - 1, 0)))?.[1] ?? null;
  const text = line.includes("4911,") ? (TEXT_RECORD.exec(line)?.[1] ?? "") : "";
  return text.length > (found?.length ?? 0) ? text : found;
}

/** A number of a column: hexadecimal after `0x`, else decimal; undefined if it is none. */
export function numberIn(column: string | undefined): number | undefined {
  return column !== undefined && /^(0x[0-9a-f]+|-?\d+)$/i.test(column) ? Number(column) : undefined;
}

/** Whether a number is whole, from 0 to `most`. */
export function isWhole(number: number, most: number): boolean {
  return Number.isInteger(number) && number >= 0 && number <= most;
}

const MAX_LEVEL = 0xffffffff;

/** @returns why no table has this level; null if one can have it */
export function levelMisfit(level: number): string | null {
  return isWhole(level, MAX_LEVEL) ? null : `the level of a table is 0 to ${MAX_LEVEL}`;
}
