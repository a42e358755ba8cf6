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
const RECORD = /(?:^|[\s+\-<>|\]:])([34]\d{3},(?:\S|(?<=,) )*|490[01]|4911,.*)$/;

/** Reads each line: a record, or a line that holds none. Empty lines and comments (`#`) are left out. */
export function* readRecords(text: string): Generator<DumpRecord | NoRecord> {
  let line = 0;
  for (const raw of text.split("\n")) {
    line++;
    const trimmed = raw.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const found = RECORD.exec(raw.trimEnd());
    if (found === null) {
      yield { line, text: trimmed };
      continue;
    }
    const record = found[1] as string;
    const [type, ...columns] = record.split(",").map((one) => one.trim());
    const column = found.index + found[0].length - record.length + 1;
    yield { type: Number(type), line, column, columns, text: record };
  }
}

/** A number of a column: hexadecimal after `0x`, else decimal; undefined if it is none. */
export function numberIn(column: string | undefined): number | undefined {
  return column !== undefined && /^(0x[0-9a-f]+|-?\d+)$/i.test(column) ? Number(column) : undefined;
}
