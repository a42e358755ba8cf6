/** Completion channels and asynchronous events. */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, SteeringError, type Device } from "../../../src/index.js";
import type { CompletionQueue } from "../../../src/model/queue/completionQueue.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";
import { attributesOf, postReceives, join, openEnd, openPair, post, raise, type End } from "../support/connected.js";
import { openStation, postBuffers, request, type Station } from "../support/queuePairs.js";

let station: Station;
let channel: v.CompletionQueueChannel;
let cq: CompletionQueue;

beforeEach(async () => {
  station = await openStation({ type: v.IBV_QPT_UD });
  channel = v.ibv_create_comp_channel(station.context);
  cq = v.ibv_create_cq(station.context, 4, "context", channel);
});

/** Completes a request of `cq` with a flush error. */
function complete(wr_id: number, queue = cq): void {
  const qp = v.ibv_create_qp(station.pd, {
    qp_type: v.IBV_QPT_RAW_PACKET,
    send_cq: queue,
    recv_cq: queue,
    cap: { max_recv_wr: 1, max_recv_sge: 1 },
  });
  v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_ERR }, v.IBV_QP_STATE);
  v.ibv_post_recv(qp, { wr_id, sg_list: [] });
  v.ibv_destroy_qp(qp);
}

const noEvent = { code: "EAGAIN", errno: 11, reason: "no_event", path: "channel" };

describe("a completion channel", () => {
  test("has one event for the first completion after each request", () => {
    complete(1);
    v.ibv_req_notify_cq(cq, 0);
    expect(refused(() => v.ibv_get_cq_event(channel))).toMatchObject(noEvent);
    complete(2);
    complete(3);
    const event = v.ibv_get_cq_event(channel);
    expect(event).toEqual({ cq, cq_context: "context" });
    expect(event.cq).toBe(cq);
    expect(refused(() => v.ibv_get_cq_event(channel))).toMatchObject(noEvent);
    expect(v.ibv_poll_cq(cq, 9)).toHaveLength(3);
    complete(4);
    expect(refused(() => v.ibv_get_cq_event(channel))).toMatchObject(noEvent);
    v.ibv_ack_cq_events(cq, 1);
  });

  test("keeps the events of its queues in order", () => {
    const other = v.ibv_create_cq_ex(station.context, { cqe: 4, channel, cq_context: 7 });
    v.ibv_req_notify_cq(cq, 0);
    v.ibv_req_notify_cq(other, 1);
    complete(1, other);
    complete(2);
    expect([v.ibv_get_cq_event(channel).cq_context, v.ibv_get_cq_event(channel).cq_context]).toEqual([7, "context"]);
    expect(channel.refcnt).toBe(2);
  });

  test("gives an event to the program that awaits it", async () => {
    const first = channel.events.next();
    const second = channel.events.next();
    for (const wr_id of [1, 2]) {
      v.ibv_req_notify_cq(cq, 0);
      complete(wr_id);
    }
    expect([(await first).cq, (await second).cq]).toEqual([cq, cq]);
    expect(refused(() => v.ibv_get_cq_event(channel))).toMatchObject(noEvent);
    // Both count as taken.
    v.ibv_ack_cq_events(cq, 2);
    v.ibv_req_notify_cq(cq, 0);
    complete(3);
    expect((await channel.events.next()).cq).toBe(cq);
  });

  test("can be iterated over, and ends with its destruction", async () => {
    const seen: unknown[] = [];
    const loop = (async (): Promise<void> => {
      for await (const event of channel.events) {
        v.ibv_ack_cq_events(event.cq, 1);
        seen.push(...v.ibv_poll_cq(event.cq, 9).map(({ wr_id }) => wr_id));
        if (seen.length < 2) v.ibv_req_notify_cq(event.cq, 0);
      }
    })();
    v.ibv_req_notify_cq(cq, 0);
    complete(1);
    await new Promise((resolve) => setTimeout(resolve));
    complete(2);
    await new Promise((resolve) => setTimeout(resolve));
    v.ibv_destroy_cq(cq);
    v.ibv_destroy_comp_channel(channel);
    await loop;
    expect(seen).toEqual([1, 2]);
    await expect(channel.events.next()).rejects.toThrow(SteeringError);
    expect(refused(() => v.ibv_get_cq_event(channel))?.reason).toBe("object_destroyed");
  });

  test("outlives its queues, which outlive their events", () => {
    expect(refused(() => v.ibv_destroy_comp_channel(channel))).toMatchObject({ code: "EBUSY", path: "channel" });
    v.ibv_req_notify_cq(cq, 0);
    complete(1);
    v.ibv_get_cq_event(channel);
    expect(refused(() => v.ibv_destroy_cq(cq))).toMatchObject({ code: "EBUSY", path: "cq" });
    expect(refused(() => v.ibv_ack_cq_events(cq, 2))).toMatchObject({ code: "EINVAL", path: "nevents" });
    v.ibv_ack_cq_events(cq, 1);
    v.ibv_req_notify_cq(cq, 0);
    complete(2);
    // Destroying a queue removes its waiting events.
    v.ibv_destroy_cq(cq);
    expect(refused(() => v.ibv_get_cq_event(channel))).toMatchObject(noEvent);
    expect(v.ibv_destroy_comp_channel(channel)).toBe(0);
  });

  test("belongs to one context", () => {
    const other = v.ibv_open_device(station.device);
    expect(refused(() => v.ibv_create_cq(other, 4, null, channel))).toMatchObject({ code: "EINVAL", path: "channel" });
    const attributes = { cqe: 4, channel };
    expect(refused(() => v.ibv_create_cq_ex(other, attributes))?.path).toBe("cq_attr.channel");
    expect(() => v.ibv_create_cq(other, 4, null, 5 as never)).toThrow(TypeError);
    const own = v.ibv_create_comp_channel(other);
    v.ibv_close_device(other);
    expect(v.ibv_destroy_comp_channel(own)).toBe(0);
    expect(refused(() => v.ibv_create_comp_channel(other))?.reason).toBe("object_destroyed");
  });

  test("is not needed to ask for events", () => {
    const alone = v.ibv_create_cq(station.context, 4);
    expect(v.ibv_req_notify_cq(alone, 0)).toBe(0);
    complete(1, alone);
    expect(v.ibv_poll_cq(alone, 1)).toHaveLength(1);
  });
});

