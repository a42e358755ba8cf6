/**
 * The order in which actions run, on bytes and counters: it depends on the direction and not on the
 * list (docs/rules.md, "Order of execution"). Every list is given in all its orders.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { UNKNOWN_MASK } from "../../../src/abi/engine.js";
import { allExports } from "../../../src/engine/calls.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { FlowCounter } from "../../../src/model/action/counter.js";
import { Rule } from "../../../src/model/rule/rule.js";
import type { HitRule, Outcome } from "../../../src/model/traffic/outcome.js";
import { ipv4Frame, refused } from "../support/directRules.js";
import {
  counted,
  enter,
  inVxlan,
  openCounter,
  openSwitch,
  ruleFor,
  tagged,
  tagsOf,
  VXLAN,
  type PlaceName,
  type SwitchBench,
} from "../support/switchBench.js";

let bench: SwitchBench;
beforeEach(async () => void (bench = await openSwitch()));

/** The directions of a rule, and the way to make a frame reach each. */
type SideName = "rx" | "tx" | "wire" | "function";
const SIDES: readonly SideName[] = ["rx", "tx", "wire", "function"];
const PLACE_OF: Readonly<Record<SideName, PlaceName>> = { rx: "rx", tx: "tx", wire: "fdb", function: "fdb" };

function run(side: SideName, frame: Uint8Array): Outcome {
  if (side === "rx" || side === "wire") return bench.device.receive(1, frame);
  return bench.device.send(bench.queues[0]!, frame);
}

/** The action that leaves a direction, so that the test sees the bytes. */
function wayOut(side: SideName): Action[] {
  if (side === "rx") return [dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queues[0]!)];
  if (side === "tx") return [];
  return [dv.mlx5dv_dr_action_create_dest_ib_port(bench.fdb.domain, 2)];
}

const REFORMAT = {
  encap: dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL,
  decap: dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2,
};

/** Actions by name, for a direction. */
function actionsOf(side: SideName, names: readonly string[]): { actions: Action[]; counter: FlowCounter } {
  const { domain } = bench[PLACE_OF[side]];
  const counter = openCounter(bench.context);
  const vid = (data: number): Parameters<typeof dv.modifyActions>[0] => [{ type: "set", field: "OUT_FIRST_VID", data }];
  const actions = names.map((name): Action => {
    switch (name) {
      case "pop":
        return dv.mlx5dv_dr_action_create_pop_vlan();
      case "push":
        return dv.mlx5dv_dr_action_create_push_vlan(domain, 0x81000064);
      case "vid":
        return dv.mlx5dv_dr_action_create_modify_header(domain, 0, undefined, vid(0x1e));
      case "count":
        return dv.mlx5dv_dr_action_create_flow_counter(counter, 0);
      case "encap":
        return dv.mlx5dv_dr_action_create_packet_reformat(domain, 0, REFORMAT.encap, undefined, VXLAN);
      default:
        return dv.mlx5dv_dr_action_create_packet_reformat(domain, 0, REFORMAT.decap, 0, null);
    }
  });
  return { actions: [...actions, ...wayOut(side)], counter };
}

function ordersOf<T>(list: readonly T[]): T[][] {
  if (list.length === 0) return [[]];
  return list.flatMap((one, i) => ordersOf([...list.slice(0, i), ...list.slice(i + 1)]).map((rest) => [one, ...rest]));
}

/** The effect of a list in a direction, the same in all its orders. */
function effect(side: SideName, names: readonly string[], frame: Uint8Array): { bytes: Uint8Array; count: unknown } {
  const effects = ordersOf(names).map((order) => {
    const { actions, counter } = actionsOf(side, order);
    const rule = ruleFor(bench[PLACE_OF[side]].table, {}, actions);
    const [arrived] = run(side, frame).to;
    dv.mlx5dv_dr_rule_destroy(rule);
    return { bytes: arrived?.frame as Uint8Array, count: counted(counter) };
  });
  for (const one of effects) expect(one).toEqual(effects[0]);
  return effects[0]!;
}

