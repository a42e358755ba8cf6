/** mlx5dv_devx_qp_query(3) and its relatives: queues of the verbs by device commands, at the offsets of the PRM. */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, type Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Context, ProtectionDomain } from "../../../src/model/base/context.js";
import type { CompletionQueue } from "../../../src/model/queue/completionQueue.js";
import type { SharedReceiveQueue as Srq } from "../../../src/model/queue/sharedReceiveQueue.js";
import type { WorkQueue } from "../../../src/model/queue/workQueue.js";
import * as v from "../../../src/verbs/index.js";
import {
  attributesOf,
  connectWatched,
  inSlot,
  join,
  openEnd,
  openPair,
  pattern,
  post,
  postReceives,
  statuses,
  type End,
} from "../../verbs/support/connected.js";
import { climb } from "../../verbs/support/queuePairs.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../../assembly/support/core.js";
import { checkReached, rounds } from "../../support/tier.js";
import { answer, created, refusal } from "../support/devx.js";
import { ipv4Frame, refused } from "../support/directRules.js";

type Ask<T> = (object: T, input: Uint8Array, inlen: undefined, output: Uint8Array, outlen: undefined) => 0;

/** The output of a command that succeeds. */
function done<T>(call: Ask<T>, object: T, input: Uint8Array, outlen = 512): Uint8Array {
  const output = new Uint8Array(outlen).fill(0xee);
  expect(call(object, input, undefined, output, undefined)).toBe(0);
  expect(dv.commandOutput(output)).toMatchObject({ status: 0, syndrome: 0 });
  return output;
}

/** Status and syndrome of a command. */
const told = <T>(call: Ask<T>, object: T, input: Uint8Array, outlen = 512): unknown =>
  answer((output) => call(object, input, undefined, output, undefined), outlen);

/** Bytes of a command at their places. */
function bytesAt(size: number, places: Readonly<Record<number, readonly number[] | Uint8Array>>): Uint8Array {
  const bytes = new Uint8Array(size);
  for (const [at, values] of Object.entries(places)) bytes.set(values, Number(at));
  return bytes;
}

const number = (value: number): number[] => [value >> 16, (value >> 8) & 0xff, value & 0xff];
const { mlx5dv_devx_qp_query: queryQp, mlx5dv_devx_qp_modify: modifyQp } = dv;

