/** createRules: the same rules as one by one, all or none. */
import { describe, expect, test } from "vitest";
import { Random } from "../../oracle/generate/random.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import { directRules } from "../../../src/model/rule/rule.js";
import type { Matcher } from "../../../src/model/table/matcher.js";
import type { Device } from "../../../src/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { ipv4Frame, openBench, refused, type Bench } from "../support/directRules.js";

const PORT = dv.matchParameters({ "outer.ip_protocol": "tcp", "outer.tcp_dport": 0 });

/** Consecutive values for these ports, each of `size` bytes. */
function portValues(ports: readonly number[], size = 64): { match_sz: number; match_buf: Uint8Array } {
  const match_buf = new Uint8Array(ports.length * size);
  for (const [i, dport] of ports.entries()) {
    const { value } = dv.matchParameters({ "outer.ip_protocol": "tcp", "outer.tcp_dport": dport });
    match_buf.set(value.match_buf.subarray(0, size), i * size);
  }
  return { match_sz: size, match_buf };
}

/** A matcher of destination ports in a table of level 1, which all frames enter. */
function portMatcher({ domain, root }: Bench): Matcher {
  const table = dv.mlx5dv_dr_table_create(domain, 1);
  const all = dv.mlx5dv_dr_matcher_create(root, 0, 0, null);
  dv.mlx5dv_dr_rule_create(all, null, 1, [dv.mlx5dv_dr_action_create_dest_table(table)]);
  return dv.mlx5dv_dr_matcher_create(table, 0, PORT.match_criteria_enable, PORT.mask);
}

const drop = (): Action => dv.mlx5dv_dr_action_create_drop();
const tags = (count: number): Action[] => Array.from({ length: count }, (_, n) => dv.mlx5dv_dr_action_create_tag(n));

/** The visible state of a device, for a call without effects. */
function stateOf(device: Device, matcher: Matcher, actions: readonly Action[]): unknown {
  return [matcher.users, actions.map(({ users }) => users), [...directRules(device)].length, device.installed.nextId];
}

describe("createRules", () => {
  test("makes rules like those made one by one, whatever their number", async () => {
    const random = new Random(seedFor("bulk"));
    const bench = await openBench();
    const matcher = portMatcher(bench);
    const to = dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queue);
    const ports = Array.from({ length: 5000 }, () => random.below(4000));
    const counted = ports.map((_, n) => n % 3 === 0);
    const [marks, counter] = [tags(8), dv.mlx5dv_dr_action_create_tag(0x123456)];
    const lists = ports.map((_, n) => (counted[n] ? [to, counter] : [marks[n % 8] as Action, to]));
    const rules = dv.createRules(matcher, portValues(ports), lists);
    expect(rules.map(({ id }) => id)).toEqual([...new Set(rules.map(({ id }) => id))]);
    expect([matcher.users, to.users]).toEqual([5000, 5000]);
    // Of duplicates the oldest wins.
    for (let port = 0; port < 4000; port += 7) {
      const first = ports.indexOf(port);
      const outcome = bench.device.receive(1, ipv4Frame({ dport: port }));
      if (first < 0) expect(outcome.reason).toBe("table_miss");
      else expect(outcome).toMatchObject({ verdict: "deliver", tag: counted[first] ? 0x123456 : first % 8 });
      if (first >= 0) expect(outcome.rules[1]).toBe(rules[first]);
    }
    for (const rule of rules) dv.mlx5dv_dr_rule_destroy(rule);
    expect([matcher.users, to.users, counter.users]).toEqual([0, 0, 0]);
    expect(bench.device.receive(1, ipv4Frame({ dport: ports[0] as number })).reason).toBe("table_miss");
  });

  test("takes more than the core does in one call", async () => {
    const bench = await openBench();
    const matcher = portMatcher(bench);
    const shared = drop();
    // 448 bytes each: about 9,000 a call.
    const ports = Array.from({ length: 20_000 }, (_, n) => n);
    const rules = dv.createRules(matcher, portValues(ports, 448).match_buf, [shared]);
    expect(rules.length).toBe(20_000);
    expect(shared.users).toBe(20_000);
    for (const port of [0, 9000, 9100, 19_999]) {
      expect(bench.device.receive(1, ipv4Frame({ dport: port })).rules[1]).toBe(rules[port]);
    }
    expect(bench.device.receive(1, ipv4Frame({ dport: 20_000 })).reason).toBe("table_miss");
  });

  test("bytes at any offset, and lists that are shared", async () => {
    const bench = await openBench();
    const matcher = portMatcher(bench);
    const { match_sz, match_buf } = portValues([80, 81]);
    const shifted = new Uint8Array(match_buf.length + 1);
    shifted.set(match_buf, 1);
    const actions = [dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queue)];
    const rules = dv.createRules(matcher, { match_sz, match_buf: shifted.subarray(1) }, actions);
    // The call copies the list.
    actions.length = 0;
    expect(bench.device.receive(1, ipv4Frame({ dport: 81 })).rules[1]).toBe(rules[1]);
    expect(rules[0]?.actions.length).toBe(1);
  });

  test("values that end before a group of the matcher", async () => {
    const bench = await openBench();
    const { root } = bench;
    const { match_criteria_enable: misc } = dv.matchParameters({ "misc.source_port": 0 });
    const matcher = dv.mlx5dv_dr_matcher_create(root, 0, PORT.match_criteria_enable | misc, PORT.mask);
    const rules = dv.createRules(matcher, portValues([80, 81]), [dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queue)]);
    for (const [i, dport] of [80, 81].entries())
      expect(bench.device.receive(1, ipv4Frame({ dport })).rules).toEqual([rules[i]]);
  });

  test.each([23, 24, 25, 63, 449, 450, 1001])("values of %i bytes", async (size) => {
    const bench = await openBench();
    const matcher = portMatcher(bench);
    const ports = [80, 0x5000, 81, 7];
    const values = portValues(ports, size);
    const made = dv.createRules(
      matcher,
      values,
      ports.map(() => [drop()]),
    );
    // 23 bytes end in the middle of the port.
    const match = ports.map((port) => (size > 23 ? port : port & 0xff00));
    for (const [n, dport] of match.entries()) {
      const first = match.indexOf(dport);
      expect([n, bench.device.receive(1, ipv4Frame({ dport })).rules.at(-1)]).toEqual([n, made[first]]);
    }
    const bad = values.match_buf.slice();
    bad[2 * size + 20] = 1;
    const error = refused(() => dv.createRules(matcher, { match_sz: size, match_buf: bad }, [drop()]));
    expect(error?.path).toBe("rules[2].value.outer.tcp_sport (byte 20)");
  });

  test("no rules are no rules", async () => {
    const bench = await openBench();
    expect(dv.createRules(portMatcher(bench), new Uint8Array(0), [])).toEqual([]);
  });
});

