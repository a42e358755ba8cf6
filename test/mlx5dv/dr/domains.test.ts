/**
 * Domains: their stages, their default actions for missed frames, their calls, and their lifetime.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, createSink } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Domain, Table } from "../../../src/model/table/domain.js";
import type { Rule } from "../../../src/model/rule/rule.js";
import { ipv4Frame, refused } from "../support/directRules.js";
import {
  enter,
  openPlace,
  openSwitch,
  PLACES,
  ruleFor,
  VXLAN,
  type Place,
  type SwitchBench,
} from "../support/switchBench.js";

let bench: SwitchBench;
beforeEach(async () => void (bench = await openSwitch()));

const FRAME = ipv4Frame();
const DMAC = { "outer.dmac": "02:00:00:00:00:01" };
const { mlx5dv_dr_action_create_drop: drop, mlx5dv_dr_action_create_default_miss: defaultMiss } = dv;

/** Verdict of the frame, in one or two words. */
function fate(source: "wire" | 0 | 1 | 2): string {
  const { device, queues } = bench;
  const { verdict, reason, to } = source === "wire" ? device.receive(2, FRAME) : device.send(queues[source]!, FRAME);
  return [verdict, ...(reason === null ? [] : [reason]), ...to.map(({ name }) => name)].join(" ");
}

describe("missed frames", () => {
  const lists: Record<string, () => Action[]> = {
    "the end of a table": () => [],
    "no destination": () => [dv.mlx5dv_dr_action_create_pop_vlan()],
    "a default miss": () => [defaultMiss()],
  };

  /** A rule with this list where it is one, else none, in the table of a place. */
  function unwanted(place: Place, what: string): void {
    enter(place);
    if (what !== "the end of a table") ruleFor(place.table, {}, lists[what]!());
  }

  test.each([
    ["the end of a table", "table_miss"],
    ["no destination", "no_destination"],
    ["a default miss", "default_miss"],
  ])("NIC_RX drops it: %s", (what, reason) => {
    unwanted(bench.rx, what);
    expect(fate("wire")).toBe(`drop ${reason}`);
  });

  test.each(Object.keys(lists))("NIC_TX sends it: %s", (what) => {
    unwanted(bench.tx, what);
    expect(fate(0)).toBe("transmit port:1");
    // A VF has a NIC_TX of its own.
    expect(fate(1)).toBe("miss no_rule");
  });

  test.each(Object.keys(lists))("the FDB gives it to the PF: %s", (what) => {
    ruleFor(bench.rx.root, {}, [dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queues[0]!)]);
    unwanted(bench.fdb, what);
    for (const source of ["wire", 0, 1] as const) expect(fate(source)).toBe("deliver qp:q0");
  });

  test("a root table of NIC_TX sends it, that of the FDB is as if it had no rules", () => {
    ruleFor(bench.rx.root, {}, [dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queues[0]!)]);
    for (const place of [bench.tx, bench.fdb]) {
      const rule = ruleFor(place.root, {}, [defaultMiss()]);
      expect([fate("wire"), fate(1)]).toEqual(["deliver qp:q0", "deliver qp:q0"]);
      dv.mlx5dv_dr_rule_destroy(rule);
    }
    // Frames of the PF pass the rules of its port, then leave to the wire.
    expect(bench.device.send(bench.queues[0]!, ipv4Frame()).verdict).toBe("deliver");
  });

  test.each(PLACES)("drop drops in %s, in the root table and behind it", (name) => {
    const place = bench[name];
    const source = name === "rx" ? "wire" : 0;
    const rule = ruleFor(place.root, {}, [drop()]);
    expect(fate(source)).toBe("drop drop_action");
    dv.mlx5dv_dr_rule_destroy(rule);
    enter(place);
    ruleFor(place.table, {}, [drop()]);
    expect(fate(source)).toBe("drop drop_action");
  });
});

