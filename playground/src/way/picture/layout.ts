/** Places of nodes, bands and edges. The library puts tables into columns; lines run between the columns. */
import { Graph as Dagre, layout as layOut, type EdgeLabel, type GraphLabel, type NodeLabel } from "@dagrejs/dagre";
import { HEAD, ROW, type Graph, type GraphNode } from "./graph.js";
import type { Place } from "./route.js";

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PlacedNode extends Box {
  readonly node: GraphNode;
}

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

const MARGIN = 12;
const COLUMN_GAP = 44;
const NODE_GAP = 14;
/** Above the nodes of a band stands its title. */
const BAND_HEAD = 18;
const BAND_PADDING = 8;
/** Every end leads there, so that ends stand in the last column. */
const LAST = "\0last";

type Plan = InstanceType<typeof Dagre<GraphLabel, NodeLabel, EdgeLabel>>;

export function layoutOf(graph: Graph): Layout {
  const plan = planOf(graph);
  layOut(plan);
  const nodes = new Map<string, PlacedNode>();
  for (const node of graph.nodes) {
    const { x = 0, y = 0, width, height } = plan.node(node.id);
    // A node with a band is planned with room for the title above it.
    const head = node.band === null ? 0 : BAND_HEAD;
    nodes.set(node.id, { node, x: x - width / 2, y: y - height / 2 + head, width, height: node.height });
  }
  const { width = 0, height = 0 } = plan.graph();
  return {
    width,
    height,
    nodes,
    bands: bandsOf(graph, nodes),
    line: (from, to) => new Line(plan, nodes).between(from, to),
  };
}

function planOf(graph: Graph): Plan {
  const plan: Plan = new Dagre<GraphLabel, NodeLabel, EdgeLabel>({ compound: true });
  plan.setGraph({
    rankdir: "LR",
    nodesep: NODE_GAP,
    edgesep: 10,
    ranksep: COLUMN_GAP,
    marginx: MARGIN,
    marginy: MARGIN,
  });
  plan.setDefaultEdgeLabel(() => ({}));
  for (const band of graph.bands.keys()) plan.setNode(`band ${band}`, { width: 0, height: 0 });
  for (const { id, width, height, band } of graph.nodes) {
    plan.setNode(id, { width, height: height + (band === null ? 0 : BAND_HEAD) });
    if (band !== null) plan.setParent(id, `band ${band}`);
  }
  for (const { from, to } of graph.edges) if (from.node !== to) plan.setEdge(from.node, to, { weight: 2 });
  const ends = graph.nodes.filter(({ kind }) => kind === "end");
  if (ends.length > 0) plan.setNode(LAST, { width: 1, height: 1 });
  for (const { id } of ends) plan.setEdge(id, LAST, { weight: 20 });
  return plan;
}

function bandsOf(graph: Graph, nodes: ReadonlyMap<string, PlacedNode>): PlacedBand[] {
  return [...graph.bands].map(([id, title]) => {
    const boxes = [...nodes.values()].filter(({ node }) => node.band === id);
    const x = Math.min(...boxes.map((box) => box.x)) - BAND_PADDING;
    const y = Math.min(...boxes.map((box) => box.y)) - BAND_HEAD;
    const right = Math.max(...boxes.map((box) => box.x + box.width)) + BAND_PADDING;
    const bottom = Math.max(...boxes.map((box) => box.y + box.height)) + BAND_PADDING / 2;
    return { id, title, x, y, width: right - x, height: bottom - y };
  });
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Draws lines: straight through the columns, where the plan has left them room, and bent between them. */
class Line {
  readonly #plan: Plan;
  readonly #nodes: ReadonlyMap<string, PlacedNode>;

  constructor(plan: Plan, nodes: ReadonlyMap<string, PlacedNode>) {
    this.#plan = plan;
    this.#nodes = nodes;
  }

  between(from: Place, to: Place): string {
    const [start, end] = [this.#nodes.get(from.node), this.#nodes.get(to.node)];
    if (start === undefined || end === undefined) return "";
    const first = { x: start.x + start.width, y: rowMiddle(start, from.row) };
    if (start === end) return this.#loop(first, rowMiddle(end, to.row));
    const last = { x: end.x, y: rowMiddle(end, to.row) };
    let path = `M${first.x} ${round(first.y)}`;
    let at: Point = first;
    for (const [enter, leave] of this.#passages(from.node, to.node)) {
      path += `${bend(at, enter)}H${round(leave.x)}`;
      at = leave;
    }
    return path + bend(at, last);
  }

  /** To another row of the same table: on its right side. */
  #loop({ x, y }: Point, to: number): string {
    return `M${round(x)} ${round(y)}C${round(x + 22)} ${round(y)} ${round(x + 22)} ${round(to)} ${round(x)} ${round(to)}`;
  }

  /** Where an edge enters and leaves the columns between its nodes. */
  #passages(from: string, to: string): (readonly [Point, Point])[] {
    const points = this.#plan.edge(from, to)?.points ?? [];
    return points.slice(1, -1).flatMap((point) => {
      const widths = [...this.#nodes.values()].flatMap((box) =>
        Math.abs(box.x + box.width / 2 - point.x) < 1 ? [box.width] : [],
      );
      if (widths.length === 0) return [];
      const half = Math.max(...widths) / 2 + 4;
      const way = (points.at(-1)?.x ?? 0) >= (points[0]?.x ?? 0) ? 1 : -1;
      return [
        [
          { x: point.x - way * half, y: point.y },
          { x: point.x + way * half, y: point.y },
        ] as const,
      ];
    });
  }
}

/** The middle of a row; of the head for a row that is not there. */
function rowMiddle({ node, y, height }: PlacedNode, key: string | null): number {
  if (node.kind !== "table") return y + height / 2;
  const index = key === null ? -1 : node.rows.findIndex((row) => row.key === key);
  return index < 0 ? y + HEAD / 2 : y + HEAD + ROW * (index + 0.5);
}

/** A curve that leaves and arrives level. */
function bend(from: Point, to: Point): string {
  if (Math.abs(from.y - to.y) < 0.5 && to.x >= from.x) return `L${round(to.x)} ${round(to.y)}`;
  const reach = to.x >= from.x ? (to.x - from.x) / 2 : 40;
  return `C${round(from.x + reach)} ${round(from.y)} ${round(to.x - reach)} ${round(to.y)} ${round(to.x)} ${round(to.y)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
