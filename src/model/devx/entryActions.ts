/** The actions of an entry of a flow table (docs/devx.md), in the device's execution order. */
import { MAX_MEMBERS, Op, VPORT_UPLINK } from "../../abi/engine.js";
import { isVlanTpid, VLAN_TPIDS } from "../../packet/vlan.js";
import { L2_TUNNEL_TO_L2 } from "../../abi/reformat.js";
import { createRecord } from "../../engine/records.js";
import { Action, type ActionKind, type ActionParts } from "../action/action.js";
import type { FlowCounter } from "../action/counter.js";
import { arrayRecord } from "../action/destArray.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { AnchorTables } from "../table/steeringAnchor.js";
import { reformatRecord } from "../action/reformat.js";
import type { Tir } from "../queuePair/tir.js";
import type { Command } from "./command.js";
import type { DevxFlowTable } from "./flowTable.js";
import type { ModifyHeaderContext, PacketReformatContext } from "./headerObjects.js";
import {
  COUNTER_ENTRY,
  DESTINATION,
  EXTENDED_DESTINATION,
  FLOW_CONTEXT,
  FLOW_CONTEXT_AT,
  OUTPUT,
  SET_FLOW_TABLE_ENTRY,
} from "./layouts.js";
import {
  DESTINATION_TABLE,
  DESTINATION_TIR,
  DESTINATION_UPLINK,
  DESTINATION_VPORT,
  ENTRY_ALLOW,
  ENTRY_COUNT,
  ENTRY_DECAP,
  ENTRY_DROP,
  ENTRY_FORWARD,
  ENTRY_MODIFY,
  ENTRY_POP_VLAN,
  ENTRY_POP_VLAN_2,
  ENTRY_PUSH_VLAN,
  ENTRY_PUSH_VLAN_2,
  ENTRY_REFORMAT,
} from "./opcodes.js";

const ENDS = ENTRY_ALLOW | ENTRY_DROP | ENTRY_FORWARD;
const KNOWN =
  ENDS |
  ENTRY_COUNT |
  ENTRY_REFORMAT |
  ENTRY_DECAP |
  ENTRY_MODIFY |
  ENTRY_POP_VLAN |
  ENTRY_PUSH_VLAN |
  ENTRY_POP_VLAN_2 |
  ENTRY_PUSH_VLAN_2;

type FlowContext = Record<keyof typeof FLOW_CONTEXT.fields, number>;

/** An action still to be made; `record` is what its operand will name. */
interface Plan {
  readonly kind: ActionKind;
  readonly parts: ActionParts;
  readonly record?: Uint8Array;
}

interface DestinationPlan extends Plan {
  readonly reformat: PacketReformatContext | null;
}

/** Makes the actions of the entry that a command describes, after all checks. */
export function entryActions(command: Command, table: DevxFlowTable): Action[] {
  const context = command.read(FLOW_CONTEXT, FLOW_CONTEXT_AT);
  checkBits(command, table, context);
  const plans = [
    ...changes(command, table, context),
    ...counters(command, context),
    ...ends(table, context),
    ...destinations(command, table, context),
  ];
  const { device } = command.context;
  return command.carry(() => makeAll(device, plans));
}

/** What an entry does with a frame that it does not forward. */
function ends({ setting }: DevxFlowTable, { action }: FlowContext): Plan[] {
  if ((action & ENTRY_DROP) !== 0) return [{ kind: "drop", parts: { step: "end", op: Op.drop } }];
  // The default of a domain needs no operation.
  if ((action & ENTRY_ALLOW) === 0 || setting.type.stage === null) return [];
  return [{ kind: "default_miss", parts: { step: "end", op: Op.pass_chain } }];
}

/**
 * SPEC: an entry has exactly one of allow, drop and forward; allow does what the table does with
 * unmatched frames.
 */
function checkBits(command: Command, table: DevxFlowTable, { action, flow_tag, flow_source }: FlowContext): void {
  const bad = (hint: string): never => command.fail("bad_actions", "action", `0x${action.toString(16)}`, hint);
  if ((action & ~KNOWN) !== 0) command.fail("unsupported", "action", `0x${(action & ~KNOWN).toString(16)}`);
  const end = action & ENDS;
  if (end === 0 || (end & (end - 1)) !== 0) bad("one of allow, drop and forward");
  if ((action & ENTRY_POP_VLAN_2) !== 0 && (action & ENTRY_POP_VLAN) === 0) bad("a second pop follows a first");
  if ((action & ENTRY_PUSH_VLAN_2) !== 0 && (action & ENTRY_PUSH_VLAN) === 0) bad("a second push follows a first");
  const { type, decapsulates } = table.setting;
  if ((action & ENTRY_DECAP) !== 0 && !decapsulates) bad("the table has no decap_en");
  if (flow_tag !== 0 && type.domainType !== "nic_rx") {
    command.fail("bad_value", "flow_tag", flow_tag, "of received frames alone");
  }
  if (flow_source !== 0) command.fail("unsupported", "flow_source", flow_source, "ask for misc.source_port");
}

