/** mlx5dv_dr(3): effects and refusals of each call; a refusal changes nothing. */
import { beforeEach, describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Matcher } from "../../../src/model/table/matcher.js";
import type { Rule } from "../../../src/model/rule/rule.js";
import { createDevice, createSink } from "../../../src/index.js";
import { ibv_open_device } from "../../../src/verbs/index.js";
import { ipv4Frame, openBench, refused, type Bench } from "../support/directRules.js";

let bench: Bench;
let dport: Matcher;
const HTTP = dv.matchParameters({ "outer.ip_protocol": "tcp", "outer.tcp_dport": 80 });

beforeEach(async () => {
  bench = await openBench();
  dport = dv.mlx5dv_dr_matcher_create(bench.root, 0, HTTP.match_criteria_enable, HTTP.mask);
});

describe("domains", () => {
  test("an unknown type is refused", () => {
    expect(refused(() => dv.mlx5dv_dr_domain_create(bench.context, 3))?.code).toBe("EINVAL");
  });

  test("EBUSY while a table is alive", () => {
    expect(refused(() => dv.mlx5dv_dr_domain_destroy(bench.domain))?.errno).toBe(16);
    const other = dv.mlx5dv_dr_domain_create(bench.context, 0);
    expect(dv.mlx5dv_dr_domain_destroy(other)).toBe(0);
    expect(refused(() => dv.mlx5dv_dr_table_create(other, 1))?.reason).toBe("object_destroyed");
  });

  test("several domains share the root table and nothing else", () => {
    const other = dv.mlx5dv_dr_domain_create(bench.context, 0);
    const root = dv.mlx5dv_dr_table_create(other, 0);
    const matcher = dv.mlx5dv_dr_matcher_create(root, 0, HTTP.match_criteria_enable, HTTP.mask);
    dv.mlx5dv_dr_rule_create(matcher, HTTP.value, 1, [dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queue)]);
    expect(bench.device.receive(1, ipv4Frame()).to[0]?.name).toBe("qp:web");
    const table = dv.mlx5dv_dr_table_create(other, 1);
    const action = dv.mlx5dv_dr_action_create_dest_table(table);
    expect(refused(() => dv.mlx5dv_dr_rule_create(dport, HTTP.value, 1, [action]))?.reason).toBe("other_domain");
  });
});

describe("tables", () => {
  test("EBUSY while a matcher or an action needs them", () => {
    const table = dv.mlx5dv_dr_table_create(bench.domain, 7);
    const action = dv.mlx5dv_dr_action_create_dest_table(table);
    expect(refused(() => dv.mlx5dv_dr_table_destroy(table))?.code).toBe("EBUSY");
    dv.mlx5dv_dr_action_destroy(action);
    const matcher = dv.mlx5dv_dr_matcher_create(table, 0, 0, null);
    expect(refused(() => dv.mlx5dv_dr_table_destroy(table))?.code).toBe("EBUSY");
    dv.mlx5dv_dr_matcher_destroy(matcher);
    expect(dv.mlx5dv_dr_table_destroy(table)).toBe(0);
    expect(refused(() => dv.mlx5dv_dr_table_destroy(table))?.reason).toBe("object_destroyed");
  });

  test("a root table is no destination", () => {
    expect(refused(() => dv.mlx5dv_dr_action_create_dest_table(bench.root))?.reason).toBe("root_table");
  });

  test("a level of more than 32 bits is refused", () => {
    expect(refused(() => dv.mlx5dv_dr_table_create(bench.domain, 2 ** 32))?.reason).toBe("out_of_range");
    expect(() => dv.mlx5dv_dr_table_create(bench.domain, "1" as unknown as number)).toThrow(TypeError);
  });
});

