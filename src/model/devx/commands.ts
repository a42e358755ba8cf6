/**
 * The device commands by opcode: which call carries a command, its lengths, and the function that
 * runs it.
 */
import type { Context } from "../base/context.js";
import { queryEswVportContext, queryHcaCap, queryHcaVportContext } from "./capabilities.js";
import type { Command } from "./command.js";
import { allocFlowCounter, queriedCounter, queryFlowCounter } from "./counterCommands.js";
import {
  destroyedEntry,
  destroyedGeneralObject,
  destroyedGroup,
  destroyedOf,
  destroyedTable,
} from "./destroyCommands.js";
import { modifyFlowTableEntry, namedEntry, setFlowTableEntry } from "./flowEntry.js";
import { createFlowGroup, createFlowTable, queriedTable, queryFlowTable } from "./flowTable.js";
import { createGeneralObject, modifyGeneralObject, namedGeneralObject, queryGeneralObject } from "./generalObjects.js";
import { allocModifyHeader, allocPacketReformat } from "./headerObjects.js";
import * as layouts from "./layouts.js";
import type { DevxObject } from "../base/devxObject.js";
import * as opcodes from "./opcodes.js";
import { MODIFY_RQT, NUMBERED } from "./queue/layouts.js";
import { modifyRqt, queryRqt } from "./queue/queueCommands.js";
import { createRqt, createTir } from "./tirCommands.js";
import type { Rqt } from "../queuePair/rqt.js";

/** The functions of a command; `of` finds the object that a query or a change names. */
interface DeviceCommand<T extends DevxObject> {
  readonly name: string;
  /** Minimum lengths of input and output, in bytes. */
  readonly inlen: number;
  readonly outlen: number;
  readonly create?: (command: Command) => T;
  readonly of?: (command: Command) => T;
  readonly query?: (command: Command, object: T) => void;
  readonly modify?: (command: Command, object: T) => void;
  /** The object that it destroys. */
  readonly destroys?: (command: Command) => T;
  /** Runs a command that names no object. */
  readonly run?: (command: Command) => void;
}

function namedRqt(command: Command): Rqt {
  return command.object("rqt", "rqtn", command.read(NUMBERED).id);
}

const OUTLEN = layouts.OUTPUT.size;

function command<T extends DevxObject>(
  opcode: number,
  name: string,
  { size }: layouts.Layout,
  does: Omit<DeviceCommand<T>, "name" | "inlen" | "outlen">,
): readonly [number, DeviceCommand<DevxObject>] {
  // `query` and `modify` take the object that `of` finds.
  return [opcode, { name, inlen: size, outlen: OUTLEN, ...does } as unknown as DeviceCommand<DevxObject>];
}

