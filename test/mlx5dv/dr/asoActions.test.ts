/** Single stateful actions, in cases that random devices rarely or never reach. */
import { beforeEach, describe, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import { AsoObject, type AsoKind } from "../../../src/model/action/asoObject.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Table } from "../../../src/model/table/domain.js";
import { type MeterParameters, parameterBytes } from "../../oracle/act/meter.js";
import { ipv4Frame, openBench, refused, type Bench } from "../support/directRules.js";
import { ruleFor } from "../support/switchBench.js";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});

const [RED, YELLOW, GREEN] = [0, 1, 2];
const NOTHING = { mantissa: 0, exponent: 0 };
const parameters = (own: Partial<MeterParameters> = {}): Uint8Array =>
  parameterBytes({
    valid: true,
    overflow: false,
    start: GREEN,
    both: false,
    mode: 1,
    cbs: { mantissa: 64, exponent: 0 },
    cir: NOTHING,
    ebs: NOTHING,
    eir: NOTHING,
    ...own,
  });

const table = (level: number): Table => dv.mlx5dv_dr_table_create(bench.domain, level);
const toQueue = (): Action => dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queue);
const object = (kind: AsoKind, log = 0, data = new Uint8Array(64)): AsoObject =>
  AsoObject.create(bench.context, kind, log, data);

/** All frames are metered into register C2, then continue in a table where a queue accepts them. */
function meterAll(own: Partial<MeterParameters>, level = 2, active = 1): Action {
  const [here, next] = [table(1), table(level)];
  ruleFor(bench.root, {}, [dv.mlx5dv_dr_action_create_dest_table(here)]);
  const attr = { next_table: next, active, reg_c_index: 2, flow_meter_parameter: parameters(own) };
  const meter = dv.mlx5dv_dr_action_create_flow_meter(attr);
  ruleFor(here, {}, [meter]);
  ruleFor(next, {}, [toQueue()]);
  return meter;
}

const colourOf = (wireLength = 64, time = 0n): number | undefined =>
  bench.device.receive(1, ipv4Frame(), { wireLength, time }).registers["C2"];

describe("a flow meter", () => {
  test.each([
    [2 ** 32 - 20, GREEN],
    [2 ** 32 - 19, RED],
    [2 ** 32 - 1, RED],
  ])("a frame of %d bytes and the gap behind it cost what they are together", (wireLength, expected) => {
    meterAll({ mode: 2, cbs: { mantissa: 2, exponent: 31 } });
    expect(colourOf(wireLength)).toBe(expected);
  });

  test.each([RED, YELLOW, GREEN])("starts with colour %d, active or not", async (start) => {
    meterAll({ start, cbs: { mantissa: 255, exponent: 8 }, ebs: { mantissa: 255, exponent: 8 } });
    expect(colourOf()).toBe(start);
    bench = await openBench();
    meterAll({ start }, 2, 0);
    expect(colourOf()).toBe(start);
  });

  test("is modified by the big-endian bits of its selection, EIR too", () => {
    const meter = meterAll({ ebs: { mantissa: 64, exponent: 0 } });
    expect([colourOf(), colourOf(), colourOf()]).toEqual([GREEN, YELLOW, RED]);
    const attr = { flow_meter_parameter: parameters({ eir: { mantissa: 1, exponent: 0 } }) };
    dv.mlx5dv_dr_action_modify_flow_meter(meter, attr, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 16));
    expect([colourOf(64, 64n), colourOf(64, 64n)]).toEqual([YELLOW, RED]);
  });

  test("has 0 for the parameters that do not count", () => {
    const [here, next] = [table(1), table(2)];
    ruleFor(bench.root, {}, [dv.mlx5dv_dr_action_create_dest_table(here)]);
    const flow_meter_parameter = parameters({ cbs: NOTHING, ebs: { mantissa: 64, exponent: 0 } });
    // All but the excess bucket: the committed one holds the 16384 bytes of a CBS of 0.
    const attr = { next_table: next, reg_c_index: 2, flow_meter_parameter, flow_meter_parameter_sz: 16 };
    ruleFor(here, {}, [dv.mlx5dv_dr_action_create_flow_meter(attr)]);
    ruleFor(next, {}, [toQueue()]);
    expect([colourOf(16384), colourOf(64)]).toEqual([GREEN, RED]);
  });
});

