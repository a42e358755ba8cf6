/** A row for each frame, for other tools: docs/frames.md, Big captures. */
import type { Outcome } from "../model/traffic/outcome.js";
import { outcomeNames, type OutcomeNames } from "../scenario/outcome/record.js";

/** The columns of a row, in their order. */
export const COLUMNS = [
  "frame",
  "time",
  "port",
  "length",
  "wire_length",
  "link_type",
  "verdict",
  "reason",
  "tag",
  "rules",
  "to",
  "copies",
] as const;

/** A frame as it arrived. */
export interface RowFrame {
  /** From 1 on, over all captures. */
  number: number;
  /** Nanoseconds since 1970; null where the capture has none. */
  time: bigint | null;
  /** Null for a frame that was sent. */
  port: number | null;
  /** Bytes that were captured. */
  length: number;
  wireLength: number;
  linkType: number;
}

/** The part of a row that all frames of an outcome class have in common. */
export interface RowEnd {
  readonly names: OutcomeNames;
  /** Its text before the tag, and after it. */
  readonly before: string;
  readonly after: string;
}

/** A destination of text and bytes, such as a file or standard output. */
export interface RowOutput {
  /** Writes, and waits while the reader is slow. */
  writeBytes(bytes: string | Uint8Array): Promise<void>;
  /** Writes what is held back, and closes. */
  end(): Promise<void>;
}

/** A file of rows. */
export interface RowFile {
  /** The common part of the rows of all frames with this outcome, whatever their tags. */
  endOf(outcome: Outcome): RowEnd;
  /** Adds a row. Gives true when enough is held to be written. */
  add(frame: RowFrame, tag: number | null, end: RowEnd): boolean;
  /** Writes what is held, and waits while the reader is slow. */
  flush(): Promise<void>;
  /** Writes the rest and closes. `partial` is the signal that ended the run, for formats that can store it. */
  end(partial: string | null): Promise<void>;
}

/** A text format with a line for each row. */
export interface RowFormat {
  readonly head: string;
  /** The text of a row before the verdict. */
  frame(frame: RowFrame): string;
  /** The text of a row from the verdict on, before and after the tag. */
  end(names: OutcomeNames): Omit<RowEnd, "names">;
  readonly noTag: string;
}

/** Characters of lines that are held before they are written. */
const ENOUGH = 1 << 18;

/** Rows as lines of text. */
export class TextRows implements RowFile {
  readonly #format: RowFormat;
  readonly #output: RowOutput;
  #held: string;

  /** @param hasHead whether the rows come after the head of the format */
  constructor(format: RowFormat, output: RowOutput, hasHead = true) {
    this.#format = format;
    this.#output = output;
    this.#held = hasHead ? format.head : "";
  }

  endOf(outcome: Outcome): RowEnd {
    const names = outcomeNames(outcome);
    return { names, ...this.#format.end(names) };
  }

  add(frame: RowFrame, tag: number | null, { before, after }: RowEnd): boolean {
    this.#held += this.#format.frame(frame) + before + (tag === null ? this.#format.noTag : String(tag)) + after;
    return this.#held.length >= ENOUGH;
  }

  async flush(): Promise<void> {
    const text = this.#held;
    this.#held = "";
    if (text !== "") await this.#output.writeBytes(text);
  }

  async end(): Promise<void> {
    await this.flush();
    await this.#output.end();
  }
}

/** RFC 4180; lists are joined with semicolons, a missing value is empty. Names that begin as formulas do have an apostrophe in front. */
export const CSV: RowFormat = {
  head: `${COLUMNS.join(",")}\r\n`,
  noTag: "",
  frame: ({ number, time, port, length, wireLength, linkType }) =>
    `${number},${time ?? ""},${port ?? ""},${length},${wireLength},${linkType},`,
  end: ({ verdict, reason, rules, to, copies }) => ({
    before: `${verdict},${reason ?? ""},`,
    after: `,${[rules, to, copies].map((list) => quoted(list.join(";"))).join(",")}\r\n`,
  }),
};

/** A JSON object in each line. */
export const NDJSON: RowFormat = {
  head: "",
  noTag: "null",
  frame: ({ number, time, port, length, wireLength, linkType }) =>
    `{"frame":${number},"time":${time},"port":${port},"length":${length},"wire_length":${wireLength},"link_type":${linkType},`,
  end: ({ verdict, reason, rules, to, copies }) => ({
    before: `"verdict":${JSON.stringify(verdict)},"reason":${JSON.stringify(reason)},"tag":`,
    after: `,"rules":${JSON.stringify(rules)},"to":${JSON.stringify(to)},"copies":${JSON.stringify(copies)}}\n`,
  }),
};

/**
 * RFC 4180, section 2, rules 5 to 7: quoted where it must be. A name that a spreadsheet would compute (`=1+1`) has an
 * apostrophe in front, which makes it text there.
 */
function quoted(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
