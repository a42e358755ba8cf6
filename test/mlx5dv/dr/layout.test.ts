/**
 * mlx5dv_dr_matcher_set_layout(3): its refusals, and its effect on the memory of a table. It never
 * changes a result.
 */
import { beforeEach, describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Table } from "../../../src/model/table/domain.js";
import type { Matcher } from "../../../src/model/table/matcher.js";
import type { Rule } from "../../../src/model/rule/rule.js";
import { criteriaOf, deviceBytes } from "../support/deviceBytes.js";
import { ipv4Frame, openBench, refused, type Bench } from "../support/directRules.js";

const { MLX5DV_DR_MATCHER_LAYOUT_RESIZABLE: RESIZABLE, MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE: NUM_RULE } = dv;
/** A rule has a slot of at least 8 bytes. */
const SLOT = 8;
const LOG = 11;
const MANY = 2 ** LOG;

const fields = (dport: number) => ({ "outer.tcp_dport": dport });
const matcherOf = (table: Table): Matcher =>
  dv.mlx5dv_dr_matcher_create(table, 0, criteriaOf(fields(0)), deviceBytes(fields(0xffff)));
const ruleOf = (matcher: Matcher, dport: number, ...actions: Action[]): Rule =>
  dv.mlx5dv_dr_rule_create(matcher, deviceBytes(fields(dport)), actions.length, actions);
const layout = (matcher: Matcher, flags: number, log: number): 0 =>
  dv.mlx5dv_dr_matcher_set_layout(matcher, { flags, log_num_of_rules_hint: log });

describe.each(["manual", "connectx5", "connectx6dx", "connectx7", "connectx8"])("%s", (profile) => {
  let bench: Bench;
  let table: Table;
  beforeEach(async () => {
    bench = await openBench({ profile });
    table = dv.mlx5dv_dr_table_create(bench.domain, 1);
  });
  const all = (to: Table): Matcher => dv.mlx5dv_dr_matcher_create(to, 0, 0, new Uint8Array(4));

  test("flags and hints", () => {
    const code = (flags: number, log: number) => refused(() => layout(all(table), flags, log))?.code;
    const codes = [code(0, 0), code(RESIZABLE, 99), code(NUM_RULE, 5), code(RESIZABLE | NUM_RULE, 12)];
    if (profile === "connectx5") expect(codes).toEqual(Array(4).fill("ENOTSUP"));
    else expect(codes).toEqual(Array(4).fill(undefined));
    expect([code(4, 0), code(8 | NUM_RULE, 5), code(NUM_RULE, 21)]).toEqual(Array(3).fill("ENOTSUP"));
    expect(refused(() => layout(all(table), NUM_RULE, 2 ** 32))?.code).toBe("EINVAL");
  });

  test("not in a root table, not of a matcher that is gone, not of what is none", () => {
    expect(refused(() => layout(all(bench.root), NUM_RULE, 5))?.errno).toBe(95);
    const gone = all(table);
    dv.mlx5dv_dr_matcher_destroy(gone);
    expect(refused(() => layout(gone, 0, 0))?.reason).toBe("object_destroyed");
    expect(() => layout(5 as never, 0, 0)).toThrow(TypeError);
    expect(() => dv.mlx5dv_dr_matcher_set_layout(all(table), null as never)).toThrow(TypeError);
    expect(() => layout(all(table), "1" as never, 0)).toThrow(TypeError);
  });
});

