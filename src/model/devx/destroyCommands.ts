/** The objects that destroy commands name, by the numbers from their creation. */
import type { Command } from "./command.js";
import { tableOf, type DevxFlowGroup, type DevxFlowTable } from "./flowTable.js";
import { namedGeneralObject } from "./generalObjects.js";
import {
  DELETE_FLOW_TABLE_ENTRY,
  DESTROY_FLOW_GROUP,
  DESTROY_FLOW_TABLE,
  GENERAL_OBJECT,
  type Layout,
} from "./layouts.js";
import type { NumberedKind } from "../base/numbered.js";
import type { DevxObject } from "../base/devxObject.js";

/** The object of a kind with the number in `id`. */
export function destroyedOf(kind: NumberedKind, layout: Layout<"id">): (command: Command) => DevxObject {
  return (command) => {
    const { id } = command.read(layout);
    return whole(command, "id", command.object<DevxObject>(kind, "id", id), id);
  };
}

export function destroyedTable(command: Command): DevxFlowTable {
  const { table_type, table_id } = namedTable(command, DESTROY_FLOW_TABLE);
  return tableOf(command, table_type, table_id);
}

export function destroyedGroup(command: Command): DevxFlowGroup {
  const { table_type, table_id, group_id } = namedTable(command, DESTROY_FLOW_GROUP);
  const table = tableOf(command, table_type, table_id);
  const group = command.object<DevxFlowGroup>("flow_group", "group_id", group_id);
  return group.table === table
    ? group
    : command.fail("other_object", "group_id", group_id, `it is of ${group.table.name}`);
}

export function destroyedEntry(command: Command): DevxObject {
  const { table_type, table_id, flow_index } = namedTable(command, DELETE_FLOW_TABLE_ENTRY);
  const { entries } = tableOf(command, table_type, table_id);
  return entries.get(flow_index) ?? command.fail("unknown_object", "flow_index", flow_index);
}

export function destroyedGeneralObject(command: Command): DevxObject {
  const { obj_id } = command.read(GENERAL_OBJECT);
  return whole(command, "obj_id", namedGeneralObject(command), obj_id);
}

function namedTable<F extends string>(command: Command, layout: Layout<F | "other_vport">): Record<F, number> {
  const fields = command.read(layout);
  if (fields.other_vport !== 0) command.fail("unsupported", "other_vport", fields.other_vport);
  return fields;
}

/** A bulk is destroyed whole, by the number of its first object. */
function whole(command: Command, path: string, object: DevxObject, id: number): DevxObject {
  return object.id === id ? object : command.fail("unknown_object", path, id, `it is one of ${object.name}`);
}
