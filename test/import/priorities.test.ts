/** Priorities of rules as edits of their texts: the number of the text, which the driver turns into the device's. */
import { describe, expect, test } from "vitest";
import { importRules, RuleWords, type TextEdit } from "../../src/import/index.js";
import type { Scenario } from "../../src/scenario/index.js";
import { seedFor } from "../assembly/support/core.js";
import { Random } from "../oracle/generate/random.js";

/** A text of rules with these priorities. */
const LANGUAGES: Readonly<
  Record<string, { readonly line: (priority: number, n: number) => string; readonly max: number }>
> = {
  testpmd: {
    line: (priority, n) =>
      `flow create 0 ingress group 1 priority ${priority} pattern eth / ipv4 dst spec 10.0.${n}.0 dst prefix 24 / tcp / end actions queue index 1 / end`,
    max: 10,
  },
  ovs: { line: (priority, n) => `priority=${priority},tcp,nw_dst=10.0.${n}.0/24,actions=output:2`, max: 60_000 },
  tc: {
    line: (priority, n) =>
      `tc filter add dev eth0 ingress protocol ip pref ${priority} flower ip_proto tcp dst_ip 10.0.${n}.0/24 action drop`,
    max: 60_000,
  },
};

function imported(text: string): { scenario: Scenario; words: RuleWords } {
  const sources = [{ file: "rules", text }];
  const result = importRules(sources, { namePlaces: true, lenient: true });
  if (result.scenario === null) throw new Error(text);
  return { scenario: result.scenario, words: new RuleWords(sources, {}, result) };
}

/** The rules of the text in the order of the device: pairs of equal priority are left out. */
function orders({ rules = [], matchers = [] }: Scenario): ReadonlyMap<string, number> {
  return new Map(
    rules
      .filter(({ name }) => name.startsWith("rules:"))
      .map(({ name, priority, matcher }) => [
        name,
        priority ?? matchers.find((one) => one.name === matcher)?.priority ?? 0,
      ]),
  );
}

function edited(text: string, { line, column, before, after }: TextEdit): string {
  const lines = text.split("\n");
  const found = lines[line - 1] ?? "";
  expect(found.slice(column - 1)).toMatch(new RegExp(`^${before}`));
  lines[line - 1] = found.slice(0, column - 1) + after + found.slice(column - 1 + before.length);
  return lines.join("\n");
}

describe.each(Object.entries(LANGUAGES))("%s", (_, { line, max }) => {
  test("the edit gives the rule the place of the device's priority", () => {
    const random = new Random(seedFor("priorities as edits"));
    let edits = 0;
    for (let round = 0; round < 20; round++) {
      const text = Array.from({ length: 4 }, (__, n) => line(random.between(1, max), n)).join("\n");
      const { scenario, words } = imported(text);
      const before = orders(scenario);
      const [name, other] = [`rules:${random.between(1, 4)}`, `rules:${random.between(1, 4)}`];
      const wanted = (before.get(other) ?? 0) + random.pick([-1, 1]);
      const edit = words.editForPriority(name, before.get(name) ?? 0, wanted);
      if (name === other || edit === null) continue;
      edits++;
      const after = orders(imported(edited(text, edit)).scenario);
      for (const [one, priority] of before) {
        if (one === name) continue;
        expect(after.get(one), text).toBe(priority);
        expect(Math.sign((after.get(name) ?? 0) - priority), `${text}\n${edit.after}`).toBe(
          Math.sign(wanted - priority),
        );
      }
    }
    expect(edits).toBeGreaterThan(5);
  });

  test("there is none for a place that no number gives", () => {
    const text = [line(1, 1), line(2, 2), line(7, 3)].join("\n");
    const { scenario, words } = imported(text);
    const [first = 0, , third = 0] = orders(scenario).values();
    // testpmd has no number between two that follow each other, the others none outside of theirs.
    const nowhere = max === 60_000 ? 70_000 : first + 1;
    const most = words.editForPriority("rules:3", third, nowhere);
    expect(most).toBe(null);
    expect(words.editForPriority("rules:9", first, first + 1)).toBe(null);
  });
});

test("a number that the driver refuses is no edit", () => {
  const line = (priority: number, upper: string): string =>
    `flow create 0 ingress priority ${priority} pattern eth / ipv4 / ${upper} / end actions queue index 1 / end`;
  const { scenario, words } = imported([line(10, "tcp"), line(1, "udp")].join("\n"));
  const { before, after } = words.editForPriority("rules:1", orders(scenario).get("rules:1") ?? 0, 12) ?? {};
  // 12 is that of the number 4, and mlx5-pmd has the numbers 0 to 3 in group 0.
  expect([before, after]).toEqual(["priority 10", "priority 3"]);
});
