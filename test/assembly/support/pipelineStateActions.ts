/** Actions that remember, of the reference, as objects of a device; and what changes them later. */
import { expect } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import { AsoAction, FlowMeterAction } from "../../../src/model/action/asoActions.js";
import { AsoObject, type AsoKind } from "../../../src/model/action/asoObject.js";
import { connectionBytes, connectionFromBytes } from "../../../src/model/action/connection.js";
import type { Context } from "../../../src/model/base/context.js";
import type { Domain } from "../../../src/model/table/domain.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import { count } from "../../verbs/support/flowWorld.js";
import type { Random } from "../../oracle/generate/random.js";
import { randomMeter } from "../../oracle/generate/meter.js";
import { CONNECTIONS, FLAGS, METERS, REGISTERS } from "../../oracle/generate/state.js";
import { type Meter, modifyMeter, parameterBytes, SELECT } from "../../oracle/act/meter.js";
import type { PipelineAction } from "../../oracle/walk/pipeline.js";
import type { PipelineState, StateStep } from "../../oracle/walk/pipelineState.js";

/** Connections of one domain, which another one uses too: one rule an offset at a time. */
export interface Link {
  home: string;
  peer: string;
  original: boolean;
  register: number;
  /** Offsets that rules of the peer use. */
  used: Set<number>;
}

/** What there is that remembers. */
export interface StateObjects {
  objects: Map<AsoKind, AsoObject>;
  link: Link;
  /** Flow meters that can be modified, and their names in the reference. */
  flowMeters: Map<Action, string>;
}

/** Objects with the state of the reference, and a link between two domains. */
export function makeStateObjects(
  random: Random,
  context: Context,
  domains: ReadonlyMap<string, Domain>,
  state: PipelineState,
): StateObjects {
  const make = (kind: AsoKind, log: number): AsoObject => AsoObject.create(context, kind, log, new Uint8Array(64));
  const flags = make("first_hit", 0);
  const meters = make("flow_meter", Math.log2(METERS / 2));
  const connections = make("connection", Math.log2(CONNECTIONS));
  const bits = new Uint8Array(64);
  for (const [n, flag] of state.flags.entries()) if (flag) bits[n >> 3]! |= 0x80 >> (n & 7);
  flags.write(0, bits);
  for (let n = 0; n < METERS; n += 2) {
    const pair = [n, n + 1].map((one) => parameterBytes((state.meters.get(`aso${one}`) as Meter).parameters));
    meters.write(n >> 1, Uint8Array.from(pair.flatMap((one) => [...one])));
  }
  for (const [n, { context: one }] of state.connections.entries()) {
    connections.write(n, connectionBytes("connection", one));
  }
  const [home, peer] = random.shuffle([...domains.keys()]) as [string, string];
  const link = { home, peer, original: random.chance(0.5), register: random.pick(REGISTERS), used: new Set<number>() };
  const direction = link.original ? ORIGINAL : REPLY;
  const [one, other] = [home, peer].map((name) => domains.get(name) as Domain) as [Domain, Domain];
  dv.mlx5dv_dr_aso_other_domain_link(connections, one, other, direction, link.register);
  const objects = new Map([flags, meters, connections].map((object) => [object.kind, object]));
  return { objects, link, flowMeters: new Map() };
}

const ORIGINAL = dv.MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_INITIATOR;
const REPLY = dv.MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_RESPONDER;

/** What a drawn action has of its own once it is made: a sampler its number, a flow meter its buckets, a connection its link. */
export function ownState(
  random: Random,
  state: PipelineState,
  domain: string,
  link: Link | null,
  action: PipelineAction,
): PipelineAction {
  switch (action.kind) {
    case "sampler":
      return { ...action, number: state.samplers++ };
    case "flowMeter": {
      const meter = `own${state.meters.size}`;
      state.meters.set(meter, structuredClone(state.meters.get(action.meter) as Meter));
      return { ...action, meter };
    }
    case "track": {
      if (link?.peer !== domain || random.chance(0.2)) return action;
      return { ...action, original: link.original, register: link.register, linked: true };
    }
    default:
      return action;
  }
}

