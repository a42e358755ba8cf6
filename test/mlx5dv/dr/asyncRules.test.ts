/**
 * createDevice({ asyncRules: true }): inserts and deletes take effect at the next sync of their
 * domain, in the order of the calls.
 */
import { beforeEach, describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Matcher } from "../../../src/model/table/matcher.js";
import type { Rule } from "../../../src/model/rule/rule.js";
import * as verbs from "../../../src/verbs/index.js";
import { ipv4Frame, openBench, refused, type Bench } from "../support/directRules.js";
import { enter, openCounter, openPlace, ruleFor, type Place } from "../support/switchBench.js";

const PORT = dv.matchParameters({ "outer.ip_protocol": "tcp", "outer.tcp_dport": 80 });
const SW = dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW;
const HW = dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW;
const MEM = dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_MEM;

let bench: Bench;
let place: Place;
let matcher: Matcher;
beforeEach(async () => {
  bench = await openBench({ asyncRules: true });
  place = openPlace(bench.context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  enter(place);
  matcher = dv.mlx5dv_dr_matcher_create(place.table, 0, PORT.match_criteria_enable, PORT.mask);
});

const { mlx5dv_dr_action_create_tag: tag, mlx5dv_dr_rule_destroy: destroy } = dv;
const sync = (flags = SW, { domain } = place): 0 => dv.mlx5dv_dr_domain_sync(domain, flags);
const rule = (...actions: Action[]): Rule => dv.mlx5dv_dr_rule_create(matcher, PORT.value, undefined, actions);
/** The tag of the frame, null if no rule of the table matches. */
const found = (): number | null => bench.device.receive(1, ipv4Frame()).tag;

describe("a rule", () => {
  test.each([
    ["SW", SW],
    ["HW", HW],
    ["both and MEM", SW | HW | MEM],
  ])("comes and goes with a sync: %s", (_, flags) => {
    const made = rule(tag(1));
    expect(found()).toBeNull();
    for (const nothing of [0, MEM]) sync(nothing);
    expect(found()).toBeNull();
    sync(flags);
    expect(found()).toBe(1);
    destroy(made);
    expect(found()).toBe(1);
    sync(flags);
    expect(found()).toBeNull();
  });

  test("is refused at once, and gone at once for who asks", () => {
    const value = PORT.value.match_buf.slice();
    value[20] = 1;
    expect(refused(() => dv.mlx5dv_dr_rule_create(matcher, value, 0, []))?.reason).toBe("value_outside_mask");
    const made = rule();
    destroy(made);
    expect(refused(() => destroy(made))?.reason).toBe("object_destroyed");
    sync();
    expect([matcher.users, bench.device.installed.nextId]).toEqual([0, 1]);
  });

  test("waits for its own domain alone, and not in the root table", () => {
    const other = openPlace(bench.context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
    rule(tag(1));
    sync(SW, other);
    expect(found()).toBeNull();
    const first = ruleFor(place.root, {}, [tag(2)]);
    expect(bench.device.receive(1, ipv4Frame()).rules.length).toBe(1);
    destroy(first);
    sync();
    expect(found()).toBe(1);
  });

  test("is what it was when it was made: its value is its own", () => {
    const value = { match_sz: PORT.value.match_sz, match_buf: PORT.value.match_buf.slice() };
    const list = [tag(1)];
    dv.mlx5dv_dr_rule_create(matcher, value, 1, list);
    const other = dv.matchParameters({ "outer.ip_protocol": "tcp", "outer.tcp_dport": 81 });
    dv.mlx5dv_dr_rule_create(matcher, other.value, 1, [tag(2)]);
    value.match_buf.fill(0);
    list.length = 0;
    sync();
    expect(found()).toBe(1);
    expect(bench.device.receive(1, ipv4Frame({ dport: 81 })).tag).toBe(2);
  });

  test("keeps its place among duplicates", () => {
    const [one] = [rule(tag(1)), rule(tag(2))];
    sync();
    rule(tag(3));
    destroy(one);
    expect(found()).toBe(1);
    sync();
    expect(found()).toBe(2);
  });

  test("that is destroyed before the sync never was", () => {
    const { memoryUsed } = bench.device;
    for (let n = 0; n < 10; n++) destroy(rule(tag(n)));
    sync(SW | MEM);
    expect(found()).toBeNull();
    expect(bench.device.memoryUsed).toBe(memoryUsed);
  });
});

describe("what a rule to be destroyed uses", () => {
  test("is in use until the sync", () => {
    const counter = openCounter(bench.context);
    const actions = [dv.mlx5dv_dr_action_create_flow_counter(counter, 0), tag(1)];
    const made = rule(...actions);
    sync();
    destroy(made);
    expect([matcher.users, ...actions.map(({ users }) => users)]).toEqual([1, 1, 1]);
    bench.device.receive(1, ipv4Frame());
    expect(counter.read().packets).toBe(1n);
    sync();
    expect([matcher.users, ...actions.map(({ users }) => users)]).toEqual([0, 0, 0]);
  });

  test("can be destroyed, which syncs first", () => {
    const action = tag(1);
    destroy(rule(action));
    const waiting = rule(tag(2));
    expect(dv.mlx5dv_dr_action_destroy(action)).toBe(0);
    // All of the domain was done.
    expect(found()).toBe(2);
    destroy(waiting);
    expect(dv.mlx5dv_dr_matcher_destroy(matcher)).toBe(0);
    expect(found()).toBeNull();
    const raw = dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queue);
    const end = dv.mlx5dv_dr_action_create_dest_table(place.table);
    destroy(ruleFor(place.table, {}, [raw]));
    destroy(ruleFor(place.table, {}, [end]));
    for (const one of [raw, end]) expect(dv.mlx5dv_dr_action_destroy(one)).toBe(0);
    expect(verbs.ibv_destroy_qp(bench.queue)).toBe(0);
  });

  test("is EBUSY, and nothing is synced, while another rule uses it", () => {
    const action = tag(1);
    const [one, other] = [rule(action), rule(action)];
    sync();
    destroy(one);
    for (const call of [() => dv.mlx5dv_dr_action_destroy(action), () => dv.mlx5dv_dr_matcher_destroy(matcher)]) {
      expect(refused(call)?.code).toBe("EBUSY");
    }
    expect([matcher.users, action.users]).toEqual([2, 2]);
    destroy(other);
    expect(dv.mlx5dv_dr_action_destroy(action)).toBe(0);
    expect(matcher.users).toBe(0);
  });

  test("can be used in several domains", () => {
    const action = dv.mlx5dv_dr_action_create_drop();
    const other = openPlace(bench.context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_TX);
    const rules = [rule(action, tag(1)), ruleFor(other.table, {}, [action])];
    sync();
    sync(SW, other);
    for (const one of rules) destroy(one);
    expect(action.users).toBe(2);
    expect(dv.mlx5dv_dr_action_destroy(action)).toBe(0);
  });
});

describe("duplicates that are refused", () => {
  beforeEach(() => dv.mlx5dv_dr_domain_allow_duplicate_rules(place.domain, false));

  test("are those of rules that wait too, and not of those that go", () => {
    const first = rule(tag(1));
    expect(refused(() => rule(tag(2)))?.code).toBe("EEXIST");
    sync();
    expect(refused(() => rule(tag(2)))?.code).toBe("EEXIST");
    destroy(first);
    rule(tag(3));
    expect(refused(() => rule(tag(4)))?.code).toBe("EEXIST");
    expect(found()).toBe(1);
    sync();
    expect(found()).toBe(3);
  });

  test("are of the same matcher", () => {
    rule(tag(1));
    const other = dv.mlx5dv_dr_matcher_create(place.table, 0, PORT.match_criteria_enable, PORT.mask);
    dv.mlx5dv_dr_rule_create(other, PORT.value, 0, []);
    const elsewhere = dv.matchParameters({ "outer.ip_protocol": "tcp", "outer.tcp_dport": 81 });
    dv.mlx5dv_dr_rule_create(matcher, elsewhere.value, 0, []);
    expect([matcher.users, other.users]).toEqual([2, 1]);
  });
});

test("ENOMEM at a sync: what came before is done, the rest waits for another sync", async () => {
  bench = await openBench({ asyncRules: true, limits: { memory: 300_000 } });
  place = openPlace(bench.context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  enter(place);
  matcher = dv.mlx5dv_dr_matcher_create(place.table, 0, PORT.match_criteria_enable, PORT.mask);
  const end = dv.mlx5dv_dr_action_create_drop();
  const make = (dport: number): Rule => {
    const { value } = dv.matchParameters({ "outer.ip_protocol": "tcp", "outer.tcp_dport": dport });
    return dv.mlx5dv_dr_rule_create(matcher, value, 1, [end]);
  };
  const hit = (dport: number): boolean => bench.device.receive(1, ipv4Frame({ dport })).rules.length === 2;
  const rules = Array.from({ length: 20_000 }, (_, dport) => make(dport));
  const error = refused(() => sync());
  expect(error).toMatchObject({ code: "ENOMEM", call: "mlx5dv_dr_domain_sync" });
  expect(matcher.users).toBe(20_000);
  const done = rules.findIndex((_, dport) => !hit(dport));
  expect(done).toBeGreaterThan(1000);
  expect([hit(done - 1), hit(19_999)]).toEqual([true, false]);
  expect(refused(() => sync())?.code).toBe("ENOMEM");
  // Pending operations run in the order of the calls: a later delete does not make room.
  for (const one of rules.slice(0, done)) destroy(one);
  expect(refused(() => sync())?.code).toBe("ENOMEM");
  for (const one of rules.slice(done)) destroy(one);
  sync();
  expect(matcher.users).toBe(0);
  make(7);
  sync();
  expect(hit(7)).toBe(true);
});