test("the second meter of an object has parameters of its own", () => {
  const invalid = parameters({ valid: false });
  const one = object("flow_meter", 0, Uint8Array.from([...invalid, ...parameters()]));
  const flags = dv.MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_GREEN;
  const meter = (offset: number, register: number): Action =>
    dv.mlx5dv_dr_action_create_aso(bench.domain, one, offset, flags, register);
  const entry = table(1);
  ruleFor(bench.root, {}, [dv.mlx5dv_dr_action_create_dest_table(entry)]);
  ruleFor(entry, {}, [meter(0, 1), meter(1, 3), toQueue()]);
  const registers = [1, 2].map(() => bench.device.receive(1, ipv4Frame()).registers);
  expect(registers).toEqual([
    { C1: GREEN, C3: GREEN },
    { C1: GREEN, C3: RED },
  ]);
  const data = one.read(0);
  expect([data.subarray(0, 12), data.subarray(32, 44)]).toEqual([
    invalid.subarray(0, 12),
    parameters().subarray(0, 12),
  ]);
});

test("registers that nothing but state goes to begin as 0", () => {
  const set = [{ type: "set", field: "METADATA_REG_C_1", data: 0xffffffff }] as const;
  const { MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL: flags } = dv;
  const modify = dv.mlx5dv_dr_action_create_modify_header(bench.domain, flags, undefined, [...set]);
  const before = ruleFor(bench.root, {}, [modify, toQueue()]);
  expect(bench.device.receive(1, ipv4Frame()).registers).toEqual({ C1: 0xffffffff });
  dv.mlx5dv_dr_rule_destroy(before);
  const action = dv.mlx5dv_dr_action_create_aso(bench.domain, object("first_hit"), 0, 1, 1);
  const entry = table(1);
  ruleFor(entry, {}, [action, toQueue()]);
  ruleFor(bench.root, {}, [dv.mlx5dv_dr_action_create_dest_table(entry)]);
  const registers = [1, 2].map(() => bench.device.receive(1, ipv4Frame()).registers);
  expect(registers).toEqual([{ C1: 0 }, { C1: 1 }]);
});

describe("a sampler", () => {
  const sampler = (own: Partial<dv.FlowSamplerAttr> = {}, level = 2): Action =>
    dv.mlx5dv_dr_action_create_flow_sampler({
      sample_ratio: 1,
      default_next_table: table(level),
      sample_actions: [toQueue()],
      ...own,
    });
  const set = (field: dv.ModifyFieldName, data = 7) => ({ type: "set", field, data }) as const;

  test.each([
    ["another register", [set("METADATA_REG_C_1")]],
    ["a field", [set("OUT_IP_TTL")]],
    ["two actions", [set("METADATA_REG_C_0"), set("METADATA_REG_C_0")]],
    ["an addition", [{ type: "add", field: "METADATA_REG_C_0", data: 7 } as const]],
  ])("refuses %s as what runs on every frame", (_, action) => {
    expect(refused(() => sampler({ action }))?.code).toBe("EOPNOTSUPP");
  });

  test("refuses two destinations, two tags, and what is of another domain", () => {
    const code = (...sample_actions: Action[]): string | undefined => refused(() => sampler({ sample_actions }))?.code;
    const tag = (): Action => dv.mlx5dv_dr_action_create_tag(1);
    expect(code(toQueue(), toQueue())).toBe("EINVAL");
    expect(code(tag(), tag(), toQueue())).toBe("EINVAL");
    const fdb = dv.mlx5dv_dr_domain_create(bench.context, dv.MLX5DV_DR_DOMAIN_TYPE_FDB);
    const other = dv.mlx5dv_dr_domain_create(bench.context, dv.MLX5DV_DR_DOMAIN_TYPE_FDB);
    const sample_actions = [dv.mlx5dv_dr_action_create_dest_vport(other, 0)];
    const default_next_table = dv.mlx5dv_dr_table_create(fdb, 2);
    expect(refused(() => sampler({ sample_actions, default_next_table }))?.code).toBe("EINVAL");
  });
});

