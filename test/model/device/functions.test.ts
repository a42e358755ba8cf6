/** Functions of a device: their own objects, and the shared ones. */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, createSink, type Device, type DeviceFunction } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Context } from "../../../src/model/base/context.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";
import { attr, EGRESS, outcomeText, TCP } from "../../verbs/support/flows.js";

const FRAME = ipv4Frame();

let device: Device;
let vf: DeviceFunction;
let pf: Context;
let context: Context;

beforeEach(async () => {
  device = await createDevice({ ports: 2, vports: 2 });
  vf = device.function(1);
  pf = v.ibv_open_device(device);
  context = v.ibv_open_device(vf);
});

describe("functions", () => {
  test("have numbers and names", async () => {
    expect([0, 1, 2].map((vport) => device.function(vport))).toMatchObject([
      { vport: 0, name: "flowsteer0", device },
      { vport: 1, name: "flowsteer0/vf1", device },
      { vport: 2, name: "flowsteer0/vf2", device },
    ]);
    expect(device.vports).toBe(2);
    expect(device.function(1)).toBe(vf);
    expect(device.hostRules).toBe(device.function(0).hostRules);
    const most = await createDevice({ name: "most", vports: 255 });
    expect(most.function(255).name).toBe("most/vf255");
    const alone = await createDevice();
    expect(alone.function(0)).toMatchObject({ vport: 0 });
  });

  test("that are not there are refused", async () => {
    for (const vport of [3, 0xffff, -1, 1.5]) {
      expect(refused(() => device.function(vport))).toMatchObject({ code: "EINVAL", path: "vport", value: vport });
    }
    expect(() => device.function("1" as never)).toThrow(TypeError);
    for (const vports of [256, -1, 0.5]) {
      await expect(createDevice({ vports })).rejects.toMatchObject({ code: "EINVAL", path: "vports" });
    }
  });

  test("are opened like devices", () => {
    expect([pf.function, context.function]).toEqual([device.function(0), vf]);
    expect([pf.name, context.name]).toEqual(["flowsteer0/context0", "flowsteer0/vf1/context1"]);
    const other = dv.mlx5dv_open_device(device.function(2), { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
    expect(other).toMatchObject({ device, function: device.function(2) });
    expect(() => v.ibv_open_device({} as never)).toThrow(/device must be a Device or a DeviceFunction, not Object/);
    expect(() => dv.mlx5dv_open_device(null as never)).toThrow(TypeError);
    expect(refused(() => device.close())?.code).toBe("EBUSY");
    for (const one of [pf, context, other]) v.ibv_close_device(one);
    device.close();
    expect(refused(() => v.ibv_open_device(vf))?.reason).toBe("object_destroyed");
  });
});

describe("flows of a function", () => {
  test("and those of another one are not identical", () => {
    const mine = createSink(context, "mine");
    const yours = createSink(pf, "yours");
    v.ibv_create_flow(mine, attr([TCP, { type: v.IBV_FLOW_SPEC_ACTION_TAG, tag_id: 5 }]));
    v.ibv_create_flow(yours, attr([TCP, { type: v.IBV_FLOW_SPEC_ACTION_TAG, tag_id: 6 }]));
    expect(outcomeText(device.receive(1, FRAME))).toBe("yours6 deliver");
  });

  test("count towards the limit of the device", async () => {
    const small = await createDevice({ vports: 1, limits: { flows: 2 } });
    const queues = [0, 1].map((vport) => createSink(v.ibv_open_device(small.function(vport)), `q${vport}`));
    const flows = queues.map((queue) => v.ibv_create_flow(queue, attr([TCP])));
    for (const queue of queues) {
      const refusal = refused(() => v.ibv_create_flow(queue, attr([], { priority: 1 })));
      expect(refusal).toMatchObject({ code: "ENOMEM", hint: "limits.flows of createDevice is 2" });
    }
    v.ibv_destroy_flow(flows[1] as never);
    v.ibv_create_flow(queues[0] as never, attr([], { priority: 1 }));
  });

  test("and its host rules do not see what the PF gets", () => {
    const used = device.memoryUsed;
    const flow = v.ibv_create_flow(createSink(context, "mine"), attr([]));
    const egress = v.ibv_create_flow(createSink(context, "out"), attr([], EGRESS));
    const rule = vf.hostRules.add({ application: "nic", action: { queue: 1 } });
    expect(outcomeText(device.receive(1, FRAME))).toBe("miss no_rule");
    expect(device.memoryUsed).toBeGreaterThan(used);
    for (const one of [flow, egress]) v.ibv_destroy_flow(one);
    rule.remove();
    expect(refused(() => rule.remove())?.reason).toBe("object_destroyed");
  });
});
