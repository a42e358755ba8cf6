/** Actions of the reference as objects of a device, made by the C-named functions in all the forms that these take. */
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { FlowCounter } from "../../../src/model/action/counter.js";
import type { Tir } from "../../../src/model/queuePair/tir.js";
import type { Domain, Table } from "../../../src/model/table/domain.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import type { Random } from "../../oracle/generate/frame.js";
import { type Modify, modifyWord } from "../../oracle/act/modifyFields.js";
import { type Meter, parameterBytes } from "../../oracle/act/meter.js";
import {
  type Destination,
  type Member,
  type Pipeline,
  type PipelineAction,
  type Sampler,
} from "../../oracle/walk/pipeline.js";
import type { Reformat } from "../../oracle/act/rewrite.js";
import { makeAso, ownState, type StateObjects } from "./pipelineStateActions.js";

/** What actions name, and chance. */
export interface Makers {
  random: Random;
  /** By the names of their root tables. */
  domains: Map<string, Domain>;
  tables: Map<string, Table>;
  queues: Map<string, QueuePair>;
  /** TIRs that lead to the queues, by their names. */
  tirs: Map<string, Tir>;
  counterOf: (name: string) => [bulk: FlowCounter, offset: number];
  /** What remembers; null where rules do not. */
  memory: StateObjects | null;
  world: Pipeline;
}

/** A list of actions; `made` are all that were made for it, in the order in which they can be destroyed. */
export interface MadeActions {
  list: Action[];
  made: Action[];
  /** The same in the reference's terms. */
  wanted: PipelineAction[];
}

/** The actions of a rule in a table, or of several: then no link between domains is used, for each rule needs it alone. */
export function makeActions(
  makers: Makers,
  table: string,
  drawn: readonly PipelineAction[],
  several = false,
): MadeActions {
  const { random, memory, world } = makers;
  const link = several ? null : (memory?.link ?? null);
  const made: Action[] = [];
  const wanted = drawn.map((one) => ownState(random, world.state, table.replace(/\/.*/, ""), link, one));
  const list = wanted.map((one) => {
    const action = make(makers, table, one, made);
    made.unshift(action);
    return action;
  });
  return { list, made, wanted };
}

function make(makers: Makers, table: string, one: PipelineAction, made: Action[]): Action {
  const { random } = makers;
  const root = table.replace(/\/.*/, "");
  const domain = named(makers.domains, root);
  const flags = table === root ? dv.MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL : 0;
  switch (one.kind) {
    case "drop":
      return dv.mlx5dv_dr_action_create_drop();
    case "tag":
      return dv.mlx5dv_dr_action_create_tag(one.value);
    case "modify": {
      const size = random.chance(0.5) ? undefined : 8 * one.list.length;
      return dv.mlx5dv_dr_action_create_modify_header(domain, flags, size, modifyForm(random, one.list));
    }
    case "popVlan":
      return dv.mlx5dv_dr_action_create_pop_vlan();
    case "pushVlan":
      return dv.mlx5dv_dr_action_create_push_vlan(domain, one.header);
    case "reformat":
      return makeReformat(makers, domain, flags, one.reformat);
    case "rootTable":
      return dv.mlx5dv_dr_action_create_dest_root_table(named(makers.tables, root), one.priority);
    case "array": {
      const dests = one.members.map((member) => makeMember(makers, domain, member, made));
      return dv.mlx5dv_dr_action_create_dest_array(domain, dests.length, dests);
    }
    case "firstHit":
    case "meter":
    case "track":
      return makeAso(makers.memory as StateObjects, random, makers.domains, root, one);
    case "flowMeter": {
      const { active, parameters } = makers.world.state.meters.get(one.meter) as Meter;
      const action = dv.mlx5dv_dr_action_create_flow_meter({
        next_table: named(makers.tables, one.table),
        reg_c_index: one.register,
        active,
        flow_meter_parameter: parameterBytes(parameters),
      });
      makers.memory?.flowMeters.set(action, one.meter);
      return action;
    }
    case "sampler":
      return makeSampler(makers, domain, one, made);
    case "host":
      throw new Error("of host rules alone");
    default:
      return makeDestination(makers, domain, one);
  }
}

function makeDestination(
  makers: Makers,
  domain: Domain,
  dest: Destination | { kind: "counter"; counter: string },
): Action {
  switch (dest.kind) {
    case "defaultMiss":
      return dv.mlx5dv_dr_action_create_default_miss();
    case "counter":
      return dv.mlx5dv_dr_action_create_flow_counter(...makers.counterOf(dest.counter));
    case "qp":
      if (makers.random.chance(0.25)) return dv.mlx5dv_dr_action_create_dest_devx_tir(named(makers.tirs, dest.qp));
      return dv.mlx5dv_dr_action_create_dest_ibv_qp(named(makers.queues, dest.qp));
    case "table":
      return dv.mlx5dv_dr_action_create_dest_table(named(makers.tables, dest.table));
    case "vport":
      return dv.mlx5dv_dr_action_create_dest_vport(domain, dest.vport);
    case "port":
      return dv.mlx5dv_dr_action_create_dest_ib_port(domain, dest.port);
  }
}

/** In any order: the device has its own. */
function makeSampler(makers: Makers, domain: Domain, one: Sampler, made: Action[]): Action {
  const { tag, counter, dest } = one.sample;
  const sample_actions = makers.random.shuffle([
    ...(tag === undefined ? [] : [dv.mlx5dv_dr_action_create_tag(tag)]),
    ...(counter === undefined ? [] : [makeDestination(makers, domain, { kind: "counter", counter })]),
    makeDestination(makers, domain, dest),
  ]);
  made.unshift(...sample_actions);
  const default_next_table = named(makers.tables, one.table);
  const action = one.set ? modifyWord(one.set) : undefined;
  return dv.mlx5dv_dr_action_create_flow_sampler({
    sample_ratio: one.ratio,
    default_next_table,
    sample_actions,
    action,
  });
}

/** Members live as long as the array: they are destroyed behind it. */
function makeMember(makers: Makers, domain: Domain, member: Member, made: Action[]): dv.DrActionDestAttr {
  const dest = makeDestination(makers, domain, member.dest);
  made.unshift(dest);
  if (!member.reformat) return { type: dv.MLX5DV_DR_ACTION_DEST, dest };
  const reformat = makeReformat(makers, domain, 0, member.reformat);
  made.unshift(reformat);
  return { type: dv.MLX5DV_DR_ACTION_DEST_REFORMAT, dest_reformat: { reformat, dest } };
}

function makeReformat({ random }: Makers, domain: Domain, flags: number, { type, data }: Reformat): Action {
  const size = random.chance(0.5) ? data.length : undefined;
  const bytes = data.length === 0 ? null : data;
  return dv.mlx5dv_dr_action_create_packet_reformat(domain, flags, type, bytes === null ? 0 : size, bytes);
}

/** Objects, 64-bit words, or bytes. */
function modifyForm(
  random: Random,
  list: readonly Modify[],
): Parameters<typeof dv.mlx5dv_dr_action_create_modify_header>[3] {
  const form = random.below(4);
  if (form === 0) return list.map(modifyWord);
  if (form === 1) return list;
  if (form === 2) return dv.modifyActions(list);
  const bytes = new Uint8Array(8 * list.length);
  const view = new DataView(bytes.buffer);
  for (const [i, action] of list.entries()) view.setBigUint64(8 * i, modifyWord(action));
  return bytes;
}

function named<T>(map: ReadonlyMap<string, T>, name: string): T {
  const found = map.get(name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}
