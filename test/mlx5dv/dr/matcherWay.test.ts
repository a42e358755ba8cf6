/**
 * Path fields of a frame in device bytes: its origin, and metadata registers written by earlier
 * rules. Full values hit, and miss with any bit flipped.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, createSink, type Device, type Outcome } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Domain, Table } from "../../../src/model/table/domain.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { Asked } from "../support/asked.js";
import { ones, row } from "../support/deviceBytes.js";
import { ipv4Frame, refused } from "../support/directRules.js";

const FRAME = ipv4Frame();
const [NIC_RX, NIC_TX, FDB] = [0, 1, 2];

let device: Device;
/** Queue pairs of the PF and of two VFs; they send from port 2. */
let queues: QueuePair[];

beforeEach(async () => {
  device = await createDevice({ vports: 2, ports: 2 });
  queues = [0, 1, 2].map((vport) => {
    const context = dv.mlx5dv_open_device(device.function(vport), { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
    return createSink(context, `f${vport}`, 2);
  });
});

const domain = (vport: number, type: number): Domain =>
  dv.mlx5dv_dr_domain_create((queues[vport] as QueuePair).context, type);
const root = (of: Domain): Table => dv.mlx5dv_dr_table_create(of, 0);

/** A rule of a table that matches every frame, after other rules. */
function everything(table: Table, ...actions: Action[]): void {
  const matcher = dv.mlx5dv_dr_matcher_create(table, 9, 0, new Uint8Array(4));
  dv.mlx5dv_dr_rule_create(matcher, new Uint8Array(4), actions.length, actions);
}

const set = (of: Domain, field: string, data: number): Action =>
  dv.mlx5dv_dr_action_create_modify_header(of, 0, undefined, [
    { type: "set", field: field as dv.ModifyFieldName, data },
  ]);

/** A table finds exactly this value in a field. */
function holds(table: Table, field: string, value: number, send: () => Outcome): void {
  const one = row(field);
  const asked = new Asked(table, one, ones(one));
  expect([field, value, asked.hits(BigInt(value), send)]).toEqual([field, value, true]);
  for (let bit = 0n; bit < one.width; bit++) expect(asked.hits(BigInt(value) ^ (1n << bit), send)).toBe(false);
  asked.close();
}

/** The origin of a frame, as a table finds it. */
function comesFrom(table: Table, send: () => Outcome, vport: number, sqn: number, port: number): void {
  holds(table, "misc.source_port", vport, send);
  holds(table, "misc.source_sqn", sqn, send);
  holds(table, "misc.source_vhca_port", port, send);
  holds(table, "misc.source_eswitch_owner_vhca_id", 0, send);
  holds(table, "misc.outer_emd_tag", 0, send);
}

const received = (port: number) => () => device.receive(port, FRAME);
const sent =
  (vport: number, metadata = 0) =>
  () =>
    device.send(queues[vport] as QueuePair, FRAME, { metadata });
const number = (vport: number): number => (queues[vport] as QueuePair).qp_num;

describe("where a frame comes from", () => {
  test("from the wire, in NIC_RX of the PF and in the FDB", () => {
    comesFrom(root(domain(0, NIC_RX)), received(2), 0xffff, 0, 2);
    comesFrom(root(domain(0, NIC_RX)), received(1), 0xffff, 0, 1);
    comesFrom(root(domain(0, FDB)), received(2), 0xffff, 0, 2);
  });

  test("from a VF, in its NIC_TX, in the FDB, and in NIC_RX of the PF", () => {
    for (const vport of [1, 2]) comesFrom(root(domain(vport, NIC_TX)), sent(vport), vport, number(vport), 2);
    for (const vport of [1, 2]) comesFrom(root(domain(0, FDB)), sent(vport), vport, number(vport), 2);
    comesFrom(root(domain(0, NIC_RX)), sent(2), 2, number(2), 2);
  });

  test("from the PF, in NIC_RX of a VF that the FDB gives it to", () => {
    const fdb = domain(0, FDB);
    const table = dv.mlx5dv_dr_table_create(fdb, 1);
    everything(root(fdb), dv.mlx5dv_dr_action_create_dest_table(table));
    everything(table, dv.mlx5dv_dr_action_create_dest_vport(fdb, 1));
    comesFrom(root(domain(1, NIC_RX)), sent(0), 0, number(0), 2);
    comesFrom(table, sent(0), 0, number(0), 2);
  });
});

test("rules by name ask for the side, and for the vport", () => {
  const names = (queue: number, match: Record<string, number>): void => {
    device.hostRules.add({ application: "nic", match, action: { queue } });
  };
  names(1, { "ext.direction": 1, "misc.source_port": 0xffff });
  names(2, { "ext.direction": 2, "misc.source_port": 2, "misc.source_sqn": number(2) });
  expect([received(1), sent(2), sent(1)].map((send) => send().to[0]?.name)).toEqual(["host:1", "host:2", undefined]);
});

describe("metadata registers", () => {
  const VALUE = 0x8bad_f00d;
  /** A domain whose root table leads to a first table, and that one to a second. */
  function tables(of: Domain): [first: Table, second: Table] {
    const [first, second] = [1, 2].map((level) => dv.mlx5dv_dr_table_create(of, level)) as [Table, Table];
    everything(root(of), dv.mlx5dv_dr_action_create_dest_table(first));
    return [first, second];
  }

  const EVERY = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((n) => [
    ["nic_rx", NIC_RX, n] as const,
    ["nic_tx", NIC_TX, n] as const,
    ["fdb", FDB, n] as const,
  ]);

  test.each(EVERY)("in %s (%i): C%i behind a modify header of an earlier table", (_, type, n) => {
    const of = domain(0, type);
    const [first, second] = tables(of);
    everything(first, set(of, `METADATA_REG_C_${n}`, VALUE), dv.mlx5dv_dr_action_create_dest_table(second));
    const send = type === NIC_RX ? received(1) : sent(0);
    holds(first, `misc2.metadata_reg_c_${n}`, 0, send);
    holds(second, `misc2.metadata_reg_c_${n}`, VALUE, send);
    holds(second, `misc2.metadata_reg_c_${(n + 1) % 8}`, 0, send);
    holds(second, "misc2.metadata_reg_a", 0, send);
  });

  test("A is what was sent with the frame, and what a rule of NIC_TX makes of it", () => {
    const of = domain(1, NIC_TX);
    const [first, second] = tables(of);
    everything(first, set(of, "METADATA_REG_A", 7), dv.mlx5dv_dr_action_create_dest_table(second));
    const send = sent(1, VALUE);
    holds(root(of), "misc2.metadata_reg_a", VALUE, send);
    holds(first, "misc2.metadata_reg_a", VALUE, send);
    holds(second, "misc2.metadata_reg_a", 7, send);
    holds(first, "misc2.metadata_reg_a", 0, sent(1));
  });

  test("C0 and C1 come from NIC_TX to the FDB and to NIC_RX, C2 and A do not", () => {
    const of = domain(1, NIC_TX);
    const [first] = tables(of);
    const change = dv.mlx5dv_dr_action_create_modify_header(of, 0, undefined, [
      { type: "set", field: "METADATA_REG_C_0", data: 0x1111 },
      { type: "set", field: "METADATA_REG_C_1", data: 0x2222 },
      { type: "set", field: "METADATA_REG_C_2", data: 0x3333 },
    ]);
    everything(first, change);
    for (const table of [root(domain(0, FDB)), root(domain(0, NIC_RX))]) {
      holds(table, "misc2.metadata_reg_c_0", 0x1111, sent(1, VALUE));
      holds(table, "misc2.metadata_reg_c_1", 0x2222, sent(1, VALUE));
      holds(table, "misc2.metadata_reg_c_2", 0, sent(1, VALUE));
      holds(table, "misc2.metadata_reg_a", 0, sent(1, VALUE));
    }
  });

  test("a single bit of a register can be masked", () => {
    const of = domain(0, NIC_RX);
    const [first, second] = tables(of);
    everything(first, set(of, "METADATA_REG_C_5", VALUE), dv.mlx5dv_dr_action_create_dest_table(second));
    const asked = new Asked(second, row("misc2.metadata_reg_c_5"), 0xf000n);
    expect([0xf000n, 0xe000n].map((value) => asked.hits(value, received(1)))).toEqual([true, false]);
  });
});

describe.each(["connectx5", "connectx6dx", "connectx7", "connectx8"])("%s", (profile) => {
  test("asks for sources in NIC_RX and FDB, not in NIC_TX; for vports that there are", async () => {
    device = await createDevice({ vports: 2, ports: 2, profile });
    queues = [createSink(dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX }), "f0", 2)];
    for (const type of [NIC_RX, NIC_TX, FDB]) {
      const table = dv.mlx5dv_dr_table_create(domain(0, type), 1);
      for (const field of ["misc.source_port", "misc.source_sqn"]) {
        const made = (): Asked => new Asked(table, row(field), ones(row(field)));
        if (type === NIC_TX) expect(refused(made)?.code).toBe("EOPNOTSUPP");
        else expect(made().hits(0n, sent(0))).toBe(false);
      }
      if (type === NIC_TX) continue;
      const port = new Asked(table, row("misc.source_port"), 0xffffn);
      const codes = [0, 1, 2, 0xffff, 3, 0xfffe].map((vport) => refused(() => port.hits(BigInt(vport), sent(0)))?.code);
      expect(codes).toEqual([undefined, undefined, undefined, undefined, "EINVAL", "EINVAL"]);
    }
  });

  test("matches registers, and the origin of the frame", async () => {
    device = await createDevice({ vports: 2, ports: 2, profile });
    queues = [createSink(dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX }), "f0", 2)];
    const of = domain(0, NIC_RX);
    const [first, second] = [1, 2].map((level) => dv.mlx5dv_dr_table_create(of, level)) as [Table, Table];
    everything(root(of), dv.mlx5dv_dr_action_create_dest_table(first));
    everything(first, set(of, "METADATA_REG_C_1", 0xabcd), dv.mlx5dv_dr_action_create_dest_table(second));
    holds(second, "misc2.metadata_reg_c_1", 0xabcd, received(2));
    holds(second, "misc.source_sqn", 0, received(2));
    expect(new Asked(second, row("misc.source_port"), 0xffffn).hits(0xffffn, received(2))).toBe(true);
  });
});
