/**
 * Frames that leave by ports: when, in which order, with which bytes, and with which description at
 * the other end.
 */
import { beforeEach, describe, expect, test } from "vitest";
import {
  createDevice,
  createSink,
  LINK_TYPES,
  type Device,
  type FrameOptions,
  type Outcome,
  type PortDestination,
} from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";
import { attr, count, dport, EGRESS, outcomeText, tag, valuesOf } from "../../verbs/support/flows.js";
import { climb } from "../../verbs/support/queuePairs.js";
import { POP, pushVlan, set, Switch, toAll, toPort, toQueue, toVport, UPLINK } from "../support/eswitch.js";
import { inCall } from "../../../src/errors.js";

let one: Switch;
let other: Device;
beforeEach(async () => {
  one = await Switch.open();
  other = await createDevice({ name: "other", ports: 2 });
});

/** The ports that a frame left by. */
const portsOf = ({ to }: Outcome): PortDestination[] => to.filter((each) => each.kind === "port");

describe("egress", () => {
  test("of a batch are in the order of its frames, when nothing is under way", async () => {
    one = await Switch.open({ ports: 3 });
    one.fdb(80, toAll(toPort(3), toPort(1)));
    one.fdb(81, toPort(1));
    const seen: string[] = [];
    const note = (frame: Uint8Array, { port }: { port: number }): void => {
      seen.push(`${frame[63]} ${port}`);
      // The core is free.
      expect(one.wire(90)).toBe("host:0 deliver");
      expect(one.sent(1, 81)).toBe("port:1 transmit");
    };
    let deep = false;
    const once: typeof note = (frame, info) => {
      if (deep) return;
      deep = true;
      note(frame, info);
      deep = false;
    };
    for (const port of [1, 3]) one.device.connect(port, once);
    const frames = [80, 82, 81].map((port, i) => {
      const frame = ipv4Frame({ dport: port });
      frame[63] = i;
      return frame;
    });
    const outcomes = one.device.receiveBatch(2, frames);
    expect(outcomes.map(outcomeText)).toEqual(["port:3 port:1 forward", "host:0 deliver", "port:1 forward"]);
    expect(seen).toEqual(["0 3", "0 1", "2 1"]);
    expect(portsOf(outcomes[0] as Outcome)).toMatchObject([{ frame: frames[0], tag: 0, outcome: null }, {}]);
  });

  test("of one batch of the core come before the next one is steered", () => {
    one.fdb(80, toPort(2));
    let left = 0;
    one.device.connect(2, () => {
      left++;
      if (left === 1) one.device.hostRules.add({ application: "tc", action: { queue: 9 } });
    });
    const frames = Array.from({ length: 300 }, (_, i) => ipv4Frame({ dport: i === 0 ? 80 : 81 }));
    const names = one.device.receiveBatch(1, frames).map((outcome) => outcomeText(outcome));
    expect(left).toBe(1);
    expect(names.slice(1, 64)).toEqual(Array(63).fill("host:0 deliver"));
    expect(names.slice(64)).toEqual(Array(236).fill("host:9 deliver"));
  });

  test("hear what became of them at another device", () => {
    one.device.connect(2, other, 1);
    other.hostRules.add({ application: "nic", action: { queue: 4 }, match: { "outer.tcp_dport": 80 } });
    one.fdb(80, toPort(2));
    one.fdb(81, toPort(2));
    const [taken, missed] = one.device.receiveBatch(1, [ipv4Frame(), ipv4Frame({ dport: 81 })]) as [Outcome, Outcome];
    expect([taken.verdict, missed.verdict]).toEqual(["forward", "forward"]);
    expect(portsOf(taken)[0]?.outcome).toMatchObject({ verdict: "deliver", to: [{ name: "host:4" }] });
    expect(portsOf(missed)[0]?.outcome).toMatchObject({ verdict: "miss", reason: "no_rule" });
    const sent = one.device.send(one.queues[1], ipv4Frame());
    expect(portsOf(sent)[0]?.outcome).toMatchObject({ verdict: "deliver" });
  });

  test("in a circle end", () => {
    one.fdb(80, toPort(1));
    one.device.connect(1, one.device, 2);
    const depth = (outcome: Outcome | null | undefined): number =>
      outcome === null || outcome === undefined ? 0 : 1 + depth(portsOf(outcome)[0]?.outcome);
    expect(depth(one.device.receive(2, ipv4Frame()))).toBe(65);
    // More than once.
    expect(depth(one.device.receive(2, ipv4Frame()))).toBe(65);
  });

  test("in a circle that doubles them end", () => {
    one.fdb(80, toAll(toPort(1), toPort(1)));
    one.device.connect(1, one.device, 2);
    const all = (outcome: Outcome): number =>
      1 + portsOf(outcome).reduce((sum, port) => sum + (port.outcome === null ? 0 : all(port.outcome)), 0);
    expect(all(one.device.receive(2, ipv4Frame()))).toBe(8193);
    expect(all(one.device.receive(2, ipv4Frame()))).toBe(8193);
  });

  test("to a listener are no part of a circle", async () => {
    one.fdb(80, toPort(1));
    const far = await Switch.open({ name: "far" });
    far.fdb(80, toPort(2));
    one.device.connect(1, far.device, 1);
    let left = 200;
    far.device.connect(2, (frame) => {
      if (--left > 0) one.device.receive(2, frame);
    });
    one.device.receive(2, ipv4Frame());
    expect(left).toBe(0);
  });
});

