/**
 * Flows that accept an ESP action, and its effect beside their other actions (docs/esp.md,
 * "Flows").
 */
import { beforeEach, describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import {
  create,
  ENCRYPT,
  ESP_SPEC,
  handle,
  inline,
  sealed,
  sealing,
  told,
  TRANSPORT,
  tunnel,
  UDP_ENCAP,
} from "../support/esp.js";
import {
  ALL,
  attr,
  DONT_TRAP,
  DROP,
  EGRESS,
  FlowBench,
  IPV4,
  MC,
  outcomeText,
  SNIFFER,
  tag,
  TCP,
} from "../support/flows.js";

const FRAME = ipv4Frame();
const RX = dv.MLX5DV_FLOW_TABLE_TYPE_NIC_RX;
const TX = dv.MLX5DV_FLOW_TABLE_TYPE_NIC_TX;
let bench: FlowBench;

beforeEach(async () => {
  bench = await FlowBench.open();
});

const ttl = (data: number, ft_type = RX): dv.FlowAction =>
  dv.mlx5dv_create_flow_action_modify_header(
    bench.context,
    undefined,
    [{ type: "set", field: "OUT_IP_TTL", data }],
    ft_type,
  );

const path = (specs: readonly object[], over: object = {}): string | undefined =>
  told(() => bench.flow("a", specs, over));

const opens = (): ReturnType<typeof create> => create(bench, tunnel(0));
const seals = (): ReturnType<typeof create> => create(bench, tunnel(ENCRYPT));

/** A frame encrypted by `seals`. */
function sealedFrame(esp = tunnel(ENCRYPT)): Uint8Array {
  const action = create(bench, esp);
  const flow = sealing(bench, action);
  const frame = sealed(bench, FRAME);
  v.ibv_destroy_flow(flow);
  v.ibv_destroy_flow_action(action);
  return frame;
}

describe("flows that are refused", () => {
  test("of the other direction, other types", () => {
    expect(path([handle(seals())])).toBe("EINVAL bad_object specs[0].action");
    expect(path([handle(opens())], EGRESS)).toBe("EINVAL bad_object specs[0].action");
    for (const type of [ALL, MC, SNIFFER]) {
      expect(path([handle(opens())], type)).toBe("EINVAL bad_action_list specs[0].action");
    }
  });

  test("with a second one", () => {
    const action = opens();
    for (const second of [action, opens()]) {
      expect(path([handle(action), handle(ttl(1)), handle(second)])).toBe("EINVAL bad_action_list specs[2].action");
    }
    expect(action.users).toBe(0);
  });

  test("inline, without IP or ESP of the outer packet", () => {
    const action = create(bench, inline(0));
    const inner = (type: number) => ({ type: type | v.IBV_FLOW_SPEC_INNER });
    for (const specs of [
      [],
      [IPV4],
      [ESP_SPEC],
      [TCP, ESP_SPEC],
      [inner(v.IBV_FLOW_SPEC_IPV4), ESP_SPEC],
      [IPV4, inner(v.IBV_FLOW_SPEC_ESP)],
    ]) {
      expect(path([...specs, handle(action)])).toBe(`EINVAL bad_action_list specs[${specs.length}].action`);
    }
    for (const type of [v.IBV_FLOW_SPEC_IPV4, v.IBV_FLOW_SPEC_IPV4_EXT, v.IBV_FLOW_SPEC_IPV6]) {
      expect(path([handle(action), ESP_SPEC, { type }], { priority: type })).toBeUndefined();
    }
    expect(action.users).toBe(3);
  });

  test("DONT_TRAP with other changes", () => {
    expect(path([handle(opens()), handle(ttl(1))], DONT_TRAP)).toBe("EINVAL bad_action_list specs[1].action");
    expect(path([handle(opens())], DONT_TRAP)).toBeUndefined();
  });

  test("of another function, another device", async () => {
    const other = await FlowBench.open();
    const foreign = create(other, tunnel(0));
    expect(path([handle(foreign)])).toBe("EINVAL other_device specs[0].action");
  });

  test("ConnectX: EGRESS with DROP or a tag", async () => {
    bench = await FlowBench.open({ profile: "connectx7" });
    const [out, into] = [create(bench, inline(ENCRYPT)), create(bench, inline(0))];
    for (const more of [DROP, tag(1)]) {
      expect(path([IPV4, ESP_SPEC, handle(out), more], EGRESS)).toBe("EINVAL bad_action_list specs[2].action");
      expect(path([IPV4, ESP_SPEC, handle(into), more], { priority: more === DROP ? 1 : 2 })).toBeUndefined();
    }
    expect(path([IPV4, ESP_SPEC, handle(out)], EGRESS)).toBeUndefined();
  });
});

describe("the order of execution", () => {
  test("decryption comes first, encryption last", () => {
    const chain = { esp_encap: [UDP_ENCAP] };
    const action = create(bench, tunnel(ENCRYPT | TRANSPORT, chain));
    bench.flow("out", [handle(action), handle(ttl(77, TX))], EGRESS);
    const frame = sealed(bench, FRAME);
    expect(frame[22]).toBe(77);
    bench.flow("in", [handle(ttl(9)), handle(create(bench, tunnel(TRANSPORT, chain)))]);
    const opened = bench.device.receive(1, frame).to[0]?.frame;
    expect(opened?.[22]).toBe(9);
    expect(opened?.slice(34)).toEqual(FRAME.slice(34));
  });

  test("DONT_TRAP: the frame is delivered open, and goes on so", () => {
    const frame = sealedFrame();
    bench.flow("d", [ESP_SPEC, handle(opens())], DONT_TRAP);
    bench.flow("a", [TCP]);
    expect(bench.received(frame)).toBe("(d) a deliver");
    const outcome = bench.device.receive(1, frame);
    expect(outcome.copies[0]?.frame.slice()).toEqual(FRAME);
    expect(outcome.to[0]?.frame.slice()).toEqual(FRAME);
  });

  test("what is dropped there has visited the rule", () => {
    const flow = bench.flow("a", [handle(opens())]);
    const outcome = bench.device.receive(1, FRAME);
    expect(outcomeText(outcome)).toBe("drop esp_not_esp");
    expect(outcome.rules).toEqual([flow]);
  });
});

describe("inline decryption says what it came to", () => {
  /** The extended completion of each frame that a queue pair receives. */
  function completions(...frames: Uint8Array[]): [status: number, vendor: number, bytes: number][] {
    const { context } = bench;
    const pd = v.ibv_alloc_pd(context);
    const cq = v.ibv_create_cq_ex(context, { cqe: 16, wc_flags: v.IBV_WC_EX_WITH_BYTE_LEN });
    const cap = { max_recv_wr: 8, max_recv_sge: 1 };
    const qp = v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_RAW_PACKET });
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_INIT, port_num: 1 }, v.IBV_QP_STATE | v.IBV_QP_PORT);
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RTR }, v.IBV_QP_STATE);
    const mr = v.ibv_reg_mr(pd, new Uint8Array(4096), undefined, v.IBV_ACCESS_LOCAL_WRITE);
    for (let n = 0; n < frames.length; n++) {
      const addr = mr.bytes.subarray(512 * n, 512 * (n + 1));
      v.ibv_post_recv(qp, { wr_id: n, sg_list: [{ addr, lkey: mr.lkey }] });
    }
    v.ibv_create_flow(qp, attr([IPV4, ESP_SPEC, handle(create(bench, inline(0)))]));
    for (const frame of frames) bench.device.receive(1, frame);
    const found: [number, number, number][] = [];
    for (let rc = v.ibv_start_poll(cq); rc === 0; rc = v.ibv_next_poll(cq)) {
      found.push([cq.status, v.ibv_wc_read_vendor_err(cq), v.ibv_wc_read_byte_len(cq)]);
    }
    return found;
  }

  test("0 good, 1 ICV", () => {
    const frame = sealedFrame();
    const bad = Uint8Array.from(frame, (byte, i) => (i === frame.length - 1 ? byte ^ 1 : byte));
    const clear = frame.length - 16 - 4;
    const [good, wrong] = completions(frame, bad);
    expect(good?.slice(0, 2)).toEqual([v.IBV_WC_SUCCESS, 0]);
    expect(good?.[2]).toBeLessThanOrEqual(clear + 2);
    expect(wrong).toEqual([v.IBV_WC_SUCCESS, 1, frame.length]);
  });

  test("and outcomes say it too", () => {
    const frame = sealedFrame();
    const bad = Uint8Array.from(frame, (byte, i) => (i === 60 ? byte ^ 1 : byte));
    bench.flow("a", [IPV4, ESP_SPEC, handle(create(bench, inline(0)))]);
    const [good, wrong] = bench.device.receiveBatch(1, [frame, bad]);
    expect([good?.to[0]?.espFault, wrong?.to[0]?.espFault]).toEqual([undefined, "icv"]);
    expect(wrong?.to[0]?.frame.slice()).toEqual(bad);
  });
});

test("a frame whose link cannot say another IP version begins with IP", async () => {
  const bench = await FlowBench.open();
  const ipv6 = { type: v.IBV_FLOW_SPEC_IPV6, val: { src_ip: "2001:db8::1", dst_ip: "2001:db8::2" } };
  const device = bench.device;
  sealing(bench, create(bench, tunnel(ENCRYPT, { esp_encap: [ipv6] })));
  const clear = buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
    { header: "udp" },
  ]);
  const packet = sealed(bench, clear).slice(14);
  bench.flow("in", [handle(create(bench, tunnel(0, { esp_encap: [ipv6] })))]);
  const loopback = Uint8Array.of(0, 0, 0, 30, ...packet);
  const { to } = device.receive(1, loopback, { linkType: 108 });
  expect(to[0]).toMatchObject({ linkType: 101 });
  expect([...to[0]!.frame]).toEqual([...clear.subarray(14, 42)]);
});
