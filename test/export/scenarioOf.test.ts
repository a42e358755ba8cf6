/** Scenarios of living devices: loaded, they make devices that treat frames alike. */
import { describe, expect, test } from "vitest";
import { scenarioOf } from "../../src/export/index.js";
import { hexOf } from "../../src/base/hex.js";
import { createDevice } from "../../src/index.js";
import * as dv from "../../src/mlx5dv/index.js";
import { buildFrame } from "../../src/packet/index.js";
import { loadScenario, type LoadedScenario, type Scenario } from "../../src/scenario/index.js";
import { ibv_open_device } from "../../src/verbs/index.js";
import { seedFor } from "../assembly/support/core.js";
import { Random } from "../oracle/generate/random.js";
import { rounds } from "../support/tier.js";
import { behaviourOf } from "./support/behaviour.js";
import { nearFrame, randomRules } from "./support/randomRules.js";

const FRAMES = 100;

test("random rules", { timeout: 600_000 }, async () => {
  const random = new Random(seedFor("scenarios of devices"));
  for (let round = 0; round < rounds(40); round++) {
    const scenario = randomRules(random);
    const { device } = await loadScenario(scenario);
    const { scenario: written, findings } = await scenarioOf(device);
    expect(findings).toEqual([]);
    const { device: again } = await loadScenario(written);
    for (let n = 0; n < FRAMES; n++) {
      const frame = nearFrame(random);
      expect(behaviourOf(again, frame), JSON.stringify(scenario)).toBe(behaviourOf(device, frame));
    }
    // What is written of the second device is the same text.
    expect((await scenarioOf(again)).scenario).toEqual(written);
  }
});

test("rules in device bytes, with reformats, arrays and directions of the eSwitch", async () => {
  const device = await createDevice({ vports: 2, ports: 2 });
  const context = ibv_open_device(device);
  const fdb = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_FDB);
  const root = dv.mlx5dv_dr_table_create(fdb, 0);
  const table = dv.mlx5dv_dr_table_create(fdb, 1);
  const all = dv.mlx5dv_dr_matcher_create(root, 0, 0, null);
  dv.mlx5dv_dr_rule_create(all, null, 1, [dv.mlx5dv_dr_action_create_dest_table(table)]);
  const mask = new Uint8Array(64);
  mask.set([0xff, 0xff], 6);
  const matcher = dv.mlx5dv_dr_matcher_create(table, 3, 1, mask);
  const value = new Uint8Array(64);
  value.set([0x08, 0x00], 6);
  const members = [1, 2].map((vport) => dv.mlx5dv_dr_action_create_dest_vport(fdb, vport));
  const data = Uint8Array.from({ length: 50 }, (_, n) => [0x02, 0x08, 0x45][[0, 12, 14].indexOf(n)] ?? 0);
  data.set(
    [0x08, 0x00, 0x45, 0, 0, 36, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 9, 0x12, 0xb5, 0, 16],
    12,
  );
  const encap = dv.mlx5dv_dr_action_create_packet_reformat(fdb, 0, 1, data.length, data);
  const array = dv.mlx5dv_dr_action_create_dest_array(fdb, 2, [
    { type: dv.MLX5DV_DR_ACTION_DEST, dest: members[0]! },
    { type: dv.MLX5DV_DR_ACTION_DEST_REFORMAT, dest_reformat: { reformat: encap, dest: members[1]! } },
  ]);
  const vlan = dv.mlx5dv_dr_action_create_push_vlan(fdb, 0x88a8_2005);
  const changes = dv.mlx5dv_dr_action_create_modify_header(fdb, 0, 8, [0x200a0000ffffffffn]);
  dv.mlx5dv_dr_rule_create(matcher, value, 3, [changes, vlan, array]);
  const { scenario, findings } = await scenarioOf(device);
  expect(findings).toEqual([]);
  expect(scenario.rules?.map(({ match }) => match)).toEqual([{}, { "outer.ethertype": "ipv4" }]);
  expect(scenario.rules?.[1]?.actions).toEqual([
    { modify: ["200a0000ffffffff"] },
    { push_vlan: { tpid: "0x88a8", pcp: 1, dei: false, vid: 5 } },
    { array: [{ vport: 1 }, { vport: 2, reformat: { type: "l2_to_l2_tunnel", data: expect.any(String) as string } }] },
  ]);
  const { device: again } = await loadScenario(scenario);
  const random = new Random(seedFor("a switch written and loaded"));
  for (let n = 0; n < FRAMES; n++) {
    const frame = nearFrame(random);
    expect(behaviourOf(again, frame)).toBe(behaviourOf(device, frame));
  }
});

