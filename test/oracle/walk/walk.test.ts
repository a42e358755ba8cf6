import { describe, expect, test } from "vitest";
import { type ReferenceRule, firstMatch, rankOf, ruleMatches } from "./match.js";
import { type Action, type Counter, type Table, walkReference } from "./walk.js";

const PORT = "outer.udp_dport";
const fields = new Map([
  [PORT, 4791n],
  ["outer.frag", 0n],
]);

function rule(id: string, rank: bigint, actions: Action[], over: Partial<ReferenceRule<Action>> = {}) {
  return { id, rank, terms: [], ranges: [], actions, ...over };
}

function walk(tables: Record<string, Table>, counters = new Map<string, Counter>()) {
  return walkReference(new Map(Object.entries(tables)), fields, 100, counters);
}

describe("matching", () => {
  test("a masked field matches only where it is present", () => {
    const absent = { terms: [{ field: "misc.vxlan_vni", mask: 0xffffffn, value: 0n }] };
    expect(ruleMatches(fields, rule("r", 0n, [], absent))).toBe(false);
    const unmasked = { terms: [{ field: "misc.vxlan_vni", mask: 0n, value: 0n }] };
    expect(ruleMatches(fields, rule("r", 0n, [], unmasked))).toBe(true);
    const state = { terms: [{ field: "outer.frag", mask: 1n, value: 0n }] };
    expect(ruleMatches(fields, rule("r", 0n, [], state))).toBe(true);
    const spans = { ranges: [{ field: "outer.tcp_dport", low: 0n, high: 0xffffn }] };
    expect(ruleMatches(fields, rule("r", 0n, [], spans))).toBe(false);
  });

  test.each([
    [4791n, 4791n, true],
    [4790n, 4792n, true],
    [0n, 4790n, false],
    [4792n, 65535n, false],
  ])("range %d..%d", (low, high, hit) => {
    expect(ruleMatches(fields, rule("r", 0n, [], { ranges: [{ field: PORT, low, high }] }))).toBe(hit);
  });

  test("the lowest rank wins, and a lower bound goes on behind it", () => {
    const rules = [rule("c", 9n, []), rule("a", 1n, []), rule("b", 5n, [])];
    expect(firstMatch(rules, fields)?.id).toBe("a");
    expect(firstMatch(rules, fields, 2n)?.id).toBe("b");
    expect(firstMatch(rules, fields, 5n)?.id).toBe("b");
    expect(firstMatch(rules, fields, 10n)).toBeNull();
  });

  test("rank: priority, then the newer matcher (root: the older), then the older rule", () => {
    const order = (root: boolean) =>
      [
        { name: "old matcher", priority: 1, matcher: 3, rule: 0 },
        { name: "new matcher", priority: 1, matcher: 4, rule: 1 },
        { name: "its later rule", priority: 1, matcher: 4, rule: 2 },
        { name: "priority 0", priority: 0, matcher: 9, rule: 9 },
      ]
        .sort((a, b) => (rankOf(a, root) < rankOf(b, root) ? -1 : 1))
        .map(({ name }) => name);
    expect(order(false)).toEqual(["priority 0", "new matcher", "its later rule", "old matcher"]);
    expect(order(true)).toEqual(["priority 0", "old matcher", "new matcher", "its later rule"]);
  });
});

describe("the walk", () => {
  const jump: Action = { kind: "table", table: "t1" };

  test.each<[string, Table, Table, string, string | null]>([
    ["a root miss", { level: 0, rules: [] }, { level: 1, rules: [] }, "miss", "no_rule"],
    ["root default miss", at(0, { kind: "defaultMiss" }), { level: 1, rules: [] }, "miss", "default_miss"],
    ["a miss behind", at(0, jump), { level: 1, rules: [] }, "drop", "table_miss"],
    ["default miss behind", at(0, jump), at(1, { kind: "defaultMiss" }), "drop", "default_miss"],
    ["a drop", at(0, jump), at(1, { kind: "drop" }), "drop", "drop_action"],
    ["no terminal", at(0, jump), at(1), "drop", "no_destination"],
    ["delivery", at(0, jump), at(1, { kind: "qp", qp: "q" }), "deliver", null],
  ])("%s", (_name, root, t1, verdict, reason) => {
    expect(walk({ root, t1 })).toMatchObject({ verdict, reason, to: verdict === "deliver" ? ["q"] : [] });
  });

  function at(level: number, ...actions: Action[]): Table {
    return { level, rules: [rule(`r${level}`, 0n, actions)] };
  }

  test("actions run in the device's order: tag and counter before a drop that is listed first", () => {
    const counters = new Map<string, Counter>();
    const actions: Action[] = [{ kind: "drop" }, { kind: "counter", counter: "c" }, { kind: "tag", value: 0x1234567 }];
    expect(walk({ root: at(0, ...actions) }, counters)).toMatchObject({ tag: 0x234567, rules: ["r0"] });
    expect(counters.get("c")).toEqual({ packets: 1n, bytes: 100n });
  });

  test("64 jumps are walked, the 65th drops", () => {
    const chain = (jumps: number) => {
      const tables: Record<string, Table> = {};
      for (let i = 0; i < jumps; i++) tables[`t${i}`] = at(i, { kind: "table", table: `t${i + 1}` });
      tables[`t${jumps}`] = at(jumps, { kind: "qp", qp: "q" });
      return walk(tables);
    };
    expect(chain(64)).toMatchObject({ verdict: "deliver", to: ["q"] });
    const dropped = chain(65);
    expect(dropped).toMatchObject({ verdict: "drop", reason: "hop_limit", to: [] });
    expect(dropped.rules.length).toBe(65);
  });
});
