/** General objects: the same commands serve all their types (docs/devx.md). */
import type { Command } from "./command.js";
import { createFlowMeter, FlowMeter, modifyFlowMeter, queryFlowMeter } from "./flowMeter.js";
import { GENERAL_OBJECT, OUTPUT } from "./layouts.js";
import type { DevxObject } from "../base/devxObject.js";
import { CONN_TRACK_ASO_TYPE, FIRST_HIT_ASO_TYPE, FLOW_METER_ASO_TYPE, FLOW_METER_TYPE } from "./opcodes.js";
import { asoObjects } from "./asoCommands.js";
import type { ObjectType } from "./objectType.js";

const FLOW_METERS: ObjectType<FlowMeter> = {
  numberedAs: "flow_meter",
  is: (object) => object instanceof FlowMeter,
  create: createFlowMeter,
  query: queryFlowMeter,
  modify: modifyFlowMeter,
};

// `is` checks the class of an object.
const TYPES = new Map<number, unknown>([
  [FLOW_METER_TYPE, FLOW_METERS],
  [FLOW_METER_ASO_TYPE, asoObjects("flow_meter")],
  [FIRST_HIT_ASO_TYPE, asoObjects("first_hit")],
  [CONN_TRACK_ASO_TYPE, asoObjects("connection")],
]) as ReadonlyMap<number, ObjectType<DevxObject>>;

function typeOf(command: Command): ObjectType<DevxObject> {
  const { obj_type } = command.read(GENERAL_OBJECT);
  return TYPES.get(obj_type) ?? command.fail("unknown_object_type", "obj_type", `0x${obj_type.toString(16)}`);
}

export function createGeneralObject(command: Command): DevxObject {
  const made = typeOf(command).create(command);
  command.succeed(OUTPUT, { id: made.id });
  return made;
}

/** The object that a command names, by its number or by one of its consecutive numbers. */
export function namedGeneralObject(command: Command): DevxObject {
  const { numberedAs, is } = typeOf(command);
  const { obj_id } = command.read(GENERAL_OBJECT);
  const object = command.object<DevxObject>(numberedAs, "obj_id", obj_id);
  return is(object) ? object : command.fail("unknown_object", "obj_id", obj_id, `it is ${object.name}`);
}

export function queryGeneralObject(command: Command, object: DevxObject): void {
  typeOf(command).query(command, object);
}

export function modifyGeneralObject(command: Command, object: DevxObject): void {
  typeOf(command).modify(command, object);
}
