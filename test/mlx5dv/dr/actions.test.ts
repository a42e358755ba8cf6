/**
 * Actions: accepted and refused arguments of each creator, held objects, and no leftovers at the
 * end.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { Action } from "../../../src/model/action/action.js";
import type { FlowCounter } from "../../../src/model/action/counter.js";
import type { DeviceBase } from "../../../src/model/base/deviceBase.js";
import type { Handle } from "../../../src/model/base/handle.js";
import * as verbs from "../../../src/verbs/index.js";
import { ipv4Frame, openBench, refused } from "../support/directRules.js";
import {
  counted,
  enter,
  openCounter,
  openSwitch,
  PLACES,
  ruleFor,
  VXLAN,
  type SwitchBench,
} from "../support/switchBench.js";

let bench: SwitchBench;
let counter: FlowCounter;
beforeEach(async () => {
  bench = await openSwitch();
  counter = openCounter(bench.context);
});

const FRAME = ipv4Frame();
const TTL = dv.modifyActions([{ type: "set", field: "OUT_IP_TTL", data: 9 }]);
const ENCAP = dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL;
const DECAP = dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2;
const ROOT = dv.MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL;
const { mlx5dv_dr_action_create_dest_array: array } = dv;

const member = (dest: Action): dv.DrActionDestAttr => ({ type: dv.MLX5DV_DR_ACTION_DEST, dest });
const changed = (reformat: Action, dest: Action): dv.DrActionDestAttr => ({
  type: dv.MLX5DV_DR_ACTION_DEST_REFORMAT,
  dest_reformat: { reformat, dest },
});
const encap = (flags = 0, domain = bench.fdb.domain): Action =>
  dv.mlx5dv_dr_action_create_packet_reformat(domain, flags, ENCAP, VXLAN.length, VXLAN);
const vport = (number: number): Action => dv.mlx5dv_dr_action_create_dest_vport(bench.fdb.domain, number);

/**
 * An action of each kind that the FDB allows, and the objects that cannot be destroyed before it.
 */
const KINDS: Record<string, () => [action: Action, holds: readonly Handle<DeviceBase | null>[]]> = {
  drop: () => [dv.mlx5dv_dr_action_create_drop(), []],
  default_miss: () => [dv.mlx5dv_dr_action_create_default_miss(), []],
  tag: () => [dv.mlx5dv_dr_action_create_tag(1), []],
  dest_ibv_qp: () => [dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queues[0]!), [bench.queues[0]!]],
  dest_table: () => [dv.mlx5dv_dr_action_create_dest_table(bench.fdb.table), [bench.fdb.table]],
  dest_root_table: () => [dv.mlx5dv_dr_action_create_dest_root_table(bench.fdb.root, 0), [bench.fdb.root]],
  dest_vport: () => [vport(1), []],
  dest_ib_port: () => [dv.mlx5dv_dr_action_create_dest_ib_port(bench.fdb.domain, 1), []],
  packet_reformat: () => [encap(), [bench.fdb.domain]],
  modify_header: () => [
    dv.mlx5dv_dr_action_create_modify_header(bench.fdb.domain, 0, TTL.length, TTL),
    [bench.fdb.domain],
  ],
  flow_counter: () => [dv.mlx5dv_dr_action_create_flow_counter(counter, 0), [counter]],
  pop_vlan: () => [dv.mlx5dv_dr_action_create_pop_vlan(), []],
  push_vlan: () => [dv.mlx5dv_dr_action_create_push_vlan(bench.fdb.domain, 0x81000064), []],
  dest_array: () => {
    const [reformat, one, other] = [encap(), vport(1), vport(2)];
    const made = array(bench.fdb.domain, 2, [changed(reformat, one), member(other)]);
    return [made, [bench.fdb.domain, reformat, one, other]];
  },
};
const NAMES = Object.keys(KINDS);