describe("matchers", () => {
  const create = (criteria: number, mask: Uint8Array): unknown =>
    dv.mlx5dv_dr_matcher_create(bench.root, 0, criteria, mask);

  test("criteria name seven groups", () => {
    expect(refused(() => create(0x80, new Uint8Array(64)))?.reason).toBe("bad_criteria");
  });

  test("a mask longer than its bytes is refused", () => {
    const short = { match_sz: 65, match_buf: new Uint8Array(64) };
    expect(refused(() => dv.mlx5dv_dr_matcher_create(bench.root, 0, 1, short))?.reason).toBe("bad_match_size");
  });

  test("reserved bits are refused, but not in a group that is left out", () => {
    const mask = new Uint8Array(64);
    mask[24] = 1;
    expect(refused(() => create(1, mask))?.message).toContain(
      "mask byte 24 = 1: a reserved bit is masked (EOPNOTSUPP)",
    );
    expect(refused(() => create(2, mask))).toBeUndefined();
  });

  test("ip_version is masked by 4 or 6, and the rule repeats it", () => {
    const bytes = (version: number): Uint8Array => {
      const key = new Uint8Array(64);
      key[18] = version << 1;
      return key;
    };
    expect(refused(() => create(1, bytes(5)))?.reason).toBe("ip_version_mask");
    const matcher = dv.mlx5dv_dr_matcher_create(bench.root, 0, 1, bytes(4));
    expect(refused(() => dv.mlx5dv_dr_rule_create(matcher, bytes(6), 0, []))?.reason).toBe("ip_version_mask");
    expect(refused(() => dv.mlx5dv_dr_rule_create(matcher, bytes(0), 0, []))?.reason).toBe("ip_version_mask");
    dv.mlx5dv_dr_rule_create(matcher, bytes(4), 1, [dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queue)]);
    expect(bench.device.receive(1, ipv4Frame({ protocol: 17 })).verdict).toBe("deliver");
    // 6 contains the bits of 4: under a bit mask, 4 would match it.
    const ipv6 = ipv4Frame();
    ipv6.set([0x86, 0xdd, 0x60], 12);
    expect(bench.device.receive(1, ipv6).verdict).toBe("miss");
  });

  test("EBUSY while a rule is alive", () => {
    const rule = dv.mlx5dv_dr_rule_create(dport, HTTP.value, 0, []);
    expect(refused(() => dv.mlx5dv_dr_matcher_destroy(dport))?.code).toBe("EBUSY");
    dv.mlx5dv_dr_rule_destroy(rule);
    expect(dv.mlx5dv_dr_matcher_destroy(dport)).toBe(0);
  });

  test("a lower priority comes first; 16 bits of it", () => {
    const late = dv.mlx5dv_dr_matcher_create(bench.root, 0xffff, HTTP.match_criteria_enable, HTTP.mask);
    const last = dv.mlx5dv_dr_rule_create(late, HTTP.value, 0, []);
    expect(bench.device.receive(1, ipv4Frame()).rules).toEqual([last]);
    const first = dv.mlx5dv_dr_rule_create(dport, HTTP.value, 0, []);
    expect(bench.device.receive(1, ipv4Frame()).rules).toEqual([first]);
    expect(refused(() => dv.mlx5dv_dr_matcher_create(bench.root, 0x10000, 0, null))?.reason).toBe("out_of_range");
  });

  test("of equal priority the newer matcher comes first, in the root table the older one", () => {
    const table = dv.mlx5dv_dr_table_create(bench.domain, 1);
    const any = dv.mlx5dv_dr_matcher_create(bench.root, 9, 0, null);
    dv.mlx5dv_dr_rule_create(any, null, 1, [dv.mlx5dv_dr_action_create_dest_table(table)]);
    const rules = [0, 1].map(() =>
      dv.mlx5dv_dr_rule_create(dv.mlx5dv_dr_matcher_create(table, 3, 0, null), null, 0, []),
    );
    expect(bench.device.receive(1, ipv4Frame()).rules[1]).toBe(rules[1]);
    dv.mlx5dv_dr_rule_create(dv.mlx5dv_dr_matcher_create(bench.root, 9, 0, null), null, 0, []);
    expect(bench.device.receive(1, ipv4Frame()).rules[0]).toMatchObject({ matcher: any });
  });
});