/** Made as it is, or as another one that is modified then. */
export function makeAso(
  { objects, link }: StateObjects,
  random: Random,
  domains: ReadonlyMap<string, Domain>,
  domain: string,
  step: StateStep,
): Action {
  const linked = step.kind === "track" && step.linked === true;
  const home = domains.get(linked ? link.home : domain) as Domain;
  // A link has flags and a register of its own.
  const told = linked ? { ...step, original: random.chance(0.5), register: random.pick(REGISTERS) } : step;
  const [kind, offset, flags] = choiceOf(told);
  const object = objects.get(kind) as AsoObject;
  const at = random.chance(0.5) ? offset : random.below(object.size);
  const action = dv.mlx5dv_dr_action_create_aso(home, object, at, flags, told.register);
  if (at !== offset) dv.mlx5dv_dr_action_modify_aso(action, offset, flags, told.register);
  return action;
}

function choiceOf(step: StateStep): [kind: AsoKind, offset: number, flags: number] {
  switch (step.kind) {
    case "firstHit":
      return ["first_hit", step.flag, step.set ? dv.MLX5DV_DR_ACTION_FLAGS_ASO_FIRST_HIT_SET : 0];
    case "meter":
      return ["flow_meter", Number(step.meter.slice("aso".length)), 1 << step.start];
    case "track":
      return ["connection", step.connection, step.original ? ORIGINAL : REPLY];
  }
}

/** Rules that are there keep what their actions were. */
export function modifyAso(random: Random, tally: Map<string, number>, list: readonly Action[]): void {
  for (const action of list) {
    if (!(action instanceof AsoAction) || random.chance(0.5)) continue;
    const register = random.pick(REGISTERS);
    const modify = (offset: number, flags: number): unknown =>
      dv.mlx5dv_dr_action_modify_aso(action, offset, flags, register);
    switch (action.object.kind) {
      case "first_hit":
        modify(random.below(FLAGS), random.below(2));
        break;
      case "flow_meter":
        modify(random.below(METERS), 1 << random.below(4));
        break;
      case "connection": {
        // Of objects that are linked only the offset; one of the two directions is another one.
        const codes = [ORIGINAL, REPLY].map((flags) => refused(() => modify(random.below(CONNECTIONS), flags))?.code);
        expect(codes).toContain("EOPNOTSUPP");
      }
    }
    count(tally, "modified an ASO action");
  }
}

/** Meters that rules use get other parameters. */
export function modifyFlowMeters(
  random: Random,
  tally: Map<string, number>,
  { flowMeters }: StateObjects,
  { meters }: PipelineState,
): void {
  for (const [action, name] of flowMeters) {
    if (action.destroyed) flowMeters.delete(action);
    if (action.destroyed || random.chance(0.6) || !(action instanceof FlowMeterAction)) continue;
    const [select, active, to] = [BigInt(random.below(32)), random.chance(0.8), randomMeter(random)];
    dv.mlx5dv_dr_action_modify_flow_meter(action, { active, flow_meter_parameter: parameterBytes(to) }, select);
    modifyMeter(meters.get(name) as Meter, select, active, to);
    for (const [what, bit] of Object.entries(SELECT)) if (select & bit) count(tally, `modified ${what}`);
  }
}

/** What objects remember is what the reference does. */
export function compareState({ objects }: StateObjects, state: PipelineState): void {
  const dataOf = (kind: AsoKind, n: number): Uint8Array => (objects.get(kind) as AsoObject).read(n);
  const flags = dataOf("first_hit", 0);
  expect(state.flags.map((_, n) => ((flags[n >> 3]! >> (7 - (n & 7))) & 1) === 1)).toEqual(state.flags);
  for (const [n, { context }] of state.connections.entries()) {
    expect(connectionFromBytes("connection", dataOf("connection", n))).toEqual(context);
  }
  for (let n = 0; n < METERS; n++) {
    const data = dataOf("flow_meter", n >> 1);
    const view = new DataView(data.buffer, data.byteOffset + 32 * (n & 1), 32);
    const { committed, excess, time } = state.meters.get(`aso${n}`) as Meter;
    const tokens = [committed, excess].map(({ held }) => Number(held >> 31n)).map((one) => Math.min(one, 0xffffffff));
    expect([view.getUint32(12), view.getUint32(20), view.getBigUint64(24)]).toEqual([...tokens, time]);
  }
}
