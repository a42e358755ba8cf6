/** Cases for domains, tables and rules. */
import * as dv from "../../../../src/mlx5dv/index.js";
import { FRAME, OTHER, TO_FRAME, TO_OTHER } from "./frames.js";
import { casesOf, type Case, type Run } from "./record.js";

const { MLX5DV_DR_DOMAIN_TYPE_NIC_RX: NIC_RX, MLX5DV_DR_DOMAIN_TYPE_FDB: FDB } = dv;
const drop = dv.mlx5dv_dr_action_create_drop;
const toTable = dv.mlx5dv_dr_action_create_dest_table;

const DOMAIN_CREATE: Readonly<Record<string, Run>> = {
  NIC_RX: (p) => {
    p.rule(p.entry(p.rx), [p.toQueue("a")]);
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.sent(FRAME), "a deliver");
  },
  NIC_TX: (p) => {
    p.rule(p.entry(p.tx), [drop()], TO_OTHER);
    p.gets(p.sent(OTHER), "drop drop_action");
    p.gets(p.sent(FRAME), "port:1 transmit");
  },
  FDB: (p) => {
    p.listen("b", 1);
    p.rule(p.entry(p.fdb), [dv.mlx5dv_dr_action_create_dest_vport(p.fdb, 1)]);
    p.gets(p.received(FRAME), "b deliver");
    p.gets(p.sent(FRAME, 2), "b deliver");
  },
  "NIC_RX and NIC_TX of a VF": (p) => {
    p.listen("b", 2);
    p.rule(p.table(p.domain(1, 1), 0), [drop()], TO_OTHER);
    p.rule(p.entry(p.fdb), [dv.mlx5dv_dr_action_create_dest_vport(p.fdb, 2)]);
    p.gets(p.sent(FRAME, 1), "b deliver");
    p.gets(p.sent(OTHER, 1), "drop drop_action");
  },
  "FDB of a VF": (p) => {
    const domain = p.domain(FDB, 1);
    p.refuses("EOPNOTSUPP", () => p.table(domain, 1));
    p.refuses("EOPNOTSUPP", () => dv.mlx5dv_dr_action_create_dest_vport(domain, 0));
    const matcher = p.matcher(p.table(domain, 0));
    p.refuses("EOPNOTSUPP", () => p.ruleOf(matcher, [drop()]));
  },
  "type that does not exist": (p) => p.refuses("EINVAL", () => p.domain(3)),
};

const DOMAIN_SYNC: Readonly<Record<string, Run>> = {
  "flags beyond 7": (p) => {
    for (const flags of [8, 0x80000000]) p.refuses("EOPNOTSUPP", () => dv.mlx5dv_dr_domain_sync(p.rx, flags));
  },
  "FDB of a VF": (p) => p.refuses("EOPNOTSUPP", () => dv.mlx5dv_dr_domain_sync(p.domain(FDB, 1), 1)),
  "0, SW and HW with asyncRules": async (first) => {
    for (const flags of [1, 2, 3]) {
      const p = await first.another({ asyncRules: true });
      const table = p.entry(p.rx);
      const old = p.rule(table, [p.toQueue("a")], TO_FRAME);
      dv.mlx5dv_dr_domain_sync(p.rx, flags);
      dv.mlx5dv_dr_rule_destroy(old);
      p.rule(table, [p.toQueue("b")], TO_FRAME, 1);
      dv.mlx5dv_dr_domain_sync(p.rx, 0);
      p.gets(p.received(FRAME), "a deliver");
      dv.mlx5dv_dr_domain_sync(p.rx, flags);
      p.gets(p.received(FRAME), "b deliver");
    }
  },
  MEM: (p) => {
    const table = p.entry(p.rx);
    p.rule(table, [p.toQueue("a")], TO_FRAME, 2);
    const before = p.device.memoryUsed;
    comeAndGo(p, table);
    p.memory(before, "more");
    dv.mlx5dv_dr_domain_sync(p.rx, 4);
    p.memory(before, "as before");
    p.gets(p.received(FRAME), "a deliver");
  },
};

