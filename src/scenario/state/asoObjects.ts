/** The data of ASO objects of a scenario: initial, changed, expected. */
import { ASO_DATA, type AsoObject } from "../../model/action/asoObject.js";
import { connectionBytes, connectionFromBytes, type ConnectionFields } from "../../model/action/connection.js";
import { PARAMETERS_SIZE } from "../../model/action/meterParameters.js";
import { meterParameters, writtenMeter } from "./meters.js";
import {
  ASO_KEYS,
  CONNECTION_STATES,
  LAST_INDEXES,
  type ScenarioAsoData,
  type ScenarioAsoMeter,
  type ExpectedMeter,
  type ScenarioConnection,
} from "./definition.js";

export type AsoKey = (typeof ASO_KEYS)[number];

/** The kind of object that data describes. */
export function asoKey(data: { readonly [K in AsoKey]?: unknown }): AsoKey {
  return ASO_KEYS.find((key) => data[key] !== undefined) ?? "first_hit";
}

/** The 64 bytes of an object. @throws EINVAL values that do not fit their fields */
export function asoData(path: string, { first_hit, flow_meter, conn_track = {} }: ScenarioAsoData): Uint8Array {
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
  return connectionBytes(`${path}.conn_track`, inNumbers(conn_track));
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
export function connectionAt(object: AsoObject, index: number): ScenarioConnection {
  const { state, last_index, ...rest } = connectionFromBytes("data", object.read(index));
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
  return Array.from({ length: object.objects }, (_, index) => index).flatMap((index) =>
    flagsAt(object, index).map((flag) => index * FLAGS + flag),
  );
}

/** The flags of an object of a bulk that are set, from 0 in each. */
export function flagsAt(object: AsoObject, index: number): number[] {
  const data = object.read(index);
  return Array.from({ length: FLAGS }, (_, flag) => flag).filter((flag) => bitOf(data, flag));
}

/** The parameters of the two meters of an object of a bulk. */
export function metersAt(object: AsoObject, index: number): [ScenarioAsoMeter, ScenarioAsoMeter] {
  const data = object.read(index);
  return [writtenMeter(data), writtenMeter(data.subarray(PARAMETERS_SIZE))];
}

/** Flags of an object; the first is the most significant bit. */
const FLAGS = 8 * ASO_DATA;

function bitOf(data: Uint8Array, flag: number): boolean {
  return ((data[flag >> 3] ?? 0) & (0x80 >> (flag & 7))) !== 0;
}