describe("rules", () => {
  test("a value outside the mask is refused by field", () => {
    const value = HTTP.value.match_buf.slice();
    value[16 + 4] = 1;
    const error = refused(() => dv.mlx5dv_dr_rule_create(dport, value, 0, []));
    expect(error?.message).toBe(
      "mlx5dv_dr_rule_create: value.outer.tcp_sport (byte 20) = 1: the value has a bit outside its " +
        "mask (EINVAL); fill only the fields that the matcher masks [mlx5dv_dr: Matcher]",
    );
    expect(dport.users).toBe(0);
  });

  test("a value has any size: missing bytes are zero, bytes after the format have no effect", () => {
    const long = new Uint8Array(1000).fill(0xff, 448);
    long.set(HTTP.value.match_buf);
    const lengths = [24, 25, 448, 449, 1000];
    for (const length of lengths) {
      const rule = dv.mlx5dv_dr_rule_create(dport, long.subarray(0, length), 0, []);
      expect([length, bench.device.receive(1, ipv4Frame()).rules]).toEqual([length, [rule]]);
      dv.mlx5dv_dr_rule_destroy(rule);
    }
    // The port is bytes 22 and 23; the EtherType is not in the mask.
    for (const length of [0, 1, 6, 22, 23]) {
      dv.mlx5dv_dr_rule_create(dport, long.subarray(0, length), 0, []);
      expect([length, bench.device.receive(1, ipv4Frame()).rules]).toEqual([length, []]);
    }
  });

  test.each([0, 1])("the six bytes of a MAC, mask and value, in a table of level %i", (level) => {
    const frame = ipv4Frame();
    const { domain, root, device } = bench;
    const table = level === 0 ? root : dv.mlx5dv_dr_table_create(domain, level);
    if (level > 0) {
      const all = dv.mlx5dv_dr_matcher_create(root, 0, 0, null);
      dv.mlx5dv_dr_rule_create(all, null, 1, [dv.mlx5dv_dr_action_create_dest_table(table)]);
    }
    const source = { match_sz: 6, match_buf: frame.slice(6, 12) };
    const matcher = dv.mlx5dv_dr_matcher_create(table, 0, 1, new Uint8Array(6).fill(0xff));
    const rule = dv.mlx5dv_dr_rule_create(matcher, source, 0, []);
    expect(device.receive(1, frame).rules.at(-1)).toBe(rule);
    frame[11]! ^= 1;
    expect(device.receive(1, frame).rules).not.toContain(rule);
  });

  test("of duplicates the oldest wins until it is destroyed", () => {
    const rules = [1, 2, 3].map((tag) =>
      dv.mlx5dv_dr_rule_create(dport, HTTP.value, 1, [dv.mlx5dv_dr_action_create_tag(tag)]),
    );
    for (const [i, rule] of rules.entries()) {
      expect(bench.device.receive(1, ipv4Frame()).tag).toBe(i + 1);
      dv.mlx5dv_dr_rule_destroy(rule);
    }
    expect(bench.device.receive(1, ipv4Frame()).verdict).toBe("miss");
  });

  test("absent is not zero", () => {
    const vni = dv.matchParameters({ "misc.vxlan_vni": 0 });
    const matcher = dv.mlx5dv_dr_matcher_create(bench.root, 1, vni.match_criteria_enable, vni.mask);
    dv.mlx5dv_dr_rule_create(matcher, vni.value, 0, []);
    expect(bench.device.receive(1, ipv4Frame()).verdict).toBe("miss");
  });

  test("num_actions counts the actions used", () => {
    const actions = [dv.mlx5dv_dr_action_create_tag(9), dv.mlx5dv_dr_action_create_drop()];
    const rule = dv.mlx5dv_dr_rule_create(dport, HTTP.value, 1, actions);
    expect(bench.device.receive(1, ipv4Frame()).reason).toBe("no_destination");
    dv.mlx5dv_dr_rule_destroy(rule);
    expect(refused(() => dv.mlx5dv_dr_rule_create(dport, HTTP.value, 3, actions))?.reason).toBe("out_of_range");
    expect(() => dv.mlx5dv_dr_rule_create(dport, HTTP.value, 1, undefined as never)).toThrow(TypeError);
  });

  test("without actions the list may be null", () => {
    const rule = dv.mlx5dv_dr_rule_create(dport, HTTP.value, 0, null);
    expect(bench.device.receive(1, ipv4Frame())).toMatchObject({ reason: "no_destination", rules: [rule] });
    expect(() => dv.mlx5dv_dr_rule_create(dport, HTTP.value, 1, null)).toThrow(TypeError);
    expect(() => dv.mlx5dv_dr_rule_create(dport, HTTP.value, undefined, null as never)).toThrow(TypeError);
  });
});