describe("solicited events", () => {
  test("of datagrams follow the bit in the packet, or an error", () => {
    const { context, pd, mr, memory, device } = station;
    const qp = v.ibv_create_qp(pd, {
      qp_type: v.IBV_QPT_UD,
      send_cq: station.cq,
      recv_cq: cq,
      cap: { max_recv_wr: 4, max_recv_sge: 1 },
    });
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_INIT, port_num: 1, pkey_index: 0, qkey: 5 }, 0x71);
    v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RTR }, v.IBV_QP_STATE);
    v.ibv_create_flow(qp, { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
    for (const length of [2048, 2048, 2048, 8]) {
      v.ibv_post_recv(qp, { wr_id: length, sg_list: [{ addr: memory.subarray(0, length), lkey: mr.lkey }] });
    }
    const frames: Uint8Array[] = [];
    device.connect(1, (frame) => frames.push(frame));
    const ah = v.ibv_create_ah(pd, { is_global: 1, port_num: 1, grh: { dgid: "ff0e::1" } });
    const ud = { ah, remote_qpn: qp.qp_num, remote_qkey: 5 };
    for (const send_flags of [0, v.IBV_SEND_SOLICITED]) {
      v.ibv_post_send(station.qp, request(station, new Uint8Array(8), { wr: { ud }, send_flags }));
    }
    const [plain, solicited] = frames as [Uint8Array, Uint8Array];
    v.ibv_req_notify_cq(cq, 1);
    device.receive(1, plain);
    device.receive(1, ipv4Frame());
    expect(refused(() => v.ibv_get_cq_event(channel))).toMatchObject(noEvent);
    device.receive(1, solicited);
    expect(v.ibv_get_cq_event(channel).cq).toBe(cq);
    v.ibv_poll_cq(cq, 9);
    v.ibv_req_notify_cq(cq, 1);
    device.receive(1, plain);
    expect(v.ibv_get_cq_event(channel).cq).toBe(cq);
    expect(v.ibv_poll_cq(cq, 9)).toMatchObject([{ status: v.IBV_WC_LOC_LEN_ERR }]);
    expect(context.users).toBeGreaterThan(0);
  });

  test("a later request for solicited events only does not undo a request for all", () => {
    postBuffers(station, 0);
    v.ibv_req_notify_cq(cq, 0);
    v.ibv_req_notify_cq(cq, 1);
    complete(1);
    expect(v.ibv_get_cq_event(channel).cq).toBe(cq);
  });

  test("of messages follow the last packet", async () => {
    const [left, right] = await openPair();
    left.connect(1, right, 1);
    const [a, b] = [openEnd(left), openEnd(right)];
    join(a, b);
    const other = v.ibv_create_comp_channel(b.context);
    const received = v.ibv_create_cq(b.context, 8, null, other);
    const c = openEnd(right, { attributes: { recv_cq: received } });
    const d = openEnd(left);
    // An end on another context cannot use the queue: c has its own, with the channel of b.
    expect(c.qp.recv_cq).toBe(received);
    join(d, c);
    postReceives(c, 4);
    v.ibv_req_notify_cq(received, 1);
    post(d, new Uint8Array(3000));
    expect(refused(() => v.ibv_get_cq_event(other))).toMatchObject(noEvent);
    post(d, new Uint8Array(3000), { send_flags: v.IBV_SEND_SIGNALED | v.IBV_SEND_SOLICITED });
    expect(v.ibv_get_cq_event(other).cq).toBe(received);
  });
});

