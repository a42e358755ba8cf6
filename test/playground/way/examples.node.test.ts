/** The ways of all frames of the examples: bytes at steps, fields, routes. */
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import type { FrameWay, Pipeline } from "../../../playground/src/engine/api.js";
import { bytesAt, marksOf } from "../../../playground/src/way/bytes/bytesAt.js";
import { headerFieldOf, matchFieldOf } from "../../../src/packet/index.js";
import { bytesOf, fieldAtByte } from "../../../playground/src/way/bytes/fields.js";
import { graphOf } from "../../../playground/src/way/picture/graph.js";
import { layoutOf } from "../../../playground/src/way/picture/layout.js";
import { routeOf } from "../../../playground/src/way/picture/route.js";
import { stepWords } from "../../../playground/src/way/steps/stepText.js";
import { exampleText, good, newSession } from "../engine/support/session.js";

const NAMES = readdirSync(new URL("../../../examples/", import.meta.url)).filter((name) => name.endsWith(".json"));

interface Example {
  readonly pipeline: Pipeline;
  readonly ways: readonly FrameWay[];
}

async function waysOf(name: string): Promise<Example> {
  const session = newSession();
  const { pipeline, frames } = good(await session.load(exampleText(name)));
  const ways: FrameWay[] = [];
  for (let frame = 1; frame <= frames; frame++) {
    const way = await session.way(frame);
    if (way !== null) ways.push(way);
  }
  return { pipeline, ways };
}

const loaded = new Map(await Promise.all(NAMES.map(async (name) => [name, await waysOf(name)] as const)));

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

test.each(NAMES)("%s: a destination gets the bytes of its step", (name) => {
  for (const { trace, snapshots } of loaded.get(name)?.ways ?? []) {
    trace.steps.forEach((step, i) => {
      if (step.kind !== "destination" || step.refused !== null) return;
      const { to, copies } = trace.outcome;
      const arrived = [...to, ...copies].filter((one) => one.name === step.to).map(({ frame }) => frame);
      if (arrived.length === 0) return;
      expect(arrived).toContain(hex(bytesAt(trace, snapshots, i)?.tree.frame ?? new Uint8Array()));
    });
  }
});

test.each(NAMES)("%s: marks and removed bytes are what a step changed", (name) => {
  for (const { trace, snapshots } of loaded.get(name)?.ways ?? []) {
    trace.steps.forEach((step, i) => {
      if (step.kind !== "action" || step.bytes.length === 0) return;
      const earlier = snapshots.findLast((one) => one.branch === step.branch && one.step < i);
      const before = hex(earlier?.tree.frame ?? new Uint8Array());
      const { tree, marks, removed } = bytesAt(trace, snapshots, i) ?? {
        tree: { frame: new Uint8Array() },
        marks: [],
        removed: [],
      };
      const after = hex(tree.frame);
      expect(marks.map(({ offset, length }) => after.slice(2 * offset, 2 * (offset + length)))).toEqual(
        step.bytes.flatMap((change) => (change.after === "" ? [] : [change.after])),
      );
      // Without what is marked, and with what was there, it is the frame before the step.
      let back = after;
      const olds = [...step.bytes].reverse();
      for (const change of olds) {
        const shift = step.bytes
          .filter((one) => one.offset < change.offset)
          .reduce((sum, one) => sum + one.after.length - one.before.length, 0);
        const at = 2 * change.offset + shift;
        back = back.slice(0, at) + change.before + back.slice(at + change.after.length);
      }
      expect(back).toBe(before);
      const gone = step.bytes.flatMap((change) =>
        change.before !== "" && change.before.length !== change.after.length ? [change.before] : [],
      );
      expect(removed.map(({ bytes }) => bytes)).toEqual(gone);
    });
  }
});

/** Bits that say whether something is so; they have no number of their own in a header. */
const FACTS = /(_ok|frag|_present|vlan_tag)$/;

test.each(NAMES)("%s: match fields lie where the parser read them", (name) => {
  let checked = 0;
  for (const { trace, snapshots } of loaded.get(name)?.ways ?? []) {
    const step = trace.steps[0];
    const tree = snapshots[0]?.tree;
    if (step?.kind !== "parse" || tree === undefined) continue;
    for (const [field, value] of Object.entries(step.fields)) {
      const found = headerFieldOf(tree, field);
      if (found === null || FACTS.test(field)) continue;
      const { node, field: place } = found;
      expect(String(place.value), `${field} of frame ${trace.frame.bytes}`).toBe(String(value));
      expect(headerFieldOf(tree, matchFieldOf(tree, node, place) ?? "")?.field).toBe(place);
      const { offset } = bytesOf(place);
      expect(fieldAtByte(tree, offset)?.node).toBe(node);
      checked++;
    }
  }
  expect(checked).toBeGreaterThan((loaded.get(name)?.ways.length ?? 0) > 0 ? 3 : -1);
});

test.each(NAMES)("%s: the route is in the picture, from where the frame came in to its ends", (name) => {
  const { pipeline, ways } = loaded.get(name) as Example;
  for (const { trace } of ways) {
    const route = routeOf(pipeline, trace);
    const graph = graphOf(pipeline, route, {
      limits: new Map(),
      kept: new Set(route.hops.map(({ to }) => to.row ?? "")),
    });
    const placed = layoutOf(graph);
    expect(route.places.length).toBe(trace.steps.length);
    expect(route.ends.length).toBeGreaterThan(0);
    for (const { from, to } of route.hops) {
      expect(placed.line(from, to)).toMatch(/^M/);
      const rows = placed.nodes.get(to.node)?.node.rows.map(({ key }) => key) ?? [];
      if (to.row !== null) expect(rows).toContain(to.row);
    }
    for (const { node, verdict } of route.ends)
      expect(placed.nodes.get(node)?.node.kind, `${verdict} at ${node}`).toBe("end");
    for (const { node } of placed.nodes.values())
      if (node.kind === "table") expect(node.rows.at(-1)?.kind).toBe("miss");
    for (const step of trace.steps) expect(stepWords(step).label).not.toBe("");
  }
});

test("a table of the document that has the name of a stage is none", () => {
  const tables = loaded.get("everyday.json")?.pipeline.tables ?? [];
  expect(tables.map(({ name }) => name)).toEqual(["root", "connections", "services", "overlay"]);
  expect(tables.map(({ miss }) => miss)).toEqual([null, null, null, null]);
});

test("changes of other lengths move the marks after them", () => {
  const changes = [
    { offset: 2, before: "aabb", after: "" },
    { offset: 8, before: "01", after: "02" },
    { offset: 10, before: "", after: "030405" },
    { offset: 12, before: "06", after: "07" },
  ];
  expect(marksOf(changes)).toEqual({
    marks: [
      { offset: 6, length: 1, kind: "changed" },
      { offset: 8, length: 3, kind: "inserted" },
      { offset: 13, length: 1, kind: "changed" },
    ],
    removed: [{ offset: 2, bytes: "aabb" }],
  });
});