/** The names of the rules of the eSwitch's table that a frame in a direction hits. */
function switched(side: SideName, frame: Uint8Array): string[] {
  const inTable = (one: HitRule): boolean => one instanceof Rule && one.matcher.table === bench.fdb.table;
  return run(side, frame)
    .rules.filter(inTable)
    .map(({ name }) => name);
}

const PLAIN = ipv4Frame();
const TWICE = tagged(PLAIN, 0x8100000a, 0x81000014);

describe.each(SIDES)("%s", (side) => {
  const receives = side === "rx" || side === "wire";
  beforeEach(() => void enter(bench[PLACE_OF[side]]));

  test("pop, then modify, then push", () => {
    const { bytes } = effect(side, ["pop", "vid", "push"], TWICE);
    expect(tagsOf(bytes)).toEqual([0x81000064, 0x8100001e]);
    expect(bytes.subarray(20)).toEqual(PLAIN.subarray(12));
  });

  test("a counter counts behind pop, and behind push on receive alone", () => {
    expect(effect(side, ["pop", "count"], TWICE).count).toEqual([1, 68]);
    expect(effect(side, ["push", "count"], PLAIN).count).toEqual([1, receives ? 68 : 64]);
    expect(effect(side, ["pop", "push", "count"], TWICE).count).toEqual([1, receives ? 72 : 68]);
  });

  test("encapsulation comes last, behind push and the counter", () => {
    const { bytes, count } = effect(side, ["encap", "push", "count"], PLAIN);
    expect(count).toEqual([1, receives ? 68 : 64]);
    expect(bytes.length).toBe(50 + 68);
    expect(tagsOf(bytes)).toEqual([]);
    expect(bytes.subarray(50)).toEqual(tagged(PLAIN, 0x81000064));
  });

  test("decapsulation comes first, before pop and the counter", () => {
    const { bytes, count } = effect(side, ["decap", "pop", "count"], inVxlan(TWICE));
    expect(count).toEqual([1, 68]);
    expect(bytes).toEqual(tagged(PLAIN, 0x81000014));
  });

  test("header changes are of what decapsulation leaves, and inside what encapsulation makes", () => {
    const { bytes } = effect(side, ["decap", "vid", "encap"], inVxlan(TWICE));
    expect(bytes.length).toBe(50 + 72);
    expect(bytes.subarray(50)).toEqual(tagged(PLAIN, 0x8100001e, 0x81000014));
  });

  test("of two pushes the second is outermost, two pops take both tags", () => {
    const { domain, table } = bench[PLACE_OF[side]];
    const pushes = [0x88a80001, 0x81000002].map((tag) => dv.mlx5dv_dr_action_create_push_vlan(domain, tag));
    const pops = [dv.mlx5dv_dr_action_create_pop_vlan(), dv.mlx5dv_dr_action_create_pop_vlan()];
    const pushing = ruleFor(table, {}, [...pushes, ...wayOut(side)]);
    expect(tagsOf(run(side, PLAIN).to[0]!.frame)).toEqual([0x81000002, 0x88a80001]);
    dv.mlx5dv_dr_rule_destroy(pushing);
    const popping = ruleFor(table, {}, [...pops, ...wayOut(side)]);
    expect(run(side, TWICE).to[0]!.frame).toEqual(PLAIN);
    expect(run(side, PLAIN).to[0]!.frame).toEqual(PLAIN);
    dv.mlx5dv_dr_rule_destroy(popping);
    ruleFor(table, {}, [pops[0]!, pops[0]!, ...wayOut(side)]);
    expect(run(side, TWICE).to[0]!.frame).toEqual(PLAIN);
  });
});

test("a tag is of the rule, before and behind all changes of the frame", () => {
  enter(bench.rx);
  const { actions } = actionsOf("rx", ["encap", "push"]);
  ruleFor(bench.rx.table, {}, [...actions, dv.mlx5dv_dr_action_create_tag(77)]);
  expect(run("rx", PLAIN)).toMatchObject({ verdict: "deliver", tag: 77 });
});

