/** ASO objects, read and written by field, without offsets. */
import { beforeEach, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Context } from "../../../src/model/base/context.js";
import { ACK, segmentFrame, SYN } from "../../assembly/act/support/connections.js";
import { parameterBytes } from "../../oracle/act/meter.js";
import { created } from "../support/devx.js";
import { ipv4Frame, openBench, refused, type Bench } from "../support/directRules.js";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});

const made = (context: Context, type: number, fields: dv.AsoFields = {}): dv.AsoObject =>
  created(context, dv.createAsoCommand(type, fields));

/** Every frame runs the action, which writes its result into the register. */
function always(object: dv.AsoObject, offset: number, flags: number): (frame: Uint8Array, time: bigint) => number {
  const { domain, root, device } = bench;
  const table = dv.mlx5dv_dr_table_create(domain, 1);
  const rule = (at: typeof root, action: Parameters<typeof dv.mlx5dv_dr_rule_create>[3][number]): unknown =>
    dv.mlx5dv_dr_rule_create(dv.mlx5dv_dr_matcher_create(at, 0, 0, null), null, 1, [action]);
  rule(root, dv.mlx5dv_dr_action_create_dest_table(table));
  rule(table, dv.mlx5dv_dr_action_create_aso(domain, object, offset, flags, 3));
  return (frame, time) => device.receive(1, frame, { time }).registers["C3"] as number;
}

test("a connection is followed by name, and set by name", () => {
  const object = made(bench.context, dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO, { log_obj_range: 1 });
  const track = always(object, 1, dv.MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_INITIATOR);
  expect(track(segmentFrame({ flags: SYN, seq: 100, ack: 0 }), 0n)).toBe(2);
  const now = dv.connectionFromBytes(object.read(1));
  expect(now).toMatchObject({ state: 0, last_dir: 1, last_index: 1, original: { sent_end: 101 } });
  expect(object.read(0)).toEqual(new Uint8Array(64));
  const freezing = dv.connectionBytes({ ...now, valid: 1, state: 1, freeze_track: 1 });
  object.write(1, freezing);
  expect(object.read(1)).toEqual(freezing);
  expect(track(segmentFrame({ flags: ACK, seq: 101, ack: 1 }), 1n)).toBe(0x80);
});

test("a meter is made, read and refilled by name", () => {
  const meter = { valid: 1, start_color: 2, meter_mode: 3, cbs_mantissa: 3, cbs_exponent: 7, cir_mantissa: 1 };
  const slow = { ...meter, cir_exponent: 20, cbs_exponent: 8 };
  const type = dv.MLX5_OBJ_TYPE_FLOW_METER_ASO;
  const object = made(bench.context, type, { data: dv.flowMeterBytes(meter, slow) });
  const colour = always(object, 1, dv.MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_GREEN);
  const second = (): dv.FlowMeterState => dv.flowMetersFromBytes(object.read(0))[1] as dv.FlowMeterState;
  expect(second()).toMatchObject({ ...slow, c_tokens: 768, e_tokens: 0, bucket_overflow: 0 });
  // A packet costs 128; one unit is added every 2^20 nanoseconds.
  expect([0, 1, 2, 3, 4, 5, 6].map(() => colour(ipv4Frame(), 5n << 20n))).toEqual([2, 2, 2, 2, 2, 2, 0]);
  expect(second()).toMatchObject({ ...slow, c_tokens: 0, timestamp: 5n << 20n });
  expect(colour(ipv4Frame(), 200n << 20n)).toBe(2);
  expect(second()).toMatchObject({ c_tokens: 195 - 128, timestamp: 200n << 20n });
  expect(dv.flowMetersFromBytes(object.read(0))[0]).toMatchObject({ ...meter, c_tokens: 384 });
  object.write(0, dv.flowMeterBytes(meter, { ...meter, cbs_mantissa: 1 }));
  expect(second().c_tokens).toBe(128);
});