describe("room", () => {
  let bench: Bench;
  let table: Table;
  const used = (): number => bench.device.memoryUsed;
  beforeEach(async () => {
    bench = await openBench();
    dv.mlx5dv_dr_domain_set_reclaim_device_memory(bench.domain, true);
    table = dv.mlx5dv_dr_table_create(bench.domain, 1);
  });

  /** Creates and destroys rules; returns the memory that they used. */
  function comeAndGo(matcher: Matcher, count = MANY): number {
    const before = used();
    const rules = Array.from({ length: count }, (_, n) => ruleOf(matcher, n));
    const taken = used() - before;
    for (const rule of rules) dv.mlx5dv_dr_rule_destroy(rule);
    return taken;
  }

  test("is made at once, stays when rules go, and goes with the matcher", () => {
    const empty = used();
    const bare = comeAndGo(matcherOf(table));
    const matcher = matcherOf(table);
    layout(matcher, NUM_RULE, LOG);
    const room = used() - empty;
    expect(room).toBeGreaterThan(MANY * SLOT);
    // Rules add only themselves; their slots exist already.
    expect(comeAndGo(matcher)).toBeLessThan(bare - MANY * SLOT);
    expect(used()).toBe(empty + room);
    dv.mlx5dv_dr_matcher_destroy(matcher);
    expect(used()).toBe(empty);
  });

  test("that is RESIZABLE is made at once, and goes when rules go", () => {
    const empty = used();
    const matcher = matcherOf(table);
    layout(matcher, NUM_RULE | RESIZABLE, LOG);
    expect(used() - empty).toBeGreaterThan(MANY * SLOT);
    comeAndGo(matcher);
    expect(used()).toBe(empty);
  });

  test("is that of the last layout", () => {
    const empty = used();
    const matcher = matcherOf(table);
    const rooms = [4, 9, LOG].map((log) => {
      layout(matcher, NUM_RULE, log);
      return used() - empty;
    });
    expect(rooms[1]).toBeGreaterThan(rooms[0] ?? 0);
    expect(rooms[2]).toBeGreaterThan(rooms[1] ?? 0);
    layout(matcher, NUM_RULE, 9);
    // Except for the list of buckets, which keeps its length.
    expect(used() - empty).toBeLessThan(1.1 * (rooms[1] ?? 0));
    layout(matcher, 0, LOG);
    expect(used()).toBe(empty);
    layout(matcher, NUM_RULE, LOG);
    // RESIZABLE takes over existing memory, and frees it with the rules.
    layout(matcher, RESIZABLE | NUM_RULE, 4);
    expect(used() - empty).toBe(rooms[2]);
    comeAndGo(matcher, 8);
    expect(used()).toBe(empty);
  });

  test("of a table is the sum of its matchers'", () => {
    const empty = used();
    const [one, two] = [matcherOf(table), matcherOf(table)];
    layout(one, NUM_RULE, LOG - 1);
    const half = used() - empty;
    layout(two, NUM_RULE, LOG - 1);
    const both = used() - empty;
    dv.mlx5dv_dr_matcher_destroy(one);
    expect(used() - empty).toBeLessThan(1.1 * half);
    layout(two, NUM_RULE, LOG);
    expect(used() - empty).toBe(both);
    expect(both).toBeGreaterThan(1.5 * half);
    dv.mlx5dv_dr_matcher_destroy(two);
    expect(used()).toBe(empty);
  });

  test("is kept until a sync where the domain does not reclaim", () => {
    dv.mlx5dv_dr_domain_set_reclaim_device_memory(bench.domain, false);
    const empty = used();
    const matcher = matcherOf(table);
    layout(matcher, NUM_RULE, LOG);
    const full = used();
    const sync = (): unknown => dv.mlx5dv_dr_domain_sync(bench.domain, dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_MEM);
    sync();
    expect(used()).toBe(full);
    dv.mlx5dv_dr_matcher_destroy(matcher);
    expect(used()).toBe(full);
    sync();
    expect(used()).toBe(empty);
  });

  test("that memory does not have is ENOMEM, and nothing has changed", async () => {
    bench = await openBench({ limits: { memory: 64 * 1024 } });
    dv.mlx5dv_dr_domain_set_reclaim_device_memory(bench.domain, true);
    table = dv.mlx5dv_dr_table_create(bench.domain, 1);
    const matcher = matcherOf(table);
    layout(matcher, NUM_RULE, 5);
    const before = used();
    for (const flags of [NUM_RULE, NUM_RULE | RESIZABLE]) {
      expect(refused(() => layout(matcher, flags, 20))?.code).toBe("ENOMEM");
      expect(used()).toBe(before);
    }
    comeAndGo(matcher, 8);
    expect(used()).toBe(before);
    dv.mlx5dv_dr_matcher_destroy(matcher);
    expect(used()).toBeLessThan(before);
  });

  test("changes no answer", () => {
    const matcher = matcherOf(table);
    const jump = dv.mlx5dv_dr_matcher_create(bench.root, 0, 0, null);
    dv.mlx5dv_dr_rule_create(jump, null, 1, [dv.mlx5dv_dr_action_create_dest_table(table)]);
    const rules = Array.from({ length: 100 }, (_, n) => ruleOf(matcher, n));
    const hits = (): unknown[] =>
      [0, 1, 50, 99, 100].map((dport) => bench.device.receive(1, ipv4Frame({ dport })).rules[1] ?? null);
    const expected = [rules[0], rules[1], rules[50], rules[99], null];
    for (const [flags, log] of [
      [NUM_RULE, 0],
      [NUM_RULE, LOG],
      [NUM_RULE | RESIZABLE, 8],
      [RESIZABLE, 0],
      [0, 0],
    ] as const) {
      layout(matcher, flags, log);
      expect(hits()).toEqual(expected);
    }
    for (const rule of rules.slice(1)) dv.mlx5dv_dr_rule_destroy(rule);
    expect(hits()).toEqual([rules[0], null, null, null, null]);
  });
});
