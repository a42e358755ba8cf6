/** A graph of tables in the language of Graphviz. */
import type { Format } from "../../formats/writing/format.js";
import { graphOf, labelOf } from "./graph.js";

export const DOT: Format = {
  title: "a graph of the tables for Graphviz",
  write: (scenario) => {
    const { nodes, edges } = graphOf(scenario);
    const lines = [
      "digraph rules {",
      "  rankdir=LR;",
      ...nodes.map(
        ({ id, kind, label }) => `  ${id} [shape=${kind === "table" ? "box" : "oval"}, label=${text(label)}];`,
      ),
      ...edges.map((edge) => `  ${edge.from} -> ${edge.to} [label=${text(labelOf(edge))}];`),
      "}",
    ];
    return `${lines.join("\n")}\n`;
  },
};

function text(label: string): string {
  return `"${label.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
