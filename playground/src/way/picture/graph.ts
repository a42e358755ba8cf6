/** The nodes and edges of the picture, without their places. */
import type { Pipeline, PipelineTable } from "../../engine/api.js";
import { countText } from "../../parts/format.js";
import { functionText } from "./names.js";
import { MISS, MORE, rowsOf, ruleKey, SHOWN, type Row } from "./rows.js";
import { DROPPED, MISSED, type Place, type Route } from "./route.js";

export interface GraphNode {
  readonly id: string;
  readonly kind: "source" | "table" | "end";
  readonly title: string;
  /** The band that a table lies in: domain and function. */
  readonly band: string | null;
  readonly rows: readonly Row[];
  /** The path in the document. */
  readonly path: string | null;
  readonly width: number;
  readonly height: number;
}

export interface GraphEdge {
  readonly from: Place;
  readonly to: string;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Titles of the bands. */
  readonly bands: ReadonlyMap<string, string>;
  /** Tables and ends that are left out, because there are too many. */
  readonly hidden: number;
}

export interface GraphOptions {
  /** How many rules a table shows, by its id. */
  readonly limits: ReadonlyMap<string, number>;
  /** Keys of rows that are always shown. */
  readonly kept: ReadonlySet<string>;
}

/** Sizes in pixels at scale 1. */
export const HEAD = 22;
export const ROW = 18;
export const END_HEIGHT = 22;
/** The width of a character of the monospaced font at 12 px. */
export const CHARACTER = 7.25;
const PADDING = 20;
const NARROWEST = 64;
const WIDEST = 208;
/** At most so many tables, and so many ends, have a place in the picture; those on the way always have one. */
const MAX = 32;

export function textWidth(text: string): number {
  return Math.min(WIDEST, Math.max(NARROWEST, Math.ceil(text.length * CHARACTER + PADDING)));
}

/** What the row of hidden rules says. */
export function moreText(count: number): string {
  return `… ${countText(count)} hidden rules`;
}

/** A text that fits into a node. */
export function fitted(text: string, width: number): string {
  const room = Math.floor((width - PADDING) / CHARACTER + 0.01);
  return text.length <= room ? text : `${text.slice(0, Math.max(1, room - 1))}…`;
}

/** @param route the path of the selected frame; its nodes are shown whether the pipeline has them or not */
export function graphOf(pipeline: Pipeline, route: Route | null, options: GraphOptions): Graph {
  const onWay = new Set(route?.hops.flatMap(({ from, to }) => [from.node, to.node]));
  const tables = firstOf(pipeline.tables, onWay);
  const nodes = new Map<string, GraphNode>();
  const add = (node: GraphNode): void => void nodes.set(node.id, node);
  for (const table of tables) add(tableNode(table, options));
  const edges = pipelineEdges(tables, nodes);
  const named = new Set(edges.map(({ to }) => to));
  const ends = firstOf(
    [...pipeline.ends].sort((a, b) => Number(named.has(b.id)) - Number(named.has(a.id))),
    onWay,
  );
  for (const { id, path } of ends) add(plainNode(id, "end", id, path));
  for (const edge of entries(pipeline)) {
    if (!nodes.has(edge.to)) continue;
    add(plainNode(edge.from.node, "source", edge.from.node.slice("from:".length), null));
    edges.push(edge);
  }
  addWay(route, add, nodes, edges);
  const kept = edges.filter(({ from, to }) => nodes.has(from.node) && nodes.has(to));
  const bands = new Map<string, string>();
  for (const { band } of nodes.values()) if (band !== null) bands.set(band, bandTitle(band));
  const hidden = pipeline.tables.length - tables.length + pipeline.ends.length - ends.length;
  return { nodes: [...nodes.values()], edges: unique(kept), bands, hidden };
}

