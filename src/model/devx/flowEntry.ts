/** Entries of flow tables (docs/devx.md). Each is a rule of the core; rules rank by index. */
import { inCall } from "../../errors.js";
import { DEVICE_KEY_SIZE, EXT_DIRECTION } from "../../abi/key.js";
import { insertRule } from "../../engine/rules.js";
import type { Action } from "../action/action.js";
import type { Hits } from "../base/hitCounts.js";
import type { Context } from "../base/context.js";
import { retire } from "../base/handle.js";
import { enabledGroups } from "../match/match.js";
import { recordsOf } from "../rule/rule.js";
import { takeSampleValue } from "../match/samples.js";
import { directionsOf } from "../table/directions.js";
import type { Command } from "./command.js";
import { entryActions } from "./entryActions.js";
import { tableOf, type DevxFlowGroup, type DevxFlowTable } from "./flowTable.js";
import { FLOW_CONTEXT, FLOW_CONTEXT_AT, MATCH_SIZE, MATCH_VALUE_AT, OUTPUT, SET_FLOW_TABLE_ENTRY } from "./layouts.js";
import { DevxObject } from "../base/devxObject.js";

const SET = 0;
const MODIFY = 1;
/**
 * `modify_enable_mask`: action, tag, destinations, counters. MODEL: a change replaces all of them.
 */
const MODIFY_ALL = 0xf;
const NO_RANGES = [] as const;

export class DevxFlowEntry extends DevxObject {
  /** An entry has no number: its table and index name it. */
  readonly numberedAs = null;
  readonly context: Context;
  /** The number in outcomes. It is reused after the entry is destroyed. */
  readonly id: number;
  readonly index: number;
  readonly table: DevxFlowTable;
  readonly group: DevxFlowGroup;
  /** A whole key, presence included. */
  readonly value: Uint8Array;
  private _actions: readonly Action[] = [];
  private _rules: readonly number[] = [];

  /** @throws ENOMEM */
  constructor(
    { context }: Command,
    table: DevxFlowTable,
    group: DevxFlowGroup,
    index: number,
    value: Uint8Array,
    actions: readonly Action[],
  ) {
    super(context.device, `${table.name}[${index}]`);
    this.context = context;
    this.id = context.device.installed.nextId;
    this.index = index;
    this.table = table;
    this.group = group;
    this.value = value;
    this.replace(actions);
    context.device.installed.add(this);
    table.entries.set(index, this);
    group.users++;
    context.users++;
    this.device.observer?.ruleAdded(this);
  }

  /** @internal Its actions; it owns them. */
  get actions(): readonly Action[] {
    return this._actions;
  }

  /**
   * Packets and bytes that hit the entry, from the moment that they are counted (docs/metrics.md).
   * @throws SteeringError EINVAL: they are not counted
   */
  hits(): Hits {
    return inCall("flowEntry.hits", () => this.device.hitsOf([this]));
  }

  /** Replaces the actions. @throws ENOMEM the entry keeps its old actions */
  replace(actions: readonly Action[]): void {
    const { exports } = this.device.core;
    const rules = this._insert(actions);
    for (const rule of this._rules) exports.removeRule(rule);
    this._release();
    this._rules = rules;
    this._actions = actions;
  }

  destroy(): void {
    retire("obj", this, "");
    for (const rule of this._rules) this.device.core.exports.removeRule(rule);
    this._release();
    this.device.installed.remove(this);
    this.table.entries.delete(this.index);
    this.group.users--;
    this.context.users--;
    this.device.observer?.ruleRemoved(this);
  }

  private _release(): void {
    for (const action of this._actions) action.destroy();
  }

  /** Inserts one rule, or one for each direction of the eSwitch where they differ. */
  private _insert(actions: readonly Action[]): number[] {
    const { device, table, group, value } = this;
    const { classifier, place, setting } = table;
    const { record, other } = recordsOf(directionsOf(setting.type.domainType, group.mask, value), null, actions);
    const rank = { rankHigh: classifier.rankHigh(place), rankLow: classifier.rankLow(place, this.index) };
    const records: [direction: number, record: readonly number[]][] =
      other === null
        ? [[0, record]]
        : [
            [other.keys[0], record],
            [other.keys[1], other.record],
          ];
    const rules: number[] = [];
    try {
      for (const [direction, operations] of records) {
        const [mask, key] = direction === 0 ? [group.mask, value] : [group.mask.slice(), value.slice()];
        if (direction !== 0) [mask[EXT_DIRECTION], key[EXT_DIRECTION]] = [0xff, direction];
        const rule = { id: this.id, ...rank, mask, value: key, ranges: NO_RANGES, actions: operations };
        rules.push(device.allocated(insertRule(device.core, classifier.table, rule)));
      }
    } catch (error) {
      for (const rule of rules) device.core.exports.removeRule(rule);
      throw error;
    }
    return rules;
  }
}

