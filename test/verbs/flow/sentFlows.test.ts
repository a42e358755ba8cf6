/** Flows and sent frames: from the work request to the receiver, on this device and the next. */
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createSink, type FrameListener, type Outcome } from "../../../src/index.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
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
  LOOP,
  outcomeText,
  SNIFFER,
  tag,
  valuesOf,
} from "../support/flows.js";
import { climb, openStation, postBuffers, received, request, type Station } from "../support/queuePairs.js";

const WEB = dport(80);

let left: Station;
let right: Station;
/** Frames that left port 2 of the left device. */
let listener: ReturnType<typeof vi.fn<FrameListener>>;

beforeEach(async () => {
  left = await openStation({ name: "left", ports: 2 });
  right = await openStation({ name: "right" });
  left.device.connect(1, right.device, 1);
  listener = vi.fn<FrameListener>();
  left.device.connect(2, listener);
});

const web = (dmac = 2): Uint8Array => {
  const frame = ipv4Frame({ dport: 80 });
  frame[0] = dmac;
  return frame;
};
const send = (qp: QueuePair, frame = web()): Outcome => left.device.send(qp, frame);
const text = (qp: QueuePair, frame?: Uint8Array): string => outcomeText(send(qp, frame));

/** Another queue pair of the left station, on the same port. */
function second(): QueuePair {
  const cap = { max_send_wr: 4, max_send_sge: 1, max_recv_wr: 4, max_recv_sge: 1 };
  const qp = v.ibv_create_qp(left.pd, { send_cq: left.cq, recv_cq: left.cq, cap, qp_type: v.IBV_QPT_RAW_PACKET });
  climb(qp);
  return qp;
}

describe("loopback", () => {
  test("gives the sender its own frame only where its flow allows it", () => {
    postBuffers(left, 8);
    v.ibv_create_flow(left.qp, attr([WEB]));
    expect(text(left.qp)).toBe("port:1 transmit");
    expect(v.ibv_poll_cq(left.cq, 9)).toEqual([]);
    // Frames received from outside still match the flow.
    expect(left.device.receive(1, web()).verdict).toBe("deliver");
    v.ibv_poll_cq(left.cq, 9);
    const allowed = v.ibv_create_flow(left.qp, attr([WEB, tag(7)], { ...LOOP, priority: 1 }));
    expect(text(left.qp)).toBe("qp17 deliver");
    v.ibv_post_send(left.qp, request(left, web(), { wr_id: 5, send_flags: v.IBV_SEND_SIGNALED }));
    expect(v.ibv_poll_cq(left.cq, 9)).toMatchObject([
      { wr_id: 101, opcode: v.IBV_WC_RECV, flow_tag: 7 },
      { wr_id: 5, opcode: v.IBV_WC_SEND },
      { wr_id: 102, opcode: v.IBV_WC_RECV, flow_tag: 7 },
    ]);
    v.ibv_destroy_flow(allowed);
    expect(text(left.qp)).toBe("port:1 transmit");
  });

  test("gives others theirs, and what is for many goes out as well", () => {
    postBuffers(left, 8);
    v.ibv_create_flow(left.qp, attr([WEB]));
    const other = second();
    expect(text(other)).toBe("qp1 deliver");
    expect(text(other, web(3))).toBe("qp1 port:1 transmit");
    expect(send(other, web(3)).to[1]).toMatchObject({ kind: "port", outcome: { verdict: "miss" } });
    // The flow is on port 1.
    expect(text(createSink(left.context, "far", 2))).toBe("port:2 transmit");
    expect(listener).toHaveBeenCalledTimes(1);
  });

  test("asks neither default flows nor rules of the host", () => {
    v.ibv_create_flow(createSink(left.context, "rest"), attr([], ALL));
    expect(outcomeText(left.device.receive(1, web()))).toBe("rest deliver");
    expect(text(left.qp)).toBe("port:1 transmit");
  });

  test("a copy alone does not keep the frame in", () => {
    v.ibv_create_flow(createSink(left.context, "ear"), attr([WEB, tag(3)], DONT_TRAP));
    expect(text(left.qp)).toBe("(ear3) port:1 transmit");
  });
});