/** The first of a list, and those on the way. */
function firstOf<T extends { readonly id: string }>(list: readonly T[], onWay: ReadonlySet<string>): readonly T[] {
  if (list.length <= MAX) return list;
  return list.filter(({ id }, i) => i < MAX || onWay.has(id));
}

function tableNode(table: PipelineTable, { limits, kept }: GraphOptions): GraphNode {
  const rows = rowsOf(table, limits.get(table.id) ?? SHOWN, kept);
  const texts = rows.map((row) =>
    row.kind === "rule" ? row.rule.name : row.kind === "more" ? moreText(row.count) : "",
  );
  const longest = [table.name, ...texts].reduce((a, b) => (b.length > a.length ? b : a), "no match");
  return {
    id: table.id,
    kind: "table",
    title: table.name,
    band: `${table.domain}/${table.vport}`,
    rows,
    path: table.path,
    width: textWidth(longest),
    height: HEAD + ROW * rows.length + 4,
  };
}

function plainNode(id: string, kind: "source" | "end", title: string, path: string | null): GraphNode {
  return { id, kind, title, band: null, rows: [], path, width: textWidth(`● ${title}`), height: END_HEIGHT };
}

function pipelineEdges(tables: readonly PipelineTable[], nodes: ReadonlyMap<string, GraphNode>): GraphEdge[] {
  return tables.flatMap((table) => {
    const shown = new Set(nodes.get(table.id)?.rows.map(({ key }) => key));
    const leading = table.rules.flatMap((rule) => {
      const key = ruleKey(rule);
      const row = shown.has(key) ? key : MORE;
      return rule.leadsTo.map((to) => ({ from: { node: table.id, row }, to }));
    });
    const missing = table.miss === null ? [] : [{ from: { node: table.id, row: MISS }, to: table.miss }];
    return [...leading, ...missing];
  });
}

/** Frames from the wire reach the eSwitch if it has a table, or else the PF. */
function entries({ tables, ports }: Pipeline): GraphEdge[] {
  const root = (domain: string): PipelineTable | undefined => tables.find(({ id }) => id === `${domain}/0/root`);
  const first = root("fdb") ?? root("nic_rx");
  if (first === undefined) return [];
  return Array.from({ length: Math.min(ports, 2) }, (_, i) => ({
    from: { node: `from:port ${i + 1}`, row: null },
    to: first.id,
  }));
}

/** What the frame met and the pipeline does not list: functions without tables, queues that send, drop and miss. */
function addWay(
  route: Route | null,
  add: (node: GraphNode) => void,
  nodes: ReadonlyMap<string, GraphNode>,
  edges: GraphEdge[],
): void {
  for (const { from, to } of route?.hops ?? []) {
    for (const { node } of [from, to]) if (!nodes.has(node)) add(strangeNode(node));
    edges.push({ from, to: to.node });
  }
}

function strangeNode(id: string): GraphNode {
  if (id.startsWith("from:")) return plainNode(id, "source", id.slice("from:".length), null);
  const [domain = "", vport = "", ...name] = id.split("/");
  if (name.length === 0) {
    const title = id === DROPPED ? "drop" : id === MISSED ? "miss" : id;
    return plainNode(id, "end", title, null);
  }
  const table: PipelineTable = {
    id,
    domain: domain as PipelineTable["domain"],
    vport: Number(vport),
    name: name.join("/"),
    level: 0,
    rules: [],
    path: null,
    miss: null,
  };
  return tableNode(table, { limits: new Map(), kept: new Set() });
}

function bandTitle(band: string): string {
  const [domain = "", vport = "0"] = band.split("/");
  return domain === "fdb" ? "FDB" : `${domain.toUpperCase()} · ${functionText(Number(vport))}`;
}

function unique(edges: readonly GraphEdge[]): GraphEdge[] {
  const seen = new Map<string, GraphEdge>();
  for (const edge of edges) seen.set(`${edge.from.node}\n${edge.from.row}\n${edge.to}`, edge);
  return [...seen.values()];
}
