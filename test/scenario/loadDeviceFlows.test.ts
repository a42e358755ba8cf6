/** Flows in device bytes, flow tables, anchors of scenarios on a device: what comes out, what is refused and where. */
import { describe, expect, it } from "vitest";
import { refusal, run } from "./support/scenarios.js";

const UDP = [{ header: "ethernet" }, { header: "ipv4" }, { header: "udp", destination_port: 53 }];
const ROCE = [...UDP.slice(0, 2), { header: "udp", destination_port: 4791 }, { header: "bth", opcode: 4 }];
const DNS = { "outer.udp_dport": 53 };

const withFlows = (deviceFlows: object[], more: object = {}): Record<string, unknown> => ({
  flowsteer: 1,
  device: { vports: 1, ports: 2 },
  queues: [{ name: "a" }, { name: "b" }, { name: "guest", function: 1 }],
  counters: [{ name: "bulk", flow_counter_bulk_log_size: 2 }],
  tirs: [{ name: "to b", queue: "b" }],
  deviceFlows,
  frames: [{ headers: UDP }],
  ...more,
});

describe("flows in device bytes", () => {
  it("stand by priority, tag, count by offset and deliver", async () => {
    const flows = [
      { name: "late", priority: 2, actions: ["drop"] },
      { name: "dns", priority: 1, match: DNS, actions: [{ tag: 9 }, { count: "bulk", offset: 2 }, { queue: "a" }] },
    ];
    const expected = {
      counters: { bulk: [{ packets: 0 }, { packets: 0 }, { packets: 1, bytes: 42 }] },
      totals: { rules: { dns: 1, late: 1 } },
    };
    const other = { headers: [{ header: "ethernet" }, { header: "ipv4" }, { header: "tcp" }] };
    const [, records] = await run(withFlows(flows, { frames: [{ headers: UDP }, other], expect: expected }));
    expect(records).toMatchObject([
      { to: ["qp:a"], toTags: [9], rules: ["dns"] },
      { verdict: "drop", rules: ["late"] },
    ]);
  });

  it("lead to TIRs, change frames, count on the verbs' counters", async () => {
    const flows = [
      {
        name: "rewritten",
        actions: [{ action: "to 80" }, { ibv_counter: "of it" }, { tir: "to b" }],
      },
    ];
    const more = {
      flowActions: [{ name: "to 80", modify: [{ set: "outer.udp_dport", to: 80 }] }],
      flowCounters: [{ name: "of it", points: [{ index: 0, counts: "packets" }] }],
      expect: { flowCounters: { "of it": [1] }, frames: [{ frame: 1, toFrames: [{ "outer.udp_dport": 80 }] }] },
    };
    const [, [record]] = await run(withFlows(flows, more));
    expect(record?.to).toEqual(["qp:b"]);
  });

  it.each([
    ["nic_rx", ["all"], "drop drop_action"],
    ["rdma_rx", ["all"], "drop drop_action"],
    ["rdma_transport_rx", ["all"], "drop drop_action"],
    ["rdma_tx", [], "miss no_rule"],
    ["nic_tx", [], "miss no_rule"],
    ["fdb", ["all"], "drop drop_action"],
  ])("in %s tables meet frames that come in: %j", async (ft_type, rules, end) => {
    const ib_port = ft_type.startsWith("rdma_transport") ? { ib_port: 1 } : {};
    const document = withFlows([{ name: "all", ft_type, ...ib_port, actions: ["drop"] }], {
      frames: [{ headers: ROCE }],
    });
    const [, [record]] = await run(document);
    expect(record?.rules).toEqual(rules);
    expect(`${record?.verdict} ${record?.reason}`).toBe(end);
  });

  it("of RDMA tables are for RoCE and their port, and hand on what misses", async () => {
    const flows = [
      { name: "port 2", ft_type: "rdma_transport_rx", ib_port: 2, actions: ["drop"] },
      { name: "roce", ft_type: "rdma_rx", actions: [{ tag: 1 }, "default_miss"] },
      { name: "behind", actions: [{ queue: "a" }] },
    ];
    const frames = [{ headers: UDP }, { headers: ROCE }, { headers: ROCE, port: 2 }];
    const [, records] = await run(withFlows(flows, { frames }));
    expect(records.map(({ rules }) => rules)).toEqual([["behind"], ["roce", "behind"], ["roce", "port 2"]]);
  });

  it("of a function lead to its queues, and what is sent meets those of nic_tx", async () => {
    const flows = [
      { name: "to guest", function: 1, actions: [{ queue: "guest" }] },
      { name: "across", ft_type: "fdb", match: DNS, actions: [{ table: "crossing" }] },
      { name: "kept", ft_type: "nic_tx", actions: ["drop"] },
    ];
    const more = {
      flowTables: [{ name: "crossing", table_type: "fdb", groups: [{ start_flow_index: 0, end_flow_index: 0 }] }],
      flowEntries: [{ name: "to vf", table: "crossing", flow_index: 0, actions: [{ vport: 1 }] }],
      frames: [{ headers: UDP }, { headers: UDP, send: "a" }],
    };
    const [, records] = await run(withFlows(flows, more));
    expect(records).toMatchObject([
      { to: ["qp:guest"], rules: ["across", "to vf", "to guest"] },
      { verdict: "drop", rules: ["kept"] },
    ]);
  });
});

