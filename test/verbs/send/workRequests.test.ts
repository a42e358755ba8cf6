/** ibv_wr_post(3): requests that are built call by call, posted together or forgotten. */
import { beforeEach, describe, expect, test } from "vitest";
import type { ExtendedQueuePair } from "../../../src/model/queuePair/extendedQueuePair.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";
import { climb, openStation, type Station } from "../support/queuePairs.js";

const MASK = v.IBV_QP_INIT_ATTR_PD | v.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
const CAP = { max_send_wr: 4, max_send_sge: 2, max_recv_wr: 4, max_recv_sge: 1, max_inline_data: 128 };
const FRAME = ipv4Frame();

let station: Station;
let sent: Uint8Array[];
let qp: QueuePair;
let qpx: ExtendedQueuePair;

function make(type: number, flags: number | bigint, more: Partial<v.QueuePairAttributes> = {}): QueuePair {
  const { context, pd, cq } = station;
  const attributes = { send_cq: cq, recv_cq: cq, cap: CAP, qp_type: type, ...more };
  return v.ibv_create_qp_ex(context, { ...attributes, pd, comp_mask: MASK, send_ops_flags: flags });
}

beforeEach(async () => {
  station = await openStation();
  sent = [];
  station.device.connect(1, (frame) => sent.push(frame));
  qp = make(v.IBV_QPT_RAW_PACKET, v.IBV_QP_EX_WITH_SEND);
  climb(qp);
  qpx = v.ibv_qp_to_qp_ex(qp);
});

/** Adds a request for the frame at offset `at` of the memory. */
function send(wr_id: number, frame = FRAME, at = 0, flags = v.IBV_SEND_SIGNALED): void {
  station.memory.set(frame, at);
  qpx.wr_id = wr_id;
  qpx.wr_flags = flags;
  v.ibv_wr_send(qpx);
  v.ibv_wr_set_sge(qpx, station.mr.lkey, station.memory.subarray(at, at + frame.length), frame.length);
}

const completed = (): unknown[] => v.ibv_poll_cq(station.cq, 99).map(({ wr_id, status }) => [wr_id, status]);

describe("a posting", () => {
  test("sends nothing before ibv_wr_complete, and then all in order", () => {
    const other = ipv4Frame({ length: 100 });
    v.ibv_wr_start(qpx);
    send(1);
    send(2, other, 2048, 0);
    expect([sent, completed()]).toEqual([[], []]);
    expect(v.ibv_wr_complete(qpx)).toBe(0);
    expect(sent).toEqual([FRAME, other]);
    expect(completed()).toEqual([[1, v.IBV_WC_SUCCESS]]);
    v.ibv_wr_start(qpx);
    expect(v.ibv_wr_complete(qpx)).toBe(0);
    expect(sent).toHaveLength(2);
  });

  test("is forgotten by ibv_wr_abort", () => {
    v.ibv_wr_start(qpx);
    send(1);
    v.ibv_wr_abort(qpx);
    expect(refused(() => v.ibv_wr_complete(qpx))).toMatchObject({ code: "EINVAL", reason: "bad_posting" });
    v.ibv_wr_start(qpx);
    send(2);
    v.ibv_wr_complete(qpx);
    expect([sent.length, completed()]).toEqual([1, [[2, v.IBV_WC_SUCCESS]]]);
  });

  test("takes inline data when it is set, from a buffer or a list", () => {
    const bytes = FRAME.slice();
    v.ibv_wr_start(qpx);
    v.ibv_wr_send(qpx);
    v.ibv_wr_set_inline_data(qpx, bytes);
    bytes.fill(0xee);
    v.ibv_wr_send(qpx);
    const list = [{ addr: FRAME, length: 20 }, { addr: FRAME.subarray(20) }, { addr: bytes }];
    v.ibv_wr_set_inline_data_list(qpx, 2, list);
    v.ibv_wr_complete(qpx);
    expect(sent).toEqual([FRAME, FRAME]);
  });

  test("gathers the entries of a list as they are at ibv_wr_complete", () => {
    const { memory, mr } = station;
    const list = [
      { addr: memory.subarray(0, 30), lkey: mr.lkey },
      { addr: memory.subarray(100), length: 30, lkey: mr.lkey },
    ];
    v.ibv_wr_start(qpx);
    v.ibv_wr_send(qpx);
    v.ibv_wr_set_sge_list(qpx, 2, list);
    list.pop();
    memory.set(FRAME.subarray(0, 30));
    memory.set(FRAME.subarray(30, 60), 100);
    v.ibv_wr_complete(qpx);
    expect(sent).toEqual([FRAME.subarray(0, 60)]);
  });

  test("mixes with ibv_post_send outside of it", () => {
    const sg_list = [{ addr: FRAME, lkey: 0 }];
    v.ibv_post_send(qp, { wr_id: 1, sg_list, opcode: v.IBV_WR_SEND, send_flags: v.IBV_SEND_INLINE });
    v.ibv_wr_start(qpx);
    send(2);
    v.ibv_wr_complete(qpx);
    expect(sent).toEqual([FRAME, FRAME]);
  });

  test("of a queue pair in ERR is flushed", () => {
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_ERR }, v.IBV_QP_STATE);
    v.ibv_wr_start(qpx);
    send(1, FRAME, 0, 0);
    v.ibv_wr_complete(qpx);
    expect([sent, completed()]).toEqual([[], [[1, v.IBV_WC_WR_FLUSH_ERR]]]);
  });

  test("ends with the queue pair", () => {
    station.device.disconnect(1);
    station.device.connect(1, (frame) => {
      sent.push(frame);
      v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    });
    v.ibv_wr_start(qpx);
    send(1);
    send(2);
    v.ibv_wr_complete(qpx);
    expect(sent).toHaveLength(1);
    v.ibv_wr_start(qpx);
    v.ibv_destroy_qp(qp);
    expect(refused(() => v.ibv_wr_send(qpx))?.reason).toBe("object_destroyed");
  });
});