describe.each(NAMES)("%s", (kind) => {
  test("holds what it needs until it is destroyed, and leaves nothing", () => {
    const before = bench.device.memoryUsed;
    const [action, holds] = KINDS[kind]!();
    expect(action.kind).toBe(kind);
    const users = holds.map((one) => one.users);
    const parts = holds.filter((one) => one instanceof Action);
    expect(dv.mlx5dv_dr_action_destroy(action)).toBe(0);
    expect(holds.map((one) => one.users)).toEqual(users.map((count) => count - 1));
    for (const one of parts) dv.mlx5dv_dr_action_destroy(one);
    expect(bench.device.memoryUsed).toBe(before);
    expect(refused(() => dv.mlx5dv_dr_action_destroy(action))?.reason).toBe("object_destroyed");
  });

  test("EBUSY while rules have it, however often", () => {
    const [action] = KINDS[kind]!();
    const place = kind === "tag" || kind === "dest_ibv_qp" ? bench.rx : bench.fdb;
    const twice = kind === "pop_vlan" || kind === "push_vlan" || kind === "flow_counter";
    const rules = [1, 2].map(() => ruleFor(place.table, {}, twice ? [action, action] : [action]));
    expect(action.users).toBe(twice ? 4 : 2);
    for (const rule of rules) {
      expect(refused(() => dv.mlx5dv_dr_action_destroy(action))).toMatchObject({ code: "EBUSY", reason: "in_use" });
      dv.mlx5dv_dr_rule_destroy(rule);
    }
    expect(dv.mlx5dv_dr_action_destroy(action)).toBe(0);
    expect(refused(() => ruleFor(place.table, {}, [action]))?.reason).toBe("object_destroyed");
  });
});

describe("EBUSY", () => {
  test("of each thing that an action holds", () => {
    const raw = dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queues[0]!);
    const count = dv.mlx5dv_dr_action_create_flow_counter(counter, 0);
    const table = dv.mlx5dv_dr_action_create_dest_table(bench.fdb.table);
    const root = dv.mlx5dv_dr_action_create_dest_root_table(bench.fdb.root, 0);
    const pairs: [Action, () => unknown][] = [
      [raw, () => verbs.ibv_destroy_qp(bench.queues[0]!)],
      [count, () => dv.mlx5dv_devx_obj_destroy(counter)],
      [table, () => dv.mlx5dv_dr_table_destroy(bench.fdb.table)],
      [root, () => dv.mlx5dv_dr_table_destroy(bench.fdb.root)],
    ];
    for (const [action, destroy] of pairs) {
      expect(refused(destroy)?.code, action.kind).toBe("EBUSY");
      dv.mlx5dv_dr_action_destroy(action);
      expect(destroy(), action.kind).toBe(0);
    }
  });

  test("of members and reformats of an array, and of the array in a rule", () => {
    const [reformat, one, other] = [encap(), vport(1), vport(2)];
    const made = array(bench.fdb.domain, 2, [changed(reformat, one), member(other)]);
    const rule = ruleFor(bench.fdb.table, {}, [made]);
    for (const action of [made, reformat, one, other]) {
      expect(refused(() => dv.mlx5dv_dr_action_destroy(action))?.code).toBe("EBUSY");
    }
    dv.mlx5dv_dr_rule_destroy(rule);
    expect(refused(() => dv.mlx5dv_dr_action_destroy(one))?.code).toBe("EBUSY");
    for (const action of [made, reformat, one, other]) expect(dv.mlx5dv_dr_action_destroy(action)).toBe(0);
  });
});

test("a device that was filled is empty again when all is destroyed", () => {
  const before = bench.device.memoryUsed;
  const made = NAMES.filter((kind) => kind !== "tag" && kind !== "dest_ibv_qp").map((kind) => KINDS[kind]!());
  const rules = made.map(([action], n) => ruleFor(bench.fdb.table, { "outer.ipv4_dst": `10.0.0.${n}` }, [action]));
  for (const rule of rules) {
    dv.mlx5dv_dr_rule_destroy(rule);
    dv.mlx5dv_dr_matcher_destroy(rule.matcher);
  }
  for (const [action] of made) dv.mlx5dv_dr_action_destroy(action);
  for (const one of made.flatMap(([, holds]) => holds)) if (one instanceof Action) dv.mlx5dv_dr_action_destroy(one);
  dv.mlx5dv_dr_domain_sync(bench.fdb.domain, dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_MEM);
  expect(bench.device.memoryUsed).toBe(before);
});

