/** ASO objects by device commands (docs/devx.md): first-hit flags, meters, connections. */
import { ASO_DATA, AsoObject, type AsoKind } from "../action/asoObject.js";
import type { Command } from "./command.js";
import type { ObjectType } from "./objectType.js";
import { ASO_BODY, ASO_DATA_AT, GENERAL_OBJECT, OUTPUT } from "./layouts.js";

/** The commands for objects of one kind. MODEL: the access PD is ignored, and reads as 0. */
export function asoObjects(kind: AsoKind): ObjectType<AsoObject> {
  return {
    numberedAs: "aso",
    is: (object) => object instanceof AsoObject && object.kind === kind,
    create: (command) => createAso(command, kind),
    query: queryAso,
    modify: modifyAso,
  };
}

function createAso(command: Command, kind: AsoKind): AsoObject {
  const { context } = command;
  command.expect(GENERAL_OBJECT.size + ASO_BODY.size, OUTPUT.size);
  if (!context.device.profile.rules.definers)
    command.fail("unsupported", "obj_type", kind, "of ConnectX-6 Dx and newer");
  const { log_obj_range } = command.read(GENERAL_OBJECT);
  const data = dataOf(command);
  return command.carry(() => AsoObject.create(context, kind, log_obj_range, data));
}

function queryAso(command: Command, object: AsoObject): void {
  const at = OUTPUT.size + ASO_DATA_AT;
  command.expect(GENERAL_OBJECT.size, OUTPUT.size + ASO_BODY.size);
  const { obj_id } = command.read(GENERAL_OBJECT);
  command.succeed(OUTPUT, { id: obj_id });
  object.read(obj_id - object.id).forEach((byte, i) => command.out.setUint8(at + i, byte));
}

/**
 * MODEL: a device changes an ASO object through work requests. Here a command sets it as if it had
 * just been made with the data.
 */
function modifyAso(command: Command, object: AsoObject): void {
  command.expect(GENERAL_OBJECT.size + ASO_BODY.size, OUTPUT.size);
  const { obj_id } = command.read(GENERAL_OBJECT);
  object.write(obj_id - object.id, dataOf(command));
  command.succeed(OUTPUT, { id: obj_id });
}

function dataOf(command: Command): Uint8Array {
  return command.bytes(GENERAL_OBJECT.size + ASO_DATA_AT, ASO_DATA);
}