describe("bytes", () => {
  const PUSH = pushVlan(0x8100_0005);
  const TAGGED = Uint8Array.of(...ipv4Frame().subarray(0, 12), 0x81, 0, 0, 5, ...ipv4Frame().subarray(12));

  test("are those that came in, where nothing has changed them", () => {
    one.fdb(80, toPort(2));
    one.fdb(81, toVport(1));
    for (const port of [80, 81]) {
      const frame = ipv4Frame({ dport: port });
      expect(one.device.receive(1, frame).to[0]?.frame).toBe(frame);
    }
  });

  test("are their own, where something has", () => {
    one.fdb(80, PUSH, toAll(toPort(2), toVport(1), toVport(2)));
    one.rule("nic_rx", {}, [POP, toQueue(one.queues[2])], 2);
    one.device.connect(2, other, 1);
    const sink = other.hostRules.add({ application: "nic", action: { queue: 1 }, match: { "outer.first_vid": 5 } });
    const frame = ipv4Frame();
    const outcome = one.device.receive(1, frame);
    const [port, first, second] = outcome.to;
    expect(outcomeText(outcome)).toBe("port:2 vf1/host:0 v2 deliver");
    expect([port?.frame, first?.frame, second?.frame]).toEqual([TAGGED, TAGGED, ipv4Frame()]);
    expect(portsOf(outcome)[0]?.outcome).toMatchObject({ rules: [sink], to: [{ frame: TAGGED }] });
    expect(frame).toEqual(ipv4Frame());
    // The next batch does not overwrite them.
    one.device.receive(1, ipv4Frame({ dst: [1, 2, 3, 4] }));
    expect(port?.frame).toEqual(TAGGED);
  });

  test("reach buffers as they are there", () => {
    const context = one.contexts[1];
    const [pd, cq] = [v.ibv_alloc_pd(context), v.ibv_create_cq(context, 4)];
    const memory = new Uint8Array(256);
    const { lkey } = v.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
    const cap = { max_recv_wr: 4, max_recv_sge: 1, max_send_wr: 4, max_send_sge: 1 };
    const qp = v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_RAW_PACKET });
    climb(qp, 2);
    for (const [wr_id, length] of [68, 67].entries()) {
      v.ibv_post_recv(qp, { wr_id, sg_list: [{ addr: memory.subarray(0, length), lkey }] });
    }
    v.ibv_create_flow(qp, attr([tag(3)]));
    one.fdb(80, PUSH, toVport(1));
    expect(one.wire(80)).toBe("qp7 deliver".replace("qp7", `${qp.name}3`));
    expect(v.ibv_poll_cq(cq, 4)).toMatchObject([{ wr_id: 0, byte_len: 68, flow_tag: 3 }]);
    expect(memory.subarray(0, 68)).toEqual(TAGGED);
    expect(one.sent(0, 80)).toBe("drop receive_buffer_too_short");
    expect(one.wire(80)).toBe("drop no_receive_buffer");
    // Also what it sends on port 2.
    const addr = memory.subarray(0, 68);
    one.fdb(81, toVport(UPLINK));
    addr.set(ipv4Frame({ dport: 81 }));
    const seen: number[] = [];
    one.device.connect(2, (frame, { port }) => seen.push(frame.length, port));
    v.ibv_post_send(qp, { wr_id: 5, sg_list: [{ addr, lkey }], opcode: v.IBV_WR_SEND });
    expect(seen).toEqual([68, 2]);
  });

  test("of a VF's datagrams leave like others", () => {
    one.rule("fdb", { "misc.source_port": 1 }, [toVport(UPLINK)]);
    const [, context] = one.contexts;
    const [pd, cq] = [v.ibv_alloc_pd(context), v.ibv_create_cq(context, 4)];
    const cap = { max_send_wr: 4, max_send_sge: 1, max_inline_data: 16 };
    const qp = v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_UD });
    climb(qp);
    const grh = { dgid: "fe80::1", sgid_index: 0, hop_limit: 1 };
    const ah = v.ibv_create_ah(pd, { grh, is_global: 1, port_num: 1, dmac: "02:00:00:00:00:09" });
    const seen: Uint8Array[] = [];
    one.device.connect(1, (frame) => seen.push(frame));
    const wr = { ud: { ah, remote_qpn: 0x777, remote_qkey: 1 } };
    const addr = Uint8Array.of(1, 2, 3, 4);
    v.ibv_post_send(qp, {
      wr_id: 1,
      sg_list: [{ addr, lkey: 0 }],
      opcode: v.IBV_WR_SEND,
      send_flags: v.IBV_SEND_INLINE,
      wr,
    });
    expect(one.device.parseBatch(seen)).toMatchObject([{ fields: { "misc.bth_dst_qp": 0x777 } }]);
  });

  test("keep their lengths on the wire, and their links", () => {
    const domain = one.root("fdb").domain;
    const header = ipv4Frame().subarray(0, 34);
    const encap = (): Action =>
      dv.mlx5dv_dr_action_create_packet_reformat(domain, dv.MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL, 3, undefined, header);
    one.fdb(80, toPort(2));
    one.fdb(81, encap, toPort(2));
    one.fdb(82, set({ OUT_IP_TTL: 9 }), toPort(2));
    one.device.connect(2, other, 1);
    const context = v.ibv_open_device(other);
    const counters = v.ibv_create_counters(context, { comp_mask: 0 });
    v.ibv_attach_counters_point_flow(counters, { counter_desc: v.IBV_COUNTER_BYTES, index: 0 }, null);
    v.ibv_create_flow(createSink(context, "all"), attr([{ type: v.IBV_FLOW_SPEC_IPV4 }, count(counters)]));
    let before = 0n;
    /** What the other device counts, and its flow's result. */
    const bytes = (port: number, options: FrameOptions = {}, from = 0): string => {
      const frame = ipv4Frame({ dport: port }).subarray(from);
      const outcome = one.device.receive(1, frame, options);
      const far = portsOf(outcome)[0]?.outcome as Outcome;
      const [now] = valuesOf(counters) as [bigint];
      const more = now - before;
      before = now;
      return `${outcomeText(far)} ${far.to[0]?.frame.length ?? 0} ${more}`;
    };
    expect(bytes(80)).toBe("all deliver 64 64");
    expect(bytes(80, { wireLength: 1000 })).toBe("all deliver 64 1000");
    expect(bytes(81)).toBe("all deliver 84 84");
    expect(bytes(81, { wireLength: 1000 })).toBe("all deliver 84 1020");
    const linkType = LINK_TYPES.RAW;
    expect(bytes(80, { linkType }, 14)).toBe("all deliver 50 50");
    expect(bytes(82, { linkType, wireLength: 60 }, 14)).toBe("all deliver 50 60");
    // An Ethernet header is put in front.
    expect(bytes(81, { linkType }, 14)).toBe("all deliver 84 84");
  });
});

