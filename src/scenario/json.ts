/** Parses JSON text. Errors have line and column; a key that occurs twice is refused, not lost. */
import { refuse, type RefusalReason } from "../errors.js";

/** The deepest nesting: more than any scenario needs. */
const MAX_DEPTH = 64;

/** White space, then one token: a string, a number, a word or a mark. */
const TOKEN = /[ \t\r\n]*("(?:[^"\\\n]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|\w+|[^\s])?/y;

/**
 * Parses JSON. @throws bad_json with line and column; duplicate_name for a key that an object has
 * twice
 */
export function parseJson(text: string): unknown {
  return new JsonReader(text).document();
}

class JsonReader {
  readonly #text: string;
  /** The start of the current token, the token, and the start of the next one. */
  #at = 0;
  #token: string = "";
  #next = 0;

  constructor(text: string) {
    // A byte order mark is not part of the text.
    this.#text = text.replace(/^\uFEFF/, "");
  }

  document(): unknown {
    this.#advance();
    const value = this.#value("", 0);
    if (this.#token !== "") this.#bad("one document ends here, and more follows");
    return value;
  }

  #advance(): void {
    TOKEN.lastIndex = this.#next;
    const [all = "", token = ""] = TOKEN.exec(this.#text) ?? [];
    this.#next += all.length;
    this.#at = this.#next - token.length;
    this.#token = token;
  }

  #is(mark: string): boolean {
    return this.#token === mark;
  }

  #value(path: string, depth: number): unknown {
    const token = this.#token;
    if (depth === MAX_DEPTH && (token === "{" || token === "[")) this.#bad(`at most ${MAX_DEPTH} levels deep`);
    if (token === "{") return this.#object(path, depth);
    if (token === "[") return this.#array(path, depth);
    if (token === "") this.#bad("the text ends before the document does");
    let value: unknown;
    try {
      value = JSON.parse(token);
    } catch {
      this.#bad(`a value is text in double quotes, a number, true, false, null, { or [`);
    }
    this.#advance();
    return value;
  }

  #object(path: string, depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (let first = true; ; first = false) {
      this.#advance();
      if (first && this.#is("}")) break;
      if (!this.#token.startsWith('"')) this.#bad("a key in double quotes stands here; no comma follows the last one");
      const at = this.#at;
      const key = this.#value(path, depth + 1) as string;
      const below = path === "" ? key : `${path}.${key}`;
      if (Object.hasOwn(object, key)) this.#bad("write the key once", at, "duplicate_name", below);
      if (!this.#is(":")) this.#bad(`a colon follows the key ${JSON.stringify(key)}`);
      this.#advance();
      const value = this.#value(below, depth + 1);
      Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      if (this.#is("}")) break;
      if (!this.#is(",")) this.#bad(`a comma or } follows the value of ${JSON.stringify(key)}`);
    }
    this.#advance();
    return object;
  }

  #array(path: string, depth: number): unknown[] {
    const array: unknown[] = [];
    this.#advance();
    if (this.#is("]")) {
      this.#advance();
      return array;
    }
    for (;;) {
      array.push(this.#value(`${path}[${array.length}]`, depth + 1));
      if (this.#is("]")) break;
      if (!this.#is(",")) this.#bad("a comma or ] follows a value of a list");
      this.#advance();
    }
    this.#advance();
    return array;
  }

  #bad(hint: string, at = this.#at, reason: RefusalReason = "bad_json", place?: string): never {
    const before = this.#text.slice(0, at).split("\n");
    const line = `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
    const path = place === undefined ? line : `${place} (${line})`;
    const value = place === undefined && this.#token !== "" ? this.#token.slice(0, 40) : undefined;
    refuse({ code: "EINVAL", reason, path, value, hint });
  }
}
