/** Lists of actions: lists that each profile accepts; a refused list has no effects. */
import { describe, expect, test } from "vitest";
import { Random } from "../../oracle/generate/random.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Rule } from "../../../src/model/rule/rule.js";
import { seedFor } from "../../assembly/support/core.js";
import order from "../../vectors/action-order.json" with { type: "json" };
import { refused } from "../support/directRules.js";
import {
  openCounter,
  openPlace,
  openSwitch,
  PLACES,
  VXLAN,
  type PlaceName,
  type SwitchBench,
} from "../support/switchBench.js";

const ROOT = dv.MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL;
const ETHERNET = VXLAN.subarray(0, 14);

/** Actions as rdma-core distinguishes them, each created if the profile has it, else undefined. */
function make(bench: SwitchBench, name: PlaceName, kind: string, flags = 0): Action | undefined {
  const { domain, table, root } = bench[name];
  const reformat = (type: number, data: Uint8Array | null): Action =>
    dv.mlx5dv_dr_action_create_packet_reformat(domain, flags, type, undefined, data);
  const makers: Record<string, () => Action> = {
    drop: dv.mlx5dv_dr_action_create_drop,
    defaultMiss: dv.mlx5dv_dr_action_create_default_miss,
    tag: () => dv.mlx5dv_dr_action_create_tag(1),
    qpOrTir: () => dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queues[0]!),
    destTable: () => dv.mlx5dv_dr_action_create_dest_table(table),
    destRootTable: () => dv.mlx5dv_dr_action_create_dest_root_table(root, 0),
    vport: () => dv.mlx5dv_dr_action_create_dest_vport(domain, 1),
    ibPort: () => dv.mlx5dv_dr_action_create_dest_ib_port(domain, 1),
    destArray: () => {
      const dests = [1, 2].map(() => ({ type: 0, dest: dv.mlx5dv_dr_action_create_dest_table(table) }));
      return dv.mlx5dv_dr_action_create_dest_array(domain, 2, dests);
    },
    counter: () => dv.mlx5dv_dr_action_create_flow_counter(openCounter(bench.context), 0),
    decapL2: () => reformat(0, null),
    encapL2: () => reformat(1, VXLAN),
    decapL3: () => reformat(2, ETHERNET),
    encapL3: () => reformat(3, VXLAN),
    modifyHeader: () => {
      const list = dv.modifyActions([{ type: "set", field: "OUT_IP_TTL", data: 1 }]);
      return dv.mlx5dv_dr_action_create_modify_header(domain, flags, 8, list);
    },
    popVlan: dv.mlx5dv_dr_action_create_pop_vlan,
    pushVlan: () => dv.mlx5dv_dr_action_create_push_vlan(domain, 0x81000001),
  };
  let action: Action | undefined;
  refused(() => (action = makers[kind]!()));
  return action;
}

const KINDS = [
  ...["drop", "defaultMiss", "tag", "qpOrTir", "destTable", "destRootTable", "vport", "ibPort", "destArray", "counter"],
  ...["decapL2", "encapL2", "decapL3", "encapL3", "modifyHeader", "popVlan", "pushVlan"],
];

/** Creates a rule of these actions; returns its error, after a check for leftovers. */
function tryList(
  bench: SwitchBench,
  name: PlaceName,
  actions: readonly Action[],
  at: { root?: boolean; priority?: number; source_port?: number } = {},
): string | null {
  const { table, root } = bench[name];
  const { root: inRoot = false, priority = 0, source_port } = at;
  const { match_criteria_enable, mask, value } = dv.matchParameters(
    source_port === undefined ? {} : { "misc.source_port": source_port },
  );
  const matcher = dv.mlx5dv_dr_matcher_create(inRoot ? root : table, priority, match_criteria_enable, mask);
  const users = actions.map((action) => action.users);
  const { memoryUsed } = bench.device;
  let rule: Rule | undefined;
  const error = refused(() => (rule = dv.mlx5dv_dr_rule_create(matcher, value, actions.length, actions)));
  if (rule !== undefined) dv.mlx5dv_dr_rule_destroy(rule);
  else expect(bench.device.memoryUsed).toBe(memoryUsed);
  expect(actions.map((action) => action.users)).toEqual(users);
  dv.mlx5dv_dr_matcher_destroy(matcher);
  return error === undefined ? null : `${error.code} ${error.reason} ${error.path ?? ""}`;
}