it("tables of RDMA types take RoCE frames from flows of their type, and hand on the others", async () => {
  const table = (table_type: string): object => ({
    name: `${table_type} table`,
    table_type,
    log_size: 1,
    groups: [{ start_flow_index: 0, end_flow_index: 1, mask: { "misc.bth_opcode": "full" } }],
  });
  const leads = (ft_type: string, more: object = {}): object => ({
    name: ft_type,
    ft_type,
    actions: [{ table: `${ft_type} table` }],
    ...more,
  });
  const flows = [
    leads("rdma_rx"),
    leads("rdma_transport_rx", { ib_port: 1 }),
    { name: "behind", actions: [{ queue: "a" }] },
  ];
  const entry = (name: string, of: string, flow_index: number, opcode: number, actions: string[]): object => ({
    name,
    table: `${of} table`,
    flow_index,
    match: { "misc.bth_opcode": opcode },
    actions,
  });
  const more = {
    flowTables: [table("rdma_rx"), table("rdma_transport_rx"), table("rdma_tx"), table("rdma_transport_tx")],
    flowEntries: [entry("first", "rdma_rx", 0, 4, ["allow"]), entry("kept", "rdma_transport_rx", 1, 4, ["drop"])],
    frames: [{ headers: UDP }, { headers: ROCE }, { headers: ROCE, port: 2 }],
  };
  const [, records] = await run(withFlows(flows, more));
  expect(records.map(({ verdict, rules }) => [verdict, ...rules])).toEqual([
    ["deliver", "behind"],
    ["drop", "rdma_rx", "first", "rdma_transport_rx", "kept"],
    ["deliver", "rdma_rx", "first", "behind"],
  ]);
});

