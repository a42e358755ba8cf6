/**
 * The flow meter object 0x0a (docs/devx.md). MODEL: it only stores its parameters. Frames pass the
 * meters of mlx5dv_dr_action_create_flow_meter and of ASO objects.
 */
import type { Context } from "../base/context.js";
import { retire } from "../base/handle.js";
import {
  PARAMETERS_SIZE,
  SELECT_ACTIVE,
  SELECT_CBS,
  SELECT_CIR,
  SELECT_EBS,
  SELECT_EIR,
} from "../action/meterParameters.js";
import type { Command } from "./command.js";
import type { DevxFlowTable } from "./flowTable.js";
import { FLOW_METER_BODY, FLOW_METER_PARAMETERS, GENERAL_OBJECT, OUTPUT, readFields } from "./layouts.js";
import { DevxObject } from "../base/devxObject.js";
import { TABLE_NIC_RX } from "./opcodes.js";

/** The bytes that each bit changes: exponent and mantissa, from this offset on. */
const CHANGED = [
  [SELECT_CBS, 8],
  [SELECT_CIR, 10],
  [SELECT_EBS, 16],
  [SELECT_EIR, 18],
] as const;

interface MeterBody {
  active: number;
  return_reg_id: number;
  table_type: number;
  destination_table_id: number;
}

export class FlowMeter extends DevxObject {
  readonly numberedAs = "flow_meter";
  readonly context: Context;
  readonly id: number;
  readonly body: MeterBody;
  readonly parameters: Uint8Array;
  private readonly _next: DevxFlowTable | null;

  constructor(context: Context, body: MeterBody, parameters: Uint8Array, next: DevxFlowTable | null) {
    const { device } = context;
    super(device, `flow_meter${device.nextNumber("flow_meter")}`);
    this.context = context;
    this.id = device.nextNumber("general object id") + 1;
    this.body = body;
    this.parameters = parameters;
    this._next = next;
    if (next !== null) next.users++;
    context.users++;
  }

  destroy(): void {
    retire("obj", this, "");
    if (this._next !== null) this._next.users--;
    this.context.users--;
  }
}

export function createFlowMeter(command: Command): FlowMeter {
  const at = GENERAL_OBJECT.size;
  command.expect(at + FLOW_METER_BODY.size, OUTPUT.size);
  const { log_obj_range } = command.read(GENERAL_OBJECT);
  if (log_obj_range !== 0)
    command.fail("unsupported", "log_obj_range", log_obj_range, "meters of this kind come alone");
  const body = readFields(command.in, FLOW_METER_BODY, at);
  if (body.return_reg_id > 7) command.fail("bad_value", "return_reg_id", body.return_reg_id, "0 to 7");
  const next = body.destination_table_id === 0 ? null : tableAt(command, body);
  if (next === null && body.table_type !== TABLE_NIC_RX) {
    command.fail("bad_value", "destination_table_id", 0, "table_type says of which type it is");
  }
  const parameters = command.bytes(at + FLOW_METER_PARAMETERS, PARAMETERS_SIZE);
  return new FlowMeter(command.context, body, parameters, next);
}

function tableAt(command: Command, { destination_table_id: id, table_type }: MeterBody): DevxFlowTable {
  const table = command.object<DevxFlowTable>("flow_table", "destination_table_id", id);
  return table.setting.type.number === table_type ? table : command.fail("other_table", "table_type", table_type);
}

export function queryFlowMeter(command: Command, { body, parameters, id }: FlowMeter): void {
  const at = OUTPUT.size;
  command.expect(GENERAL_OBJECT.size, at + FLOW_METER_BODY.size);
  command.succeed(FLOW_METER_BODY, { ...body }, at);
  command.out.setUint32(OUTPUT.fields.id[0], id);
  parameters.forEach((byte, i) => command.out.setUint8(at + FLOW_METER_PARAMETERS + i, byte));
}

export function modifyFlowMeter(command: Command, meter: FlowMeter): void {
  const at = GENERAL_OBJECT.size;
  command.expect(at + FLOW_METER_BODY.size, OUTPUT.size);
  const select = command.in.getBigUint64(at);
  const known = SELECT_ACTIVE | SELECT_CBS | SELECT_CIR | SELECT_EBS | SELECT_EIR;
  if (select > BigInt(known)) command.fail("bad_value", "modify_field_select", select, `0 to ${known}`);
  const asked = Number(select);
  if ((asked & SELECT_ACTIVE) !== 0) meter.body.active = readFields(command.in, FLOW_METER_BODY, at).active;
  for (const [bit, from] of CHANGED) {
    if ((asked & bit) !== 0) meter.parameters.set(command.bytes(at + FLOW_METER_PARAMETERS + from, 2), from);
  }
  command.succeed(OUTPUT, { id: meter.id });
}
