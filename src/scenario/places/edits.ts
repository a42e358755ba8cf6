/** Edits of a JSON text that keep the rest of it as it is. */
import type { JsonNode } from "../../base/json.js";

/** A replacement of a part of the text. */
interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The node at these keys; undefined where there is none. */
export function nodeAt(root: JsonNode, keys: readonly (string | number)[]): JsonNode | undefined {
  let node: JsonNode | undefined = root;
  for (const key of keys) {
    if (node?.kind === "array") node = node.items[Number(key)];
    else node = node?.kind === "object" ? node.entries.find(([{ text }]) => text === key)?.[1] : undefined;
  }
  return node;
}

/** Removes an element of a list or a member of an object, with its comma. */
export function removal(root: JsonNode, keys: readonly (string | number)[]): TextEdit | null {
  const parent = nodeAt(root, keys.slice(0, -1));
  const key = keys.at(-1);
  if (parent === undefined || parent.kind === "scalar" || key === undefined) return null;
  const parts = parent.kind === "array" ? parent.items : parent.entries.map(([{ start }, { end }]) => ({ start, end }));
  const index = parent.kind === "array" ? Number(key) : parent.entries.findIndex(([{ text }]) => text === key);
  const [before, one, after] = [parts[index - 1], parts[index], parts[index + 1]];
  if (one === undefined) return null;
  if (before !== undefined) return { start: before.end, end: one.end, text: "" };
  if (after !== undefined) return { start: one.start, end: after.start, text: "" };
  return { start: parent.start + 1, end: parent.end - 1, text: "" };
}

export function edited(text: string, { start, end, text: replacement }: TextEdit): string {
  return text.slice(0, start) + replacement + text.slice(end);
}
