/** The drawings of layouts agree with their fields. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as layouts from "../../../src/model/devx/layouts.js";
import * as queueLayouts from "../../../src/model/devx/queue/layouts.js";
import { ROOT } from "../../support/root.js";

/** Comments of one drawing, and the layout after each. */
const DRAWN = /^\/\*\* (\| [^*]*?\|)[^|*]*?\*\/\nexport const (\w+) = layout\(/gm;

/** The bits at which cells of a drawing begin and end, and whether it ends with a list. */
function edgesOf(drawing: string): { edges: Set<number>; end: number; open: boolean } {
  const edges = new Set([0]);
  let end = 0;
  let open = false;
  for (const part of drawing.split(/[|,]/).map((text) => text.trim())) {
    if (part === "") continue;
    const [, size, bits] = /^.* (\d+)( bits?)?$/.exec(part) ?? [];
    if (size === undefined) open = true;
    else edges.add((end += Number(size) * (bits === undefined ? 8 : 1)));
  }
  return { edges, end, open: open || drawing.includes("...") };
}

const drawn = Object.entries({ layouts, "queue/layouts": queueLayouts }).flatMap(([file, module]) => {
  const source = readFileSync(join(ROOT, `src/model/devx/${file}.ts`), "utf8");
  return [...source.replaceAll("\n * ", " ").matchAll(DRAWN)].map(([, drawing = "", name = ""]) => {
    return [name, drawing, (module as unknown as Readonly<Record<string, layouts.Layout>>)[name]] as const;
  });
});

test("layouts have drawings", () => {
  expect(drawn.length).toBe(37);
});

test.each(drawn)("%s", (name, drawing, drawnLayout) => {
  const { size, fields } = drawnLayout as layouts.Layout;
  const { edges, end, open } = edgesOf(drawing);
  if (!open) expect([name, end]).toEqual([name, 8 * size]);
  for (const [field, [byte, bits, bit = 0]] of Object.entries(fields)) {
    const from = 8 * byte + bit;
    if (drawing.startsWith("| header") && from < 64) continue;
    expect([field, edges.has(from), edges.has(from + bits)]).toEqual([field, true, true]);
  }
});
