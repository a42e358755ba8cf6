/** The pipeline of every example: what traces name is there, rules stand in matching order, and paths lead to the objects. */
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import type { TraceStep } from "flowsteer/explain";
import { valueAt } from "./support/documents.js";
import { exampleText, good, newSession } from "./support/session.js";
import { sampleOf } from "../../support/tier.js";

const NAMES = readdirSync(new URL("../../../examples/", import.meta.url)).filter((name) => name.endsWith(".json"));

function tablesOf(steps: readonly TraceStep[]): string[] {
  return steps.flatMap((step) => {
    const table = step.kind === "lookup" || step.kind === "end" ? step.table : step.kind === "move" ? step.to : null;
    return table === null ? [] : [`${table.domain}/${table.vport}/${table.table}`];
  });
}

test.each(sampleOf(NAMES))("%s: tables, rules and ends of all ways are in the pipeline", async (name) => {
  const session = newSession();
  const text = exampleText(name);
  const { pipeline, totals, frames } = good(await session.load(text));
  const tables = new Map(pipeline.tables.map((table) => [table.id, table]));
  const ends = new Set(pipeline.ends.map(({ id }) => id));
  for (const { miss, rules } of pipeline.tables) {
    if (miss !== null) expect(tables.has(miss) || ends.has(miss), miss).toBe(true);
    for (const { leadsTo } of rules) for (const id of leadsTo) expect(tables.has(id) || ends.has(id), id).toBe(true);
  }
  const rules = pipeline.tables.flatMap((table) => table.rules);
  expect(rules.map(({ path }) => path).sort()).toEqual(totals.rules.map(({ path }) => path).sort());
  for (const rule of rules) {
    const written = valueAt(JSON.parse(text), rule.path) as { name?: string };
    expect(written.name ?? rule.name).toBe(rule.name);
  }
  for (let frame = 1; frame <= frames; frame++) {
    const way = await session.way(frame);
    for (const id of tablesOf(way?.trace.steps ?? [])) expect([...tables.keys()], `frame ${frame}`).toContain(id);
    const { to = [], copies = [] } = way?.trace.outcome ?? {};
    for (const one of [...to, ...copies]) expect([...ends], `frame ${frame}`).toContain(one.name);
  }
});

test("rules of a root table and its flows stand in one order, by priority", async () => {
  const session = newSession();
  const { pipeline } = good(await session.load(exampleText("everyday.json")));
  for (const { rules, id } of pipeline.tables) {
    const priorities = rules.map(({ priority }) => priority);
    expect(priorities, id).toEqual([...priorities].sort((a, b) => a - b));
  }
});