describe("the send path", () => {
  test("drops what an EGRESS flow drops, and the request completes all the same", () => {
    const counters = v.ibv_create_counters(left.context, { comp_mask: 0 });
    for (const index of [0, 1]) v.ibv_attach_counters_point_flow(counters, { counter_desc: index, index }, null);
    const flow = v.ibv_create_flow(left.qp, attr([WEB, DROP, count(counters)], EGRESS));
    v.ibv_create_flow(createSink(right.context, "web"), attr([WEB]));
    v.ibv_create_flow(createSink(left.context, "mine"), attr([WEB]));
    v.ibv_post_send(left.qp, request(left, web(), { wr_id: 1, send_flags: v.IBV_SEND_SIGNALED }));
    expect(v.ibv_poll_cq(left.cq, 9)).toMatchObject([{ wr_id: 1, status: v.IBV_WC_SUCCESS, opcode: v.IBV_WC_SEND }]);
    const outcome = send(left.qp);
    expect(outcome).toMatchObject({ verdict: "drop", reason: "drop_action", to: [], copies: [] });
    expect(outcome.rules.map((rule) => rule === flow)).toEqual([true]);
    expect(valuesOf(counters)).toEqual([2n, 128n]);
    expect(left.device.reasons().drop_action).toBe(2n);
    // Other frames, other ports and received frames continue.
    expect(text(left.qp, ipv4Frame({ dport: 81 }))).toBe("port:1 transmit");
    expect(text(createSink(left.context, "far", 2))).toBe("port:2 transmit");
    expect(left.device.receive(1, web()).verdict).toBe("deliver");
    v.ibv_destroy_flow(flow);
    expect(text(left.qp)).toBe("mine deliver");
  });

  test("counts and tags what it lets through", () => {
    const flow = v.ibv_create_flow(left.qp, attr([WEB, tag(9)], EGRESS));
    const passed = send(left.qp);
    expect(passed).toMatchObject({ verdict: "transmit", tag: 9, to: [{ kind: "port", tag: 0 }] });
    expect(passed.rules.map((rule) => rule === flow)).toEqual([true]);
    // A frame that does not leave has the tag of the flow that delivered it.
    const mine = v.ibv_create_flow(createSink(left.context, "mine"), attr([WEB, tag(4)]));
    const kept = send(left.qp);
    expect(kept).toMatchObject({ verdict: "deliver", tag: 4, to: [{ tag: 4 }] });
    expect(kept.rules.map((rule) => [flow, mine].indexOf(rule as typeof flow))).toEqual([0, 1]);
  });

  test("takes flows of any queue pair, other flows only of those that can be steered to", () => {
    const { pd, cq } = left;
    for (const qp_type of [v.IBV_QPT_RC, v.IBV_QPT_UC]) {
      const qp = v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap: {}, qp_type });
      expect(refused(() => v.ibv_create_flow(qp, attr([WEB])))?.code).toBe("EINVAL");
      const flow = v.ibv_create_flow(qp, attr([WEB, DROP], EGRESS));
      expect(text(left.qp)).toBe("drop drop_action");
      expect(refused(() => v.ibv_destroy_qp(qp))?.code).toBe("EBUSY");
      v.ibv_destroy_flow(flow);
      v.ibv_destroy_qp(qp);
    }
  });
});

describe("sniffers", () => {
  test("hear what is sent, once, whatever becomes of it", () => {
    v.ibv_create_flow(createSink(left.context, "ear"), attr([], SNIFFER));
    expect(text(left.qp)).toBe("(ear) port:1 transmit");
    v.ibv_create_flow(createSink(left.context, "mine"), attr([WEB]));
    expect(text(left.qp)).toBe("(ear) mine deliver");
    expect(text(left.qp, web(3))).toBe("(ear) mine port:1 transmit");
    v.ibv_create_flow(left.qp, attr([WEB, DROP], EGRESS));
    expect(text(left.qp)).toBe("(ear) drop drop_action");
    expect(text(createSink(left.context, "far", 2))).toBe("port:2 transmit");
  });

  test("hear at both ends of a cable, and twice of a port that is connected to itself", () => {
    v.ibv_create_flow(createSink(right.context, "there"), attr([], SNIFFER));
    const [port] = send(left.qp).to;
    expect(port?.kind === "port" && port.outcome !== null && outcomeText(port.outcome)).toBe("(there) miss no_rule");
    left.device.disconnect(1);
    left.device.connect(1, left.device, 1);
    v.ibv_create_flow(createSink(left.context, "here"), attr([], SNIFFER));
    const outcome = send(left.qp);
    expect(outcomeText(outcome)).toBe("(here) port:1 transmit");
    expect(outcome.to).toMatchObject([{ outcome: { copies: [{ name: "qp:here" }], verdict: "miss" } }]);
  });
});

describe("queue pairs of datagrams", () => {
  test("get the frames of their flows whole", async () => {
    const far = await openStation({ name: "far", type: v.IBV_QPT_UD });
    postBuffers(far, 2);
    v.ibv_create_flow(far.qp, attr([WEB, tag(11)]));
    left.device.disconnect(1);
    left.device.connect(1, far.device, 1);
    v.ibv_post_send(left.qp, request(left, web()));
    expect(v.ibv_poll_cq(far.cq, 9)).toMatchObject([
      { wr_id: 100, byte_len: 64, flow_tag: 11, wc_flags: 0, src_qp: 0 },
    ]);
    expect(received(far, 0, 64)).toEqual(web());
  });

  test("send into the same path", async () => {
    const from = await openStation({ name: "from", type: v.IBV_QPT_UD });
    const frames: Uint8Array[] = [];
    from.device.connect(1, (frame) => frames.push(frame));
    const roce = { type: v.IBV_FLOW_SPEC_UDP, val: { dst_port: 4791 }, mask: { dst_port: 0xffff } };
    const ah = v.ibv_create_ah(from.pd, { grh: { dgid: "fe80::ff:fe00:7" }, is_global: 1, port_num: 1 });
    const post = (): void => {
      // For another number: not a datagram for the queue pair that its flow leads to.
      const wr = { ud: { ah, remote_qpn: 2, remote_qkey: 1 } };
      v.ibv_post_send(from.qp, request(from, Uint8Array.of(1, 2, 3, 4), { wr }));
    };
    v.ibv_create_flow(createSink(from.context, "ear"), attr([], SNIFFER));
    const flow = v.ibv_create_flow(from.qp, attr([roce, DROP], EGRESS));
    post();
    expect(frames).toEqual([]);
    expect(from.device.reasons().drop_action).toBe(1n);
    v.ibv_destroy_flow(flow);
    post();
    expect(frames.length).toBe(1);
    // Its own flow receives it again, if allowed.
    postBuffers(from, 1);
    v.ibv_create_flow(from.qp, attr([roce], LOOP));
    post();
    expect(frames.length).toBe(1);
    expect(v.ibv_poll_cq(from.cq, 9)).toMatchObject([{ wr_id: 100, byte_len: 14 + 40 + 8 + 12 + 8 + 4 + 4 }]);
  });
});
