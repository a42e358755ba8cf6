/**
 * Places in a document: from paths such as `rules[3].match.outer.ipv4_dst` to text, and back.
 * A path is written as `SteeringError.path` is: keys of letters, digits, `_`, `$`, `.` and `-` stand
 * after a dot, others in brackets as JSON. A key may contain dots, so only the document says where it ends.
 */
import { parseTree, type Node } from "jsonc-parser";

export interface TextRange {
  readonly from: number;
  readonly to: number;
}

export interface Place {
  readonly path: string;
  /** The value. */
  readonly value: TextRange;
  /** The key before it; null for an item of a list and for the document. */
  readonly key: TextRange | null;
}

/** The steps of a path: keys and indexes. */
export type Steps = readonly (string | number)[];

/** Hostile text: deeper nesting than the engine reads (64 levels) has no places. */
const DEEPEST = 200;

interface Parsed {
  readonly text: string;
  readonly root: Node | null;
}

/** The last texts that were asked for: one that is edited, and one that was before. */
let recent: readonly Parsed[] = [];

/** The tree of a text, as far as it can be read; null for a text without a value. */
export function treeOf(text: string): Node | null {
  const known = recent.find((one) => one.text === text);
  const parsed = known?.root ?? (tooDeep(text) ? undefined : parseTree(text, [], { allowTrailingComma: true }));
  const root = parsed ?? null;
  // It comes first, as the same string: one that is compared with itself is not read, others are to their first difference.
  recent = [{ text, root }, ...recent.filter((one) => one !== known).slice(0, 1)];
  return root;
}

/** Whether text is nested too deeply to be read: the reader of jsonc-parser calls itself for each level. */
export function tooDeep(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (quoted) {
      if (code === 0x5c) i++;
      else if (code === 0x22 || code === 0x0a) quoted = false;
    } else if (code === 0x22) quoted = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > DEEPEST) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

/** The text of the value at a path; null if the document has none there. */
export function rangeOf(text: string, path: string): TextRange | null {
  const node = nodeAt(text, path);
  return node === null ? null : rangeOfNode(node);
}

/** The value at a path with its key; null if the document has none there. */
export function placeOf(text: string, path: string): Place | null {
  const node = nodeAt(text, path);
  return node === null ? null : placeOfNode(path, node);
}

/** The place of a path, or of the deepest value above it that the document has. */
export function nearestPlace(text: string, path: string): Place | null {
  const root = treeOf(text);
  if (root === null) return null;
  const { node, steps } = descend(root, path);
  return placeOfNode(pathOf(steps), node);
}

/** The value at a path, as JSON.parse gives it; undefined if the document has none there. */
export function nodeAt(text: string, path: string): Node | null {
  const root = treeOf(text);
  if (root === null) return null;
  const { node, rest } = descend(root, path);
  return rest === "" ? node : null;
}

/** The path of the innermost value at an offset, its key included; "" for the document itself. */
export function pathAt(text: string, offset: number): string {
  return pathOf(stepsAt(text, offset));
}

/** The steps to the innermost value at an offset. */
export function stepsAt(text: string, offset: number): Steps {
  const steps: (string | number)[] = [];
  let node = treeOf(text);
  while (node !== null) {
    const at: number = childAt(node.children ?? [], offset);
    const child: Node | undefined = node.children?.[at];
    if (child === undefined) break;
    if (node.type === "array") {
      steps.push(at);
      node = child;
    } else {
      const [key, value] = child.children ?? [];
      if (key === undefined) break;
      steps.push(key.value as string);
      node = value ?? null;
    }
  }
  return steps;
}

/** The object of a section at an offset, such as `rules[2]`; null elsewhere. */
export function objectAt(text: string, offset: number): string | null {
  const [section, index] = stepsAt(text, offset);
  return typeof section === "string" && typeof index === "number" ? pathOf([section, index]) : null;
}

/** Writes a path as the engine does. */
export function pathOf(steps: Steps): string {
  return steps.reduce<string>((path, key) => {
    if (typeof key === "number") return `${path}[${key}]`;
    if (!/^[\w$.-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
    return path === "" ? key : `${path}.${key}`;
  }, "");
}

/** The last of the children, in order, that does not begin after the offset, if it reaches there. */
function childAt(children: readonly Node[], offset: number): number {
  let low = 0;
  let high = children.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((children[middle] as Node).offset <= offset) low = middle + 1;
    else high = middle;
  }
  const found = children[low - 1];
  return found !== undefined && offset <= found.offset + found.length ? low - 1 : -1;
}

interface Descent {
  readonly node: Node;
  readonly steps: Steps;
  /** What is left of the path below the node. */
  readonly rest: string;
}

/** Follows a path as deep as the document goes. A long key wins over a short one that begins it. */
function descend(root: Node, path: string): Descent {
  let best: Descent = { node: root, steps: [], rest: path };
  const visit = (node: Node, steps: Steps, rest: string): boolean => {
    if (steps.length > best.steps.length) best = { node, steps, rest };
    if (rest === "") {
      best = { node, steps, rest };
      return true;
    }
    return childrenFor(node, rest, steps.length === 0).some(({ key, child, length }) =>
      visit(child, [...steps, key], rest.slice(length)),
    );
  };
  visit(root, [], path);
  return best;
}

interface Candidate {
  readonly key: string | number;
  readonly child: Node;
  /** How much of the path names it. */
  readonly length: number;
}

function childrenFor(node: Node, rest: string, first: boolean): Candidate[] {
  const [bracket, index] = /^\[(\d+)\]/.exec(rest) ?? [];
  if (node.type === "array") {
    const child = index === undefined ? undefined : node.children?.[Number(index)];
    return child === undefined ? [] : [{ key: Number(index), child, length: bracket?.length ?? 0 }];
  }
  if (node.type !== "object") return [];
  const found: Candidate[] = [];
  for (const { children = [] } of node.children ?? []) {
    const [{ value } = { value: undefined }, child] = children;
    const length = child === undefined ? 0 : namedBy(rest, value as string, first);
    if (length > 0 && child !== undefined) found.push({ key: value as string, child, length });
  }
  return found.sort((a, b) => b.length - a.length);
}

/** How many characters of the path name the key: after a dot, as a first key, or as JSON in brackets; 0 if others do. */
function namedBy(rest: string, key: string, first: boolean): number {
  const quoted = `[${JSON.stringify(key)}]`;
  if (rest.startsWith(quoted)) return quoted.length;
  if (!first && !rest.startsWith(".")) return 0;
  const begin = first ? 0 : 1;
  const end = begin + key.length;
  return key !== "" && rest.startsWith(key, begin) && /^(?:[.[]|$)/.test(rest.slice(end, end + 1)) ? end : 0;
}

function rangeOfNode({ offset, length }: Node): TextRange {
  return { from: offset, to: offset + length };
}

function placeOfNode(path: string, node: Node): Place {
  const key = node.parent?.type === "property" ? node.parent.children?.[0] : undefined;
  return { path, value: rangeOfNode(node), key: key === undefined ? null : rangeOfNode(key) };
}
