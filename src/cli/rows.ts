/** What becomes of each frame as a row of a table, for those who go on in other tools: docs/frames.md, Big captures. */
import { outcomeNames, type OutcomeNames } from "../run/outcomeRecord.js";
import type { Outcome } from "../model/traffic/outcome.js";
import type { Output } from "./output.js";

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

/** A frame as it came in. */
export interface RowFrame {
  /** From 1 on, over all captures. */
  number: number;
  /** Nanoseconds since 1970. */
  time: bigint;
  /** Null where it was sent. */
  port: number | null;
  /** Bytes that were captured. */
  length: number;
  wireLength: number;
  linkType: number;
}

/** What a format keeps of frames that ended alike, and makes once for all of them. */
export interface RowEnd {
  readonly names: OutcomeNames;
  /** Its text in front of the tag, and behind it. */
  readonly before: string;
  readonly after: string;
}

/** A file of rows. */
export interface RowFile {
  /** What rows of frames have in common that came to this end, with whatever tag. */
  endOf(outcome: Outcome): RowEnd;
  /** Adds a row; true where enough is held to be written. */
  add(frame: RowFrame, tag: number | null, end: RowEnd): boolean;
  /** Writes what is held, and waits where the reader is slow. */
  flush(): Promise<void>;
  /** Writes the last of it, and closes; `partial` is the signal that has ended the run, for formats with a place for it. */
  end(partial: string | null): Promise<void>;
}

/** A format of lines. */
interface Dialect {
  readonly head: string;
  frame(frame: RowFrame): string;
  end(names: OutcomeNames): Omit<RowEnd, "names">;
  readonly noTag: string;
}

/** Characters of lines that are held. */
const ENOUGH = 1 << 18;

/** Rows as lines of text. */
export class TextRows implements RowFile {
  readonly #dialect: Dialect;
  readonly #output: Output;
  #held: string;

  constructor(dialect: Dialect, output: Output) {
    this.#dialect = dialect;
    this.#output = output;
    this.#held = dialect.head;
  }

  endOf(outcome: Outcome): RowEnd {
    const names = outcomeNames(outcome);
    return { names, ...this.#dialect.end(names) };
  }

  add(frame: RowFrame, tag: number | null, { before, after }: RowEnd): boolean {
    this.#held += this.#dialect.frame(frame) + before + (tag === null ? this.#dialect.noTag : String(tag)) + after;
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

/** RFC 4180; lists are joined with semicolons, what is not there is empty. */
export const CSV: Dialect = {
  head: `${COLUMNS.join(",")}\r\n`,
  noTag: "",
  frame: ({ number, time, port, length, wireLength, linkType }) =>
    `${number},${time},${port ?? ""},${length},${wireLength},${linkType},`,
  end: ({ verdict, reason, rules, to, copies }) => ({
    before: `${verdict},${reason ?? ""},`,
    after: `,${[rules, to, copies].map((list) => quoted(list.join(";"))).join(",")}\r\n`,
  }),
};

/** A JSON object a line. */
export const NDJSON: Dialect = {
  head: "",
  noTag: "null",
  frame: ({ number, time, port, length, wireLength, linkType }) =>
    `{"frame":${number},"time":${time},"port":${port},"length":${length},"wire_length":${wireLength},"link_type":${linkType},`,
  end: ({ verdict, reason, rules, to, copies }) => ({
    before: `"verdict":${JSON.stringify(verdict)},"reason":${JSON.stringify(reason)},"tag":`,
    after: `,"rules":${JSON.stringify(rules)},"to":${JSON.stringify(to)},"copies":${JSON.stringify(copies)}}\n`,
  }),
};

/** Section 2, rules 5 to 7: quoted where it must be. */
function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
