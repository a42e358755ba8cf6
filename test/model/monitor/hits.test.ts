/**
 * Counted hits (docs/metrics.md): packets and bytes of rules, tables, ports and queues are the sums
 * over the outcomes of all frames, however the frames are run.
 */
import { describe, expect, test } from "vitest";
import {
  createDevice,
  createDevicePool,
  createSink,
  type Device,
  type Hits,
  type Outcome,
} from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { numbers } from "../../../bench/random.js";
import { ipv4Frame, openBench, refused } from "../../mlx5dv/support/directRules.js";
import { ruleFor } from "../../mlx5dv/support/switchBench.js";
import { attr, DONT_TRAP, FlowBench } from "../../verbs/support/flows.js";
import { openStation } from "../../verbs/support/queuePairs.js";

const NONE: Hits = { packets: 0n, bytes: 0n };

class Tally {
  readonly #sums = new Map<unknown, Hits>();

  add(of: unknown, length: number): void {
    const { packets, bytes } = this.of(of);
    this.#sums.set(of, { packets: packets + 1n, bytes: bytes + BigInt(length) });
  }

  of(one: unknown): Hits {
    return this.#sums.get(one) ?? NONE;
  }
}

/** Sums outcomes of received frames, by rule, table, destination and port. */
function tallied(frames: readonly Uint8Array[], outcomes: readonly Outcome[]): Tally {
  const tally = new Tally();
  for (const [i, { rules, to, copies, verdict }] of outcomes.entries()) {
    const { length } = frames[i]!;
    tally.add("received", length);
    if (verdict === "drop" || verdict === "miss") tally.add("dropped", length);
    for (const rule of rules) {
      tally.add(rule, length);
      if ("matcher" in rule) tally.add(rule.matcher.table.name, length);
    }
    for (const { name, frame } of [...to, ...copies]) tally.add(name, frame.length);
  }
  return tally;
}

function world(device: Device): { rules: ReturnType<typeof ruleFor>[]; tables: { name: string; hits(): Hits }[] } {
  const context = dv.mlx5dv_open_device(device);
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const [root, inner] = [dv.mlx5dv_dr_table_create(domain, 0), dv.mlx5dv_dr_table_create(domain, 1)];
  const queues = ["a", "b"].map((name) => dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, name)));
  const vlan = dv.mlx5dv_dr_action_create_push_vlan(domain, 0x8100_0005);
  const rules = [
    ruleFor(root, { "outer.tcp_dport": 80 }, [dv.mlx5dv_dr_action_create_dest_table(inner)]),
    ruleFor(root, { "outer.tcp_dport": 81 }, [dv.mlx5dv_dr_action_create_drop()]),
    ruleFor(root, { "outer.tcp_dport": 82 }, [queues[0]!]),
    ruleFor(inner, { "outer.ipv4_dst": "10.0.0.1" }, [vlan, queues[1]!]),
    ruleFor(inner, { "outer.ipv4_dst": "10.0.0.2" }, [queues[0]!]),
  ];
  return { rules, tables: [root, inner] };
}

const next = numbers(24);
const random = (below: number): number => next() % below;
const FRAMES = Array.from({ length: 400 }, () =>
  ipv4Frame({ dport: 79 + random(5), dst: [10, 0, 0, random(4)], length: 64 + random(64) }),
);

const WAYS: Record<string, (device: Device) => void> = {
  "one by one": (device) => FRAMES.forEach((frame) => device.receive(1, frame)),
  "in a batch": (device) => device.receiveBatch(1, FRAMES),
  "in bursts": (device) => {
    const burst = device.openBurst();
    for (let next = 0; next < FRAMES.length;) {
      burst.clear();
      while (next < FRAMES.length && burst.put(FRAMES[next]!) >= 0) next++;
      burst.steer();
    }
  },
};

describe.each([1, 2])("on %d cores", (workers) => {
  test.each(Object.keys(WAYS))("%s", async (way) => {
    const open = async (): Promise<Device> => (workers === 1 ? createDevice() : createDevicePool({ workers }));
    const device = await open();
    const { rules, tables } = world(device);
    const expected = tallied(FRAMES, device.receiveBatch(1, FRAMES));
    // Frames before this call do not count.
    device.countHits();
    WAYS[way]!(device);
    for (const rule of rules) expect(rule.hits()).toEqual(expected.of(rule));
    for (const table of tables) expect(table.hits()).toEqual(expected.of(table.name));
    expect(expected.of(rules[3]!).packets).toBeGreaterThan(0n);

    const { hits } = device.metrics();
    const [port] = hits!.ports;
    expect(port).toEqual({
      port: 1,
      received: expected.of("received"),
      transmitted: NONE,
      dropped: expected.of("dropped"),
    });
    expect(hits!.queues).toEqual(["qp:a", "qp:b"].map((queue) => ({ queue, ...expected.of(queue) })));
    expect(hits!.rules.map(({ rule, packets }) => [rule, packets])).toEqual(
      rules.map((rule) => [rule.name, expected.of(rule).packets]),
    );
    device.users = 0;
    device.close();
  });
});

