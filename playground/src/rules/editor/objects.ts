/**
 * Objects of sections, such as `rules[2]`, in the syntax tree of the editor, or the elements of a text of another program
 * that they come from. The tree is kept as the text changes, so that large documents are not read again for each move of
 * the cursor.
 */
import { syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import type { SyntaxNode } from "@lezer/common";
import { elementRange, pathOfElement } from "../../state/imported.js";
import { rangeOf, type TextRange } from "../../text/places.js";
import { isSource } from "./sync.js";

/** The path of the object at a place; null elsewhere. */
export function objectPathAt(state: EditorState, at: number): string | null {
  if (isSource(state)) return pathOfElement(state.doc.toString(), at);
  let node: SyntaxNode | null = syntaxTree(state).resolveInner(at, 0);
  // A place after an object's last brace is still at it.
  if (node.name === "Array" || node.name === "JsonText") node = syntaxTree(state).resolveInner(at, -1);
  for (; node !== null; node = node.parent) {
    const list: SyntaxNode | null = node.parent;
    const property = list?.name === "Array" ? list.parent : null;
    if (list === null || property?.name !== "Property" || property.parent?.parent?.name !== "JsonText") continue;
    if (!isValue(node)) return null;
    const section = nameOf(state, property);
    return section === null ? null : `${section}[${indexOf(node)}]`;
  }
  return null;
}

/** Where an object is; null where the text has none, or was not read that far yet. */
export function rangeOfObject(state: EditorState, path: string): TextRange | null {
  if (isSource(state)) return elementRange(path)?.(state.doc.toString()) ?? null;
  const [, section, index] = /^(\w+)\[(\d+)\]/.exec(path) ?? [];
  if (section === undefined) return null;
  const document = syntaxTree(state).topNode.getChild("Object");
  const property = document?.getChildren("Property").find((one) => nameOf(state, one) === section);
  let left = Number(index);
  for (let item = property?.getChild("Array")?.firstChild ?? null; item !== null; item = item.nextSibling) {
    if (isValue(item) && left-- === 0) return { from: item.from, to: item.to };
  }
  return null;
}

/** The same, also where the syntax tree does not reach yet. */
export function rangeOfUnread(state: EditorState, path: string): TextRange | null {
  return isSource(state) ? rangeOfObject(state, path) : rangeOf(state.doc.toString(), path);
}

function indexOf(item: SyntaxNode): number {
  let index = 0;
  for (let before = item.prevSibling; before !== null; before = before.prevSibling) if (isValue(before)) index++;
  return index;
}

function isValue({ name }: SyntaxNode): boolean {
  return /^(?:Object|Array|String|Number|True|False|Null)$/.test(name);
}

function nameOf(state: EditorState, property: SyntaxNode): string | null {
  const name = property.getChild("PropertyName");
  return name === null ? null : state.sliceDoc(name.from + 1, name.to - 1);
}