describe("a refusal", () => {
  /** The refusal of a posting: its first good request is not sent either. */
  function posting(build: () => void): unknown {
    v.ibv_wr_start(qpx);
    send(1);
    build();
    const error = refused(() => v.ibv_wr_complete(qpx));
    expect([sent, completed()]).toEqual([[], []]);
    // The next posting is not affected.
    v.ibv_wr_start(qpx);
    send(2);
    v.ibv_wr_complete(qpx);
    expect(sent).toHaveLength(1);
    return [error?.code, error?.call, error?.path];
  }

  test("of too many entries waits for ibv_wr_complete", () => {
    const entry = { addr: station.memory.subarray(0, 20), lkey: station.mr.lkey };
    const error = posting(() => {
      v.ibv_wr_send(qpx);
      v.ibv_wr_set_sge_list(qpx, 3, [entry, entry, entry]);
      send(3);
    });
    expect(error).toEqual(["ENOMEM", "ibv_wr_set_sge_list", "num_sge"]);
  });

  test("of too much inline data, and of flags; the first one counts", () => {
    const error = posting(() => {
      qpx.wr_flags = v.IBV_SEND_INLINE;
      v.ibv_wr_send(qpx);
      v.ibv_wr_set_inline_data(qpx, new Uint8Array(129));
    });
    expect(error).toEqual(["EINVAL", "ibv_wr_send", "qp.wr_flags"]);
    const long = posting.bind(null, () => {
      qpx.wr_flags = 0;
      v.ibv_wr_send(qpx);
      v.ibv_wr_set_inline_data_list(qpx, 2, [{ addr: new Uint8Array(100) }, { addr: new Uint8Array(29) }]);
    });
    sent = [];
    completed();
    expect(long()).toEqual(["ENOMEM", "ibv_wr_set_inline_data_list", "length"]);
  });

  test("of a key, a flag or a length names the request", () => {
    const { memory } = station;
    const key = posting(() => {
      v.ibv_wr_send(qpx);
      v.ibv_wr_set_sge(qpx, 0x999, memory.subarray(0, 60));
    });
    expect(key).toEqual(["EINVAL", "ibv_wr_complete", "wr[1].sg_list[0].lkey"]);
    sent = [];
    completed();
    expect(posting(() => send(9, FRAME, 0, v.IBV_SEND_FENCE))).toEqual([
      "EINVAL",
      "ibv_wr_complete",
      "wr[1].send_flags",
    ]);
    sent = [];
    completed();
    expect(posting(() => send(9, FRAME.subarray(0, 13)))).toEqual(["EINVAL", "ibv_wr_complete", "wr[1].sg_list"]);
  });

  test("of a request without data", () => {
    expect(posting(() => v.ibv_wr_send(qpx))).toEqual(["EINVAL", "ibv_wr_complete", "wr[1]"]);
  });

  test("of a queue that has no room for all", () => {
    const full = posting(() => [1, 2, 3, 4].forEach((i) => send(i, FRAME, 0, 0)));
    expect(full).toEqual(["ENOMEM", "ibv_wr_complete", "qp"]);
  });

  test("of a completion queue that has no room for all", () => {
    const small = v.ibv_create_cq(station.context, 2);
    qp = make(v.IBV_QPT_RAW_PACKET, v.IBV_QP_EX_WITH_SEND, { send_cq: small });
    climb(qp);
    qpx = v.ibv_qp_to_qp_ex(qp);
    v.ibv_wr_start(qpx);
    [1, 2, 3].forEach((i) => send(i));
    expect(refused(() => v.ibv_wr_complete(qpx))).toMatchObject({ code: "ENOMEM", reason: "completions_full" });
    v.ibv_wr_start(qpx);
    [1, 2].forEach((i) => send(i));
    send(3, FRAME, 0, 0);
    v.ibv_wr_complete(qpx);
    expect([sent.length, v.ibv_poll_cq(small, 9).length]).toEqual([3, 2]);
  });

  test("of a state that does not send", () => {
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    v.ibv_wr_start(qpx);
    send(1);
    expect(refused(() => v.ibv_wr_complete(qpx))).toMatchObject({ code: "EINVAL", reason: "bad_state" });
  });
});

