/** A graph of tables in the language of Mermaid, which pages of repositories draw. */
import type { Format } from "../../formats/writing/format.js";
import { graphOf, labelOf } from "./graph.js";

export const MERMAID: Format = {
  title: "a graph of the tables for Mermaid",
  write: (scenario) => {
    const { nodes, edges } = graphOf(scenario);
    const lines = [
      "flowchart LR",
      ...nodes.map(({ id, kind, label }) => `  ${id}${kind === "table" ? `[${text(label)}]` : `([${text(label)}])`}`),
      ...edges.map((edge) => `  ${edge.from} -->|${text(labelOf(edge))}| ${edge.to}`),
    ];
    return `${lines.join("\n")}\n`;
  },
};

/** Mermaid has entities by their numbers for what it would read itself. */
function text(label: string): string {
  const plain = label.replaceAll(/[#"<>&;`\\]/g, (one) => `#${one.charCodeAt(0)};`);
  return `"${plain.replaceAll("\n", "<br>")}"`;
}
