/**
 * Cases for matchers: a field of each group, refusals, order, layouts. Every field is in
 * matcherFields.test.ts.
 */
import * as dv from "../../../../src/mlx5dv/index.js";
import type { Table } from "../../../../src/model/table/domain.js";
import { buildFrame } from "../../../../src/packet/index.js";
import { deviceBytes } from "../../support/deviceBytes.js";
import { FRAME, OTHER, TO_FRAME, TO_OTHER, VXLAN } from "./frames.js";
import { casesOf, type Case, type Fields, type Probe, type Run } from "./record.js";

const ethernet = { header: "ethernet" } as const;
const ipv4 = { header: "ipv4" } as const;
const MPLS = buildFrame([ethernet, { header: "mpls", label: 0x12345 }, ipv4, { header: "tcp" }]);
const ICMP = buildFrame([ethernet, ipv4, { header: "icmp", type: 8 }]);
const PARSER = { samples: [{ id: 3, header: "ethernet", level: "outer", offset: 2 }] } as const;

/**
 * A field matches the frame by its value, and does not match with the lowest bit inverted: after
 * the root table, and in it.
 */
const field =
  (name: string, value: number, frame: Uint8Array, beside: Fields = {}): Run =>
  async (first) => {
    const p = await first.another({ parser: PARSER });
    for (const [table, queue, otherwise] of [
      [p.entry(p.rx), "a", "drop table_miss"],
      [p.table(p.rx, 0), "b", "a deliver"],
    ] as const) {
      const matcher = p.matcher(table, { ...beside, [name]: value }, 0, beside);
      const wrong = p.ruleOf(matcher, [p.toQueue(queue)], { ...beside, [name]: (value ^ 1) >>> 0 });
      p.gets(p.received(frame), otherwise);
      dv.mlx5dv_dr_rule_destroy(wrong);
      p.ruleOf(matcher, [p.toQueue(queue)], { ...beside, [name]: value });
      p.gets(p.received(frame), `${queue} deliver`);
    }
  };

const SAMPLED = { "misc4.prog_sample_field_id_5": 3 };

