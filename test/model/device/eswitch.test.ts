/**
 * The eSwitch: paths of frames between the wire, the PF and its VFs (docs/rules.md, "The way of a
 * frame").
 */
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createDevice, createSink, type FrameListener } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";
import {
  attr,
  count,
  dport,
  DONT_TRAP,
  EGRESS,
  LOOP,
  outcomeText,
  SNIFFER,
  tag,
  TCP,
  valuesOf,
} from "../../verbs/support/flows.js";
import { DEFAULT_MISS, DROP, pushVlan, Switch, toAll, toPort, toVport, UPLINK } from "../support/eswitch.js";

let one: Switch;
beforeEach(async () => {
  one = await Switch.open();
});

const flow = (vport: 0 | 1 | 2, specs: readonly object[], over = {}): v.Flow =>
  v.ibv_create_flow(one.queues[vport], attr(specs, over));

describe("without rules", () => {
  const ways = (): string[] => [one.wire(80, 2), one.sent(1, 80), one.sent(2, 80), one.sent(0, 80)];

  test("the wire and VFs come to the PF, and the PF leaves", () => {
    const expected = ["host:0 deliver", "host:0 deliver", "host:0 deliver", "port:1 transmit"];
    expect(ways()).toEqual(expected);
    // A root table without rules changes nothing, nor does one whose rules are gone.
    const rule = one.fdb(80, DROP);
    expect(ways()).toEqual(Array(4).fill("drop drop_action"));
    dv.mlx5dv_dr_rule_destroy(rule);
    expect(ways()).toEqual(expected);
  });

  test("a default miss of a rule does the same", () => {
    one.fdb(80, DEFAULT_MISS);
    expect(ways()).toEqual(["host:0 deliver", "host:0 deliver", "host:0 deliver", "port:1 transmit"]);
  });

  test("the PF's stages are found as they are now, with a root table or without", () => {
    for (const root of [false, true]) {
      if (root) one.device.function(0).pipeline.pinRoot("fdb");
      const first = flow(0, [dport(80)]);
      expect([one.wire(80), one.sent(1, 80)]).toEqual(["pf deliver", "pf deliver"]);
      const sniffer = flow(0, [], SNIFFER);
      expect([one.wire(80), one.sent(1, 80)]).toEqual(["(pf) pf deliver", "(pf) pf deliver"]);
      for (const each of [first, sniffer]) v.ibv_destroy_flow(each);
      expect([one.wire(80), one.sent(1, 80)]).toEqual(["host:0 deliver", "host:0 deliver"]);
    }
  });
});

