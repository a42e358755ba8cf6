/** Flows that lead to flow tables of device commands, and anchors that lead back. */
import { beforeEach, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Context } from "../../../src/model/base/context.js";
import type { DevxFlowEntry } from "../../../src/model/devx/flowEntry.js";
import type { DevxFlowTable } from "../../../src/model/devx/flowTable.js";
import type { DevxObject } from "../../../src/model/base/devxObject.js";
import * as v from "../../../src/verbs/index.js";
import { DONT_TRAP, TCP } from "../../verbs/support/flows.js";
import { DeviceFlowBench, DROPS, FDB, inTable, NIC_RX, NIC_TX, RDMA_RX } from "../support/createFlow.js";
import { ipv4Frame, refused } from "../support/directRules.js";

const HTTP = { "outer.tcp_dport": 80 };
const FRAME = ipv4Frame({ dport: 80 });

let bench: DeviceFlowBench;
let devx: Context;
beforeEach(async () => {
  bench = await DeviceFlowBench.open({ vports: 1 });
  devx = dv.mlx5dv_open_device(bench.device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
});

const made = <T extends DevxObject>(command: dv.CommandFor<T>, context = devx): T =>
  dv.mlx5dv_devx_obj_create(context, command, undefined, new Uint8Array(16), undefined);

function table(type: number = dv.FS_FT_NIC_RX, context = devx): DevxFlowTable {
  const one = made(dv.createFlowTableCommand(type, { log_size: 2, level: 1 }), context);
  const range = { table_type: type, table_id: one.id, start_flow_index: 0, end_flow_index: 3 };
  made(dv.createFlowGroupCommand(range), context);
  return one;
}

/** An entry for every frame of a table. */
function entry(of: DevxFlowTable, destination_id: number | null, flow_index = 0): DevxFlowEntry {
  const forward = destination_id !== null;
  return made(
    dv.setFlowTableEntryCommand({
      table_type: of.setting.type.number,
      table_id: of.id,
      flow_index,
      ignore_flow_level: forward,
      group_id: [...of.groups][0]!.id,
      action: forward ? dv.MLX5_FLOW_CONTEXT_ACTION_FWD_DEST : dv.MLX5_FLOW_CONTEXT_ACTION_DROP,
      destinations: forward ? [{ destination_type: dv.MLX5_FLOW_DESTINATION_TYPE_FLOW_TABLE, destination_id }] : [],
    }),
  );
}

const into = (obj: DevxFlowTable): dv.FlowActionAttr => ({ type: dv.MLX5DV_FLOW_ACTION_DEST_DEVX, obj });
const got = (): string => bench.flows.received(FRAME);

test("a flow leads to a table, which cannot be destroyed before it", () => {
  const next = table();
  const flow = bench.flow(HTTP, [into(next)]);
  expect(got()).toBe("drop table_miss");
  const drops = entry(next, null);
  expect(got()).toBe("drop drop_action");
  dv.mlx5dv_devx_obj_destroy(drops);
  dv.mlx5dv_devx_obj_destroy([...next.groups][0]!);
  expect(refused(() => dv.mlx5dv_devx_obj_destroy(next))?.code).toBe("EBUSY");
  v.ibv_destroy_flow(flow);
  expect(dv.mlx5dv_devx_obj_destroy(next)).toBe(0);
});

test("queues of the same flow get copies; a second table is a conflict", () => {
  const next = table();
  const flow = bench.flow(HTTP, [into(next)]);
  bench.flow(HTTP, [bench.to("a")]);
  expect(got()).toBe("(a) drop table_miss");
  bench.flow(HTTP, [into(next)]);
  expect(bench.refused(HTTP, [into(table())])[0]).toBe("EEXIST");
  v.ibv_destroy_flow(flow);
  expect(got()).toBe("(a) drop table_miss");
});

test("tables are of the direction and the function of the flow", () => {
  const code = (next: DevxFlowTable, type: number): string | undefined =>
    bench.refused(HTTP, [into(next)], inTable(type))[0];
  expect(code(table(dv.FS_FT_NIC_TX), NIC_RX)).toBe("EINVAL");
  expect(code(table(dv.FS_FT_NIC_TX), FDB)).toBe("EINVAL");
  expect(code(table(), RDMA_RX)).toBe(undefined);
  expect(code(table(dv.FS_FT_FDB), FDB)).toBe(undefined);
  expect(code(table(dv.FS_FT_NIC_TX), NIC_TX)).toBe(undefined);
  const vf = dv.mlx5dv_open_device(bench.device.function(1), { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  expect(code(table(dv.FS_FT_NIC_RX, vf), NIC_RX)).toBe("EINVAL");
  const root = dv.mlx5dv_dr_table_create(dv.mlx5dv_dr_domain_create(bench.context, 0), 1);
  expect(bench.refused(HTTP, [into(root as never)])).toEqual(["EINVAL", "bad_object", "actions_attr[0].obj"]);
});

test("an anchor leads back to the first rule of a priority, and stays while entries lead to it", () => {
  const next = table();
  bench.flow(HTTP, [into(next)]);
  bench.flow({}, [bench.to("early")], { priority: 4 });
  bench.flow({}, [bench.to("late")], { priority: 5 });
  const anchors = [0, 1].map(() => dv.mlx5dv_create_steering_anchor(bench.context, { ft_type: NIC_RX, priority: 5 }));
  const back = entry(next, anchors[0]!.id);
  expect(got()).toBe("late deliver");
  expect(dv.mlx5dv_destroy_steering_anchor(anchors[0]!)).toBe(0);
  expect(refused(() => dv.mlx5dv_destroy_steering_anchor(anchors[1]!))?.code).toBe("EBUSY");
  expect(got()).toBe("late deliver");
  dv.mlx5dv_devx_obj_destroy(back);
  const other = dv.mlx5dv_create_steering_anchor(bench.context, { ft_type: NIC_TX });
  expect(refused(() => entry(next, other.id))?.code).toBe("EREMOTEIO");
  expect(dv.mlx5dv_destroy_steering_anchor(anchors[1]!)).toBe(0);
  expect(refused(() => entry(next, anchors[1]!.id))?.code).toBe("EREMOTEIO");
});

test("an anchor leads to DONT_TRAP flows of its priority, and behind those of earlier ones", () => {
  const next = table();
  bench.flow(HTTP, [into(next)]);
  for (const priority of [1, 2]) bench.flows.flow(`copy${priority}`, [TCP], { priority, ...DONT_TRAP });
  bench.flow({}, [bench.to("last")], { priority: 3 });
  const back = entry(next, dv.mlx5dv_create_steering_anchor(bench.context, { priority: 2 }).id);
  expect(got()).toBe("(copy2) last deliver");
  dv.mlx5dv_devx_obj_destroy(back);
  entry(next, dv.mlx5dv_create_steering_anchor(bench.context, { priority: 1 }).id);
  expect(got()).toBe("(copy1) (copy2) last deliver");
});

test("an anchor of stage 2 keeps its table while nobody has rules there", () => {
  const before = bench.device.memoryUsed;
  const anchor = dv.mlx5dv_create_steering_anchor(bench.context, {});
  const flow = bench.flow(HTTP, [DROPS]);
  v.ibv_destroy_flow(flow);
  expect(got()).toBe("miss no_rule");
  dv.mlx5dv_destroy_steering_anchor(anchor);
  expect(bench.device.memoryUsed).toBe(before);
});
