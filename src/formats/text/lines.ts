/**
 * Commands in what people paste: with prompts, marks of diffs and quotations, log prefixes, comments
 * and list marks around them, and wrapped by a backslash.
 *
 *     testpmd> flow create 0 ingress pattern eth / end \
 *     >   actions drop / end
 *
 * A line of the result is one command. It knows for each character where that stands in the source.
 */
import type { Place } from "./refusal.js";

interface Piece {
  /** Where the piece begins in the text of the command. */
  readonly at: number;
  readonly place: Place;
  /** Whether it is the value of a variable, all of which stands where the variable does. */
  readonly isValue?: boolean;
}

/** A command, joined from the lines that it stands on. */
export class TextLine {
  readonly #pieces: Piece[];
  #text: string;

  constructor(text: string, place: Place) {
    this.#text = text;
    this.#pieces = [{ at: 0, place }];
  }

  get text(): string {
    return this.#text;
  }

  get length(): number {
    return this.#text.length;
  }

  /** Adds what stands on another line, after a space. */
  join(text: string, place: Place): void {
    this.#pieces.push({ at: this.#text.length + 1, place });
    this.#text += ` ${text}`;
  }

  /** The line with the values of variables (`$NAME`, `${NAME}`); those without a value stay as they are. */
  expanded(valueOf: (name: string) => string | undefined): TextLine {
    if (!this.#text.includes("$")) return this;
    const line = new TextLine("", this.place(0));
    const add = (text: string, from: number): void => {
      const start = line.#text.length;
      line.#pieces.push({ at: start, place: this.place(from) });
      for (const { at, place } of this.#pieces)
        if (at > from && at < from + text.length) line.#pieces.push({ at: start + at - from, place });
      line.#text += text;
    };
    let done = 0;
    for (const found of this.#text.matchAll(/\$(?:\{(\w+)\}|(\w+))/g)) {
      const value = valueOf(found[1] ?? found[2] ?? "");
      if (value === undefined) continue;
      add(this.#text.slice(done, found.index), done);
      line.#pieces.push({ at: line.#text.length, place: this.place(found.index), isValue: true });
      line.#text += value;
      done = found.index + found[0].length;
    }
    add(this.#text.slice(done), done);
    return line;
  }

  /** Where a character of the command stands in the source. */
  place(at: number): Place {
    // The last piece that begins at or before it.
    let [low, high] = [0, this.#pieces.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#pieces[middle] as Piece).at <= at) low = middle;
      else high = middle - 1;
    }
    const { at: start, place, isValue } = this.#pieces[low] as Piece;
    if (isValue === true) return place;
    return { line: place.line, column: place.column + at - start };
  }
}

export interface LineRules {
  /** Whether a text begins with a command of the format. @param before what stands in front of it in its line */
  readonly isCommand: (text: string, before: string) => boolean;
  /**
   * Where a command begins in a line that has something else in front of it; undefined if the line has none.
   * @param from after all prefixes that are known
   */
  readonly within?: (line: string, from: number) => number | undefined;
  /**
   * Whether `#` before a command makes it a comment, where other commands have none. Before commands of a shell it can be
   * the prompt of root.
   */
  readonly isOwnLanguage?: (command: string) => boolean;
  /** Whether a command goes on in the next line, besides those that end in a backslash. */
  readonly goesOn?: (command: string) => boolean;
  /** The same for long commands, by what each line adds: returned for the first line of one. */
  readonly progress?: () => (added: string) => boolean;
  /** Whether a text that could begin a command belongs to the one before it, where that goes on. */
  readonly isPart?: (text: string) => boolean;
}

/** Lines that hold no command. */
export interface OtherLine {
  readonly text: string;
  readonly place: Place;
}

/** A command that is longer ends with its line, unless a backslash wraps it. */
const MAX_LENGTH = 65_536;

/**
 * Reads the commands of a text. Empty lines and comments are left out; a line of another kind is
 * given to `other`.
 */
export function commandsOf(source: string, rules: LineRules, other: (line: OtherLine) => void): TextLine[] {
  const commands: TextLine[] = [];
  let open: TextLine | undefined;
  let progress: ReturnType<NonNullable<LineRules["progress"]>> | undefined;
  /** Whether the open command goes on in the next line. */
  let isUnfinished = false;
  const read = (line: TextLine, added: string): void => {
    const goesOn = progress?.(added) ?? rules.goesOn?.(line.text) === true;
    isUnfinished = goesOn && line.length < MAX_LENGTH;
  };
  const isScript = source.startsWith("#!");
  const hasBare = hasBareCommands(source, rules);
  let number = 0;
  /** A backslash ends the line before: this one belongs to the same command, whatever it begins with. */
  let isContinued = false;
  for (const raw of source.split("\n")) {
    number++;
    if (raw === "") {
      isContinued = false;
      if (!isUnfinished) open = undefined;
      continue;
    }
    const line = raw.slice(0, endOf(raw)).replaceAll("\u00a0", " ");
    const goesOn = line.endsWith("\\");
    const text = goesOn ? line.slice(0, -1).trimEnd() : line;
    const isPart = open !== undefined && (isContinued || (isUnfinished && rules.isPart?.(text.trimStart()) === true));
    isContinued = goesOn;
    const at =
      isPart || (isScript && isHash(text)) || (hasBare && isCommentedOut(text, rules))
        ? undefined
        : startOfCommand(text, rules.isCommand, rules.within);
    if (at !== undefined) {
      open = new TextLine(text.slice(at, goesOn ? undefined : endWithin(text, at)), { line: number, column: at + 1 });
      commands.push(open);
      progress = rules.progress?.();
      read(open, open.text);
    } else if (open !== undefined && text.trim() !== "") {
      const from = /^\s*(?:[>+|]\s+)?/.exec(text)?.[0].length ?? 0;
      open.join(text.slice(from), { line: number, column: from + 1 });
      read(open, text.slice(from));
    } else if (open === undefined && text.trim() !== "" && !isComment(text)) {
      other({ text: text.trim(), place: { line: number, column: text.length - text.trimStart().length + 1 } });
    }
    if (!goesOn && !isUnfinished) open = undefined;
  }
  return commands;
}

/** Whether `#` begins a comment before commands that are in a language of their own: some stand without it. */
function hasBareCommands(source: string, { isCommand, isOwnLanguage }: LineRules): boolean {
  if (isOwnLanguage === undefined || !source.includes("#")) return false;
  return source.split("\n").some((line) => isCommand(line.trimStart(), "") && isOwnLanguage(line.trimStart()));
}

function isHash(text: string): boolean {
  return text.trimStart().startsWith("#");
}

function isCommentedOut(text: string, { isOwnLanguage }: LineRules): boolean {
  const after = /^\s*#+\s*(.*)/.exec(text)?.[1];
  return after !== undefined && isOwnLanguage?.(after) === true;
}

/** Where a line ends, without blanks. */
function endOf(line: string): number {
  let end = line.length;
  while (end > 0 && /[\s\u200b]/.test(line[end - 1] as string)) end--;
  return end;
}

/** Prompts, marks of diffs, quotations and lists, times and names of logs, `sudo` and the like. */
const IN_FRONT = [
  /^\s+/,
  /^[+>|]\s*/,
  /^(?:[-*\u2022]|\d+[.)])\s+/,
  /^\d+,(?=[a-z])/,
  /^[\w.-]+>\s*/,
  /^\(?[\w.-]{0,60}\)?\s{0,8}\[?[\w.-]{1,60}@[\w.-]{1,60}[ :][^#$]{0,80}[#$]\s*/,
  /^[\w.~/-]{0,40}[#$%]\s*/,
  /^\[[^\]]{1,60}\]:?\s*/,
  /^\d{4}-\d\d-\d\d[T ][\d:.,]{1,30}(?:Z|[+-]\d\d:?\d\d)?[\s|:]*/,
  /^[A-Z][a-z]{2}\s+\d{1,2} \d\d:\d\d:\d\d (?:[\w.-]+ )?(?:[\w./-]+(?:\[\d+\])?: )?/,
  /^\d\d:\d\d:\d\d(?:[.,]\d+)?[\s|:]*/,
  /^(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE|EAL|testpmd)\b[\s:|-]*/,
  /^(?:sudo|exec|run)\s+/,
  /^ip netns exec \S+\s+/,
  /^[`"']+/,
] as const;

/** The position of the command in a line, after any prompt or prefix; undefined if there is none. */
export function startOfCommand(
  text: string,
  isCommand: LineRules["isCommand"],
  within?: LineRules["within"],
): number | undefined {
  let at = 0;
  for (let left = MAX_PREFIXES; left > 0; left--) {
    const rest = text.slice(at);
    if (isCommand(rest, text.slice(0, at))) return at;
    const found = IN_FRONT.map((one) => one.exec(rest)?.[0].length ?? 0).find((length) => length > 0);
    if (found === undefined) break;
    at += found;
  }
  return isComment(text) && !RUNS_COMMAND.test(text) ? undefined : within?.(text, at);
}

const MAX_PREFIXES = 8;

/**
 * `within` for commands of a tool: where one begins that anything stands in front of, such as
 * `kubectl exec POD -- tc filter add ...`, `ssh HOST 'tc filter add ...'`, `step 1: tc filter add ...`.
 *
 * @param command begins with what stands in front of the command, as a lookbehind
 */
export const commandWithin =
  (command: RegExp): NonNullable<LineRules["within"]> =>
  (line) =>
    command.exec(line)?.index;

/** A root prompt, not a comment: programs that run the command that follows them. */
const RUNS_COMMAND =
  /^\s*#\s*(?:\S*\/)?(?:kubectl|oc|docker|podman|lxc|crictl|ssh|nsenter|chroot|timeout|env|bash|sh|su)\s/;

const OPENING = "\"'`([{";
const CLOSING = "\"'`)]}";

/** Where a command ends that stands in quotation marks or brackets: before what closes them. */
function endWithin(line: string, at: number): number | undefined {
  const opening = line[at - 1] ?? " ";
  const closing = CLOSING[OPENING.indexOf(opening)];
  if (closing === undefined) return undefined;
  if (closing === opening) {
    const last = line.lastIndexOf(closing);
    return last > at && /^.[\s"'`)\]},;.]*$/.test(line.slice(last)) ? last : undefined;
  }
  let depth = 1;
  for (let n = at; n < line.length; n++) {
    if (line[n] === opening) depth++;
    else if (line[n] === closing && --depth === 0) return n;
  }
  return undefined;
}

function isComment(text: string): boolean {
  return /^\s*(?:#|\/\/|!|;|```|\/\*|\*\/)/.test(text);
}