test("meters and samplers, which rules share", async () => {
  const meter = {
    next_table: "metered",
    reg_c_index: 3,
    cir: { mantissa: 200, exponent: 9 },
    cbs: 3000,
    ebs: 70000,
    eir: 5000,
    meter_mode: "pkt",
    start_color: "yellow",
    bucket_overflow: true,
    both_buckets_on_green: true,
  } as const;
  const { device } = await loadScenario({
    flowsteer: 1,
    queues: [{ name: "all" }, { name: "copies" }],
    tables: [
      { name: "root", level: 0 },
      { name: "first", level: 1 },
      { name: "metered", level: 2 },
    ],
    actions: [
      { name: "meter", flow_meter: meter },
      { name: "idle", flow_meter: { next_table: "metered", reg_c_index: 0, active: false } },
      {
        name: "sampler",
        flow_sampler: { sample_ratio: 1, default_next_table: "metered", sample_actions: [{ queue: "copies" }] },
      },
    ],
    rules: [
      { name: "in", table: "root", actions: [{ table: "first" }] },
      { name: "tcp", table: "first", match: { "outer.ip_protocol": "tcp" }, actions: [{ action: "meter" }] },
      { name: "udp", table: "first", match: { "outer.ip_protocol": "udp" }, actions: [{ action: "meter" }] },
      { name: "icmp", table: "first", match: { "outer.ip_protocol": 1 }, actions: [{ action: "idle" }] },
      { name: "rest", table: "first", priority: 1, actions: [{ action: "sampler" }] },
      { name: "red", table: "metered", match: { "misc2.metadata_reg_c_3": 0 }, actions: ["drop"] },
      { name: "end", table: "metered", priority: 1, actions: [{ queue: "all" }] },
    ],
  });
  const { scenario, findings } = await scenarioOf(device);
  expect(findings).toEqual([]);
  expect(scenario.actions).toHaveLength(3);
  const { device: again } = await loadScenario(scenario);
  expect((await scenarioOf(again)).scenario).toEqual(scenario);
  const random = new Random(seedFor("meters written and loaded"));
  for (let n = 0; n < FRAMES; n++) {
    const frame = nearFrame(random);
    expect(behaviourOf(again, frame)).toBe(behaviourOf(device, frame));
  }
});

test("TIRs with their queue, their RQT and their hash", async () => {
  const key = "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa";
  const queues = ["a", "b", "c", "d"].map((name) => ({ name }));
  const hash = { rx_hash_fn: "toeplitz", rx_hash_toeplitz_key: key } as const;
  const { device } = await loadScenario({
    flowsteer: 1,
    queues,
    tables: [{ name: "root", level: 0 }],
    rqts: [{ name: "all", queues: ["a", "b", "d", "b"] }],
    tirs: [
      { name: "one", queue: "c" },
      {
        name: "ports",
        rqt: "all",
        ...hash,
        rx_hash_symmetric: true,
        rx_hash_field_selector_outer: { l4_prot_type: "tcp", selected_fields: ["l4_dport", "l4_sport"] },
      },
      {
        name: "addresses",
        rqt: "all",
        ...hash,
        rx_hash_field_selector_outer: {
          l3_prot_type: "ipv6",
          l4_prot_type: "udp",
          selected_fields: ["src_ip", "dst_ip"],
        },
        rx_hash_field_selector_inner: { selected_fields: ["dst_ip"] },
      },
    ],
    rules: [
      { name: "tcp", table: "root", match: { "outer.ip_protocol": "tcp" }, actions: [{ tir: "ports" }] },
      { name: "ipv6", table: "root", priority: 1, match: { "outer.ip_version": 6 }, actions: [{ tir: "addresses" }] },
      { name: "rest", table: "root", priority: 2, actions: [{ tir: "one" }] },
    ],
  });
  const { scenario, findings } = await scenarioOf(device);
  expect(findings).toEqual([]);
  expect(scenario.tirs?.map(({ name }) => name)).toEqual(["ports", "addresses", "one"]);
  const { device: again } = await loadScenario(scenario);
  expect((await scenarioOf(again)).scenario).toEqual(scenario);
  const random = new Random(seedFor("TIRs written and loaded"));
  const reached = new Set<string>();
  for (let n = 0; n < FRAMES * 3; n++) {
    const frame = nearFrame(random);
    expect(behaviourOf(again, frame)).toBe(behaviourOf(device, frame));
    for (const { name } of device.receive(1, frame).to) reached.add(name);
  }
  expect(reached.size).toBe(4);
});

