/** Edits of the elements of a text: which there are for a change of a value, and what they make of the text. */
import type { Change as Edit } from "../formats/reading/format.js";
import type { SourceElement, SourcePlace } from "../formats/reading/finding.js";
import type { ImportSource } from "./importRules.js";
import { phraseBefore, type Phrase } from "../formats/text/phrases.js";
import { dotted, isDotted, valueLike } from "../formats/text/values.js";

/** A change of a text that changes a rule as wanted, and nothing else. */
export interface TextEdit extends SourcePlace {
  readonly before: string;
  /** Empty: the words are taken out, with a separator. */
  readonly after: string;
}

/** A value of an element, and the words that name it. */
export interface Span extends Phrase {
  readonly field: string;
  /** The value. */
  readonly at: number;
  readonly end: number;
}

/** One edit of each list, in all ways in which no two overlap. */
export function* combinations([first, ...more]: readonly (readonly Edit[])[]): Generator<readonly Edit[]> {
  if (first === undefined) {
    yield [];
    return;
  }
  for (const rest of combinations(more)) {
    for (const edit of first)
      if (rest.every((other) => edit.to <= other.from || other.to <= edit.from)) yield [edit, ...rest];
  }
}

/** A mask of an address in dots. */
const DOTTED = /^\/\d+\.\d+\.\d+\.\d+/;

function prefixMask(length: number): bigint {
  return (2n ** 32n - 1n) ^ (2n ** BigInt(32 - length) - 1n);
}

/** Other values in the place of a value, with or without what follows it as its mask or as the end of a range. */
export function* replacements({ text }: SourceElement, { at, end }: Span, after: string): Generator<Edit> {
  const value = text.slice(at, end);
  // The mask may be one that the language does not write.
  const [number, mask] = /^(?:0x)?[\da-f]+\/0x[\da-f]+$/i.test(after) ? after.split("/") : [];
  if (number !== undefined && mask !== undefined) yield { from: at, to: end, text: valueLike(value, number) };
  yield { from: at, to: end, text: valueLike(value, after) };
  const more = /^(?:\/[\w.:]+|-\d+)/.exec(text.slice(end))?.[0].length ?? 0;
  if (more > 0) {
    const [, network = "", length] = DOTTED.test(text.slice(end)) ? (/^(.*)\/(\d+)$/.exec(after) ?? []) : [];
    const whole = length === undefined ? after : `${network}/${dotted(prefixMask(Number(length)))}`;
    yield { from: at, to: end + more, text: whole };
  }
  // The address and its prefix are words of their own in some languages.
  const [, address = "", prefix] = /^(.*)\/(\d+)$/.exec(after) ?? [];
  if (prefix !== undefined) yield { from: at, to: end, text: /^\d{1,3}$/.test(value) ? prefix : address };
  // So are the address and its mask, in which ethtool has a 1 for each bit that is ignored.
  if (prefix !== undefined && Number(prefix) <= 32 && isDotted(value)) {
    const mask = prefixMask(Number(prefix));
    for (const one of [mask, mask ^ (2n ** 32n - 1n)]) yield { from: at, to: end, text: dotted(one) };
  }
}

/** A value and the words that name it taken out, with a separator after or before them. */
export function* removals({ text }: SourceElement, { from, key, end }: Omit<Span, "field">): Generator<Edit> {
  const to = end + (/^\/[\w.:]+/.exec(text.slice(end))?.[0].length ?? 0);
  for (const start of key === from ? [key] : [key, from]) {
    const after = /^(?:\s*,\s*|\s*\/\s+|\s+)/.exec(text.slice(to))?.[0].length ?? 0;
    yield { from: start, to: to + after, text: "" };
    const before = /(?<!\s)(?:\s*,\s*|\s+\/\s*|\s+)$/.exec(text.slice(0, start))?.[0].length ?? 0;
    yield { from: start - before, to, text: "" };
  }
}

/** Words that texts name fields by, and the changes of fields for which each may stand in the place of the other. */
const RENAMED: readonly (readonly [changes: RegExp, a: string, b: string])[] = [
  [/tcp|udp|protocol/, "tcp", "udp"],
  [/_(?:src|dst|sport|dport)|\.[sd]mac/, "src", "dst"],
  [/ethertype|ip_version|ipv[46]_/, "ipv6", "ip"],
  [/ethertype|ip_version|ipv[46]_/, "ipv6", "ipv4"],
];

