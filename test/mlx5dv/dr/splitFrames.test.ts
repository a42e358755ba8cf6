/** Frames that rules split: the registers that their own branches wrote, and their bytes. */
import { expect, test } from "vitest";
import { hexOf } from "../../../src/base/hex.js";
import { createDevice, createSink } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Table } from "../../../src/model/table/domain.js";
import { buildFrame } from "../../../src/packet/index.js";
import { openCounter } from "../support/switchBench.js";

const FRAMES = 200;

test("registers of many frames, each split in two", async () => {
  const device = await createDevice();
  const context = dv.mlx5dv_open_device(device);
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const table = (level: number): Table => dv.mlx5dv_dr_table_create(domain, level);
  const all = (of: Table, ...actions: Action[]): void => {
    dv.mlx5dv_dr_rule_create(dv.mlx5dv_dr_matcher_create(of, 0, 0, null), null, actions.length, actions);
  };
  const [root, first, second] = [table(0), table(1), table(2)] as const;
  const members = [first, second].map((to) => ({
    type: dv.MLX5DV_DR_ACTION_DEST,
    dest: dv.mlx5dv_dr_action_create_dest_table(to),
  }));
  all(root, dv.mlx5dv_dr_action_create_dest_array(domain, undefined, members));
  const port: dv.ModifyActions = [{ type: "copy", field: "OUT_UDP_SPORT", length: 16, to: "METADATA_REG_C_5" }];
  const queue = dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, "a"));
  all(first, dv.mlx5dv_dr_action_create_modify_header(domain, 0, undefined, port), queue);
  all(second, dv.mlx5dv_dr_action_create_drop());
  const frames = Array.from({ length: FRAMES }, (_, i) =>
    buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "udp", source_port: 1000 + i }]),
  );
  const registers = device.receiveBatch(1, frames).map((outcome) => outcome.registers["C5"]);
  expect(registers).toEqual(frames.map((_, i) => 1000 + i));
});

test("no frame at all, which a core of a pool can get", async () => {
  const device = await createDevice();
  const context = dv.mlx5dv_open_device(device);
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const root = dv.mlx5dv_dr_table_create(domain, 0);
  const members = ["a", "b"].map((name) => ({
    type: dv.MLX5DV_DR_ACTION_DEST,
    dest: dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, name)),
  }));
  const array = dv.mlx5dv_dr_action_create_dest_array(domain, undefined, members);
  dv.mlx5dv_dr_rule_create(dv.mlx5dv_dr_matcher_create(root, 0, 0, null), null, 1, [array]);
  device.core.exports.steer(root.classifier.table, 0);
  expect(device.receive(1, buildFrame([{ header: "ethernet" }])).to).toHaveLength(2);
});

test("the bytes of a first frame whose 60 branches are looked up together", async () => {
  const device = await createDevice({ cache: false });
  const context = dv.mlx5dv_open_device(device);
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const [root, last] = [dv.mlx5dv_dr_table_create(domain, 0), dv.mlx5dv_dr_table_create(domain, 1)] as const;
  const to = { type: dv.MLX5DV_DR_ACTION_DEST, dest: dv.mlx5dv_dr_action_create_dest_table(last) };
  const array = dv.mlx5dv_dr_action_create_dest_array(domain, undefined, Array<typeof to>(60).fill(to));
  dv.mlx5dv_dr_rule_create(dv.mlx5dv_dr_matcher_create(root, 0, 0, null), null, 1, [array]);
  const registers = Array.from({ length: 8 }, (_, n) => [`misc2.metadata_reg_c_${n}`, 0] as const);
  const addresses = { "outer.ipv6_dst": "2001:db8::1", "outer.ipv6_src": "2001:db8::2" };
  const { match_criteria_enable, mask, value } = dv.matchParameters({
    ...Object.fromEntries(registers),
    ...addresses,
    "outer.dmac": "02:00:00:00:00:02",
  });
  const queue = dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, "a"));
  dv.mlx5dv_dr_rule_create(dv.mlx5dv_dr_matcher_create(last, 0, match_criteria_enable, mask), value, 1, [queue]);
  const frame = buildFrame([
    { header: "ethernet", destination: "02:00:00:00:00:02" },
    { header: "ipv6", source: "2001:db8::2", destination: "2001:db8::1" },
    { header: "udp", destination_port: 53 },
  ]);
  const { to: destinations } = device.receive(1, frame);
  expect(destinations.map((one) => hexOf(one.frame))).toEqual(Array<string>(60).fill(hexOf(frame)));
});

test("a frame that ends in the metadata element of ESP has no VLAN tag to take", async () => {
  const device = await createDevice();
  const context = dv.mlx5dv_open_device(device);
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const [root, next] = [0, 1].map((level) => dv.mlx5dv_dr_table_create(domain, level)) as [Table, Table];
  const all = (of: Table, ...actions: Action[]): void => {
    dv.mlx5dv_dr_rule_create(dv.mlx5dv_dr_matcher_create(of, 0, 0, null), null, actions.length, actions);
  };
  all(root, dv.mlx5dv_dr_action_create_dest_table(next));
  const queue = dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, "a"));
  all(next, dv.mlx5dv_dr_action_create_pop_vlan(), queue);
  for (const length of [14, 21]) {
    const frame = Uint8Array.from({ length }, (_, i) => ({ 12: 0x8c, 13: 0xe4 })[i] ?? 2);
    const { verdict, to } = device.receive(1, frame);
    expect([verdict, [...(to[0]?.frame ?? [])]]).toEqual(["deliver", [...frame]]);
  }
});

test("an array that only counts sends a frame nowhere", async () => {
  const device = await createDevice();
  const context = dv.mlx5dv_open_device(device);
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const table = dv.mlx5dv_dr_table_create(domain, 0);
  const counters = [0, 1].map(() => openCounter(context));
  const members = counters.map((counter) => ({
    type: dv.MLX5DV_DR_ACTION_DEST,
    dest: dv.mlx5dv_dr_action_create_flow_counter(counter, 0),
  }));
  const array = dv.mlx5dv_dr_action_create_dest_array(domain, undefined, members);
  dv.mlx5dv_dr_rule_create(dv.mlx5dv_dr_matcher_create(table, 0, 0, null), null, 1, [array]);
  expect(device.receive(1, buildFrame([{ header: "ethernet" }, { header: "ipv4" }]))).toMatchObject({
    verdict: "drop",
    reason: "no_destination",
  });
  expect(counters.map((counter) => counter.read(0).packets)).toEqual([1n, 1n]);
});