describe("flow tables", () => {
  const services = (more: object = {}): object => ({
    name: "services",
    log_size: 3,
    groups: [
      { start_flow_index: 0, end_flow_index: 3, mask: { "outer.udp_dport": "full" } },
      { start_flow_index: 4, end_flow_index: 7 },
    ],
    ...more,
  });
  const entry = (flow_index: number, actions: unknown[], more: object = {}): object => ({
    name: `entry ${flow_index}`,
    table: "services",
    flow_index,
    actions,
    ...(flow_index < 4 ? { match: DNS } : {}),
    ...more,
  });
  const INTO = [{ name: "into", actions: [{ table: "services" }] }];

  it("are asked in the order of indexes, and change frames as they are written", async () => {
    const changed = [
      { count: "bulk", offset: 3 },
      { tag: 6 },
      { modify: [{ set: "outer.dmac", to: "02:00:00:00:00:99" }, "1016000000000000"] },
      { push_vlan: { vid: 5 } },
      { push_vlan: { tpid: "0x88a8", vid: 6 } },
      { tir: "to b" },
    ];
    const expected = {
      counters: { bulk: [null, null, null, { packets: 1 }] },
      frames: [
        { frame: 1, toFrames: [{ "outer.svlan_tag": 1, "outer.first_vid": 6, "outer.dmac": "02:00:00:00:00:99" }] },
      ],
    };
    const [, records] = await run(
      withFlows(INTO, {
        flowTables: [services()],
        flowEntries: [entry(4, ["drop"]), entry(1, changed)],
        frames: [{ headers: UDP }, { headers: ROCE }],
        expect: expected,
      }),
    );
    expect(records).toMatchObject([
      { to: ["qp:b"], toTags: [6], rules: ["into", "entry 1"] },
      { verdict: "drop", rules: ["into", "entry 4"] },
    ]);
  });

  it("give copies, each in a tunnel of its own, and take tunnels off", async () => {
    const headers = [{ header: "ethernet" }, { header: "ipv4" }, { header: "udp" }, { header: "vxlan", vni: 5 }];
    const packet_reformat = { type: "l2_to_l2_tunnel", headers };
    const copies = [{ tir: "to b", packet_reformat }, { tir: "to a" }];
    const flowTables = [services({ reformat_en: true, decap_en: true })];
    const tirs = [
      { name: "to a", queue: "a" },
      { name: "to b", queue: "b" },
    ];
    const expect_ = { frames: [{ frame: 1, toFrames: [{ "misc.vxlan_vni": 5 }, { "misc.vxlan_vni": null }] }] };
    const [, [record]] = await run(
      withFlows(INTO, { tirs, flowTables, flowEntries: [entry(0, copies)], expect: expect_ }),
    );
    expect(record?.to).toEqual(["qp:b", "qp:a"]);
    const inside = [...headers.slice(0, 2), { header: "udp", destination_port: 4789 }, headers[3], ...UDP];
    const frames = [{ headers: inside }];
    const [, [plain]] = await run(
      withFlows(INTO, { flowTables, flowEntries: [entry(5, ["decap", { tir: "to b" }])], frames }),
    );
    expect(plain?.toFrames[0]?.length).toBe(2 * 42);
    const whole = [{ reformat: packet_reformat }, { tir: "to b" }];
    const [, [tunnelled]] = await run(withFlows(INTO, { flowTables, flowEntries: [entry(5, whole)] }));
    expect(tunnelled?.toFrames[0]?.length).toBe(2 * 92);
  });

  it("go on in their miss table, and back to anchors", async () => {
    const flows = [...INTO, { name: "late", priority: 7, actions: [{ queue: "a" }] }];
    const flowTables = [
      { name: "last", level: 9, groups: [{ start_flow_index: 0, end_flow_index: 0 }] },
      services({ table_miss: "last" }),
    ];
    const more = {
      flowTables,
      steeringAnchors: [{ name: "late ones", priority: 5 }],
      flowEntries: [
        { name: "back", table: "last", flow_index: 0, ignore_flow_level: true, actions: [{ anchor: "late ones" }] },
      ],
    };
    const [, [record]] = await run(withFlows(flows, more));
    expect(record).toMatchObject({ to: ["qp:a"], rules: ["into", "back", "late"] });
  });

  it.each<[string, object]>([
    ["deviceFlows[0].match.outer.udp_dprt: no field", { deviceFlows: [{ name: "x", match: { "outer.udp_dprt": 1 } }] }],
    ["deviceFlows[0].match.ext.port = 1: ", { deviceFlows: [{ name: "x", match: { "ext.port": 1 } }] }],
    ['deviceFlows[0].match = "a range": ', { deviceFlows: [{ name: "x", match: { "outer.udp_dport": "1-5" } }] }],
    ["deviceFlows[0].actions[1] = 0: ", { deviceFlows: [{ name: "x", actions: ["drop", { queue: "a" }] }] }],
    [
      "deviceFlows[0].actions[0].offset = 4: ",
      { deviceFlows: [{ name: "x", actions: [{ count: "bulk", offset: 4 }, "drop"] }] },
    ],
    ['deviceFlows[0].actions[0].queue = "guest": ', { deviceFlows: [{ name: "x", actions: [{ queue: "guest" }] }] }],
    [
      "deviceFlows[1].match: ",
      {
        deviceFlows: [
          { name: "x", actions: ["drop"] },
          { name: "y", actions: [{ queue: "a" }] },
        ],
      },
    ],
    [
      'steeringAnchors[0].ft_type = "rdma_transport_rx": ',
      { steeringAnchors: [{ name: "x", ft_type: "rdma_transport_rx" }] },
    ],
    [
      "flowTables[0].groups[1].start_flow_index = 0: ",
      {
        flowTables: [
          services({
            groups: [
              { start_flow_index: 0, end_flow_index: 0 },
              { start_flow_index: 0, end_flow_index: 1 },
            ],
          }),
        ],
      },
    ],
    [
      "flowTables[0].groups[0].end_flow_index = 8: ",
      { flowTables: [services({ groups: [{ start_flow_index: 0, end_flow_index: 8 }] })] },
    ],
    [
      "flowTables[0].groups[0].mask.ext.port: ",
      {
        flowTables: [services({ groups: [{ start_flow_index: 0, end_flow_index: 1, mask: { "ext.port": "full" } }] })],
      },
    ],
    ["flowEntries[0].flow_index = 9: ", { flowTables: [services()], flowEntries: [entry(9, ["drop"])] }],
    ["flowEntries[0].match: the rule", { flowTables: [services()], flowEntries: [entry(0, ["drop"], { match: {} })] }],
    [
      "flowEntries[0].match: the value has a bit",
      { flowTables: [services()], flowEntries: [entry(4, ["drop"], { match: DNS })] },
    ],
    [
      'flowEntries[0].actions[2] = "decap": ',
      { flowTables: [services()], flowEntries: [entry(4, ["decap", "drop", "decap"])] },
    ],
    [
      'flowEntries[0].actions[1] = "tag": ',
      { flowTables: [services()], flowEntries: [entry(4, [{ tag: 1 }, { tag: 2 }])] },
    ],
    ['flowEntries[0].actions = "0x3": ', { flowTables: [services()], flowEntries: [entry(4, ["allow", "drop"])] }],
    [
      "flowEntries[0].actions[0].offset = 4: ",
      { flowTables: [services()], flowEntries: [entry(4, [{ count: "bulk", offset: 4 }])] },
    ],
    [
      'flowEntries[0].actions[0].reformat.type = "l2_tunnel_to_l2": ',
      { flowTables: [services()], flowEntries: [entry(4, [{ reformat: { type: "l2_tunnel_to_l2" } }])] },
    ],
    [
      "flowEntries[0].actions[0].modify[0].to",
      {
        flowTables: [services()],
        flowEntries: [entry(4, [{ modify: [{ set: "outer.udp_dport", to: "x" }] }, "drop"])],
      },
    ],
  ])("names its place: %s", async (message, more) => {
    const whole = `loadScenario: ${message}`;
    expect((await refusal(withFlows([], more))).slice(0, whole.length)).toBe(whole);
  });
});