test("meters have the bytes of the device", () => {
  const scaled = (mantissa: number, exponent: number) => ({ mantissa, exponent });
  const flags = { valid: true, overflow: true, start: 3, both: false, mode: 1 } as const;
  const sizes = { cbs: scaled(200, 31), cir: scaled(1, 2), ebs: scaled(255, 3), eir: scaled(4, 5) };
  const fields = {
    valid: 1,
    bucket_overflow: 1,
    start_color: 3,
    both_buckets_on_green: 0,
    meter_mode: 1,
    cbs_mantissa: 200,
    cbs_exponent: 31,
    cir_mantissa: 1,
    cir_exponent: 2,
    ebs_mantissa: 255,
    ebs_exponent: 3,
    eir_mantissa: 4,
    eir_exponent: 5,
  };
  const bytes = parameterBytes({ ...flags, ...sizes });
  expect(dv.flowMeterBytes(fields)).toEqual(bytes);
  const none = { c_tokens: 0, e_tokens: 0, timestamp: 0n };
  expect(dv.flowMetersFromBytes(bytes)).toEqual([{ ...fields, ...none }]);
  expect(dv.flowMeterBytes({ both_buckets_on_green: 1 })[0]).toBe(8);
});

test("first-hit flags are read and set by number", () => {
  const type = dv.MLX5_OBJ_TYPE_FIRST_HIT_ASO;
  const object = made(bench.context, type, { log_obj_range: 1, data: dv.firstHitBytes([0, 511]) });
  const hit = always(object, 512 + 9, dv.MLX5DV_DR_ACTION_FLAGS_ASO_FIRST_HIT_SET);
  expect([hit(ipv4Frame(), 0n), hit(ipv4Frame(), 0n)]).toEqual([0, 1]);
  expect([0, 1].map((n) => dv.firstHitFromBytes(object.read(n)))).toEqual([
    [0, 511],
    [0, 9, 511],
  ]);
  object.write(1, dv.firstHitBytes([]));
  expect(hit(ipv4Frame(), 0n)).toBe(0);
  const bytes = dv.firstHitBytes([0, 8, 15]);
  expect([...bytes.subarray(0, 3)]).toEqual([0x80, 0x81, 0]);
});

test("read and write are those of one object of a living bulk", () => {
  const object = made(bench.context, dv.MLX5_OBJ_TYPE_FLOW_METER_ASO, { log_obj_range: 2 });
  const code = (run: () => unknown): string | undefined => refused(run)?.reason;
  for (const wrong of [4, -1, 0.5]) {
    expect(code(() => object.read(wrong))).toBe("out_of_range");
    expect(code(() => object.write(wrong, new Uint8Array(64)))).toBe("out_of_range");
  }
  expect(code(() => object.write(3, new Uint8Array(65)))).toBe("out_of_range");
  expect(() => object.write(3, [1] as never)).toThrow(TypeError);
  object.write(3, dv.flowMeterBytes({ valid: 1, cbs_mantissa: 1 }));
  const second = dv.flowMetersFromBytes(object.read(3))[1];
  expect(second).toMatchObject({ valid: 0, cbs_mantissa: 0 });
  dv.mlx5dv_devx_obj_destroy(object);
  expect(code(() => object.read(0))).toBe("object_destroyed");
  expect(code(() => object.write(0, new Uint8Array(64)))).toBe("object_destroyed");
});

test("what bytes and fields are refused for", () => {
  const code = (run: () => unknown): string | undefined => refused(run)?.code;
  expect(code(() => dv.flowMeterBytes({ cbs_mantissa: 256 }))).toBe("EINVAL");
  expect(code(() => dv.flowMetersFromBytes(new Uint8Array(40)))).toBe("EINVAL");
  expect(code(() => dv.firstHitBytes([512]))).toBe("EINVAL");
  expect(code(() => dv.firstHitBytes([-1]))).toBe("EINVAL");
  expect(code(() => dv.firstHitFromBytes(new Uint8Array(32)))).toBe("EINVAL");
  expect(code(() => dv.connectionBytes({ state: 8 }))).toBe("EINVAL");
  expect(code(() => dv.connectionFromBytes(new Uint8Array(63)))).toBe("EINVAL");
  for (const wrong of [dv.flowMetersFromBytes, dv.firstHitFromBytes, dv.connectionFromBytes]) {
    expect(() => wrong("x" as never)).toThrow(TypeError);
  }
});
