/** Flows of scenarios on a device: what is refused and where, what comes out. */
import { describe, expect, it } from "vitest";
import { loadScenario, outcomeRecord } from "../../src/scenario/index.js";
import { WEB_FRAME } from "./support/documents.js";
import { refusal } from "./support/scenarios.js";

/** A scenario of flows on the queues a and b, each a sink unless something else is said. */
function withFlows(flows: object[], more: object = {}): Record<string, unknown> {
  return { flowsteer: 1, queues: [{ name: "a" }, { name: "b" }], flows, frames: [{ hex: WEB_FRAME }], ...more };
}

const flow = (more: object): object => ({ queue: "a", ...more });

describe("a refusal of the model", () => {
  it.each<[string, Record<string, unknown>]>([
    [
      'flows[0].specs[0].ipv4.dst_ip = "10.0.0.0/33": not a prefix length of this address (EINVAL); a prefix of ipv4.dst_ip has 0 to 32 bits',
      withFlows([flow({ specs: [{ ipv4: { dst_ip: "10.0.0.0/33" } }] })]),
    ],
    [
      'flows[0].specs[1] = "IBV_FLOW_SPEC_GRE": a flow spec of this type is not allowed here (EINVAL); ',
      withFlows([flow({ specs: ["drop", { gre: {}, inner: true }] })]),
    ],
    [
      "flows[0].specs[1]: these actions cannot be in one rule (EINVAL); specs[0] is one already",
      withFlows([flow({ specs: [{ tag: 1 }, { tag: 2 }] })]),
    ],
    [
      "flows[1].specs[1]: two fields require different values of the same bits (EINVAL); ",
      withFlows([flow({ priority: 1 }), flow({ specs: [{ udp: {} }, { tcp: {} }] })]),
    ],
    [
      'flows[0].specs[0].eth.ether_type = "arp": two fields require different values of the same bits (EINVAL); ',
      withFlows([flow({ specs: [{ eth: { ether_type: "arp" } }, { ipv4: {} }] })]),
    ],
    [
      "flows[0].flags = 2: flows of this type do not take this flag (EINVAL); ",
      withFlows([flow({ type: "sniffer", flags: ["dont_trap"] })]),
    ],
    [
      "flows[1].specs: a flow that matches the same frames has other actions (EEXIST); flow 1 asks for the same frames and does not drop them",
      withFlows([flow({}), flow({ specs: ["drop"] })]),
    ],
    [
      "flows[0].queue: the device does not support this (ENOSYS); no managed flow steering",
      withFlows([flow({})], { device: { managedFlowSteering: false } }),
    ],
    [
      'flows[1].queue = "a": the limit of the device is reached (ENOMEM); device.limits.flows is 1',
      withFlows([flow({}), flow({})], { device: { limits: { flows: 1 } } }),
    ],
    [
      "flows[0].priority = 16: outside the range that the field can hold (ENOMEM); 0 to 15",
      withFlows([flow({ priority: 16 })], { device: { profile: "connectx7" } }),
    ],
    [
      "flows[0].specs[0].count: the object is not of the kind that the call takes (EINVAL); ",
      withFlows([flow({ specs: [{ count: "c" }] })], {
        device: { profile: "connectx5" },
        flowCounters: [{ name: "c" }],
      }),
    ],
    [
      "flows[0].specs[0].ipv6.hop_limit = 5: the device does not support this (EOPNOTSUPP); ",
      withFlows([flow({ specs: [{ ipv6: { hop_limit: 5 } }] })], { device: { profile: "connectx8" } }),
    ],
    [
      'hostRules[0].match.outer.tcp_dprt: no field has this name (EINVAL); did you mean "outer.tcp_dport"?',
      { flowsteer: 1, hostRules: [{ application: "tc", match: { "outer.tcp_dprt": 1 }, action: "drop" }] },
    ],
    [
      "connect[1].port = 2: the object is still in use (EBUSY); ",
      {
        flowsteer: 1,
        device: { ports: 2 },
        connect: [
          { port: 1, to: 2 },
          { port: 2, to: 2 },
        ],
      },
    ],
  ])("%s", async (message, document) => {
    expect((await refusal(document)).slice(0, message.length + 14)).toBe(`loadScenario: ${message}`);
  });
});

