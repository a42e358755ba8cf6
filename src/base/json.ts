/**
 * The only reader of JSON text: as plain values, or as a tree whose values have their places and whose
 * objects keep a key that occurs twice.
 */

/** Counted from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** Where a value begins, and the characters from `start` to `end`. */
interface JsonSpan {
  readonly place: TextPlace;
  readonly start: number;
  readonly end: number;
}

export interface JsonScalar extends JsonSpan {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
}

export interface JsonArray extends JsonSpan {
  readonly kind: "array";
  readonly items: readonly JsonNode[];
}

export interface JsonObject extends JsonSpan {
  readonly kind: "object";
  readonly entries: readonly (readonly [key: JsonKey, value: JsonNode])[];
}

export type JsonNode = JsonScalar | JsonArray | JsonObject;

/** `text` is without quotation marks and escapes. */
export interface JsonKey {
  readonly text: string;
  readonly place: TextPlace;
  readonly start: number;
}

/** A text that is not JSON. */
export class JsonError extends Error {
  constructor(
    /** The rule that the text breaks. */
    message: string,
    readonly kind: "syntax" | "depth",
    readonly start: number,
    readonly place: TextPlace,
    /** "" at the end of the text. */
    readonly token: string,
  ) {
    super(message);
  }
}

/** More than any scenario has. The reader recurses once a level. */
export const MAX_JSON_DEPTH = 64;

/** Reads a text as `JSON.parse` does; it may begin with a byte order mark. @throws JsonError */
export function parseJson(source: string): unknown {
  const text = source.replace(/^\uFEFF/, "");
  const value = parsedNatively(text);
  // The tree takes ten times as long, so it is read only to find what is wrong.
  if (value === undefined || isDeeper(value, MAX_JSON_DEPTH)) readJson(text);
  return value;
}

/** Undefined for a text that is not JSON. */
function parsedNatively(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}

/** White space, then one token: a string, a number, a word or a mark. */
const TOKEN = /[ \t\r\n]*("(?:[^"\\\n]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|\w+|[^ \t\r\n])?/y;

/** Reads a text of one value, which may follow a byte order mark. @throws JsonError */
export function readJson(text: string): JsonNode {
  const reader = new JsonReader(text, text.startsWith("\uFEFF") ? 1 : 0, placesOf(text));
  const node = reader.value(0);
  if (reader.token !== "") reader.bad("one document ends here, and more follows");
  return node;
}

/** Reads the value that begins at `from`, whatever follows it. @throws JsonError */
export function readJsonAt(text: string, from: number, place: (at: number) => TextPlace): JsonNode {
  return new JsonReader(text, from, place).value(0);
}

/** Finds the place of each character of a text. */
export function placesOf(text: string): (at: number) => TextPlace {
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

class JsonReader {
  readonly #text: string;
  readonly #place: (at: number) => TextPlace;
  /** The current token, its start, and its end. */
  token = "";
  #start: number;
  #end: number;

  constructor(text: string, from: number, place: (at: number) => TextPlace) {
    this.#text = text;
    this.#place = place;
    this.#start = this.#end = from;
    this.#advance();
  }

  value(depth: number): JsonNode {
    const { token } = this;
    if (depth === MAX_JSON_DEPTH && (token === "{" || token === "[")) {
      this.bad(`at most ${MAX_JSON_DEPTH} levels deep`, "depth");
    }
    const start = this.#start;
    const place = this.#place(start);
    if (token === "{") {
      const entries = this.#entries(depth + 1);
      return { kind: "object", entries, place, start, end: this.#close() };
    }
    if (token === "[") {
      const items = this.#items(depth + 1);
      return { kind: "array", items, place, start, end: this.#close() };
    }
    const value = this.#scalar();
    return { kind: "scalar", value, place, start, end: this.#close() };
  }

  bad(rule: string, kind: JsonError["kind"] = "syntax"): never {
    throw new JsonError(rule, kind, this.#start, this.#place(this.#start), this.token);
  }

  #advance(): void {
    TOKEN.lastIndex = this.#end;
    const [all = "", token = ""] = TOKEN.exec(this.#text) ?? [];
    this.#end += all.length;
    this.#start = this.#end - token.length;
    this.token = token;
  }

  #is(mark: string): boolean {
    return this.token === mark;
  }

  /** Goes to the token after a value. @returns where the value ends */
  #close(): number {
    const end = this.#end;
    this.#advance();
    return end;
  }

  #scalar(): JsonScalar["value"] {
    if (this.#is("")) this.bad("the text ends before the document does");
    try {
      return JSON.parse(this.token) as JsonScalar["value"];
    } catch {
      return this.bad("a value is text in double quotes, a number, true, false, null, { or [");
    }
  }

  #entries(depth: number): [JsonKey, JsonNode][] {
    const entries: [JsonKey, JsonNode][] = [];
    for (;;) {
      this.#advance();
      if (entries.length === 0 && this.#is("}")) return entries;
      if (!this.token.startsWith('"')) this.bad("a key in double quotes stands here; no comma follows the last one");
      const start = this.#start;
      const key = { text: this.#scalar() as string, place: this.#place(start), start };
      this.#advance();
      if (!this.#is(":")) this.bad(`a colon follows the key ${JSON.stringify(key.text)}`);
      this.#advance();
      entries.push([key, this.value(depth)]);
      if (this.#is("}")) return entries;
      if (!this.#is(",")) this.bad(`a comma or } follows the value of ${JSON.stringify(key.text)}`);
    }
  }

  #items(depth: number): JsonNode[] {
    const items: JsonNode[] = [];
    this.#advance();
    if (this.#is("]")) return items;
    for (;;) {
      items.push(this.value(depth));
      if (this.#is("]")) return items;
      if (!this.#is(",")) this.bad("a comma or ] follows a value of a list");
      this.#advance();
    }
  }
}