export const COMMANDS: ReadonlyMap<number, DeviceCommand<DevxObject>> = new Map([
  command(opcodes.QUERY_HCA_CAP_OPCODE, "QUERY_HCA_CAP", layouts.QUERY_HCA_CAP, { run: queryHcaCap }),
  command(opcodes.QUERY_ESW_VPORT_CONTEXT_OPCODE, "QUERY_ESW_VPORT_CONTEXT", layouts.QUERY_VPORT_CONTEXT, {
    run: queryEswVportContext,
  }),
  command(opcodes.QUERY_HCA_VPORT_CONTEXT_OPCODE, "QUERY_HCA_VPORT_CONTEXT", layouts.QUERY_VPORT_CONTEXT, {
    run: queryHcaVportContext,
  }),
  command(opcodes.CREATE_TIR_OPCODE, "CREATE_TIR", layouts.CREATE_TIR, { create: createTir }),
  command(opcodes.QUERY_RQT_OPCODE, "QUERY_RQT", NUMBERED, { of: namedRqt, query: queryRqt }),
  command(opcodes.MODIFY_RQT_OPCODE, "MODIFY_RQT", MODIFY_RQT, { of: namedRqt, modify: modifyRqt }),
  command(opcodes.CREATE_RQT_OPCODE, "CREATE_RQT", layouts.CREATE_RQT, { create: createRqt }),
  command(opcodes.CREATE_FLOW_TABLE_OPCODE, "CREATE_FLOW_TABLE", layouts.CREATE_FLOW_TABLE, {
    create: createFlowTable,
  }),
  command(opcodes.QUERY_FLOW_TABLE_OPCODE, "QUERY_FLOW_TABLE", layouts.QUERY_FLOW_TABLE, {
    of: queriedTable,
    query: queryFlowTable,
  }),
  command(opcodes.CREATE_FLOW_GROUP_OPCODE, "CREATE_FLOW_GROUP", layouts.CREATE_FLOW_GROUP, {
    create: createFlowGroup,
  }),
  command(opcodes.SET_FLOW_TABLE_ENTRY_OPCODE, "SET_FLOW_TABLE_ENTRY", layouts.SET_FLOW_TABLE_ENTRY, {
    create: setFlowTableEntry,
    of: namedEntry,
    modify: modifyFlowTableEntry,
  }),
  command(opcodes.ALLOC_FLOW_COUNTER_OPCODE, "ALLOC_FLOW_COUNTER", layouts.ALLOC_FLOW_COUNTER, {
    create: allocFlowCounter,
  }),
  command(opcodes.QUERY_FLOW_COUNTER_OPCODE, "QUERY_FLOW_COUNTER", layouts.QUERY_FLOW_COUNTER, {
    of: queriedCounter,
    query: queryFlowCounter,
  }),
  command(opcodes.ALLOC_PACKET_REFORMAT_OPCODE, "ALLOC_PACKET_REFORMAT_CONTEXT", layouts.ALLOC_PACKET_REFORMAT, {
    create: allocPacketReformat,
  }),
  command(opcodes.ALLOC_MODIFY_HEADER_OPCODE, "ALLOC_MODIFY_HEADER_CONTEXT", layouts.ALLOC_MODIFY_HEADER, {
    create: allocModifyHeader,
  }),
  command(opcodes.CREATE_GENERAL_OBJECT_OPCODE, "CREATE_GENERAL_OBJECT", layouts.GENERAL_OBJECT, {
    create: createGeneralObject,
  }),
  command(opcodes.MODIFY_GENERAL_OBJECT_OPCODE, "MODIFY_GENERAL_OBJECT", layouts.GENERAL_OBJECT, {
    of: namedGeneralObject,
    modify: modifyGeneralObject,
  }),
  command(opcodes.QUERY_GENERAL_OBJECT_OPCODE, "QUERY_GENERAL_OBJECT", layouts.GENERAL_OBJECT, {
    of: namedGeneralObject,
    query: queryGeneralObject,
  }),
  command(opcodes.DESTROY_TIR_OPCODE, "DESTROY_TIR", layouts.DESTROY_24, {
    destroys: destroyedOf("tir", layouts.DESTROY_24),
  }),
  command(opcodes.DESTROY_RQT_OPCODE, "DESTROY_RQT", layouts.DESTROY_24, {
    destroys: destroyedOf("rqt", layouts.DESTROY_24),
  }),
  command(opcodes.DESTROY_FLOW_TABLE_OPCODE, "DESTROY_FLOW_TABLE", layouts.DESTROY_FLOW_TABLE, {
    destroys: destroyedTable,
  }),
  command(opcodes.DESTROY_FLOW_GROUP_OPCODE, "DESTROY_FLOW_GROUP", layouts.DESTROY_FLOW_GROUP, {
    destroys: destroyedGroup,
  }),
  command(opcodes.DELETE_FLOW_TABLE_ENTRY_OPCODE, "DELETE_FLOW_TABLE_ENTRY", layouts.DELETE_FLOW_TABLE_ENTRY, {
    destroys: destroyedEntry,
  }),
  command(opcodes.DEALLOC_FLOW_COUNTER_OPCODE, "DEALLOC_FLOW_COUNTER", layouts.DEALLOC, {
    destroys: destroyedOf("flow_counter", layouts.DEALLOC),
  }),
  command(opcodes.DEALLOC_PACKET_REFORMAT_OPCODE, "DEALLOC_PACKET_REFORMAT_CONTEXT", layouts.DEALLOC, {
    destroys: destroyedOf("packet_reformat", layouts.DEALLOC),
  }),
  command(opcodes.DEALLOC_MODIFY_HEADER_OPCODE, "DEALLOC_MODIFY_HEADER_CONTEXT", layouts.DEALLOC, {
    destroys: destroyedOf("modify_header", layouts.DEALLOC),
  }),
  command(opcodes.DESTROY_GENERAL_OBJECT_OPCODE, "DESTROY_GENERAL_OBJECT", layouts.GENERAL_OBJECT, {
    destroys: destroyedGeneralObject,
  }),
  // MODEL: a command is complete when its call returns, so there is nothing to wait for.
  command(opcodes.SYNC_STEERING_OPCODE, "SYNC_STEERING", layouts.SYNC_STEERING, { run: (one) => one.succeed() }),
]);

function known(command: Command): DeviceCommand<DevxObject> {
  const found = COMMANDS.get(command.opcode);
  return found ?? command.fail("unknown_opcode", "opcode", `0x${command.opcode.toString(16)}`);
}

function wrongCall(command: Command, { name }: DeviceCommand<DevxObject>): never {
  return command.fail("wrong_call", "opcode", name);
}

/** @throws EREMOTEIO */
export function createObject(command: Command): DevxObject {
  const kind = known(command);
  if (kind.create === undefined) return wrongCall(command, kind);
  command.expect(kind.inlen, kind.outlen);
  const made = kind.create(command);
  command.context.numbered.add(made);
  return made;
}

/** @throws EREMOTEIO */
export function askObject(command: Command, object: DevxObject, does: "query" | "modify"): void {
  const kind = known(command);
  const run = kind[does];
  if (run === undefined || kind.of === undefined) return wrongCall(command, kind);
  command.expect(kind.inlen, kind.outlen);
  const named = kind.of(command);
  if (named !== object) command.fail("other_object", "obj", object, `the command names ${named.name}`);
  run(command, object);
}

/**
 * Runs a command that names its object in its input, or names none. SPEC: all queries and destroys
 * may be sent in this way. @throws EREMOTEIO
 */
export function runCommand(command: Command): void {
  const kind = known(command);
  const { run, query, of, destroys } = kind;
  if (run === undefined && query === undefined && destroys === undefined) return wrongCall(command, kind);
  command.expect(kind.inlen, kind.outlen);
  run?.(command);
  if (query !== undefined && of !== undefined) query(command, of(command));
  if (destroys === undefined) return;
  const named = destroys(command);
  command.carry(() => destroyObject(named));
  command.succeed();
}

/** @throws EBUSY while something uses it */
export function destroyObject(object: DevxObject): void {
  const { numbered }: Context = object.context;
  object.destroy();
  numbered.remove(object);
}