test("work queues, RSS queues and receive buffers", async () => {
  const rx_hash_key = "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa";
  const rx_hash_conf = { rx_hash_key, rx_hash_fields_mask: ["src_ipv4" as const, "dst_port_udp" as const] };
  const work = ["w0", "w1", "w2", "w3"].map((name) => ({ name, type: "wq" as const, buffers: 4, bufferSize: 256 }));
  const { device } = await loadScenario({
    flowsteer: 1,
    queues: [...work, { name: "rss", rwq_ind_tbl: "four", rx_hash_conf }, { name: "few", buffers: 3, state: "rtr" }],
    indirectionTables: [{ name: "four", ind_tbl: ["w0", "w1", "w2", "w3"] }],
    tables: [{ name: "root", level: 0 }],
    tirs: [{ name: "one", queue: "w2" }],
    rules: [
      { name: "udp", table: "root", match: { "outer.ip_protocol": "udp" }, actions: [{ queue: "rss" }] },
      { name: "tcp", table: "root", match: { "outer.ip_protocol": "tcp" }, actions: [{ tir: "one" }] },
      { name: "rest", table: "root", priority: 1, actions: [{ queue: "few" }] },
    ],
  });
  const { scenario, findings } = await scenarioOf(device);
  expect(findings).toEqual([]);
  const { device: again } = await loadScenario(scenario);
  const random = new Random(seedFor("work queues written and loaded"));
  const seen = new Set<string>();
  for (let n = 0; n < FRAMES * 3; n++) {
    const frame = nearFrame(random);
    const wanted = behaviourOf(device, frame);
    expect(behaviourOf(again, frame)).toBe(wanted);
    seen.add(wanted.slice(0, 24));
  }
  // Frames that buffers took, and frames that found none.
  expect(seen.size).toBe(2);
});

test("flags, meters and connections, by offset, and those of another domain", async () => {
  const asoObjects = [
    { name: "hits", log_obj_range: 1, first_hit: [3, 511] },
    { name: "meters", flow_meter: { cbs: 3000, cir: { mantissa: 200, exponent: 9 }, meter_mode: "pkt" as const } },
    { name: "connections", log_obj_range: 2, conn_track: { valid: 1, original: { max_win: 77 } } },
  ];
  const first = { object: "hits", offset: 516, flags: "first_hit_set" as const, return_reg_c: 1 };
  const metered = { object: "meters", offset: 1, flags: "flow_meter_yellow" as const, return_reg_c: 3 };
  const side = { object: "connections", offset: 2, return_reg_c: 5 };
  const peer_dmn = { domain: "nic_rx" as const };
  const out = { ...side, flags: "ct_direction_initiator" as const };
  const { device } = await loadScenario({
    flowsteer: 1,
    asoObjects,
    queues: [{ name: "q" }],
    tables: [
      { name: "root", level: 0 },
      { name: "tcp", level: 1 },
      { name: "second", level: 2 },
      { name: "third", level: 3 },
      { name: "switch", domain: "fdb", level: 0 },
      { name: "inside", domain: "fdb", level: 1 },
    ],
    rules: [
      { name: "in", table: "root", actions: [{ table: "tcp" }] },
      { name: "hit", table: "tcp", actions: [{ aso: first }, { table: "second" }] },
      { name: "metered", table: "second", actions: [{ aso: metered }, { table: "third" }] },
      { name: "tracked", table: "third", actions: [{ aso: out }, { queue: "q" }] },
      { name: "switch", table: "switch", actions: [{ table: "inside" }] },
      { name: "linked", table: "inside", actions: [{ aso: { ...out, peer_dmn } }, { vport: 0 }] },
    ],
  });
  const { scenario, findings } = await scenarioOf(device);
  expect(findings).toEqual([]);
  const { device: again } = await loadScenario(scenario);
  expect((await scenarioOf(again)).scenario).toEqual(scenario);
  const random = new Random(seedFor("ASO objects written and loaded"));
  const registers = new Set<string>();
  for (let n = 0; n < FRAMES * 3; n++) {
    const frame = nearFrame(random);
    const [wanted, got] = [device, again].map((one) => JSON.stringify(one.receive(1, frame).registers));
    expect(got).toBe(wanted);
    registers.add(wanted ?? "");
  }
  expect(registers.size).toBeGreaterThan(2);
  // Only one of the objects of the bulk has got a flag.
  const named = (await scenarioOf(device)).findings.map(({ name }) => name);
  expect(named).toContain("hits");
});

