/** mlx5dv_create_flow(3): effects of flows in device bytes, and their order. */
import { beforeEach, describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import * as v from "../../../src/verbs/index.js";
import {
  count,
  dport,
  DONT_TRAP,
  DROP,
  EGRESS,
  outcomeText,
  SNIFFER,
  tag,
  TCP,
  valuesOf,
} from "../../verbs/support/flows.js";
import {
  changed,
  counted,
  DeviceFlowBench,
  DROPS,
  FDB,
  inTable,
  MISSES,
  NIC_TX,
  tagged,
} from "../support/createFlow.js";
import { ipv4Frame, refused } from "../support/directRules.js";

let bench: DeviceFlowBench;
beforeEach(async () => {
  bench = await DeviceFlowBench.open();
});

const HTTP = { "outer.tcp_dport": 80 };
const FRAME = ipv4Frame({ dport: 80 });
const OTHER = ipv4Frame({ dport: 81 });
const ttl = (data: number, ft_type = 0): dv.FlowAction =>
  dv.mlx5dv_create_flow_action_modify_header(
    bench.context,
    undefined,
    [{ type: "set", field: "OUT_IP_TTL", data }],
    ft_type,
  );
const got = (frame = FRAME, port = 1): string => bench.flows.received(frame, port);

describe("received frames", () => {
  test("reach a queue pair from every port, with a tag", () => {
    const flow = bench.flow(HTTP, [bench.to("a"), tagged(12)]);
    expect([got(), got(FRAME, 2), got(OTHER)]).toEqual(["a12 deliver", "a12 deliver", "miss no_rule"]);
    expect(bench.device.receive(1, FRAME).rules).toEqual([flow]);
    expect(v.ibv_destroy_flow(flow)).toBe(0);
    expect(got()).toBe("miss no_rule");
    expect(refused(() => v.ibv_destroy_flow(flow))?.reason).toBe("object_destroyed");
  });

  test("meet as many actions as num_actions says", () => {
    const { mask, match_criteria_enable, value } = dv.matchParameters(HTTP, { root: true });
    const matcher = dv.mlx5dv_create_flow_matcher(bench.context, { match_mask: mask, match_criteria_enable });
    dv.mlx5dv_create_flow(matcher, value, 1, [bench.to("a"), tagged(3), DROPS]);
    expect(got()).toBe("a deliver");
  });

  test("may have no list without actions, and then deliver nothing", () => {
    const { mask, match_criteria_enable, value } = dv.matchParameters(HTTP, { root: true });
    const matcher = dv.mlx5dv_create_flow_matcher(bench.context, { match_mask: mask, match_criteria_enable });
    dv.mlx5dv_create_flow(matcher, value, 0, null);
    expect(got()).toBe("drop no_destination");
    expect(() => dv.mlx5dv_create_flow(matcher, value, 1, null)).toThrow(TypeError);
  });

  test("are dropped; go to the next stage; end without a destination", () => {
    bench.device.hostRules.add({ application: "nic", action: { queue: 0 } });
    v.ibv_destroy_flow(bench.flow(HTTP, [DROPS]));
    const flow = bench.flow(HTTP, [DROPS]);
    expect(got()).toBe("drop drop_action");
    v.ibv_destroy_flow(flow);
    bench.flow(HTTP, [MISSES, tagged(9)]);
    bench.flow({}, [bench.to("a")], { priority: 1 });
    expect(got()).toBe("host:0 deliver");
    bench.flow({ "outer.tcp_dport": 81 }, [tagged(3)]);
    expect(got(OTHER)).toBe("drop no_destination");
  });

  test("are counted once, whatever the flow does", () => {
    const [devx, counters] = [bench.counter(2), bench.flows.counters()];
    bench.flow(HTTP, [counted(devx, 3), bench.to("a")]);
    bench.flow({ "outer.tcp_dport": 81 }, [counted(devx), DROPS]);
    bench.flow({ "outer.tcp_dport": 82 }, [{ type: dv.MLX5DV_FLOW_ACTION_IBV_COUNTER, counter: counters }, DROPS]);
    for (const frame of [FRAME, FRAME, OTHER, ipv4Frame({ dport: 82 })]) bench.device.receive(1, frame);
    expect([0, 1, 2, 3].map((offset) => devx.read(offset).packets)).toEqual([1n, 0n, 0n, 2n]);
    expect(devx.read(3).bytes).toBe(2n * BigInt(FRAME.length));
    expect(valuesOf(counters)).toEqual([1n, BigInt(FRAME.length)]);
  });

  test("counters can be attached while the flow lives", () => {
    const flow = bench.flow(HTTP, [DROPS]);
    const counters = bench.flows.counters();
    v.ibv_attach_counters_point_flow(counters, { counter_desc: v.IBV_COUNTER_PACKETS, index: 0 }, flow);
    got();
    expect(valuesOf(counters)[0]).toBe(2n);
  });

  test("are changed, in the device's order", () => {
    const header = buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "udp" }, { header: "vxlan" }]);
    const encap = dv.mlx5dv_create_flow_action_packet_reformat(bench.context, undefined, header, 1, 0);
    const devx = bench.counter();
    bench.flow(HTTP, [changed(encap), bench.to("a"), counted(devx), changed(ttl(7))]);
    const [to] = bench.device.receive(1, FRAME).to;
    expect(to?.frame.length).toBe(header.length + FRAME.length);
    expect(to?.frame[header.length + 22]).toBe(7);
    expect(devx.read().bytes).toBe(BigInt(FRAME.length));
  });

  test("set registers that no verb can ask, and flows ask what no verb can", () => {
    const set = dv.mlx5dv_create_flow_action_modify_header(
      bench.context,
      undefined,
      [{ type: "set", field: "METADATA_REG_C_0", data: 5, length: 16 }],
      0,
    );
    bench.flow({ ...HTTP, "outer.tcp_flags": 0x10 }, [changed(set), bench.to("a")]);
    expect(bench.device.receive(1, FRAME).registers).toEqual({ C0: 5 });
    bench.flow({ "misc.source_port": 0xffff }, [bench.to("b")], { priority: 1 });
    expect(got(OTHER)).toBe("b deliver");
  });
});

