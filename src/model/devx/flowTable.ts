/**
 * Flow tables and flow groups of device commands (docs/devx.md). A table is a classifier. A group
 * is a range of indexes with one mask. Entries (flowEntry.ts) rank by index.
 */
import { FLOW_TABLE_MISS_LIMIT } from "../../abi/engine.js";
import { Classifier, trappingSlot, type Place } from "../table/classifier.js";
import type { Context } from "../base/context.js";
import { retire } from "../base/handle.js";
import { completeMask, enabledGroups } from "../match/match.js";
import type { SamplePlaces } from "../match/samples.js";
import type { Command } from "./command.js";
import {
  CREATE_FLOW_GROUP,
  CREATE_FLOW_TABLE,
  FLOW_TABLE_CONTEXT,
  FLOW_TABLE_CONTEXT_AT,
  MATCH_CRITERIA_AT,
  MATCH_SIZE,
  OUTPUT_24,
  QUERY_FLOW_TABLE,
} from "./layouts.js";
import { DevxObject } from "../base/devxObject.js";
import { TablePipeline } from "../table/pipeline.js";
import { coreFlags, tableTypeOf, type DeviceTableType } from "./tableTypes.js";

/** The most entries of a table, as a power of two: the capability reports it. */
export const LOG_MAX_TABLE_SIZE = 24;
/** Where unmatched frames go: to the default of the domain, or to the miss table. */
const MISS_DEFAULT = 0;
const MISS_TABLE = 1;
const CRITERIA_BITS = 7;

interface TableSetting {
  readonly type: DeviceTableType;
  readonly level: number;
  readonly logSize: number;
  readonly reformats: boolean;
  readonly decapsulates: boolean;
  readonly missTable: DevxFlowTable | null;
}

export class DevxFlowTable extends DevxObject {
  readonly numberedAs = "flow_table";
  readonly context: Context;
  readonly id: number;
  readonly setting: TableSetting;
  readonly classifier: Classifier;
  /** The place of all its entries: their ranks differ in the index only. */
  readonly place: Place = { slot: trappingSlot(0), order: 0 };
  readonly groups = new Set<DevxFlowGroup>();
  readonly entries = new Map<number, DevxObject>();
  /** The length of its chain of miss tables. */
  readonly behind: number;

  /** @throws ENOMEM */
  constructor(context: Context, setting: TableSetting) {
    const { device } = context;
    const { exports } = device.core;
    const { type, missTable } = setting;
    const table = device.allocated(exports.createTable(coreFlags(type, missTable !== null)));
    super(device, `flow_table${device.nextNumber("flow_table")}`);
    this.context = context;
    this.id = device.nextNumber("flow_table id") + 1;
    this.setting = setting;
    this.behind = missTable === null ? 0 : missTable.behind + 1;
    this.classifier = new Classifier(device, table, false);
    this.classifier.add(this.place);
    if (missTable !== null) {
      exports.setMiss(table, missTable.classifier.table);
      missTable.users++;
    } else if (type.stage !== null) context.function.part(TablePipeline).addBeside(type.stage, table);
    device.tables.set(table, { domain: type.domainType, vport: context.function.vport, object: this, stage: null });
    context.users++;
  }

  destroy(): void {
    retire("obj", this, "destroy its groups, and what leads to it, first");
    this.device.tables.delete(this.classifier.table);
    this.device.hitCounts?.forget(this.classifier.table);
    const { missTable, type } = this.setting;
    if (missTable !== null) missTable.users--;
    else if (type.stage !== null) {
      this.context.function.part(TablePipeline).removeBeside(type.stage, this.classifier.table);
    }
    this.device.core.exports.destroyTable(this.classifier.table);
    this.context.users--;
  }
}

export class DevxFlowGroup extends DevxObject {
  readonly numberedAs = "flow_group";
  readonly context: Context;
  readonly id: number;
  readonly table: DevxFlowTable;
  readonly first: number;
  readonly last: number;
  readonly criteria: number;
  /** A whole mask, presence included. */
  readonly mask: Uint8Array;
  readonly samples: SamplePlaces | null;

  constructor(
    { context }: Command,
    table: DevxFlowTable,
    range: readonly [first: number, last: number],
    criteria: number,
    mask: Uint8Array,
  ) {
    const { device } = context;
    const whole = enabledGroups(criteria, mask);
    const samples = completeMask(whole, [0, 0], "EINVAL");
    device.parser.check(whole);
    super(device, `flow_group${device.nextNumber("flow_group")}`);
    this.context = context;
    this.id = device.nextNumber("flow_group id") + 1;
    this.table = table;
    [this.first, this.last] = range;
    this.criteria = criteria;
    this.mask = whole;
    this.samples = samples;
    table.groups.add(this);
    table.users++;
    context.users++;
  }

