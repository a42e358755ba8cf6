/** Changes of a document that keep the rest of its text: each takes the text and gives the new one. */
import type { Edit, Node } from "jsonc-parser";
import { nodeAt, treeOf } from "./places.js";

/** Lines of documents are no longer than this, where they can be broken. */
const WIDTH = 100;

/** The white space of one level, as the first indented line has it. */
export function indentOf(text: string): string {
  return /^(\t| +)\S/m.exec(text)?.[1] ?? "  ";
}

/** The value at a path replaced, or a property added to the object above it. */
export function withValue(text: string, path: string, key: string | null, value: unknown): string {
  const node = nodeAt(text, path);
  if (node === null) return text;
  if (key === null) return replaced(text, node, value);
  const known = node.children?.find(({ children }) => children?.[0]?.value === key)?.children?.[1];
  return known === undefined ? withChild(text, node, key, value) : replaced(text, known, value);
}

/** An item added at the end of a list. */
export function withItem(text: string, path: string, value: unknown): string {
  const node = nodeAt(text, path);
  return node === null ? text : withChild(text, node, null, value);
}

/** The property or item at a path taken away, with its comma. */
export function without(text: string, path: string): string {
  const value = nodeAt(text, path);
  const child = value?.parent?.type === "property" ? value.parent : value;
  const container = child?.parent;
  if (child === undefined || child === null || container === undefined) return text;
  const children = container.children ?? [];
  const at = children.indexOf(child);
  const [before, after] = [children[at - 1], children[at + 1]];
  const [from, to] =
    before !== undefined
      ? [before.offset + before.length, child.offset + child.length]
      : after !== undefined
        ? [child.offset, after.offset]
        : [container.offset + 1, container.offset + container.length - 1];
  return text.slice(0, from) + text.slice(to);
}

/** One edit that makes one text of another: what is between their common beginning and end. */
export function editsBetween(before: string, after: string): Edit[] {
  if (before === after) return [];
  const most = Math.min(before.length, after.length);
  let same = 0;
  while (same < most && before.charCodeAt(same) === after.charCodeAt(same)) same++;
  let tail = 0;
  while (
    tail < most - same &&
    before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
  ) {
    tail++;
  }
  return [{ offset: same, length: before.length - tail - same, content: after.slice(same, after.length - tail) }];
}

function replaced(text: string, { offset, length }: Node, value: unknown): string {
  const begin = text.lastIndexOf("\n", offset - 1) + 1;
  const margin = /^[ \t]*/.exec(text.slice(begin))?.[0] ?? "";
  return text.slice(0, offset) + written(text, value, margin, offset - begin) + text.slice(offset + length);
}

/** A child after the last one: on a line of its own where that one has one, or where the line becomes too long. */
function withChild(text: string, node: Node, key: string | null, value: unknown): string {
  const { offset, length, children = [] } = node;
  const last = children.at(-1);
  const margin = marginAt(text, offset);
  if (last === undefined || !startsLine(text, last.offset)) {
    const inline = inlineWith(text, node, key, value);
    if (inline !== null) return inline;
    if (last === undefined || !text.slice(offset, offset + length).includes("\n")) {
      return replaced(text, node, grown(node, key, value));
    }
  }
  const inside = last === undefined ? margin + indentOf(text) : marginAt(text, last.offset);
  const end = last === undefined ? offset + 1 : last.offset + last.length;
  return `${text.slice(0, end)},${newline(text)}${inside}${member(text, key, value, inside)}${text.slice(end)}`;
}

/** The container with a child more on its only line; null where that has no room. */
function inlineWith(
  text: string,
  { offset, length, children = [] }: Node,
  key: string | null,
  value: unknown,
): string | null {
  const last = children.at(-1);
  const one = key === null ? inline(value) : `${JSON.stringify(key)}: ${inline(value)}`;
  const braced = text[offset] === "{";
  const added =
    last === undefined
      ? text.slice(0, offset) + (braced ? `{ ${one} }` : `[${one}]`) + text.slice(offset + length)
      : `${text.slice(0, last.offset + last.length)}, ${one}${text.slice(last.offset + last.length)}`;
  const line = added.slice(added.lastIndexOf("\n", offset) + 1).split(/\r?\n/, 1)[0] ?? "";
  return line.length <= WIDTH ? added : null;
}

/** The value of a container with a child more. */
function grown(node: Node, key: string | null, value: unknown): unknown {
  const now = valueOf(node);
  return key === null ? [...(now as unknown[]), value] : { ...(now as object), [key]: value };
}

/** The value of a node. */
export function valueOf(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(valueOf);
  if (node.type !== "object") return node.value;
  return Object.fromEntries(
    (node.children ?? []).flatMap(({ children = [] }) => {
      const [key, value] = children;
      return key === undefined || value === undefined ? [] : [[key.value as string, valueOf(value)]];
    }),
  );
}

function startsLine(text: string, offset: number): boolean {
  return /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, text.lastIndexOf("\n", offset - 1)), offset));
}

function marginAt(text: string, offset: number): string {
  const begin = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(begin, offset))?.[0] ?? "";
}

function newline(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function member(text: string, key: string | null, value: unknown, margin: string): string {
  const name = key === null ? "" : `${JSON.stringify(key)}: `;
  return name + written(text, value, margin, margin.length + name.length);
}

/** JSON on one line where it fits after `column` characters, else with a member a line. */
function written(text: string, value: unknown, margin: string, column: number): string {
  const short = inline(value);
  if (typeof value !== "object" || value === null || short.length + column < WIDTH) return short;
  const inside = margin + indentOf(text);
  const members = Array.isArray(value)
    ? value.map((item) => member(text, null, item, inside))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => member(text, key, item, inside));
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const line = newline(text);
  return `${open}${line}${inside}${members.join(`,${line}${inside}`)}${line}${margin}${close}`;
}

/** JSON on one line, as `{ "tag": 5 }`. */
function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([key, one]) =>
    one === undefined ? [] : [`${JSON.stringify(key)}: ${inline(one)}`],
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

/** The value of a whole document, as far as it can be read. */
export function documentOf(text: string): unknown {
  const root = treeOf(text);
  return root === null ? undefined : valueOf(root);
}
