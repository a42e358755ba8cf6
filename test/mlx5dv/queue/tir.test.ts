/** TIRs and RQTs: created objects, destinations of rules that lead to them, refusals. */
import { beforeEach, describe, expect, test } from "vitest";
import { createSink } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Table } from "../../../src/model/table/domain.js";
import * as v from "../../../src/verbs/index.js";
import { hashReference } from "../../oracle/walk/rss.js";
import { parseReference } from "../../oracle/wire/parse.js";
import { created, creating, make, openCommands, refusal, TableBench, enter } from "../support/devx.js";
import { ipv4Frame, openBench, refused, type Bench } from "../support/directRules.js";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench({ vports: 1 });
});

const direct = (inline_rqn: number): ReturnType<typeof dv.createTirCommand> =>
  dv.createTirCommand({ disp_type: dv.MLX5_TIRC_DISP_TYPE_DIRECT, inline_rqn });
const names = (frame: Uint8Array): string[] => bench.device.receive(1, frame).to.map(({ name }) => name);

const NOTHING = { match_sz: 64, match_buf: new Uint8Array(64) };

/** All frames of the root table run these actions. */
function all(...actions: Action[]): void {
  const matcher = dv.mlx5dv_dr_matcher_create(bench.root, 0, 0, NOTHING);
  dv.mlx5dv_dr_rule_create(matcher, NOTHING, actions.length, actions);
}

function workQueue(): v.WorkQueue {
  const pd = v.ibv_alloc_pd(bench.context);
  const cq = v.ibv_create_cq(bench.context, 4);
  const wq = v.ibv_create_wq(bench.context, { wq_type: v.IBV_WQT_RQ, max_wr: 4, max_sge: 1, pd, cq });
  const memory = new Uint8Array(128);
  v.ibv_modify_wq(wq, { attr_mask: v.IBV_WQ_ATTR_STATE, wq_state: v.IBV_WQS_RDY });
  const { lkey } = v.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
  v.ibv_post_wq_recv(wq, { wr_id: 1, sg_list: [{ addr: memory, lkey }] });
  return wq;
}

