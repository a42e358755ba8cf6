/** Device commands on a test device: their output, and their errors. */
import { Op } from "../../../src/abi/engine.js";
import { createDevice, createSink, type Device, type DeviceOptions } from "../../../src/index.js";
import type { SyndromeName } from "../../../src/model/devx/syndromes.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { Action } from "../../../src/model/action/action.js";
import type { Context } from "../../../src/model/base/context.js";
import type { DevxFlowEntry } from "../../../src/model/devx/flowEntry.js";
import type { DevxFlowTable } from "../../../src/model/devx/flowTable.js";
import type { Domain, Table } from "../../../src/model/table/domain.js";
import { refused } from "./directRules.js";

export async function openCommands(options: DeviceOptions = {}): Promise<{ device: Device; context: Context }> {
  const device = await createDevice(options);
  return { device, context: dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX }) };
}

/** The object created by a command, and the output. */
export function make<T extends dv.DevxObject>(
  context: Context,
  input: dv.CommandFor<T>,
): { object: T; output: Uint8Array } {
  const output = new Uint8Array(16).fill(0xee);
  const object = dv.mlx5dv_devx_obj_create(context, input, undefined, output, undefined);
  expectSuccess(output);
  return { object, output };
}

export function created<T extends dv.DevxObject>(context: Context, input: dv.CommandFor<T>): T {
  return make(context, input).object;
}

function expectSuccess(output: Uint8Array): void {
  const { status, syndrome } = dv.commandOutput(output);
  if (status !== 0 || syndrome !== 0) throw new Error(`status ${status}, syndrome ${syndrome}`);
}

export interface Answer {
  code: string | undefined;
  status: number;
  syndrome: number;
}

/** The expected output of a refused command, by cause. */
export function refusal(cause: SyndromeName): Answer {
  const { status, syndrome } = dv.DEVX_SYNDROMES[cause];
  return { code: "EREMOTEIO", status, syndrome };
}

/** The result of a call with an output. */
export function answer(run: (output: Uint8Array) => unknown, outlen = 256): Answer {
  const output = new Uint8Array(outlen).fill(0xee);
  const code = refused(() => run(output))?.code;
  const view = new DataView(output.buffer);
  return { code, status: view.getUint8(0), syndrome: view.getUint32(4) };
}

/** The same as `answer`, for mlx5dv_devx_obj_create. */
export function creating(
  { context, device }: { context: Context; device: Device },
  input: Uint8Array,
  outlen = 256,
): Answer {
  const used = device.memoryUsed;
  const said = answer((output) => dv.mlx5dv_devx_obj_create(context, input, undefined, output, undefined), outlen);
  if (device.memoryUsed !== used) throw new Error(`${device.memoryUsed - used} bytes are lost`);
  return said;
}

/** An action of a rule that leads to a table of device commands. */
export function toDevxTable(table: DevxFlowTable): Action {
  const parts = { step: "end", op: Op.table, operand: table.classifier.table, holds: [table] } as const;
  return new Action(table.device, "dest_table", parts);
}

/** All frames of a root table go to a table of device commands. */
export function enter(root: Table, table: DevxFlowTable): void {
  const matcher = dv.mlx5dv_dr_matcher_create(root, 0, 0, null);
  dv.mlx5dv_dr_rule_create(matcher, null, 1, [toDevxTable(table)]);
}

export interface SwitchBench {
  device: Device;
  context: Context;
  fdb: Domain;
  root: Table;
}

/**
 * A device with two VFs, each with a queue that accepts all frames, and the root table of its
 * eSwitch.
 */
export async function openSwitch(): Promise<SwitchBench> {
  const { device, context } = await openCommands({ vports: 2 });
  for (const vport of [0, 1, 2]) {
    const own = dv.mlx5dv_open_device(device.function(vport), { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
    const root = dv.mlx5dv_dr_table_create(dv.mlx5dv_dr_domain_create(own, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX), 0);
    const matcher = dv.mlx5dv_dr_matcher_create(root, 0, 0, null);
    const queue = createSink(own, `vport${vport}`);
    dv.mlx5dv_dr_rule_create(matcher, null, 1, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
  }
  const fdb = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_FDB);
  return { device, context, fdb, root: dv.mlx5dv_dr_table_create(fdb, 0) };
}

/** A table with one group that covers all its indexes, and functions that create entries. */
export class TableBench {
  readonly context: Context;
  readonly type: number;
  readonly table: DevxFlowTable;
  readonly groupId: number;

  constructor(
    context: Context,
    type: number,
    fields: dv.FlowTableFields = {},
    match: { match_criteria_enable?: number; match_criteria?: Uint8Array } = {},
  ) {
    this.context = context;
    this.type = type;
    this.table = created(context, dv.createFlowTableCommand(type, { log_size: 4, ...fields }));
    const range = { start_flow_index: 0, end_flow_index: 2 ** this.table.setting.logSize - 1 };
    const group = { table_type: type, table_id: this.table.id, ...range, ...match };
    this.groupId = created(context, dv.createFlowGroupCommand(group)).id;
  }

  command(fields: Partial<dv.FlowEntryFields>): ReturnType<typeof dv.setFlowTableEntryCommand> {
    return dv.setFlowTableEntryCommand(this.fields(fields));
  }

  fields(fields: Partial<dv.FlowEntryFields>): dv.FlowEntryFields {
    const own = { table_type: this.type, table_id: this.table.id, group_id: this.groupId };
    return { ...own, flow_index: 0, action: dv.MLX5_FLOW_CONTEXT_ACTION_ALLOW, ...fields };
  }

  entry(fields: Partial<dv.FlowEntryFields>): DevxFlowEntry {
    return created(this.context, this.command(fields));
  }
}

/** Mask and value of a match in a table of device commands, where ip_version has a bit mask. */
export function deviceMatch(fields: Parameters<typeof dv.matchParameters>[0]): {
  group: { match_criteria_enable: number; match_criteria: Uint8Array };
  value: Uint8Array;
} {
  const { match_criteria_enable, mask, value } = dv.matchParameters(fields, { root: true });
  return { group: { match_criteria_enable, match_criteria: mask.match_buf }, value: value.match_buf };
}
