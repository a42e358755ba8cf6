/** Lines between the nodes of the picture: level through the gaps of columns, bent between columns. */
import { HEAD, ROW } from "./graph.js";
import type { Box, PlacedNode } from "./boxes.js";
import type { Place } from "./route.js";

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Between a line and the nodes that it passes. */
const CLEAR = 5;
/** How far a line that goes back bends. */
const BACK = 40;

/** @param titles boxes that lines pass around as they do around nodes */
export function lineBetween(
  nodes: ReadonlyMap<string, PlacedNode>,
  titles: readonly Box[],
  from: Place,
  to: Place,
): string {
  const [start, end] = [nodes.get(from.node), nodes.get(to.node)];
  if (start === undefined || end === undefined) return "";
  const first = { x: start.x + start.width, y: middleOf(start, from.row) };
  const last = { x: end.x, y: middleOf(end, to.row) };
  if (start === end) return loop(first, last.y);
  let path = `M${round(first.x)} ${round(first.y)}`;
  let at: Point = first;
  for (const { left, right, boxes } of columnsBetween([...nodes.values(), ...titles], first.x, last.x)) {
    const straight = at.y + ((last.y - at.y) * ((left + right) / 2 - at.x)) / (last.x - at.x);
    const y = gapNear(boxes, straight, spread(from, to));
    path += `${bend(at, { x: left, y })}H${round(right)}`;
    at = { x: right, y };
  }
  return path + bend(at, last);
}

/** The middle of a row; of the head for a row that is not there; of the node for one without rows. */
export function middleOf({ node, y, height }: PlacedNode, key: string | null): number {
  if (node.kind !== "table") return y + height / 2;
  const index = key === null ? -1 : node.rows.findIndex((row) => row.key === key);
  return index < 0 ? y + HEAD / 2 : y + HEAD + ROW * (index + 0.5);
}

interface Column {
  readonly left: number;
  readonly right: number;
  readonly boxes: readonly Box[];
}

/** The boxes that lie whole between two places, in groups that overlap from left to right. */
function columnsBetween(boxes: readonly Box[], from: number, to: number): Column[] {
  const between = boxes.filter(({ x, width }) => x >= from && x + width <= to);
  const columns: { left: number; right: number; boxes: Box[] }[] = [];
  for (const box of between.sort((a, b) => a.x - b.x)) {
    const column = columns.at(-1);
    if (column === undefined || box.x - CLEAR > column.right) {
      columns.push({ left: box.x - CLEAR, right: box.x + box.width + CLEAR, boxes: [box] });
    } else {
      column.right = Math.max(column.right, box.x + box.width + CLEAR);
      column.boxes.push(box);
    }
  }
  return columns;
}

/** The height nearest to `y` at which no box is in the way. */
function gapNear(boxes: readonly Box[], y: number, aside: number): number {
  const sorted = [...boxes].sort((a, b) => a.y - b.y);
  let best = Infinity;
  let top = -Infinity;
  for (const bottom of [...sorted.map((box) => box.y), Infinity]) {
    if (bottom - top >= 2 * CLEAR) {
      const [low, high] = [top + CLEAR, bottom - CLEAR];
      const at = Math.max(low, Math.min(high, Math.max(low, Math.min(high, y)) + aside));
      if (Math.abs(at - y) < Math.abs(best - y)) best = at;
    }
    top = Math.max(top, ...sorted.filter((box) => box.y === bottom).map((box) => box.y + box.height));
  }
  return best;
}

/** Lines through the same gap lie a little beside each other. */
function spread(from: Place, to: Place): number {
  let hash = 0;
  for (const character of `${from.node} ${from.row} ${to.node}`) hash = (hash * 31 + character.charCodeAt(0)) >>> 0;
  return ((hash % 5) - 2) * 3;
}

/** To another row of the same table, on its right side. */
function loop({ x, y }: Point, to: number): string {
  return `M${round(x)} ${round(y)}C${round(x + 24)} ${round(y)} ${round(x + 24)} ${round(to)} ${round(x)} ${round(to)}`;
}

/** A curve that leaves and arrives level. */
function bend(from: Point, to: Point): string {
  if (Math.abs(from.y - to.y) < 0.5 && to.x >= from.x) return `L${round(to.x)} ${round(to.y)}`;
  const reach = to.x >= from.x ? (to.x - from.x) / 2 : BACK;
  return `C${round(from.x + reach)} ${round(from.y)} ${round(to.x - reach)} ${round(to.y)} ${round(to.x)} ${round(to.y)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
