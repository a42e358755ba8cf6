/**
 * Refusals of mlx5dv_create_flow_matcher(3), mlx5dv_create_flow(3) and
 * mlx5dv_create_steering_anchor(3), profile by profile.
 */
import { describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { PROFILES } from "../../verbs/coverage/support/record.js";
import {
  changed,
  counted,
  DeviceFlowBench,
  DROPS,
  FDB,
  inTable,
  MISSES,
  NIC_RX,
  NIC_TX,
  ofPort,
  RDMA_RX,
  RDMA_TX,
  tagged,
  TRANSPORT_RX,
} from "../support/createFlow.js";
import { created } from "../support/devx.js";
import { refused } from "../support/directRules.js";

const HTTP = { "outer.tcp_dport": 80 };
const modify = (bench: DeviceFlowBench, ft_type: number = NIC_RX): dv.FlowActionAttr =>
  changed(
    dv.mlx5dv_create_flow_action_modify_header(
      bench.context,
      undefined,
      [{ type: "set", field: "OUT_IP_TTL", data: 1 }],
      ft_type,
    ),
  );

describe.each(PROFILES)("%s", (profile) => {
  const manual = profile === "manual";
  const open = (more = {}): Promise<DeviceFlowBench> => DeviceFlowBench.open({ profile, ...more });

  test("matchers", async () => {
    const { context, device } = await open({ vports: 1 });
    const match_mask = new Uint8Array(64);
    const code = (attr: object): string | undefined =>
      refused(() => dv.mlx5dv_create_flow_matcher(context, { match_mask, ...attr }))?.code;
    const used = context.users;
    expect(code({ comp_mask: 4 })).toBe("EOPNOTSUPP");
    expect(code({ type: 1 })).toBe("EOPNOTSUPP");
    expect(code({ ft_type: TRANSPORT_RX, comp_mask: 1 })).toBe("EINVAL");
    expect(code({ ft_type: NIC_RX, comp_mask: 3 })).toBe("EOPNOTSUPP");
    expect(code({ comp_mask: 2, ib_port: 1 })).toBe("EOPNOTSUPP");
    expect(code({ ft_type: NIC_TX, comp_mask: 1, flags: v.IBV_FLOW_ATTR_FLAGS_EGRESS })).toBe("EINVAL");
    expect(code({ flags: v.IBV_FLOW_ATTR_FLAGS_DONT_TRAP })).toBe("EINVAL");
    expect(code({ flags: 12 })).toBe("EINVAL");
    expect(code({ ft_type: 7, comp_mask: 1 })).toBe("EINVAL");
    expect(code(ofPort(TRANSPORT_RX, 0))).toBe("EINVAL");
    expect(code(ofPort(TRANSPORT_RX, 3))).toBe("EINVAL");
    expect(code({ match_mask: new Uint8Array(516) })).toBe(manual ? undefined : "EINVAL");
    expect(code({ match_mask: new Uint8Array(6) })).toBeUndefined();
    expect(code({ match_mask: null })).toBe(manual ? undefined : "EINVAL");
    expect(code({ priority: 0x10000 })).toBe("EINVAL");
    expect(code({ match_criteria_enable: 0x80 })).toBe(manual ? "EINVAL" : undefined);
    // ip_version of 5: a plain mask for the kernel.
    const odd = new Uint8Array(64);
    odd[18] = 5 << 1;
    expect(code({ match_mask: odd, match_criteria_enable: 1 })).toBe(manual ? "EINVAL" : undefined);
    // ft_type without its bit is ignored.
    expect(code({ ft_type: 99 })).toBe(undefined);
    expect(context.users - used).toBe(4);
    const vf = v.ibv_open_device(device.function(1));
    const matcher = dv.mlx5dv_create_flow_matcher(vf, { match_mask, ...inTable(FDB) });
    expect(refused(() => dv.mlx5dv_create_flow(matcher, match_mask, 1, [DROPS]))?.code).toBe("EOPNOTSUPP");
    for (const call of [undefined, 3, null]) {
      expect(() => dv.mlx5dv_create_flow_matcher(context, call as never)).toThrow(TypeError);
    }
  });

  test("lists of actions", async () => {
    const bench = await open();
    const [to, devx, counters] = [bench.to("a"), bench.counter(1), bench.flows.counters()];
    const code = (actions: readonly dv.FlowActionAttr[], attr = {}): string | undefined =>
      bench.refused(HTTP, actions, attr)[0];
    const twice = manual ? "EINVAL" : "EOPNOTSUPP";
    for (const end of [to, DROPS, MISSES, { type: dv.MLX5DV_FLOW_ACTION_DEST_DEVX, obj: devx }]) {
      expect(code([end, DROPS])).toBe(twice);
    }
    expect(code([to, tagged(1), tagged(1)])).toBe("EINVAL");
    expect(code([to, counted(devx), counted(devx, 1)])).toBe(twice);
    expect(code([to, { type: dv.MLX5DV_FLOW_ACTION_IBV_COUNTER, counter: counters }])).toBe(
      manual ? undefined : "EOPNOTSUPP",
    );
    expect(code([to, { type: 9 }])).toBe(twice);
    expect(code([to, tagged(2 ** 24)], { priority: 1 })).toBe("EINVAL");
    expect(code([to, counted(devx, 2)])).toBe("EINVAL");
    expect(code([to, { type: dv.MLX5DV_FLOW_ACTION_COUNTERS_DEVX, obj: counters }])).toBe("EINVAL");
    expect(code([{ type: dv.MLX5DV_FLOW_ACTION_DEST_DEVX, obj: devx }])).toBe("EINVAL");
    const one = modify(bench);
    const list = (length: number): dv.FlowActionAttr[] => [to, ...Array.from({ length }, () => one)];
    expect(code(list(9), { priority: 2 })).toBe(twice);
    expect(code(list(3), { priority: 2 })).toBe(manual ? undefined : "EINVAL");
    expect(code(list(2), { priority: 3 })).toBe(manual ? undefined : "EINVAL");
    const [L2, L3] = [dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2, 2];
    const reformat = (type: number, data: Uint8Array | null): dv.FlowActionAttr =>
      changed(dv.mlx5dv_create_flow_action_packet_reformat(bench.context, undefined, data, type, NIC_RX));
    // Each of a different kind.
    const three = [one, reformat(L2, null), reformat(L3, new Uint8Array(14))];
    expect(code([to, ...three.slice(0, 2)], { priority: 6 })).toBe(undefined);
    expect(code([to, ...three], { priority: 7 })).toBe(manual ? undefined : "EINVAL");
    expect(code([to, modify(bench, NIC_TX)], { priority: 4 })).toBe("EINVAL");
    expect(code([counted(devx)], { priority: 5 })).toBe(manual ? undefined : "EINVAL");
    expect(code([to], { priority: 16 })).toBe(manual ? undefined : "ENOMEM");
    const matcher = bench.matcher(HTTP);
    const { value } = dv.matchParameters({ ...HTTP, "outer.tcp_sport": 1 }, { root: true });
    expect(refused(() => dv.mlx5dv_create_flow(matcher, value, 1, [DROPS]))?.reason).toBe("value_outside_mask");
    const fits = dv.matchParameters(HTTP, { root: true }).value;
    expect(refused(() => dv.mlx5dv_create_flow(matcher, fits, 2, [DROPS]))?.path).toBe("num_actions");
    expect(() => dv.mlx5dv_create_flow(matcher, fits, 1, [{ type: 0, qp: {} as never }])).toThrow(TypeError);
    expect(() => dv.mlx5dv_create_flow(matcher, fits, 1, [null as never])).toThrow(TypeError);
    expect(() => dv.mlx5dv_create_flow({} as never, fits, 1, [DROPS])).toThrow(TypeError);
    dv.mlx5dv_destroy_flow_matcher(matcher);
    expect(refused(() => dv.mlx5dv_create_flow(matcher, fits, 1, [DROPS]))?.reason).toBe("object_destroyed");
  });

  test("destinations by table", async () => {
    const bench = await open();
    const to = bench.to("a");
    const code = (type: number, ...actions: readonly dv.FlowActionAttr[]): string | undefined =>
      bench.refused(HTTP, actions, inTable(type))[0];
    for (const type of [NIC_TX, RDMA_TX, FDB]) expect(code(type, to)).toBe("EINVAL");
    expect(code(FDB, MISSES)).toBe(manual ? undefined : "EINVAL");
    expect(code(FDB)).toBe(manual ? undefined : "EINVAL");
    expect(code(FDB, DROPS, tagged(1))).toBe(manual ? "EINVAL" : undefined);
    for (const [priority, actions] of [[DROPS], [MISSES], []].entries()) {
      const found = bench.refused({}, actions, { ...inTable(RDMA_RX), priority })[0];
      expect(found).toBe(manual ? undefined : "EINVAL");
    }
    expect(code(RDMA_RX, to)).toBe(undefined);
    expect(code(RDMA_RX, to, modify(bench))).toBe("EINVAL");
    const devx = dv.mlx5dv_open_device(bench.device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
    const tir = created(devx, dv.createTirCommand({ inline_rqn: bench.flows.qp("a").qp_num }));
    expect(code(RDMA_RX, { type: dv.MLX5DV_FLOW_ACTION_DEST_DEVX, obj: tir })).toBe("EINVAL");
    expect(code(RDMA_TX, DROPS)).toBe(undefined);
  });

  test("queue pairs of other types, functions and devices; contexts without a privilege", async () => {
    const bench = await open({ vports: 1 });
    const qp = (one: unknown): dv.FlowActionAttr => ({ type: dv.MLX5DV_FLOW_ACTION_DEST_IBV_QP, qp: one as never });
    const code = (one: unknown): string | undefined => bench.refused(HTTP, [qp(one)])[0];
    expect(code(bench.flows.realQp(v.IBV_QPT_UD))).toBe(manual ? undefined : "EINVAL");
    expect(code(bench.flows.realQp(v.IBV_QPT_RC))).toBe("EINVAL");
    const other = await open();
    expect(code(other.flows.qp("x"))).toBe("EINVAL");
    expect(bench.refused(HTTP, [counted(other.counter()), DROPS])[1]).toBe("other_device");
    expect(bench.refused(HTTP, [bench.to("a"), modify(other)])[1]).toBe("other_device");
    const bare = v.ibv_open_device(bench.device, { cap_net_raw: false });
    const matcher = dv.mlx5dv_create_flow_matcher(bare, { match_mask: new Uint8Array(4) });
    expect(refused(() => dv.mlx5dv_create_flow(matcher, new Uint8Array(4), 1, [DROPS]))?.code).toBe("EPERM");
    expect(refused(() => dv.mlx5dv_create_steering_anchor(bare, {}))?.code).toBe("EPERM");
    const without = await open({ managedFlowSteering: false });
    expect(without.refused(HTTP, [DROPS])[0]).toBe(manual ? "ENOSYS" : "EOPNOTSUPP");
  });

  test("steering anchors", async () => {
    const { context, device } = await open({ vports: 1 });
    const code = (attr: dv.SteeringAnchorAttr, on = context): string | undefined =>
      refused(() => dv.mlx5dv_create_steering_anchor(on, attr))?.code;
    const used = [device.memoryUsed, context.users];
    expect(code({ comp_mask: 1 })).toBe("EOPNOTSUPP");
    expect(code({ ft_type: 7 })).toBe("EINVAL");
    expect(code({ ft_type: TRANSPORT_RX })).toBe("EOPNOTSUPP");
    expect(code({ ft_type: FDB }, v.ibv_open_device(device.function(1)))).toBe("EOPNOTSUPP");
    expect([device.memoryUsed, context.users]).toEqual(used);
    expect(code({ priority: 16 })).toBe(manual ? undefined : "EINVAL");
    expect(code({ priority: 0x10000 })).toBe("EINVAL");
    const make = (attr: dv.SteeringAnchorAttr): dv.SteeringAnchor => dv.mlx5dv_create_steering_anchor(context, attr);
    const before = device.memoryUsed;
    const anchors = [make({ ft_type: RDMA_RX }), make({ ft_type: RDMA_RX }), make({ ft_type: RDMA_RX, priority: 1 })];
    const [first, again, other] = anchors.map(({ id }) => id);
    expect([again, other === first]).toEqual([first, false]);
    for (const one of anchors) expect(dv.mlx5dv_destroy_steering_anchor(one)).toBe(0);
    expect(device.memoryUsed).toBe(before);
    expect(refused(() => dv.mlx5dv_destroy_steering_anchor(anchors[0]!))?.reason).toBe("object_destroyed");
  });
});