function changes(command: Command, table: DevxFlowTable, context: FlowContext): Plan[] {
  const { action } = context;
  const plans: Plan[] = [];
  const add = (bit: number, kind: ActionKind, parts: () => ActionParts): void => {
    if ((action & bit) !== 0) plans.push({ kind, parts: parts() });
  };
  if ((action & ENTRY_DECAP) !== 0) plans.push(decapsulation());
  if (context.flow_tag !== 0) {
    plans.push({ kind: "tag", parts: { step: "tag", op: Op.tag, operand: context.flow_tag } });
  }
  const pop = (): ActionParts => ({ step: "pop", op: Op.pop_vlan });
  add(ENTRY_POP_VLAN, "pop_vlan", pop);
  add(ENTRY_POP_VLAN_2, "pop_vlan", pop);
  add(ENTRY_MODIFY, "modify_header", () => {
    const id = context.modify_header_id;
    const change = command.object<ModifyHeaderContext>("modify_header", "modify_header_id", id);
    if (change.type !== table.setting.type) command.fail("other_table", "modify_header_id", id);
    return { step: change.step, op: change.op, operand: change.operand, holds: [change] };
  });
  const push = (path: "push_vlan" | "push_vlan_2") => (): ActionParts => {
    const operand = context[path];
    const tpid = operand >>> 16;
    if (!isVlanTpid(tpid)) command.fail("bad_value", path, operand, `the TPID is ${VLAN_TPIDS}`);
    return { step: "push", op: Op.push_vlan, operand };
  };
  add(ENTRY_PUSH_VLAN, "push_vlan", push("push_vlan"));
  add(ENTRY_PUSH_VLAN_2, "push_vlan", push("push_vlan_2"));
  add(ENTRY_REFORMAT, "packet_reformat", () => {
    const reformat = reformatOf(command, table, context.packet_reformat_id);
    return { step: reformat.step, op: reformat.op, operand: reformat.operand, holds: [reformat] };
  });
  return plans;
}

function reformatOf(command: Command, table: DevxFlowTable, id: number): PacketReformatContext {
  const reformat = command.object<PacketReformatContext>("packet_reformat", "packet_reformat_id", id);
  if (!table.setting.reformats) command.fail("bad_actions", "packet_reformat_id", id, "the table has no reformat_en");
  return reformat;
}

/** Removes an L2 tunnel where the frame has one. */
function decapsulation(): Plan {
  const setting = { domainType: "fdb", refuses: {}, rootLevel: true } as const;
  const record = reformatRecord(setting, L2_TUNNEL_TO_L2, null, 0);
  return { kind: "packet_reformat", parts: { step: "decap", op: Op.reformat }, record };
}

/** Counters follow the destinations, in entries of the same size. */
function counters(command: Command, context: FlowContext): Plan[] {
  const { action, flow_counter_list_size: size } = context;
  if ((action & ENTRY_COUNT) === 0) {
    if (size !== 0) command.fail("bad_value", "flow_counter_list_size", size, "the entry does not count");
    return [];
  }
  if (size === 0 || size > MAX_MEMBERS)
    command.fail("bad_value", "flow_counter_list_size", size, `1 to ${MAX_MEMBERS}`);
  return Array.from({ length: size }, (_, i) => {
    const at = entryAt(command, context, context.destination_list_size + i);
    const id = command.read(COUNTER_ENTRY, at).flow_counter_id;
    const counter = command.object<FlowCounter>("flow_counter", `flow_counter_id[${i}]`, id);
    const operand = counter.addressOf(id - counter.id);
    return { kind: "flow_counter", parts: { step: "count", op: Op.count, operand, holds: [counter] } };
  });
}

function destinations(command: Command, table: DevxFlowTable, context: FlowContext): Plan[] {
  const { action, destination_list_size: size } = context;
  if ((action & ENTRY_FORWARD) === 0) {
    if (size !== 0) command.fail("bad_value", "destination_list_size", size, "the entry does not forward");
    return [];
  }
  if (size === 0 || size > MAX_MEMBERS) command.fail("bad_value", "destination_list_size", size, `1 to ${MAX_MEMBERS}`);
  const members = Array.from({ length: size }, (_, i) => destination(command, table, context, i));
  const [first] = members as [DestinationPlan];
  if (size === 1 && first.reformat === null) return [first];
  const record = arrayRecord(
    members.map(({ parts, reformat }) => ({ dest: { op: parts.op, operand: parts.operand ?? 0 }, reformat })),
  );
  const holds = members.flatMap(({ parts, reformat }) => [
    ...(parts.holds ?? []),
    ...(reformat === null ? [] : [reformat]),
  ]);
  return [{ kind: "dest_array", parts: { step: "end", op: Op.array, holds }, record }];
}