test("leads on to tables of levels above, meters and samplers alike", () => {
  const [low, high, entry] = [table(1), table(3), table(2)];
  const attr = { reg_c_index: 2, flow_meter_parameter: parameters() };
  const sample = { sample_ratio: 1, sample_actions: [toQueue()] };
  for (const next of [low, table(2)]) {
    const meter = dv.mlx5dv_dr_action_create_flow_meter({ ...attr, next_table: next });
    const sampler = dv.mlx5dv_dr_action_create_flow_sampler({ ...sample, default_next_table: next });
    for (const action of [meter, sampler]) expect(refused(() => ruleFor(entry, {}, [action]))?.code).toBe("EINVAL");
  }
  ruleFor(entry, {}, [dv.mlx5dv_dr_action_create_flow_meter({ ...attr, next_table: high })]);
});

test("gives back all memory", () => {
  const next = table(2);
  const { memoryUsed } = bench.device;
  const action = [{ type: "set", field: "METADATA_REG_C_0", data: 1 }] as const;
  const destination = toQueue();
  const made = [
    dv.mlx5dv_dr_action_create_flow_meter({ next_table: next, reg_c_index: 1, flow_meter_parameter: parameters() }),
    dv.mlx5dv_dr_action_create_flow_sampler({
      sample_ratio: 2,
      default_next_table: next,
      sample_actions: [destination],
      action,
    }),
  ];
  expect(refused(() => dv.mlx5dv_dr_table_destroy(next))?.code).toBe("EBUSY");
  expect(refused(() => dv.mlx5dv_dr_action_destroy(destination))?.code).toBe("EBUSY");
  const objects = (["first_hit", "flow_meter", "connection"] as const).map((kind) => object(kind, 3));
  expect(bench.device.memoryUsed).toBeGreaterThan(memoryUsed);
  for (const one of made) dv.mlx5dv_dr_action_destroy(one);
  for (const one of objects) one.destroy();
  expect(bench.device.memoryUsed).toBe(memoryUsed);
});

test("a link holds its domain, and only the offset of a linked connection is modified", () => {
  const fdb = dv.mlx5dv_dr_domain_create(bench.context, dv.MLX5DV_DR_DOMAIN_TYPE_FDB);
  const { mlx5dv_dr_action_modify_aso: modify } = dv;
  const [INITIATOR, RESPONDER] = [1, 2];
  const one = object("connection", 1);
  const action = dv.mlx5dv_dr_action_create_aso(bench.domain, one, 0, INITIATOR, 1);
  modify(action, 0, RESPONDER, 3);
  dv.mlx5dv_dr_aso_other_domain_link(one, bench.domain, fdb, INITIATOR, 1);
  expect(refused(() => modify(action, 0, INITIATOR, 3))?.code).toBe("EOPNOTSUPP");
  expect(refused(() => modify(action, 0, RESPONDER, 1))?.code).toBe("EOPNOTSUPP");
  modify(action, 1, RESPONDER, 3);
  expect(refused(() => dv.mlx5dv_dr_domain_destroy(fdb))).toMatchObject({
    code: "EBUSY",
    hint: expect.stringContaining("links to ASO objects") as string,
  });
  dv.mlx5dv_dr_aso_other_domain_unlink(one, fdb);
  dv.mlx5dv_dr_action_destroy(action);
  dv.mlx5dv_devx_obj_destroy(one);
  const destroyed = { code: "EINVAL", reason: "object_destroyed", path: "devx_obj" };
  expect(refused(() => dv.mlx5dv_dr_aso_other_domain_link(one, bench.domain, fdb, 1, 1))).toMatchObject(destroyed);
  expect(refused(() => dv.mlx5dv_dr_aso_other_domain_unlink(one, fdb))).toMatchObject(destroyed);
  dv.mlx5dv_dr_domain_destroy(fdb);
});
