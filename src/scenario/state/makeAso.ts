/** Makes the ASO objects of a scenario. */
import {
  createAsoCommand,
  MLX5_OBJ_TYPE_CONN_TRACK_ASO,
  MLX5_OBJ_TYPE_FIRST_HIT_ASO,
  MLX5_OBJ_TYPE_FLOW_METER_ASO,
} from "../../mlx5dv/devx/commands.js";
import type { AsoKind, AsoObject } from "../../model/action/asoObject.js";
import type { Context } from "../../model/base/context.js";
import { madeBy } from "../deviceFlow/deviceCommands.js";
import { at } from "../place.js";
import { asoData, asoKey, type AsoKey } from "./asoObjects.js";
import type { ScenarioAsoObject } from "./definition.js";

const KINDS: Readonly<Record<AsoKey, { readonly kind: AsoKind; readonly type: number }>> = {
  first_hit: { kind: "first_hit", type: MLX5_OBJ_TYPE_FIRST_HIT_ASO },
  flow_meter: { kind: "flow_meter", type: MLX5_OBJ_TYPE_FLOW_METER_ASO },
  conn_track: { kind: "connection", type: MLX5_OBJ_TYPE_CONN_TRACK_ASO },
};

export function makeAsoObject(path: string, context: Context, object: ScenarioAsoObject): AsoObject {
  const key = asoKey(object);
  const data = asoData(path, object);
  const command = (): Uint8Array =>
    createAsoCommand(KINDS[key].type, { log_obj_range: object.log_obj_range ?? 0, data });
  return at(path, () => madeBy<AsoObject>(context, command(), object.name));
}
