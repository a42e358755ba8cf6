/** Meters, through the C names, against token buckets in exact arithmetic: every colour of every frame. */
import { expect, test } from "vitest";
import { createDevice, createSink, type Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { AsoObject } from "../../../src/model/action/asoObject.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Context } from "../../../src/model/base/context.js";
import type { Domain, Table } from "../../../src/model/table/domain.js";
import type { Matcher } from "../../../src/model/table/matcher.js";
import type { Rule } from "../../../src/model/rule/rule.js";
import { type GeneratedFrame, Random, randomFrame } from "../../oracle/generate/frame.js";
import { longLength, nextTime, randomMeter } from "../../oracle/generate/meter.js";
import {
  colour,
  costOf,
  GREEN,
  type Meter,
  modifyMeter,
  newMeter,
  parameterBytes,
  type Scaled,
  SELECT,
  UNDEFINED,
} from "../../oracle/act/meter.js";
import { seedFor } from "../support/core.js";
import { checkReached, rounds } from "../../support/tier.js";

const WORLDS = rounds(150);
const CALLS = 12;

/** What a rule of the chain does to the registers of a frame. */
type Step =
  { kind: "set"; register: number; data: number } | { kind: "meter"; register: number; meter: Meter; start: number };

interface FlowMeter {
  action: Action;
  meter: Meter;
  next: Table;
  register: number;
}

interface World {
  device: Device;
  /** What leads to its chain. */
  entry: Rule;
  /** In the order in which a frame meets them. */
  steps: Step[];
  /** Those that can be modified. */
  meters: FlowMeter[];
}

interface Bench {
  device: Device;
  context: Context;
  domain: Domain;
  root: Matcher;
  end: Action;
}

/** What the tests must have seen. */
const seen = new Map<string, number>();
const note = (name: string): void => void seen.set(name, (seen.get(name) ?? 0) + 1);

const START_FLAGS = [
  dv.MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_RED,
  dv.MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_YELLOW,
  dv.MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_GREEN,
  dv.MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_UNDEFINED,
];

async function openBench(now: () => bigint): Promise<Bench> {
  const device = await createDevice({ now, ports: 2 });
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const root = dv.mlx5dv_dr_matcher_create(dv.mlx5dv_dr_table_create(domain, 0), 0, 0, null);
  return { device, context, domain, root, end: dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, "end")) };
}

/** A chain of tables with a rule each: header changes, meters of objects, then a flow meter or a jump to the next table. */
function makeWorld(random: Random, { device, context, domain, root, end }: Bench): World {
  const length = random.between(1, 3);
  const tables = Array.from({ length: length + 1 }, (_, i) => dv.mlx5dv_dr_table_create(domain, i + 1));
  const entry = ruleOf(root, [dv.mlx5dv_dr_action_create_dest_table(tables[0] as Table)]);
  const world: World = { device, entry, steps: [], meters: [] };
  const objects = makeObjects(random, context, device.now());
  for (const [i, table] of tables.entries()) {
    const next = tables[i + 1];
    const actions = next ? [...makeSteps(random, world, domain, objects), makeEnd(random, world, next)] : [end];
    ruleOf(dv.mlx5dv_dr_matcher_create(table, 0, 0, null), actions);
  }
  return world;
}

const ruleOf = (matcher: Matcher, actions: Action[]): Rule =>
  dv.mlx5dv_dr_rule_create(matcher, null, undefined, actions);

interface Meters {
  object: AsoObject;
  meters: Meter[];
}

function makeObjects(random: Random, context: Context, time: bigint): Meters[] {
  return [0, random.between(0, 2)].map((log) => {
    const pair = [randomMeter(random), randomMeter(random)] as const;
    const data = Uint8Array.from(pair.flatMap((one) => [...parameterBytes(one)]));
    const meters = Array.from({ length: 2 << log }, (_, i) => newMeter(pair[(i % 2) as 0 | 1], time));
    return { object: AsoObject.create(context, "flow_meter", log, data), meters };
  });
}

/** The order of the list of meters is the order of their execution; header changes come first. */
function makeSteps(random: Random, { steps }: World, domain: Domain, objects: readonly Meters[]): Action[] {
  const actions: Action[] = [];
  if (random.chance(0.5)) {
    const register = random.pick([1, 3, 5]);
    const data = ((random.word() & 0xffffff00) | random.below(5)) >>> 0;
    const set = { type: "set", field: `METADATA_REG_C_${register}` as dv.ModifyFieldName, data } as const;
    actions.push(dv.mlx5dv_dr_action_create_modify_header(domain, 0, undefined, [set]));
    steps.push({ kind: "set", register, data });
  }
  for (let left = random.below(3); left > 0; left--) {
    const { object, meters } = random.pick(objects);
    const offset = random.below(meters.length);
    const [register, start] = [random.pick([1, 3, 5]), random.pick([0, 1, 2, 2, 2, 3, 3])];
    const flags = START_FLAGS[start] as number;
    actions.push(dv.mlx5dv_dr_action_create_aso(domain, object, offset, flags, register));
    steps.push({ kind: "meter", register, meter: meters[offset] as Meter, start });
  }
  return actions;
}

