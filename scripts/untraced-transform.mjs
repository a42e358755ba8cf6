/**
 * A transform of the compiler: removes every `if (TRACED) ...` from the source, so that a core without events is byte for
 * byte what it is without them. A constant condition alone would not do: the compiler leaves a no-op in its place, which
 * counts when it decides what to inline.
 */
export default class UntracedTransform {
  async afterParse(parser) {
    const { NodeKind } = await import("assemblyscript");
    const isTraced = (node) =>
      node.kind === NodeKind.If && node.condition.kind === NodeKind.Identifier && node.condition.text === "TRACED";
    /** @param parent a list of statements, or a node with such lists below it */
    const strip = (parent, seen) => {
      if (Array.isArray(parent)) {
        const kept = parent.filter((one) => one === null || !isTraced(one));
        if (kept.length < parent.length) parent.splice(0, parent.length, ...kept);
      }
      for (const [name, child] of Object.entries(parent)) {
        if (name === "range" || child === null || typeof child !== "object" || seen.has(child)) continue;
        seen.add(child);
        strip(child, seen);
      }
    };
    for (const source of parser.sources) {
      if (source.normalizedPath.startsWith("assembly/")) strip(source.statements, new Set());
    }
  }
}
