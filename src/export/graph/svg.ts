/** A graph of tables as a picture that browsers show. */
import type { Format } from "../../formats/writing/format.js";
import { graphOf } from "./graph.js";
import { layoutOf, LINE, type Box, type PlacedEdge, type PlacedNode } from "./layout.js";

export const SVG: Format = {
  title: "a graph of the tables as a picture (SVG)",
  write: (scenario) => {
    const { nodes, edges, width, height } = layoutOf(graphOf(scenario));
    const lines = [
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"` +
        ` font-family="sans-serif" font-size="12">`,
      '  <defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">' +
        '<path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>',
      '  <rect width="100%" height="100%" fill="#fff"/>',
      ...edges.map((edge) => `  ${curve(edge)}`),
      ...nodes.map((node) => `  ${shape(node)}${words(node)}`),
      ...edges.map(({ label }) => `  ${back(label)}${words(label)}`),
      "</svg>",
    ];
    return `${lines.join("\n")}\n`;
  },
};

/** From the right side of a node over its label to the left side of the next one. */
function curve({ from, to, label }: PlacedEdge): string {
  const [startX, startY] = [from.x + from.width, from.y + from.height / 2];
  const [endX, endY] = [to.x, to.y + to.height / 2];
  const labelY = label.y + label.height / 2;
  const right = label.x + label.width;
  const bend = 30;
  const points =
    `M${startX} ${startY}C${startX + bend} ${startY} ${label.x - bend} ${labelY} ${label.x} ${labelY}` +
    `H${right}C${right + bend} ${labelY} ${endX - bend} ${endY} ${endX} ${endY}`;
  return `<path d="${points}" fill="none" stroke="#555" marker-end="url(#end)"/>`;
}

function shape({ node, x, y, width, height }: PlacedNode): string {
  const [round, fill] = node.kind === "table" ? [3, "#e8f0fe"] : [height / 2, "#f1f3f4"];
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${round}" fill="${fill}" stroke="#333"/>`;
}

function back({ x, y, width, height }: Box): string {
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="#fff"/>`;
}

function words({ x, y, width, height, lines }: Box): string {
  const first = y + height / 2 - ((lines.length - 1) * LINE) / 2 + 4;
  return lines
    .map((line, n) => `<text x="${x + width / 2}" y="${first + n * LINE}" text-anchor="middle">${escaped(line)}</text>`)
    .join("");
}

/** Characters that XML reads itself are entities; those that it refuses are replaced. */
function escaped(text: string): string {
  const plain = text.replaceAll(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
  // eslint-disable-next-line no-control-regex -- XML has none of these characters
  return plain.replaceAll(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]|[\ud800-\udfff]/gu, "\ufffd");
}