describe("one order with flows of the verbs and rules of root tables", () => {
  const root = (): { table: ReturnType<typeof dv.mlx5dv_dr_table_create>; match: dv.DeviceMatch } => ({
    table: dv.mlx5dv_dr_table_create(dv.mlx5dv_dr_domain_create(bench.context, 0), 0),
    match: dv.matchParameters(HTTP),
  });

  test("by priority", () => {
    const { table, match } = root();
    const matcher = dv.mlx5dv_dr_matcher_create(table, 2, match.match_criteria_enable, match.mask);
    const rule = dv.mlx5dv_dr_rule_create(matcher, match.value, 1, [dv.mlx5dv_dr_action_create_drop()]);
    bench.flows.flow("verbs", [TCP], { priority: 3 });
    const after = bench.flow(HTTP, [bench.to("a")], { priority: 4 });
    expect(got()).toBe("drop drop_action");
    const before = bench.flow(HTTP, [bench.to("b")], { priority: 1 });
    expect(got()).toBe("b deliver");
    v.ibv_destroy_flow(before);
    dv.mlx5dv_dr_rule_destroy(rule);
    expect(got()).toBe("verbs deliver");
    expect(after.device).toBe(bench.device);
  });

  test("among equal priorities DONT_TRAP first, then the older mask, then the older flow", () => {
    bench.flows.flow("copy", [TCP], { priority: 1, ...DONT_TRAP });
    const older = bench.flow({ "outer.ip_protocol": 6 }, [bench.to("a")], { priority: 1 });
    bench.flow(HTTP, [bench.to("b")], { priority: 1 });
    bench.flows.flow("verbs", [dport(80)], { priority: 1 });
    expect(got()).toBe("(copy) a deliver");
    v.ibv_destroy_flow(older);
    expect(got()).toBe("(copy) b deliver");
    bench.flow({ "outer.ip_protocol": 6 }, [bench.to("c")], { priority: 1 });
    expect(got()).toBe("(copy) b deliver");
  });

  test("sniffers before them", () => {
    bench.flows.flow("s", [], SNIFFER);
    bench.flow(HTTP, [DROPS]);
    expect(got()).toBe("(s) drop drop_action");
  });

  test("ConnectX: for multicast alone behind all others", async () => {
    bench = await DeviceFlowBench.open({ profile: "connectx7" });
    const group = ipv4Frame({ dst: [224, 0, 0, 5] });
    const mac = ipv4Frame();
    mac[0] = 1;
    bench.flow({ "outer.ipv4_dst": "224.0.0.5" }, [bench.to("m")]);
    bench.flow({ "outer.dmac": "01:00:00:00:00:01" }, [bench.to("g")], { priority: 1 });
    expect([got(group), got(mac)]).toEqual(["m deliver", "g deliver"]);
    bench.flow({}, [bench.to("a")], { priority: 15 });
    expect([got(group), got(mac)]).toEqual(["a deliver", "a deliver"]);
  });
});