describe("asynchronous events", () => {
  let [left, right]: [Device?, Device?] = [];
  let a: End;
  let b: End;

  beforeEach(async () => {
    [left, right] = await openPair();
    left.connect(1, right, 1);
    [a, b] = [openEnd(left), openEnd(right)];
  });

  test("tell of the first packet that arrives in RTR", () => {
    raise(a, attributesOf(a, b));
    raise(b, attributesOf(b, a), 2);
    postReceives(b, 2);
    post(a, new Uint8Array(5));
    post(a, new Uint8Array(5));
    const event = v.ibv_get_async_event(b.context);
    expect(event).toEqual({ event_type: v.IBV_EVENT_COMM_EST, element: { qp: b.qp } });
    expect(refused(() => v.ibv_get_async_event(b.context))).toMatchObject({ code: "EAGAIN", path: "context" });
    expect(refused(() => v.ibv_destroy_qp(b.qp))).toMatchObject({ code: "EBUSY", path: "qp" });
    v.ibv_ack_async_event(event);
    expect(refused(() => v.ibv_ack_async_event(event))).toMatchObject({ code: "EINVAL", path: "event" });
    v.ibv_destroy_qp(b.qp);
  });

  test("fill a struct, which is acknowledged then", () => {
    raise(a, attributesOf(a, b));
    raise(b, attributesOf(b, a), 2);
    postReceives(b, 1);
    post(a, new Uint8Array(5));
    const event: v.Out<v.AsyncEvent> = {};
    expect(v.ibv_get_async_event(b.context, event)).toBe(0);
    expect(event.element?.qp).toBe(b.qp);
    v.ibv_ack_async_event(event);
    expect(() => v.ibv_ack_async_event(null as never)).toThrow(TypeError);
    expect(() => v.ibv_get_async_event(b.context, 3 as never)).toThrow(TypeError);
  });

  test("go with their object", () => {
    raise(a, attributesOf(a, b));
    raise(b, attributesOf(b, a), 2);
    postReceives(b, 1);
    post(a, new Uint8Array(5));
    v.ibv_destroy_qp(b.qp);
    expect(refused(() => v.ibv_get_async_event(b.context))?.code).toBe("EAGAIN");
  });

  test("can be awaited, and end with the context", async () => {
    const context = v.ibv_open_device(await createDevice());
    const next = context.asyncEvents.next();
    v.ibv_close_device(context);
    await expect(next).rejects.toMatchObject({ reason: "object_destroyed", path: "context" });
  });
});

describe("a completion queue of another size", () => {
  test("holds what it is told to", () => {
    expect(v.ibv_resize_cq(cq, 1)).toBe(0);
    complete(1);
    complete(2);
    expect([cq.cqe, cq.full]).toEqual([1, true]);
    const most = v.ibv_query_device(station.context).max_cqe;
    for (const cqe of [1, 0, most + 1]) {
      expect(refused(() => v.ibv_resize_cq(cq, cqe))).toMatchObject({ code: "EINVAL", path: "cqe" });
    }
    expect(v.ibv_resize_cq(cq, 3)).toBe(0);
    expect(cq.full).toBe(false);
    expect(v.ibv_poll_cq(cq, 9)).toHaveLength(2);
  });

  test("takes frames up to its new size", async () => {
    const raw = await openStation({ cqe: 1 });
    postBuffers(raw, 4);
    v.ibv_create_flow(raw.qp, { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
    const receive = (): string | null => raw.device.receive(1, ipv4Frame()).reason;
    const first = receive();
    expect(receive()).not.toBe(first);
    v.ibv_resize_cq(raw.cq, 2);
    expect(receive()).toBe(first);
    expect(receive()).not.toBe(first);
    expect(v.ibv_poll_cq(raw.cq, 9)).toHaveLength(2);
  });
});
