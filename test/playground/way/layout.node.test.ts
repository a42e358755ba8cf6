/** The picture of random pipelines: nodes do not overlap, rows keep the order of ranks, edges have ends. */
import { expect, test } from "vitest";
import { graphOf, HEAD, ROW, type Graph } from "../../../playground/src/way/picture/graph.js";
import type { PlacedNode } from "../../../playground/src/way/picture/boxes.js";
import { layoutOf } from "../../../playground/src/way/picture/layout.js";
import { MORE, rowsOf, ruleKey, SHOWN, SHOWN_STEP } from "../../../playground/src/way/picture/rows.js";
import { Random } from "../../oracle/generate/random.js";
import { randomPipeline, randomRoute } from "./support/pipelines.js";

const NOTHING = { limits: new Map<string, number>(), kept: new Set<string>() };
const ROUNDS = process.env["FLOWSTEER_DEEP"] === "1" ? 1000 : 40;

function randomGraph(random: Random): Graph {
  const sizes = { tables: 1 + random.below(12), rules: random.below(30), ends: random.below(8) };
  const pipeline = randomPipeline(random, sizes);
  return graphOf(pipeline, random.chance(0.5) ? randomRoute(random, pipeline) : null, NOTHING);
}

function overlap(a: PlacedNode, b: PlacedNode): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

test("nodes do not overlap and lie inside the picture", () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const graph = randomGraph(new Random(seed));
    const placed = layoutOf(graph);
    const boxes = [...placed.nodes.values()];
    expect(boxes.length).toBe(graph.nodes.length);
    boxes.forEach((box, i) => {
      expect(box.x >= 0 && box.x + box.width <= placed.width && box.y >= 0, `seed ${seed}`).toBe(true);
      expect(box.y + box.height).toBeLessThanOrEqual(placed.height);
      for (const other of boxes.slice(i + 1)) {
        const names = `${box.node.id} and ${other.node.id} of seed ${seed}`;
        expect(overlap(box, other), names).toBe(false);
      }
    });
  }
});

test("a band holds its tables and no others", () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const placed = layoutOf(randomGraph(new Random(seed)));
    for (const band of placed.bands) {
      for (const box of placed.nodes.values()) {
        if (box.node.band === null) continue;
        const inside = box.x >= band.x && box.x + box.width <= band.x + band.width && box.y >= band.y;
        if (box.node.band === band.id) expect(inside, `${box.node.id} in ${band.id} of seed ${seed}`).toBe(true);
      }
    }
  }
});

test("each edge is drawn from a row to a node", () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const graph = randomGraph(new Random(seed));
    const placed = layoutOf(graph);
    for (const { from, to } of graph.edges) {
      const line = placed.line(from, { node: to, row: null });
      expect(line, `${from.node} to ${to} of seed ${seed}`).toMatch(/^M[\d.-]+ [\d.-]+[LCH]/);
      expect(line).not.toContain("NaN");
      const box = placed.nodes.get(from.node) as PlacedNode;
      const [x = NaN, y = NaN] = line
        .slice(1)
        .split(/[ LCH]/)
        .map(Number);
      expect(x).toBeCloseTo(box.x + box.width, 0);
      expect(y >= box.y && y <= box.y + box.height).toBe(true);
      if (from.row === null || box.node.kind !== "table") continue;
      const row = box.node.rows.findIndex(({ key }) => key === from.row);
      if (row < 0) continue;
      expect(Math.abs(y - (box.y + HEAD + ROW * (row + 0.5)))).toBeLessThan(0.1);
    }
  }
});

test("rows keep the order of the table, and hidden rules are counted", () => {
  const random = new Random(7);
  const { tables } = randomPipeline(random, { tables: 1, rules: 2000, ends: 1 });
  const table = { ...tables[0], rules: randomRules(1212) } as (typeof tables)[number];
  const kept = new Set([900, 40, 1211].map((i) => ruleKey(table.rules[i] as (typeof table.rules)[number])));
  const rows = rowsOf(table, SHOWN, kept);
  const shown = rows.flatMap((row) => (row.kind === "rule" ? [table.rules.indexOf(row.rule)] : []));
  expect(shown).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 40, 900, 1211]);
  expect(rows.find(({ key }) => key === MORE)).toMatchObject({ count: 1201 });
  const more = rowsOf(table, SHOWN + SHOWN_STEP, kept);
  expect(more.find(({ key }) => key === MORE)).toMatchObject({ count: 1212 - 58 - 2 });
  expect(rowsOf({ ...table, rules: table.rules.slice(0, 9) }, SHOWN, new Set()).map(({ kind }) => kind)).not.toContain(
    "more",
  );
});

function randomRules(count: number): ReturnType<typeof randomPipeline>["tables"][number]["rules"] {
  const rule = { name: "r", kind: "rule", priority: 0, match: [], actions: [], leadsTo: [] } as const;
  return Array.from({ length: count }, (_, i) => ({ ...rule, path: `rules[${i}]` }));
}

test("a pipeline of 10,000 tables is drawn in part, with all that the frame met", () => {
  const random = new Random(11);
  const pipeline = randomPipeline(random, { tables: 10_000, rules: 2, ends: 5000 });
  const route = randomRoute(random, pipeline);
  const graph = graphOf(pipeline, route, NOTHING);
  const ids = new Set(graph.nodes.map(({ id }) => id));
  for (const { from, to } of route.hops) expect(ids.has(from.node) && ids.has(to.node)).toBe(true);
  expect(graph.nodes.length).toBeLessThan(120);
  expect(graph.hidden).toBeGreaterThan(14_000);
  const began = performance.now();
  layoutOf(graph);
  console.log(
    `layout of ${graph.nodes.length} nodes, ${graph.edges.length} edges: ${(performance.now() - began).toFixed(1)} ms`,
  );
});

test("the layout of a hundred rules is quick", () => {
  const pipeline = randomPipeline(new Random(3), { tables: 8, rules: 25, ends: 10 });
  const times = Array.from({ length: 20 }, () => {
    const began = performance.now();
    layoutOf(graphOf(pipeline, null, NOTHING));
    return performance.now() - began;
  }).sort((a, b) => a - b);
  console.log(
    `layout of 8 tables with ${pipeline.tables.flatMap(({ rules }) => rules).length} rules: ${times[10]?.toFixed(1)} ms`,
  );
});