function destination(command: Command, table: DevxFlowTable, context: FlowContext, i: number): DestinationPlan {
  const at = entryAt(command, context, i);
  const { type, id, packet_reformat } = command.read(DESTINATION, at);
  const path = `destination[${i}]`;
  const extended = context.extended_destination !== 0;
  if (packet_reformat !== 0 && !extended) {
    command.fail("bad_value", `${path}.packet_reformat`, packet_reformat, "an extended destination names it");
  }
  let reformat: PacketReformatContext | null = null;
  if (packet_reformat !== 0) {
    const { packet_reformat_id } = command.read(EXTENDED_DESTINATION, at);
    reformat = reformatOf(command, table, packet_reformat_id);
    if (reformat.step !== "encap") command.fail("bad_actions", path, packet_reformat_id, "an encapsulation");
  }
  return { ...target(command, table, path, type, id), reformat };
}

function target(command: Command, table: DevxFlowTable, path: string, type: number, id: number): Plan {
  const { domainType } = table.setting.type;
  const inFdb = (kind: ActionKind, operand: number): Plan => {
    if (domainType !== "fdb") command.fail("bad_actions", `${path}.type`, type, "of the FDB alone");
    return { kind, parts: { step: "end", op: Op.vport, operand } };
  };
  switch (type) {
    case DESTINATION_VPORT: {
      const { vports } = command.context.device;
      if (id > vports && id !== VPORT_UPLINK) command.fail("bad_value", `${path}.id`, id, `0 to ${vports}, or 0xffff`);
      return inFdb("dest_vport", id);
    }
    case DESTINATION_UPLINK:
      return inFdb("dest_vport", VPORT_UPLINK);
    case DESTINATION_TABLE:
      return toTable(command, table, path, id);
    case DESTINATION_TIR: {
      if (domainType !== "nic_rx") command.fail("bad_actions", `${path}.type`, type, "of received frames alone");
      const tir = command.object<Tir>("tir", `${path}.id`, id);
      return { kind: "dest_devx_tir", parts: { step: "end", ...tir.target, holds: [tir] } };
    }
    default:
      return command.fail("unsupported", `${path}.type`, type, "a vport, a flow table, a TIR, the uplink");
  }
}

function toTable(command: Command, table: DevxFlowTable, path: string, id: number): Plan {
  const anchor = command.context.function.part(AnchorTables).at(id);
  if (anchor !== undefined) {
    if (anchor.domainType !== table.setting.type.domainType) command.fail("other_table", `${path}.id`, id);
    return { kind: "dest_root_table", parts: { step: "end", op: anchor.op, operand: anchor.operand, holds: [anchor] } };
  }
  const next = command.object<DevxFlowTable>("flow_table", `${path}.id`, id);
  const { ignore_flow_level } = command.read(SET_FLOW_TABLE_ENTRY);
  if (next.setting.type !== table.setting.type) command.fail("other_table", `${path}.id`, id);
  if (ignore_flow_level === 0 && next.setting.level <= table.setting.level) {
    command.fail("bad_actions", `${path}.id`, id, `its level, ${next.setting.level}, is not above that of the entry`);
  }
  const operand = next.classifier.table;
  return { kind: "dest_table", parts: { step: "end", op: Op.table, operand, holds: [next] } };
}

/** The offset of an entry in the list of destinations and counters. */
function entryAt(command: Command, { extended_destination }: FlowContext, i: number): number {
  const { size } = extended_destination === 0 ? DESTINATION : EXTENDED_DESTINATION;
  const at = SET_FLOW_TABLE_ENTRY.size + i * size;
  command.expect(at + size, OUTPUT.size);
  return at;
}

/** @throws ENOMEM no action was made */
function makeAll(device: DeviceBase, plans: readonly Plan[]): Action[] {
  const actions: Action[] = [];
  try {
    for (const { kind, parts, record } of plans) {
      const made = record === undefined ? parts : withRecord(device, parts, record);
      actions.push(new Action(device, kind, made));
    }
  } catch (error) {
    for (const action of actions) action.destroy();
    throw error;
  }
  return actions;
}

function withRecord(device: DeviceBase, parts: ActionParts, record: Uint8Array): ActionParts {
  const address = device.allocated(createRecord(device.core, record));
  return { ...parts, operand: address, records: [{ address, bytes: record.length }] };
}
