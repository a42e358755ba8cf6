/** Sending by hand, and cables: who receives a sent frame, and what the sender learns of it. */
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createSink, type Device, type FrameListener } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, openBench, refused, type Bench } from "../../mlx5dv/support/directRules.js";

let left: Bench;
let right: Bench;
let sender: QueuePair;

beforeEach(async () => {
  left = await openBench({ name: "left", ports: 3 });
  right = await openBench({ name: "right", ports: 3 });
  sender = createSink(left.context, "sender");
});

/** A rule of the root table for a TCP port: to a queue, or dropped. */
function rule({ root }: Bench, dport: number, queue: QueuePair | null, tag = 0): void {
  const { match_criteria_enable, mask, value } = dv.matchParameters({ "outer.tcp_dport": dport });
  const matcher = dv.mlx5dv_dr_matcher_create(root, 0, match_criteria_enable, mask);
  const end = queue === null ? dv.mlx5dv_dr_action_create_drop() : dv.mlx5dv_dr_action_create_dest_ibv_qp(queue);
  const actions = tag === 0 ? [end] : [dv.mlx5dv_dr_action_create_tag(tag), end];
  dv.mlx5dv_dr_rule_create(matcher, value, actions.length, actions);
}

function multicast(dport: number): Uint8Array {
  const frame = ipv4Frame({ dport });
  frame[0] = 0x03;
  return frame;
}

describe("a frame that is sent", () => {
  test("leaves the port, to nobody", () => {
    const frame = ipv4Frame();
    const outcome = left.device.send(sender, frame);
    expect(outcome).toMatchObject({ verdict: "transmit", reason: null, tag: null, rules: [], copies: [] });
    expect(outcome.to).toEqual([{ kind: "port", name: "port:1", object: null, frame, tag: 0, outcome: null }]);
    expect(Object.values(left.device.reasons()).every((count) => count === 0n)).toBe(true);
  });

  test("arrives at the port of another device before the call returns", () => {
    left.device.connect(1, right.device, 3);
    rule(right, 80, right.queue, 9);
    const frame = ipv4Frame({ dport: 80 });
    const [port] = left.device.send(sender, frame).to;
    expect(port).toMatchObject({ kind: "port", name: "port:1", outcome: { verdict: "deliver", tag: 9 } });
    expect(port?.kind === "port" && port.outcome?.to).toMatchObject([{ name: "qp:web", object: right.queue, frame }]);
    expect(left.device.send(sender, ipv4Frame({ dport: 81 })).to).toMatchObject([
      { outcome: { verdict: "miss", reason: "no_rule" } },
    ]);
    expect([left.device.reasons().no_rule, right.device.reasons().no_rule]).toEqual([0n, 1n]);
    // And back.
    rule(left, 90, left.queue);
    const back = createSink(right.context, "back", 3);
    expect(right.device.send(back, ipv4Frame({ dport: 90 })).to).toMatchObject([
      { name: "port:3", outcome: { to: [{ object: left.queue }] } },
    ]);
  });

  test("does not leave the port if a rule of the port matches it", () => {
    const listener = vi.fn<FrameListener>();
    left.device.connect(1, listener);
    rule(left, 80, left.queue, 5);
    const frame = ipv4Frame({ dport: 80 });
    const outcome = left.device.send(sender, frame);
    expect(outcome).toMatchObject({ verdict: "deliver", reason: null, tag: 5 });
    expect(outcome.to).toMatchObject([{ kind: "qp", object: left.queue, frame, tag: 5 }]);
    expect(outcome.rules.length).toBe(1);
    expect(listener).not.toHaveBeenCalled();
    // A multicast frame also leaves the port.
    const many = left.device.send(sender, multicast(80));
    expect(many).toMatchObject({ verdict: "transmit", tag: null });
    expect(many.to.map(({ name }) => name)).toEqual(["qp:web", "port:1"]);
    expect(listener).toHaveBeenCalledTimes(1);
  });

  test("stays, and is lost, where the queue does not take it", () => {
    const listener = vi.fn<FrameListener>();
    left.device.connect(1, listener);
    const pd = v.ibv_alloc_pd(left.context);
    const cq = v.ibv_create_cq(left.context, 1);
    const cap = { max_recv_wr: 4, max_recv_sge: 1 };
    const qp = v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_RAW_PACKET });
    rule(left, 80, qp);
    const frame = ipv4Frame({ dport: 80 });
    const send = (): object => {
      const { verdict, reason, to } = left.device.send(sender, frame);
      return { verdict, reason, to };
    };
    expect(send()).toEqual({ verdict: "drop", reason: "queue_not_ready", to: [] });
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_INIT, port_num: 1 }, v.IBV_QP_STATE | v.IBV_QP_PORT);
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RTR }, v.IBV_QP_STATE);
    expect(send()).toEqual({ verdict: "drop", reason: "no_receive_buffer", to: [] });
    const addr = new Uint8Array(256);
    const { lkey } = v.ibv_reg_mr(pd, addr, undefined, v.IBV_ACCESS_LOCAL_WRITE);
    v.ibv_post_recv(qp, { wr_id: 1, sg_list: [{ addr, length: 8, lkey }] });
    expect(send()).toEqual({ verdict: "drop", reason: "receive_buffer_too_short", to: [] });
    v.ibv_post_recv(qp, { wr_id: 2, sg_list: [{ addr, lkey }] });
    expect(send()).toEqual({ verdict: "drop", reason: "completion_queue_full", to: [] });
    v.ibv_poll_cq(cq, 1);
    expect(send()).toMatchObject({ verdict: "deliver", to: [{ object: qp }] });
    expect(addr.subarray(0, 64)).toEqual(frame);
    expect(listener).not.toHaveBeenCalled();
    expect(left.device.send(sender, multicast(80))).toMatchObject({ verdict: "transmit", reason: null });
    expect(listener).toHaveBeenCalledTimes(1);
  });

  test("is not kept in by a rule that drops what comes in", () => {
    rule(left, 80, null);
    const frame = ipv4Frame({ dport: 80 });
    expect(left.device.receive(1, frame)).toMatchObject({ verdict: "drop", reason: "drop_action" });
    expect(left.device.send(sender, frame)).toMatchObject({
      verdict: "transmit",
      reason: null,
      to: [{ name: "port:1" }],
    });
  });

  test("leaves from the port of its queue", () => {
    const listener = vi.fn<FrameListener>();
    left.device.connect(3, listener);
    expect(left.device.send(sender, ipv4Frame()).to).toMatchObject([{ name: "port:1" }]);
    const frame = ipv4Frame();
    expect(left.device.send(createSink(left.context, "third", 3), frame).to).toMatchObject([{ name: "port:3" }]);
    expect(listener.mock.calls).toEqual([[frame, { device: left.device, port: 3 }]]);
  });
});

