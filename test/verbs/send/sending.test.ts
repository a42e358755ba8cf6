/** Sending: requests, their refusals, and the frames that leave. */
import { beforeEach, describe, expect, test } from "vitest";
import type { AddressAttributes, AddressHandle } from "../../../src/model/queue/addressHandle.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import type { SendRequest } from "../../../src/model/queuePair/sendQueue.js";
import { hexOf } from "../../../src/packet/bytes.js";
import { buildFrame, frameTree } from "../../../src/packet/index.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";
import { climb, openStation, request, type Station, type StationOptions } from "../support/queuePairs.js";

let station: Station;
/** Frames that left port 1. */
let sent: Uint8Array[];

async function open(options: StationOptions = {}): Promise<void> {
  station = await openStation(options);
  sent = [];
  station.device.connect(1, (frame) => sent.push(frame));
}

const post = (wr: SendRequest, qp: QueuePair = station.qp): 0 => v.ibv_post_send(qp, wr);
const SIGNALED = { send_flags: v.IBV_SEND_SIGNALED };

describe("raw packets", () => {
  beforeEach(() => open());

  test("leave as they are, and complete when they are told to", () => {
    const frames = [ipv4Frame(), ipv4Frame({ length: 1514 }), new Uint8Array(14)];
    const [first, second, third] = frames as [Uint8Array, Uint8Array, Uint8Array];
    expect(post(request(station, first))).toBe(0);
    expect(v.ibv_poll_cq(station.cq, 1)).toEqual([]);
    post(request(station, second, { wr_id: 2n, ...SIGNALED }));
    post(request(station, third, { wr_id: 3, send_flags: v.IBV_SEND_SIGNALED | v.IBV_SEND_SOLICITED }));
    expect(sent).toEqual(frames);
    expect(v.ibv_poll_cq(station.cq, 9)).toMatchObject([
      { wr_id: 2n, status: v.IBV_WC_SUCCESS, opcode: v.IBV_WC_SEND, byte_len: 1514, qp_num: station.qp.qp_num },
      { wr_id: 3, byte_len: 14 },
    ]);
  });

  test("are gathered from entries", () => {
    const frame = ipv4Frame({ length: 100 });
    station.memory.set(frame.subarray(0, 10), 500);
    station.memory.set(frame.subarray(10, 60), 0);
    station.memory.set(frame.subarray(60), 300);
    const { lkey } = station.mr;
    const entry = (at: number, length: number): object => ({ addr: station.memory.subarray(at), length, lkey });
    const sg_list = [entry(500, 10), entry(0, 50), entry(7, 0), entry(300, 40), entry(0, 1)] as SendRequest["sg_list"];
    post({ wr_id: 1, sg_list, num_sge: 4, opcode: v.IBV_WR_SEND });
    expect(sent).toEqual([frame]);
  });

  test("are taken when they are posted", () => {
    const frame = ipv4Frame();
    post(request(station, frame));
    station.memory.fill(0xee);
    expect(sent).toEqual([frame]);
  });

  test("complete always where the queue pair says so", async () => {
    await open({ attributes: { sq_sig_all: 1 } });
    post(request(station, ipv4Frame(), { wr_id: 9 }));
    expect(v.ibv_poll_cq(station.cq, 9)).toMatchObject([{ wr_id: 9, opcode: v.IBV_WC_SEND }]);
  });

  test("may be read from memory that may not be written", () => {
    const readOnly = v.ibv_reg_mr(station.pd, station.memory, 64, 0);
    post(request(station, ipv4Frame(), { sg_list: [{ addr: station.memory.subarray(0, 64), lkey: readOnly.lkey }] }));
    expect(sent.length).toBe(1);
  });

  test("go inline from any memory, up to a length", () => {
    const addr = ipv4Frame({ length: 128 });
    const send_flags = v.IBV_SEND_INLINE;
    post({ wr_id: 1, sg_list: [{ addr, lkey: 0 }], opcode: v.IBV_WR_SEND, send_flags });
    expect(sent).toEqual([addr]);
    const longer = ipv4Frame({ length: 129 });
    const wr = { wr_id: 1, sg_list: [{ addr: longer, lkey: 0 }], opcode: v.IBV_WR_SEND, send_flags };
    expect(refused(() => post(wr))).toMatchObject({ code: "EINVAL", path: "wr.sg_list", value: "129 bytes" });
  });

  test("get their checksums when they ask for them", () => {
    const ip = { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" } as const;
    const layers = (checksum?: number): Uint8Array => {
      const wrong = checksum === undefined ? {} : { checksum };
      return buildFrame([
        { header: "ethernet" },
        { ...ip, ...wrong },
        { header: "udp", ...wrong },
        Uint8Array.of(1, 2, 3),
      ]);
    };
    post(request(station, layers(0), { send_flags: v.IBV_SEND_IP_CSUM }));
    post(request(station, layers(0)));
    expect(sent).toEqual([layers(), layers(0)]);
    expect(station.memory.subarray(0, 45)).toEqual(layers(0));
    expect(v.ibv_query_device(station.context).device_cap_flags & v.IBV_DEVICE_RAW_IP_CSUM).not.toBe(0);
  });
});

describe("refusals", () => {
  beforeEach(() => open());

  /** Refused, without any change. */
  function attempt(
    change: Partial<SendRequest>,
    qp = station.qp,
  ): [string | undefined, string | undefined, string | undefined] {
    const error = refused(() => post(request(station, ipv4Frame(), { ...SIGNALED, ...change }), qp));
    expect(sent).toEqual([]);
    expect(v.ibv_poll_cq(station.cq, 1)).toEqual([]);
    return [error?.code, error?.reason, error?.path];
  }

  test("operations", () => {
    for (const opcode of [0, 1, 3, 4, 5, 6, 7, 8, 9, 11, 15, 99, -1]) {
      expect(attempt({ opcode })).toEqual(["EINVAL", "bad_opcode", "wr.opcode"]);
    }
    expect(attempt({ opcode: v.IBV_WR_TSO })).toEqual(["EOPNOTSUPP", "unsupported", "wr.opcode"]);
  });

  test("flags", () => {
    for (const send_flags of [v.IBV_SEND_FENCE, 32, 2 ** 31, v.IBV_SEND_SIGNALED | 64]) {
      expect(attempt({ send_flags })).toEqual(["EINVAL", "bad_send_flags", "wr.send_flags"]);
    }
    expect(attempt({ send_flags: -1 })).toEqual(["EINVAL", "out_of_range", "wr.send_flags"]);
  });

  test("memory", () => {
    const { memory, mr } = station;
    const at = (addr: Uint8Array, lkey = mr.lkey, length = addr.length): (string | undefined)[] =>
      attempt({ sg_list: [{ addr, lkey, length }] });
    expect(at(memory.subarray(0, 64), 999)).toEqual(["EINVAL", "bad_key", "wr.sg_list[0].lkey"]);
    expect(at(new Uint8Array(64))).toEqual(["EINVAL", "outside_memory_region", "wr.sg_list[0].addr"]);
    expect(at(memory.subarray(0, 64), mr.lkey, 65)).toEqual(["EINVAL", "outside_memory_region", "wr.sg_list[0].addr"]);
    const part = v.ibv_reg_mr(station.pd, memory, 63, 0);
    expect(at(memory.subarray(0, 64), part.lkey)).toEqual(["EINVAL", "outside_memory_region", "wr.sg_list[0].addr"]);
    expect(attempt({ num_sge: 2 })).toEqual(["EINVAL", "out_of_range", "wr.num_sge"]);
    const five = Array.from({ length: 5 }, () => ({ addr: memory.subarray(0, 64), lkey: mr.lkey }));
    expect(attempt({ sg_list: five })).toEqual(["EINVAL", "out_of_range", "wr.num_sge"]);
    expect(() => post(request(station, ipv4Frame(), { sg_list: [{ addr: [] as never, lkey: 1 }] }))).toThrow(TypeError);
  });

  test("lengths that are no frame's", () => {
    const short = station.memory.subarray(0, 13);
    const { lkey } = station.mr;
    expect(attempt({ sg_list: [{ addr: short, lkey }] })).toEqual(["EINVAL", "bad_frame", "wr.sg_list"]);
    expect(attempt({ sg_list: [] })).toEqual(["EINVAL", "bad_frame", "wr.sg_list"]);
    const large = new Uint8Array(262_145);
    const mr = v.ibv_reg_mr(station.pd, large, undefined, 0);
    expect(attempt({ sg_list: [{ addr: large, lkey: mr.lkey }] })).toEqual(["EINVAL", "bad_frame", "wr.sg_list"]);
    post(request(station, ipv4Frame(), { sg_list: [{ addr: large.subarray(1), lkey: mr.lkey }] }));
    expect(sent[0]?.length).toBe(262_144);
  });

  test("states", () => {
    const { pd, cq } = station;
    const cap = { max_send_wr: 2, max_send_sge: 1 };
    const qp = v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_RAW_PACKET });
    for (const steps of [0, 1, 2]) {
      v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
      climb(qp, 1, steps);
      expect(attempt({}, qp)).toEqual(["EINVAL", "bad_state", "qp"]);
    }
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_ERR }, v.IBV_QP_STATE);
    // In error a request completes with a flush error, signaled or not, and nothing leaves.
    for (const send_flags of [0, v.IBV_SEND_SIGNALED])
      post(request(station, ipv4Frame(), { wr_id: 5, send_flags }), qp);
    const flushed = { wr_id: 5, status: v.IBV_WC_WR_FLUSH_ERR, qp_num: qp.qp_num };
    expect(v.ibv_poll_cq(cq, 9)).toMatchObject([flushed, flushed]);
    expect(sent).toEqual([]);
  });

  test("types", () => {
    const { pd, cq } = station;
    const qp = v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap: { max_send_wr: 1 }, qp_type: v.IBV_QPT_UC });
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_ERR }, v.IBV_QP_STATE);
    const lacking = { opcode: v.IBV_WR_SEND_WITH_INV, sg_list: [] };
    expect(attempt(lacking, qp)).toEqual(["EOPNOTSUPP", "unsupported", "wr.opcode"]);
    expect(() => post(request(station, ipv4Frame()), station.cq as never)).toThrow(TypeError);
    v.ibv_destroy_qp(qp);
    expect(refused(() => post(request(station, ipv4Frame()), qp))?.reason).toBe("object_destroyed");
  });
});

