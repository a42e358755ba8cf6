/** Where the nodes and labels of a graph are in a drawing: a column for each step from the first tables. */
import { labelOf, type Graph, type GraphEdge, type GraphNode } from "./graph.js";

/** A rectangle with lines of text in its middle. */
export interface Box {
  readonly x: number;
  y: number;
  readonly width: number;
  readonly height: number;
  readonly lines: readonly string[];
}

export interface PlacedNode extends Box {
  readonly node: GraphNode;
}

export interface PlacedEdge {
  readonly from: Box;
  readonly to: Box;
  readonly label: Box;
}

export interface Layout {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

const CHARACTER = 7;
export const LINE = 16;
const PADDING = 10;
const MARGIN = 16;
const BETWEEN_ROWS = 24;
const BETWEEN_LABELS = 4;
/** What a curve has besides its label between two columns. */
const CURVE = 80;

export function layoutOf(graph: Graph): Layout {
  const { nodes, edges } = graph;
  const ranks = ranksOf(nodes, edges);
  const placed = new Map<string, PlacedNode>();
  const made: PlacedEdge[] = [];
  let x = MARGIN;
  for (let rank = 0; rank <= Math.max(0, ...ranks.values()); rank++) {
    const column = nodes.filter(({ id }) => ranks.get(id) === rank);
    const width = Math.max(...column.map(({ label }) => widthOf(label.split("\n"))));
    const sorted = column.toSorted((a, b) => heightOfSources(a, graph, placed) - heightOfSources(b, graph, placed));
    let y = MARGIN;
    for (const node of sorted) {
      const lines = node.label.split("\n");
      const height = lines.length * LINE + PADDING;
      placed.set(node.id, { node, x, y, width, height, lines });
      y += height + BETWEEN_ROWS;
    }
    const leaving = edges.filter(({ from }) => ranks.get(from) === rank);
    x += width + CURVE + Math.max(0, ...leaving.map((edge) => widthOf(labelOf(edge).split("\n"))));
  }
  const at = (id: string): PlacedNode => placed.get(id) as PlacedNode;
  for (const edge of edges) made.push(edgeOf(edge, at(edge.from), at(edge.to)));
  partLabels(made);
  const boxes: readonly Box[] = [...placed.values(), ...made.map(({ label }) => label)];
  return {
    nodes: [...placed.values()],
    edges: made,
    width: Math.max(MARGIN, ...boxes.map((box) => box.x + box.width)) + MARGIN,
    height: Math.max(MARGIN, ...boxes.map((box) => box.y + box.height)) + MARGIN,
  };
}

function widthOf(lines: readonly string[]): number {
  return Math.max(...lines.map(({ length }) => length)) * CHARACTER + 2 * PADDING;
}

/** The longest way to each node from those that nothing leads to. A way that comes back counts once. */
function ranksOf(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Map<string, number> {
  const ranks = new Map(nodes.map(({ id }) => [id, 0]));
  for (let round = 1; round < nodes.length; round++) {
    let changed = false;
    for (const { from, to } of edges) {
      const rank = (ranks.get(from) ?? 0) + 1;
      if (from === to || rank <= (ranks.get(to) ?? 0) || rank >= nodes.length) continue;
      ranks.set(to, rank);
      changed = true;
    }
    if (!changed) break;
  }
  const used = [...new Set(ranks.values())].sort((a, b) => a - b);
  return new Map([...ranks].map(([id, rank]) => [id, used.indexOf(rank)]));
}

/** The mean height of the nodes that lead to a node, so that curves cross seldom. */
function heightOfSources({ id }: GraphNode, { edges }: Graph, placed: ReadonlyMap<string, Box>): number {
  const sources = edges.flatMap(({ from, to }) => (to === id ? (placed.get(from) ?? []) : []));
  return sources.length === 0 ? 0 : sources.reduce((sum, { y }) => sum + y, 0) / sources.length;
}

function edgeOf(edge: GraphEdge, from: PlacedNode, to: PlacedNode): PlacedEdge {
  const lines = labelOf(edge).split("\n");
  const height = lines.length * LINE;
  const middle = (from.y + from.height / 2 + to.y + to.height / 2) / 2;
  const x = from.x + from.width + CURVE / 2;
  return { from, to, label: { x, y: middle - height / 2, width: widthOf(lines), height, lines } };
}

/** Moves labels of one column down until none covers another. */
function partLabels(edges: readonly PlacedEdge[]): void {
  const below = new Map<number, number>();
  for (const { label } of edges.toSorted((a, b) => a.label.y - b.label.y)) {
    label.y = Math.max(label.y, below.get(label.x) ?? MARGIN);
    below.set(label.x, label.y + label.height + BETWEEN_LABELS);
  }
}