/** Rules that are created and destroyed. */
function comeAndGo(p: Parameters<Run>[0], table: ReturnType<typeof p.table>): void {
  const matcher = p.matcher(table, { "outer.dmac_15_0": 0 }, 3);
  const action = drop();
  const rules = Array.from({ length: 500 }, (_, n) => p.ruleOf(matcher, [action], { "outer.dmac_15_0": n }));
  for (const rule of rules) dv.mlx5dv_dr_rule_destroy(rule);
  dv.mlx5dv_dr_matcher_destroy(matcher);
}

const DOMAIN_DESTROY: Readonly<Record<string, Run>> = {
  "with a table": (p) => {
    const domain = dv.mlx5dv_dr_domain_create(p.context(), NIC_RX);
    const table = p.table(domain);
    p.refuses("EBUSY", () => dv.mlx5dv_dr_domain_destroy(domain));
    dv.mlx5dv_dr_table_destroy(table);
    same0(dv.mlx5dv_dr_domain_destroy(domain));
    p.refuses("EINVAL", () => p.table(domain));
  },
  "with a reformat, modify header or array action": (p) => {
    const decap = dv.mlx5dv_dr_action_create_packet_reformat(p.rx, 0, 0, 0, null);
    const modify = dv.mlx5dv_dr_action_create_modify_header(p.rx, 0, undefined, [
      { type: "set", field: "METADATA_REG_C_0", data: 1 },
    ]);
    const dests = ["a", "b"].map((name) => ({ type: dv.MLX5DV_DR_ACTION_DEST, dest: p.toQueue(name) }));
    const array = dv.mlx5dv_dr_action_create_dest_array(p.rx, 2, dests);
    for (const action of [decap, modify, array]) {
      p.refuses("EBUSY", () => dv.mlx5dv_dr_domain_destroy(p.rx));
      dv.mlx5dv_dr_action_destroy(action);
    }
    same0(dv.mlx5dv_dr_domain_destroy(p.rx));
  },
};

function same0(code: number): void {
  if (code !== 0) throw new Error(`returned ${code}`);
}

const RECLAIM: Readonly<Record<string, Run>> = {
  "false and true": (p) => {
    const table = p.entry(p.rx);
    p.rule(table, [p.toQueue("a")], TO_FRAME, 2);
    const before = p.device.memoryUsed;
    comeAndGo(p, table);
    p.memory(before, "more");
    dv.mlx5dv_dr_domain_set_reclaim_device_memory(p.rx, true);
    p.memory(before, "as before");
    comeAndGo(p, table);
    p.memory(before, "as before");
    p.gets(p.received(FRAME), "a deliver");
  },
};

const DUPLICATES: Readonly<Record<string, Run>> = {
  "true: the oldest wins": (p) => {
    const matcher = p.matcher(p.entry(p.rx), TO_FRAME);
    const [first] = ["a", "b"].map((name) => p.ruleOf(matcher, [p.toQueue(name)], TO_FRAME));
    p.gets(p.received(FRAME), "a deliver");
    dv.mlx5dv_dr_rule_destroy(first!);
    p.gets(p.received(FRAME), "b deliver");
  },
  false: (p) => {
    const matcher = p.matcher(p.entry(p.rx), TO_FRAME);
    const action = p.toQueue("a");
    const rule = p.ruleOf(matcher, [action], TO_FRAME);
    dv.mlx5dv_dr_domain_allow_duplicate_rules(p.rx, false);
    p.refuses("EEXIST", () => p.ruleOf(matcher, [action], TO_FRAME));
    p.ruleOf(matcher, [p.toQueue("b")], TO_OTHER);
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.received(OTHER), "b deliver");
    dv.mlx5dv_dr_rule_destroy(rule);
    p.ruleOf(matcher, [action], TO_FRAME);
    p.gets(p.received(FRAME), "a deliver");
  },
};