describe("rules", () => {
  test("give frames to functions, whatever their origin", () => {
    one.fdb(80, toVport(1));
    expect(one.wire(80)).toBe("vf1/host:0 deliver");
    expect(one.sent(0, 80)).toBe("vf1/host:0 deliver");
    expect(one.sent(2, 80)).toBe("vf1/host:0 deliver");
    // Its own.
    expect(one.sent(1, 80)).toBe("vf1/host:0 deliver");
    expect(one.wire(81)).toBe("host:0 deliver");
    one.fdb(81, toVport(0));
    expect([one.wire(81), one.sent(0, 81), one.sent(1, 81)]).toEqual(Array(3).fill("host:0 deliver"));
  });

  test("there pass all stages of the function, whose flows answer everybody", () => {
    one.fdb(80, toVport(1));
    const counters = v.ibv_create_counters(one.contexts[1], { comp_mask: 0 });
    v.ibv_attach_counters_point_flow(counters, { counter_desc: v.IBV_COUNTER_PACKETS, index: 0 }, null);
    const normal = flow(1, [TCP, tag(7), count(counters)]);
    expect(one.sent(1, 80)).toBe("v17 deliver");
    flow(1, [], SNIFFER);
    flow(1, [], { ...DONT_TRAP, priority: 3 });
    // The sniffer sees it on send and on receive.
    expect(one.sent(1, 80)).toBe("(v1) (v1) v17 deliver");
    expect(one.sent(2, 80)).toBe("(v1) v17 deliver");
    expect(one.wire(80)).toBe("(v1) v17 deliver");
    expect(valuesOf(counters)[0]).toBe(4n);
    v.ibv_destroy_flow(normal);
    expect(one.wire(80)).toBe("(v1) (v1) vf1/host:0 deliver");
    expect(one.wire(81)).toBe("host:0 deliver");
    flow(1, [], { type: v.IBV_FLOW_ATTR_ALL_DEFAULT });
    one.device.function(1).hostRules.add({ application: "tc", action: "drop" });
    expect(one.wire(80)).toBe("(v1) (v1) drop drop_action");
  });

  test("a function without anything is a miss", async () => {
    const { device } = one;
    const bare = await createDevice({ name: "bare", vports: 1 });
    const [, vf] = [0, 1].map((vport) => createSink(v.ibv_open_device(bare.function(vport)), `q${vport}`));
    expect(outcomeText(bare.send(vf as never, ipv4Frame()))).toBe("miss no_rule");
    expect(bare.reasons().no_rule).toBe(1n);
    expect(device.reasons().no_rule).toBe(0n);
  });

  test("send frames out of ports", () => {
    one.fdb(80, toVport(UPLINK));
    one.fdb(81, toPort(2));
    expect([one.sent(0, 80), one.sent(1, 80)]).toEqual(["port:1 transmit", "port:1 transmit"]);
    expect([one.sent(0, 81), one.sent(2, 81)]).toEqual(["port:2 transmit", "port:2 transmit"]);
    const onTwo = createSink(one.contexts[1], "two", 2);
    expect(outcomeText(one.device.send(onTwo, ipv4Frame({ dport: 80 })))).toBe("port:2 transmit");
    expect([one.wire(81), one.wire(81, 2)]).toEqual(["port:2 forward", "drop wire_to_wire"]);
    expect([one.wire(80), one.wire(80, 2)]).toEqual(["drop wire_to_wire", "drop wire_to_wire"]);
    expect(one.device.reasons().wire_to_wire).toBe(3n);
  });

  test("drop, and end with what they say", () => {
    one.fdb(80, DROP);
    expect([one.wire(80), one.sent(0, 80), one.sent(1, 80)]).toEqual(Array(3).fill("drop drop_action"));
  });

  test("match the sender of a frame", () => {
    const { qp_num } = createSink(one.contexts[2], "other");
    one.rule("fdb", { "misc.source_port": 1 }, [toVport(2)]);
    one.rule("fdb", { "misc.source_port": UPLINK }, [toVport(1)]);
    one.rule("fdb", { "misc.source_sqn": qp_num }, [DROP]);
    one.rule("fdb", { "misc.source_port": 0 }, [toPort(2)]);
    expect(one.sent(1, 80)).toBe("vf2/host:0 deliver");
    expect(one.wire(80)).toBe("vf1/host:0 deliver");
    expect(one.sent(2, 80)).toBe("host:0 deliver");
    expect(one.sent(0, 80)).toBe("port:2 transmit");
    const other = createSink(one.contexts[2], "another");
    one.rule("fdb", { "misc.source_sqn": other.qp_num }, [DROP]);
    expect(outcomeText(one.device.send(other, ipv4Frame()))).toBe("drop drop_action");
    // In the domain of the receiver, too.
    one.rule(
      "nic_rx",
      { "misc.source_port": 1, "misc.source_sqn": one.queues[1].qp_num, "ext.direction": 2 },
      [DROP],
      2,
    );
    expect(one.sent(1, 80)).toBe("drop drop_action");
    one.rule("nic_rx", { "misc.source_port": UPLINK, "ext.direction": 1 }, [DROP], 1);
    expect(one.wire(80)).toBe("drop drop_action");
  });

  test("give copies to several; the best of them is what became of the frame", () => {
    one.fdb(80, toAll(toVport(1), toPort(2), toVport(2)));
    expect(one.wire(80)).toBe("port:2 vf1/host:0 vf2/host:0 deliver");
    one.fdb(81, toAll(toPort(2), toPort(1)));
    expect([one.wire(81), one.sent(1, 81)]).toEqual(["port:2 forward", "port:2 port:1 transmit"]);
    expect(one.device.reasons().wire_to_wire).toBe(1n);
  });
});

