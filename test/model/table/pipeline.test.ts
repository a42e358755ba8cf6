/** Sending: the send path of a port, and frames that it loops back. */
import { expect, test } from "vitest";
import { createDevice, createSink, type Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Context } from "../../../src/model/base/context.js";
import { PendingWork } from "../../../src/model/traffic/outcomeReader.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { ibv_open_device } from "../../../src/verbs/index.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";

const FRAME = ipv4Frame();

async function open(): Promise<{ device: Device; context: Context; queue: QueuePair }> {
  const device = await createDevice({ ports: 2 });
  const context = ibv_open_device(device);
  return { device, context, queue: createSink(context, "web") };
}

test("a device without rules transmits, and loops nothing back", async () => {
  const { device, queue } = await open();
  const used = device.memoryUsed;
  const { traffic } = device;
  const pf = device.function(0);
  const left = { verdict: "transmit", to: [{ kind: "port", name: "port:2", frame: FRAME, outcome: null }] };
  expect(traffic.send(pf, 2, [FRAME, FRAME], new PendingWork())).toMatchObject([left, left]);
  expect(traffic.loopBack(2, [FRAME], queue, new PendingWork())).toMatchObject([
    { verdict: "miss", reason: null, to: [] },
  ]);
  expect(device.memoryUsed).toBe(used);
  expect(refused(() => traffic.send(pf, 3, [FRAME], new PendingWork()))?.reason).toBe("out_of_range");
  expect(refused(() => traffic.loopBack(0, [FRAME], queue, new PendingWork()))?.reason).toBe("out_of_range");
  expect(() => traffic.send(pf, 1, ["frame" as never], new PendingWork())).toThrow(TypeError);
});

test("DR root rules answer everybody's frames; what they miss is no end, and counts as none", async () => {
  const { device, context, queue } = await open();
  const root = dv.mlx5dv_dr_table_create(dv.mlx5dv_dr_domain_create(context, 0), 0);
  const { match_criteria_enable, mask, value } = dv.matchParameters({ "outer.tcp_dport": 80 });
  const matcher = dv.mlx5dv_dr_matcher_create(root, 0, match_criteria_enable, mask);
  dv.mlx5dv_dr_rule_create(matcher, value, 1, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
  const frames = [ipv4Frame({ dport: 80 }), ipv4Frame({ dport: 81 })];
  expect(device.traffic.loopBack(1, frames, queue, new PendingWork())).toMatchObject([
    { verdict: "deliver", reason: null, to: [{ kind: "qp", name: "qp:web", object: queue, tag: 0 }], copies: [] },
    { verdict: "miss", reason: null, to: [], copies: [] },
  ]);
  expect(device.reasons().no_rule).toBe(0n);
  expect(device.receiveBatch(1, frames).map(({ reason }) => reason)).toEqual([null, "no_rule"]);
  expect(device.reasons().no_rule).toBe(1n);
});