const MATCHER_CREATE: Readonly<Record<string, Run>> = {
  "group outer": field("outer.dmac_15_0", 1, FRAME),
  "group misc": field("misc.vxlan_vni", 0x1234, VXLAN),
  "group inner": field("inner.ethertype", 0x0800, VXLAN),
  "group misc2": field("misc2.outer_first_mpls_label", 0x12345, MPLS),
  "group misc3": field("misc3.icmp_type", 8, ICMP),
  "group misc4": field("misc4.prog_sample_field_value_5", 1, FRAME, SAMPLED),
  "group misc5": field("misc5.tunnel_header_0", 0x0800_0000, VXLAN),
  "criteria beyond seven groups": (p) => {
    const create = (table: Table) => () => dv.mlx5dv_dr_matcher_create(table, 0, 0x80, new Uint8Array(4));
    const [behind, root] = [p.entry(p.rx), p.table(p.rx, 0)];
    p.refuses("EINVAL", create(behind));
    if (p.manual) {
      p.refuses("EINVAL", create(root));
      return;
    }
    const matcher = create(root)();
    p.refuses("EINVAL", () => p.ruleOf(matcher, []));
  },
  match_sz: (p) => {
    const create = (table: Table, size: number) => () => dv.mlx5dv_dr_matcher_create(table, 0, 0, new Uint8Array(size));
    const [behind, root] = [p.entry(p.rx), p.table(p.rx, 0)];
    if (!p.manual) {
      p.refuses("EINVAL", create(behind, 449));
      p.refuses("EINVAL", create(root, 513));
      p.refuses("EINVAL", create(root, 0));
    }
    const most = p.manual ? [1000, 1000] : [448, 512];
    for (const matcher of [create(behind, most[0]!)(), create(root, most[1]!)()]) {
      const rule = p.ruleOf(matcher, [p.toQueue("a")]);
      p.gets(p.received(FRAME), "a deliver");
      dv.mlx5dv_dr_rule_destroy(rule);
    }
  },
  ip_version: (p) => {
    const table = p.entry(p.rx);
    const make = (mask: number) => p.matcher(table, { "outer.ip_version": 4 }, 0, { "outer.ip_version": mask });
    p.refuses(p.manual ? "EINVAL" : "EOPNOTSUPP", () => make(5));
    if (!p.manual) p.refuses("EOPNOTSUPP", () => make(15));
    p.refuses("EINVAL", () => p.ruleOf(make(4), [], { "outer.ip_version": 6 }));
    const repeated = make(6);
    p.refuses(p.manual ? "EINVAL" : "EOPNOTSUPP", () => p.ruleOf(repeated, [], { "outer.ip_version": 4 }));
    p.ruleOf(make(4), [p.toQueue("a")], { "outer.ip_version": 4 });
    p.gets(p.received(FRAME), "a deliver");
  },
  "source_port masked in part": (p) => {
    const table = p.entry(p.rx);
    const make = () => p.matcher(table, { "misc.source_port": 0 }, 0, { "misc.source_port": 0xff00 });
    if (!p.manual) {
      p.refuses("ENOTSUP", make);
      return;
    }
    p.ruleOf(make(), [p.toQueue("a")], { "misc.source_port": 0xff00 });
    p.gets(p.received(FRAME), "a deliver");
  },
  "criteria and nothing masked": (p) => {
    const table = p.entry(p.rx);
    const make = () => dv.mlx5dv_dr_matcher_create(table, 0, 3, new Uint8Array(4));
    if (p.older) {
      p.refuses("EINVAL", make);
      return;
    }
    p.ruleOf(make(), [p.toQueue("a")]);
    p.gets(p.received(FRAME), "a deliver");
  },
  "reserved bits": (p) => {
    const mask = new Uint8Array(64);
    mask[24] = 1;
    for (const level of [0, 1]) {
      const table = p.table(p.rx, level);
      p.refuses("EOPNOTSUPP", () => dv.mlx5dv_dr_matcher_create(table, 0, 1, mask));
    }
  },
  "fields that ConnectX does not match": (p) => {
    const table = p.entry(p.rx);
    const make = () => p.matcher(table, { "misc.source_vhca_port": 1 });
    if (!p.manual) {
      p.refuses("EOPNOTSUPP", make);
      return;
    }
    p.ruleOf(make(), [p.toQueue("a")], { "misc.source_vhca_port": 2 });
    p.gets(p.received(FRAME), "drop table_miss");
    p.gets(p.received(FRAME, 2), "a deliver");
  },
  "two tunnel kinds": (p) => {
    const fields = { "misc5.tunnel_header_0": 0, "misc3.gtpu_teid": 0 };
    const [behind, root] = [p.entry(p.rx), p.table(p.rx, 0)];
    if (p.manual) p.matcher(behind, fields);
    else p.refuses("EOPNOTSUPP", () => p.matcher(behind, fields));
    p.matcher(root, fields);
    p.rule(behind, [p.toQueue("a")], { "misc5.tunnel_header_0": 0x0800_0000 });
    p.gets(p.received(VXLAN), "a deliver");
  },
  "ports without ip_version, checksum bits": (p) => {
    const table = p.entry(p.rx);
    for (const [i, name] of ["outer.tcp_dport", "outer.l3_ok"].entries()) {
      if (p.older) {
        p.refuses("EOPNOTSUPP", () => p.matcher(table, { [name]: 0 }));
        continue;
      }
      p.rule(table, [p.toQueue(`q${"ab"[i]!}`)], { [name]: i === 0 ? 80 : 1 }, 2 - i);
      p.gets(p.received(FRAME), `q${"ab"[i]!} deliver`);
    }
  },
  "priority, lower first": (p) => {
    const table = p.entry(p.rx);
    p.rule(table, [p.toQueue("a")], {}, 0xffff);
    p.gets(p.received(FRAME), "a deliver");
    p.rule(table, [p.toQueue("b")], {}, 0xfffe);
    p.gets(p.received(FRAME), "b deliver");
    p.refuses("EINVAL", () => p.matcher(table, {}, 0x10000));
  },
  "equal priority: newer first, in a root table older": (p) => {
    const table = p.entry(p.rx);
    for (const name of ["a", "b"]) p.rule(table, [p.toQueue(name)]);
    p.gets(p.received(FRAME), "b deliver");
    p.rule(p.table(p.rx, 0), [p.toQueue("c")]);
    p.rule(p.table(p.rx, 0), [p.toQueue("d")], TO_FRAME);
    p.gets(p.received(FRAME), "c deliver");
  },
  "criteria leave groups out": (p) => {
    const bytes = deviceBytes({ ...TO_FRAME, "misc.vxlan_vni": 5 });
    const matcher = dv.mlx5dv_dr_matcher_create(p.entry(p.rx), 0, 1, bytes);
    dv.mlx5dv_dr_rule_create(matcher, bytes, 1, [p.toQueue("a")]);
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.received(OTHER), "drop table_miss");
  },
};

