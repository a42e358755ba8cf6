/** Device commands of random bytes and lengths, made from valid ones: answered or refused, and no memory is kept. */
import { expect } from "vitest";
import { type Device, SteeringError } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Context } from "../../../src/model/base/context.js";
import { COMMANDS } from "../../../src/model/devx/commands.js";
import type { Random } from "../../oracle/generate/random.js";
import { created, openCommands, TableBench } from "./devx.js";

/** A device, objects on it, and commands that it takes. */
export interface CommandWorld {
  readonly device: Device;
  readonly context: Context;
  /** Objects that commands query. */
  readonly queried: readonly dv.DevxObject[];
  readonly good: readonly Uint8Array[];
  /** Memory without what commands make. */
  readonly used: number;
}

export async function openCommandWorld(): Promise<CommandWorld> {
  const { context, device } = await openCommands({ vports: 2, limits: { memory: 4_000_000 } });
  const table = new TableBench(context, dv.FS_FT_NIC_RX, { reformat_en: true, decap_en: true });
  const transport = new TableBench(context, dv.FS_FT_RDMA_TRANSPORT_RX);
  const counter = created(context, dv.allocFlowCounterCommand(2));
  // Objects in use stay, whatever a command contains.
  for (const one of [counter, ...table.table.groups, ...transport.table.groups]) one.users++;
  const actions = dv.modifyActions([{ type: "set", field: "OUT_DMAC_15_0", data: 1 }]);
  const group = { table_type: 0, table_id: table.table.id, start_flow_index: 0, end_flow_index: 3 };
  // Valid commands, as input of mutations.
  const good = [
    dv.allocFlowCounterCommand(3),
    dv.queryFlowCounterCommand(counter.id, 4),
    ...[0, 1, 4, 7, 8, 0xd, 0xe].map((type) => dv.createFlowTableCommand(type, { log_size: 2 })),
    dv.queryFlowTableCommand(0, table.table.id),
    dv.createFlowGroupCommand(group),
    table.command({ flow_index: 3, action: 9, flow_counter_ids: [counter.id] }),
    transport.command({ flow_index: 3, action: 9, flow_counter_ids: [counter.id] }),
    ...[0, 7, 0xe].map((type) => dv.allocModifyHeaderCommand(type, actions)),
    dv.allocPacketReformatCommand(3, new Uint8Array(14)),
    ...[0x24, 0x25, 0x31].map((type) => dv.createAsoCommand(type, { log_obj_range: 1 })),
    dv.createFlowMeterCommand({ active: true }),
    dv.deallocFlowCounterCommand(counter.id),
    dv.destroyFlowTableCommand(0, table.table.id),
    dv.destroyFlowGroupCommand(0, table.table.id, table.groupId),
    dv.queryHcaCapCommand(0),
    dv.queryEswVportContextCommand(1),
    dv.syncSteeringCommand(),
  ];
  return { device, context, queried: [counter, table.table], good, used: device.memoryUsed };
}

/** One command. @returns whether it was answered */
export function tryCommand({ device, context, queried, good, used }: CommandWorld, random: Random): boolean {
  const input = changed(random.pick(good), random);
  const inlen = random.below(6) === 0 ? random.below(input.length + 2) : input.length;
  const output = new Uint8Array(random.below(5) === 0 ? random.below(40) : 300);
  const made: dv.DevxObject[] = [];
  const answered = isAnswered(output, () => {
    const kind = random.below(4);
    if (kind === 0) dv.mlx5dv_devx_general_cmd(context, input, inlen, output, undefined);
    else if (kind === 1) dv.mlx5dv_devx_obj_query(random.pick(queried), input, inlen, output, undefined);
    else made.push(dv.mlx5dv_devx_obj_create(context, input, inlen, output, undefined));
  });
  for (const one of made) dv.mlx5dv_devx_obj_destroy(one);
  if (device.memoryUsed !== used) throw new Error(`${device.memoryUsed - used} bytes are lost`);
  return answered;
}

/** A valid command with up to three other bytes, or with random ones, or of another opcode. */
function changed(command: Uint8Array, random: Random): Uint8Array {
  const input = command.slice();
  for (let left = random.below(4); left > 0; left--)
    input[random.below(Math.min(input.length, 100))] = random.below(256);
  if (random.below(8) === 0) for (let i = 2; i < input.length; i++) input[i] = random.below(256);
  if (random.below(20) === 0) new DataView(input.buffer).setUint16(0, random.pick([...COMMANDS.keys()]));
  return input;
}

/** Whether the call is answered. It is refused with an errno and, where the output has room, with a status. */
function isAnswered(output: Uint8Array, call: () => void): boolean {
  try {
    call();
  } catch (error) {
    if (!(error instanceof SteeringError)) throw error;
    expect(["EREMOTEIO", "EINVAL"]).toContain(error.code);
    if (output.length >= 8 && error.code === "EREMOTEIO")
      expect([output[0], output[6]]).toEqual([output[6], output[0]]);
    return false;
  }
  expect(output[0]).toBe(0);
  return true;
}