describe("a call in the wrong place is refused at once", () => {
  const misplaced = { code: "EINVAL", reason: "bad_posting" };

  test("outside of a posting, and inside of another", () => {
    const calls = [
      () => v.ibv_wr_send(qpx),
      () => v.ibv_wr_set_sge(qpx, 1, FRAME, 1),
      () => v.ibv_wr_complete(qpx),
      () => v.ibv_wr_abort(qpx),
    ];
    for (const call of calls) expect(refused(call)).toMatchObject(misplaced);
    v.ibv_wr_start(qpx);
    expect(refused(() => v.ibv_wr_start(qpx))).toMatchObject(misplaced);
  });

  test("a setter before a builder, and a second one", () => {
    v.ibv_wr_start(qpx);
    expect(refused(() => v.ibv_wr_set_inline_data(qpx, FRAME))).toMatchObject(misplaced);
    send(1);
    expect(refused(() => v.ibv_wr_set_sge_list(qpx, 0, null))).toMatchObject(misplaced);
    v.ibv_wr_complete(qpx);
    expect(sent).toEqual([FRAME]);
  });

  test("setters of other types of queue pairs", () => {
    v.ibv_wr_start(qpx);
    send(1);
    expect(refused(() => v.ibv_wr_set_ud_addr(qpx, null as never, 1, 1))?.code).toBe("EINVAL");
    expect(refused(() => v.ibv_wr_set_xrc_srqn(qpx, 1))?.code).toBe("EOPNOTSUPP");
  });

  test("operations that were not declared, or that no queue pair has", () => {
    v.ibv_wr_start(qpx);
    const builders: Record<string, () => void> = {
      ibv_wr_send_imm: () => v.ibv_wr_send_imm(qpx, 1),
      ibv_wr_send_inv: () => v.ibv_wr_send_inv(qpx, 1),
      ibv_wr_send_tso: () => v.ibv_wr_send_tso(qpx, FRAME, 54, 1400),
      ibv_wr_rdma_write: () => v.ibv_wr_rdma_write(qpx, 1, 0n),
      ibv_wr_rdma_write_imm: () => v.ibv_wr_rdma_write_imm(qpx, 1, 0n, 1),
      ibv_wr_rdma_read: () => v.ibv_wr_rdma_read(qpx, 1, 0n),
      ibv_wr_atomic_cmp_swp: () => v.ibv_wr_atomic_cmp_swp(qpx, 1, 0n, 1n, 2n),
      ibv_wr_atomic_fetch_add: () => v.ibv_wr_atomic_fetch_add(qpx, 1, 0n, 1n),
      ibv_wr_atomic_write: () => v.ibv_wr_atomic_write(qpx, 1, 0n, FRAME),
      ibv_wr_flush: () => v.ibv_wr_flush(qpx, 1, 0n, 1, 0, 0),
      ibv_wr_bind_mw: () => v.ibv_wr_bind_mw(qpx, null, 1, null),
      ibv_wr_local_inv: () => v.ibv_wr_local_inv(qpx, 1),
    };
    for (const [call, build] of Object.entries(builders)) {
      expect(refused(build)).toMatchObject({ code: "EOPNOTSUPP", call, reason: "bad_opcode" });
    }
    v.ibv_wr_complete(qpx);
  });

  test("values of the wrong type", () => {
    v.ibv_wr_start(qpx);
    v.ibv_wr_send(qpx);
    expect(() => v.ibv_wr_set_sge_list(qpx, 1, null)).toThrow("sg_list must be an array, not null");
    expect(() => v.ibv_wr_set_inline_data(qpx, "x" as never)).toThrow(TypeError);
    expect(refused(() => v.ibv_wr_set_inline_data(qpx, FRAME, 999))?.path).toBe("buf_list[0].length");
    expect(refused(() => v.ibv_wr_set_sge_list(qpx, 2, [{ addr: FRAME, lkey: 1 }]))?.path).toBe("num_sge");
    expect(() => v.ibv_wr_start(qp as never)).toThrow("qp must be an ExtendedQueuePair, not QueuePair");
    expect(() => v.ibv_qp_to_qp_ex(null as never)).toThrow(TypeError);
  });
});