describe("a direct TIR", () => {
  test("leads to a work queue, with the tag of the rule", () => {
    const wq = workQueue();
    const { object: tir, output } = make(bench.context, direct(wq.wq_num));
    expect(dv.numberOutput(output)).toBe(tir.id);
    all(dv.mlx5dv_dr_action_create_tag(9), dv.mlx5dv_dr_action_create_dest_devx_tir(tir));
    expect(bench.device.receive(1, ipv4Frame())).toMatchObject({
      verdict: "deliver",
      tag: 9,
      to: [{ kind: "wq", object: wq }],
    });
    expect(v.ibv_poll_cq(wq.cq, 2)).toMatchObject([{ byte_len: 64, flow_tag: 9, qp_num: wq.wq_num }]);
    expect(bench.device.receive(1, ipv4Frame()).reason).toBe("no_receive_buffer");
    expect(refused(() => v.ibv_destroy_wq(wq))?.code).toBe("EBUSY");
  });

  test("is a destination of flows in device bytes", () => {
    const tir = created(bench.context, direct(bench.queue.qp_num));
    const matcher = dv.mlx5dv_create_flow_matcher(bench.context, { match_mask: NOTHING, match_criteria_enable: 0 });
    const to = [{ type: dv.MLX5DV_FLOW_ACTION_DEST_DEVX, obj: tir }];
    const flow = dv.mlx5dv_create_flow(matcher, NOTHING, undefined, to);
    expect(names(ipv4Frame())).toEqual(["qp:web"]);
    expect(refused(() => dv.mlx5dv_devx_obj_destroy(tir))?.code).toBe("EBUSY");
    v.ibv_destroy_flow(flow);
    expect(names(ipv4Frame())).toEqual([]);
    dv.mlx5dv_devx_obj_destroy(tir);
  });

  test("leads to a queue pair, in arrays and samplers too", () => {
    const tir = created(bench.context, direct(bench.queue.qp_num));
    const toTir = dv.mlx5dv_dr_action_create_dest_devx_tir(tir);
    const other = dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(bench.context, "other"));
    const members = [other, toTir].map((dest) => ({ type: dv.MLX5DV_DR_ACTION_DEST, dest }));
    const array = dv.mlx5dv_dr_action_create_dest_array(bench.domain, 2, members);
    const [here, next] = [1, 2].map((level) => dv.mlx5dv_dr_table_create(bench.domain, level)) as [Table, Table];
    all(dv.mlx5dv_dr_action_create_dest_table(here));
    const inside = (table: Table, action: Action): void => {
      dv.mlx5dv_dr_rule_create(dv.mlx5dv_dr_matcher_create(table, 0, 0, null), null, 1, [action]);
    };
    const sample = { sample_ratio: 1, default_next_table: next, sample_actions: [toTir] };
    inside(here, dv.mlx5dv_dr_action_create_flow_sampler(sample));
    inside(next, array);
    const { to, copies } = bench.device.receive(1, ipv4Frame());
    expect([to, copies].map((list) => list.map(({ name }) => name))).toEqual([["qp:other", "qp:web"], ["qp:web"]]);
    expect(tir.users).toBe(1);
    expect(refused(() => dv.mlx5dv_dr_action_destroy(toTir))?.code).toBe("EBUSY");
  });

  test("is one destination, which ends a rule", () => {
    const toTir = dv.mlx5dv_dr_action_create_dest_devx_tir(created(bench.context, direct(bench.queue.qp_num)));
    expect(refused(() => all(toTir, dv.mlx5dv_dr_action_create_drop()))).toMatchObject({ reason: "bad_action_list" });
  });

  test("stands on the receive side of its function alone", () => {
    const { device, context } = bench;
    const toTir = dv.mlx5dv_dr_action_create_dest_devx_tir(created(context, direct(bench.queue.qp_num)));
    const rule = (of: v.Context, type: number): string | undefined => {
      const root = dv.mlx5dv_dr_table_create(dv.mlx5dv_dr_domain_create(of, type), 0);
      const matcher = dv.mlx5dv_dr_matcher_create(root, 0, 0, null);
      return refused(() => dv.mlx5dv_dr_rule_create(matcher, null, 1, [toTir]))?.code;
    };
    expect(rule(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_TX)).toBe("EINVAL");
    expect(rule(context, dv.MLX5DV_DR_DOMAIN_TYPE_FDB)).toBe("EINVAL");
    const vf = dv.mlx5dv_open_device(device.function(1), { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
    expect(rule(vf, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX)).toBe("EINVAL");
    expect(creating({ device, context: vf }, direct(bench.queue.qp_num))).toEqual(refusal("refused"));
  });

  test.each(["connectx5", "connectx7"])("stands where a queue pair does on %s", async (profile) => {
    bench = await openBench({ profile });
    const toTir = dv.mlx5dv_dr_action_create_dest_devx_tir(created(bench.context, direct(bench.queue.qp_num)));
    all(toTir);
    expect(names(ipv4Frame())).toEqual(["qp:web"]);
    const table = dv.mlx5dv_dr_table_create(bench.domain, 1);
    const matcher = dv.mlx5dv_dr_matcher_create(table, 0, 0, null);
    const toQueue = dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queue);
    dv.mlx5dv_dr_rule_create(matcher, null, 1, [toTir]);
    expect(refused(() => dv.mlx5dv_dr_rule_create(matcher, null, 2, [toQueue, toTir]))?.code).toBe("EINVAL");
  });
});

