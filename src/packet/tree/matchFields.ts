/** Which field of a frame a match field reads, and which match field reads a field. */
import { headerAt, matchFieldAt, placesOf, wireHeaderAt } from "../../headers/fields.js";
import type { FrameTree, TreeField, TreeNode } from "./types.js";

/** A field with the header that contains it. */
export interface HeaderField {
  readonly node: TreeNode;
  readonly field: TreeField;
}

/** The field that a match field reads; null if no header of the frame has it. */
export function headerFieldOf({ nodes }: FrameTree, match: string): HeaderField | null {
  let [at, name] = [-1, ""];
  for (const place of placesOf(match)) {
    const one = headerAt(nodes, place);
    if (one > at) [at, name] = [one, place.field];
  }
  const node = nodes[at];
  const field = node?.fields.find((one) => one.name === name);
  return node === undefined || field === undefined ? null : { node, field };
}

/** The match field that reads a field of a header; null if there is none. */
export function matchFieldOf(tree: FrameTree, node: TreeNode, { name }: TreeField): string | null {
  const header = wireHeaderAt(tree.nodes, tree.nodes.indexOf(node));
  const match = header === undefined ? undefined : matchFieldAt(header, node.level, name);
  return match !== undefined && headerFieldOf(tree, match)?.node === node ? match : null;
}
