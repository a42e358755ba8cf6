/**
 * Rules of a root table for the same frames. The kernel keeps one entry for them, whose actions must agree (fs_core.c,
 * check_conflicting_ftes); the ConnectX profiles refuse the others.
 */
import { beforeEach, describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import { readFileSync } from "node:fs";
import { checkScenario } from "../../../src/scenario/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { MatchFields } from "../../../src/model/match/match.js";
import { Rule } from "../../../src/model/rule/rule.js";
import { Matcher } from "../../../src/model/table/matcher.js";
import { created } from "../support/devx.js";
import { ipv4Frame, refused } from "../support/directRules.js";
import { openSwitch, type SwitchBench } from "../support/switchBench.js";

const { match_criteria_enable, mask, value } = dv.matchParameters({ "outer.dmac": "02:00:00:00:00:01" });
const { value: other } = dv.matchParameters({ "outer.dmac": "02:00:00:00:00:02" });
const wider = dv.matchParameters({ "outer.dmac": "02:00:00:00:00:00/ff:ff:ff:ff:ff:00" });

let bench: SwitchBench;
beforeEach(async () => void (bench = await openSwitch({ profile: "connectx6dx" })));

const { mlx5dv_dr_action_create_drop: drop, mlx5dv_dr_action_create_tag: tag } = dv;
const queue = (): Action => dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queues[0]!);

const matcherOf = (priority = 0, of = mask) =>
  dv.mlx5dv_dr_matcher_create(bench.rx.root, priority, match_criteria_enable, of);
const make = (matcher: ReturnType<typeof matcherOf>, list: Action[], of = value): Rule =>
  dv.mlx5dv_dr_rule_create(matcher, of, list.length, list);

describe("a rule for the frames of an older one", () => {
  test.each<[string, () => Action[], () => Action[], string | null]>([
    ["another tag", () => [tag(1), queue()], () => [tag(2), queue()], "has the tag 1"],
    ["a tag beside none", () => [queue()], () => [tag(2), queue()], "has no tag"],
    ["the tag 0 beside none", () => [queue()], () => [tag(0), queue()], null],
    ["no tag beside one", () => [tag(1), queue()], () => [queue()], null],
    ["the same tag", () => [tag(1), queue()], () => [tag(1), queue()], null],
    ["a drop beside a queue", () => [queue()], () => [drop()], "does not drop them"],
    ["a queue beside a drop", () => [drop()], () => [queue()], "drops them"],
    ["two drops", () => [drop()], () => [drop()], null],
    ["header changes", () => [queue()], () => [change(), queue()], "has other changes"],
  ])("%s", (_, first, second, why) => {
    const matcher = matcherOf();
    const rule = make(matcher, first());
    const list = second();
    const used = bench.device.memoryUsed;
    if (why === null) {
      make(matcher, list);
      return;
    }
    expect(refused(() => make(matcher, list))).toMatchObject({
      code: "EEXIST",
      reason: "conflicting_rule",
      path: "actions",
      hint: `${rule.name} matches the same frames and ${why}`,
    });
    expect([matcher.users, bench.device.memoryUsed, list.every(({ users }) => users === 0)]).toEqual([1, used, true]);
    make(matcher, list, other);
    dv.mlx5dv_dr_rule_destroy(rule);
    make(matcher, list);
  });

  test("of another matcher with the same mask and priority, and of no other", () => {
    make(matcherOf(1), [tag(1), queue()]);
    for (const free of [matcherOf(2), matcherOf(1, wider.mask)])
      make(free, [tag(2), queue()], free.mask?.[5] === 0 ? wider.value : value);
    expect(refused(() => make(matcherOf(1), [tag(2), queue()]))?.reason).toBe("conflicting_rule");
  });

  test("goes to another place: an entry has one besides its queues", () => {
    const matcher = matcherOf();
    const to = (level: number): Action =>
      dv.mlx5dv_dr_action_create_dest_table(dv.mlx5dv_dr_table_create(bench.rx.domain, level));
    const rule = make(matcher, [to(1)]);
    make(matcher, [queue()]);
    expect(refused(() => make(matcher, [to(2)]))).toMatchObject({
      hint: `${rule.name} matches the same frames and goes on to another place`,
    });
  });

  test("is no conflict where the mask is wider, or a range of the older one has the value", () => {
    const open = Matcher.named(bench.rx.root, 0, undefined, "open");
    const of = (fields: MatchFields, ...list: Action[]): Rule => Rule.named(open, fields, list);
    of({ "outer.dmac": "02:00:00:00:00:00/ff:ff:ff:ff:ff:00" }, tag(1), queue());
    of({ "outer.dmac": "02:00:00:00:00:00", "outer.ethertype": "1-9" }, tag(2), queue());
    of({ "outer.dmac": "02:00:00:00:00:00", "outer.ethertype": 5 }, tag(3), queue());
    of({ "outer.dmac": "02:00:00:00:00:00" }, tag(4), queue());
    const same = { "outer.dmac": "02:00:00:00:00:00", "outer.ethertype": 5 };
    expect(refused(() => of(same, tag(4), queue()))?.hint).toMatch(/has the tag 3$/);
  });

  test("in the eSwitch adds its counter in both directions", () => {
    const { fdb } = bench;
    const matcher = dv.mlx5dv_dr_matcher_create(fdb.root, 0, match_criteria_enable, mask);
    const table = dv.mlx5dv_dr_action_create_dest_table(fdb.table);
    const words = dv.modifyActions([{ type: "set", field: "OUT_IP_TTL", data: 9 }]);
    const change = dv.mlx5dv_dr_action_create_modify_header(fdb.domain, 1, words.length, words);
    const counters = [0, 1].map(() => created(bench.context, dv.allocFlowCounterCommand()));
    const rules = counters.map((one) =>
      make(matcher, [change, dv.mlx5dv_dr_action_create_flow_counter(one, 0), table]),
    );
    const frame = ipv4Frame();
    const steer = (): bigint[] => {
      bench.device.receive(1, frame);
      bench.device.send(bench.queues[1]!, frame);
      return counters.map((one) => one.read(0).packets);
    };
    expect(steer()).toEqual([2n, 2n]);
    dv.mlx5dv_dr_rule_destroy(rules[0]!);
    expect(steer()).toEqual([2n, 4n]);
  });

  test("is no conflict in other tables, and under the manual", async () => {
    const matcher = dv.mlx5dv_dr_matcher_create(bench.rx.table, 0, match_criteria_enable, mask);
    for (const number of [1, 2]) make(matcher, [tag(number), queue()]);
    bench = await openSwitch();
    const root = matcherOf();
    for (const number of [1, 2]) make(root, [tag(number), queue()]);
  });

  test("is refused in a scenario, by the name of the older rule", async () => {
    const text = readFileSync(new URL("../../drivers/cases/dr-root.json", import.meta.url), "utf8");
    const { refusals } = await checkScenario(text);
    expect(refusals.map(({ path, hint }) => [path, hint])).toEqual([
      ["rules[1].actions", "r1 matches the same frames and has the tag 1"],
      ["rules[2].actions", "r1 matches the same frames and does not drop them"],
    ]);
  });
});

function change(): Action {
  const words = dv.modifyActions([{ type: "set", field: "OUT_IP_TTL", data: 9 }]);
  return dv.mlx5dv_dr_action_create_modify_header(bench.rx.domain, 1, words.length, words);
}
