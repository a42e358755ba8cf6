/** Flow actions (mlx5dv_create_flow_action_modify_header(3), _packet_reformat(3)) in flows of ibv_create_flow(3). */
import { beforeEach, describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import { createDevice } from "../../../src/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import * as v from "../../../src/verbs/index.js";
import {
  ALL,
  attr,
  count,
  DONT_TRAP,
  DROP,
  EGRESS,
  FlowBench,
  LOOP,
  MC,
  SNIFFER,
  tag,
  UDP,
  valuesOf,
} from "../../verbs/support/flows.js";
import { headersOf, wrongIn } from "../support/rewriting.js";
import { refused } from "../support/directRules.js";

const RX = dv.MLX5DV_FLOW_TABLE_TYPE_NIC_RX;
const TX = dv.MLX5DV_FLOW_TABLE_TYPE_NIC_TX;
const FDB = dv.MLX5DV_FLOW_TABLE_TYPE_FDB;
const [L2_TUNNEL_TO_L2, L2_TO_L2_TUNNEL, L3_TUNNEL_TO_L2, L2_TO_L3_TUNNEL] = [0, 1, 2, 3];

const DATA = Uint8Array.from({ length: 20 }, (_, i) => i);
const ethernet = { header: "ethernet", destination: "02:00:00:00:00:01", source: "02:00:00:00:00:02" } as const;
const PLAIN = buildFrame([ethernet, { header: "ipv4", ttl: 64 }, { header: "udp", destination_port: 53 }, DATA]);
const GROUP = buildFrame([
  { ...ethernet, destination: "01:00:5e:00:00:01" },
  { header: "ipv4" },
  { header: "udp" },
  DATA,
]);
const HEADERS = buildFrame([ethernet, { header: "ipv4" }, { header: "udp" }, { header: "vxlan", vni: 9 }]);
const TUNNEL = buildFrame([
  ethernet,
  { header: "ipv4" },
  { header: "udp" },
  { header: "vxlan" },
  ethernet,
  { header: "ipv4", ttl: 64 },
  { header: "udp", destination_port: 53 },
  DATA,
]);

let bench: FlowBench;
beforeEach(async () => {
  bench = await FlowBench.open();
});

const set = (field: string, data: number): dv.ModifyAction => ({ type: "set", field, data });
const modify = (list: dv.ModifyActions, ft_type = RX, on = bench): dv.FlowAction =>
  dv.mlx5dv_create_flow_action_modify_header(on.context, undefined, list, ft_type);
const reformat = (type: number, data: Uint8Array | null, ft_type = RX, on = bench): dv.FlowAction =>
  dv.mlx5dv_create_flow_action_packet_reformat(on.context, undefined, data, type, ft_type);
const handle = (action: object): object => ({ type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action });
const ttl = (value: number, ft_type = RX, on = bench): dv.FlowAction => modify([set("OUT_IP_TTL", value)], ft_type, on);

/** The copies of a received frame on arrival. */
const arrivals = (frame: Uint8Array): Uint8Array[] => bench.device.receive(1, frame).to.map((one) => one.frame);
/** The outer time to live. */
const ttlOf = (frame: Uint8Array | undefined): number | undefined => frame?.[22];

describe("received frames", () => {
  test("arrive changed, with right checksums", () => {
    bench.flow("a", [UDP, handle(modify([set("OUT_IP_TTL", 9), { type: "add", field: "OUT_UDP_DPORT", data: 1 }]))]);
    const [bytes] = arrivals(PLAIN);
    expect([ttlOf(bytes), bytes![37], wrongIn(bytes!, headersOf({ bytes: bytes! }))]).toEqual([9, 54, []]);
    expect(ttlOf(PLAIN)).toBe(64);
  });

  test("are decapsulated, changed, counted, encapsulated, whatever the order of the specs", () => {
    const counters = bench.counters();
    const specs = [reformat(L2_TO_L2_TUNNEL, HEADERS), ttl(9), reformat(L2_TUNNEL_TO_L2, null)].map(handle);
    bench.flow("a", [...specs, count(counters), tag(5), UDP]);
    const outcome = bench.device.receive(1, TUNNEL);
    const { frame } = outcome.to[0]!;
    const inside = frame.subarray(HEADERS.length);
    expect([outcome.tag, frame.length, inside.length]).toEqual([5, HEADERS.length + PLAIN.length, PLAIN.length]);
    expect([ttlOf(frame), ttlOf(inside), wrongIn(inside, headersOf({ bytes: inside }))]).toEqual([64, 9, []]);
    expect(valuesOf(counters)).toEqual([1n, BigInt(PLAIN.length)]);
  });

  test("actions of one kind in the order of the specs", () => {
    const twice = [ttl(3), modify([{ type: "add", field: "OUT_IP_TTL", data: 4 }])].map(handle);
    const one = bench.flow("a", twice);
    expect(ttlOf(arrivals(PLAIN)[0])).toBe(7);
    v.ibv_destroy_flow(one);
    bench.flow("a", twice.toReversed());
    expect(ttlOf(arrivals(PLAIN)[0])).toBe(3);
    expect(arrivals(buildFrame([ethernet, { header: "arp" }]))[0]!.length).toBe(42);
  });

  test("what cannot be done drops the frame", () => {
    const counters = bench.counters();
    bench.flow("a", [handle(reformat(L2_TUNNEL_TO_L2, null)), count(counters)]);
    bench.flow("b", [UDP], { priority: 1 });
    expect(bench.received(PLAIN)).toBe("drop not_a_tunnel");
    expect(bench.device.reasons().not_a_tunnel).toBe(1n);
    expect(valuesOf(counters)).toEqual([0n, 0n]);
    expect(bench.received(TUNNEL)).toBe("a deliver");
  });

  test("a frame that is dropped is changed before it is counted", () => {
    const counters = bench.counters();
    bench.flow("a", [DROP, count(counters), handle(reformat(L2_TUNNEL_TO_L2, null))]);
    expect(bench.received(TUNNEL)).toBe("drop drop_action");
    expect(valuesOf(counters)).toEqual([1n, BigInt(PLAIN.length)]);
  });

  test("sniffers and DONT_TRAP flows before it get what came in", () => {
    bench.flow("sniffer", [], SNIFFER);
    bench.flow("copy", [UDP], DONT_TRAP);
    bench.flow("a", [UDP, handle(ttl(9)), handle(reformat(L2_TO_L3_TUNNEL, HEADERS))]);
    const { copies, to } = bench.device.receive(1, PLAIN);
    expect(copies.map(({ frame }) => [...frame])).toEqual([[...PLAIN], [...PLAIN]]);
    expect(to[0]!.frame.length).toBe(HEADERS.length + PLAIN.length - 14);
    expect(bench.device.receiveBatch(1, [PLAIN, TUNNEL, PLAIN]).map(({ copies: [one] }) => one!.frame.length)).toEqual([
      PLAIN.length,
      TUNNEL.length,
      PLAIN.length,
    ]);
  });

  test("registers that were written are told", () => {
    bench.flow("a", [handle(modify([set("METADATA_REG_C_3", 7), set("METADATA_REG_B", 8)]))]);
    expect(bench.device.receive(1, PLAIN).registers).toEqual({ C3: 7, B: 8 });
  });

  test("fill receive buffers with what they have become, however long that is", () => {
    const qp = bench.realQp(v.IBV_QPT_RAW_PACKET);
    const memory = new Uint8Array(1024);
    const mr = v.ibv_reg_mr(qp.pd!, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
    const to = (qp_state: number): unknown =>
      v.ibv_modify_qp(
        qp,
        { qp_state, port_num: 1 },
        v.IBV_QP_STATE | (qp_state === v.IBV_QPS_INIT ? v.IBV_QP_PORT : 0),
      );
    to(v.IBV_QPS_INIT);
    for (const [wr_id, size] of [256, PLAIN.length].entries()) {
      v.ibv_post_recv(qp, {
        wr_id,
        sg_list: [{ addr: memory.subarray(256 * wr_id, 256 * wr_id + size), lkey: mr.lkey }],
      });
    }
    to(v.IBV_QPS_RTR);
    v.ibv_create_flow(qp, attr([UDP, handle(reformat(L2_TO_L2_TUNNEL, HEADERS))] as v.FlowSpec[]));
    bench.device.receive(1, PLAIN);
    expect(v.ibv_poll_cq(qp.recv_cq!, 1)[0]?.byte_len).toBe(HEADERS.length + PLAIN.length);
    expect([...memory.subarray(HEADERS.length, HEADERS.length + PLAIN.length)]).toEqual([...PLAIN]);
    expect(bench.device.receive(1, PLAIN).reason).toBe("receive_buffer_too_short");
  });
});

describe("sent frames", () => {
  const sent = (frame: Uint8Array, name = "s"): Uint8Array[] =>
    bench.device.send(bench.qp(name), frame).to.map((one) => one.frame);

  test("leave changed, and are counted before", () => {
    const counters = bench.counters();
    const actions = [reformat(L2_TO_L2_TUNNEL, HEADERS, TX), ttl(9, TX), reformat(L2_TUNNEL_TO_L2, null, TX)];
    bench.flow("s", [count(counters), ...actions.map(handle), tag(6)], EGRESS);
    const got: Uint8Array[] = [];
    bench.device.connect(1, (frame) => void got.push(frame.slice()));
    const outcome = bench.device.send(bench.qp("s"), TUNNEL);
    const { frame } = outcome.to[0]!;
    expect([outcome.verdict, outcome.tag, frame.length]).toEqual(["transmit", 6, HEADERS.length + PLAIN.length]);
    expect(ttlOf(frame.subarray(HEADERS.length))).toBe(9);
    expect(got).toEqual([frame]);
    // After the decapsulation, before everything else.
    expect(valuesOf(counters)).toEqual([1n, BigInt(PLAIN.length)]);
  });

  test("a counter does not see what is put around a frame", () => {
    const counters = bench.counters();
    bench.flow("s", [count(counters), handle(reformat(L2_TO_L2_TUNNEL, HEADERS, TX))], EGRESS);
    expect(sent(PLAIN)[0]!.length).toBe(HEADERS.length + PLAIN.length);
    expect(valuesOf(counters)).toEqual([1n, BigInt(PLAIN.length)]);
  });

  test("register A has what was sent with them", () => {
    bench.flow("s", [handle(modify([{ type: "copy", field: "METADATA_REG_A", to: "OUT_IP_TTL" }], TX))], EGRESS);
    const { to } = bench.device.send(bench.qp("s"), PLAIN, { metadata: 0x1234 });
    expect(ttlOf(to[0]!.frame)).toBe(0x34);
  });

  test("looped back they are changed by rules that answer, and leave as they were", () => {
    bench.flow("s", [handle(ttl(9))]);
    bench.flow("other", [handle(ttl(8))], { priority: 1 });
    // A flow of the sender itself does not match, and so changes nothing.
    const outcome = bench.device.send(bench.qp("s"), GROUP);
    const byName = Object.fromEntries(outcome.to.map(({ name, frame }) => [name, ttlOf(frame)]));
    expect(byName).toEqual({ "qp:other": 8, "port:1": 64 });
    bench.flow("s", [handle(ttl(7)), UDP], LOOP);
    expect(ttlOf(sent(PLAIN)[0])).toBe(7);
    expect(ttlOf(sent(PLAIN, "third")[0])).toBe(9);
  });
});

describe("identical flows", () => {
  test("name the same actions, and share what they do", () => {
    const [one, two] = [ttl(9), reformat(L2_TO_L2_TUNNEL, HEADERS)];
    const flows = ["a", "b", "c"].map((name) => bench.flow(name, [UDP, handle(one), tag(1), handle(two)]));
    for (const [i, flow] of flows.entries()) {
      const frames = arrivals(PLAIN);
      expect(frames.length).toBe(3 - i);
      for (const frame of frames) expect(ttlOf(frame.subarray(HEADERS.length))).toBe(9);
      expect(one.users).toBe(3 - i);
      v.ibv_destroy_flow(flow);
    }
    for (const action of [one, two]) expect(v.ibv_destroy_flow_action(action)).toBe(0);
  });

  test("others are EEXIST, and change nothing", () => {
    const [one, two] = [ttl(9), ttl(10)];
    const first = bench.flow("a", [UDP, handle(one), handle(two)]);
    const others = [[], [one], [two, one], [one, two, one], [one, ttl(10)]];
    for (const list of others) expect(bench.refused("b", [UDP, ...list.map(handle)])).toBe("EEXIST");
    const error = refused(() => bench.flow("b", [UDP]));
    expect([error?.reason, error?.path]).toEqual(["conflicting_flow", "attr.specs"]);
    expect(error?.hint).toBe(
      "flow0 asks for the same frames and names other flow actions (modify_header0, modify_header1)",
    );
    expect([one.users, two.users]).toEqual([1, 1]);
    v.ibv_destroy_flow(first);
    bench.flow("a", [UDP]);
    expect(refused(() => bench.flow("b", [UDP, handle(one)]))?.hint).toContain("(changes nothing)");
    // Another priority means another entry.
    bench.flow("b", [UDP, handle(one)], { priority: 1 });
    expect([one.users, two.users]).toEqual([1, 0]);
  });

  test("leave when memory is full", async () => {
    bench = await FlowBench.open({ limits: { memory: 1 << 20 } });
    const counters = [bench.counters(), bench.counters()];
    const actions = Array.from({ length: 8 }, (_, n) => handle(ttl(n)));
    const specs = (n: number): object[] => [UDP, ...actions, count(counters[n % 2]!)];
    const flows = Array.from({ length: 12 }, (_, n) => bench.flow(`q${n}`, specs(n), n % 3 === 0 ? LOOP : {}));
    const filled = (): void => {
      const error = refused(() => {
        for (let n = 0; ; n++) modify(Array.from({ length: 255 }, () => set("OUT_IP_TTL", n % 256)));
      });
      expect(error?.code).toBe("ENOMEM");
    };
    filled();
    for (const flow of flows) {
      expect(arrivals(PLAIN).map(ttlOf)).toContain(7);
      v.ibv_destroy_flow(flow);
    }
    expect(bench.received(PLAIN)).toBe("miss no_rule");
  });
});

describe("flows that are refused", () => {
  const path = (specs: readonly object[], over: object = {}): string => {
    const error = refused(() => bench.flow("a", specs, over));
    return `${error?.code} ${error?.reason} ${error?.path}`;
  };

  test("of other types, and DONT_TRAP", () => {
    const list = [handle(modify([set("METADATA_REG_C_0", 1)]))];
    for (const over of [SNIFFER, ALL, MC, DONT_TRAP]) {
      expect(bench.refused("a", [UDP, ...list], over)).toBe("EINVAL");
      expect(path([UDP, ...list], over)).toBe("EINVAL bad_action_list specs[1].action");
    }
  });

  test("of another direction", () => {
    for (const [ft_type, over] of [
      [RX, EGRESS],
      [TX, {}],
      [FDB, {}],
      [FDB, EGRESS],
    ] as const) {
      expect(path([UDP, handle(ttl(1, ft_type))], over)).toBe("EINVAL bad_object specs[1].action");
    }
    for (const [ft_type, over] of [
      [RX, {}],
      [TX, EGRESS],
    ] as const) {
      expect(bench.refused("a", [handle(ttl(1, ft_type))], over)).toBeUndefined();
    }
  });

  test("with more than eight actions", () => {
    const [first, ...rest] = Array.from({ length: 9 }, () => handle(ttl(1)));
    expect(path([UDP, first!, ...rest])).toBe("EINVAL bad_action_list specs[9].action");
    expect(bench.refused("a", [UDP, ...rest])).toBeUndefined();
  });

  test("with actions of another function, of another device, or destroyed", async () => {
    const device = await createDevice({ vports: 1 });
    const [pf, vf] = [v.ibv_open_device(device), v.ibv_open_device(device.function(1))];
    const program = [set("OUT_IP_TTL", 1)];
    const action = dv.mlx5dv_create_flow_action_modify_header(vf, undefined, program, RX);
    const qp = (context: typeof pf) => {
      const cq = v.ibv_create_cq(context, 1);
      const cap = { max_recv_wr: 1, max_recv_sge: 1 };
      return v.ibv_create_qp(v.ibv_alloc_pd(context), { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_RAW_PACKET });
    };
    const flow = (context: typeof pf): unknown => v.ibv_create_flow(qp(context), attr([handle(action)]));
    expect(refused(() => flow(pf))).toMatchObject({ code: "EINVAL", reason: "other_device", path: "specs[0].action" });
    flow(vf);
    expect(action.users).toBe(1);
    expect(path([handle(action)])).toBe("EINVAL other_device specs[0].action");
    const gone = ttl(1);
    v.ibv_destroy_flow_action(gone);
    expect(path([handle(gone)])).toBe("EINVAL object_destroyed specs[0].action");
    for (const bad of [bench.counters(), 5, null])
      expect(() => bench.flow("a", [handle(bad as object)])).toThrow(TypeError);
  });

  test("ConnectX: a second action of a kind", async () => {
    bench = await FlowBench.open({ profile: "connectx7" });
    const [m, l2, l3] = [ttl(1), reformat(L2_TUNNEL_TO_L2, null), reformat(L3_TUNNEL_TO_L2, new Uint8Array(14))];
    expect(path([handle(m), handle(ttl(2))])).toBe("EINVAL bad_action_list specs[1].action");
    expect(path([handle(l2), handle(m), handle(l2)])).toBe("EINVAL bad_action_list specs[2].action");
    expect(path([handle(l3), handle(reformat(L3_TUNNEL_TO_L2, new Uint8Array(18)))])).toBe(
      "EINVAL bad_action_list specs[1].action",
    );
    expect(bench.refused("a", [handle(m), handle(l2), handle(l3)])).toBeUndefined();
  });
});

describe("making and destroying", () => {
  test("hold the context, a number, and memory", () => {
    const used = bench.device.memoryUsed;
    const action = modify([set("OUT_IP_TTL", 1)]);
    expect(bench.device.memoryUsed).toBeGreaterThan(used);
    expect([action.name, action.context, bench.context.users]).toEqual(["modify_header0", bench.context, 1]);
    expect(bench.device.named.at(BigInt(action.handle))).toBe(action);
    const flow = bench.flow("a", [handle(action)]);
    expect(refused(() => v.ibv_destroy_flow_action(action))).toMatchObject({ code: "EBUSY", reason: "in_use" });
    v.ibv_destroy_flow(flow);
    v.ibv_destroy_qp(bench.qp("a"));
    expect(v.ibv_destroy_flow_action(action)).toBe(0);
    expect(refused(() => v.ibv_destroy_flow_action(action))?.reason).toBe("object_destroyed");
    expect([bench.device.memoryUsed, bench.device.named.at(BigInt(action.handle))]).toEqual([used, undefined]);
    expect(bench.context.users).toBe(0);
    expect(() => v.ibv_destroy_flow_action({} as never)).toThrow(TypeError);
  });

  test("ENOMEM leaves nothing", async () => {
    bench = await FlowBench.open({ limits: { memory: 1 << 16 } });
    const program = Array.from({ length: 255 }, () => set("OUT_IP_TTL", 1));
    let made = 0;
    const error = refused(() => {
      for (; made < 1000; made++) modify(program);
    });
    expect(error?.code).toBe("ENOMEM");
    expect([bench.context.users, made < 17]).toEqual([made, true]);
  });

  const made = (run: () => unknown): string => {
    const error = refused(run);
    return error === undefined ? "made" : `${error.code} ${error.path}`;
  };

  test("flow table types", () => {
    for (const [type, wanted] of [
      [RX, "made"],
      [TX, "made"],
      [FDB, "made"],
      [3, "EOPNOTSUPP ft_type"],
      [6, "EOPNOTSUPP ft_type"],
      [7, "EINVAL ft_type"],
    ] as const) {
      expect(made(() => ttl(1, type))).toBe(wanted);
      expect(made(() => reformat(L2_TUNNEL_TO_L2, null, type))).toBe(wanted);
    }
    expect(made(() => modify([set("METADATA_REG_A", 1)], RX))).toBe("EINVAL actions[0].field");
    expect(made(() => modify([set("METADATA_REG_A", 1)], TX))).toBe("made");
    expect(made(() => modify([set("METADATA_REG_B", 1)], FDB))).toBe("EINVAL actions[0].field");
  });

  test("sizes, as C gives them", () => {
    const words = dv.modifyActions([set("OUT_IP_TTL", 1), set("OUT_IP_TTL", 2)]);
    const sized = (size: number): string => {
      return made(() => dv.mlx5dv_create_flow_action_modify_header(bench.context, size, words, RX));
    };
    expect([0, 8, 12, 16, 24].map(sized)).toEqual([
      "EINVAL actions_sz",
      "made",
      "EINVAL actions_sz",
      "made",
      "EINVAL actions_sz",
    ]);
    const headers = (size: number, data: Uint8Array | null): string =>
      made(() => dv.mlx5dv_create_flow_action_packet_reformat(bench.context, size, data, L2_TO_L2_TUNNEL, RX));
    expect([headers(50, HEADERS), headers(49, HEADERS), headers(51, HEADERS)]).toEqual([
      "made",
      "made",
      "EINVAL data_sz",
    ]);
    expect([headers(0, HEADERS), headers(5, null), headers(0, null)]).toEqual(Array(3).fill("EINVAL data_sz"));
    expect(made(() => reformat(4, HEADERS))).toBe("EINVAL reformat_type");
  });

  test("ConnectX: what firmware takes", async () => {
    bench = await FlowBench.open({ profile: "connectx7" });
    const data = [null, HEADERS, new Uint8Array(14), HEADERS];
    for (const ft_type of [RX, TX, FDB]) {
      const takes = [0, 1, 2, 3].map((type) => made(() => reformat(type, data[type]!, ft_type)));
      const no = "EOPNOTSUPP reformat_type";
      expect(takes).toEqual([0, 1, 2, 3].map((type) => (ft_type === (type % 2 === 0 ? RX : TX) ? "made" : no)));
    }
    expect(made(() => reformat(4, HEADERS))).toBe("EOPNOTSUPP reformat_type");
    expect(made(() => reformat(L3_TUNNEL_TO_L2, null))).toBe("EINVAL data_sz");
    // Data and size are checked before the type.
    const half = (): unknown => dv.mlx5dv_create_flow_action_packet_reformat(bench.context, 5, null, 9, RX);
    expect(made(half)).toBe("EINVAL data_sz");
    expect(made(() => modify([{ type: "add", field: "OUT_TCP_SPORT", data: 1 }]))).toBe("EINVAL actions[0].field");
    expect(made(() => modify([{ type: "add", field: "METADATA_REG_C_0", data: 1 }]))).toBe("made");
    expect(made(() => modify([set("OUT_SIPV4", 1), set("OUT_SIPV6_31_0", 1)]))).toBe("made");
    expect(made(() => modify([set("IN_SIPV4", 1)]))).toBe("EINVAL actions[0].field");
    expect(made(() => modify([{ type: "nop" }]))).toBe("EINVAL actions[0].type");
  });

  test("contexts that are none", () => {
    const closed = v.ibv_open_device(bench.device);
    v.ibv_close_device(closed);
    const on = { context: closed } as unknown as FlowBench;
    expect(made(() => ttl(1, RX, on))).toBe("EINVAL ctx");
    expect(() => ttl(1, RX, { context: {} } as never)).toThrow(TypeError);
    expect(() => ttl(1, "0" as unknown as number)).toThrow(TypeError);
  });
});