describe("several domains of a type", () => {
  test.each([0, 1, 2])("share the root table and nothing else: type %i", (type) => {
    const [one, other] = [openPlace(bench.context, type), openPlace(bench.context, type)];
    const source = type === 0 ? "wire" : 0;
    const rule = ruleFor(other.root, {}, [drop()]);
    expect(fate(source)).toBe("drop drop_action");
    dv.mlx5dv_dr_rule_destroy(rule);
    const action = dv.mlx5dv_dr_action_create_dest_table(other.table);
    expect(refused(() => ruleFor(one.root, {}, [action]))?.reason).toBe("other_domain");
  });

  test("functions have their own of NIC_RX and NIC_TX", () => {
    const [vf] = bench.functions;
    ruleFor(openPlace(vf!, 1).root, {}, [drop()]);
    expect([fate(0), fate(1), fate(2)]).toEqual(["transmit port:1", "drop drop_action", "miss no_rule"]);
    const rx = openPlace(vf!, 0);
    ruleFor(rx.root, {}, [dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queues[1]!)]);
    enter(bench.fdb);
    ruleFor(bench.fdb.table, {}, [dv.mlx5dv_dr_action_create_dest_vport(bench.fdb.domain, 1)]);
    expect([fate("wire"), fate(0), fate(2)]).toEqual(Array<string>(3).fill("deliver qp:q1"));
  });

  test("a queue is for rules of its function", () => {
    const action = dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queues[1]!);
    const error = refused(() => ruleFor(bench.rx.root, {}, [action]));
    expect(error).toMatchObject({ code: "EINVAL", reason: "other_device", path: "actions[0]" });
    expect(error?.hint).toBe("it belongs to flowsteer0/vf1, the domain to flowsteer0");
  });
});

describe("an FDB domain on a VF has its root table only", () => {
  let domain: Domain;
  let root: Table;
  beforeEach(() => {
    domain = dv.mlx5dv_dr_domain_create(bench.functions[0]!, dv.MLX5DV_DR_DOMAIN_TYPE_FDB);
    root = dv.mlx5dv_dr_table_create(domain, 0);
  });

  const encap = (flags: number): Action =>
    dv.mlx5dv_dr_action_create_packet_reformat(domain, flags, 1, VXLAN.length, VXLAN);
  const modify = (flags: number): Action =>
    dv.mlx5dv_dr_action_create_modify_header(domain, flags, 8, [{ type: "set", field: "OUT_IP_TTL", data: 1 }]);
  const asked: Record<string, () => unknown> = {
    "a table behind it": () => dv.mlx5dv_dr_table_create(domain, 1),
    "a vport": () => dv.mlx5dv_dr_action_create_dest_vport(domain, 0),
    "a port": () => dv.mlx5dv_dr_action_create_dest_ib_port(domain, 1),
    "an array": () => {
      const dests = [1, 2].map(() => ({ type: 0, dest: defaultMiss() }));
      return dv.mlx5dv_dr_action_create_dest_array(domain, 2, dests);
    },
    "a reformat": () => encap(0),
    "a header change": () => modify(0),
    "a rule": () => ruleFor(root, {}, [drop()]),
    "a sync": () => dv.mlx5dv_dr_domain_sync(domain, 0),
  };

  test.each(Object.keys(asked))("%s is EOPNOTSUPP, and changes nothing", (what) => {
    const { memoryUsed } = bench.device;
    expect(refused(asked[what]!)).toMatchObject({ code: "EOPNOTSUPP", reason: "root_only" });
    expect([bench.device.memoryUsed, domain.users]).toEqual([memoryUsed, 1]);
  });

  test("actions for its root table can be made", () => {
    for (const action of [encap(1), modify(1)]) dv.mlx5dv_dr_action_destroy(action);
    dv.mlx5dv_dr_table_destroy(root);
    expect(dv.mlx5dv_dr_domain_destroy(domain)).toBe(0);
  });
});

describe("mlx5dv_dr_domain_destroy", () => {
  test("EBUSY while tables, reformats, header changes and arrays are alive; not for other actions", () => {
    const domain = dv.mlx5dv_dr_domain_create(bench.context, dv.MLX5DV_DR_DOMAIN_TYPE_FDB);
    const vport = dv.mlx5dv_dr_action_create_dest_vport(domain, 1);
    dv.mlx5dv_dr_action_create_dest_ib_port(domain, 1);
    dv.mlx5dv_dr_action_create_push_vlan(domain, 0x81000001);
    const dests = [vport, defaultMiss()].map((dest) => ({ type: dv.MLX5DV_DR_ACTION_DEST, dest }));
    const kept: Record<string, () => () => unknown> = {
      "a root table": () => destroyer(dv.mlx5dv_dr_table_create(domain, 0), dv.mlx5dv_dr_table_destroy),
      "a table": () => destroyer(dv.mlx5dv_dr_table_create(domain, 9), dv.mlx5dv_dr_table_destroy),
      "a reformat": () => {
        const action = dv.mlx5dv_dr_action_create_packet_reformat(domain, 0, 0, 0, null);
        return destroyer(action, dv.mlx5dv_dr_action_destroy);
      },
      "a header change": () => {
        const list = dv.modifyActions([{ type: "set", field: "OUT_IP_TTL", data: 1 }]);
        const action = dv.mlx5dv_dr_action_create_modify_header(domain, 0, 8, list);
        return destroyer(action, dv.mlx5dv_dr_action_destroy);
      },
      "an array": () => {
        const action = dv.mlx5dv_dr_action_create_dest_array(domain, 2, dests);
        return destroyer(action, dv.mlx5dv_dr_action_destroy);
      },
    };
    for (const [what, make] of Object.entries(kept)) {
      const destroy = make();
      expect(refused(() => dv.mlx5dv_dr_domain_destroy(domain))?.errno, what).toBe(16);
      destroy();
    }
    expect(dv.mlx5dv_dr_domain_destroy(domain)).toBe(0);
    expect(refused(() => dv.mlx5dv_dr_domain_destroy(domain))?.reason).toBe("object_destroyed");
    // Its remains are of no use.
    expect(refused(() => ruleFor(bench.fdb.root, {}, [vport]))?.reason).toBe("other_domain");
  });

  function destroyer<T>(object: T, destroy: (object: T) => unknown): () => unknown {
    return () => destroy(object);
  }
});

