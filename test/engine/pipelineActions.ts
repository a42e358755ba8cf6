/** Actions of the reference as objects of a device, made by the C-named functions in all the forms that these take. */
import * as dv from "../../src/mlx5dv/index.js";
import type { Action } from "../../src/model/action.js";
import type { FlowCounter } from "../../src/model/counter.js";
import type { Domain, Table } from "../../src/model/domain.js";
import type { QueuePair } from "../../src/model/queues.js";
import type { Random } from "../oracle/generate.js";
import { type Modify, modifyWord } from "../oracle/modifyFields.js";
import { type Destination, type Member, type PipelineAction } from "../oracle/pipeline.js";
import type { Reformat } from "../oracle/rewrite.js";

/** What actions name, and chance. */
export interface Makers {
  random: Random;
  /** By the names of their root tables. */
  domains: Map<string, Domain>;
  tables: Map<string, Table>;
  queues: Map<string, QueuePair>;
  counterOf: (name: string) => [bulk: FlowCounter, offset: number];
}

/** A list of actions; `made` are all that were made for it, in the order in which they can be destroyed. */
export interface MadeActions {
  list: Action[];
  made: Action[];
}

/** The actions of a rule in a table. */
export function makeActions(makers: Makers, table: string, wanted: readonly PipelineAction[]): MadeActions {
  const made: Action[] = [];
  const list = wanted.map((one) => {
    const action = make(makers, table, one, made);
    made.unshift(action);
    return action;
  });
  return { list, made };
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
      return dv.mlx5dv_dr_action_create_dest_ibv_qp(named(makers.queues, dest.qp));
    case "table":
      return dv.mlx5dv_dr_action_create_dest_table(named(makers.tables, dest.table));
    case "vport":
      return dv.mlx5dv_dr_action_create_dest_vport(domain, dest.vport);
    case "port":
      return dv.mlx5dv_dr_action_create_dest_ib_port(domain, dest.port);
  }
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
