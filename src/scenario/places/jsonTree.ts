/** Where the values of a JSON text stand, and edits that keep the rest of the text as it is. */

/** A value of the text. `start` and `end` count characters. */
export interface JsonNode {
  readonly start: number;
  readonly end: number;
  /** The elements of a list; null for another value. */
  readonly items: readonly JsonNode[] | null;
  /** The members of an object, by key; null for another value. */
  readonly members: ReadonlyMap<string, JsonMember> | null;
}

export interface JsonMember {
  /** Where the key begins. */
  readonly start: number;
  readonly value: JsonNode;
}

/** A replacement of a part of the text. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const BLANKS = /[\s\uFEFF]*/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const OTHER = /[^\s,\]}]+/y;

/** The tree of a text that is JSON: `parseScenario` has read it. */
export function jsonTree(text: string): JsonNode {
  let at = 0;
  const take = (form: RegExp): string => {
    form.lastIndex = at;
    const [found = ""] = form.exec(text) ?? [];
    at += found.length;
    return found;
  };
  /** Reads the parts of a list or an object up to its end. */
  const parts = (read: () => void): void => {
    at++;
    for (take(BLANKS); at < text.length && !"]}".includes(text.charAt(at)); take(BLANKS)) {
      if (text.charAt(at) === ",") at++;
      else read();
    }
    at++;
  };
  const value = (): JsonNode => {
    take(BLANKS);
    const start = at;
    const first = text.charAt(at);
    if (first === "[") {
      const items: JsonNode[] = [];
      parts(() => items.push(value()));
      return { start, end: at, items, members: null };
    }
    if (first === "{") {
      const members = new Map<string, JsonMember>();
      parts(() => {
        const from = at;
        const key = JSON.parse(take(STRING)) as string;
        take(BLANKS);
        at++;
        members.set(key, { start: from, value: value() });
      });
      return { start, end: at, items: null, members };
    }
    if (first === '"') take(STRING);
    else take(OTHER);
    return { start, end: at, items: null, members: null };
  };
  return value();
}

/** The node at these keys; undefined where there is none. */
export function nodeAt(root: JsonNode, keys: readonly (string | number)[]): JsonNode | undefined {
  let node: JsonNode | undefined = root;
  for (const key of keys) {
    node = typeof key === "number" ? node?.items?.[key] : node?.members?.get(key)?.value;
  }
  return node;
}

/** Removes an element of a list or a member of an object, with its comma. */
export function removal(root: JsonNode, keys: readonly (string | number)[]): TextEdit | null {
  const parent = nodeAt(root, keys.slice(0, -1));
  const parts =
    parent?.items ?? [...(parent?.members ?? [])].map(([, { start, value }]) => ({ start, end: value.end }));
  const key = keys.at(-1);
  const index = typeof key === "number" ? key : [...(parent?.members?.keys() ?? [])].indexOf(key ?? "");
  const [before, one, after] = [parts[index - 1], parts[index], parts[index + 1]];
  if (parent === undefined || one === undefined) return null;
  if (before !== undefined) return { start: before.end, end: one.end, text: "" };
  if (after !== undefined) return { start: one.start, end: after.start, text: "" };
  return { start: parent.start + 1, end: parent.end - 1, text: "" };
}

export function edited(text: string, { start, end, text: replacement }: TextEdit): string {
  return text.slice(0, start) + replacement + text.slice(end);
}