describe("what creators refuse", () => {
  const refusal = (make: () => unknown): unknown => {
    const { memoryUsed } = bench.device;
    const users = [bench.fdb, bench.rx].flatMap(({ domain, root, table }) => [domain.users, root.users, table.users]);
    const error = refused(make);
    expect(bench.device.memoryUsed).toBe(memoryUsed);
    expect([bench.fdb, bench.rx].flatMap(({ domain, root, table }) => [domain.users, root.users, table.users])).toEqual(
      users,
    );
    return error === undefined ? undefined : [error.code, error.reason, error.path];
  };
  const rootTo = dv.mlx5dv_dr_action_create_dest_root_table;

  test("dest_root_table: another table, more than 16 bits of priority", () => {
    expect(refusal(() => rootTo(bench.fdb.table, 0))).toEqual(["EINVAL", "not_root_table", "table"]);
    expect(refusal(() => rootTo(bench.fdb.root, 0x10000))).toEqual(["EINVAL", "out_of_range", "priority"]);
    expect(rootTo(bench.fdb.root, 0xffff).kind).toBe("dest_root_table");
    expect(() => rootTo(bench.fdb.domain as never, 0)).toThrow(TypeError);
  });

  test("dest_vport: one that is not there, another domain", () => {
    for (const number of [0, 1, 2, 0xffff]) expect(vport(number).operand).toBe(number);
    for (const number of [3, 0xfffe, 0x10000, -1]) {
      expect(refusal(() => vport(number))).toEqual(["EINVAL", "out_of_range", "vport"]);
    }
    for (const { domain } of [bench.rx, bench.tx]) {
      const make = (): Action => dv.mlx5dv_dr_action_create_dest_vport(domain, 0);
      expect(refusal(make)).toEqual(["EOPNOTSUPP", "unsupported", "domain"]);
    }
  });

  test("dest_ib_port: one that is not there, another domain", () => {
    const make = (port: number, domain = bench.fdb.domain): Action =>
      dv.mlx5dv_dr_action_create_dest_ib_port(domain, port);
    for (const port of [1, 2]) expect(make(port).operand).toBe(port);
    for (const port of [0, 3]) expect(refusal(() => make(port))).toEqual(["EINVAL", "out_of_range", "ib_port"]);
    expect(refusal(() => make(1, bench.tx.domain))).toEqual(["EOPNOTSUPP", "unsupported", "domain"]);
  });

  test("flags beyond ROOT_LEVEL", () => {
    expect(refusal(() => encap(2))).toEqual(["EINVAL", "out_of_range", "flags"]);
    const modify = (): Action => dv.mlx5dv_dr_action_create_modify_header(bench.fdb.domain, 2, 8, TTL);
    expect(refusal(modify)).toEqual(["EINVAL", "out_of_range", "flags"]);
  });

  test("push_vlan: another TPID", () => {
    const push = (header: number): Action => dv.mlx5dv_dr_action_create_push_vlan(bench.tx.domain, header);
    for (const header of [0x81000000, 0x88a8ffff]) expect(push(header).operand).toBe(header);
    for (const header of [0, 0x64, 0x91000001, 0x08000000, 2 ** 32]) {
      expect(refusal(() => push(header))).toEqual(["EINVAL", "out_of_range", "vlan_hdr"]);
    }
    expect(() => dv.mlx5dv_dr_action_create_push_vlan(bench.device as never, 0x81000000)).toThrow(TypeError);
  });

  test("dest_ibv_qp: a queue pair of another type", () => {
    const pd = verbs.ibv_alloc_pd(bench.context);
    const cq = verbs.ibv_create_cq(bench.context, 1, null, null, 0);
    const qp = verbs.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap: {}, qp_type: verbs.IBV_QPT_UD });
    expect(refusal(() => dv.mlx5dv_dr_action_create_dest_ibv_qp(qp))).toEqual(["EINVAL", "bad_object", "ibqp"]);
    expect(qp.users).toBe(0);
  });

  test("arrays: members that cannot stand in the domain, or are of another one", async () => {
    const tag = dv.mlx5dv_dr_action_create_tag(1);
    const raw = dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queues[0]!);
    const [one, far] = [vport(1), await openBench()];
    const of = (dest: Action, domain = bench.fdb.domain): (() => Action) => {
      return () => array(domain, 2, [member(dest), member(dest)]);
    };
    expect(refusal(of(raw))).toEqual(["EINVAL", "bad_action_list", "dests[0].dest"]);
    expect(refusal(of(one, bench.rx.domain))).toEqual(["EINVAL", "other_domain", "dests[0].dest"]);
    expect(refusal(of(dv.mlx5dv_dr_action_create_dest_table(bench.fdb.table), bench.tx.domain))).toEqual([
      "EINVAL",
      "other_domain",
      "dests[0].dest",
    ]);
    expect(refusal(of(dv.mlx5dv_dr_action_create_dest_ibv_qp(far.queue), bench.rx.domain))).toEqual([
      "EINVAL",
      "other_device",
      "dests[0].dest",
    ]);
    expect(refusal(of(tag, bench.rx.domain))).toEqual(["EOPNOTSUPP", "bad_action_list", "dests[0].dest"]);
    expect(refusal(of(dv.mlx5dv_dr_action_create_drop()))).toEqual(["EOPNOTSUPP", "bad_action_list", "dests[0].dest"]);
    const made = array(bench.fdb.domain, 2, [member(one), member(one)]);
    expect(refusal(of(made))).toEqual(["EOPNOTSUPP", "bad_action_list", "dests[0].dest"]);
    dv.mlx5dv_dr_action_destroy(made);
    dv.mlx5dv_dr_action_destroy(one);
    expect(refusal(of(one))).toEqual(["EINVAL", "object_destroyed", "dests[0].dest"]);
    expect([one.users, raw.users]).toEqual([0, 0]);
  });

  test("arrays: reformats that do not encapsulate, or are for root tables", () => {
    const one = vport(1);
    const decap = dv.mlx5dv_dr_action_create_packet_reformat(bench.fdb.domain, 0, DECAP, 0, null);
    const path = "dests[0].dest_reformat.reformat";
    for (const reformat of [decap, encap(ROOT), one]) {
      const make = (): Action => array(bench.fdb.domain, 2, [changed(reformat, one), member(one)]);
      expect(refusal(make)).toEqual(["EOPNOTSUPP", "bad_action_list", path]);
      expect(reformat.users).toBe(0);
    }
    const other = encap(0, bench.tx.domain);
    const make = (): Action => array(bench.fdb.domain, 2, [changed(other, one), member(one)]);
    expect(refusal(make)).toEqual(["EINVAL", "other_domain", path]);
  });

  test("no memory", async () => {
    const { device, domain } = await openBench({ limits: { memory: 200_000 } });
    const data = new Uint8Array(1024);
    data.set(VXLAN);
    const made: Action[] = [];
    const make = (): void =>
      void made.push(dv.mlx5dv_dr_action_create_packet_reformat(domain, 0, ENCAP, data.length, data));
    let error;
    while ((error = refused(make)) === undefined);
    expect(error).toMatchObject({ code: "ENOMEM", call: "mlx5dv_dr_action_create_packet_reformat" });
    expect(domain.users).toBe(1 + made.length);
    dv.mlx5dv_dr_action_destroy(made.pop()!);
    const { memoryUsed } = device;
    make();
    expect(device.memoryUsed).toBeGreaterThan(memoryUsed);
  });
});