describe("a refusal names its rule and leaves nothing behind", () => {
  const cases = async (): Promise<{ bench: Bench; matcher: Matcher; actions: Action[] }> => {
    const bench = await openBench();
    return { bench, matcher: portMatcher(bench), actions: [drop(), ...tags(2)] };
  };

  test.each([
    [64, 2],
    [448, 11_000],
  ])("a value outside the mask (%i bytes, rule %i)", async (size, bad) => {
    const { bench, matcher, actions } = await cases();
    const before = stateOf(bench.device, matcher, actions);
    const used = bench.device.memoryUsed;
    const values = portValues(
      Array.from({ length: bad + 3 }, (_, n) => n),
      size,
    );
    values.match_buf[bad * size + 20] = 1;
    const error = refused(() => dv.createRules(matcher, values, [actions[0] as Action]));
    expect(error).toMatchObject({ code: "EINVAL", reason: "value_outside_mask", call: "createRules" });
    expect(error?.path).toBe(`rules[${bad}].value.outer.tcp_sport (byte 20)`);
    expect(stateOf(bench.device, matcher, actions)).toEqual(before);
    expect(bench.device.memoryUsed).toBe(used);
  });

  test.each([64, 88, 100, 127])("a value outside the mask in a later group, at byte %i", async (byte) => {
    const { bench, actions } = await cases();
    const { mask, value, match_criteria_enable } = dv.matchParameters({
      "outer.ip_protocol": "tcp",
      "misc.gre_key": 7,
    });
    const table = dv.mlx5dv_dr_table_create(bench.domain, 2);
    const matcher = dv.mlx5dv_dr_matcher_create(table, 0, match_criteria_enable, mask);
    const match_buf = value.match_buf.slice();
    match_buf[byte] = 1;
    const values = { match_sz: match_buf.length, match_buf };
    expect(refused(() => dv.createRules(matcher, values, [actions[0] as Action]))?.reason).toBe("value_outside_mask");
  });

  test("an ip_version that is not that of the mask", async () => {
    const { bench } = await cases();
    const table = dv.mlx5dv_dr_table_create(bench.domain, 2);
    const mask = new Uint8Array(64);
    mask[18] = 4 << 1;
    const matcher = dv.mlx5dv_dr_matcher_create(table, 0, 1, mask);
    const match_buf = new Uint8Array(3 * 64);
    match_buf.set(mask);
    match_buf.set(mask, 64);
    const error = refused(() => dv.createRules(matcher, { match_sz: 64, match_buf }, [drop()]));
    expect(error).toMatchObject({ reason: "ip_version_mask", path: "rules[2].value.outer.ip_version" });
    match_buf.set(mask, 128);
    expect(dv.createRules(matcher, { match_sz: 64, match_buf }, [drop()]).length).toBe(3);
  });

  test("actions that cannot stand together", async () => {
    const { bench, matcher, actions } = await cases();
    const before = stateOf(bench.device, matcher, actions);
    const [end, ...marks] = actions as [Action, Action, Action];
    const error = refused(() => dv.createRules(matcher, portValues([1, 2]), [[end], marks]));
    expect(error).toMatchObject({ reason: "bad_action_list", path: "rules[1].actions[1]" });
    expect(stateOf(bench.device, matcher, actions)).toEqual(before);
  });

  test("sizes that do not fit each other", async () => {
    const { matcher, actions } = await cases();
    const [end] = actions as [Action];
    const { match_buf } = portValues([1, 2]);
    for (const match_sz of [0, 7, 48, 512]) {
      const error = refused(() => dv.createRules(matcher, { match_sz, match_buf }, [end]));
      expect(error?.reason).toBe("bad_match_size");
    }
    expect(refused(() => dv.createRules(matcher, match_buf, [end]))?.reason).toBe("bad_match_size");
    expect(refused(() => dv.createRules(matcher, portValues([1, 2]), [[end]]))?.path).toBe("actions.length");
    expect(() => dv.createRules(matcher, portValues([1, 2]), [[end], end] as never)).toThrow(TypeError);
    expect(() => dv.createRules(matcher, portValues([1]), end as never)).toThrow(TypeError);
    expect(() => dv.createRules(matcher, {} as never, [end])).toThrow(TypeError);
  });

  test("no memory: those that were made are gone again", async () => {
    const bench = await openBench({ limits: { memory: 400_000 } });
    const matcher = portMatcher(bench);
    const end = drop();
    const kept = dv.createRules(matcher, portValues([7]), [end]);
    const before = stateOf(bench.device, matcher, [end]);
    const ports = Array.from({ length: 30_000 }, (_, n) => n);
    const error = refused(() => dv.createRules(matcher, portValues(ports), [end]));
    expect(error).toMatchObject({ code: "ENOMEM", call: "createRules" });
    expect(stateOf(bench.device, matcher, [end])).toEqual(before);
    expect(bench.device.receive(1, ipv4Frame({ dport: 7 })).rules[1]).toBe(kept[0]);
    expect(bench.device.receive(1, ipv4Frame({ dport: 8 })).reason).toBe("table_miss");
    expect(dv.createRules(matcher, portValues([8, 9]), [end]).length).toBe(2);
  });
});