test("host rules, cables and what the parser reads", async () => {
  const samples = [{ id: 2, header: "udp", offset: 8 }] as const;
  const { device } = await loadScenario({
    flowsteer: 1,
    device: { ports: 2, parser: { samples: [...samples] } },
    queues: [{ name: "q" }],
    connect: [{ port: 1, to: 2 }],
    tables: [{ name: "root", level: 0 }],
    rules: [{ name: "one", table: "root", match: { "misc4.prog_sample_field_value_2": 1 }, actions: [{ queue: "q" }] }],
    hostRules: [
      { name: "late", application: "tc", priority: 2, action: "drop" },
      {
        name: "web",
        application: "tc",
        priority: 1,
        port: 1,
        match: { "outer.ip_protocol": "tcp" },
        action: { queue: 3 },
      },
      { name: "first", application: "ethtool", match: { "outer.ip_protocol": 1 }, action: { queue: 4 } },
    ],
  });
  const { scenario, findings } = await scenarioOf(device);
  expect(findings).toEqual([]);
  expect(scenario.connect).toEqual([{ port: 1, to: 2 }]);
  expect(scenario.device?.parser).toEqual({ samples });
  const { device: again } = await loadScenario(scenario);
  expect((await scenarioOf(again)).scenario).toEqual(scenario);
  const random = new Random(seedFor("host rules written and loaded"));
  for (let n = 0; n < FRAMES; n++) {
    const frame = nearFrame(random);
    expect(behaviourOf(again, frame)).toBe(behaviourOf(device, frame));
  }
});

test("flow actions of flows", async () => {
  const header = "02000000000102000000000208004500003200000000401100000a0000010a000002000012b5001e00000800000000007b00";
  const { device } = await loadScenario({
    flowsteer: 1,
    queues: [{ name: "q" }],
    flowActions: [
      { name: "mark", modify: [{ set: "misc2.metadata_reg_c_0", to: 7 }] },
      { name: "wrap", reformat: { type: "l2_to_l2_tunnel", data: header } },
      { name: "unwrap", reformat: { type: "l2_tunnel_to_l2" } },
    ],
    flows: [
      { name: "tcp", queue: "q", specs: [{ eth: {} }, { ipv4: {} }, { tcp: {} }, { action: "mark" }] },
      { name: "vxlan", queue: "q", specs: [{ vxlan_tunnel: {} }, { action: "unwrap" }, { tag: 3 }] },
      { name: "out", queue: "q", flags: ["egress"], specs: [{ eth: {} }, { action: "wrap" }] },
    ],
  });
  const { scenario, findings } = await scenarioOf(device);
  expect(findings).toEqual([]);
  expect(scenario.flowActions?.map(({ name }) => name).sort()).toEqual(["mark", "unwrap", "wrap"]);
  const { device: again } = await loadScenario(scenario);
  expect((await scenarioOf(again)).scenario).toEqual(scenario);
  const random = new Random(seedFor("flow actions written and loaded"));
  for (let n = 0; n < FRAMES; n++) {
    const frame = nearFrame(random);
    expect(behaviourOf(again, frame)).toBe(behaviourOf(device, frame));
  }
});