describe("manual", () => {
  const ENDS = ["drop", "defaultMiss", "qpOrTir", "destTable", "destRootTable", "vport", "ibPort", "destArray"];

  test.each(PLACES)("takes any order, and one end: %s", async (name) => {
    const bench = await openSwitch();
    const made = new Map(KINDS.map((kind) => [kind, make(bench, name, kind)]));
    const missing = KINDS.filter((kind) => made.get(kind) === undefined);
    expect(missing).toEqual(name === "fdb" ? [] : ["vport", "ibPort"]);
    const outside = name === "rx" ? [] : ["tag", "qpOrTir"];
    for (const kind of outside) {
      expect(tryList(bench, name, [made.get(kind)!]), kind).toBe("EINVAL bad_action_list actions[0]");
    }
    const usable = KINDS.filter((kind) => !missing.includes(kind) && !outside.includes(kind));
    const random = new Random(seedFor(`lists ${name}`));
    for (let round = 0; round < 300; round++) {
      const kinds = Array.from({ length: random.below(6) }, () => random.pick(usable));
      const bad = kinds.findIndex((kind, i) => {
        const before = kinds.slice(0, i);
        if (kind === "tag") return before.includes("tag");
        return ENDS.includes(kind) && before.some((one) => ENDS.includes(one));
      });
      const wanted = bad < 0 ? null : `EINVAL bad_action_list actions[${bad}]`;
      expect(
        tryList(
          bench,
          name,
          kinds.map((kind) => made.get(kind)!),
        ),
        kinds.join(" "),
      ).toBe(wanted);
    }
  });

  test.each(PLACES)("wants actions made for the root table there, and nowhere else: %s", async (name) => {
    const bench = await openSwitch();
    for (const kind of ["decapL2", "encapL2", "decapL3", "encapL3", "modifyHeader"]) {
      const [plain, root] = [make(bench, name, kind)!, make(bench, name, kind, ROOT)!];
      expect(tryList(bench, name, [plain]), kind).toBeNull();
      expect(tryList(bench, name, [root]), kind).toBe("EINVAL root_level actions[0]");
      expect(tryList(bench, name, [root], { root: true }), kind).toBeNull();
      expect(tryList(bench, name, [plain], { root: true }), kind).toBe("EINVAL root_level actions[0]");
    }
  });

  test.each(PLACES)("wants objects of the rule's domain: %s", async (name) => {
    const bench = await openSwitch();
    const other = { ...bench, [name]: openPlace(bench.context, PLACES.indexOf(name)) };
    for (const kind of [
      "destTable",
      "destRootTable",
      "vport",
      "ibPort",
      "destArray",
      "encapL2",
      "decapL3",
      "modifyHeader",
    ]) {
      const action = make(other, name, kind);
      if (action !== undefined) expect(tryList(bench, name, [action]), kind).toBe("EINVAL other_domain actions[0]");
    }
    // Actions without a domain.
    for (const kind of ["popVlan", "pushVlan", "counter"]) {
      expect(tryList(bench, name, [make(other, name, kind)!]), kind).toBeNull();
    }
  });

  test("takes 192 actions", async () => {
    const bench = await openSwitch();
    const pop = dv.mlx5dv_dr_action_create_pop_vlan();
    expect(tryList(bench, "fdb", Array<Action>(192).fill(pop))).toBeNull();
    expect(tryList(bench, "fdb", Array<Action>(193).fill(pop))).toBe("EINVAL bad_action_list num_actions");
    expect(() => tryList(bench, "fdb", [pop, "pop" as never])).toThrow(TypeError);
  });
});

