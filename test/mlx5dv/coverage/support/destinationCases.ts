/** Cases for actions that set the destination of a frame, and for the tag. */
import * as dv from "../../../../src/mlx5dv/index.js";
import type { Action } from "../../../../src/model/action/action.js";
import * as v from "../../../../src/verbs/index.js";
import { created } from "../../support/devx.js";
import { FRAME, OTHER, TO_FRAME, TO_OTHER } from "./frames.js";
import { casesOf, type Case, type Probe, type Run } from "./record.js";

const drop = dv.mlx5dv_dr_action_create_drop;
const miss = dv.mlx5dv_dr_action_create_default_miss;
const toTable = dv.mlx5dv_dr_action_create_dest_table;
const toVport = (p: Probe, vport: number): Action => dv.mlx5dv_dr_action_create_dest_vport(p.fdb, vport);
const toPort = (p: Probe, port: number): Action => dv.mlx5dv_dr_action_create_dest_ib_port(p.fdb, port);

/** It has no meaning in the other domains, and no transition in the automaton of their orders. */
const receivedAlone =
  (make: (p: Probe) => Action): Run =>
  (p) => {
    for (const domain of [p.tx, p.fdb]) {
      const [behind, root] = [p.matcher(p.entry(domain)), p.matcher(p.table(domain, 0))];
      const action = make(p);
      p.refuses(p.manual ? "EINVAL" : "EOPNOTSUPP", () => p.ruleOf(behind, [action]));
      p.refuses("EINVAL", () => p.ruleOf(root, [action]));
    }
  };

const DROP: Readonly<Record<string, Run>> = {
  "in NIC_RX": (p) => {
    p.rule(p.entry(p.rx), [drop()], TO_OTHER);
    p.rule(p.entry(p.rx), [p.toQueue("a")], TO_FRAME);
    p.gets(p.received(OTHER), "drop drop_action");
    p.gets(p.received(FRAME), "a deliver");
  },
  "in NIC_TX": (p) => {
    p.rule(p.entry(p.tx), [drop()], TO_OTHER);
    p.gets(p.sent(OTHER), "drop drop_action");
    p.gets(p.sent(FRAME), "port:1 transmit");
  },
  "in FDB": (p) => {
    p.listen("a", 0);
    p.rule(p.entry(p.fdb), [drop()], TO_OTHER);
    for (const outcome of [p.received(OTHER), p.sent(OTHER), p.sent(OTHER, 1)]) p.gets(outcome, "drop drop_action");
    for (const outcome of [p.received(FRAME), p.sent(FRAME, 1)]) p.gets(outcome, "a deliver");
  },
  "in root tables": (p) => {
    for (const domain of [p.rx, p.tx, p.fdb]) p.rule(p.table(domain, 0), [drop()], TO_OTHER);
    p.gets(p.received(OTHER), "drop drop_action");
    p.gets(p.sent(OTHER), "drop drop_action");
    p.listen("a", 0);
    p.gets(p.sent(FRAME, 1), "a deliver");
  },
};

