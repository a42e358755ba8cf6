/** Changes of a JSON document, as RFC 6902 writes them: what a corrected scenario differs in. */

export type Change =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

type Container = Record<string, unknown>;

/** The document with the changes made, in their order. */
export function patched(document: object, changes: readonly Change[]): object {
  const copy = structuredClone(document) as Container;
  for (const change of changes) apply(copy, change);
  return copy;
}

/** A name is not escaped: no key of a scenario has a slash or a tilde. */
function apply(document: Container, change: Change): void {
  const names = change.path.split("/").slice(1);
  const last = names.pop() ?? "";
  const parent = names.reduce<unknown>((node, name) => (node as Container)[name], document);
  if (typeof parent !== "object" || parent === null) throw new Error(`${change.path}: no such place`);
  const there = last in parent;
  if (change.op !== "add" && !there) throw new Error(`${change.path}: nothing to ${change.op}`);
  if (Array.isArray(parent)) parent.splice(Number(last), change.op === "add" ? 0 : 1, ...valuesOf(change));
  else if (change.op === "remove") Reflect.deleteProperty(parent, last);
  else (parent as Container)[last] = structuredClone(change.value);
}

const valuesOf = (change: Change): unknown[] => (change.op === "remove" ? [] : [structuredClone(change.value)]);
