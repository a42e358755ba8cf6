/** Device commands of the cases: queries, changes, parameters of ASO objects. */
import * as dv from "../../../../src/mlx5dv/index.js";
import type { Outcome } from "../../../../src/index.js";
import { FRAME } from "./frames.js";
import { same, type Probe } from "./record.js";

/** Query output of an object, after the header of 16 bytes. */
export function asked(obj: dv.DevxObject, command: Uint8Array, outlen = dv.GENERAL_OBJECT_OUTPUT_SIZE): Uint8Array {
  const output = new Uint8Array(outlen);
  same(dv.mlx5dv_devx_obj_query(obj, command, undefined, output, undefined), 0, "returned");
  return output;
}

export function changes(obj: dv.DevxObject, command: Uint8Array): void {
  const output = new Uint8Array(16).fill(0xee);
  same(dv.mlx5dv_devx_obj_modify(obj, command, undefined, output, undefined), 0, "returned");
  same(dv.commandOutput(output).status, 0, "status");
}

/** Query output of a context. */
export function told(p: Probe, command: Uint8Array, outlen: number, vport = 0): Uint8Array {
  const output = new Uint8Array(outlen).fill(0xee);
  same(dv.mlx5dv_devx_general_cmd(p.context(vport), command, undefined, output, undefined), 0, "returned");
  return output;
}

export const creates =
  (p: Probe, command: Uint8Array) =>
  (output: Uint8Array): unknown =>
    dv.mlx5dv_devx_obj_create(p.context(), command, undefined, output, undefined);

export const general =
  (p: Probe, command: Uint8Array) =>
  (output: Uint8Array): unknown =>
    dv.mlx5dv_devx_general_cmd(p.context(), command, undefined, output, undefined);

/**
 * Types of ASO objects: an action on the first unit, the data of two objects, and the register
 * value that frames get from each.
 */
export const ASO = {
  "flow meter ASO 0x24": {
    type: dv.MLX5_OBJ_TYPE_FLOW_METER_ASO,
    flags: dv.MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_GREEN,
    // One packet, or none: an invalid meter only has a start colour.
    data: dv.flowMeterBytes({ valid: 1, start_color: 2, meter_mode: 3, cbs_mantissa: 128 }, {}),
    other: dv.flowMeterBytes({}, {}),
    finds: [2, 0],
    after: [2, 2],
  },
  "first hit 0x25": {
    type: dv.MLX5_OBJ_TYPE_FIRST_HIT_ASO,
    flags: dv.MLX5DV_DR_ACTION_FLAGS_ASO_FIRST_HIT_SET,
    data: dv.firstHitBytes([]),
    other: dv.firstHitBytes([0]),
    finds: [0, 1],
    after: [1, 1],
  },
  "connection tracking 0x31": {
    type: dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO,
    flags: dv.MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_INITIATOR,
    data: dv.connectionBytes({}),
    other: dv.connectionBytes({ valid: 1, state: 1, freeze_track: 1 }),
    // Only a SYN starts a connection; a frozen connection traps.
    finds: [0x40, 0x40],
    after: [0x80, 0x80],
  },
} as const;

/** Frames run the action of an object, which writes its result into C1. */
export function runs(p: Probe, object: dv.AsoObject, flags: number): () => Outcome {
  p.rule(p.entry(p.rx), [dv.mlx5dv_dr_action_create_aso(p.rx, object, 0, flags, 1), p.toQueue("a")]);
  return () => p.device.receive(1, FRAME, { time: 1n });
}