describe("what actions do", () => {
  test.each(PLACES)("a jump leads to any level, forth and back, until the hop limit: %s", (name) => {
    const place = bench[name];
    const high = dv.mlx5dv_dr_table_create(place.domain, 0xffffffff);
    const low = dv.mlx5dv_dr_table_create(place.domain, 1);
    enter(place);
    ruleFor(place.table, {}, [dv.mlx5dv_dr_action_create_dest_table(high)]);
    const back = ruleFor(high, {}, [dv.mlx5dv_dr_action_create_dest_table(low)]);
    const end = ruleFor(low, {}, [dv.mlx5dv_dr_action_create_drop()]);
    const run = () => (name === "rx" ? bench.device.receive(1, FRAME) : bench.device.send(bench.queues[0]!, FRAME));
    expect(run()).toMatchObject({ verdict: "drop", reason: "drop_action" });
    expect(run().rules.slice(2)).toEqual([back, end]);
    dv.mlx5dv_dr_rule_destroy(end);
    ruleFor(low, {}, [dv.mlx5dv_dr_action_create_dest_table(place.table)]);
    expect(run()).toMatchObject({ verdict: "drop", reason: "hop_limit" });
    expect(run().rules.length).toBe(65);
  });

  test.each(PLACES)("dest_root_table leads to the first rule of a priority: %s", (name) => {
    const { root, table } = bench[name];
    const on = dv.mlx5dv_dr_action_create_dest_table(table);
    const drop = dv.mlx5dv_dr_action_create_drop();
    const first = ruleFor(root, {}, [on], 0);
    const passed = ruleFor(root, {}, [drop], 4);
    const wanted = ruleFor(root, {}, [drop], 5);
    const back = ruleFor(table, {}, [dv.mlx5dv_dr_action_create_dest_root_table(root, 5)]);
    const run = () => (name === "rx" ? bench.device.receive(1, FRAME) : bench.device.send(bench.queues[0]!, FRAME));
    expect(run().rules.map(({ name: rule }) => rule)).toEqual([first, back, wanted].map(({ name: rule }) => rule));
    dv.mlx5dv_dr_rule_destroy(wanted);
    dv.mlx5dv_dr_rule_destroy(back);
    // Without a flow of that priority, the next ones apply.
    const later = ruleFor(root, {}, [drop], 0xffff);
    const again = ruleFor(table, {}, [dv.mlx5dv_dr_action_create_dest_root_table(root, 5)]);
    expect(run().rules.map(({ name: rule }) => rule)).toEqual([first, again, later].map(({ name: rule }) => rule));
    dv.mlx5dv_dr_rule_destroy(again);
    ruleFor(table, {}, [dv.mlx5dv_dr_action_create_dest_root_table(root, 0)]);
    expect(run().reason).toBe("hop_limit");
    expect(passed.destroyed).toBe(false);
  });

  test("arrays copy to each member what the rule left, in their order", () => {
    enter(bench.fdb);
    const [one, two] = [1, 2].map(() => dv.mlx5dv_dr_action_create_dest_ib_port(bench.fdb.domain, 2));
    const count = dv.mlx5dv_dr_action_create_flow_counter(counter, 0);
    const made = array(bench.fdb.domain, undefined, [member(two!), changed(encap(), one!), member(count)]);
    ruleFor(bench.fdb.table, {}, [made, dv.mlx5dv_dr_action_create_push_vlan(bench.fdb.domain, 0x81000064)]);
    const outcome = bench.device.receive(1, FRAME);
    expect(outcome.verdict).toBe("forward");
    expect(outcome.to.map(({ name, frame }) => [name, frame.length])).toEqual([
      ["port:2", 68],
      ["port:2", 118],
    ]);
    expect(counted(counter)).toEqual([1, 68]);
  });

  test("an object of another device cannot stand in a rule", async () => {
    const other = await createDevice({ ports: 2 });
    const context = dv.mlx5dv_open_device(other);
    const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_FDB);
    const push = dv.mlx5dv_dr_action_create_push_vlan(domain, 0x81000001);
    const far = dv.mlx5dv_dr_action_create_dest_ib_port(domain, 1);
    for (const action of [push, far]) {
      expect(refused(() => ruleFor(bench.fdb.table, {}, [action]))?.reason).toBe("other_device");
    }
    // An action that pushes a tag belongs to no domain.
    ruleFor(bench.fdb.table, {}, [dv.mlx5dv_dr_action_create_push_vlan(bench.rx.domain, 0x81000001)]);
  });
});