describe("queue pairs", () => {
  test("have an extended form if they declare operations", () => {
    expect(v.ibv_qp_to_qp_ex(qp)).toBe(qpx);
    expect(qpx.qp_base).toBe(qp);
    expect(refused(() => v.ibv_qp_to_qp_ex(station.qp))).toMatchObject({ code: "EINVAL", reason: "not_requested" });
    expect(JSON.parse(JSON.stringify(qpx))).toEqual({ qp_base: qp.name, wr_id: "0", wr_flags: 0, requests: null });
  });

  test("declare what their type builds", () => {
    const [send, imm] = [v.IBV_QP_EX_WITH_SEND, v.IBV_QP_EX_WITH_SEND_WITH_IMM];
    for (const type of [v.IBV_QPT_UD, v.IBV_QPT_UC, v.IBV_QPT_RC]) make(type, BigInt(send | imm));
    const bad = [
      [v.IBV_QPT_RAW_PACKET, imm],
      [v.IBV_QPT_RAW_PACKET, v.IBV_QP_EX_WITH_TSO],
      [v.IBV_QPT_UD, send | v.IBV_QP_EX_WITH_RDMA_WRITE],
      [v.IBV_QPT_UC, v.IBV_QP_EX_WITH_RDMA_READ],
      [v.IBV_QPT_RC, v.IBV_QP_EX_WITH_BIND_MW],
      [v.IBV_QPT_RC, 1n << 63n],
    ] as const;
    const { memoryUsed } = station.device;
    for (const [type, flags] of bad) {
      const error = refused(() => make(type, flags));
      expect(error).toMatchObject({ code: "EOPNOTSUPP", path: "qp_init_attr.send_ops_flags" });
    }
    expect(refused(() => make(v.IBV_QPT_RAW_PACKET, -1))?.code).toBe("EINVAL");
    expect(refused(() => make(v.IBV_QPT_DRIVER, send))?.path).toBe("qp_type");
    expect(() => make(v.IBV_QPT_UD, "1" as never)).toThrow(TypeError);
    expect(station.device.memoryUsed).toBe(memoryUsed);
  });

  test("of datagrams need an address for each request, and have immediate data", async () => {
    qp = make(v.IBV_QPT_UD, v.IBV_QP_EX_WITH_SEND | v.IBV_QP_EX_WITH_SEND_WITH_IMM);
    climb(qp);
    qpx = v.ibv_qp_to_qp_ex(qp);
    const grh = { dgid: "ff0e::1", sgid_index: 0 };
    const ah = v.ibv_create_ah(station.pd, { grh, is_global: 1, port_num: 1 });
    v.ibv_wr_start(qpx);
    v.ibv_wr_send_imm(qpx, 0x01020304);
    v.ibv_wr_set_inline_data(qpx, Uint8Array.of(5, 6, 7, 8));
    expect(refused(() => v.ibv_wr_complete(qpx))).toMatchObject({ reason: "missing_setter", path: "wr[0]" });
    v.ibv_wr_start(qpx);
    v.ibv_wr_send_imm(qpx, 0x01020304);
    v.ibv_wr_set_ud_addr(qpx, ah, 0x77, 5);
    v.ibv_wr_set_inline_data(qpx, Uint8Array.of(5, 6, 7, 8));
    v.ibv_wr_complete(qpx);
    const ud = { ah, remote_qpn: 0x77, remote_qkey: 5 };
    const sg_list = [{ addr: Uint8Array.of(5, 6, 7, 8), lkey: 0 }];
    const wr = { wr_id: 1, opcode: v.IBV_WR_SEND_WITH_IMM, imm_data: 0x01020304, send_flags: v.IBV_SEND_INLINE };
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    climb(qp);
    v.ibv_post_send(qp, { ...wr, sg_list, wr: { ud } });
    expect(sent).toHaveLength(2);
    expect(sent[0]).toEqual(sent[1]);
  });
});