const FLOWS: Scenario = {
  flowsteer: 1,
  device: { vports: 1 },
  queues: [{ name: "q" }, { name: "r" }, { name: "vf", function: 1 }],
  rqts: [{ name: "two", queues: ["q", "r"] }],
  tirs: [
    { name: "rss", rqt: "two", rx_hash_fn: "toeplitz", rx_hash_toeplitz_key: "6d".repeat(40) },
    { name: "one", queue: "r" },
  ],
  counters: [{ name: "bulk", flow_counter_bulk_log_size: 3 }],
  flowCounters: [{ name: "own", points: [{ index: 0, counts: "packets" }] }],
  flowActions: [{ name: "mark", modify: [{ set: "outer.ip_ttl_hoplimit", to: 7 }] }],
  deviceFlows: [
    { name: "http", match: { "outer.tcp_dport": 80 }, actions: [{ tag: 9 }, { action: "mark" }, { tir: "rss" }] },
    {
      name: "ports",
      priority: 3,
      match: { "outer.tcp_sport": "0x0/0x1" },
      actions: [{ count: "bulk", offset: 2 }, "drop"],
    },
    {
      name: "net",
      priority: 4,
      match: { "outer.ipv4_dst": "10.0.0.0/8" },
      actions: [{ ibv_counter: "own" }, { queue: "q" }],
    },
    { name: "udp", priority: 5, match: { "outer.ip_protocol": "udp" }, actions: [{ tir: "one" }] },
    { name: "on", priority: 6, match: { "outer.ethertype": "ipv6" }, actions: ["default_miss"] },
    { name: "sent", ft_type: "nic_tx", match: { "outer.tcp_dport": 23 }, actions: ["drop"] },
    { name: "of the VF", function: 1, match: { "outer.tcp_dport": 80 }, actions: [{ queue: "vf" }] },
    { name: "roce", ft_type: "rdma_rx", priority: 1, match: { "misc.bth_dst_qp": 7 }, actions: ["drop"] },
  ],
};

test("flows in device bytes", async () => {
  const { device } = await loadScenario(FLOWS);
  const { scenario, findings } = await scenarioOf(device);
  expect(findings).toEqual([]);
  const flows = new Map(scenario.deviceFlows?.map((flow) => [flow.name, flow]));
  expect([...flows.keys()].toSorted()).toEqual(FLOWS.deviceFlows?.map(({ name }) => name).toSorted());
  expect(flows.get("http")).toMatchObject({
    actions: [{ action: expect.any(String) as string }, { tag: 9 }, { tir: "rss" }],
  });
  expect(flows.get("ports")).toMatchObject({ priority: 3, actions: [{ count: "bulk", offset: 2 }, "drop"] });
  expect(flows.get("of the VF")).toMatchObject({ function: 1, actions: [{ queue: "vf" }] });
  expect(flows.get("roce")).toMatchObject({ ft_type: "rdma_rx", priority: 1, actions: ["drop"] });
  const { device: again } = await loadScenario(scenario);
  expect((await scenarioOf(again)).scenario).toEqual(scenario);
  const random = new Random(seedFor("device flows written and loaded"));
  const seen = new Set<string>();
  for (let n = 0; n < 10 * FRAMES; n++) {
    const frame = nearFrame(random);
    const wanted = behaviourOf(device, frame);
    seen.add(
      device
        .receive(1, frame)
        .rules.map(({ name }) => name)
        .join(),
    );
    expect(behaviourOf(again, frame)).toBe(wanted);
  }
  // Frames meet most of the flows.
  expect(seen.size).toBeGreaterThanOrEqual(4);
});

test("names flow tables of device commands, and flows that lead to them", async () => {
  const { device } = await loadScenario({
    flowsteer: 1,
    queues: [{ name: "q" }],
    tirs: [{ name: "t", queue: "q" }],
    flowTables: [{ name: "services", groups: [{ start_flow_index: 0, end_flow_index: 0 }] }],
    flowEntries: [{ name: "all", table: "services", flow_index: 0, actions: [{ tir: "t" }] }],
    deviceFlows: [{ name: "in", actions: [{ table: "services" }] }],
  });
  const { scenario, findings } = await scenarioOf(device);
  expect(findings).toEqual([
    { path: "deviceFlows", name: "in", reason: "it leads to a flow table of device commands, which is not exported" },
    {
      path: "flowEntries",
      name: null,
      reason: "flow tables of device commands and their entries are not exported",
    },
  ]);
  expect(scenario.deviceFlows).toBeUndefined();
});

