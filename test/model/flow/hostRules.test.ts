/** device.hostRules: rules of the host's applications, after flows and direct rules. */
import { beforeEach, describe, expect, test } from "vitest";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";
import { ALL, FlowBench, TCP } from "../../verbs/support/flows.js";

const FRAME = ipv4Frame();

let bench: FlowBench;
beforeEach(async () => {
  bench = await FlowBench.open();
});

describe("order", () => {
  test("ethtool, tc, nic; each by priority, then by age", () => {
    const { hostRules } = bench.device;
    const names = (): string => bench.received(FRAME);
    hostRules.add({ application: "nic", action: { queue: 1 } });
    hostRules.add({ application: "nic", action: { queue: 2 } });
    expect(names()).toBe("host:1 deliver");
    hostRules.add({ application: "tc", priority: 65_535, action: { queue: 3 } });
    expect(names()).toBe("host:3 deliver");
    const [second, first] = [2, 1].map((priority) =>
      hostRules.add({ application: "tc", priority, match: { "outer.tcp_dport": 80 }, action: { queue: 4 + priority } }),
    );
    expect(names()).toBe("host:5 deliver");
    const top = hostRules.add({ application: "ethtool", priority: 9, port: 1, action: "drop" });
    expect(names()).toBe("drop drop_action");
    expect(bench.device.receive(1, FRAME).rules).toEqual([top]);
    expect(bench.received(FRAME, 2)).toBe("host:5 deliver");
    for (const rule of [top, first]) rule?.remove();
    expect(names()).toBe("host:6 deliver");
    expect(second?.name).toBe("tc1");
  });

  test("behind flows, before default flows", () => {
    const host = bench.device.hostRules.add({ application: "ethtool", action: { queue: 0 } });
    bench.flow("a", [], ALL);
    expect(bench.received(FRAME)).toBe("host:0 deliver");
    bench.flow("b", [TCP], { priority: 65_535 });
    expect(bench.received(FRAME)).toBe("b deliver");
    host.remove();
    expect(bench.received(ipv4Frame({ protocol: 17 }))).toBe("a deliver");
  });
});

test("rules leave nothing behind, and go once", () => {
  const used = bench.device.memoryUsed;
  const add = (queue: number) =>
    bench.device.hostRules.add({ application: "tc", action: { queue }, name: `to ${queue}` });
  const rules = [add(1), add(1), add(65_535)];
  for (const rule of rules) rule.remove();
  expect(bench.device.memoryUsed).toBe(used);
  expect(refused(() => rules[0]?.remove())?.reason).toBe("object_destroyed");
  expect(bench.received(FRAME)).toBe("miss no_rule");
});

test("what is no rule is refused, and changes nothing", () => {
  const { hostRules } = bench.device;
  const used = bench.device.memoryUsed;
  const path = (over: object): string | undefined =>
    refused(() => hostRules.add({ application: "tc", action: { queue: 1 }, ...over }))?.path;
  expect(path({ application: "ebpf" })).toBe("application");
  expect(path({ priority: 65_536 })).toBe("priority");
  expect(path({ port: 3 })).toBe("port");
  expect(path({ port: 1, match: { "ext.port": 1 } })).toBe("match.ext.port");
  expect(path({ match: { "outer.nothing": 1 } })).toBe("match.outer.nothing");
  expect(path({ match: { "misc4.prog_sample_field_value_0": 1 } })).toBeDefined();
  expect(path({ action: { queue: 65_536 } })).toBe("action.queue");
  expect(() => hostRules.add({ application: "tc", action: "deliver" as never })).toThrow(TypeError);
  expect(bench.device.memoryUsed).toBe(used);
});