const MISS: Readonly<Record<string, Run>> = {
  "in NIC_RX: drops": (p) => {
    p.rule(p.entry(p.rx), [miss()], TO_OTHER);
    p.rule(p.entry(p.rx), [p.toQueue("a")], {}, 1);
    p.gets(p.received(OTHER), "drop default_miss");
    p.gets(p.received(FRAME), "a deliver");
  },
  "in NIC_TX: sends": (p) => {
    p.rule(p.entry(p.tx), [miss()], TO_OTHER);
    p.rule(p.entry(p.tx), [drop()], {}, 1);
    p.gets(p.sent(OTHER), "port:1 transmit");
    p.gets(p.sent(FRAME), "drop drop_action");
  },
  "in FDB: to the PF": (p) => {
    p.listen("a", 0);
    p.rule(p.entry(p.fdb), [miss()], TO_OTHER);
    p.rule(p.entry(p.fdb), [drop()], {}, 1);
    for (const outcome of [p.received(OTHER), p.sent(OTHER), p.sent(OTHER, 1)]) p.gets(outcome, "a deliver");
    p.gets(p.sent(FRAME, 1), "drop drop_action");
  },
  "in the root table of NIC_RX: the next stage": (p) => {
    p.device.hostRules.add({ application: "nic", action: { queue: 5 } });
    p.rule(p.table(p.rx, 0), [miss()], TO_OTHER);
    p.rule(p.table(p.rx, 0), [drop()], {}, 1);
    p.gets(p.received(OTHER), "host:5 deliver");
    p.gets(p.received(FRAME), "drop drop_action");
  },
  "in the root table of FDB": (p) => {
    p.listen("a", 0);
    const matcher = p.matcher(p.table(p.fdb, 0));
    if (p.manual) {
      p.ruleOf(matcher, [miss()]);
      p.gets(p.received(FRAME), "a deliver");
    } else {
      p.refuses("EINVAL", () => p.ruleOf(matcher, [miss()]));
    }
  },
};

const TAG: Readonly<Record<string, Run>> = {
  "the low 24 bits": (p) => {
    for (const [value, text] of [
      [1, "a1"],
      [0x12abcdef, `a11259375`],
      [0, "a"],
    ] as const) {
      const rule = p.rule(p.entry(p.rx), [dv.mlx5dv_dr_action_create_tag(value), p.toQueue("a")]);
      p.gets(p.received(FRAME), `${text} deliver`);
      dv.mlx5dv_dr_rule_destroy(rule);
    }
  },
  "that of an earlier table stays": (p) => {
    const second = p.table(p.rx, 2);
    p.rule(p.entry(p.rx), [dv.mlx5dv_dr_action_create_tag(7), toTable(second)]);
    p.rule(second, [p.toQueue("a")]);
    p.gets(p.received(FRAME), "a7 deliver");
  },
  "outside NIC_RX": receivedAlone(() => dv.mlx5dv_dr_action_create_tag(1)),
  "a second one": (p) => {
    const matcher = p.matcher(p.entry(p.rx));
    const tags = [1, 1].map((value) => dv.mlx5dv_dr_action_create_tag(value));
    p.refuses("EINVAL", () => p.ruleOf(matcher, tags));
  },
};

const QP: Readonly<Record<string, Run>> = {
  "a raw packet QP": (p) => {
    p.rule(p.entry(p.rx), [p.toQueue("a")], TO_FRAME);
    p.rule(p.table(p.rx, 0), [p.toQueue("b")], TO_OTHER);
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.received(OTHER), "b deliver");
  },
  "another type": (p) => {
    const cq = v.ibv_create_cq(p.context(), 16);
    const cap = { max_recv_wr: 4, max_recv_sge: 1 };
    const init = { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_UD };
    const qp = v.ibv_create_qp(v.ibv_alloc_pd(p.context()), init);
    p.refuses("EINVAL", () => dv.mlx5dv_dr_action_create_dest_ibv_qp(qp));
  },
  "of another function": (p) => {
    const matcher = p.matcher(p.entry(p.rx));
    const action = p.toQueue("b", 1);
    p.refuses("EINVAL", () => p.ruleOf(matcher, [action]));
    p.listen("b", 1);
    p.rule(p.entry(p.fdb), [toVport(p, 1)]);
    p.gets(p.received(FRAME), "b deliver");
  },
  "outside NIC_RX": receivedAlone((p) => p.toQueue("a")),
};

const toTir = (p: Probe, name: string, vport = 0): Action => {
  const { qp_num: inline_rqn, context } = p.queue(name, vport);
  return dv.mlx5dv_dr_action_create_dest_devx_tir(created(context, dv.createTirCommand({ inline_rqn })));
};