  destroy(): void {
    retire("obj", this, "destroy its entries first");
    this.table.groups.delete(this);
    this.table.users--;
    this.context.users--;
  }
}

/** The table that a command names. The command repeats its type. */
export function tableOf(command: Command, type: number, id: number): DevxFlowTable {
  const table = command.object<DevxFlowTable>("flow_table", "table_id", id);
  const { number } = table.setting.type;
  if (number === type) return table;
  return command.fail("other_table", "table_type", type, `${table.name} is of type ${number}`);
}

export function createFlowTable(command: Command): DevxFlowTable {
  const { other_vport, table_type } = command.read(CREATE_FLOW_TABLE);
  const table = command.read(FLOW_TABLE_CONTEXT, FLOW_TABLE_CONTEXT_AT);
  if (other_vport !== 0) command.fail("unsupported", "other_vport", other_vport);
  const type = tableTypeOf(command, table_type);
  if (table.sw_owner !== 0) command.fail("unsupported", "sw_owner", table.sw_owner);
  if (table.termination_table !== 0) command.fail("unsupported", "termination_table", table.termination_table);
  if (table.lag_master_next_table_id !== 0) {
    command.fail("unsupported", "lag_master_next_table_id", table.lag_master_next_table_id);
  }
  if (table.log_size > LOG_MAX_TABLE_SIZE) {
    command.fail("bad_value", "log_size", table.log_size, `0 to ${LOG_MAX_TABLE_SIZE}`);
  }
  const setting = {
    type,
    level: table.level,
    logSize: table.log_size,
    reformats: table.reformat_en !== 0,
    decapsulates: table.decap_en !== 0,
    missTable: missTableOf(command, table_type, table),
  };
  const made = command.carry(() => new DevxFlowTable(command.context, setting));
  command.succeed(OUTPUT_24, { id: made.id });
  return made;
}

function missTableOf(
  command: Command,
  type: number,
  { table_miss_action, table_miss_id }: { table_miss_action: number; table_miss_id: number },
): DevxFlowTable | null {
  if (table_miss_action === MISS_DEFAULT) return null;
  if (table_miss_action !== MISS_TABLE) return command.fail("unsupported", "table_miss_action", table_miss_action);
  const table = command.object<DevxFlowTable>("flow_table", "table_miss_id", table_miss_id);
  if (table.setting.type.number !== type) command.fail("other_table", "table_miss_id", table_miss_id);
  if (table.behind < FLOW_TABLE_MISS_LIMIT) return table;
  const hint = `at most ${FLOW_TABLE_MISS_LIMIT} tables in a row`;
  return command.fail("bad_value", "table_miss_id", table_miss_id, hint);
}

/** The table that a query names. */
export function queriedTable(command: Command): DevxFlowTable {
  const { table_type, table_id } = command.read(QUERY_FLOW_TABLE);
  return tableOf(command, table_type, table_id);
}

export function queryFlowTable(command: Command, { setting }: DevxFlowTable): void {
  command.expect(QUERY_FLOW_TABLE.size, FLOW_TABLE_CONTEXT_AT + FLOW_TABLE_CONTEXT.size);
  const values = {
    reformat_en: Number(setting.reformats),
    decap_en: Number(setting.decapsulates),
    table_miss_action: setting.missTable === null ? MISS_DEFAULT : MISS_TABLE,
    level: setting.level,
    log_size: setting.logSize,
    table_miss_id: setting.missTable?.id ?? 0,
  };
  command.succeed(FLOW_TABLE_CONTEXT, values, FLOW_TABLE_CONTEXT_AT);
}

export function createFlowGroup(command: Command): DevxFlowGroup {
  const asked = command.read(CREATE_FLOW_GROUP);
  const { other_vport, table_type, table_id, match_criteria_enable: criteria } = asked;
  if (other_vport !== 0) command.fail("unsupported", "other_vport", other_vport);
  const table = tableOf(command, table_type, table_id);
  const [first, last] = [asked.start_flow_index, asked.end_flow_index];
  if (first > last) command.fail("bad_value", "end_flow_index", last, `start_flow_index is ${first}`);
  if (last >= 2 ** table.setting.logSize) command.fail("outside_table", "end_flow_index", last);
  for (const other of table.groups) {
    if (first <= other.last && last >= other.first) {
      command.fail("overlap", "start_flow_index", first, `${other.name} has ${other.first} to ${other.last}`);
    }
  }
  if (criteria >= 1 << CRITERIA_BITS) command.fail("unsupported", "match_criteria_enable", criteria);
  const mask = command.bytes(MATCH_CRITERIA_AT, MATCH_SIZE);
  const made = command.carry(() => new DevxFlowGroup(command, table, [first, last], criteria, mask));
  command.succeed(OUTPUT_24, { id: made.id });
  return made;
}