const MATCHER_DESTROY: Readonly<Record<string, Run>> = {
  "with a rule": (p) => {
    const matcher = p.matcher(p.entry(p.rx), TO_OTHER);
    const rule = p.ruleOf(matcher, [p.toQueue("a")], TO_OTHER);
    p.refuses("EBUSY", () => dv.mlx5dv_dr_matcher_destroy(matcher));
    p.gets(p.received(OTHER), "a deliver");
    dv.mlx5dv_dr_rule_destroy(rule);
    dv.mlx5dv_dr_matcher_destroy(matcher);
    p.refuses("EINVAL", () => p.ruleOf(matcher, [], TO_OTHER));
  },
};

const layout = (matcher: ReturnType<Probe["matcher"]>, flags: number, log_num_of_rules_hint: number) => () =>
  dv.mlx5dv_dr_matcher_set_layout(matcher, { flags, log_num_of_rules_hint });

const SET_LAYOUT: Readonly<Record<string, Run>> = {
  ...Object.fromEntries(
    (
      [
        ["NUM_RULE", dv.MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE],
        ["NUM_RULE and RESIZABLE", dv.MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE | dv.MLX5DV_DR_MATCHER_LAYOUT_RESIZABLE],
      ] as const
    ).map(([what, flags]): [string, Run] => [
      what,
      (p) => {
        const matcher = p.matcher(p.entry(p.rx), TO_FRAME);
        p.ruleOf(matcher, [p.toQueue("a")], TO_FRAME);
        const before = p.device.memoryUsed;
        if (p.older) {
          p.refuses("ENOTSUP", layout(matcher, flags, 10));
          return;
        }
        layout(matcher, flags, 10)();
        p.memory(before, "more");
        p.gets(p.received(FRAME), "a deliver");
        p.gets(p.received(OTHER), "drop table_miss");
      },
    ]),
  ),
  "other flags, more than 2^20 rules": (p) => {
    const matcher = p.matcher(p.entry(p.rx));
    p.refuses("ENOTSUP", layout(matcher, 4, 5));
    p.refuses("ENOTSUP", layout(matcher, 2, 21));
  },
  "in a root table": (p) => p.refuses("ENOTSUP", layout(p.matcher(p.table(p.rx, 0)), 2, 5)),
};

export const MATCHER_CASES: readonly Case[] = [
  ...casesOf("matcher_create", MATCHER_CREATE),
  ...casesOf("matcher_destroy", MATCHER_DESTROY),
  ...casesOf("matcher_set_layout", SET_LAYOUT),
];