describe("refusals", () => {
  test("of what cannot send", () => {
    const frame = ipv4Frame();
    const attempt = (qp: QueuePair, bytes = frame): string | undefined =>
      refused(() => left.device.send(qp, bytes))?.reason;
    expect(attempt(right.queue)).toBe("other_device");
    const pd = v.ibv_alloc_pd(left.context);
    const cq = v.ibv_create_cq(left.context, 1);
    const ud = v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap: {}, qp_type: v.IBV_QPT_UD });
    expect(attempt(ud)).toBe("bad_object");
    const raw = v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap: {}, qp_type: v.IBV_QPT_RAW_PACKET });
    for (const qp_state of [v.IBV_QPS_INIT, v.IBV_QPS_RTR, v.IBV_QPS_RTS]) {
      expect(attempt(raw)).toBe("bad_state");
      const port = qp_state === v.IBV_QPS_INIT ? v.IBV_QP_PORT : 0;
      v.ibv_modify_qp(raw, { qp_state, port_num: 2 }, v.IBV_QP_STATE | port);
    }
    expect(left.device.send(raw, frame).to).toMatchObject([{ name: "port:2" }]);
    v.ibv_modify_qp(raw, { qp_state: v.IBV_QPS_ERR }, v.IBV_QP_STATE);
    expect(attempt(raw)).toBe("bad_state");
    v.ibv_destroy_qp(raw);
    expect(attempt(raw)).toBe("object_destroyed");
    expect([13, 262_145].map((length) => attempt(sender, new Uint8Array(length)))).toEqual(["bad_frame", "bad_frame"]);
    expect(attempt(sender, new Uint8Array(14))).toBeUndefined();
    expect(attempt(sender, new Uint8Array(262_144))).toBeUndefined();
    expect(() => left.device.send(sender, "frame" as never)).toThrow(TypeError);
    expect(() => left.device.send({} as never, frame)).toThrow(TypeError);
  });

  test("of sinks on no port", () => {
    for (const port of [0, 4, 1.5]) {
      const error = refused(() => createSink(left.context, "none", port));
      expect(error).toMatchObject({ code: "EINVAL", call: "createSink", path: "port" });
    }
  });

  test("of cables", () => {
    const attempt = (run: (device: Device) => void): [string | undefined, string | undefined] => {
      const error = refused(() => run(left.device));
      return [error?.code, error?.path];
    };
    const nobody = (): void => undefined;
    expect(attempt((device) => device.connect(4, nobody))).toEqual(["EINVAL", "port"]);
    expect(attempt((device) => device.connect(1, right.device, 4))).toEqual(["EINVAL", "otherPort"]);
    expect(attempt((device) => device.disconnect(0))).toEqual(["EINVAL", "port"]);
    expect(() => left.device.connect(1, right.device, undefined as never)).toThrow(TypeError);
    expect(() => left.device.connect(1, {} as never)).toThrow(TypeError);
    left.device.connect(1, right.device, 1);
    expect(attempt((device) => device.connect(1, nobody))).toEqual(["EBUSY", "port"]);
    expect(attempt((device) => device.connect(1, device, 2))).toEqual(["EBUSY", "port"]);
    expect(attempt((device) => device.connect(2, right.device, 1))).toEqual(["EBUSY", "otherPort"]);
    // The refused call changed nothing: port 2 is still free.
    left.device.connect(2, right.device, 2);
  });
});

