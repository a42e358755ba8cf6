/** ibv_create_flow(3): refusals and their order; the objects that a flow uses and releases. */
import { beforeEach, describe, expect, test } from "vitest";
import type { Context } from "../../../src/model/base/context.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { FlowAction } from "../../../src/model/action/flowAction.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";
import {
  ALL,
  attr,
  count,
  DONT_TRAP,
  dport,
  DROP,
  EGRESS,
  FlowBench,
  MC,
  SNIFFER,
  tag,
  TCP,
  UDP,
} from "../support/flows.js";

const FRAME = ipv4Frame();

let bench: FlowBench;
beforeEach(async () => {
  bench = await FlowBench.open();
});

describe("what is refused", () => {
  test("in its order: EPERM, ENOSYS, EINVAL, EEXIST, ENOMEM", async () => {
    const destroyed = async (over: Parameters<typeof FlowBench.open>[0], capabilities = {}): Promise<unknown> => {
      const one = await FlowBench.open(over, capabilities);
      const qp = one.qp("a");
      v.ibv_destroy_qp(qp);
      return refused(() => v.ibv_create_flow(qp, attr([{ type: 0x77 }], { type: 9 })))?.code;
    };
    expect(await destroyed({ managedFlowSteering: false }, { cap_net_raw: false })).toBe("EPERM");
    expect(await destroyed({ managedFlowSteering: false })).toBe("ENOSYS");
    expect(await destroyed({})).toBe("EINVAL");
    const one = await FlowBench.open({ limits: { flows: 2 } });
    one.flow("a", [TCP]);
    const second = one.flow("b", [], SNIFFER);
    expect(one.refused("c", [TCP, DROP])).toBe("EEXIST");
    expect(one.refused("c", [TCP])).toBe("ENOMEM");
    v.ibv_destroy_flow(second);
    expect(one.refused("c", [TCP])).toBeUndefined();
    expect(one.refused("c", [], ALL)).toBe("ENOMEM");
  });

  test("limits and switches of a device have their types", async () => {
    await expect(FlowBench.open({ limits: { flows: -1 } })).rejects.toThrow("limits.flows");
  });

  test("queue pairs that are neither UD nor raw packet; EGRESS takes any", () => {
    for (const [type, code] of [
      [v.IBV_QPT_RC, "EINVAL"],
      [v.IBV_QPT_UD, undefined],
      [v.IBV_QPT_RAW_PACKET, undefined],
    ] as const) {
      const qp = bench.realQp(type);
      expect(refused(() => v.ibv_create_flow(qp, attr([TCP])))?.code).toBe(code);
      expect(refused(() => v.ibv_create_flow(qp, attr([TCP], EGRESS)))).toBeUndefined();
    }
  });

  test.each<[string, readonly object[], Partial<v.FlowAttr>]>([
    ["an unknown type", [], { type: 4 }],
    ["an unknown flag", [], { flags: 8 }],
    ["a port that is not there", [], { port: 3 }],
    ["no port", [], { port: 0 }],
    ["a number of specs that is not theirs", [TCP], { num_of_specs: 2 }],
    ["an unknown spec", [{ type: 0x77 }], {}],
    ["contradicting specs", [TCP, UDP], {}],
    ["a tag of 25 bits", [tag(2 ** 24)], {}],
    ["two tags", [tag(1), tag(1)], {}],
    ["DONT_TRAP of a sniffer", [], { ...SNIFFER, ...DONT_TRAP }],
    ["EGRESS of a default flow", [], { ...MC, ...EGRESS }],
  ])("EINVAL: %s", (_name, specs, over) => {
    expect(bench.refused("a", specs, over)).toBe("EINVAL");
  });

  test("what is of the wrong type is a TypeError", () => {
    const wrong = [
      () => v.ibv_create_flow({} as never, attr([])),
      () => v.ibv_create_flow(bench.qp("a"), null as never),
      () => bench.flow("a", [count({})]),
      () => bench.flow("a", [{ type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action: {} }]),
      () => v.ibv_destroy_flow({} as never),
    ];
    for (const call of wrong) expect(call).toThrow(TypeError);
  });

  test("counters of another device, and those that are gone", async () => {
    const other = await FlowBench.open();
    expect(refused(() => bench.flow("a", [count(other.counters())]))?.reason).toBe("other_device");
    const gone = bench.counters();
    v.ibv_destroy_counters(gone);
    expect(refused(() => bench.flow("a", [count(gone)]))).toMatchObject({
      code: "EINVAL",
      reason: "object_destroyed",
      path: "specs[0].counters",
    });
  });

  test("a conflict names the flow that is there", () => {
    bench.flow("a", [TCP, DROP]);
    expect(refused(() => bench.flow("b", [TCP]))).toMatchObject({ reason: "conflicting_flow", errno: 17 });
    expect(refused(() => bench.flow("b", [TCP]))?.message).toContain("flow0 asks for the same frames and drops them");
  });
});