describe("identical flows", () => {
  test("of several matchers are one: each queue gets a copy, the same queue one", () => {
    const [a, again, b] = [bench.to("a"), bench.to("a"), bench.to("b")].map((to) => bench.flow(HTTP, [to]));
    expect(got()).toBe("a b deliver");
    expect(bench.device.receive(1, FRAME).rules).toEqual([a, again, b]);
    v.ibv_destroy_flow(a!);
    expect(got()).toBe("a b deliver");
    v.ibv_destroy_flow(again!);
    expect(got()).toBe("b deliver");
  });

  test("those that go on hand queues a copy; two ways on are a conflict", () => {
    bench.flow(HTTP, [bench.to("a")]);
    const miss = bench.flow(HTTP, [MISSES]);
    bench.flows.flow("later", [], { type: v.IBV_FLOW_ATTR_ALL_DEFAULT });
    expect(got()).toBe("(a) later deliver");
    v.ibv_destroy_flow(miss);
    expect(got()).toBe("a deliver");
  });

  test("that do something else: EEXIST", () => {
    const action = ttl(3);
    bench.flow(HTTP, [bench.to("a"), tagged(1)]);
    expect(bench.refused(HTTP, [DROPS])).toEqual(["EEXIST", "conflicting_flow", "match_value"]);
    expect(bench.refused(HTTP, [bench.to("b"), tagged(2)])[0]).toBe("EEXIST");
    expect(bench.refused(HTTP, [bench.to("b"), changed(action)])[0]).toBe("EEXIST");
    expect(bench.refused(HTTP, [bench.to("b")], { priority: 1 })).toEqual([]);
    bench.flow(HTTP, [bench.to("b"), tagged(1)]);
    bench.flow(HTTP, [bench.to("c")]);
    expect(got()).toBe("a1 b1 c1 deliver");
  });

  test("no more than 60 queues of one entry", () => {
    for (let i = 0; i < 60; i++) bench.flow(HTTP, [bench.to(`q${i}`)]);
    expect(bench.refused(HTTP, [bench.to("one more")])[0]).toBe("ENOMEM");
    bench.flow(HTTP, [bench.to("q7")]);
    expect(bench.device.receive(1, FRAME).to.length).toBe(60);
  });

  test("a flow of the verbs is never one with them: it asks for its port", () => {
    bench.flow(HTTP, [bench.to("a")]);
    bench.flows.flow("verbs", [dport(80), DROP]);
    bench.flows.flow("verbs", [dport(80), tag(1), count(bench.flows.counters())], { priority: 1 });
    expect(got()).toBe("a deliver");
  });
});

describe("what is sent", () => {
  const sent = (frame = FRAME): string => outcomeText(bench.flows.sent(frame));

  test("is dropped, counted and changed; it goes on without a destination, and with a default miss", () => {
    const devx = bench.counter();
    bench.flow(HTTP, [counted(devx), changed(ttl(9, NIC_TX))], { flags: v.IBV_FLOW_ATTR_FLAGS_EGRESS });
    bench.flow({ "outer.tcp_dport": 81 }, [DROPS], inTable(NIC_TX));
    bench.flow({ "outer.tcp_dport": 82 }, [MISSES], inTable(NIC_TX));
    expect([sent(), sent(OTHER), sent(ipv4Frame({ dport: 82 }))]).toEqual([
      "port:1 transmit",
      "drop drop_action",
      "port:1 transmit",
    ]);
    expect(bench.flows.sent(FRAME).to[0]?.frame[22]).toBe(9);
    expect(devx.read()).toEqual({ packets: 2n, bytes: 2n * BigInt(FRAME.length) });
    expect(got()).toBe("miss no_rule");
  });

  test("stands in one order with EGRESS flows", () => {
    const flow = bench.flow(HTTP, [DROPS], { ...inTable(NIC_TX), priority: 1 });
    bench.flows.flow("a", [TCP], EGRESS);
    expect(sent()).toBe("port:1 transmit");
    bench.flow(HTTP, [], { ...inTable(NIC_TX), priority: 0 });
    v.ibv_destroy_flow(flow);
    expect(sent()).toBe("port:1 transmit");
  });

  test("and looped back comes to flows in device bytes, the sender's too", () => {
    bench.flow(HTTP, [bench.to("a")]);
    expect(outcomeText(bench.flows.looped(FRAME, "a"))).toBe("a deliver");
    bench.flows.flow("b", [dport(81)]);
    expect(outcomeText(bench.flows.looped(OTHER, "b"))).toBe("miss");
  });
});