describe("mlx5dv_dr_domain_sync", () => {
  test("takes flags up to 7", () => {
    for (let flags = 0; flags < 8; flags++) expect(dv.mlx5dv_dr_domain_sync(bench.rx.domain, flags)).toBe(0);
    expect(refused(() => dv.mlx5dv_dr_domain_sync(bench.rx.domain, 8))).toMatchObject({
      code: "EOPNOTSUPP",
      path: "flags",
    });
    expect(() => dv.mlx5dv_dr_domain_sync(bench.device as never, 1)).toThrow(TypeError);
  });

  /** Memory after that many inserts and deletes. */
  function churn(table: Table): number {
    const matcher = dv.mlx5dv_dr_matcher_create(table, 0, 1, ones());
    const rules: Rule[] = [];
    for (let n = 0; n < 2000; n++) rules.push(dv.mlx5dv_dr_rule_create(matcher, value(n), 1, [drop()]));
    for (const rule of rules) dv.mlx5dv_dr_rule_destroy(rule);
    dv.mlx5dv_dr_matcher_destroy(matcher);
    return bench.device.memoryUsed;
  }
  function ones(): Uint8Array {
    return new Uint8Array(4).fill(255);
  }
  function value(n: number): Uint8Array {
    return Uint8Array.of(0, 0, n >> 8, n);
  }

  test("MEM gives back what tables keep; without it they keep it", () => {
    const { domain, table } = bench.fdb;
    const before = bench.device.memoryUsed;
    const kept = churn(table);
    expect(kept).toBeGreaterThan(before);
    dv.mlx5dv_dr_domain_sync(domain, dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW | dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW);
    dv.mlx5dv_dr_domain_sync(bench.rx.domain, dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_MEM);
    expect(bench.device.memoryUsed).toBe(kept);
    dv.mlx5dv_dr_domain_sync(domain, dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_MEM);
    expect(bench.device.memoryUsed).toBe(before);
  });

  test("a domain that reclaims memory gives it back at once, tables made later too", () => {
    const { domain, table } = bench.fdb;
    const before = bench.device.memoryUsed;
    const kept = churn(table);
    dv.mlx5dv_dr_domain_set_reclaim_device_memory(domain, true);
    expect(bench.device.memoryUsed).toBe(before);
    expect(churn(table)).toBe(before);
    const later = dv.mlx5dv_dr_table_create(domain, 5);
    const empty = bench.device.memoryUsed;
    expect(churn(later)).toBe(empty);
    dv.mlx5dv_dr_domain_set_reclaim_device_memory(domain, false);
    expect(churn(table) - empty).toBe(kept - before);
    // A table that keeps memory frees it when it is destroyed.
    churn(later);
    dv.mlx5dv_dr_table_destroy(later);
    dv.mlx5dv_dr_table_destroy(table);
    expect(bench.device.memoryUsed).toBeLessThan(before);
  });
});

