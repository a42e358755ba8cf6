/** Nodes in their places. */
import type { GraphNode } from "./graph.js";

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PlacedNode extends Box {
  readonly node: GraphNode;
}