const TIR: Readonly<Record<string, Run>> = {
  "to a receive queue": (p) => {
    p.rule(p.entry(p.rx), [toTir(p, "a")], TO_FRAME);
    p.rule(p.table(p.rx, 0), [toTir(p, "b")], TO_OTHER);
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.received(OTHER), "b deliver");
  },
  "what is no TIR": (p) => {
    const counter = created(p.context(), dv.allocFlowCounterCommand());
    p.refuses("EINVAL", () => dv.mlx5dv_dr_action_create_dest_devx_tir(counter));
  },
  "of another function": (p) => {
    const matcher = p.matcher(p.entry(p.rx));
    const action = toTir(p, "b", 1);
    p.refuses("EINVAL", () => p.ruleOf(matcher, [action]));
  },
  "outside NIC_RX": receivedAlone((p) => toTir(p, "a")),
};

const TABLE: Readonly<Record<string, Run>> = {
  "in NIC_RX": (p) => {
    const second = p.table(p.rx, 2);
    p.rule(p.entry(p.rx), [toTable(second)], TO_FRAME);
    p.rule(second, [p.toQueue("a")]);
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.received(OTHER), "drop table_miss");
  },
  "in NIC_TX": (p) => {
    const second = p.table(p.tx, 2);
    p.rule(p.entry(p.tx), [toTable(second)], TO_FRAME);
    p.rule(second, [drop()]);
    p.gets(p.sent(FRAME), "drop drop_action");
    p.gets(p.sent(OTHER), "port:1 transmit");
  },
  "in FDB": (p) => {
    p.listen("b", 1);
    const second = p.table(p.fdb, 2);
    p.rule(p.entry(p.fdb), [toTable(second)], TO_FRAME);
    p.rule(second, [toVport(p, 1)]);
    p.gets(p.received(FRAME), "b deliver");
    p.gets(p.sent(FRAME, 2), "b deliver");
    p.gets(p.received(OTHER), "miss no_rule");
  },
  "without end": (p) => {
    const table = p.entry(p.rx);
    p.rule(table, [toTable(table)], TO_OTHER);
    p.rule(table, [p.toQueue("a")], {}, 1);
    p.gets(p.received(OTHER), "drop hop_limit");
    p.gets(p.received(FRAME), "a deliver");
  },
  "a root table": (p) => {
    const root = p.table(p.rx, 0);
    p.refuses("EINVAL", () => toTable(root));
  },
  "of another domain": (p) => {
    const other = toTable(p.table(dv.mlx5dv_dr_domain_create(p.context(), 0)));
    const matcher = p.matcher(p.entry(p.rx));
    p.refuses("EINVAL", () => p.ruleOf(matcher, [other]));
  },
};

const ROOT_TABLE: Readonly<Record<string, Run>> = {
  "from its priority on": (p) => {
    const root = p.table(p.rx, 0);
    const other = p.table(p.rx, 2);
    p.rule(root, [toTable(other)], {}, 0);
    p.rule(other, [dv.mlx5dv_dr_action_create_dest_root_table(root, 3)]);
    p.rule(root, [p.toQueue("b")], {}, 2);
    p.rule(root, [p.toQueue("a")], {}, 3);
    p.gets(p.received(FRAME), "a deliver");
  },
  "a table that is not root": (p) => {
    const table = p.table(p.rx, 1);
    p.refuses("EINVAL", () => dv.mlx5dv_dr_action_create_dest_root_table(table, 0));
  },
  "priority beyond the last one": (p) => {
    const root = p.table(p.rx, 0);
    p.refuses("EINVAL", () => dv.mlx5dv_dr_action_create_dest_root_table(root, p.manual ? 0x10000 : 16));
  },
  "in a root table": (p) => {
    const root = p.table(p.rx, 0);
    const matcher = p.matcher(root, TO_FRAME);
    const action = dv.mlx5dv_dr_action_create_dest_root_table(root, 2);
    if (!p.manual) {
      p.refuses("ENOTSUP", () => p.ruleOf(matcher, [action], TO_FRAME));
      return;
    }
    p.ruleOf(matcher, [action], TO_FRAME);
    p.rule(root, [p.toQueue("b")], {}, 1);
    p.rule(root, [p.toQueue("a")], {}, 2);
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.received(OTHER), "b deliver");
  },
};

