/** Operations on memory of the peer: RDMA WRITE and READ, and atomic operations. */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, type Device } from "../../../src/index.js";
import type { MemoryRegion } from "../../../src/model/base/context.js";
import type { SendRequest } from "../../../src/model/queuePair/sendRequest.js";
import type { QueuePairChange } from "../../../src/model/queue/states.js";
import { hexOf } from "../../../src/packet/bytes.js";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import {
  connectWatched,
  join,
  openEnd,
  openPair,
  packetOf,
  pattern,
  postReceives,
  statuses,
  type End,
  type Wire,
} from "../support/connected.js";

const { IBV_QPT_RC: RC, IBV_QPT_UC: UC } = v;
const { IBV_WR_RDMA_WRITE: WRITE, IBV_WR_RDMA_WRITE_WITH_IMM: WRITE_IMM, IBV_WR_RDMA_READ: READ } = v;
const MTU = 1024;
const OK = v.IBV_WC_SUCCESS;
const ALL =
  v.IBV_ACCESS_LOCAL_WRITE | v.IBV_ACCESS_REMOTE_WRITE | v.IBV_ACCESS_REMOTE_READ | v.IBV_ACCESS_REMOTE_ATOMIC;
const REMOTE = v.IBV_ACCESS_REMOTE_WRITE | v.IBV_ACCESS_REMOTE_READ | v.IBV_ACCESS_REMOTE_ATOMIC;
/** Not at the beginning of a page. */
const IOVA = 0x7fff_1234_5678n;

let left: Device;
let right: Device;
let wire: Wire;
let a: End;
let b: End;
/** What `a` works on, memory of `b`. */
let memory: Uint8Array;
let mr: MemoryRegion;

async function open(type = RC, change: QueuePairChange = {}, access = ALL): Promise<void> {
  [left, right] = await openPair();
  wire = connectWatched(left, right);
  [a, b] = [openEnd(left, { type }), openEnd(right, { type })];
  join(a, b, { qp_access_flags: REMOTE, sq_psn: 0xfffffe, rq_psn: 0xfffffe, ...change });
  memory = new Uint8Array(16 * MTU);
  mr = v.ibv_reg_mr_iova(b.pd, memory, undefined, IOVA, access);
}
beforeEach(() => open());

/** A request on `length` bytes at `at` of the memory of both. */
function request(opcode: number, length: number, at = 0, more: Partial<SendRequest> = {}): SendRequest {
  const sg_list = length === 0 ? [] : [{ addr: a.memory.subarray(at, at + length), lkey: a.mr.lkey }];
  const rdma = { remote_addr: IOVA + BigInt(at), rkey: mr.rkey };
  return { wr_id: 1, sg_list, opcode, send_flags: v.IBV_SEND_SIGNALED, wr: { rdma }, ...more };
}
const post = (...args: Parameters<typeof request>): 0 => v.ibv_post_send(a.qp, request(...args));

const crossed = (): [number, number][] =>
  wire.frames
    .splice(0)
    .map(packetOf)
    .map(({ opcode, psn }) => [opcode, psn]);
/** The bytes from the BTH to the ICRC, which the packets of this file do not need. */
const transport = (frame: Uint8Array): string => hexOf(frame.subarray(14 + 40 + 8, -4));
const states = (): number[] => [a.qp.state, b.qp.state];