describe("the eSwitch", () => {
  const way = (frame = FRAME): string => outcomeText(bench.device.send(bench.flows.qp("pf"), frame));

  test("drops what comes in and what functions send, on one side where source_port says so", () => {
    bench.device.hostRules.add({ application: "nic", action: { queue: 0 } });
    const flow = bench.flow(HTTP, [DROPS], inTable(FDB));
    expect([got(), way(), got(OTHER), way(OTHER)]).toEqual([
      "drop drop_action",
      "drop drop_action",
      "host:0 deliver",
      "port:1 transmit",
    ]);
    expect(bench.device.receive(1, FRAME).rules).toEqual([flow]);
    v.ibv_destroy_flow(flow);
    const one = bench.flow({ ...HTTP, "misc.source_port": 0 }, [DROPS], inTable(FDB));
    expect([got(), way()]).toEqual(["host:0 deliver", "drop drop_action"]);
    v.ibv_destroy_flow(one);
    bench.flow({ ...HTTP, "misc.source_port": 0xffff }, [DROPS], inTable(FDB));
    expect([got(), way()]).toEqual(["drop drop_action", "port:1 transmit"]);
  });

  test("changes frames of both sides, and counts them before they are encapsulated", () => {
    const pushed = new Uint8Array(50).fill(0);
    pushed.set([0x08, 0x00, 0x45], 12);
    const encap = dv.mlx5dv_create_flow_action_packet_reformat(bench.context, undefined, pushed, 1, FDB);
    const devx = bench.counter();
    bench.flow(HTTP, [changed(encap), changed(ttl(4, FDB)), counted(devx)], inTable(FDB));
    bench.device.receive(1, FRAME);
    const { to } = bench.device.send(bench.flows.qp("pf"), FRAME);
    expect(to[0]?.frame[50 + 22]).toBe(4);
    expect(devx.read()).toEqual({ packets: 2n, bytes: 2n * BigInt(FRAME.length) });
  });

  test("a default miss does what it does without rules; memory goes when the last rule goes", () => {
    bench.flows.qp("pf");
    const before = bench.device.memoryUsed;
    const matcher = bench.matcher(HTTP, inTable(FDB));
    const flow = bench.flow(HTTP, [MISSES], matcher);
    expect(bench.device.memoryUsed).toBeGreaterThan(before);
    expect(way()).toBe("port:1 transmit");
    v.ibv_destroy_flow(flow);
    dv.mlx5dv_destroy_flow_matcher(matcher);
    expect(bench.device.memoryUsed).toBe(before);
  });
});

test("a flow is in use, and memory is what it was", () => {
  const [qp, devx, action] = [bench.flows.qp("a"), bench.counter(2), ttl(3)];
  const counters = bench.flows.counters();
  v.ibv_destroy_flow(bench.flow({}, [{ type: 2, counter: counters }, DROPS], { priority: 9 }));
  const before = bench.device.memoryUsed;
  const matcher = bench.matcher(HTTP);
  const flow = bench.flow(HTTP, [bench.to("a"), counted(devx, 1), changed(action)], matcher);
  const other = bench.flow({ "outer.tcp_dport": 81 }, [DROPS, { type: 2, counter: counters }], matcher);
  const destroys = [
    () => dv.mlx5dv_destroy_flow_matcher(matcher),
    () => v.ibv_destroy_qp(qp),
    () => dv.mlx5dv_devx_obj_destroy(devx),
    () => v.ibv_destroy_flow_action(action),
    () => v.ibv_destroy_counters(counters),
  ];
  for (const destroy of destroys) expect(refused(destroy)?.code).toBe("EBUSY");
  v.ibv_destroy_flow(flow);
  expect(refused(destroys[0]!)?.code).toBe("EBUSY");
  v.ibv_destroy_flow(other);
  expect(bench.device.memoryUsed).toBe(before);
  for (const destroy of destroys.slice(0, 5)) expect(destroy()).toBe(0);
});