describe("a rule of the eSwitch", () => {
  const BOTH = ["wire", "function"] as const;
  beforeEach(() => void enter(bench.fdb));

  test("is one rule, which counts on each side what it has there", () => {
    const { actions, counter } = actionsOf("wire", ["push", "count"]);
    const rule = ruleFor(bench.fdb.table, {}, actions);
    expect([switched("wire", PLAIN), counted(counter)]).toEqual([[rule.name], [1, 68]]);
    expect([switched("function", PLAIN), counted(counter)]).toEqual([[rule.name], [2, 132]]);
    dv.mlx5dv_dr_rule_destroy(rule);
    for (const side of BOTH) expect(switched(side, PLAIN)).toEqual([]);
  });

  test.each([
    ["the wire", 0xffff, "wire", 68],
    ["a function", 0, "function", 64],
  ] as const)("whose matcher masks source_port whole is for %s alone", (_, source_port, own, bytes) => {
    const { actions, counter } = actionsOf("wire", ["push", "count"]);
    const alone = ruleFor(bench.fdb.table, { "misc.source_port": source_port }, actions);
    for (const side of BOTH) expect(switched(side, PLAIN)).toEqual(side === own ? [alone.name] : []);
    expect(counted(counter)).toEqual([1, bytes]);
  });

  test("takes as much room as one where both sides do the same", () => {
    const room = (names: readonly string[]): number => {
      const { actions } = actionsOf("wire", names);
      const used = bench.device.memoryUsed;
      const rule = ruleFor(bench.fdb.table, { "outer.dmac": "02:00:00:00:00:01" }, actions);
      const took = bench.device.memoryUsed - used;
      dv.mlx5dv_dr_rule_destroy(rule);
      return took;
    };
    room(["pop", "count"]);
    expect(room(["pop", "count"])).toBeLessThan(room(["push", "count"]));
  });

  test("ranks as one: of duplicates the oldest wins on both sides", () => {
    const [first, second] = [0, 1].map(() => actionsOf("wire", ["push", "count"]));
    const { match_criteria_enable, mask, value } = dv.matchParameters({ "outer.dmac": "02:00:00:00:00:01" });
    const matcher = dv.mlx5dv_dr_matcher_create(bench.fdb.table, 0, match_criteria_enable, mask);
    const rules = [first!, second!].map(({ actions }) => dv.mlx5dv_dr_rule_create(matcher, value, undefined, actions));
    for (const side of BOTH) expect(switched(side, PLAIN)).toEqual([rules[0]!.name]);
    dv.mlx5dv_dr_rule_destroy(rules[0]!);
    for (const side of BOTH) expect(switched(side, PLAIN)).toEqual([rules[1]!.name]);
  });

  test.each([1, 2])("is on no side when memory is full at half %i", (full) => {
    const { core } = bench.device;
    const { exports } = core;
    const { actions } = actionsOf("wire", ["push", "count"]);
    const { match_criteria_enable, mask, value } = dv.matchParameters({ "outer.dmac": "02:00:00:00:00:01" });
    const matcher = dv.mlx5dv_dr_matcher_create(bench.fdb.table, 0, match_criteria_enable, mask);
    dv.mlx5dv_dr_domain_set_reclaim_device_memory(bench.fdb.domain, true);
    const used = bench.device.memoryUsed;
    let calls = 0;
    const insertRule: typeof exports.insertRule = (...rule) => (++calls === full ? 0 : exports.insertRule(...rule));
    const insertKnown: typeof exports.insertKnown = () => UNKNOWN_MASK;
    Object.assign(core, { exports: { ...allExports(exports), insertRule, insertKnown } });
    const make = (): Rule => dv.mlx5dv_dr_rule_create(matcher, value, undefined, actions);
    expect(refused(make)).toMatchObject({ code: "ENOMEM", reason: "no_memory" });
    expect(calls).toBe(full);
    expect([bench.device.memoryUsed, matcher.users, actions[0]!.users]).toEqual([used, 0, 0]);
    for (const side of BOTH) expect(switched(side, PLAIN)).toEqual([]);
    make();
    for (const side of BOTH) expect(switched(side, PLAIN).length).toBe(1);
  });
});
