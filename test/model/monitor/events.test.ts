/**
 * Events of a device (docs/metrics.md): what each says, in which order, and that a device without
 * listeners takes the same path as one that never had any.
 */
import { describe, expect, test, vi } from "vitest";
import {
  createDevice,
  createDevicePool,
  EVENT_NAMES,
  type DeviceEvents,
  type EventName,
  type Device,
} from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, openBench, refused } from "../../mlx5dv/support/directRules.js";
import { ruleFor } from "../../mlx5dv/support/switchBench.js";
import { openStation, postBuffers } from "../../verbs/support/queuePairs.js";
import { meterFrames } from "../support/meters.js";

const FRAME = ipv4Frame();
const OTHER = ipv4Frame({ dport: 443 });

/** All events of a device from now on, as texts. */
function record(device: Device): { seen: string[]; stop: () => void } {
  const seen: string[] = [];
  const stops = EVENT_NAMES.map((name) => device.on(name, (event) => seen.push(text(name, event))));
  return { seen, stop: () => stops.forEach((stop) => stop()) };
}

function text<E extends EventName>(name: E, event: DeviceEvents[E]): string {
  if ("change" in event) return "";
  const parts: Partial<Record<EventName, () => unknown[]>> = {
    frame: () => [(event as DeviceEvents["frame"]).port, (event as DeviceEvents["frame"]).sender?.name ?? "wire"],
    hit: () => [(event as DeviceEvents["hit"]).rule.name],
    drop: () => {
      const { reason, rule, tables } = event as DeviceEvents["drop"];
      return [reason, rule?.name ?? "-", tables.map(({ domain, table }) => `${domain}/${table}`).join()];
    },
    delivery: () => {
      const { destination, copy } = event as DeviceEvents["delivery"];
      return [destination.name, ...(copy ? ["copy"] : [])];
    },
    transmit: () => [(event as DeviceEvents["transmit"]).destination.name],
    state: () => {
      const { kind, from, to } = event as DeviceEvents["state"];
      return [kind, from, to];
    },
    ruleAdded: () => [(event as DeviceEvents["ruleAdded"]).rule.name],
    ruleRemoved: () => [(event as DeviceEvents["ruleRemoved"]).rule.name],
    completion: () => [(event as DeviceEvents["completion"]).completion.wr_id],
  };
  return [name, ...(parts[name]?.() ?? [])].join(" ");
}