describe("places", () => {
  test("are held until a completion of the request or of a later one is polled", async () => {
    await open({ attributes: { cap: { max_send_wr: 3, max_send_sge: 1 } } });
    const wr = (wr_id: number, send_flags = 0): SendRequest => request(station, ipv4Frame(), { wr_id, send_flags });
    const full = (): void => {
      const error = refused(() => post(wr(0)));
      expect(error).toMatchObject({ code: "ENOMEM", reason: "queue_full", path: "qp" });
    };
    post(wr(1));
    post(wr(2, v.IBV_SEND_SIGNALED));
    post(wr(3));
    full();
    expect(sent.length).toBe(3);
    // The completion of 2 frees the slots of 1 and 2.
    expect(v.ibv_poll_cq(station.cq, 9)).toMatchObject([{ wr_id: 2 }]);
    post(wr(4));
    post(wr(5));
    full();
    // No further completions: only a reset helps.
    expect(v.ibv_poll_cq(station.cq, 9)).toEqual([]);
    v.ibv_modify_qp(station.qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    climb(station.qp);
    for (let i = 0; i < 3; i++) post(wr(6, v.IBV_SEND_SIGNALED));
    full();
    v.ibv_poll_cq(station.cq, 1);
    post(wr(7));
    full();
  });

  test("of an earlier life give nothing back, and take nothing", async () => {
    await open({ attributes: { cap: { max_send_wr: 2, max_send_sge: 1 } } });
    const wr = request(station, ipv4Frame(), SIGNALED);
    post(wr);
    post(wr);
    v.ibv_modify_qp(station.qp, { qp_state: v.IBV_QPS_RESET }, v.IBV_QP_STATE);
    climb(station.qp);
    post(wr);
    v.ibv_poll_cq(station.cq, 1);
    post(wr);
    v.ibv_poll_cq(station.cq, 1);
    expect(refused(() => post(wr))?.reason).toBe("queue_full");
  });

  test("in the completion queue are wanted by requests that complete", async () => {
    await open({ cqe: 2 });
    const signaled = request(station, ipv4Frame(), SIGNALED);
    post(signaled);
    post(signaled);
    const error = refused(() => post(signaled));
    expect(error).toMatchObject({ code: "ENOMEM", reason: "completions_full", path: "qp.send_cq" });
    expect(sent.length).toBe(2);
    post(request(station, ipv4Frame()));
    v.ibv_modify_qp(station.qp, { qp_state: v.IBV_QPS_ERR }, v.IBV_QP_STATE);
    expect(refused(() => post(request(station, ipv4Frame())))?.reason).toBe("completions_full");
    v.ibv_poll_cq(station.cq, 1);
    post(signaled);
    expect(sent.length).toBe(3);
  });
});

describe("lists", () => {
  beforeEach(() => open());

  test("are sent up to the first bad request", () => {
    const third = request(station, ipv4Frame({ dport: 3 }), { wr_id: 3, ...SIGNALED }, 300);
    const second = request(station, ipv4Frame({ dport: 2 }), { wr_id: 2, opcode: 4, next: third }, 200);
    const first = request(station, ipv4Frame({ dport: 1 }), { wr_id: 1, ...SIGNALED, next: second }, 100);
    const bad: { wr?: SendRequest } = {};
    expect(refused(() => v.ibv_post_send(station.qp, first, bad))?.reason).toBe("bad_opcode");
    expect(bad.wr).toBe(second);
    expect(sent.map((frame) => frame[37])).toEqual([1]);
    expect(v.ibv_poll_cq(station.cq, 9)).toMatchObject([{ wr_id: 1 }]);
    second.opcode = v.IBV_WR_SEND;
    v.ibv_post_send(station.qp, second);
    expect(sent.map((frame) => frame[37])).toEqual([1, 2, 3]);
  });

  test("end where a frame on its way destroyed the queue pair", async () => {
    await open();
    station = await openStation();
    let left = 0;
    station.device.connect(1, () => left++ === 0 && v.ibv_destroy_qp(station.qp));
    const wr = request(station, ipv4Frame(), { next: request(station, ipv4Frame()) });
    expect(refused(() => post(wr))?.reason).toBe("object_destroyed");
    expect(left).toBe(1);
  });
});

describe("datagrams", () => {
  let ah: AddressHandle;
  const attr: AddressAttributes = {
    grh: { dgid: "fe80::ff:fe00:7", hop_limit: 3, traffic_class: 0x42, flow_label: 5 },
    is_global: 1,
    port_num: 1,
  };

  beforeEach(async () => {
    await open({ type: v.IBV_QPT_UD, ports: 2, name: "left" });
    ah = v.ibv_create_ah(station.pd, attr);
  });

  const to = (more: object = {}): Partial<SendRequest> => {
    return { wr: { ud: { ah, remote_qpn: 0x1234, remote_qkey: 0x11111111, ...more } } };
  };

  test("are RoCE packets", () => {
    const payload = new TextEncoder().encode("hello");
    post(request(station, payload, { ...to(), send_flags: v.IBV_SEND_SIGNALED | v.IBV_SEND_SOLICITED }));
    expect(v.ibv_poll_cq(station.cq, 1)).toMatchObject([{ opcode: v.IBV_WC_SEND, byte_len: 5 }]);
    const [frame] = sent as [Uint8Array];
    const [parsed] = station.device.parseBatch([frame]);
    const { nodes } = frameTree(frame, parsed!);
    expect(nodes.map(({ header }) => header)).toEqual(["ethernet", "ipv6", "udp", "bth", "payload"]);
    const value = (node: number, name: string): unknown => nodes[node]?.fields.find((one) => one.name === name)?.value;
    expect(value(0, "destination")).toBe("02:00:00:00:00:07");
    expect(hexOf(frame.subarray(6, 12))).toMatch(/^02.{8}01$/);
    expect(value(1, "destination")).toBe("fe80::ff:fe00:7");
    expect(frame.subarray(22, 38)).toEqual(v.ibv_query_gid(station.context, 1, 0).raw);
    expect([value(1, "hop_limit"), value(1, "flow_label"), value(1, "dscp")]).toEqual([3, 5, 0x10]);
    expect([value(2, "destination_port"), value(2, "source_port")]).toEqual([4791, 0xc005]);
    const bth = ["opcode", "se", "pad_count", "p_key", "dst_qp", "psn"].map((name) => value(3, name));
    expect(bth).toEqual([0x64, 1, 3, 0xffff, 0x1234, 0xfffffe]);
    const deth = "11111111" + `00${station.qp.qp_num.toString(16).padStart(6, "0")}`;
    expect(hexOf(frame.subarray(74, -4))).toBe(`${deth}68656c6c6f000000`);
  });

  test("are numbered, and the numbers go around", () => {
    for (let i = 0; i < 3; i++) post(request(station, new Uint8Array(4), to()));
    expect(refused(() => post(request(station, new Uint8Array(4), { ...to(), opcode: 0 })))).toBeDefined();
    const psns = sent.map((frame) => new DataView(frame.buffer).getUint32(70));
    expect(psns).toEqual([0xfffffe, 0xffffff, 0]);
    expect(v.ibv_query_qp(station.qp).attr.sq_psn).toBe(1);
  });

  test("have immediate data, any length, and the queue pair's own key", () => {
    const opcode = v.IBV_WR_SEND_WITH_IMM;
    post(request(station, new Uint8Array(0), { ...to({ remote_qkey: 0xffffffff }), opcode, imm_data: 0xfedcba98 }));
    post(request(station, new Uint8Array(4096), to({ remote_qkey: 0x7fffffff })));
    post({ wr_id: 1, sg_list: [], opcode, ...to() });
    // The queue pair's key is 0x80010000.
    expect(hexOf(sent[0]!.subarray(62, 63))).toBe("65");
    expect(hexOf(sent[0]!.subarray(74, 78))).toBe("80010000");
    expect(hexOf(sent[0]!.subarray(82, -4))).toBe("fedcba98");
    expect(hexOf(sent[1]!.subarray(74, 78))).toBe("7fffffff");
    expect(sent[1]!.length).toBe(82 + 4096 + 4);
    expect(hexOf(sent[2]!.subarray(82, -4))).toBe("00000000");
  });

  test("are refused without a way", async () => {
    const attempt = (change: Partial<SendRequest>, length = 8): (string | undefined)[] => {
      const error = refused(() => post(request(station, new Uint8Array(length), { ...to(), ...SIGNALED, ...change })));
      expect(sent).toEqual([]);
      return [error?.code, error?.reason, error?.path];
    };
    const otherPd = v.ibv_create_ah(v.ibv_alloc_pd(station.context), attr);
    expect(attempt(to({ ah: otherPd }))).toEqual(["EINVAL", "bad_object", "wr.wr.ud.ah"]);
    const otherPort = v.ibv_create_ah(station.pd, { ...attr, port_num: 2 });
    expect(attempt(to({ ah: otherPort }))).toEqual(["EINVAL", "bad_route", "wr.wr.ud.ah"]);
    const gone = v.ibv_create_ah(station.pd, attr);
    v.ibv_destroy_ah(gone);
    expect(attempt(to({ ah: gone }))).toEqual(["EINVAL", "object_destroyed", "wr.wr.ud.ah"]);
    expect(attempt(to({ remote_qpn: 2 ** 24 }))).toEqual(["EINVAL", "out_of_range", "wr.wr.ud.remote_qpn"]);
    expect(attempt(to({ remote_qkey: 2 ** 32 }))).toEqual(["EINVAL", "out_of_range", "wr.wr.ud.remote_qkey"]);
    expect(attempt({ opcode: v.IBV_WR_SEND_WITH_IMM, imm_data: 2 ** 32 })[2]).toBe("wr.imm_data");
    expect(attempt({}, 4097)).toEqual(["EINVAL", "bad_frame", "wr.sg_list"]);
    expect(attempt({ opcode: v.IBV_WR_TSO })).toEqual(["EOPNOTSUPP", "unsupported", "wr.opcode"]);
    expect(attempt({ send_flags: v.IBV_SEND_IP_CSUM })).toEqual(["EINVAL", "bad_send_flags", "wr.send_flags"]);
    expect(attempt({ send_flags: v.IBV_SEND_FENCE })).toEqual(["EINVAL", "bad_send_flags", "wr.send_flags"]);
    for (const wr of [undefined, {}, { ud: null }, { ud: { ah: null, remote_qpn: 1, remote_qkey: 1 } }]) {
      expect(() => post(request(station, new Uint8Array(8), { wr: wr as never }))).toThrow(TypeError);
    }
    expect(v.ibv_query_qp(station.qp).attr.sq_psn).toBe(0xfffffe);
    expect(v.ibv_poll_cq(station.cq, 1)).toEqual([]);
  });
});