describe("cables", () => {
  const arrivals = (device: Device, qp: QueuePair): (string | undefined)[] =>
    device.send(qp, ipv4Frame()).to.map((one) => (one.kind === "port" ? one.outcome?.verdict : one.name));

  test("go to another port of the device, and to the port itself", () => {
    left.device.connect(1, left.device, 2);
    expect(arrivals(left.device, sender)).toEqual(["miss"]);
    expect(arrivals(left.device, createSink(left.context, "second", 2))).toEqual(["miss"]);
    left.device.disconnect(2);
    expect(arrivals(left.device, sender)).toEqual([undefined]);
    left.device.connect(1, left.device, 1);
    rule(left, 80, left.queue);
    // A looped frame stays in its port; an unmatched one comes in again by the cable.
    expect(arrivals(left.device, sender)).toEqual(["qp:web"]);
    expect(left.device.send(sender, ipv4Frame({ dport: 81 })).to).toMatchObject([{ outcome: { reason: "no_rule" } }]);
    const many = left.device.send(sender, multicast(80)).to;
    expect(many).toMatchObject([{ name: "qp:web" }, { name: "port:1", outcome: { verdict: "deliver" } }]);
    left.device.disconnect(1);
    left.device.connect(1, () => 0);
  });

  test("are taken away at both ends", () => {
    left.device.connect(1, right.device, 2);
    const back = createSink(right.context, "back", 2);
    expect([arrivals(left.device, sender), arrivals(right.device, back)]).toEqual([["miss"], ["miss"]]);
    right.device.disconnect(2);
    right.device.disconnect(2);
    expect([arrivals(left.device, sender), arrivals(right.device, back)]).toEqual([[undefined], [undefined]]);
    right.device.connect(2, left.device, 1);
    expect(arrivals(left.device, sender)).toEqual(["miss"]);
  });

  test("go with a device that is closed", async () => {
    const { device, context, queue, root, domain } = await openBench({ name: "short" });
    left.device.connect(1, device, 1);
    dv.mlx5dv_dr_table_destroy(root);
    dv.mlx5dv_dr_domain_destroy(domain);
    v.ibv_destroy_qp(queue);
    expect(refused(() => device.close())?.code).toBe("EBUSY");
    expect(arrivals(left.device, sender)).toEqual(["miss"]);
    v.ibv_close_device(context);
    device.close();
    expect(arrivals(left.device, sender)).toEqual([undefined]);
    expect(refused(() => left.device.connect(1, device, 1))?.reason).toBe("object_destroyed");
    expect(refused(() => device.connect(1, () => 0))?.reason).toBe("object_destroyed");
    left.device.connect(1, right.device, 1);
  });

  test("may lead to a program that answers at once", () => {
    // The far end sends each frame back with another port, until it has counted down.
    const seen: number[] = [];
    const answer = (device: Device, qp: QueuePair): FrameListener => {
      return (frame) => {
        const dport = (frame[36] ?? 0) * 256 + (frame[37] ?? 0);
        seen.push(dport);
        if (dport > 1) device.send(qp, ipv4Frame({ dport: dport - 1 }));
      };
    };
    left.device.connect(1, answer(left.device, sender));
    const outcome = left.device.send(sender, ipv4Frame({ dport: 5 }));
    expect(seen).toEqual([5, 4, 3, 2, 1]);
    expect(outcome).toMatchObject({ verdict: "transmit", to: [{ frame: ipv4Frame({ dport: 5 }) }] });
  });

  test("pass on what a program throws, and nothing is left half done", () => {
    let angry = true;
    left.device.connect(1, () => {
      if (angry) throw new Error("no");
    });
    expect(() => left.device.send(sender, ipv4Frame())).toThrow("no");
    angry = false;
    expect(left.device.send(sender, ipv4Frame()).verdict).toBe("transmit");
    rule(left, 80, left.queue);
    expect(left.device.send(sender, ipv4Frame()).verdict).toBe("deliver");
  });
});