describe("queue pairs", () => {
  let ends: [End, End];
  beforeEach(async () => {
    const [left, right] = await openPair();
    connectWatched(left, right);
    ends = [openEnd(left), openEnd(right)];
  });

  const fieldsOf = (peer: End): dv.QpFields => {
    const { gids, mac } = peer.device.hardware.ports[0]!;
    return {
      mtu: v.IBV_MTU_1024,
      remote_qpn: peer.qp.qp_num,
      next_rcv_psn: 0x123456,
      next_send_psn: 0x123456,
      min_rnr_nak: 12,
      retry_count: 7,
      rnr_retry: 7,
      log_sra_max: 0,
      log_rra_max: 0,
      primary_address_path: {
        vhca_port_num: 1,
        src_addr_index: 0,
        hop_limit: 64,
        ack_timeout: 14,
        rgid: gids[0],
        rmac: mac,
      },
    };
  };
  const CLIMB = [dv.MLX5_CMD_OP_RST2INIT_QP, dv.MLX5_CMD_OP_INIT2RTR_QP, dv.MLX5_CMD_OP_RTR2RTS_QP];
  const raise = (end: End, peer: End): void => {
    for (const opcode of CLIMB) {
      done(modifyQp, end.qp, dv.modifyQpCommand(opcode, end.qp.qp_num, fieldsOf(peer)));
    }
  };

  test("that commands have connected exchange messages", () => {
    const [a, b] = ends;
    raise(a, b);
    raise(b, a);
    expect([a.qp.state, b.qp.state]).toEqual([v.IBV_QPS_RTS, v.IBV_QPS_RTS]);
    postReceives(b, 1);
    post(a, pattern(90));
    expect(statuses(a.sent).map(([, status]) => status)).toEqual([v.IBV_WC_SUCCESS]);
    expect(statuses(b.received)).toEqual([[100, v.IBV_WC_SUCCESS]]);
    expect(inSlot(b, 0, 90)).toEqual(pattern(90));
  });

  test("report what ibv_modify_qp has set, byte by byte", () => {
    const [a, b] = ends;
    const change = { rq_psn: 0x111213, sq_psn: 0x212223, qp_access_flags: v.IBV_ACCESS_REMOTE_WRITE };
    const attr = attributesOf(a, b, change);
    const grh = { ...attr.ah_attr!.grh, flow_label: 0xabcde, traffic_class: 0x5a, hop_limit: 33 };
    join(a, b, { ...change, ah_attr: { ...attr.ah_attr!, grh } });
    const output = done(queryQp, a.qp, dv.queryQpCommand(a.qp.qp_num));
    const { gids, mac } = b.device.hardware.ports[0]!;
    const expected = bytesAt(512, {
      24: [v.IBV_QPS_RTS << 4, 0, 3 << 3],
      32: [(v.IBV_MTU_1024 << 5) | 31, 4 << 3, 4 << 3],
      45: number(b.qp.qp_num),
      // The address path begins at byte 48.
      56: [14 << 3, 0, 0, 33, 0x05, 0xaa, 0xbc, 0xde],
      64: gids[0]!,
      85: [1, ...mac],
      137: [7],
      138: [7 << 5],
      145: number(0x212223),
      149: number(a.sent.cqn),
      170: [1 << 6],
      172: [12, ...number(0x111213)],
      181: number(a.received.cqn),
    });
    expect(output).toEqual(expected);
    expect(dv.qpOutput(output)).toMatchObject({
      state: v.IBV_QPS_RTS,
      st: 0,
      next_send_psn: 0x212223,
      rwe: 1,
      rre: 0,
      primary_address_path: { flow_label: 0xabcde, tclass: 0x5a, rmac: mac },
    });
  });

  test("have the bytes of the PRM in commands", () => {
    const [a] = ends;
    const command = bytesAt(272, {
      0: [0x05, 0x02],
      9: number(a.qp.qp_num),
      85: [1],
      170: [0b1010_0000],
    });
    const { primary_address_path, ...none } = { primary_address_path: { vhca_port_num: 1 } };
    const fields = { ...none, rre: 1, rae: 1, primary_address_path };
    expect(dv.modifyQpCommand(dv.MLX5_CMD_OP_RST2INIT_QP, a.qp.qp_num, fields)).toEqual(command);
    done(modifyQp, a.qp, command);
    const access = v.IBV_ACCESS_LOCAL_WRITE | v.IBV_ACCESS_REMOTE_READ | v.IBV_ACCESS_REMOTE_ATOMIC;
    expect(a.qp.attributes).toMatchObject({ qp_state: v.IBV_QPS_INIT, port_num: 1, qp_access_flags: access });
    // INIT2INIT: what the optional mask has, and nothing else.
    const next = { opt_param_mask: 1 << 2, rwe: 1, next_rcv_psn: 5 };
    done(modifyQp, a.qp, dv.modifyQpCommand(dv.MLX5_CMD_OP_INIT2INIT_QP, a.qp.qp_num, next));
    expect(a.qp.attributes.qp_access_flags).toBe(v.IBV_ACCESS_LOCAL_WRITE | v.IBV_ACCESS_REMOTE_WRITE);
    expect(a.qp.attributes.rq_psn).toBe(0);
  });

  test("change in RTS, fail and are reset", () => {
    const [a, b] = ends;
    raise(a, b);
    const rts = { opt_param_mask: 1 << 6, min_rnr_nak: 3 };
    done(modifyQp, a.qp, dv.modifyQpCommand(dv.MLX5_CMD_OP_RTS2RTS_QP, a.qp.qp_num, rts));
    expect(a.qp.attributes.min_rnr_timer).toBe(3);
    done(modifyQp, a.qp, dv.modifyQpCommand(dv.MLX5_CMD_OP_2ERR_QP, a.qp.qp_num));
    expect(a.qp.state).toBe(v.IBV_QPS_ERR);
    done(modifyQp, a.qp, dv.modifyQpCommand(dv.MLX5_CMD_OP_2RST_QP, a.qp.qp_num));
    expect(a.qp.state).toBe(v.IBV_QPS_RESET);
  });

  test("of datagrams have a key", async () => {
    const end = openEnd(await createDevice(), { type: v.IBV_QPT_UD });
    climb(end.qp);
    const { st, q_key, log_msg_max } = dv.qpOutput(done(queryQp, end.qp, dv.queryQpCommand(end.qp.qp_num)));
    expect([st, q_key, log_msg_max]).toEqual([3, 0x8001_0000, 12]);
    const other = openEnd(end.device, { type: v.IBV_QPT_UD });
    const fields = { q_key: 0x1234, next_send_psn: 9, primary_address_path: { vhca_port_num: 1 } };
    for (const opcode of CLIMB) done(modifyQp, other.qp, dv.modifyQpCommand(opcode, other.qp.qp_num, fields));
    expect(other.qp.attributes).toMatchObject({ qp_state: v.IBV_QPS_RTS, qkey: 0x1234, sq_psn: 9 });
  });

  test("refuse what they cannot do, and stay as they are", () => {
    const [a, b] = ends;
    const { qp_num } = a.qp;
    const before = a.qp.attributes;
    const modify = (opcode: number, fields: dv.QpFields = {}, id = qp_num): unknown =>
      told(modifyQp, a.qp, dv.modifyQpCommand(opcode, id, fields));
    expect(modify(dv.MLX5_CMD_OP_RST2INIT_QP, {}, qp_num + 1)).toEqual(refusal("other_object"));
    expect(modify(dv.MLX5_CMD_OP_RST2INIT_QP)).toEqual(refusal("refused"));
    expect(modify(dv.MLX5_CMD_OP_INIT2RTR_QP, fieldsOf(b))).toEqual(refusal("refused"));
    expect(modify(dv.MLX5_CMD_OP_RST2INIT_QP, { opt_param_mask: 1 << 15 })).toEqual(refusal("unsupported"));
    expect(modify(0x506)).toEqual(refusal("unknown_opcode"));
    expect(told(queryQp, a.qp, dv.queryCqCommand(a.sent.cqn))).toEqual(refusal("wrong_call"));
    expect(told(modifyQp, a.qp, dv.queryQpCommand(qp_num))).toEqual(refusal("wrong_call"));
    expect(told(queryQp, a.qp, dv.queryQpCommand(qp_num), 255)).toEqual(refusal("short_output"));
    expect(told(queryQp, a.qp, dv.queryQpCommand(qp_num).subarray(0, 15))).toEqual(refusal("short_input"));
    const command = dv.modifyQpCommand(dv.MLX5_CMD_OP_RST2INIT_QP, qp_num).subarray(0, 271);
    expect(told(modifyQp, a.qp, command)).toEqual(refusal("short_input"));
    expect(a.qp.attributes).toEqual(before);
    expect(() => queryQp(a.sent as never, command, undefined, command, undefined)).toThrow(TypeError);
    v.ibv_destroy_qp(a.qp);
    expect(refused(() => queryQp(a.qp, command, undefined, new Uint8Array(256), undefined))?.code).toBe("EINVAL");
  });
});