describe("where rules are made one by one", () => {
  test("duplicates are refused, and none is left", async () => {
    const bench = await openBench();
    const matcher = portMatcher(bench);
    dv.mlx5dv_dr_domain_allow_duplicate_rules(bench.domain, false);
    const end = drop();
    const error = refused(() => dv.createRules(matcher, portValues([1, 2, 1]), [end]));
    expect(error).toMatchObject({ code: "EEXIST", path: "rules[2].value" });
    expect([matcher.users, end.users]).toEqual([0, 0]);
    expect(dv.createRules(matcher, portValues([1, 2, 3]), [end]).length).toBe(3);
  });

  test("rules that wait wait, and a refusal takes them back", async () => {
    const bench = await openBench({ asyncRules: true });
    const matcher = portMatcher(bench);
    const end = drop();
    const values = portValues([1, 2]);
    const bad = portValues([3, 4]);
    bad.match_buf[64 + 20] = 1;
    const rules = dv.createRules(matcher, values, [end]);
    expect(refused(() => dv.createRules(matcher, bad, [end]))?.path).toContain("rules[1].value");
    expect([matcher.users, end.users]).toEqual([2, 2]);
    expect(bench.device.receive(1, ipv4Frame({ dport: 2 })).reason).toBe("table_miss");
    dv.mlx5dv_dr_domain_sync(bench.domain, dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW);
    expect(bench.device.receive(1, ipv4Frame({ dport: 2 })).rules[1]).toBe(rules[1]);
    expect(bench.device.receive(1, ipv4Frame({ dport: 3 })).reason).toBe("table_miss");
  });
});