test("a rule begins at zero, and its table keeps what removed rules have counted", async () => {
  const { device, root, queue } = await openBench({ countHits: true });
  const to = dv.mlx5dv_dr_action_create_dest_ibv_qp(queue);
  const first = ruleFor(root, {}, [to]);
  device.receiveBatch(1, [FRAMES[0]!, FRAMES[1]!]);
  expect(first.hits().packets).toBe(2n);
  dv.mlx5dv_dr_rule_destroy(first);
  const second = ruleFor(root, {}, [to]);
  expect([second.id, second.hits()]).toEqual([first.id, NONE]);
  device.receive(1, FRAMES[0]!);
  expect([second.hits().packets, root.hits().packets]).toEqual([1n, 3n]);
});

test("more rules than at the start, and flows", async () => {
  const { device, context, root, queue } = await openBench({ countHits: true });
  const to = dv.mlx5dv_dr_action_create_dest_ibv_qp(queue);
  const rules = Array.from({ length: 200 }, (_, n) => ruleFor(root, { "outer.tcp_dport": n }, [to]));
  const flow = v.ibv_create_flow(createSink(context, "rest"), {
    type: v.IBV_FLOW_ATTR_ALL_DEFAULT,
    port: 1,
    specs: [],
  });
  device.receiveBatch(1, [ipv4Frame({ dport: 0 }), ipv4Frame({ dport: 199 }), ipv4Frame({ dport: 7777 })]);
  expect([0, 1, 199].map((n) => rules[n]!.hits().packets)).toEqual([1n, 0n, 1n]);
  expect(flow.hits()).toEqual({ packets: 1n, bytes: 64n });
});

test("a frame that its port loops back has not left by it", async () => {
  const { device, context, qp } = await openStation({ countHits: true });
  device.send(qp, FRAMES[0]!);
  const { transmitted } = device.metrics().hits!.ports[0]!;
  expect(transmitted).toEqual({ packets: 1n, bytes: BigInt(FRAMES[0]!.length) });
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const own = dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, "own"));
  const rule = ruleFor(dv.mlx5dv_dr_table_create(domain, 0), {}, [own]);
  expect(device.send(qp, FRAMES[1]!).to.map(({ name }) => name)).toEqual(["qp:own"]);
  expect(rule.hits()).toEqual({ packets: 1n, bytes: BigInt(FRAMES[1]!.length) });
  expect(device.metrics().hits!.ports[0]!.transmitted).toEqual(transmitted);
});

test("a device that does not count refuses to say", async () => {
  const { device, root, queue } = await openBench();
  const rule = ruleFor(root, {}, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
  expect(device.metrics().hits).toBeNull();
  const before = device.memoryUsed;
  for (const ask of [() => rule.hits(), () => root.hits()])
    expect(refused(ask)).toMatchObject({ code: "EINVAL", reason: "not_counted" });
  device.countHits();
  device.receive(1, FRAMES[0]!);
  expect(rule.hits().packets).toBe(1n);
  device.countHits(false);
  expect(refused(() => rule.hits())).toMatchObject({ reason: "not_counted" });
  expect(device.memoryUsed).toBe(before);
  device.countHits();
  expect(rule.hits()).toEqual(NONE);
});

test("memory that is too short for counters is ENOMEM, and steering goes on", async () => {
  const { device, root, queue } = await openBench({ limits: { memory: 200_000 } });
  const rule = ruleFor(root, {}, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
  while (refused(() => createSink(rule.matcher.table.domain.context, "q")) === undefined);
  expect(refused(() => device.countHits())).toMatchObject({ code: "ENOMEM" });
  expect(device.receive(1, FRAMES[0]!).verdict).toBe("deliver");
  expect(refused(() => rule.hits())).toMatchObject({ reason: "not_counted" });
});

test("a queue that is not ready has not received a frame, even if another has", async () => {
  const bench = await FlowBench.open({ countHits: true });
  v.ibv_create_flow(bench.realQp(v.IBV_QPT_RAW_PACKET), attr([], DONT_TRAP));
  const flow = bench.flow("in", [], { priority: 1 });
  const frame = ipv4Frame();
  expect(bench.device.receive(1, frame).verdict).toBe("deliver");
  const { hits } = bench.device.metrics();
  expect(flow.hits()).toEqual({ packets: 1n, bytes: BigInt(frame.length) });
  expect(hits!.queues.map(({ packets }) => packets).sort()).toEqual([0n, 1n]);
});