type Automaton = Readonly<Record<string, Readonly<Record<string, string>>>>;
const AUTOMATA = order.domains as unknown as Readonly<Record<string, Automaton>>;
/** Directions of a list, in the order in which rdma-core checks them. */
const SIDES: Readonly<Record<PlaceName, readonly string[]>> = {
  rx: ["NIC_INGRESS"],
  tx: ["NIC_EGRESS"],
  fdb: ["FDB_INGRESS", "FDB_EGRESS"],
};

/**
 * The result of rdma-core for a list: for each direction and action its own check, its count, the
 * automaton.
 */
function wantedOf(sides: readonly string[], oneWay: boolean, kinds: readonly string[]): string | null {
  for (const side of sides) {
    const receives = side.endsWith("INGRESS");
    const counts: Record<string, number> = {};
    let state = "start";
    for (const [i, one] of kinds.entries()) {
      const kind = one === "ibPort" ? "vport" : one;
      const before = counts[kind] ?? 0;
      const missing = receives ? ["pushVlan", "encapL2", "encapL3"] : ["popVlan"];
      if (kind === "pushVlan" && before === 2) return `ENOTSUP action_repeated actions[${i}]`;
      if (oneWay && missing.includes(kind)) return `EINVAL unsupported actions[${i}]`;
      if (before === (kind.endsWith("Vlan") ? 2 : 1)) return `EINVAL action_repeated actions[${i}]`;
      const next = AUTOMATA[side]?.[state]?.[kind];
      if (next === undefined) return `EOPNOTSUPP action_order actions[${i}]`;
      counts[kind] = before + 1;
      state = next;
    }
  }
  return null;
}