describe("mlx5dv_dr_domain_allow_duplicate_rules", () => {
  const { match_criteria_enable, mask, value } = dv.matchParameters(DMAC);
  const [, other] = ["01", "02"].map((last) => dv.matchParameters({ "outer.dmac": `02:00:00:00:00:${last}` }).value);

  test.each(PLACES)("refuses a value that a rule of the matcher has: %s", (name) => {
    const { domain, table } = bench[name];
    const matcher = dv.mlx5dv_dr_matcher_create(table, 0, match_criteria_enable, mask);
    const list = [drop()];
    const make = (of = value): Rule => dv.mlx5dv_dr_rule_create(matcher, of, 1, list);
    const rules = [make(), make()];
    dv.mlx5dv_dr_domain_allow_duplicate_rules(domain, false);
    const used = bench.device.memoryUsed;
    expect(refused(() => make())).toMatchObject({ code: "EEXIST", errno: 17, reason: "duplicate_rule" });
    expect([matcher.users, list[0]!.users, bench.device.memoryUsed]).toEqual([2, 2, used]);
    dv.mlx5dv_dr_rule_destroy(rules[0]!);
    expect(refused(() => make())?.code).toBe("EEXIST");
    dv.mlx5dv_dr_rule_destroy(rules[1]!);
    make();
    expect(refused(() => make())?.code).toBe("EEXIST");
    make(other);
    dv.mlx5dv_dr_domain_allow_duplicate_rules(domain, true);
    make();
  });

  test("asks about the rules of the matcher alone, and not in the root table", () => {
    const { domain, table, root } = bench.fdb;
    dv.mlx5dv_dr_domain_allow_duplicate_rules(domain, false);
    for (const priority of [3, 2, 2, 4]) {
      const matcher = dv.mlx5dv_dr_matcher_create(table, priority, match_criteria_enable, mask);
      dv.mlx5dv_dr_rule_create(matcher, value, 1, [drop()]);
      expect(refused(() => dv.mlx5dv_dr_rule_create(matcher, value, 1, [drop()]))?.code).toBe("EEXIST");
    }
    const all = dv.mlx5dv_dr_matcher_create(table, 1, 0, null);
    dv.mlx5dv_dr_rule_create(all, null, 1, [drop()]);
    expect(refused(() => dv.mlx5dv_dr_rule_create(all, null, 1, [drop()]))?.code).toBe("EEXIST");
    const inRoot = dv.mlx5dv_dr_matcher_create(root, 0, match_criteria_enable, mask);
    for (const _ of [1, 2]) dv.mlx5dv_dr_rule_create(inRoot, value, 1, [drop()]);
    expect(inRoot.users).toBe(2);
  });

  test("a rule that is two in the core is one", () => {
    const { domain, table } = bench.fdb;
    dv.mlx5dv_dr_domain_allow_duplicate_rules(domain, false);
    const counter = dv.mlx5dv_devx_obj_create(bench.context, dv.allocFlowCounterCommand(), 16, new Uint8Array(16), 16);
    const list = [
      dv.mlx5dv_dr_action_create_push_vlan(domain, 0x81000001),
      dv.mlx5dv_dr_action_create_flow_counter(counter, 0),
    ];
    const matcher = dv.mlx5dv_dr_matcher_create(table, 0, match_criteria_enable, mask);
    const make = (): Rule => dv.mlx5dv_dr_rule_create(matcher, value, 2, list);
    const rule = make();
    expect(refused(make)?.code).toBe("EEXIST");
    dv.mlx5dv_dr_rule_destroy(rule);
    make();
  });
});

test.each([0, 1, 2])("the root table of a domain of type %i leaves no memory behind", async (type) => {
  const device = await createDevice({ vports: 2 });
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const queue = createSink(context, "web");
  const before = device.receive(1, FRAME);
  const domain = dv.mlx5dv_dr_domain_create(context, type);
  const start = device.memoryUsed;
  for (let round = 0; round < 3; round++) {
    const roots = [dv.mlx5dv_dr_table_create(domain, 0), dv.mlx5dv_dr_table_create(domain, 0)];
    const matcher = dv.mlx5dv_dr_matcher_create(roots[0]!, 0, 0, null);
    const drop = dv.mlx5dv_dr_action_create_drop();
    const rule = dv.mlx5dv_dr_rule_create(matcher, null, 1, [drop]);
    const outcome = type === 1 ? device.send(queue, FRAME) : device.receive(1, FRAME);
    expect(outcome.verdict).toBe("drop");
    expect(outcome.rules).toHaveLength(1);
    dv.mlx5dv_dr_rule_destroy(rule);
    dv.mlx5dv_dr_matcher_destroy(matcher);
    for (const table of roots) dv.mlx5dv_dr_table_destroy(table);
    expect(device.memoryUsed).toBe(start);
  }
  dv.mlx5dv_dr_domain_destroy(domain);
  expect(device.receive(1, FRAME)).toEqual(before);
});