describe("an indirect TIR", () => {
  const KEY = Uint8Array.from({ length: 40 }, (_, i) => (i * 73 + 5) & 255);

  function spreading(more: dv.TirFields): { tir: dv.DevxObject; rqtn: number } {
    const sinks = Array.from({ length: 16 }, (_, i) => createSink(bench.context, String(i)));
    const rqtn = created(bench.context, dv.createRqtCommand(sinks.map(({ qp_num }) => qp_num))).id;
    const fields = { disp_type: dv.MLX5_TIRC_DISP_TYPE_INDIRECT, indirect_table: rqtn, rx_hash_toeplitz_key: KEY };
    return { tir: created(bench.context, dv.createTirCommand({ ...fields, ...more })), rqtn };
  }

  const ports = dv.MLX5_RX_HASH_FIELD_SELECT_L4_SPORT | dv.MLX5_RX_HASH_FIELD_SELECT_L4_DPORT;
  const every = ports | dv.MLX5_RX_HASH_FIELD_SELECT_SRC_IP | dv.MLX5_RX_HASH_FIELD_SELECT_DST_IP;
  const selection = { version: 4, source: true, destination: true, sourcePort: true, destinationPort: true } as const;

  test.each([
    ["Toeplitz of TCP", "toeplitz", "tcp", false, { rx_hash_fn: dv.MLX5_RX_HASH_FN_TOEPLITZ, outer_fields: every }],
    ["of UDP", "toeplitz", "udp", false, { rx_hash_fn: 2, outer_fields: every, outer_l4: 1 }],
    ["symmetric", "toeplitz", "tcp", true, { rx_hash_fn: 2, outer_fields: every, rx_hash_symmetric: 1 }],
    ["inverted XOR8", "xor8", "tcp", false, { rx_hash_fn: dv.MLX5_RX_HASH_FN_INVERTED_XOR8, outer_fields: every }],
  ] as const)("spreads: %s", (_, name, protocol, symmetric, fields) => {
    all(dv.mlx5dv_dr_action_create_dest_devx_tir(spreading(fields).tir));
    const hash = { function: name, symmetric, outer: { ...selection, protocol }, inner: null, key: KEY };
    const reached = new Set<string>();
    for (let dport = 1; dport < 40; dport++) {
      const frame = ipv4Frame({ dport, protocol: protocol === "tcp" ? 6 : 17 });
      const { fields: found } = parseReference(frame, { linkType: 1, wireLength: frame.length });
      const expected = `qp:${hashReference(found, hash) & 15}`;
      expect(names(frame)).toEqual([expected]);
      reached.add(expected);
    }
    expect(reached.size).toBeGreaterThan(8);
  });

  test("brings both directions of a connection to one queue where it is symmetric", () => {
    all(
      dv.mlx5dv_dr_action_create_dest_devx_tir(
        spreading({ rx_hash_fn: 2, outer_fields: every, rx_hash_symmetric: 1 }).tir,
      ),
    );
    for (let dport = 1; dport < 20; dport++) {
      const frame = ipv4Frame({ dport });
      const back = frame.slice();
      back.set(frame.subarray(26, 30), 30);
      back.set(frame.subarray(30, 34), 26);
      back.set(frame.subarray(34, 36), 36);
      back.set(frame.subarray(36, 38), 34);
      expect(names(back)).toEqual(names(frame));
    }
  });

  test("brings everything to the first queue without a function", () => {
    all(dv.mlx5dv_dr_action_create_dest_devx_tir(spreading({ outer_fields: every }).tir));
    expect(names(ipv4Frame({ dport: 9 }))).toEqual(["qp:0"]);
  });

  test("holds its table, which holds its queues, until all are gone", () => {
    const { device, context } = bench;
    const wq = workQueue();
    const { memoryUsed } = device;
    const users = context.users;
    const rqt = created(context, dv.createRqtCommand([wq.wq_num, wq.wq_num]));
    const fields = { disp_type: 1, indirect_table: rqt.id, rx_hash_fn: 2, outer_fields: 3 };
    const tir = created(context, dv.createTirCommand(fields));
    const action = dv.mlx5dv_dr_action_create_dest_devx_tir(tir);
    expect(wq.users).toBe(2);
    for (const [object, drop] of [
      [tir, () => dv.mlx5dv_dr_action_destroy(action)],
      [rqt, () => dv.mlx5dv_devx_obj_destroy(tir)],
    ] as const) {
      expect(refused(() => dv.mlx5dv_devx_obj_destroy(object))?.code).toBe("EBUSY");
      drop();
    }
    dv.mlx5dv_devx_obj_destroy(rqt);
    expect([wq.users, device.memoryUsed, context.users]).toEqual([0, memoryUsed, users]);
    v.ibv_destroy_wq(wq);
  });

  test.each([
    ["another function", { rx_hash_fn: 3 }, "bad_value"],
    ["an unknown table", { indirect_table: 0xffffff }, "unknown_object"],
    ["unknown fields", { outer_fields: 32 }, "unsupported"],
    ["unknown inner fields", { inner_fields: 0x20000000 }, "unsupported"],
    ["another type", { disp_type: 2 }, "bad_value"],
    ["queues of another kind", { disp_type: 0, inline_q_type: 1 }, "unsupported"],
    ["a number that nobody has", { disp_type: 0, inline_rqn: 0xffffff }, "refused"],
  ] as const)("is refused: %s", (_, more, cause) => {
    const { rqtn } = spreading({});
    const fields = { disp_type: 1, indirect_table: rqtn, ...more };
    expect(creating(bench, dv.createTirCommand(fields))).toEqual(refusal(cause));
  });

  test("tables of queues that cannot be are refused", () => {
    const { qp_num } = bench.queue;
    const three = dv.createRqtCommand([qp_num, qp_num, qp_num]);
    expect(creating(bench, three)).toEqual(refusal("refused"));
    expect(creating(bench, dv.createRqtCommand([]))).toEqual(refusal("refused"));
    expect(creating(bench, dv.createRqtCommand([qp_num, 0xffffff]))).toEqual(refusal("refused"));
    const long = dv.createRqtCommand(Array.from({ length: 2048 }, () => qp_num));
    expect(creating(bench, long)).toEqual(refusal("refused"));
    expect(creating(bench, dv.createRqtCommand([qp_num, qp_num]).slice(0, 276))).toEqual(refusal("short_input"));
    const other = dv.createRqtCommand([qp_num]);
    other[52] = 1;
    expect(creating(bench, other)).toEqual(refusal("unsupported"));
    expect(bench.queue.users).toBe(0);
    const ud = { send_cq: v.ibv_create_cq(bench.context, 1), recv_cq: v.ibv_create_cq(bench.context, 1), cap: {} };
    const pair = v.ibv_create_qp(v.ibv_alloc_pd(bench.context), { ...ud, qp_type: v.IBV_QPT_UD });
    expect(creating(bench, direct(pair.qp_num))).toEqual(refusal("refused"));
  });
});

