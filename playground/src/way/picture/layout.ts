/**
 * Places of nodes, bands and edges: frames go from left to right, through NIC_TX, FDB and NIC_RX. The
 * library puts the tables of a band into columns; bands of a domain stand one below the other.
 */
import { Graph as Dagre, layout as layOut, type EdgeLabel, type GraphLabel, type NodeLabel } from "@dagrejs/dagre";
import type { Box, PlacedNode } from "./boxes.js";
import type { Graph, GraphNode } from "./graph.js";
import { lineBetween, middleOf } from "./lineBetween.js";
import type { Place } from "./route.js";

export interface PlacedBand extends Box {
  readonly id: string;
  readonly title: string;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly nodes: ReadonlyMap<string, PlacedNode>;
  readonly bands: readonly PlacedBand[];
  /** The path of a line between two places; "" if one of them is not in the picture. */
  line(from: Place, to: Place): string;
}

const MARGIN = 10;
const COLUMN_GAP = 34;
const NODE_GAP = 14;
const BAND_GAP = 10;
const BAND_PADDING = 8;
/** Above the tables of a band stands its title. */
const BAND_HEAD = 18;

const DOMAINS = ["nic_tx", "fdb", "nic_rx"] as const;

export function layoutOf(graph: Graph): Layout {
  const nodes = new Map<string, PlacedNode>();
  const bands: PlacedBand[] = [];
  const sources = graph.nodes.filter(({ kind }) => kind === "source");
  const ends = graph.nodes.filter(({ kind }) => kind === "end");
  let x = MARGIN + widest(sources) + (sources.length === 0 ? 0 : COLUMN_GAP);
  const stacks = DOMAINS.map((domain) =>
    [...graph.bands].filter(([id]) => id.startsWith(`${domain}/`)).map(([id, title]) => bandOf(graph, id, title)),
  );
  const heights = [...stacks.map(stackHeight), columnHeight(sources), columnHeight(ends)];
  const height = Math.max(...heights);
  for (const stack of stacks) {
    let y = MARGIN + (height - stackHeight(stack)) / 2;
    for (const band of stack) {
      bands.push({ id: band.id, title: band.title, x, y, width: band.width, height: band.height });
      for (const box of band.boxes) nodes.set(box.node.id, { ...box, x: x + box.x, y: y + box.y });
      y += band.height + BAND_GAP;
    }
    if (stack.length > 0) x += Math.max(...stack.map((band) => band.width)) + COLUMN_GAP;
  }
  column(graph, sources, MARGIN, height, nodes, "right");
  column(graph, ends, x, height, nodes, "left");
  const titles = bands.map((band): Box => ({ ...band, height: BAND_HEAD }));
  return {
    width: x + widest(ends) + MARGIN,
    height: height + 2 * MARGIN,
    nodes,
    bands,
    line: (from, to) => lineBetween(nodes, titles, from, to),
  };
}

interface Band {
  readonly id: string;
  readonly title: string;
  readonly width: number;
  readonly height: number;
  /** From the corner of the band. */
  readonly boxes: readonly PlacedNode[];
}

function bandOf(graph: Graph, id: string, title: string): Band {
  const plan = new Dagre<GraphLabel, NodeLabel, EdgeLabel>();
  const tables = graph.nodes.filter(({ band }) => band === id);
  plan.setGraph({ rankdir: "LR", nodesep: NODE_GAP, ranksep: COLUMN_GAP, ranker: "tight-tree" });
  for (const node of tables) plan.setNode(node.id, { width: node.width, height: node.height });
  const inside = new Set(tables.map((node) => node.id));
  for (const { from, to } of graph.edges) {
    if (from.node !== to && inside.has(from.node) && inside.has(to)) plan.setEdge(from.node, to, {});
  }
  layOut(plan);
  const boxes = tables.map((node): PlacedNode => {
    const { x = 0, y = 0 } = plan.node(node.id);
    const { width, height } = node;
    return { node, width, height, x: BAND_PADDING + x - width / 2, y: BAND_HEAD + y - height / 2 };
  });
  const width = Math.max(...boxes.map((box) => box.x + box.width), titleWidth(title)) + BAND_PADDING;
  return { id, title, boxes, width, height: Math.max(...boxes.map((box) => box.y + box.height)) + BAND_PADDING };
}

function titleWidth(title: string): number {
  return title.length * 7 + BAND_PADDING;
}

function stackHeight(stack: readonly Band[]): number {
  return stack.reduce((sum, { height }) => sum + height + BAND_GAP, -BAND_GAP);
}

function columnHeight(nodes: readonly GraphNode[]): number {
  return nodes.reduce((sum, { height }) => sum + height + NODE_GAP, -NODE_GAP);
}

function widest(nodes: readonly GraphNode[]): number {
  return Math.max(0, ...nodes.map(({ width }) => width));
}

/** Puts nodes one below the other, each as near as it can be to the rows that its edges come from or go to. */
function column(
  graph: Graph,
  column: readonly GraphNode[],
  x: number,
  height: number,
  nodes: Map<string, PlacedNode>,
  side: "left" | "right",
): void {
  const room = widest(column);
  const wanted = column.map((node) => ({ node, at: neighbours(graph, node.id, nodes) ?? MARGIN + height / 2 }));
  wanted.sort((a, b) => a.at - b.at);
  let left = columnHeight(column);
  let next = MARGIN;
  for (const { node, at } of wanted) {
    // What comes after it needs its room, too.
    const y = Math.max(next, Math.min(at - node.height / 2, MARGIN + height - left));
    nodes.set(node.id, { ...node, node, x: side === "left" ? x : x + room - node.width, y });
    next = y + node.height + NODE_GAP;
    left -= node.height + NODE_GAP;
  }
}

/** The mean height of the other ends of a node's edges. */
function neighbours(graph: Graph, id: string, nodes: ReadonlyMap<string, PlacedNode>): number | null {
  const heights = graph.edges.flatMap(({ from, to }) => {
    const other = to === id ? nodes.get(from.node) : from.node === id ? nodes.get(to) : undefined;
    return other === undefined ? [] : [middleOf(other, to === id ? from.row : null)];
  });
  return heights.length === 0 ? null : heights.reduce((sum, one) => sum + one, 0) / heights.length;
}