describe("frames", () => {
  test("a rule that delivers, one that drops, and a miss, with their tables", async () => {
    const { device, domain, root, queue } = await openBench();
    const table = dv.mlx5dv_dr_table_create(domain, 1);
    ruleFor(root, { "outer.tcp_dport": 80 }, [dv.mlx5dv_dr_action_create_dest_table(table)]).called("http");
    ruleFor(root, { "outer.tcp_dport": 443 }, [dv.mlx5dv_dr_action_create_drop()]).called("no tls");
    ruleFor(table, { "outer.ipv4_src": "192.0.2.1" }, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]).called("ours");
    const { seen } = record(device);
    device.receiveBatch(1, [FRAME, OTHER, ipv4Frame({ dport: 22 })]);
    expect(seen).toEqual([
      ...["frame 1 wire", "hit http", "hit ours", "delivery qp:web"],
      ...["frame 1 wire", "hit no tls", "drop drop_action no tls nic_rx/root"],
      ...["frame 1 wire", "drop no_rule - nic_rx/root"],
    ]);
  });

  test("an event has the frame, its outcome, the device and its clock", async () => {
    const { device, root, queue } = await openBench();
    ruleFor(root, {}, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
    device.advance(7n);
    const frames: DeviceEvents["frame"][] = [];
    device.on("frame", (event) => frames.push(event));
    const outcome = device.receive(1, FRAME);
    expect(frames).toHaveLength(1);
    expect(frames[0]).toMatchObject({ time: 7n, port: 1, sender: null });
    expect([frames[0]!.device, frames[0]!.frame, frames[0]!.outcome]).toEqual([device, FRAME, outcome]);
    expect(frames[0]!.outcome).toBe(outcome);
  });

  test("sent frames leave by a port, and a connected device tells of them later", async () => {
    const a = await openStation({ name: "a" });
    const b = await openBench({ name: "b" });
    ruleFor(b.root, {}, [dv.mlx5dv_dr_action_create_dest_ibv_qp(b.queue)]).called("all");
    a.device.connect(1, b.device, 1);
    const all: string[] = [];
    for (const device of [a.device, b.device]) {
      for (const name of EVENT_NAMES) device.on(name, (event) => all.push(`${device.name} ${text(name, event)}`));
    }
    a.device.send(a.qp, FRAME);
    expect(all).toEqual([
      `a frame 1 ${a.qp.name}`,
      "a transmit port:1",
      "b frame 1 wire",
      "b hit all",
      "b delivery qp:web",
    ]);
  });

  test("a burst tells the same as receive, on a device and on a pool", async () => {
    const frames = [FRAME, OTHER, FRAME];
    const told: string[][] = [];
    for (const way of ["receive", "burst", "pool", "pool burst"]) {
      const device = way.startsWith("pool") ? await createDevicePool({ workers: 2 }) : await createDevice();
      const rule = device.hostRules.add({
        application: "tc",
        match: { "outer.tcp_dport": 443 },
        action: "drop",
        name: "no tls",
      });
      const { seen } = record(device);
      if (way.endsWith("burst")) {
        const burst = device.openBurst();
        for (const frame of frames) burst.put(frame);
        burst.steer();
        expect(Array.from(burst.verdicts.subarray(0, 3))).toEqual([5, 4, 5]);
      } else device.receiveBatch(1, frames);
      told.push(seen);
      rule.remove();
      device.close();
    }
    expect(told[0]).toHaveLength(8);
    for (const seen of told) expect(seen).toEqual(told[0]);
  });

  test("completions come after the events of their frame", async () => {
    const station = await openStation();
    v.ibv_create_flow(station.qp, { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
    postBuffers(station, 1);
    const { seen } = record(station.device);
    station.device.receiveBatch(1, [FRAME, OTHER]);
    expect(seen).toEqual([
      ...["frame 1 wire", "hit flow0", `delivery qp:${station.qp.name}`, "completion 100"],
      ...["frame 1 wire", "hit flow0", "drop no_receive_buffer flow0 nic_rx/root"],
    ]);
  });
});

describe("state", () => {
  test("a meter changes its colour", async () => {
    const bench = await openBench();
    meterFrames(bench);
    const seen: unknown[] = [];
    const stop = bench.device.on("state", ({ kind, from, to, object }) => seen.push([kind, from, to, object.name]));
    bench.device.receiveBatch(1, [FRAME, FRAME, FRAME]);
    bench.device.advance(64n);
    bench.device.receive(1, FRAME);
    const name = seen.length > 0 ? (seen[0] as unknown[])[3] : "";
    expect(seen).toEqual([
      ["meter", null, "green", name],
      ["meter", "green", "red", name],
      ["meter", "red", "green", name],
    ]);
    stop();
    bench.device.receive(1, FRAME);
    expect(seen).toHaveLength(3);
  });
});

describe("rules", () => {
  test("direct rules, rules in bulk, flows and host rules", async () => {
    const { device, root, queue } = await openBench();
    const { seen } = record(device);
    const rule = ruleFor(root, { "outer.tcp_dport": 80 }, [dv.mlx5dv_dr_action_create_drop()]);
    dv.mlx5dv_dr_rule_destroy(rule);
    const flow = v.ibv_create_flow(queue, { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
    v.ibv_destroy_flow(flow);
    device.hostRules.add({ application: "tc", action: "drop", name: "host" }).remove();
    const names = [rule.name, rule.name, flow.name, flow.name, "host", "host"];
    expect(seen).toEqual(names.map((name, i) => `${i % 2 === 0 ? "ruleAdded" : "ruleRemoved"} ${name}`));
  });

  test("a listener may change rules and run frames", async () => {
    const { device, root, queue } = await openBench();
    const rule = ruleFor(root, {}, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
    const stop = device.on("hit", () => {
      stop();
      dv.mlx5dv_dr_rule_destroy(rule);
      expect(device.receive(1, FRAME).verdict).toBe("miss");
    });
    expect(device.receive(1, FRAME).verdict).toBe("deliver");
    expect(device.receive(1, FRAME).verdict).toBe("miss");
  });
});

describe("listeners", () => {
  test("a device without listeners has no observer, before and after", async () => {
    const { device } = await openBench();
    expect(device.observer).toBeNull();
    const listener = vi.fn();
    const stops = [device.on("frame", listener), device.on("frame", listener), device.on("ruleAdded", listener)];
    expect(device.observer).not.toBeNull();
    device.receive(1, FRAME);
    expect(listener).toHaveBeenCalledTimes(2);
    for (const stop of stops) stop();
    for (const stop of stops) stop();
    expect(device.observer).toBeNull();
    device.receive(1, FRAME);
    expect(listener).toHaveBeenCalledTimes(2);
  });

  test("bursts read no outcomes for listeners of rules", async () => {
    const { device, root, queue } = await openBench();
    ruleFor(root, {}, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
    const read = vi.spyOn(device.traffic.batch, "destinations");
    const run = (): number => {
      read.mockClear();
      const burst = device.openBurst();
      burst.put(FRAME);
      burst.steer();
      return read.mock.calls.length;
    };
    expect(run()).toBe(0);
    device.on("ruleAdded", () => undefined);
    expect(run()).toBe(0);
    device.on("delivery", () => undefined);
    expect(run()).toBe(1);
  });

  test("wrong calls are refused", async () => {
    const { device } = await openBench();
    expect(refused(() => device.on("frames" as never, () => undefined))).toMatchObject({
      code: "EINVAL",
      reason: "unknown_name",
      path: "event",
    });
    expect(() => device.on("frame", 1 as never)).toThrow(TypeError);
    expect(device.observer).toBeNull();
  });
});
