/** JSON in the sources of importers. */
import { JsonError, MAX_JSON_DEPTH, readJsonAt, type JsonNode } from "../../base/json.js";
import { notImported, type Place, type Word } from "./refusal.js";

/** Reads a value from a character on. @throws NotImported it is no JSON */
export function readJson(text: string, from: number, place: (at: number) => Place): JsonNode {
  try {
    return readJsonAt(text, from, place);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { kind, token, start } = error;
    const word = (text: string): Word => ({ text, place: error.place });
    if (kind === "depth") return notImported(word(token), `JSON of more than ${MAX_JSON_DEPTH} levels`);
    const found = text.slice(start, start + SHOWN).split("\n")[0] ?? "";
    return notImported(word(found), found === "" ? "the JSON is incomplete" : "invalid JSON");
  }
}

/**
 * Where the objects and arrays of an array begin, where other text stands between them, and where the array ends; the values
 * are not read. Without an end, `depth` says how many brackets are open.
 */
export function itemsOf(
  text: string,
  from: number,
): { starts: number[]; stray: number | undefined; end: number | undefined; depth: number } {
  const starts: number[] = [];
  let stray: number | undefined;
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at] as string;
    if (depth === 1 && !/[\s,[\]{}]/.test(char)) stray ??= at;
    if (char === '"') at = endOfString(text, at);
    else if (char === "[" || char === "{") {
      if (depth++ === 1) starts.push(at);
    } else if ((char === "]" || char === "}") && --depth === 0) return { starts, stray, end: at + 1, depth };
  }
  return { starts, stray, end: undefined, depth };
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

/** The value of a key; undefined without one. */
export function entry(node: JsonNode | undefined, name: string): JsonNode | undefined {
  return node?.kind === "object" ? node.entries.find(([key]) => key.text === name)?.[1] : undefined;
}

/** A number, a text or a truth value as a word; undefined for others. */
export function scalar(node: JsonNode | undefined): Word | undefined {
  return node?.kind === "scalar" ? { text: String(node.value), place: node.place } : undefined;
}
