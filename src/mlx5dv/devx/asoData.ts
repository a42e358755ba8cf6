/** The 64 bytes of an ASO object by field (docs/state.md): connections, flow meters, first-hit flags. */
import { inCall, refuse } from "../../errors.js";
import { ASO_DATA } from "../../model/action/asoObject.js";
import * as connections from "../../model/action/connection.js";
import { METER_BLOCK, METER_TIME_AT } from "../../model/devx/layouts.js";
import { checkBytes, wrongType } from "../../base/checks.js";
import { CommandBytes, outputFields, type FieldValues } from "./commandBytes.js";

export type { AsoKind, AsoObject } from "../../model/action/asoObject.js";
export type { Connection, ConnectionFields, ConnectionShared, ConnectionSide } from "../../model/action/connection.js";

/**
 * The 64 bytes of a connection (CONN_TRACK_OFFLOAD; docs/conntrack.md).
 * @param fields by name; those left out are 0
 * @throws EINVAL if a value does not fit its bits
 */
export function connectionBytes(fields: connections.ConnectionFields): Uint8Array {
  return inCall("connectionBytes", () => connections.connectionBytes("fields", fields));
}

/**
 * The fields of a connection from its 64 bytes.
 * @throws EINVAL if there are not 64 bytes
 */
export function connectionFromBytes(bytes: Uint8Array): connections.Connection {
  return inCall("connectionFromBytes", () => connections.connectionFromBytes("bytes", bytes));
}

/**
 * Parameters of a flow meter: sizes are mantissa * 2^exponent bytes, rates mantissa / 2^exponent bytes a nanosecond (in
 * `meter_mode` 3 of 128 a packet). `start_color` is 0 red, 1 yellow, 2 green, 3 undefined. Flags are 0 or 1.
 */
export type FlowMeterParameters = FieldValues<Exclude<keyof typeof METER_BLOCK.fields, "c_tokens" | "e_tokens">>;

/** A meter as it stands: its parameters, what its two buckets hold (at most 2^32 - 1 is said), and the time, in nanoseconds, of that. */
export interface FlowMeterState extends Readonly<Record<keyof typeof METER_BLOCK.fields, number>> {
  readonly timestamp: bigint;
}

/**
 * The parameters of flow meters, 32 bytes each: one for `mlx5dv_dr_action_create_flow_meter`, two
 * for an ASO object. Buckets are full.
 * @throws EINVAL if a value does not fit its bits
 */
export function flowMeterBytes(...meters: readonly FlowMeterParameters[]): Uint8Array {
  return inCall("flowMeterBytes", () => {
    const written = new CommandBytes(meters.length * METER_BLOCK.size, 0);
    meters.forEach((fields, i) => written.write(METER_BLOCK, fields, i * METER_BLOCK.size));
    return written.bytes;
  });
}

/**
 * The state of flow meters from their bytes.
 * @param bytes 32 for each meter
 * @throws EINVAL if the length is no multiple of 32
 */
export function flowMetersFromBytes(bytes: Uint8Array): FlowMeterState[] {
  return inCall("flowMetersFromBytes", () => {
    const { size } = METER_BLOCK;
    const view = viewOf(bytes, (length) => length % size === 0, `${size} bytes a meter`);
    return Array.from({ length: bytes.length / size }, (_, i) => {
      const timestamp = view.getBigUint64(i * size + METER_TIME_AT);
      return { ...outputFields(bytes, METER_BLOCK, i * size), timestamp };
    });
  });
}

const FLAGS = ASO_DATA * 8;

/**
 * The 64 bytes of 512 first-hit flags.
 * @param flags numbers of the flags to set, 0 to 511
 * @throws EINVAL if there is no such flag
 * @example
 * mlx5dv_devx_obj_create(context, createAsoCommand(MLX5_OBJ_TYPE_FIRST_HIT_ASO, { data: firstHitBytes([0, 5]) }), undefined, out, undefined);
 */
export function firstHitBytes(flags: Iterable<number>): Uint8Array {
  return inCall("firstHitBytes", () => {
    const bytes = new Uint8Array(ASO_DATA);
    const list: unknown = flags;
    if (typeof list !== "object" || list === null || !(Symbol.iterator in list)) wrongType("flags", "iterable", list);
    for (const flag of flags) {
      if (!Number.isInteger(flag) || flag < 0 || flag >= FLAGS) {
        const hint = `0 to ${FLAGS - 1}`;
        refuse({ code: "EINVAL", reason: "out_of_range", path: "flags", value: flag, hint });
      }
      bytes[flag >> 3] = (bytes[flag >> 3] ?? 0) | (0x80 >> (flag & 7));
    }
    return bytes;
  });
}

/**
 * The numbers of the first-hit flags that are set, in ascending order.
 * @param bytes 64
 * @throws EINVAL if there are not 64 bytes
 */
export function firstHitFromBytes(bytes: Uint8Array): number[] {
  return inCall("firstHitFromBytes", () => {
    const view = viewOf(bytes, (length) => length === ASO_DATA, `${ASO_DATA} bytes`);
    const isSet = (flag: number): boolean => (view.getUint8(flag >> 3) & (0x80 >> (flag & 7))) !== 0;
    return Array.from({ length: FLAGS }, (_, flag) => flag).filter(isSet);
  });
}

function viewOf(bytes: Uint8Array, fits: (length: number) => boolean, hint: string): DataView {
  checkBytes("bytes", bytes);
  if (!fits(bytes.length)) refuse({ code: "EINVAL", reason: "out_of_range", path: "bytes", value: bytes.length, hint });
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