describe("actions", () => {
  test("two ends, a drop with a destination and two tags are refused", () => {
    const drop = dv.mlx5dv_dr_action_create_drop();
    const queue = dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queue);
    const tag = dv.mlx5dv_dr_action_create_tag(1);
    for (const actions of [
      [drop, queue],
      [queue, drop],
      [drop, drop],
      [queue, dv.mlx5dv_dr_action_create_default_miss()],
      [tag, tag],
    ]) {
      expect(refused(() => dv.mlx5dv_dr_rule_create(dport, HTTP.value, 2, actions))?.reason).toBe("bad_action_list");
    }
    expect([drop.users, queue.users, tag.users]).toEqual([0, 0, 0]);
    expect(bench.device.receive(1, ipv4Frame()).verdict).toBe("miss");
  });

  test("any order is the device's order: the tag is there when the frame is delivered", () => {
    const actions = [dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queue), dv.mlx5dv_dr_action_create_tag(0x1abcdef)];
    dv.mlx5dv_dr_rule_create(dport, HTTP.value, 2, actions);
    expect(bench.device.receive(1, ipv4Frame())).toMatchObject({ verdict: "deliver", tag: 0xabcdef });
  });

  test("EBUSY while a rule uses it", () => {
    const drop = dv.mlx5dv_dr_action_create_drop();
    const rule = dv.mlx5dv_dr_rule_create(dport, HTTP.value, 1, [drop]);
    expect(refused(() => dv.mlx5dv_dr_action_destroy(drop))?.code).toBe("EBUSY");
    dv.mlx5dv_dr_rule_destroy(rule);
    expect(dv.mlx5dv_dr_action_destroy(drop)).toBe(0);
    expect(refused(() => dv.mlx5dv_dr_rule_create(dport, HTTP.value, 1, [drop]))?.reason).toBe("object_destroyed");
  });

  test("a queue of another device is refused", async () => {
    const other = await createDevice();
    const queue = createSink(ibv_open_device(other), "far");
    const action = dv.mlx5dv_dr_action_create_dest_ibv_qp(queue);
    expect(refused(() => dv.mlx5dv_dr_rule_create(dport, HTTP.value, 1, [action]))?.reason).toBe("other_device");
  });

  test("a loop ends at the hop limit", () => {
    const tables = [1, 2].map((level) => dv.mlx5dv_dr_table_create(bench.domain, level));
    const to = tables.map((table) => dv.mlx5dv_dr_action_create_dest_table(table));
    for (const [i, table] of [bench.root, ...tables].entries()) {
      const matcher = dv.mlx5dv_dr_matcher_create(table, 0, 0, null);
      dv.mlx5dv_dr_rule_create(matcher, null, 1, [to[i % 2] as (typeof to)[0]]);
    }
    const outcome = bench.device.receive(1, ipv4Frame());
    expect(outcome).toMatchObject({ verdict: "drop", reason: "hop_limit" });
    expect(outcome.rules.length).toBe(65);
    expect(bench.device.reasons().hop_limit).toBe(1n);
  });
});

test("a full device is ENOMEM, and everything there still works", async () => {
  const { device, root, queue } = await openBench({ limits: { memory: 200_000 } });
  const to = dv.mlx5dv_dr_action_create_dest_ibv_qp(queue);
  const { mask, match_criteria_enable } = HTTP;
  const matcher = dv.mlx5dv_dr_matcher_create(root, 0, match_criteria_enable, mask);
  const rules: Rule[] = [];
  let error;
  for (let port = 0; error === undefined && port < 65536; port++) {
    const { value } = dv.matchParameters({ "outer.ip_protocol": "tcp", "outer.tcp_dport": port });
    error = refused(() => rules.push(dv.mlx5dv_dr_rule_create(matcher, value, 1, [to])));
  }
  expect(error).toMatchObject({ code: "ENOMEM", errno: 12, reason: "no_memory", call: "mlx5dv_dr_rule_create" });
  expect(rules.length).toBeGreaterThan(200);
  expect(to.users).toBe(rules.length);
  for (let port = 0; port < rules.length; port++) {
    expect(device.receive(1, ipv4Frame({ dport: port })).rules).toEqual([rules[port]]);
  }
  expect(device.receive(1, ipv4Frame({ dport: rules.length })).verdict).toBe("miss");
  dv.mlx5dv_dr_rule_destroy(rules[7] as Rule);
  const { value } = dv.matchParameters({ "outer.ip_protocol": "tcp", "outer.tcp_dport": 60000 });
  dv.mlx5dv_dr_rule_create(matcher, value, 1, [to]);
  expect(device.receive(1, ipv4Frame({ dport: 60000 })).verdict).toBe("deliver");
});