const TABLE_CREATE: Readonly<Record<string, Run>> = {
  "level 0, the same for all domains of a type": (p) => {
    const other = dv.mlx5dv_dr_domain_create(p.context(), NIC_RX);
    p.rule(p.table(other, 0), [p.toQueue("b")], TO_OTHER, 1);
    p.rule(p.table(p.rx, 0), [p.toQueue("a")], {}, 2);
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.received(OTHER), "b deliver");
  },
  "any level, reached from any other": (p) => {
    const high = p.table(p.rx, 0xffffffff);
    const low = p.table(p.rx, 1);
    p.rule(p.entry(p.rx), [toTable(high)]);
    p.rule(high, [toTable(low)]);
    p.rule(low, [p.toQueue("a")], TO_FRAME);
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.received(OTHER), "drop table_miss");
  },
  "of the FDB of a VF": (p) => p.refuses("EOPNOTSUPP", () => p.table(p.domain(FDB, 2), 1)),
};

const TABLE_DESTROY: Readonly<Record<string, Run>> = {
  "with a matcher, with an action that leads to it": (p) => {
    for (const level of [0, 1]) {
      const table = p.table(p.rx, level);
      const matcher = p.matcher(table);
      p.refuses("EBUSY", () => dv.mlx5dv_dr_table_destroy(table));
      dv.mlx5dv_dr_matcher_destroy(matcher);
      const action = level === 0 ? dv.mlx5dv_dr_action_create_dest_root_table(table, 0) : toTable(table);
      p.refuses("EBUSY", () => dv.mlx5dv_dr_table_destroy(table));
      dv.mlx5dv_dr_action_destroy(action);
      same0(dv.mlx5dv_dr_table_destroy(table));
      p.refuses("EINVAL", () => p.matcher(table));
    }
  },
};

const RULE_CREATE: Readonly<Record<string, Run>> = {
  "value outside the mask": (p) => {
    const matcher = p.matcher(p.entry(p.rx), TO_FRAME);
    p.refuses("EINVAL", () => p.ruleOf(matcher, [], { "outer.smac_15_0": 1 }));
  },
  "size of the value": (p) => {
    const [matcher, actions] = [p.matcher(p.entry(p.rx)), [p.toQueue("a")]];
    for (const size of [6, 452]) {
      const make = () => dv.mlx5dv_dr_rule_create(matcher, new Uint8Array(size), 1, actions);
      if (!p.manual) {
        p.refuses("EINVAL", make);
        continue;
      }
      const rule = make();
      p.gets(p.received(FRAME), "a deliver");
      dv.mlx5dv_dr_rule_destroy(rule);
    }
  },
  "no destination, in NIC_RX": (p) => {
    p.rule(p.entry(p.rx), [], TO_OTHER);
    p.rule(p.entry(p.rx), [p.toQueue("a")], TO_FRAME);
    p.gets(p.received(OTHER), "drop no_destination");
    p.gets(p.received(FRAME), "a deliver");
  },
  "no destination, in NIC_TX": (p) => {
    p.rule(p.entry(p.tx), []);
    p.gets(p.sent(FRAME), "port:1 transmit");
  },
  "no destination, in FDB": (p) => {
    p.listen("a", 0);
    p.rule(p.entry(p.fdb), []);
    for (const outcome of [p.received(FRAME), p.sent(FRAME), p.sent(FRAME, 1)]) p.gets(outcome, "a deliver");
  },
  "source_port: one side of the FDB, or both": (p) => {
    p.listen("b", 1);
    const counter = p.counters();
    const actions = [
      dv.mlx5dv_dr_action_create_flow_counter(counter, 0),
      dv.mlx5dv_dr_action_create_dest_vport(p.fdb, 1),
    ];
    const table = p.entry(p.fdb);
    for (const [source_port, received, sent] of [
      [0xffff, "b deliver", "miss no_rule"],
      [2, "miss no_rule", "b deliver"],
    ] as const) {
      const rule = p.rule(table, actions, { "misc.source_port": source_port });
      p.gets(p.received(FRAME), received);
      p.gets(p.sent(FRAME, 2), sent);
      dv.mlx5dv_dr_rule_destroy(rule);
    }
    p.counts(counter, 2, 128);
    const unknown = p.matcher(table, { "misc.source_port": 3 });
    const make = () => p.ruleOf(unknown, actions, { "misc.source_port": 3 });
    if (p.manual) make();
    else p.refuses("EINVAL", make);
  },
  "two ends": (p) => {
    const matcher = p.matcher(p.entry(p.rx));
    const [a, b] = [p.toQueue("a"), p.toQueue("b")];
    // Two of one kind exceed the count; other kinds have no transition in the automaton.
    p.refuses("EINVAL", () => p.ruleOf(matcher, [a, b]));
    p.refuses(p.manual ? "EINVAL" : "EOPNOTSUPP", () => p.ruleOf(matcher, [drop(), a]));
    p.refuses(p.manual ? "EINVAL" : "EOPNOTSUPP", () => p.ruleOf(matcher, [a, drop()]));
  },
  "two ends in a root table": (p) => {
    const matcher = p.matcher(p.table(p.rx, 0));
    const [a, b] = [p.toQueue("a"), p.toQueue("b")];
    p.refuses(p.manual ? "EINVAL" : "EOPNOTSUPP", () => p.ruleOf(matcher, [a, b]));
  },
  "priority beyond 15 in a root table": (p) => {
    const table = p.table(p.rx, 0);
    const [a, b] = [p.toQueue("a"), p.toQueue("b")];
    const matcher = p.matcher(table, {}, 16);
    if (p.manual) {
      p.ruleOf(matcher, [a]);
      p.gets(p.received(FRAME), "a deliver");
    } else {
      p.refuses("ENOMEM", () => p.ruleOf(matcher, [a]));
    }
    p.rule(table, [b], {}, 15);
    p.gets(p.received(FRAME), "b deliver");
  },
  num_actions: (p) => {
    const matcher = p.matcher(p.entry(p.rx));
    const [a, b] = [p.toQueue("a"), p.toQueue("b")];
    const none = new Uint8Array(4);
    p.refuses("EINVAL", () => dv.mlx5dv_dr_rule_create(matcher, none, 3, [a, b]));
    dv.mlx5dv_dr_rule_create(matcher, none, 1, [a, b]);
    p.gets(p.received(FRAME), "a deliver");
  },
};