describe("receive queues", () => {
  let device: Device;
  let context: Context;
  let pd: ProtectionDomain;
  let cq: CompletionQueue;
  beforeEach(async () => {
    device = await createDevice();
    context = v.ibv_open_device(device);
    pd = v.ibv_alloc_pd(context);
    cq = v.ibv_create_cq(context, 200);
  });
  const workQueue = (max_wr = 6): WorkQueue =>
    v.ibv_create_wq(context, { wq_type: v.IBV_WQT_RQ, max_wr, max_sge: 1, pd, cq });
  const ready = (wq: WorkQueue): WorkQueue => {
    done(dv.mlx5dv_devx_wq_modify, wq, dv.modifyRqCommand(wq.wq_num, 0, { state: dv.MLX5_RQC_STATE_RDY }));
    const memory = new Uint8Array(4096);
    const { lkey } = v.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
    const room = { addr: memory, length: 2048, lkey };
    for (let n = 0; n < 100; n++) v.ibv_post_wq_recv(wq, { wr_id: 1n, sg_list: [room] });
    return wq;
  };

  test("of work queues", () => {
    const wq = workQueue();
    const { mlx5dv_devx_wq_query: query, mlx5dv_devx_wq_modify: modify } = dv;
    const state = (): unknown => dv.rqOutput(done(query, wq, dv.queryRqCommand(wq.wq_num)));
    const output = done(query, wq, dv.queryRqCommand(wq.wq_num));
    expect(output).toEqual(bytesAt(512, { 32: [0x10, 0x04], 41: number(cq.cqn), 80: [0x10], 115: [3] }));
    const command = bytesAt(272, { 0: [0x09, 0x09], 9: number(wq.wq_num), 33: [0x10] });
    expect(dv.modifyRqCommand(wq.wq_num, 0, { state: 1 })).toEqual(command);
    done(modify, wq, command);
    expect([wq.state, state()]).toEqual([v.IBV_WQS_RDY, expect.objectContaining({ state: 1 })]);
    const to = (from: number, state: number): unknown =>
      told(modify, wq, dv.modifyRqCommand(wq.wq_num, from, { state }));
    expect(to(0, 1)).toEqual(refusal("refused"));
    expect(to(1, 3)).toMatchObject({ status: 0 });
    expect([wq.state, state()]).toEqual([v.IBV_WQS_ERR, expect.objectContaining({ state: 3 })]);
    expect(to(3, 1)).toEqual(refusal("refused"));
    expect(to(3, 2)).toEqual(refusal("bad_value"));
    expect(to(2, 0)).toEqual(refusal("bad_value"));
    const vlan = dv.modifyRqCommand(wq.wq_num, 3, { state: 0 });
    vlan[23] = 2;
    expect(told(modify, wq, vlan)).toEqual(refusal("unsupported"));
    expect(wq.state).toBe(v.IBV_WQS_ERR);
  });

  test("of raw packet queue pairs follow their state", () => {
    const raw = v.ibv_create_qp(pd, {
      qp_type: v.IBV_QPT_RAW_PACKET,
      send_cq: cq,
      recv_cq: cq,
      cap: { max_recv_wr: 8 },
    });
    const state = (): number => dv.rqOutput(done(queryQp, raw, dv.queryRqCommand(raw.qp_num))).state;
    const seen = [state()];
    climb(raw, 1, 2);
    seen.push(state());
    v.ibv_modify_qp(raw, { qp_state: v.IBV_QPS_ERR }, v.IBV_QP_STATE);
    expect([...seen, state()]).toEqual([0, 1, 3]);
    expect(told(queryQp, raw, dv.queryQpCommand(raw.qp_num))).toEqual(refusal("wrong_call"));
    expect(told(modifyQp, raw, dv.modifyRqCommand(raw.qp_num, 3, { state: 0 }))).toEqual(refusal("unsupported"));
  });

  test("shared receive queues", () => {
    const { mlx5dv_devx_srq_query: query, mlx5dv_devx_srq_modify: modify } = dv;
    const [srq, other] = [1, 2].map(() => v.ibv_create_srq(pd, { attr: { max_wr: 100, max_sge: 1 } })) as [Srq, Srq];
    const output = done(query, srq, dv.queryRmpCommand(srq.srqn));
    expect(output).toEqual(bytesAt(512, { 33: [0x10], 36: [0x80], 80: [0x10], 115: [7] }));
    const command = bytesAt(272, { 0: [0x09, 0x0d], 8: [0x10], 9: number(srq.srqn), 23: [1], 33: [0x10], 87: [9] });
    expect(dv.modifyRmpCommand(srq.srqn, 9)).toEqual(command);
    const receive = { wr_id: 1, sg_list: [] };
    for (let n = 0; n < 20; n++) v.ibv_post_srq_recv(srq, receive);
    done(modify, srq, command);
    expect(v.ibv_query_srq(srq)).toMatchObject({ max_wr: 100, srq_limit: 9 });
    expect(dv.rmpOutput(done(query, srq, dv.queryRmpCommand(srq.srqn)))).toMatchObject({ lwm: 9, log_wq_sz: 7 });
    expect(told(modify, srq, dv.modifyRmpCommand(srq.srqn, 101))).toEqual(refusal("refused"));
    expect(told(query, srq, dv.queryRmpCommand(other.srqn))).toEqual(refusal("other_object"));
    expect(told(query, srq, dv.queryRqCommand(srq.srqn))).toEqual(refusal("wrong_call"));
    for (const [at, cause] of [
      [8, "bad_value"],
      [33, "bad_value"],
      [23, "unsupported"],
    ] as const) {
      const wrong = dv.modifyRmpCommand(srq.srqn, 8);
      wrong[at] = 0x30;
      expect([at, told(modify, srq, wrong)]).toEqual([at, refusal(cause)]);
    }
    const nothing = dv.modifyRmpCommand(srq.srqn, 8);
    nothing[23] = 0;
    done(modify, srq, nothing);
    expect(v.ibv_query_srq(srq).srq_limit).toBe(9);
  });

  test("completion queues", () => {
    const { mlx5dv_devx_cq_query: query, mlx5dv_devx_cq_modify: modify } = dv;
    const output = done(query, cq, dv.queryCqCommand(cq.cqn));
    expect(output).toEqual(bytesAt(512, { 28: [8] }));
    expect(dv.cqOutput(output)).toMatchObject({ status: 0, log_cq_size: 8 });
    const other = v.ibv_create_cq(context, 1);
    expect(told(query, cq, dv.queryCqCommand(other.cqn))).toEqual(refusal("other_object"));
    done(modify, cq, dv.modifyCqCommand(cq.cqn, 0));
    expect(told(modify, cq, dv.modifyCqCommand(cq.cqn, 2, { cq_max_count: 4 }))).toEqual(refusal("unsupported"));
    const resize = dv.modifyCqCommand(cq.cqn, 1, { log_cq_size: 9 });
    resize[7] = 1;
    expect(told(modify, cq, resize)).toEqual(refusal("unsupported"));
  });

  describe.each(["an indirection table", "an RQT of a device command"])("%s", (kind) => {
    const frames = Array.from({ length: 32 }, (_, n) => ipv4Frame({ dst: [10, 0, 1, n] }));
    /** A table of two queues, RSS over it, and the calls for it. */
    const open = (queues: readonly WorkQueue[]) => {
      if (kind === "an indirection table") {
        const table = v.ibv_create_rwq_ind_table(context, { log_ind_tbl_size: 1, ind_tbl: queues });
        const rss = v.ibv_create_qp_ex(context, {
          qp_type: v.IBV_QPT_RAW_PACKET,
          comp_mask: v.IBV_QP_INIT_ATTR_PD | v.IBV_QP_INIT_ATTR_IND_TABLE | v.IBV_QP_INIT_ATTR_RX_HASH,
          pd,
          rwq_ind_tbl: table,
          rx_hash_conf: {
            rx_hash_function: v.IBV_RX_HASH_FUNC_TOEPLITZ,
            rx_hash_key: Uint8Array.from({ length: 40 }, (_, i) => i * 7 + 1),
            rx_hash_fields_mask: v.IBV_RX_HASH_DST_IPV4,
          },
        });
        v.ibv_create_flow(rss, { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
        return {
          id: table.ind_tbl_num,
          query: (input: Uint8Array, outlen?: number) => done(dv.mlx5dv_devx_ind_tbl_query, table, input, outlen),
          modify: (input: Uint8Array) => told(dv.mlx5dv_devx_ind_tbl_modify, table, input),
        };
      }
      const rqt = created(context, dv.createRqtCommand(queues.map(({ wq_num }) => wq_num)));
      const hash = { rx_hash_fn: dv.MLX5_RX_HASH_FN_TOEPLITZ, outer_fields: dv.MLX5_RX_HASH_FIELD_SELECT_DST_IP };
      const key = Uint8Array.from({ length: 40 }, (_, i) => i * 7 + 1);
      const tir = created(
        context,
        dv.createTirCommand({ disp_type: 1, indirect_table: rqt.id, ...hash, rx_hash_toeplitz_key: key }),
      );
      const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
      const matcher = dv.mlx5dv_dr_matcher_create(dv.mlx5dv_dr_table_create(domain, 0), 0, 0, null);
      dv.mlx5dv_dr_rule_create(matcher, null, 1, [dv.mlx5dv_dr_action_create_dest_devx_tir(tir)]);
      return {
        id: rqt.id,
        query: (input: Uint8Array, outlen?: number) => done(dv.mlx5dv_devx_obj_query, rqt, input, outlen),
        modify: (input: Uint8Array) => told(dv.mlx5dv_devx_obj_modify, rqt, input),
      };
    };
    const reached = (): string[] =>
      [...new Set(frames.map((frame) => device.receive(1, frame).to[0]?.name ?? "none"))].sort();

    test("leads to other queues after MODIFY_RQT", () => {
      const [a, b, c] = [1, 2, 3].map(() => ready(workQueue(100))) as [WorkQueue, WorkQueue, WorkQueue];
      const { id, query, modify } = open([a, b]);
      expect(dv.rqtOutput(query(dv.queryRqtCommand(id)))).toEqual([a.wq_num, b.wq_num]);
      expect(reached()).toEqual([a.label, b.label]);
      expect(modify(dv.modifyRqtCommand(id, [c.wq_num, c.wq_num]))).toMatchObject({ status: 0 });
      expect(dv.rqtOutput(query(dv.queryRqtCommand(id)))).toEqual([c.wq_num, c.wq_num]);
      expect(reached()).toEqual([c.label]);
      expect([a.users, b.users, c.users]).toEqual([0, 0, 2]);
      expect(v.ibv_destroy_wq(a)).toBe(0);
      expect(refused(() => v.ibv_destroy_wq(c))?.code).toBe("EBUSY");
    });

    test("refuses other sizes and unknown queues, and stays", () => {
      const [a, b] = [workQueue(), workQueue()];
      const { id, query, modify } = open([a, b]);
      const numbers = [a.wq_num, b.wq_num];
      expect(query(dv.queryRqtCommand(id), 280)).toEqual(
        bytesAt(280, { 54: [0, 2], 58: [0, 2], 273: number(a.wq_num), 277: number(b.wq_num) }),
      );
      expect(modify(dv.modifyRqtCommand(id, [...numbers, ...numbers]))).toEqual(refusal("unsupported"));
      expect(modify(dv.modifyRqtCommand(id, [a.wq_num, 9999]))).toEqual(refusal("refused"));
      expect(modify(dv.modifyRqtCommand(id + 1, numbers))).toMatchObject({ code: "EREMOTEIO", status: 5 });
      expect(modify(dv.modifyRqtCommand(id, numbers).subarray(0, 276))).toEqual(refusal("short_input"));
      const kinds = dv.modifyRqtCommand(id, numbers);
      kinds[52] = 1;
      expect(modify(kinds)).toEqual(refusal("unsupported"));
      const bits = dv.modifyRqtCommand(id, numbers);
      bits[23] = 3;
      expect(modify(bits)).toEqual(refusal("unsupported"));
      bits[23] = 0;
      expect(modify(bits)).toMatchObject({ status: 0 });
      expect(dv.rqtOutput(query(dv.queryRqtCommand(id)))).toEqual(numbers);
      expect([a.users, b.users]).toEqual([1, 1]);
    });
  });
});

test("random commands answer, or are refused and change nothing", { timeout: 60_000 }, async () => {
  const seed = seedFor("queueCommands");
  const random = new Random(seed);
  const device = await createDevice();
  const end = openEnd(device, { type: v.IBV_QPT_UD });
  const { context, pd, sent: cq, qp } = end;
  const queues = [1, 2].map(() => v.ibv_create_wq(context, { wq_type: v.IBV_WQT_RQ, max_wr: 4, max_sge: 1, pd, cq }));
  const [wq] = queues as [WorkQueue, WorkQueue];
  const table = v.ibv_create_rwq_ind_table(context, { log_ind_tbl_size: 1, ind_tbl: queues });
  const numbers = queues.map(({ wq_num }) => wq_num);
  const srq = v.ibv_create_srq(pd, { attr: { max_wr: 8, max_sge: 1 } });
  const COMMANDS = [
    dv.queryQpCommand(qp.qp_num),
    ...[dv.MLX5_CMD_OP_RST2INIT_QP, dv.MLX5_CMD_OP_INIT2RTR_QP, dv.MLX5_CMD_OP_RTR2RTS_QP, dv.MLX5_CMD_OP_2RST_QP].map(
      (opcode) => dv.modifyQpCommand(opcode, qp.qp_num, { primary_address_path: { vhca_port_num: 1 } }),
    ),
    dv.queryCqCommand(cq.cqn),
    dv.modifyCqCommand(cq.cqn, 0),
    dv.queryRqCommand(wq.wq_num),
    dv.modifyRqCommand(wq.wq_num, 0, { state: 1 }),
    dv.modifyRqCommand(wq.wq_num, 1, { state: 3 }),
    dv.modifyRqCommand(wq.wq_num, 3, { state: 0 }),
    dv.queryRmpCommand(srq.srqn),
    dv.modifyRmpCommand(srq.srqn, 0),
    dv.queryRqtCommand(table.ind_tbl_num),
    dv.modifyRqtCommand(table.ind_tbl_num, numbers),
  ];
  const CALLS: readonly ((input: Uint8Array, output: Uint8Array) => 0)[] = [
    (input, output) => queryQp(qp, input, undefined, output, undefined),
    (input, output) => modifyQp(qp, input, undefined, output, undefined),
    (input, output) => dv.mlx5dv_devx_cq_query(cq, input, undefined, output, undefined),
    (input, output) => dv.mlx5dv_devx_cq_modify(cq, input, undefined, output, undefined),
    (input, output) => dv.mlx5dv_devx_wq_query(wq, input, undefined, output, undefined),
    (input, output) => dv.mlx5dv_devx_wq_modify(wq, input, undefined, output, undefined),
    (input, output) => dv.mlx5dv_devx_srq_query(srq, input, undefined, output, undefined),
    (input, output) => dv.mlx5dv_devx_srq_modify(srq, input, undefined, output, undefined),
    (input, output) => dv.mlx5dv_devx_ind_tbl_query(table, input, undefined, output, undefined),
    (input, output) => dv.mlx5dv_devx_ind_tbl_modify(table, input, undefined, output, undefined),
  ];
  const state = (): string =>
    JSON.stringify([qp.attributes, wq.state, cq.cqe, table.list.numbers, srq.query(), device.memoryUsed]);
  const counts = { answered: 0, refused: 0 };
  for (let round = 0; round < rounds(20_000); round++) {
    const input = random.pick(COMMANDS).slice();
    for (let n = random.below(3); n > 0; n--) input[random.below(input.length)] = random.below(256);
    const cut = random.chance(0.1) ? input.subarray(0, random.below(input.length + 1)) : input;
    const output = new Uint8Array(random.chance(0.1) ? random.below(300) : 512).fill(0xee);
    const before = state();
    const error = refused(() => random.pick(CALLS)(cut, output));
    if (error === undefined) {
      expect([seed, round, output[0]]).toEqual([seed, round, 0]);
      counts.answered++;
      continue;
    }
    expect(["EREMOTEIO", "EINVAL"]).toContain(error.code);
    if (error.code === "EREMOTEIO") expect(output[0]).not.toBe(0);
    expect([seed, round, state()]).toEqual([seed, round, before]);
    counts.refused++;
  }
  checkReached(() => expect(Math.min(counts.answered, counts.refused)).toBeGreaterThan(500));
});