describe("ESP actions", () => {
  const [header, key] = ["inner", "000102030405060708090a0b0c0d0e0f"];
  const esp = { spi: "0x1001", seq: 5, esn: 1, key, salt: "cafebabe" };
  const encap = [{ ipv4_ext: { src_ip: "192.0.2.1", dst_ip: "192.0.2.2", ttl: 9 } }];
  const document: Scenario = {
    flowsteer: 1,
    device: { ports: 2 },
    connect: [{ port: 1, to: 2 }],
    queues: [{ name: "branch" }, { name: "office", port: 2 }],
    flowActions: [
      { name: "seal", esp: { direction: "encrypt", ...esp, iv: "0000000000000100", hardLimit: 4, tfcPad: 2, encap } },
      { name: "open", esp: { direction: "decrypt", ...esp, replay: 32, encap: [{ ipv4: {} }] } },
    ],
    flows: [
      { name: "out", queue: "branch", flags: ["egress"], specs: [{ ipv4: {} }, { action: "seal" }] },
      { name: "in", queue: "office", port: 2, specs: [{ ipv4: {} }, { esp: { spi: "0x1001" } }, { action: "open" }] },
    ],
  };
  const frame = buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
    { header: "udp", source_port: 7, destination_port: 8 },
    { header: "payload", bytes: Uint8Array.from(header, (sign) => sign.charCodeAt(0)) },
  ]);
  /** The sealed frame. */
  const send = (loaded: LoadedScenario): string[] =>
    (loaded.run([{ bytes: frame, send: "branch" }])[0]?.to ?? []).map(
      ({ name, frame: out }) => `${name} ${hexOf(out)}`,
    );

  test("keep their keys to themselves unless these are asked for", async () => {
    const { device } = await loadScenario(document);
    const { scenario, findings } = await scenarioOf(device);
    expect(JSON.stringify(scenario)).not.toContain(key);
    expect(findings.map(({ name, reason }) => [name, reason])).toEqual(
      ["out", "in"].map((name) => [
        name,
        "the key of its ESP action is a secret: scenarioOf writes it with keys: true",
      ]),
    );
  });

  test("begin where those of the device are", async () => {
    const first = await loadScenario(document);
    const { scenario, findings } = await scenarioOf(first.device, { keys: true });
    expect(findings).toEqual([]);
    const again = await loadScenario(scenario);
    const sealed = send(first);
    expect(sealed).toHaveLength(1);
    expect(sealed[0]).not.toContain(hexOf(frame.subarray(14)));
    expect(send(again)).toEqual(sealed);
    // A frame later numbers and IVs go on; the window that has seen it is not written.
    const later = await scenarioOf(first.device, { keys: true });
    expect(later.findings).toMatchObject([
      { name: "in", reason: "its replay window has seen frames, which a scenario does not say" },
    ]);
    const seal = later.scenario.flowActions?.[0]?.esp;
    expect(seal).toMatchObject({ seq: 6, esn: 1, hardLimit: 3, tfcPad: 2, iv: "0000000000000101" });
    const third = await loadScenario(later.scenario);
    expect(send(third)).toEqual(send(first));
    send(first);
    send(first);
    expect((await scenarioOf(first.device, { keys: true })).findings).toContainEqual({
      path: "flows",
      name: "out",
      reason: "it has reached its limit of packets",
    });
  });
});

test("names what it leaves out", async () => {
  const device = await createDevice({ ports: 2 });
  device.connect(1, () => undefined);
  device.connect(2, await createDevice(), 1);
  const { findings } = await scenarioOf(device);
  expect(findings).toEqual([
    { path: "connect", name: null, reason: "port 1 is connected to a listener, which a scenario does not have" },
    {
      path: "connect",
      name: null,
      reason: "port 2 is connected to another device, or a cable that takes time, which a scenario does not have",
    },
  ]);
});