describe("the send path of a function", () => {
  test("is its own", () => {
    flow(1, [dport(80), { type: v.IBV_FLOW_SPEC_ACTION_DROP }], EGRESS);
    expect([one.sent(1, 80), one.sent(1, 81)]).toEqual(["drop drop_action", "host:0 deliver"]);
    expect([one.sent(0, 80), one.sent(2, 80)]).toEqual(["port:1 transmit", "host:0 deliver"]);
    const sniffer = flow(1, [], SNIFFER);
    expect(one.sent(1, 81)).toBe("(v1) host:0 deliver");
    expect(one.sent(1, 80)).toBe("(v1) drop drop_action");
    // Not the frames of others.
    expect([one.wire(81), one.sent(2, 81)]).toEqual(["host:0 deliver", "host:0 deliver"]);
    v.ibv_destroy_flow(sniffer);
    expect(one.sent(1, 81)).toBe("host:0 deliver");
  });

  test("has flows and rules of its root table in one order", () => {
    const drops = flow(1, [dport(80), { type: v.IBV_FLOW_SPEC_ACTION_DROP }], { ...EGRESS, priority: 1 });
    expect(one.sent(1, 80)).toBe("drop drop_action");
    one.rule("nic_tx", { "outer.tcp_dport": 80 }, [DEFAULT_MISS], 1);
    expect(one.sent(1, 80)).toBe("host:0 deliver");
    v.ibv_destroy_flow(drops);
    one.rule("nic_tx", { "outer.tcp_dport": 81 }, [DROP], 1);
    expect([80, 81, 82].map((port) => one.sent(1, port))).toEqual([
      "host:0 deliver",
      "drop drop_action",
      "host:0 deliver",
    ]);
    expect(one.sent(2, 81)).toBe("host:0 deliver");
  });

  test("finds metadata", () => {
    one.rule("nic_tx", { "misc2.metadata_reg_a": 0x8000_0001 }, [DROP], 1);
    const send = (metadata?: number): string =>
      outcomeText(one.device.send(one.queues[1], ipv4Frame(), metadata === undefined ? {} : { metadata }));
    expect([send(), send(1), send(0x8000_0001)]).toEqual(["host:0 deliver", "host:0 deliver", "drop drop_action"]);
    // No later stage does.
    one.rule("fdb", { "misc2.metadata_reg_a": 5 }, [DROP]);
    one.rule("nic_rx", { "misc2.metadata_reg_a": 5 }, [DROP]);
    expect(send(5)).toBe("host:0 deliver");
    for (const metadata of [2 ** 32, -1, 0.5]) {
      expect(refused(() => send(metadata))).toMatchObject({ code: "EINVAL", path: "metadata", value: metadata });
    }
    expect(() => send("1" as never)).toThrow(TypeError);
  });
});

