/** A device with functions, domains of all types, and a table of each that all frames enter. */
import { createDevice, createSink, type Device, type DeviceOptions } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Context } from "../../../src/model/base/context.js";
import type { FlowCounter } from "../../../src/model/action/counter.js";
import type { Domain, Table } from "../../../src/model/table/domain.js";
import type { MatchFields } from "../../../src/model/match/match.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import type { Rule } from "../../../src/model/rule/rule.js";

/**
 * A domain, its root table, and a table after it that all frames enter once `enter` has been
 * called.
 */
export interface Place {
  readonly domain: Domain;
  readonly root: Table;
  readonly table: Table;
}

export interface SwitchBench {
  readonly device: Device;
  /** That of the PF. */
  readonly context: Context;
  /** Contexts of the VFs. */
  readonly functions: readonly Context[];
  /** A queue of each function, the PF first. */
  readonly queues: readonly QueuePair[];
  readonly rx: Place;
  readonly tx: Place;
  readonly fdb: Place;
}

const TYPES = {
  rx: dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX,
  tx: dv.MLX5DV_DR_DOMAIN_TYPE_NIC_TX,
  fdb: dv.MLX5DV_DR_DOMAIN_TYPE_FDB,
};
export const PLACES = ["rx", "tx", "fdb"] as const;
export type PlaceName = (typeof PLACES)[number];

export async function openSwitch(options: DeviceOptions = {}): Promise<SwitchBench> {
  const device = await createDevice({ vports: 2, ports: 2, ...options });
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const functions = [1, 2].map((vport) => dv.mlx5dv_open_device(device.function(vport)));
  const queues = [context, ...functions].map((of, vport) => createSink(of, `q${vport}`));
  const place = (name: PlaceName): Place => openPlace(context, TYPES[name]);
  return { device, context, functions, queues, rx: place("rx"), tx: place("tx"), fdb: place("fdb") };
}

export function openPlace(context: Context, type: number): Place {
  const domain = dv.mlx5dv_dr_domain_create(context, type);
  const table = dv.mlx5dv_dr_table_create(domain, 1);
  return { domain, table, root: dv.mlx5dv_dr_table_create(domain, 0) };
}

/** Frames of the root table continue in the table. */
export function enter({ root, table }: Place): Action {
  const action = dv.mlx5dv_dr_action_create_dest_table(table);
  ruleFor(root, {}, [action]);
  return action;
}

/** A rule with its own matcher. */
export function ruleFor(table: Table, match: MatchFields, actions: readonly Action[], priority = 0): Rule {
  const { match_criteria_enable, mask, value } = dv.matchParameters(match);
  const matcher = dv.mlx5dv_dr_matcher_create(table, priority, match_criteria_enable, mask);
  return dv.mlx5dv_dr_rule_create(matcher, value, undefined, actions);
}

/** A flow counter, created by its device command. */
export function openCounter(context: Context): FlowCounter {
  return dv.mlx5dv_devx_obj_create(context, dv.allocFlowCounterCommand(), undefined, new Uint8Array(16), undefined);
}

/** The value of a counter. */
export function counted(counter: FlowCounter): [packets: number, bytes: number] {
  const { packets, bytes } = counter.read();
  return [Number(packets), Number(bytes)];
}

/** The frame with tags after its MACs, the first one outermost. */
export function tagged(frame: Uint8Array, ...tags: number[]): Uint8Array {
  const made = new Uint8Array(frame.length + 4 * tags.length);
  made.set(frame.subarray(0, 12));
  for (const [i, tag] of tags.entries()) new DataView(made.buffer).setUint32(12 + 4 * i, tag);
  made.set(frame.subarray(12), 12 + 4 * tags.length);
  return made;
}

/** The tags of a frame, the outermost first. */
export function tagsOf(frame: Uint8Array): number[] {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  const tags: number[] = [];
  for (let at = 12; view.getUint16(at) === 0x8100 || view.getUint16(at) === 0x88a8; at += 4)
    tags.push(view.getUint32(at));
  return tags;
}

/** Ethernet, IPv4, UDP, VXLAN: the headers before an inner frame. */
export const VXLAN = Uint8Array.from([
  ...[2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 2, 8, 0],
  ...[0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 7, 192, 0, 2, 8],
  ...[0, 0, 0x12, 0xb5, 0, 0, 0, 0],
  ...[8, 0, 0, 0, 0, 0, 42, 0],
]);

/** The frame in VXLAN, with correct lengths. */
export function inVxlan(frame: Uint8Array): Uint8Array {
  const made = new Uint8Array(VXLAN.length + frame.length);
  made.set(VXLAN);
  made.set(frame, VXLAN.length);
  const view = new DataView(made.buffer);
  view.setUint16(16, made.length - 14);
  view.setUint16(38, made.length - 34);
  return made;
}