/** One word for another, alone and at each place of it, by what is to change. */
export function* renamings(
  { text }: SourceElement,
  changes: readonly { readonly field: string }[],
): Generator<readonly Edit[]> {
  for (const [fields, ...pair] of RENAMED) {
    if (!changes.some(({ field }) => fields.test(field))) continue;
    for (const [from, to] of [pair, pair.toReversed()] as [string, string][]) {
      const edits: Edit[] = [];
      // "tcp" is also in tcp4, tcp_dst; "src" in nw_src, src-ip.
      for (const { 0: word, index } of text.matchAll(/[a-z][\w-]*/gi)) {
        const other = word.replace(new RegExp(`(?<![a-z])${from}(?![a-z])`), to);
        if (other !== word) edits.push({ from: index, to: index + word.length, text: other });
      }
      for (const edit of edits) yield [edit];
      if (edits.length > 1) yield edits;
    }
  }
}

/** The text of an element after edits that lie in it. */
export function elementAfter({ text, line, column }: SourceElement, edits: readonly TextEdit[]): string {
  const starts = lineStarts(text);
  const changes = edits.map((edit) => {
    const n = edit.line - line;
    const from = (starts[n] ?? 0) + edit.column - (n === 0 ? column : 1);
    return { from, to: from + edit.before.length, text: edit.after };
  });
  return applied(text, changes);
}

/** The edit of a word, with the value that it names. */
export function wordEdit(element: SourceElement, { from, to, text }: Edit): TextEdit {
  const value = /^(?:=|\s+is\s+|\s+)(?=[\da-f.:]*\d)[^\s,]+/.exec(element.text.slice(to))?.[0] ?? "";
  return { ...placeAt(element, from), before: element.text.slice(from, to) + value, after: text + value };
}

export function textEdit(element: SourceElement, edit: Edit): TextEdit {
  return textEdits(element, [edit])[0]!;
}

/** Edits with the words that name their values; those that share words are one. */
export function textEdits(element: SourceElement, edits: readonly Edit[]): readonly TextEdit[] {
  const whole = element.text;
  const merged: { start: number; to: number; edits: readonly Edit[] }[] = [];
  for (const edit of edits.toSorted((a, b) => a.from - b.from)) {
    const start = edit.text === "" ? edit.from : (phraseBefore(whole, edit.from)?.from ?? edit.from);
    const last = merged.at(-1);
    if (last !== undefined && start < last.to) {
      merged[merged.length - 1] = { start: Math.min(start, last.start), to: edit.to, edits: [...last.edits, edit] };
    } else merged.push({ start, to: edit.to, edits: [edit] });
  }
  return merged.map(({ start, to, edits: own }) => {
    const before = whole.slice(start, to);
    const after = applied(
      before,
      own.map(({ from, to: end, text }) => ({ from: from - start, to: end - start, text })),
    );
    return { ...placeAt(element, start), before, after };
  });
}

/** Sources after edits, each of which lies in one line. */
export function withEdits(sources: readonly ImportSource[], edits: readonly TextEdit[]): ImportSource[] {
  return sources.map(({ file, text }) => {
    const lines = text.split("\n");
    for (const { line, column, before, after } of edits.filter((one) => one.file === file)) {
      const whole = lines[line - 1];
      if (whole !== undefined)
        lines[line - 1] = whole.slice(0, column - 1) + after + whole.slice(column - 1 + before.length);
    }
    return { file, text: lines.join("\n") };
  });
}

/** A text after edits that do not overlap. */
export function applied(text: string, edits: readonly Edit[]): string {
  // From the end on, so that the places of the others stay.
  return edits
    .toSorted((a, b) => b.from - a.from)
    .reduce((done, { from, to, text: words }) => done.slice(0, from) + words + done.slice(to), text);
}

export function placeAt(element: SourceElement, at: number): SourcePlace {
  const { file, line, column, text } = element;
  const [first = "", ...more] = text.slice(0, at).split("\n");
  const last = more.at(-1);
  return { file, line: line + more.length, column: last === undefined ? column + first.length : last.length + 1 };
}

export function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
