/** Scenarios of living devices: loaded, they make devices that treat frames alike. */
import { expect, test } from "vitest";
import { scenarioOf } from "../../src/export/index.js";
import { createDevice, createSink } from "../../src/index.js";
import * as dv from "../../src/mlx5dv/index.js";
import { loadScenario } from "../../src/scenario/index.js";
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
    ...{ next_table: "metered", reg_c_index: 3, cir: { mantissa: 200, exponent: 9 }, cbs: 3000, ebs: 70000 },
    ...{ eir: 5000, meter_mode: "pkt", start_color: "yellow", bucket_overflow: true, both_buckets_on_green: true },
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
    ...{ flowsteer: 1, queues, tables: [{ name: "root", level: 0 }] },
    rqts: [{ name: "all", queues: ["a", "b", "d", "b"] }],
    tirs: [
      { name: "one", queue: "c" },
      {
        ...{ name: "ports", rqt: "all", ...hash, rx_hash_symmetric: true },
        rx_hash_field_selector_outer: { l4_prot_type: "tcp", selected_fields: ["l4_dport", "l4_sport"] },
      },
      {
        ...{ name: "addresses", rqt: "all", ...hash },
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

test("leaves out rules whose TIR leads to work queues, and says so", async () => {
  const { device } = await loadScenario({
    ...{ flowsteer: 1, queues: [{ name: "w", type: "wq", buffers: 4 }], tables: [{ name: "root", level: 0 }] },
    tirs: [{ name: "one", queue: "w" }],
    rules: [{ name: "all", table: "root", actions: [{ tir: "one" }] }],
  });
  const { scenario, findings } = await scenarioOf(device);
  const reason = "work queues of the verbs, to which its TIR leads, are not exported";
  expect(findings).toEqual([{ path: "rules", name: "all", reason }]);
  expect(scenario.tirs).toBeUndefined();
});

test("names what it leaves out", async () => {
  const device = await createDevice();
  const context = ibv_open_device(device);
  const queue = createSink(context, "q");
  device.function(0).hostRules.add({ application: "tc", action: "drop", name: "other" });
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const root = dv.mlx5dv_dr_table_create(domain, 0);
  const matcher = dv.mlx5dv_dr_matcher_create(root, 0, 0, null);
  dv.mlx5dv_dr_rule_create(matcher, null, 1, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
  const { scenario, findings } = await scenarioOf(device);
  expect(findings).toEqual([
    { path: "hostRules", name: "other", reason: "rules of other applications are not exported" },
  ]);
  expect(scenario.queues).toEqual([{ name: "q", function: 0, port: 1 }]);
});