describe.each([
  ["RC", RC],
  ["UC", UC],
])("%s WRITE", (_, type) => {
  beforeEach(() => open(type));
  const service = type === RC ? 0 : 0x20;

  test("of all lengths arrives, and needs no receive request", () => {
    for (const [i, length] of [0, 1, 3, MTU - 1, MTU, MTU + 1, 2 * MTU, 5 * MTU + 7].entries()) {
      memory.fill(0);
      a.memory.set(pattern(length, i), 100);
      expect(post(WRITE, length, 100)).toBe(0);
      expect(v.ibv_poll_cq(a.sent, 9)).toMatchObject([
        { wr_id: 1, status: OK, opcode: v.IBV_WC_RDMA_WRITE, byte_len: length },
      ]);
      expect(memory.subarray(100, 100 + length)).toEqual(pattern(length, i));
      expect(memory.subarray(0, 100).every((byte) => byte === 0)).toBe(true);
      expect(memory.subarray(100 + length).every((byte) => byte === 0)).toBe(true);
    }
    expect(v.ibv_poll_cq(b.received, 9)).toEqual([]);
  });

  test("is FIRST, MIDDLE, LAST or ONLY; the first packet names the memory", () => {
    a.memory.set(pattern(2 * MTU + 3));
    post(WRITE, 2 * MTU + 3);
    const frames = wire.frames.slice();
    const answers = type === RC ? [[0x11, 0]] : [];
    expect(crossed()).toEqual([[service + 6, 0xfffffe], [service + 7, 0xffffff], [service + 8, 0], ...answers]);
    const reth = `00007fff123456780000${mr.rkey.toString(16).padStart(4, "0")}00000803`;
    const bth = (opcode: number, flags: string, ack: string, psn: string): string =>
      `${(service + opcode).toString(16).padStart(2, "0")}${flags}ffff00${b.qp.qp_num.toString(16).padStart(6, "0")}${ack}${psn}`;
    const part = (i: number, length = MTU): string => hexOf(pattern(2 * MTU + 3).subarray(i * MTU, i * MTU + length));
    expect(frames.slice(0, 3).map(transport)).toEqual([
      bth(6, "40", "00", "fffffe") + reth + part(0),
      bth(7, "40", "00", "ffffff") + part(1),
      bth(8, "50", type === RC ? "80" : "00", "000000") + part(2, 3) + "00",
    ]);
    post(WRITE, 5);
    expect(crossed()[0]).toEqual([service + 0xa, 1]);
  });

  test("with immediate data completes a receive request, whose memory stays as it is", () => {
    postReceives(b, 2, 8);
    for (const [i, length] of [5, 2 * MTU + 1].entries()) {
      a.memory.set(pattern(length, i));
      post(WRITE_IMM, length, 0, { imm_data: 0xcafe_0000 + i });
      expect(v.ibv_poll_cq(b.received, 9)).toMatchObject([
        {
          wr_id: 100 + i,
          status: OK,
          opcode: v.IBV_WC_RECV_RDMA_WITH_IMM,
          byte_len: length,
          imm_data: 0xcafe_0000 + i,
          wc_flags: v.IBV_WC_WITH_IMM,
          src_qp: a.qp.qp_num,
        },
      ]);
      expect(memory.subarray(0, length)).toEqual(pattern(length, i));
    }
    expect(
      crossed()
        .map(([opcode]) => opcode - service)
        .filter((opcode) => opcode !== 0x11),
    ).toEqual([0xb, 6, 7, 9]);
    expect(b.memory.every((byte) => byte === 0)).toBe(true);
    expect(statuses(a.sent)).toEqual([
      [1, OK],
      [1, OK],
    ]);
  });
});

describe("RC WRITE with immediate data", () => {
  test("waits for a receive request at its last packet", () => {
    let tries = 0;
    wire.onFrame = (frame) => {
      if (packetOf(frame).opcode === 9 && ++tries === 3) postReceives(b, 1, 0);
      return frame;
    };
    a.memory.set(pattern(2 * MTU));
    post(WRITE_IMM, 2 * MTU, 0, { imm_data: 7 });
    expect(statuses(a.sent)).toEqual([[1, OK]]);
    expect(v.ibv_poll_cq(b.received, 9)).toMatchObject([{ wr_id: 100, byte_len: 2 * MTU, imm_data: 7 }]);
    // FIRST arrives once; LAST is refused twice, with min_rnr_timer.
    expect(crossed().map(([opcode]) => opcode)).toEqual([6, 9, 0x11, 9, 0x11, 9, 0x11]);
    expect(b.qp.hw_counters).toMatchObject({ out_of_buffer: 2 });
    expect(memory.subarray(0, 2 * MTU)).toEqual(pattern(2 * MTU));
  });
});