function makeEnd(random: Random, { device, steps, meters }: World, next: Table): Action {
  if (random.chance(0.3)) return dv.mlx5dv_dr_action_create_dest_table(next);
  const [register, active] = [random.pick([0, 1, 1, 3, 3, 7]), random.chance(0.9)];
  const meter = newMeter(randomMeter(random), device.now(), active);
  const flow_meter_parameter = parameterBytes(meter.parameters);
  const attr = { next_table: next, active, reg_c_index: register, flow_meter_parameter };
  const action = dv.mlx5dv_dr_action_create_flow_meter(attr);
  steps.push({ kind: "meter", register, meter, start: meter.parameters.start });
  meters.push({ action, meter, next, register });
  return action;
}

/** The registers of a frame that has passed the chain. */
function passed({ steps }: World, frame: GeneratedFrame, time: bigint): Record<string, number> {
  const registers: Record<string, number> = {};
  const cost = costOf({ ...frame, parser: {} });
  for (const step of steps) {
    const name = `C${step.register}`;
    const held = registers[name] ?? 0;
    if (step.kind === "set") {
      registers[name] = step.data;
      continue;
    }
    const { meter } = step;
    const before = step.start === UNDEFINED ? startOf(registers[name]) : step.start;
    const result = colour(meter, before, time, cost);
    registers[name] = (held - (held & 0xff) + result) >>> 0;
    note(`start ${step.start}`);
    if (meter.active) note(`mode ${meter.parameters.mode}: ${COLOURS[result] as string}`);
    else note("no metering");
  }
  return registers;
}

/** The colour that an earlier rule has left, where there is one. */
function startOf(register: number | undefined): number {
  if (register === undefined || (register & 0xff) > GREEN) return GREEN;
  note("aware of an earlier colour");
  return register & 0xff;
}

const COLOURS = ["red", "yellow", "green"];

function modify(random: Random, { action, meter, next, register }: FlowMeter): void {
  const [select, active, to] = [BigInt(random.below(32)), random.chance(0.8), randomMeter(random)];
  const attr = { next_table: next, active, reg_c_index: register, flow_meter_parameter: parameterBytes(to) };
  const word = new Uint8Array(8);
  new DataView(word.buffer).setBigUint64(0, select);
  dv.mlx5dv_dr_action_modify_flow_meter(action, attr, random.chance(0.5) ? select : word);
  modifyMeter(meter, select, active, to);
  for (const [name, bit] of Object.entries(SELECT)) if (select & bit) note(`modified ${name}`);
}

const EVERYTHING = [
  ...[0, 1, 2, 3].flatMap((mode) => COLOURS.map((name) => `mode ${mode}: ${name}`)),
  ...[0, 1, 2, 3].map((start) => `start ${start}`),
  ...Object.keys(SELECT).map((name) => `modified ${name}`),
  ...["no metering", "aware of an earlier colour", "time back", "time of the device"],
];

test("meters colour as token buckets in exact arithmetic do", async () => {
  const seed = seedFor("meters");
  let now = 0n;
  let bench = await openBench(() => now);
  for (let n = 0; n < WORLDS; n++) {
    const random = new Random(seed + n);
    const start = random.chance(0.1) ? 0n : random.bits(random.between(1, 50));
    // The clock of a device does not go back.
    if (start < now) bench = await openBench(() => now);
    now = start;
    const world = makeWorld(random, bench);
    for (let call = 0; call < CALLS; call++) {
      const next = receive(random, world, now, `seed ${seed}, world ${n}, call ${call}`);
      if (next > now) now = next;
      const [meter] = random.shuffle(world.meters);
      if (meter && random.chance(0.4)) modify(random, meter);
    }
    dv.mlx5dv_dr_rule_destroy(world.entry);
  }
  console.log(`meters: ${EVERYTHING.map((name) => `${name} ${seen.get(name) ?? 0}`).join(", ")}`);
  checkReached(() => expect(EVERYTHING.filter((name) => !seen.has(name))).toEqual([]));
});

/** Frames of one call, each with a time of its own or all with the device's; the latter time behind them. */
function receive(random: Random, world: World, now: bigint, name: string): bigint {
  const rates: Scaled[] = world.steps.flatMap((step) =>
    step.kind === "meter" ? [step.meter.parameters.cir, step.meter.parameters.eir] : [],
  );
  const few = Array.from({ length: 3 }, () => ({ ...randomFrame(random), port: 1 }));
  if (random.chance(0.2)) few.push({ ...(few[0] as GeneratedFrame), wireLength: longLength(random) });
  const own = random.chance(0.8);
  if (!own) note("time of the device");
  let time = now;
  const frames = Array.from({ length: random.between(1, 20) }, () => {
    const before = time;
    if (own) time = nextTime(random, time, rates);
    if (time < before) note("time back");
    return { ...random.pick(few), ...(own ? { time } : {}) };
  });
  const bytes = frames.map((frame) => frame.bytes);
  const got = world.device.receiveBatch(1, bytes, frames).map(({ verdict, registers }) => ({ verdict, registers }));
  const expected = frames.map((frame) => {
    return { verdict: "deliver", registers: passed(world, frame, frame.time ?? now) };
  });
  expect(got, `${name}, times ${frames.map((frame) => frame.time ?? now).join()}`).toEqual(expected);
  return random.chance(0.3) ? nextTime(random, time, rates) : time;
}