describe("flows", () => {
  it("put copies with tags of their own into receive buffers", async () => {
    const loaded = await loadScenario(
      withFlows(
        [
          flow({ name: "all", type: "sniffer", specs: [{ tag: 1 }] }),
          flow({ name: "first", flags: ["dont_trap"], specs: [{ ipv4: {} }, { tag: 2 }] }),
          flow({ name: "last", priority: 1, specs: [{ tcp: { dst_port: 443 } }, { tag: 3 }] }),
          { queue: "b", priority: 1, specs: [{ tcp: { dst_port: 443 } }] },
        ],
        {
          queues: [
            { name: "a", buffers: 4 },
            { name: "b", buffers: 1, type: "ud" },
          ],
        },
      ),
    );
    const [outcome] = loaded.run();
    expect(outcomeRecord(1, loaded.frames[0]!, outcome!)).toMatchObject({
      verdict: "deliver",
      to: ["qp:a", "qp:b"],
      toTags: [3, 3],
      copies: ["qp:a", "qp:a"],
      copyTags: [1, 2],
      rules: ["all", "first", "last", "flow 4"],
    });
    expect(loaded.queues.get("a")?.buffers).toMatchObject({ completed: 3 });
    expect(loaded.queues.get("b")?.buffers).toMatchObject({ completed: 1 });
    expect(loaded.disagreements).toEqual([]);
    expect([...loaded.tally.copies]).toEqual([["qp:a", { frames: 2, bytes: 108 }]]);
  });

  it("stand in one order with the rules of a root table, and are asked before those of the host", async () => {
    const loaded = await loadScenario(
      withFlows([flow({ name: "flow", priority: 2, specs: [{ tcp: {} }] })], {
        tables: [{ name: "root", level: 0 }],
        rules: [
          { name: "before", table: "root", priority: 1, match: { "outer.tcp_dport": 80 }, actions: ["drop"] },
          { name: "behind", table: "root", priority: 3, actions: ["default_miss"] },
        ],
        hostRules: [{ application: "nic", action: { queue: 7 } }],
        frames: [
          { hex: WEB_FRAME },
          { hex: WEB_FRAME.replace("01bb", "0050") },
          { hex: WEB_FRAME.replace("4006 66cd", "401166cd") },
        ],
      }),
    );
    expect(loaded.run().map(({ rules }) => rules.map(({ name }) => name))).toEqual([
      ["flow"],
      ["before"],
      ["behind", "host rule 1"],
    ]);
    expect(loaded.tally.ends.map(({ to }) => to)).toEqual(["qp:a", null, "host:7"]);
    expect([...loaded.hostRules.keys()]).toEqual(["host rule 1"]);
  });

  it.each(["manual", "connectx7"])("count where no flow has counted before, under %s", async (profile) => {
    const loaded = await loadScenario(
      withFlows([flow({ specs: [{ count: "used" }] })], {
        device: { profile },
        flowCounters: [
          {
            name: "used",
            points: [
              { index: 2, counts: "bytes" },
              { index: 0, counts: "packets" },
              { index: 0, counts: "bytes" },
            ],
          },
          { name: "unused", points: [{ index: 1, counts: "packets" }] },
          { name: "without points" },
        ],
      }),
    );
    const values = (): bigint[][] => [...loaded.flowCounters.values()].map((one) => one.values());
    expect(values()).toEqual([[0n, 0n, 0n], [0n, 0n], []]);
    loaded.run();
    expect(values()).toEqual([[55n, 0n, 54n], [0n, 0n], []]);
    const { counters } = loaded.flowCounters.get("used")!;
    const read = new BigUint64Array(3);
    counters.readInto(read, 3, 0);
    expect([...read]).toEqual([55n, 0n, 54n]);
  });
});
