/** Creates the flow tables, groups and entries of a scenario by device commands. */
import { allocModifyHeaderCommand, allocPacketReformatCommand } from "../../mlx5dv/devx/commands.js";
import {
  createFlowGroupCommand,
  createFlowTableCommand,
  FS_FT_FDB,
  FS_FT_NIC_RX,
  FS_FT_NIC_TX,
  FS_FT_RDMA_RX,
  FS_FT_RDMA_TRANSPORT_RX,
  FS_FT_RDMA_TRANSPORT_TX,
  FS_FT_RDMA_TX,
  MLX5_FLOW_CONTEXT_ACTION_ALLOW,
  MLX5_FLOW_CONTEXT_ACTION_COUNT,
  MLX5_FLOW_CONTEXT_ACTION_DECAP,
  MLX5_FLOW_CONTEXT_ACTION_DROP,
  MLX5_FLOW_CONTEXT_ACTION_FWD_DEST,
  MLX5_FLOW_CONTEXT_ACTION_MOD_HDR,
  MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT,
  MLX5_FLOW_CONTEXT_ACTION_VLAN_POP,
  MLX5_FLOW_CONTEXT_ACTION_VLAN_POP_2,
  MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH,
  MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH_2,
  MLX5_FLOW_DESTINATION_TYPE_FLOW_TABLE,
  MLX5_FLOW_DESTINATION_TYPE_TIR,
  MLX5_FLOW_DESTINATION_TYPE_UPLINK,
  MLX5_FLOW_DESTINATION_TYPE_VPORT,
  setFlowTableEntryCommand,
  type EntryDestination,
  type FlowEntryFields,
} from "../../mlx5dv/devx/tableCommands.js";
import { refuse } from "../../errors.js";
import type { Context } from "../../model/base/context.js";
import type { FlowCounter } from "../../model/action/counter.js";
import type { DevxFlowEntry } from "../../model/devx/flowEntry.js";
import type { DevxFlowGroup, DevxFlowTable } from "../../model/devx/flowTable.js";
import { modifyActions } from "../../model/action/modifyActions.js";
import type { SteeringAnchor } from "../../model/table/steeringAnchor.js";
import type { Tir } from "../../model/queuePair/tir.js";
import type { ScenarioHeaderChange } from "../action/changes.js";
import type { ScenarioReformat } from "../action/destinations.js";
import { reformatPlace, vlanHeader } from "../action/load.js";
import { madeBy } from "./deviceCommands.js";
import type {
  ScenarioFlowEntryAction,
  ScenarioFlowEntryActionObject,
  ScenarioFlowEntry,
  ScenarioFlowGroup,
  ScenarioFlowTable,
  ScenarioFlowTableType,
} from "./definition.js";
import { checkFits, deviceMask, deviceMatch, type MaskBytes } from "./match.js";
import { reformatOf } from "../action/headerBytes.js";
import { headerChanges } from "../action/headerChanges.js";
import { at, type PlaceOf } from "../place.js";
import { below } from "../schema/path.js";

const TYPES: Readonly<Record<ScenarioFlowTableType, number>> = {
  nic_rx: FS_FT_NIC_RX,
  nic_tx: FS_FT_NIC_TX,
  fdb: FS_FT_FDB,
  rdma_rx: FS_FT_RDMA_RX,
  rdma_tx: FS_FT_RDMA_TX,
  rdma_transport_rx: FS_FT_RDMA_TRANSPORT_RX,
  rdma_transport_tx: FS_FT_RDMA_TRANSPORT_TX,
};
/** Reformat types of the device, by their names in documents; l2_tunnel_to_l2 is DECAP. */
const REFORMATS: Readonly<Partial<Record<ScenarioReformat["type"], number>>> = {
  l2_to_l2_tunnel: 2,
  l3_tunnel_to_l2: 3,
  l2_to_l3_tunnel: 4,
};
const GO_ON_IN_TABLE = 1;

interface LoadedGroup {
  readonly group: DevxFlowGroup;
  readonly mask: MaskBytes;
}

/** A loaded flow table and its groups. */
export interface LoadedFlowTable {
  readonly table: DevxFlowTable;
  readonly groups: readonly LoadedGroup[];
}

/** Objects that entries lead to and count on, by name. */
export interface EntryTargets {
  readonly counter: (name: string) => FlowCounter;
  readonly tir: (name: string) => Tir;
  readonly table: (name: string) => LoadedFlowTable;
  readonly anchor: (name: string) => SteeringAnchor;
}