describe("loopback", () => {
  test("is for frames of the PF that no rule has sent to a port", () => {
    const other = createSink(one.contexts[0], "other");
    v.ibv_create_flow(other, attr([dport(80)]));
    expect(one.sent(0, 80)).toBe("other deliver");
    const rule = one.fdb(80, toVport(UPLINK));
    expect(one.sent(0, 80)).toBe("port:1 transmit");
    dv.mlx5dv_dr_rule_destroy(rule);
    expect(one.sent(0, 80)).toBe("other deliver");
    one.fdb(80, toPort(1));
    expect(one.sent(0, 80)).toBe("port:1 transmit");
    // Frames of a VF are received by the PF, or leave: the sender's own flow matches there.
    flow(0, [dport(81)]);
    expect([one.sent(1, 81), one.sent(0, 81)]).toEqual(["pf deliver", "port:1 transmit"]);
    one.fdb(81, toVport(0));
    expect(one.sent(0, 81)).toBe("pf deliver");
  });

  test("is for multicast frames that a rule has sent out of their port, too", () => {
    const other = createSink(one.contexts[0], "other");
    v.ibv_create_flow(other, attr([TCP]));
    const sent = (from: 0 | 1, port: number): string => {
      const frame = ipv4Frame({ dport: port });
      frame[0]! |= 1;
      return outcomeText(one.device.send(one.queues[from], frame));
    };
    one.fdb(80, toVport(UPLINK));
    one.fdb(81, toPort(1));
    one.fdb(82, toAll(toPort(1), toVport(1)));
    for (const dport of [80, 81]) expect(sent(0, dport)).toBe("other port:1 transmit");
    expect(sent(0, 82)).toBe("other port:1 vf1/host:0 deliver");
    // Not for those of a VF, or that leave by another port or not at all.
    expect(sent(1, 80)).toBe("port:1 transmit");
    one.fdb(83, toPort(2));
    one.fdb(84, DROP);
    expect([sent(0, 83), sent(0, 84)]).toEqual(["port:2 transmit", "drop drop_action"]);
  });

  test("of flows of a VF is none, allowed or not", () => {
    flow(1, [dport(80)], LOOP);
    expect(one.sent(1, 80)).toBe("host:0 deliver");
    one.fdb(80, toVport(UPLINK));
    expect(one.sent(1, 80)).toBe("port:1 transmit");
  });

  test("is asked about each frame that would leave, beside those that do", () => {
    const other = createSink(one.contexts[0], "other");
    v.ibv_create_flow(other, attr([TCP, tag(9)]));
    one.fdb(80, toAll(toPort(1), DEFAULT_MISS, toVport(1)));
    const outcome = one.device.send(one.queues[0], ipv4Frame());
    expect(outcomeText(outcome)).toBe("port:1 other9 vf1/host:0 deliver");
    expect(outcome.tag).toBeNull();
    one.fdb(81, toAll(toPort(1), DEFAULT_MISS));
    const best = one.device.send(one.queues[0], ipv4Frame({ dport: 81 }));
    expect(outcomeText(best)).toBe("port:1 other9 deliver");
    expect(best.tag).toBe(9);
    one.fdb(82, toAll(DEFAULT_MISS, DEFAULT_MISS));
    expect(one.sent(0, 82)).toBe("other9 other9 deliver");
  });

  test("sees the sender, and the bytes as they are", () => {
    const other = createSink(one.contexts[0], "other");
    v.ibv_create_flow(other, attr([{ type: v.IBV_FLOW_SPEC_ETH, val: { vlan_tag: 5 }, mask: { vlan_tag: 0xfff } }]));
    const listener = vi.fn<FrameListener>();
    one.device.connect(1, listener);
    const frame = ipv4Frame();
    const tagged = Uint8Array.of(...frame.subarray(0, 12), 0x81, 0, 0, 5, ...frame.subarray(12));
    expect(one.sent(0, 80)).toBe("port:1 transmit");
    const rule = one.rule("nic_tx", {}, [pushVlan(0x8100_0005)]);
    const outcome = one.device.send(one.queues[0], frame);
    expect(outcomeText(outcome)).toBe("other deliver");
    expect(outcome.to[0]?.frame).toEqual(tagged);
    expect(frame).toEqual(ipv4Frame());
    dv.mlx5dv_dr_rule_destroy(rule);
    one.rule("nic_tx", {}, [pushVlan(0x8100_0006)]);
    expect(one.sent(0, 80)).toBe("port:1 transmit");
    tagged[15] = 6;
    expect(listener.mock.lastCall?.[0]).toEqual(tagged);
    one.rule("nic_rx", { "misc.source_port": 0, "misc.source_sqn": one.queues[0].qp_num }, [DROP]);
    expect(one.sent(0, 80)).toBe("port:1 transmit");
    expect(one.device.reasons().drop_action).toBe(1n);
  });
});
