/**
 * Header changes and packet reformats that entries of flow tables name by number (docs/devx.md).
 */
import { Op } from "../../abi/engine.js";
import { L2_TO_L2_TUNNEL, L2_TO_L3_TUNNEL, L3_TUNNEL_TO_L2 } from "../../abi/reformat.js";
import { createRecord, releaseRecord } from "../../engine/records.js";
import type { Context } from "../base/context.js";
import { retire } from "../base/handle.js";
import { modifyProgram } from "../action/modifyHeader.js";
import { encapsulates, reformatRecord } from "../action/reformat.js";
import type { Command } from "./command.js";
import { ALLOC_MODIFY_HEADER, ALLOC_PACKET_REFORMAT, OUTPUT, REFORMAT_DATA_AT } from "./layouts.js";
import { DevxObject } from "../base/devxObject.js";
import { tableTypeOf, type DeviceTableType } from "./tableTypes.js";

/**
 * Device numbers of reformat types, and the API's types. The data brings the headers of any tunnel.
 */
const REFORMAT_TYPES: readonly number[] = [
  L2_TO_L2_TUNNEL,
  L2_TO_L2_TUNNEL,
  L2_TO_L2_TUNNEL,
  L3_TUNNEL_TO_L2,
  L2_TO_L3_TUNNEL,
];

/** A record of the core, with a number. */
abstract class HeaderObject extends DevxObject {
  readonly context: Context;
  readonly id: number;
  /** The address of the record. */
  readonly operand: number;
  private readonly _bytes: number;

  constructor(context: Context, name: string, record: Uint8Array) {
    const { device } = context;
    const operand = device.allocated(createRecord(device.core, record));
    super(device, `${name}${device.nextNumber(name)}`);
    this.context = context;
    this.id = device.nextNumber(`${name} id`) + 1;
    this.operand = operand;
    this._bytes = record.length;
    context.users++;
  }

  destroy(): void {
    retire("obj", this, "destroy the entries that use it first");
    releaseRecord(this.device.core, this.operand, this._bytes);
    this.context.users--;
  }
}

export class ModifyHeaderContext extends HeaderObject {
  readonly numberedAs = "modify_header";
  readonly step = "modify";
  readonly op = Op.modify;
  /** The table type whose entries may use it. */
  readonly type: DeviceTableType;

  constructor(context: Context, type: DeviceTableType, actions: Uint8Array) {
    const { domainType } = type;
    const setting = { domainType, refuses: context.device.profile.rules.root.headers, rootLevel: true };
    super(context, "modify_header_context", modifyProgram(setting, actions, actions.length));
    this.type = type;
  }
}

export class PacketReformatContext extends HeaderObject {
  readonly numberedAs = "packet_reformat";
  readonly step: "encap" | "decap";
  readonly op = Op.reformat;

  constructor(context: Context, type: number, data: Uint8Array) {
    const setting = { domainType: "fdb", refuses: {}, rootLevel: true } as const;
    super(context, "packet_reformat_context", reformatRecord(setting, type, data, data.length));
    this.step = encapsulates(type) ? "encap" : "decap";
  }
}

export function allocModifyHeader(command: Command): ModifyHeaderContext {
  const { table_type, num_of_actions } = command.read(ALLOC_MODIFY_HEADER);
  const type = tableTypeOf(command, table_type);
  const size = num_of_actions * 8;
  command.expect(ALLOC_MODIFY_HEADER.size + size, OUTPUT.size);
  const actions = command.bytes(ALLOC_MODIFY_HEADER.size, size);
  const { context } = command;
  const made = command.carry(() => new ModifyHeaderContext(context, type, actions));
  command.succeed(OUTPUT, { id: made.id });
  return made;
}

export function allocPacketReformat(command: Command): PacketReformatContext {
  const { reformat_type, reformat_data_size } = command.read(ALLOC_PACKET_REFORMAT);
  const type = REFORMAT_TYPES[reformat_type];
  if (type === undefined) return command.fail("unsupported", "reformat_type", reformat_type, "0 to 4");
  command.expect(REFORMAT_DATA_AT + reformat_data_size, OUTPUT.size);
  const data = command.bytes(REFORMAT_DATA_AT, reformat_data_size);
  const { context } = command;
  const made = command.carry(() => new PacketReformatContext(context, type, data));
  command.succeed(OUTPUT, { id: made.id });
  return made;
}
