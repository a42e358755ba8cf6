/** A search that ends early says how far it came. */
import { expect, test } from "vitest";
import { LintContext } from "../../../src/proof/lint/context.js";
import { LINT_DETECTORS } from "../../../src/proof/lint/lint.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";

const SOURCES = [1, 2, 3, 4, 5, 6];

/** Rules of sources, then of destinations: each overlaps all others, but no frame has the source of one and the destination of another. */
const PAIRED: Scenario = {
  flowsteer: 1,
  queues: [{ name: "a" }, { name: "b" }],
  tables: [
    { name: "root", level: 0 },
    { name: "pairs", level: 1 },
  ],
  rules: [
    ...SOURCES.map((n) => ({
      name: `pair ${n}`,
      table: "root",
      match: { "outer.ipv4_src": `10.0.0.${n}`, "outer.ipv4_dst": `10.1.0.${n}` },
      actions: [{ table: "pairs" }],
    })),
    ...SOURCES.slice(0, 3).map((n) => ({
      name: `source ${n}`,
      table: "pairs",
      match: { "outer.ipv4_src": `10.0.0.${n}` },
      actions: [{ queue: "a" }],
    })),
    ...SOURCES.slice(3).map((n) => ({
      name: `destination ${n}`,
      table: "pairs",
      match: { "outer.ipv4_dst": `10.1.0.${n}` },
      actions: [{ queue: "b" }],
    })),
  ],
};

/** Two rules that share frames, of which a third one takes more. */
const PARTLY: Scenario = {
  flowsteer: 1,
  queues: [{ name: "a" }],
  tables: [{ name: "root", level: 0 }],
  rules: ["outer.tcp_dport", "outer.tcp_sport", "outer.ip_protocol"].map((field, priority) => ({
    name: field,
    table: "root",
    priority,
    match: { [field]: priority === 2 ? "tcp" : 80 },
    actions: [{ queue: "a" }],
  })),
};

async function findings(
  scenario: Scenario,
  limits: Partial<LintContext["limits"]>,
): Promise<{ id: string; sentence: string }[]> {
  const { device } = await loadScenario(scenario);
  const context = await LintContext.open(device, new Set(), undefined);
  context.limits = { ...context.limits, ...limits };
  return LINT_DETECTORS.flatMap(({ id, detect }) => [...detect(context)].map(({ sentence }) => ({ id, sentence })));
}

test("all rules are decided where there are few", async () => {
  expect((await findings(PAIRED, {})).filter(({ id }) => id === "not-decided")).toEqual([]);
});

test("the order of rules", async () => {
  expect(await findings(PAIRED, { searches: 4, searchesPerRule: 0 })).toContainEqual({
    id: "not-decided",
    sentence:
      'Table "pairs": Whether the order of creation matters was decided for the first 4 of its 6 rules. Too many of them overlap in their fields, but not in frames.',
  });
});

test("redundant rules", async () => {
  const redundant = (await findings(PARTLY, {})).filter(({ id }) => id === "redundant-rule");
  expect(redundant).not.toEqual([]);
  const limited = await findings(PARTLY, { comparisons: 0 });
  expect(limited.filter(({ id }) => id === "redundant-rule")).toEqual([]);
  expect(limited).toContainEqual({ id: "not-decided", sentence: expect.stringContaining("its 3 rules") as string });
});