const RULE_DESTROY: Readonly<Record<string, Run>> = {
  "gives way to the next rule": (p) => {
    const table = p.entry(p.rx);
    const rule = p.rule(table, [p.toQueue("a")]);
    p.rule(table, [p.toQueue("b")], {}, 1);
    p.gets(p.received(FRAME), "a deliver");
    same0(dv.mlx5dv_dr_rule_destroy(rule));
    p.gets(p.received(FRAME), "b deliver");
    p.refuses("EINVAL", () => dv.mlx5dv_dr_rule_destroy(rule));
  },
};

const BULK: Readonly<Record<string, Run>> = {
  "all, or none": (p) => {
    const table = p.entry(p.rx);
    const matcher = p.matcher(table, TO_FRAME);
    const values = new Uint8Array(3 * 64);
    for (const n of [0, 1, 2]) values[n * 64 + 13] = n;
    const lists = ["c", "a", "b"].map((name) => [p.toQueue(name)]);
    p.refuses("EINVAL", () => dv.createRules(matcher, { match_sz: 7, match_buf: values }, lists));
    const outside = values.slice();
    outside[2 * 64] = 1;
    p.refuses("EINVAL", () => dv.createRules(matcher, { match_sz: 64, match_buf: outside }, lists));
    p.gets(p.received(FRAME), "drop table_miss");
    dv.createRules(matcher, { match_sz: 64, match_buf: values }, lists);
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.received(OTHER), "b deliver");
  },
};

export const OBJECT_CASES: readonly Case[] = [
  ...casesOf("domain_create", DOMAIN_CREATE),
  ...casesOf("domain_sync", DOMAIN_SYNC),
  ...casesOf("domain_destroy", DOMAIN_DESTROY),
  ...casesOf("domain_set_reclaim_device_memory", RECLAIM),
  ...casesOf("domain_allow_duplicate_rules", DUPLICATES),
  ...casesOf("table_create", TABLE_CREATE),
  ...casesOf("table_destroy", TABLE_DESTROY),
];

export const RULE_CASES: readonly Case[] = [
  ...casesOf("rule_create", RULE_CREATE),
  ...casesOf("rule_destroy", RULE_DESTROY),
  ...casesOf("createRules", BULK),
];