describe.each(["connectx5", "connectx6dx", "connectx7", "connectx8"])("%s", (profile) => {
  test.each(PLACES)("takes what the automaton takes: %s", async (name) => {
    const bench = await openSwitch({ profile });
    const made = new Map(KINDS.map((kind) => [kind, make(bench, name, kind)]));
    const usable = KINDS.filter((kind) => made.get(kind) !== undefined);
    const random = new Random(seedFor(`${profile} ${name}`));
    let taken = 0;
    const lists = [
      ...usable.map((kind) => [kind]),
      ...usable.flatMap((one) => usable.map((other) => [one, other])),
      ...["popVlan", "pushVlan"].map((kind) => [kind, kind, kind]),
      ...Array.from({ length: 600 }, () => Array.from({ length: 2 + random.below(5) }, () => random.pick(usable))),
    ];
    for (const kinds of lists) {
      const actions = kinds.map((kind) => made.get(kind)!);
      const wanted = wantedOf(SIDES[name], profile === "connectx5", kinds);
      expect(tryList(bench, name, actions), kinds.join(" ")).toBe(wanted);
      if (wanted === null) taken++;
    }
    expect(taken).toBeGreaterThan(20);
  });

  test("a matcher that masks source_port whole is held to one side", async () => {
    const bench = await openSwitch({ profile });
    const [decap, port] = [make(bench, "fdb", "decapL2")!, make(bench, "fdb", "vport")!];
    const only = "EOPNOTSUPP action_order actions[0]";
    expect(tryList(bench, "fdb", [decap, port])).toBe(only);
    expect(tryList(bench, "fdb", [decap, port], { source_port: 0xffff })).toBeNull();
    expect(tryList(bench, "fdb", [decap, port], { source_port: 1 })).toBe(only);
    const pushPop = ["pushVlan", "popVlan"].map((kind) => make(bench, "fdb", kind)!);
    const wanted = (sides: string[]): string | null =>
      wantedOf(sides, profile === "connectx5", ["popVlan", "pushVlan"]);
    expect(tryList(bench, "fdb", pushPop.toReversed(), { source_port: 0xffff })).toBe(wanted(["FDB_INGRESS"]));
    expect(tryList(bench, "fdb", pushPop.toReversed(), { source_port: 2 })).toBe(wanted(["FDB_EGRESS"]));
  });

  test("own checks come before counts and orders", async () => {
    const bench = await openSwitch({ profile });
    const root = make(bench, "tx", "encapL2", ROOT)!;
    const [drop, encap] = [make(bench, "tx", "drop")!, make(bench, "tx", "encapL2")!];
    expect(tryList(bench, "tx", [drop, root])).toBe("EINVAL root_level actions[1]");
    expect(tryList(bench, "tx", [encap, root])).toBe("EINVAL root_level actions[1]");
    expect(tryList(bench, "tx", [drop, encap])).toBe("EOPNOTSUPP action_order actions[1]");
    // Nothing is made for a level there.
    const decap = make(bench, "rx", "decapL2", ROOT)!;
    expect(tryList(bench, "rx", [decap])).toBeNull();
    expect(tryList(bench, "rx", [make(bench, "rx", "decapL3", ROOT)!])).toBe("EINVAL root_level actions[0]");
    const other = openPlace(bench.context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_TX);
    const far = dv.mlx5dv_dr_action_create_dest_table(other.table);
    expect(tryList(bench, "tx", [drop, far])).toBe("EINVAL other_domain actions[1]");
  });

  test("root tables take what the kernel takes", async () => {
    const bench = await openSwitch({ profile });
    const none = ["destRootTable", "vport", "ibPort", "popVlan", "pushVlan"];
    for (const name of PLACES) {
      for (const kind of KINDS) {
        const action = make(bench, name, kind, ROOT);
        if (action === undefined) continue;
        const host = (kind === "tag" || kind === "qpOrTir") && name !== "rx";
        const bad = host || (kind === "defaultMiss" && name === "fdb");
        const alone = kind === "counter" && name !== "tx" ? "EINVAL bad_action_list num_actions" : null;
        const wanted = none.includes(kind)
          ? "ENOTSUP unsupported actions[0]"
          : bad
            ? "EINVAL bad_action_list actions[0]"
            : alone;
        expect(tryList(bench, name, [action], { root: true }), `${name} ${kind}`).toBe(wanted);
      }
    }
    const of = (kinds: string[]): string | null =>
      tryList(
        bench,
        "rx",
        kinds.map((kind) => make(bench, "rx", kind, ROOT)!),
        { root: true },
      );
    expect(of(["tag", "counter", "decapL2", "modifyHeader", "qpOrTir"])).toBeNull();
    expect(of(["qpOrTir", "modifyHeader", "counter"])).toBeNull();
    expect(of(["drop", "qpOrTir"])).toBe("EOPNOTSUPP action_repeated actions[1]");
    expect(of(["counter", "counter", "drop"])).toBe("EOPNOTSUPP action_repeated actions[1]");
    expect(of(["tag", "tag"])).toBe("EINVAL action_repeated actions[1]");
    expect(of(["modifyHeader", "modifyHeader"])).toBe("EINVAL action_repeated actions[1]");
    expect(of(["drop", "popVlan"])).toBe("ENOTSUP unsupported actions[1]");
    expect(tryList(bench, "rx", [make(bench, "rx", "modifyHeader")!], { root: true })).toBe(
      "EINVAL root_level actions[0]",
    );
  });

  test("root tables have priorities 0 to 15", async () => {
    const bench = await openSwitch({ profile });
    const drop = [make(bench, "rx", "drop")!];
    expect(tryList(bench, "rx", drop, { root: true, priority: 15 })).toBeNull();
    expect(tryList(bench, "rx", drop, { root: true, priority: 16 })).toBe("ENOMEM out_of_range matcher.priority");
    const to = (priority: number): unknown =>
      refused(() => dv.mlx5dv_dr_action_create_dest_root_table(bench.rx.root, priority))?.path;
    expect([to(15), to(16)]).toEqual([undefined, "priority"]);
  });

  test("makes what its domains can have", async () => {
    const bench = await openSwitch({ profile });
    const missing = (name: PlaceName): string[] => KINDS.filter((kind) => make(bench, name, kind) === undefined);
    expect(missing("rx")).toEqual(["vport", "ibPort", "encapL2", "encapL3"]);
    expect(missing("tx")).toEqual(["vport", "ibPort", "destArray", "decapL2", "decapL3"]);
    expect(missing("fdb")).toEqual([]);
  });
});