test("what is no TIR is no destination", () => {
  const counter = created(bench.context, dv.allocFlowCounterCommand());
  const error = refused(() => dv.mlx5dv_dr_action_create_dest_devx_tir(counter));
  expect(error).toMatchObject({ code: "EINVAL", reason: "bad_object", path: "devx_obj" });
  expect(() => dv.mlx5dv_dr_action_create_dest_devx_tir(null as never)).toThrow(TypeError);
});

test("an entry of a flow table leads to one", async () => {
  const { device, context } = await openCommands();
  const queue = createSink(context, "web");
  const tir = created(context, direct(queue.qp_num));
  const table = new TableBench(context, 0);
  const root = dv.mlx5dv_dr_table_create(dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX), 0);
  enter(root, table.table);
  const entry = table.entry({
    action: dv.MLX5_FLOW_CONTEXT_ACTION_FWD_DEST,
    destinations: [{ destination_type: dv.MLX5_FLOW_DESTINATION_TYPE_TIR, destination_id: tir.id }],
  });
  expect(device.receive(1, ipv4Frame()).to).toMatchObject([{ name: "qp:web" }]);
  expect(refused(() => dv.mlx5dv_devx_obj_destroy(tir))?.code).toBe("EBUSY");
  dv.mlx5dv_devx_obj_destroy(entry);
  dv.mlx5dv_devx_obj_destroy(tir);
});