const VPORT: Readonly<Record<string, Run>> = {
  "the PF, a VF": (p) => {
    for (const [vport, name] of [
      [0, "a"],
      [1, "b"],
      [2, "c"],
    ] as const) {
      p.listen(name, vport);
      const rule = p.rule(p.entry(p.fdb), [toVport(p, vport)]);
      for (const outcome of [p.received(FRAME), ...[0, 1, 2].map((from) => p.sent(FRAME, from))]) {
        p.gets(outcome, `${name} deliver`);
      }
      dv.mlx5dv_dr_rule_destroy(rule);
    }
  },
  "the wire": (p) => {
    p.rule(p.entry(p.fdb), [toVport(p, 0xffff)]);
    p.gets(p.sent(FRAME, 1), "port:1 transmit");
    p.gets(p.sent(FRAME), "port:1 transmit");
    p.gets(p.received(FRAME), "drop wire_to_wire");
  },
  "one that does not exist": (p) => {
    const { fdb } = p;
    for (const vport of [3, 0xfffe, 0x10000]) {
      p.refuses("EINVAL", () => dv.mlx5dv_dr_action_create_dest_vport(fdb, vport));
    }
  },
  "in another domain": (p) => {
    for (const domain of [p.rx, p.tx, p.domain(dv.MLX5DV_DR_DOMAIN_TYPE_FDB, 1)]) {
      p.refuses("EOPNOTSUPP", () => dv.mlx5dv_dr_action_create_dest_vport(domain, 0));
    }
  },
  "in a root table": (p) => {
    const matcher = p.matcher(p.table(p.fdb, 0));
    const action = toVport(p, 1);
    if (!p.manual) {
      p.refuses("ENOTSUP", () => p.ruleOf(matcher, [action]));
      return;
    }
    p.listen("b", 1);
    p.ruleOf(matcher, [action]);
    p.gets(p.received(FRAME), "b deliver");
  },
};

const PORT: Readonly<Record<string, Run>> = {
  "out of a port": (p) => {
    p.rule(p.entry(p.fdb), [toPort(p, 2)]);
    p.gets(p.received(FRAME, 1), "port:2 forward");
    p.gets(p.sent(FRAME, 1), "port:2 transmit");
  },
  "back to the wire": (p) => {
    p.rule(p.entry(p.fdb), [toPort(p, 1)]);
    p.gets(p.received(FRAME), "drop wire_to_wire");
    p.gets(p.sent(FRAME), "port:1 transmit");
  },
  "one that does not exist": (p) => {
    const { fdb } = p;
    for (const port of [0, 3]) p.refuses("EINVAL", () => dv.mlx5dv_dr_action_create_dest_ib_port(fdb, port));
  },
  "in another domain": (p) => {
    for (const domain of [p.rx, p.tx, p.domain(dv.MLX5DV_DR_DOMAIN_TYPE_FDB, 1)]) {
      p.refuses("EOPNOTSUPP", () => dv.mlx5dv_dr_action_create_dest_ib_port(domain, 1));
    }
  },
};

export const DESTINATION_CASES: readonly Case[] = [
  ...casesOf("action_create_drop", DROP),
  ...casesOf("action_create_default_miss", MISS),
  ...casesOf("action_create_tag", TAG),
  ...casesOf("action_create_dest_ibv_qp", QP),
  ...casesOf("action_create_dest_devx_tir", TIR),
  ...casesOf("action_create_dest_table", TABLE),
  ...casesOf("action_create_dest_root_table", ROOT_TABLE),
  ...casesOf("action_create_dest_vport", VPORT),
  ...casesOf("action_create_dest_ib_port", PORT),
];
