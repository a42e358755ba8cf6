/** JSON whose values know where they stand in the source, and whose objects keep a key that is there twice. */
import { notImported, type Place, type Word } from "./refusal.js";

export type JsonNode =
  | (Word & { readonly kind: "scalar"; readonly value: string | number | boolean | null })
  | { readonly kind: "array"; readonly items: readonly JsonNode[]; readonly place: Place }
  | {
      readonly kind: "object";
      readonly entries: readonly (readonly [key: Word, value: JsonNode])[];
      readonly place: Place;
    };

/** Where each character of a text stands. */
export function placesOf(text: string): (at: number) => Place {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (at) => {
    let low = 0;
    for (let high = starts.length; high - low > 1;) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= at) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: at - (starts[low] as number) + 1 };
  };
}

/** Values are read by a function that calls itself. */
const MAX_NESTED = 64;

const TOKEN = /\s*(?:([[\]{}:,])|("(?:[^"\\\n]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;

/** Reads a value from a character on. @returns it, and where it ends @throws NotImported it is no JSON */
export function readJson(text: string, from: number, place: (at: number) => Place): { node: JsonNode; end: number } {
  let end = from;
  const broken = (): never => {
    const at = end + (/^\s*/.exec(text.slice(end, end + SHOWN))?.[0].length ?? 0);
    const found = text.slice(at, at + SHOWN).split("\n")[0] ?? "";
    return notImported({ text: found, place: place(at) }, found === "" ? "the JSON ends here" : "this is no JSON");
  };
  const token = (): { text: string; at: number } => {
    TOKEN.lastIndex = end;
    const found = TOKEN.exec(text);
    if (found === null) return broken();
    const token = found[1] ?? found[2] ?? found[3] ?? "";
    const at = TOKEN.lastIndex - token.length;
    end = TOKEN.lastIndex;
    return { text: token, at };
  };
  /** A string may have escapes and control characters that JSON has not. */
  const parsed = ({ text: word, at }: { text: string; at: number }): string | number | boolean | null => {
    try {
      return JSON.parse(word) as string | number | boolean | null;
    } catch {
      end = at;
      return broken();
    }
  };
  const peek = (): string => /\S/.exec(text.slice(end, end + BLANKS))?.[0] ?? "";
  const list = (close: string, item: () => void): void => {
    if (peek() === close) {
      token();
      return;
    }
    for (;;) {
      item();
      const before = end;
      const next = token().text;
      if (next === close) return;
      if (next === ",") continue;
      end = before;
      broken();
    }
  };
  let depth = 0;
  const nested = (close: string, item: () => void, at: number): void => {
    if (++depth > MAX_NESTED)
      notImported({ text: text.slice(at, at + 1), place: place(at) }, `JSON of more than ${MAX_NESTED} levels`);
    list(close, item);
    depth--;
  };
  const value = (): JsonNode => {
    const before = end;
    const { text: first, at } = token();
    if (first === "[") {
      const items: JsonNode[] = [];
      nested("]", () => items.push(value()), at);
      return { kind: "array", items, place: place(at) };
    }
    if (first === "{") {
      const entries: [Word, JsonNode][] = [];
      const entry = (): void => {
        const start = end;
        const key = token();
        if (!key.text.startsWith('"')) end = start;
        if (!key.text.startsWith('"') || token().text !== ":") broken();
        entries.push([{ text: String(parsed(key)), place: place(key.at) }, value()]);
      };
      nested("}", entry, at);
      return { kind: "object", entries, place: place(at) };
    }
    if (/^[\]}:,]/.test(first)) {
      end = before;
      broken();
    }
    const scalar = parsed({ text: first, at });
    return { kind: "scalar", value: scalar, text: String(scalar), place: place(at) };
  };
  return { node: value(), end };
}

/**
 * Where the objects and arrays of an array begin, and where the array ends; the values are not read.
 * Without an end, `depth` says how many brackets are open.
 */
export function itemsOf(text: string, from: number): { starts: number[]; end: number | undefined; depth: number } {
  const starts: number[] = [];
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '"') at = endOfString(text, at);
    else if (char === "[" || char === "{") {
      if (depth++ === 1) starts.push(at);
    } else if ((char === "]" || char === "}") && --depth === 0) return { starts, end: at + 1, depth };
  }
  return { starts, end: undefined, depth };
}

/** The closing quotation mark, or the opening one where the line has none. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length && text[at] !== "\n"; at++) {
    if (text[at] === '"') return at;
    if (text[at] === "\\") at++;
  }
  return from;
}

const SHOWN = 40;
const BLANKS = 4096;

/** The value of a key; undefined without one. */
export function entry(node: JsonNode | undefined, name: string): JsonNode | undefined {
  return node?.kind === "object" ? node.entries.find(([key]) => key.text === name)?.[1] : undefined;
}

/** A number, a text or a truth value as a word; undefined for others. */
export function scalar(node: JsonNode | undefined): Word | undefined {
  return node?.kind === "scalar" ? { text: node.text, place: node.place } : undefined;
}