const someAction = (context: Context): FlowAction =>
  dv.mlx5dv_create_flow_action_modify_header(
    context,
    undefined,
    [{ type: "set", field: "METADATA_REG_C_0", data: 1 }],
    dv.MLX5DV_FLOW_TABLE_TYPE_NIC_RX,
  );

describe("lifetimes", () => {
  test("a flow uses the actions that it names, by object or by number", async () => {
    const action = someAction(bench.context);
    const specs = [TCP, { type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action }];
    const flow = bench.flow("a", specs);
    const again = v.ibv_create_flow(
      bench.qp("b"),
      v.flowAttrBytes(attr(specs), () => action.handle),
    );
    expect([action.users, again.actions]).toEqual([2, [action]]);
    expect(refused(() => v.ibv_destroy_flow_action(action))?.code).toBe("EBUSY");
    for (const one of [flow, again]) v.ibv_destroy_flow(one);
    expect(v.ibv_destroy_flow_action(action)).toBe(0);
    expect(refused(() => bench.flow("a", specs))?.path).toBe("specs[1].action");
    const wrong = v.flowAttrBytes(attr(specs), () => action.handle);
    expect(refused(() => v.ibv_create_flow(bench.qp("b"), wrong))?.reason).toBe("bad_object");
    const other = await FlowBench.open();
    expect(refused(() => other.flow("a", [{ ...specs[1], action: someAction(bench.context) }]))?.reason).toBe(
      "other_device",
    );
  });

  test("a flow uses its queue pair and its counters, and is destroyed once", () => {
    const empty = bench.state();
    const counters = bench.counters();
    const flow = bench.flow("a", [TCP, count(counters)]);
    expect([flow.name, flow.handle, flow.context]).toEqual(["flow0", 1, bench.context]);
    expect(refused(() => v.ibv_destroy_qp(bench.qp("a")))?.code).toBe("EBUSY");
    expect(refused(() => v.ibv_destroy_counters(counters))?.code).toBe("EBUSY");
    v.ibv_destroy_flow(flow);
    expect(refused(() => v.ibv_destroy_flow(flow))).toMatchObject({ code: "EINVAL", reason: "object_destroyed" });
    v.ibv_destroy_counters(counters);
    v.ibv_destroy_qp(bench.qp("a"));
    expect(empty).toContain("[");
    v.ibv_close_device(bench.context);
  });

  test("what all flows of a device held is given back", () => {
    const used = bench.device.memoryUsed;
    bench.qp("a");
    const one = bench.device.memoryUsed;
    const flows = [{}, ALL, MC, SNIFFER, EGRESS, DONT_TRAP].map((over) => bench.flow("a", [dport(80)], over));
    for (const flow of flows) v.ibv_destroy_flow(flow);
    expect(bench.device.memoryUsed).toBe(one);
    v.ibv_destroy_qp(bench.qp("a"));
    expect(bench.device.memoryUsed).toBe(used);
  });

  test("completions carry the tag of the flow that delivered", () => {
    const qp = bench.realQp(v.IBV_QPT_RAW_PACKET);
    const cq = qp.recv_cq as NonNullable<typeof qp.recv_cq>;
    const memory = new Uint8Array(256);
    const mr = v.ibv_reg_mr(qp.pd as NonNullable<typeof qp.pd>, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
    const to = (qp_state: number): unknown =>
      v.ibv_modify_qp(
        qp,
        { qp_state, port_num: 1 },
        v.IBV_QP_STATE | (qp_state === v.IBV_QPS_INIT ? v.IBV_QP_PORT : 0),
      );
    to(v.IBV_QPS_INIT);
    for (const wr_id of [0, 1, 2]) {
      v.ibv_post_recv(qp, { wr_id, sg_list: [{ addr: memory.subarray(64 * wr_id, 64 * wr_id + 64), lkey: mr.lkey }] });
    }
    to(v.IBV_QPS_RTR);
    v.ibv_create_flow(qp, attr([tag(3)], SNIFFER));
    v.ibv_create_flow(qp, attr([TCP], DONT_TRAP));
    v.ibv_create_flow(qp, attr([tag(5)]));
    expect(bench.received(FRAME)).toBe("(qp13) (qp1) qp15 deliver");
    expect(v.ibv_poll_cq(cq, 9).map(({ flow_tag, wr_id }) => [wr_id, flow_tag])).toEqual([
      [0, 3],
      [1, 0],
      [2, 5],
    ]);
    // No buffer is left: every destination reports it, the frame's own first.
    expect(bench.received(FRAME)).toBe("drop no_receive_buffer");
    expect(bench.device.reasons().no_receive_buffer).toBe(3n);
  });
});