describe("READ", () => {
  test("of all lengths brings the memory of the peer", () => {
    memory.set(pattern(memory.length, 3));
    for (const length of [0, 1, 3, MTU - 1, MTU, MTU + 1, 2 * MTU, 5 * MTU + 7]) {
      a.memory.fill(0);
      post(READ, length, 50);
      expect(v.ibv_poll_cq(a.sent, 9)).toMatchObject([
        { wr_id: 1, status: OK, opcode: v.IBV_WC_RDMA_READ, byte_len: length },
      ]);
      expect(a.memory.subarray(50, 50 + length)).toEqual(memory.subarray(50, 50 + length));
      expect(a.memory[50 + length]).toBe(0);
    }
    expect(v.ibv_poll_cq(b.received, 9)).toEqual([]);
  });

  test("is one request, whose answers are numbered from its own number on", () => {
    memory.set(pattern(3 * MTU));
    post(READ, 2 * MTU + 3);
    const frames = wire.frames.slice();
    expect(crossed()).toEqual([
      [0xc, 0xfffffe],
      [0xd, 0xfffffe],
      [0xe, 0xffffff],
      [0xf, 0],
    ]);
    const key = mr.rkey.toString(16).padStart(8, "0");
    const [to, from] = [b, a].map(({ qp }) => qp.qp_num.toString(16).padStart(6, "0"));
    const part = (i: number, length = MTU): string => hexOf(pattern(3 * MTU).subarray(i * MTU, i * MTU + length));
    expect(frames.map(transport)).toEqual([
      `0c40ffff00${to}80fffffe00007fff12345678${key}00000803`,
      `0d40ffff00${from}00fffffe1f000001${part(0)}`,
      `0e40ffff00${from}00ffffff${part(1)}`,
      `0f50ffff00${from}000000001f000001${part(2, 3)}00`,
    ]);
    post(READ, 4);
    expect(crossed()).toEqual([
      [0xc, 1],
      [0x10, 1],
    ]);
    expect(v.ibv_query_qp(b.qp).attr.rq_psn).toBe(2);
  });

  test("is scattered over entries, which must be writable", () => {
    memory.set(pattern(10));
    const { lkey } = a.mr;
    const sg_list = [
      { addr: a.memory.subarray(7, 10), lkey },
      { addr: a.memory.subarray(100, 107), lkey },
    ];
    post(READ, 0, 0, { sg_list });
    expect(hexOf(a.memory.subarray(7, 10)) + hexOf(a.memory.subarray(100, 107))).toBe(hexOf(pattern(10)));
    const readOnly = v.ibv_reg_mr(a.pd, a.memory, undefined, 0);
    const bad = [{ addr: a.memory.subarray(0, 4), lkey: readOnly.lkey }];
    expect(refused(() => post(READ, 0, 0, { sg_list: bad }))).toMatchObject({
      code: "EINVAL",
      reason: "outside_memory_region",
      path: "wr.sg_list[0].addr",
    });
  });

  test.each([0xc, 0xd, 0xe, 0xf])("goes on after the loss of a packet with opcode %i", (lost) => {
    let left = 1;
    wire.onFrame = (frame) => (packetOf(frame).opcode === lost && left-- > 0 ? null : frame);
    memory.set(pattern(4 * MTU));
    post(READ, 3 * MTU + 1);
    expect(statuses(a.sent)).toEqual([[1, OK]]);
    expect(a.memory.subarray(0, 3 * MTU + 1)).toEqual(pattern(4 * MTU).subarray(0, 3 * MTU + 1));
    const requests = wire.frames.filter((frame) => packetOf(frame).opcode === 0xc);
    expect(requests.length).toBe(2);
    // The second request is for what is missing.
    const had = { 0xc: 0, 0xd: 0, 0xe: 1, 0xf: 3 }[lost] ?? 0;
    expect(transport(requests[1]!).slice(24, 40)).toBe((IOVA + BigInt(had * MTU)).toString(16).padStart(16, "0"));
    expect(packetOf(requests[1]!).psn).toBe((0xfffffe + had) & 0xffffff);
    expect(v.ibv_query_qp(b.qp).attr.rq_psn).toBe(2);
  });

  test("completes with a protection error where its memory was deregistered meanwhile", () => {
    const gone = v.ibv_reg_mr(a.pd, a.memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
    wire.onFrame = (frame) => {
      if (packetOf(frame).opcode === 0x10) v.ibv_dereg_mr(gone);
      return frame;
    };
    post(READ, 0, 0, { sg_list: [{ addr: a.memory.subarray(0, 4), lkey: gone.lkey }] });
    expect(statuses(a.sent)).toEqual([[1, v.IBV_WC_LOC_PROT_ERR]]);
    expect(states()).toEqual([v.IBV_QPS_ERR, v.IBV_QPS_RTS]);
  });
});

describe("atomic operations", () => {
  const number = (bytes: Uint8Array, at = 0): bigint =>
    new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(at, true);
  const set = (bytes: Uint8Array, value: bigint, at = 0): void =>
    new DataView(bytes.buffer, bytes.byteOffset).setBigUint64(at, value, true);
  function atomic(opcode: number, operands: object, offset = 0, more: Partial<SendRequest> = {}): void {
    const atomic = { remote_addr: IOVA + BigInt(offset), rkey: mr.rkey, ...operands } as never;
    post(opcode, 8, 0, { wr: { atomic }, ...more });
  }

  test("add and swap numbers of 64 bits, and return what they were", () => {
    set(memory, 0xffff_ffff_ffff_fffen);
    atomic(v.IBV_WR_ATOMIC_FETCH_AND_ADD, { compare_add: 5n });
    expect([number(memory), number(a.memory)]).toEqual([3n, 0xffff_ffff_ffff_fffen]);
    atomic(v.IBV_WR_ATOMIC_CMP_AND_SWP, { compare_add: 4n, swap: 9n });
    expect([number(memory), number(a.memory)]).toEqual([3n, 3n]);
    atomic(v.IBV_WR_ATOMIC_CMP_AND_SWP, { compare_add: 3n, swap: 0x0102_0304_0506_0708n });
    expect([number(memory), number(a.memory)]).toEqual([0x0102_0304_0506_0708n, 3n]);
    expect(v.ibv_poll_cq(a.sent, 9).map(({ opcode, status, byte_len }) => [opcode, status, byte_len])).toEqual([
      [v.IBV_WC_FETCH_ADD, OK, 8],
      [v.IBV_WC_COMP_SWAP, OK, 8],
      [v.IBV_WC_COMP_SWAP, OK, 8],
    ]);
    const key = mr.rkey.toString(16).padStart(8, "0");
    const [to, from] = [b, a].map(({ qp }) => qp.qp_num.toString(16).padStart(6, "0"));
    expect(wire.frames.slice(0, 3).map(transport)).toEqual([
      `1440ffff00${to}80fffffe00007fff12345678${key}00000000000000050000000000000000`,
      `1240ffff00${from}00fffffe1f000001fffffffffffffffe`,
      `1340ffff00${to}80ffffff00007fff12345678${key}00000000000000090000000000000004`,
    ]);
    expect(v.ibv_query_device(a.context).atomic_cap).toBe(v.IBV_ATOMIC_HCA);
  });

  test("happen once where the answer is lost", () => {
    let left = 1;
    wire.onFrame = (frame) => (packetOf(frame).opcode === 0x12 && left-- > 0 ? null : frame);
    set(memory, 40n);
    atomic(v.IBV_WR_ATOMIC_FETCH_AND_ADD, { compare_add: 2n });
    expect([number(memory), number(a.memory), statuses(a.sent)]).toEqual([42n, 40n, [[1, OK]]]);
    expect(b.qp.hw_counters).toMatchObject({ duplicate_request: 1 });
  });

  test("need an aligned address and eight bytes", () => {
    const { lkey } = a.mr;
    const sg_list = [{ addr: a.memory.subarray(0, 7), lkey }];
    expect(refused(() => atomic(v.IBV_WR_ATOMIC_FETCH_AND_ADD, { compare_add: 1n }, 0, { sg_list }))).toMatchObject({
      code: "EINVAL",
      path: "wr.sg_list",
      value: "7 bytes",
    });
    atomic(v.IBV_WR_ATOMIC_FETCH_AND_ADD, { compare_add: 1n }, 4);
    expect(statuses(a.sent)).toEqual([[1, v.IBV_WC_REM_INV_REQ_ERR]]);
  });
});

describe("a peer that does not allow it", () => {
  const INVALID = v.IBV_WC_REM_INV_REQ_ERR;
  const ACCESS = v.IBV_WC_REM_ACCESS_ERR;
  /** The status, after which both ends are in ERR, and nothing is written. */
  function fails(
    opcode: number,
    length: number,
    at = 0,
    more: Partial<SendRequest> = {},
  ): [number | undefined, number] {
    a.memory.set(pattern(length), at);
    memory.fill(0xee);
    post(opcode, length, at, more);
    expect(states()).toEqual([v.IBV_QPS_ERR, v.IBV_QPS_ERR]);
    expect(memory.every((byte) => byte === 0xee)).toBe(true);
    if (length > 0) expect(a.memory.subarray(at, at + length)).toEqual(pattern(length));
    return [statuses(a.sent)[0]?.[1], v.ibv_get_async_event(b.context).event_type];
  }
  const rkey = (key: number): Partial<SendRequest> => ({ wr: { rdma: { remote_addr: IOVA, rkey: key } } });

  test("by the flags of the queue pair", async () => {
    for (const [opcode, others] of [
      [WRITE, v.IBV_ACCESS_REMOTE_READ],
      [READ, v.IBV_ACCESS_REMOTE_WRITE],
    ] as const) {
      await open(RC, { qp_access_flags: others | v.IBV_ACCESS_REMOTE_ATOMIC });
      // COMM_EST does not come: both ends were in RTS.
      expect(fails(opcode, 8)).toEqual([INVALID, v.IBV_EVENT_QP_REQ_ERR]);
    }
  });

  test("by max_dest_rd_atomic", async () => {
    await open(RC, { max_dest_rd_atomic: 0 });
    expect(fails(READ, 8)).toEqual([INVALID, v.IBV_EVENT_QP_REQ_ERR]);
  });

  test("by the flags of the region", async () => {
    const local = v.IBV_ACCESS_LOCAL_WRITE;
    for (const [opcode, access] of [
      [WRITE, local | v.IBV_ACCESS_REMOTE_READ],
      [READ, local | v.IBV_ACCESS_REMOTE_WRITE],
    ] as const) {
      await open(RC, {}, access);
      expect(fails(opcode, 8)).toEqual([ACCESS, v.IBV_EVENT_QP_ACCESS_ERR]);
      expect(b.qp.hw_counters?.resp_remote_access_errors).toBe(1);
      expect(a.qp.hw_counters?.req_remote_access_errors).toBe(1);
    }
  });

  test.each([WRITE, READ])("by its key or its bounds, operation %i", async (opcode) => {
    const foreign = (): number => v.ibv_reg_mr(v.ibv_alloc_pd(b.context), new Uint8Array(8), 8, ALL).rkey;
    const cases: (() => ReturnType<typeof fails>)[] = [
      () => fails(opcode, 8, 0, rkey(999)),
      () => fails(opcode, 8, 0, rkey(foreign())),
      () => fails(opcode, 8, 16 * MTU - 7),
      () => fails(opcode, 2 * MTU, 15 * MTU),
      () => fails(opcode, 8, 0, { wr: { rdma: { remote_addr: IOVA - 1n, rkey: mr.rkey } } }),
      () => fails(opcode, 8, 0, { wr: { rdma: { remote_addr: 2n ** 64n - 4n, rkey: mr.rkey } } }),
    ];
    for (const one of cases) {
      await open();
      expect(one()).toEqual([ACCESS, v.IBV_EVENT_QP_ACCESS_ERR]);
    }
    await open();
    v.ibv_dereg_mr(mr);
    expect(fails(opcode, 8)).toEqual([ACCESS, v.IBV_EVENT_QP_ACCESS_ERR]);
  });

  test("but compares no key for no bytes", () => {
    post(WRITE, 0, 0, rkey(999));
    post(READ, 0, 0, rkey(999));
    expect(statuses(a.sent)).toEqual([
      [1, OK],
      [1, OK],
    ]);
  });

  test("any more: a region that ends between two packets", () => {
    wire.onFrame = (frame) => {
      if (packetOf(frame).opcode === 8) v.ibv_dereg_mr(mr);
      return frame;
    };
    post(WRITE, MTU + 8);
    expect(statuses(a.sent)).toEqual([[1, ACCESS]]);
    expect(states()).toEqual([v.IBV_QPS_ERR, v.IBV_QPS_ERR]);
  });

  test("over UC: the message is lost, and the next one arrives", async () => {
    await open(UC);
    a.memory.fill(5, 0, 2 * MTU);
    post(WRITE, 2 * MTU, 0, rkey(999));
    post(WRITE, 4);
    expect(statuses(a.sent)).toEqual([
      [1, OK],
      [1, OK],
    ]);
    expect([...memory.subarray(0, 5)]).toEqual([5, 5, 5, 5, 0]);
    expect(b.qp.hw_counters).toMatchObject({ resp_remote_access_errors: 1 });
    expect(states()).toEqual([v.IBV_QPS_RTS, v.IBV_QPS_RTS]);
  });
});

test("operations arrive over cables that lose, double and reorder packets", async () => {
  const device = await createDevice({ ports: 2, seed: 7 });
  device.connect(1, device, 2, { delay: 20_000n, loss: 0.1, duplicate: 0.1, reorder: 0.1 });
  const [from, to] = [openEnd(device), openEnd(device, { port: 2 })];
  join(from, to, { qp_access_flags: REMOTE, path_mtu: v.IBV_MTU_256, timeout: 8 });
  const bytes = new Uint8Array(4096);
  const { iova, rkey } = v.ibv_reg_mr(to.pd, bytes, undefined, ALL);
  for (let i = 0; i < 60; i++) {
    const [length, at] = [(i * 37) % 1500, (i * 91) % 2500];
    const opcode = i % 3 === 0 ? READ : WRITE;
    const there = pattern(4096, i + 1);
    bytes.set(there);
    from.memory.set(pattern(4096, i + 100));
    const sg_list = [{ addr: from.memory.subarray(0, length), lkey: from.mr.lkey }];
    const wr = { rdma: { remote_addr: iova + BigInt(at), rkey } };
    v.ibv_post_send(from.qp, { wr_id: i, opcode, send_flags: v.IBV_SEND_SIGNALED, sg_list, wr });
    for (let next = device.nextDeadline(); next !== null; next = device.nextDeadline()) device.advanceTo(next);
    expect(statuses(from.sent)).toEqual([[i, OK]]);
    expect(from.memory.subarray(0, length)).toEqual(bytes.subarray(at, at + length));
    const whole = pattern(4096, i + 1);
    if (opcode === WRITE) whole.set(pattern(length, i + 100), at);
    expect(bytes).toEqual(whole);
  }
  expect(from.qp.hw_counters?.local_ack_timeout_err).toBeGreaterThan(0);
});

describe("requests", () => {
  test("are refused", async () => {
    const attempt = (wr: SendRequest, qp = a.qp): unknown => {
      const { code, reason, path } = refused(() => v.ibv_post_send(qp, wr)) ?? {};
      return [code, reason, path];
    };
    expect(attempt(request(READ, 8, 0, { send_flags: v.IBV_SEND_INLINE }))).toEqual([
      "EINVAL",
      "bad_send_flags",
      "wr.send_flags",
    ]);
    const rdma = { remote_addr: 2n ** 64n, rkey: 1 };
    expect(attempt(request(WRITE, 8, 0, { wr: { rdma } }))).toEqual([
      "EINVAL",
      "out_of_range",
      "wr.wr.rdma.remote_addr",
    ]);
    expect(attempt(request(WRITE, 8, 0, { wr: { rdma: { remote_addr: 0, rkey: 2 ** 32 } } }))).toEqual([
      "EINVAL",
      "out_of_range",
      "wr.wr.rdma.rkey",
    ]);
    expect(() => post(WRITE, 8, 0, { wr: {} })).toThrow(TypeError);
    for (const opcode of [v.IBV_WR_SEND_WITH_INV, v.IBV_WR_LOCAL_INV, v.IBV_WR_BIND_MW]) {
      expect(attempt(request(opcode, 8))).toEqual(["EOPNOTSUPP", "unsupported", "wr.opcode"]);
    }
    await open(RC, { max_rd_atomic: 0 });
    expect(attempt(request(READ, 8))).toEqual(["EINVAL", "out_of_range", "qp.max_rd_atomic"]);
    expect(wire.frames).toEqual([]);
    await open(UC);
    for (const opcode of [READ, v.IBV_WR_ATOMIC_CMP_AND_SWP]) {
      expect(attempt(request(opcode, 8))).toEqual(["EINVAL", "bad_opcode", "wr.opcode"]);
    }
  });

  test("are built by calls", async () => {
    const device = await createDevice();
    const attributes = {
      comp_mask: v.IBV_QP_INIT_ATTR_PD | v.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
      send_ops_flags:
        v.IBV_QP_EX_WITH_RDMA_WRITE |
        v.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
        v.IBV_QP_EX_WITH_RDMA_READ |
        v.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
        v.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
    };
    const [from, to] = [openEnd(device), openEnd(device)];
    const { pd, sent, received, context } = from;
    const cap = { max_send_wr: 16, max_send_sge: 1, max_recv_wr: 1, max_recv_sge: 1, max_inline_data: 8 };
    const qp = v.ibv_create_qp_ex(context, { qp_type: RC, send_cq: sent, recv_cq: received, cap, pd, ...attributes });
    const end = { ...from, qp };
    join(end, to, { qp_access_flags: REMOTE });
    postReceives(to, 1);
    const bytes = new Uint8Array(64);
    const { rkey, iova } = v.ibv_reg_mr(to.pd, bytes, undefined, ALL);
    const qpx = v.ibv_qp_to_qp_ex(qp);
    const { lkey } = from.mr;
    v.ibv_wr_start(qpx);
    qpx.wr_flags = v.IBV_SEND_SIGNALED;
    v.ibv_wr_rdma_write(qpx, rkey, iova + 8n);
    v.ibv_wr_set_inline_data(qpx, Uint8Array.of(1, 2, 3));
    v.ibv_wr_rdma_write_imm(qpx, rkey, iova, 77);
    v.ibv_wr_set_inline_data(qpx, Uint8Array.of(9));
    v.ibv_wr_rdma_read(qpx, rkey, iova);
    v.ibv_wr_set_sge(qpx, lkey, from.memory, 12);
    v.ibv_wr_atomic_fetch_add(qpx, rkey, iova + 16n, 5n);
    v.ibv_wr_set_sge(qpx, lkey, from.memory.subarray(16), 8);
    v.ibv_wr_atomic_cmp_swp(qpx, rkey, iova + 16n, 5n, 6n);
    v.ibv_wr_set_sge(qpx, lkey, from.memory.subarray(24), 8);
    v.ibv_wr_complete(qpx);
    expect(v.ibv_poll_cq(sent, 9).map(({ opcode, status }) => [opcode, status])).toEqual([
      [v.IBV_WC_RDMA_WRITE, OK],
      [v.IBV_WC_RDMA_WRITE, OK],
      [v.IBV_WC_RDMA_READ, OK],
      [v.IBV_WC_FETCH_ADD, OK],
      [v.IBV_WC_COMP_SWAP, OK],
    ]);
    expect([...from.memory.subarray(0, 12)]).toEqual([9, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0]);
    expect([from.memory[16], from.memory[24], bytes[16]]).toEqual([0, 5, 6]);
    expect(v.ibv_poll_cq(to.received, 9)).toMatchObject([{ opcode: v.IBV_WC_RECV_RDMA_WITH_IMM, imm_data: 77 }]);
  });
});

describe("regions", () => {
  test("have flags that fit each other", async () => {
    const register = (access: number): unknown => {
      const { code, reason, path } = refused(() => v.ibv_reg_mr(b.pd, new Uint8Array(8), undefined, access)) ?? {};
      return [code, reason, path];
    };
    const bad = (code: string): unknown => [code, "bad_access_flags", "access"];
    for (const access of [v.IBV_ACCESS_REMOTE_WRITE, v.IBV_ACCESS_REMOTE_ATOMIC, 0x400, 0x8000_0000]) {
      expect(register(access)).toEqual(bad("EINVAL"));
    }
    for (const access of [v.IBV_ACCESS_ON_DEMAND, v.IBV_ACCESS_FLUSH_GLOBAL, v.IBV_ACCESS_FLUSH_PERSISTENT]) {
      expect(register(access)).toEqual(bad("EOPNOTSUPP"));
    }
    const none = [undefined, undefined, undefined];
    for (const access of [0, v.IBV_ACCESS_REMOTE_READ, ALL | v.IBV_ACCESS_RELAXED_ORDERING | v.IBV_ACCESS_HUGETLB]) {
      expect(register(access)).toEqual(none);
    }
  });

  test("have addresses: given ones, pages that do not overlap, or 0", () => {
    const bytes = new Uint8Array(5000);
    const iovas = [1, 2].map(() => v.ibv_reg_mr(b.pd, bytes, undefined, 0).iova);
    expect(iovas[1]! - iovas[0]!).toBe(8192n);
    expect(iovas[0]! % 4096n).toBe(0n);
    expect(mr.iova).toBe(IOVA);
    expect(v.ibv_reg_mr(b.pd, bytes, undefined, v.IBV_ACCESS_ZERO_BASED).iova).toBe(0n);
    expect(v.ibv_reg_mr_iova(b.pd, bytes, 16, 2n ** 64n - 16n, 0).iova).toBe(2n ** 64n - 16n);
    expect(refused(() => v.ibv_reg_mr_iova(b.pd, bytes, 16, 2n ** 64n - 15n, 0))).toMatchObject({
      code: "EINVAL",
      path: "iova",
    });
  });
});