export function loadFlowTable(
  path: string,
  context: Context,
  written: ScenarioFlowTable,
  miss: LoadedFlowTable | null,
): LoadedFlowTable {
  const { name, table_type = "nic_rx", level, log_size, reformat_en, decap_en } = written;
  const missing = miss === null ? {} : { table_miss_action: GO_ON_IN_TABLE, table_miss_id: miss.table.id };
  const fields = { level, log_size, reformat_en, decap_en, ...missing };
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const command = createFlowTableCommand(TYPES[table_type], given);
  const place: PlaceOf = (inner) => (inner === "table_miss_id" ? ".table_miss" : `.${inner}`);
  const table = at(path, () => madeBy<DevxFlowTable>(context, command, name), place);
  const groups = written.groups.map((group, i) => loadGroup(below(`${path}.groups`, i), table, group, i));
  return { table, groups };
}

function loadGroup(path: string, table: DevxFlowTable, written: ScenarioFlowGroup, i: number): LoadedGroup {
  const { start_flow_index, end_flow_index, mask: fields = {} } = written;
  const mask = deviceMask(`${path}.mask`, fields);
  const command = createFlowGroupCommand({
    table_type: table.setting.type.number,
    table_id: table.id,
    start_flow_index,
    end_flow_index,
    match_criteria_enable: mask.criteria,
    match_criteria: mask.bytes,
  });
  const name = `${table.name} group ${i + 1}`;
  const place: PlaceOf = (inner) => (inner.endsWith("_flow_index") ? `.${inner}` : ".mask");
  return { group: at(path, () => madeBy<DevxFlowGroup>(table.context, command, name), place), mask };
}

export function loadFlowEntry(path: string, written: ScenarioFlowEntry, targets: EntryTargets): DevxFlowEntry {
  const { name, flow_index, match = {}, ignore_flow_level = false } = written;
  const { table, groups } = targets.table(written.table);
  const found = groups.find(({ group }) => flow_index >= group.first && flow_index <= group.last);
  if (found === undefined) {
    const hint = `no group of ${table.name} has it`;
    refuse({ code: "EINVAL", reason: "out_of_range", path: `${path}.flow_index`, value: flow_index, hint });
  }
  const value = deviceMatch(`${path}.match`, match);
  checkFits(`${path}.match`, value, found.mask);
  const writer = new EntryWriter(table, targets);
  written.actions.forEach((action, i) => writer.add(below(`${path}.actions`, i), action));
  const command = setFlowTableEntryCommand({
    table_type: table.setting.type.number,
    table_id: table.id,
    flow_index,
    ignore_flow_level,
    group_id: found.group.id,
    match_value: value.value.match_buf,
    ...writer.fields(),
  });
  return at(
    path,
    () => madeBy<DevxFlowEntry>(table.context, command, name),
    (inner) => (inner === "flow_index" ? ".flow_index" : inner === "match_value" ? ".match" : ".actions"),
  );
}

const BITS: Readonly<Record<Exclude<ScenarioFlowEntryAction, object>, number>> = {
  allow: MLX5_FLOW_CONTEXT_ACTION_ALLOW,
  drop: MLX5_FLOW_CONTEXT_ACTION_DROP,
  decap: MLX5_FLOW_CONTEXT_ACTION_DECAP,
  pop_vlan: MLX5_FLOW_CONTEXT_ACTION_VLAN_POP,
};

/** The flow context of an entry, action by action. */
class EntryWriter {
  readonly #table: DevxFlowTable;
  readonly #targets: EntryTargets;
  readonly #destinations: EntryDestination[] = [];
  readonly #counters: number[] = [];
  #fields: Partial<FlowEntryFields> = {};
  #action = 0;

  constructor(table: DevxFlowTable, targets: EntryTargets) {
    this.#table = table;
    this.#targets = targets;
  }