export function setFlowTableEntry(command: Command): DevxFlowEntry {
  const { op_mod, table_type, table_id, flow_index } = command.read(SET_FLOW_TABLE_ENTRY);
  if (op_mod !== SET)
    command.fail("bad_value", "op_mod", op_mod, "0 makes an entry; mlx5dv_devx_obj_modify changes one");
  checkVport(command);
  const table = tableOf(command, table_type, table_id);
  const { group_id } = command.read(FLOW_CONTEXT, FLOW_CONTEXT_AT);
  const group = command.object<DevxFlowGroup>("flow_group", "group_id", group_id);
  if (group.table !== table) command.fail("other_object", "group_id", group_id, `it is of ${group.table.name}`);
  if (flow_index < group.first || flow_index > group.last) {
    command.fail("outside_group", "flow_index", flow_index, `${group.first} to ${group.last}`);
  }
  if (table.entries.has(flow_index)) command.fail("overlap", "flow_index", flow_index, "destroy that entry first");
  const value = valueOf(command, group);
  const actions = entryActions(command, table);
  const made = command.carry(() =>
    orRelease(actions, () => new DevxFlowEntry(command, table, group, flow_index, value, actions)),
  );
  command.succeed(OUTPUT);
  return made;
}

/** The entry that a change names. */
export function namedEntry(command: Command): DevxFlowEntry {
  const { table_type, table_id, flow_index } = command.read(SET_FLOW_TABLE_ENTRY);
  const table = tableOf(command, table_type, table_id);
  const found = table.entries.get(flow_index);
  return found instanceof DevxFlowEntry ? found : command.fail("unknown_object", "flow_index", flow_index);
}

/** Gives the entry the actions of the new context. Its match stays. */
export function modifyFlowTableEntry(command: Command, entry: DevxFlowEntry): void {
  const { op_mod, modify_enable_mask } = command.read(SET_FLOW_TABLE_ENTRY);
  if (op_mod !== MODIFY) command.fail("bad_value", "op_mod", op_mod, "1 changes an entry");
  checkVport(command);
  if (modify_enable_mask !== MODIFY_ALL) {
    command.fail("unsupported", "modify_enable_mask", modify_enable_mask, `${MODIFY_ALL}: all that it does`);
  }
  const actions = entryActions(command, entry.table);
  command.carry(() => orRelease(actions, () => entry.replace(actions)));
  command.succeed(OUTPUT);
}

function checkVport(command: Command): void {
  const { other_vport } = command.read(SET_FLOW_TABLE_ENTRY);
  if (other_vport !== 0) command.fail("unsupported", "other_vport", other_vport);
}

/** The result of `make` owns the actions; where `make` refuses, they are destroyed. */
function orRelease<T>(actions: readonly Action[], make: () => T): T {
  try {
    return make();
  } catch (error) {
    for (const action of actions) action.destroy();
    throw error;
  }
}

/** The key of an entry, cut to the mask of its group. */
function valueOf(command: Command, { criteria, mask, samples }: DevxFlowGroup): Uint8Array {
  const value = enabledGroups(criteria, command.bytes(FLOW_CONTEXT_AT + MATCH_VALUE_AT, MATCH_SIZE));
  command.carry(() => takeSampleValue(value, samples));
  const outside = value.findIndex((bits, at) => at < DEVICE_KEY_SIZE && (bits & ~(mask[at] ?? 0)) !== 0);
  if (outside >= 0) command.fail("value_outside_mask", `match_value byte ${outside}`, value[outside]);
  value.set(mask.subarray(DEVICE_KEY_SIZE), DEVICE_KEY_SIZE);
  return value;
}
