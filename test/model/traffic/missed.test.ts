/** `outcome.missed`: the tables without a rule for a frame. */
import { expect, test } from "vitest";
import { createDevice, createSink, type Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";

const FRAME = ipv4Frame();
const { NIC_RX, FDB } = { NIC_RX: dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX, FDB: dv.MLX5DV_DR_DOMAIN_TYPE_FDB };

const root = (domain: string, vport = 0) => ({ domain, vport, table: "root" });

interface Bench {
  device: Device;
  /** The root table of a domain of a function. */
  table: (type: number, vport?: number) => ReturnType<typeof dv.mlx5dv_dr_table_create>;
  /** A rule for all frames. */
  rule: (table: ReturnType<Bench["table"]>, ...actions: Parameters<typeof dv.mlx5dv_dr_rule_create>[3]) => void;
}

async function open(): Promise<Bench> {
  const device = await createDevice({ vports: 2 });
  return {
    device,
    table: (type, vport = 0) => {
      const context = v.ibv_open_device(device.function(vport));
      return dv.mlx5dv_dr_table_create(dv.mlx5dv_dr_domain_create(context, type), 0);
    },
    rule: (table, ...actions) => {
      const matcher = dv.mlx5dv_dr_matcher_create(table, 0, 0, null);
      dv.mlx5dv_dr_rule_create(matcher, null, actions.length, actions);
    },
  };
}

test("a device without rules", async () => {
  const { device } = await open();
  expect(device.receive(1, FRAME)).toMatchObject({ reason: "no_rule", missed: [root("nic_rx")] });
});

test("the root tables of FDB and NIC_RX, of which only one may exist", async () => {
  const { device, table } = await open();
  table(FDB);
  expect(device.receive(1, FRAME).missed).toEqual([root("fdb"), root("nic_rx")]);
  table(NIC_RX);
  expect(device.receive(1, FRAME).missed).toEqual([root("fdb"), root("nic_rx")]);
});

test("a function without tables, and one with a root table", async () => {
  const { device, table, rule } = await open();
  const fdb = table(FDB);
  rule(fdb, dv.mlx5dv_dr_action_create_dest_vport(fdb.domain, 2));
  expect(device.receive(1, FRAME).missed).toEqual([root("nic_rx", 2)]);
  table(NIC_RX, 2);
  expect(device.receive(1, FRAME).missed).toEqual([root("nic_rx", 2)]);
});

test("tables by their names", async () => {
  const { device, table, rule } = await open();
  const [rx, fdb] = [table(NIC_RX), table(FDB)];
  const acl = dv.mlx5dv_dr_table_create(rx.domain, 3).called("acl");
  const ports = dv.mlx5dv_dr_table_create(fdb.domain, 1);
  rule(rx, dv.mlx5dv_dr_action_create_dest_table(acl));
  rule(fdb, dv.mlx5dv_dr_action_create_dest_table(ports));
  expect(device.receive(1, FRAME)).toMatchObject({
    reason: "table_miss",
    missed: [
      { domain: "fdb", vport: 0, table: ports.name },
      { domain: "nic_rx", vport: 0, table: "acl" },
    ],
  });
});

test("an action that asks for the miss is none", async () => {
  const { device, table, rule } = await open();
  const fdb = table(FDB);
  const next = dv.mlx5dv_dr_table_create(fdb.domain, 1);
  rule(fdb, dv.mlx5dv_dr_action_create_dest_table(next));
  rule(next, dv.mlx5dv_dr_action_create_default_miss());
  expect(device.receive(1, FRAME).missed).toEqual([root("nic_rx")]);
  const rx = table(NIC_RX);
  rule(rx, dv.mlx5dv_dr_action_create_default_miss());
  expect(device.receive(1, FRAME)).toMatchObject({ reason: "default_miss", missed: [] });
});

test("nothing where the frame arrived, left, or was dropped by a rule", async () => {
  const { device, table, rule } = await open();
  const sender = createSink(v.ibv_open_device(device), "sender");
  expect(device.send(sender, FRAME).missed).toEqual([]);
  rule(table(NIC_RX), dv.mlx5dv_dr_action_create_drop());
  expect(device.receive(1, FRAME).missed).toEqual([]);
});

test("the miss of a sample is none of the frame", async () => {
  const { device, table, rule } = await open();
  const fdb = table(FDB);
  const [next, last] = [1, 2].map((level) => dv.mlx5dv_dr_table_create(fdb.domain, level));
  const sampler = dv.mlx5dv_dr_action_create_flow_sampler({
    sample_ratio: 1,
    default_next_table: last!,
    sample_actions: [dv.mlx5dv_dr_action_create_dest_vport(fdb.domain, 1)],
  });
  rule(fdb, dv.mlx5dv_dr_action_create_dest_table(next!));
  rule(next!, sampler);
  rule(last!, dv.mlx5dv_dr_action_create_dest_vport(fdb.domain, 2));
  expect(device.receive(1, FRAME).missed).toEqual([root("nic_rx", 2)]);
});

test("a frame of which a copy was looped back", async () => {
  const { device, table, rule } = await open();
  const sender = createSink(v.ibv_open_device(device), "sender");
  const fdb = table(FDB);
  const [next, last] = [1, 2].map((level) => dv.mlx5dv_dr_table_create(fdb.domain, level));
  const sampler = dv.mlx5dv_dr_action_create_flow_sampler({
    sample_ratio: 1,
    default_next_table: last!,
    sample_actions: [dv.mlx5dv_dr_action_create_dest_vport(fdb.domain, 0xffff)],
  });
  rule(fdb, dv.mlx5dv_dr_action_create_dest_table(next!));
  rule(next!, sampler);
  rule(last!, dv.mlx5dv_dr_action_create_dest_vport(fdb.domain, 2));
  const multicast = FRAME.slice();
  multicast[0] = 1;
  expect(device.send(sender, multicast)).toMatchObject({ reason: "no_rule", missed: [root("nic_rx", 2)] });
});

test("bursts give the same", async () => {
  const { device, table } = await open();
  table(FDB);
  const burst = device.openBurst();
  burst.put(FRAME);
  burst.steer();
  expect(burst.outcome(0).missed).toEqual(device.receive(1, FRAME).missed);
});