  fields(): Pick<FlowEntryFields, "action"> & Partial<FlowEntryFields> {
    const [destinations, flow_counter_ids] = [this.#destinations, this.#counters];
    return { ...this.#fields, action: this.#action, destinations, flow_counter_ids };
  }

  add(path: string, action: ScenarioFlowEntryAction): void {
    if (typeof action === "string") {
      const second = action === "pop_vlan" && (this.#action & BITS.pop_vlan) !== 0;
      this.#once(path, action, second ? MLX5_FLOW_CONTEXT_ACTION_VLAN_POP_2 : BITS[action]);
      return;
    }
    const { tag, count, offset = 0, modify, reformat, push_vlan } = action;
    if (tag !== undefined) {
      if (this.#fields.flow_tag !== undefined) this.#repeated(path, "tag");
      this.#fields.flow_tag = tag;
    } else if (count !== undefined) this.#count(path, count, offset);
    else if (modify !== undefined) {
      this.#once(path, "modify", MLX5_FLOW_CONTEXT_ACTION_MOD_HDR);
      this.#fields.modify_header_id = this.#modify(path, modify);
    } else if (reformat !== undefined) {
      this.#once(path, "reformat", MLX5_FLOW_CONTEXT_ACTION_PACKET_REFORMAT);
      this.#fields.packet_reformat_id = this.#reformat(`${path}.reformat`, reformat);
    } else if (push_vlan !== undefined) this.#push(path, vlanHeader(push_vlan));
    else this.#destination(path, action);
  }

  /** Sets a bit that the entry does not have yet. */
  #once(path: string, what: string, bit: number): void {
    if ((this.#action & bit) !== 0) this.#repeated(path, what);
    this.#action |= bit;
  }

  #repeated(path: string, value: string): never {
    return refuse({ code: "EINVAL", reason: "action_repeated", path, value });
  }

  #count(path: string, name: string, offset: number): void {
    const counter = this.#targets.counter(name);
    if (offset >= counter.size) {
      const hint = `the bulk has ${counter.size}`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: `${path}.offset`, value: offset, hint });
    }
    this.#counters.push(counter.id + offset);
    this.#action |= MLX5_FLOW_CONTEXT_ACTION_COUNT;
  }

  #modify(path: string, changes: readonly ScenarioHeaderChange[]): number {
    const { context, setting, name } = this.#table;
    const { actions, placeOf } = headerChanges(`${path}.modify`, changes);
    const place: PlaceOf = (inner) => `.modify${placeOf(inner)}`;
    const make = (): { id: number } => {
      const words = new Uint8Array(8 * actions.length);
      const view = new DataView(words.buffer);
      actions.forEach((one, i) => {
        if (typeof one === "bigint") view.setBigUint64(8 * i, one);
        else words.set(modifyActions([one]), 8 * i);
      });
      return madeBy(context, allocModifyHeaderCommand(setting.type.number, words), `changes of ${name}`);
    };
    return at(path, make, place).id;
  }

  #reformat(path: string, written: ScenarioReformat): number {
    const { context, name } = this.#table;
    const type = REFORMATS[written.type];
    if (type === undefined) {
      const hint = 'an entry has the action "decap" for it';
      refuse({ code: "EINVAL", reason: "bad_scenario", path: `${path}.type`, value: written.type, hint });
    }
    const { data } = reformatOf(path, written);
    const command = allocPacketReformatCommand(type, data ?? new Uint8Array());
    const place: PlaceOf = (inner) => reformatPlace(inner, written.headers !== undefined);
    return at(path, () => madeBy(context, command, `reformat of ${name}`), place).id;
  }

  /** The second tag is outermost. */
  #push(path: string, tag: number): void {
    const second = (this.#action & MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH) !== 0;
    this.#once(path, "push_vlan", second ? MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH_2 : MLX5_FLOW_CONTEXT_ACTION_VLAN_PUSH);
    this.#fields[second ? "push_vlan_2" : "push_vlan"] = tag;
  }

  #destination(path: string, action: ScenarioFlowEntryActionObject): void {
    const { packet_reformat } = action;
    const id =
      packet_reformat === undefined
        ? {}
        : { packet_reformat_id: this.#reformat(`${path}.packet_reformat`, packet_reformat) };
    this.#destinations.push({ ...this.#target(action), ...id });
    this.#action |= MLX5_FLOW_CONTEXT_ACTION_FWD_DEST;
  }

  #target({ tir, table, anchor, vport = 0 }: ScenarioFlowEntryActionObject): EntryDestination {
    const to = (destination_type: number, destination_id: number): EntryDestination => ({
      destination_type,
      destination_id,
    });
    if (tir !== undefined) return to(MLX5_FLOW_DESTINATION_TYPE_TIR, this.#targets.tir(tir).id);
    if (table !== undefined) return to(MLX5_FLOW_DESTINATION_TYPE_FLOW_TABLE, this.#targets.table(table).table.id);
    if (anchor !== undefined) return to(MLX5_FLOW_DESTINATION_TYPE_FLOW_TABLE, this.#targets.anchor(anchor).id);
    return vport === "uplink" ? to(MLX5_FLOW_DESTINATION_TYPE_UPLINK, 0) : to(MLX5_FLOW_DESTINATION_TYPE_VPORT, vport);
  }
}
