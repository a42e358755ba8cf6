/** The ASO objects of a scenario: initial data, changes, expected state. */
import {
  createAsoCommand,
  MLX5_OBJ_TYPE_CONN_TRACK_ASO,
  MLX5_OBJ_TYPE_FIRST_HIT_ASO,
  MLX5_OBJ_TYPE_FLOW_METER_ASO,
} from "../../mlx5dv/devx/commands.js";
import { ASO_DATA, type AsoKind, type AsoObject } from "../../model/action/asoObject.js";
import { connectionBytes, connectionFromBytes, type ConnectionFields } from "../../model/action/connection.js";
import type { Context } from "../../model/base/context.js";
import { PARAMETERS_SIZE } from "../../model/action/meterParameters.js";
import { madeBy } from "../deviceFlow/deviceCommands.js";
import { meterParameters } from "./meters.js";
import { at } from "../place.js";
import {
  ASO_KEYS,
  CONNECTION_STATES,
  LAST_INDEXES,
  type ScenarioAsoData,
  type ExpectedMeter,
  type ScenarioAsoObject,
  type ScenarioConnection,
} from "./definition.js";

type AsoKey = (typeof ASO_KEYS)[number];

const KINDS: Readonly<Record<AsoKey, { readonly kind: AsoKind; readonly type: number }>> = {
  first_hit: { kind: "first_hit", type: MLX5_OBJ_TYPE_FIRST_HIT_ASO },
  flow_meter: { kind: "flow_meter", type: MLX5_OBJ_TYPE_FLOW_METER_ASO },
  conn_track: { kind: "connection", type: MLX5_OBJ_TYPE_CONN_TRACK_ASO },
};

/** The kind of object that data describes. */
export function asoKey(data: { readonly [K in AsoKey]?: unknown }): AsoKey {
  return ASO_KEYS.find((key) => data[key] !== undefined) ?? "first_hit";
}

export function makeAsoObject(call: string, path: string, context: Context, object: ScenarioAsoObject): AsoObject {
  const key = asoKey(object);
  const data = asoData(call, path, object);
  const command = (): Uint8Array =>
    createAsoCommand(KINDS[key].type, { log_obj_range: object.log_obj_range ?? 0, data });
  return at(call, path, () => madeBy<AsoObject>(call, context, command(), object.name));
}

/** The 64 bytes of an object. @throws EINVAL values that do not fit their fields */
export function asoData(
  call: string,
  path: string,
  { first_hit, flow_meter, conn_track = {} }: ScenarioAsoData,
): Uint8Array {
  const data = new Uint8Array(ASO_DATA);
  if (first_hit !== undefined) {
    for (const flag of first_hit) data[flag >> 3] = (data[flag >> 3] ?? 0) | (0x80 >> (flag & 7));
    return data;
  }
  if (flow_meter !== undefined) {
    const block = meterParameters(flow_meter);
    data.set(block);
    data.set(block, PARAMETERS_SIZE);
    return data;
  }
  return connectionBytes(call, `${path}.conn_track`, inNumbers(conn_track));
}

/** A connection with the device's numbers for state and last kind. */
export function inNumbers({ state, last_index, ...rest }: ScenarioConnection): ConnectionFields {
  return {
    ...rest,
    ...(state === undefined ? {} : { state: CONNECTION_STATES.indexOf(state) }),
    ...(last_index === undefined ? {} : { last_index: LAST_INDEXES[last_index] }),
  };
}

/** The connections of a bulk, as objects. */
export function connectionAt(call: string, object: AsoObject, index: number): ScenarioConnection {
  const { state, last_index, ...rest } = connectionFromBytes(call, "data", object.read(index));
  const kind = Object.entries(LAST_INDEXES).find(([, number]) => number === last_index)?.[0] ?? "none";
  const named = CONNECTION_STATES[state];
  return { ...rest, ...(named === undefined ? {} : { state: named }), last_index: kind as keyof typeof LAST_INDEXES };
}

/** The buckets of a meter of a bulk, in units. */
export function tokensAt(object: AsoObject, meter: number): Required<ExpectedMeter> {
  const data = object.read(meter >> 1);
  const view = new DataView(data.buffer, (meter & 1) * PARAMETERS_SIZE);
  return { c_tokens: view.getUint32(12), e_tokens: view.getUint32(20) };
}

/** Whether a flag of a bulk is set. */
export function isSet(object: AsoObject, flag: number): boolean {
  return bitOf(object.read(Math.floor(flag / FLAGS)), flag % FLAGS);
}

/** The flags of a bulk that are set. */
export function flagsOf(object: AsoObject): number[] {
  return Array.from({ length: object.objects }, (_, index) => object.read(index)).flatMap((data, index) =>
    Array.from({ length: FLAGS }, (_, flag) => flag)
      .filter((flag) => bitOf(data, flag))
      .map((flag) => index * FLAGS + flag),
  );
}

/** Flags of an object; the first is the most significant bit. */
const FLAGS = 8 * ASO_DATA;

function bitOf(data: Uint8Array, flag: number): boolean {
  return ((data[flag >> 3] ?? 0) & (0x80 >> (flag & 7))) !== 0;
}
