/** What a document has at a path such as `rules[2]`. */
export function valueAt(document: unknown, path: string): unknown {
  const [, section = "", index = ""] = /^(\w+)\[(\d+)\]$/.exec(path) ?? [];
  return (document as Record<string, readonly unknown[]>)[section]?.[Number(index)];
}