describe("registers", () => {
  test("that rules have written are in the outcome", () => {
    one.fdb(80, set({ METADATA_REG_C_0: 0xdead_beef, METADATA_REG_C_1: 1, METADATA_REG_C_5: 2 }), toVport(1));
    one.fdb(81, set({ METADATA_REG_C_5: 2 }), toPort(2));
    expect(one.device.receive(1, ipv4Frame()).registers).toEqual({ C0: 0xdead_beef, C1: 1 });
    expect(one.device.receive(1, ipv4Frame({ dport: 81 })).registers).toEqual({ C5: 2 });
    expect(one.device.receive(1, ipv4Frame({ dport: 82 })).registers).toEqual({});
  });
});

test("the tag of an EGRESS flow is that of the outcome, with an eSwitch or without", () => {
  v.ibv_create_flow(one.queues[0], attr([dport(80), tag(6)], EGRESS));
  for (const root of [false, true]) {
    if (root) one.device.function(0).pipeline.pinRoot("fdb");
    const outcome = one.device.send(one.queues[0], ipv4Frame());
    expect(outcome).toMatchObject({ verdict: "transmit", tag: 6, to: [{ kind: "port", tag: 0 }] });
  }
  // It is not that of the receiver.
  v.ibv_create_flow(one.queues[1], attr([dport(80), tag(6)], EGRESS));
  for (const to of ["host:0", "qp:pf"]) {
    if (to === "qp:pf") v.ibv_create_flow(one.queues[0], attr([dport(80)]));
    expect(one.device.send(one.queues[1], ipv4Frame())).toMatchObject({ tag: null, to: [{ name: to, tag: 0 }] });
  }
});

test("a root table that finds no memory is refused, and changes nothing", async () => {
  const plain = await createDevice();
  const small = await createDevice({ vports: 1, limits: { memory: plain.memoryUsed } });
  for (const type of ["fdb", "nic_rx", "nic_tx"] as const) {
    expect(refused(() => inCall("call", () => small.function(1).pipeline.pinRoot(type)))).toMatchObject({
      code: "ENOMEM",
      call: "call",
    });
  }
  expect(outcomeText(small.receive(1, ipv4Frame()))).toBe("miss no_rule");
});
