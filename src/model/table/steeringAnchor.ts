/**
 * Steering anchors (mlx5dv_create_steering_anchor(3)): destinations in the root tables to which
 * flow tables of a program can return frames. As with dest_root_table of direct rules, the frame
 * continues with the first rule of a priority.
 */
import { Op, ROOT_SIZE, ROOT_SLOT, ROOT_TABLE } from "../../abi/engine.js";
import { createRecord, releaseRecord } from "../../engine/records.js";
import { refuse } from "../../errors.js";
import { trappingSlot, type Classifier } from "./classifier.js";
import { Context } from "../base/context.js";
import type { FunctionBase } from "../base/deviceBase.js";
import type { DomainType } from "../base/domainType.js";
import { TablePipeline } from "./pipeline.js";
import { FLOW_TABLE_TYPES, type FlowTableType } from "./flowTableTypes.js";
import { checkObject, unsigned } from "../../base/checks.js";
import { Handle, living, retire } from "../base/handle.js";

/** `struct mlx5dv_steering_anchor_attr`; missing members are 0. */
export interface SteeringAnchorAttr {
  /** MLX5DV_FLOW_TABLE_TYPE_* */
  ft_type?: number | undefined;
  priority?: number | undefined;
  comp_mask?: number | bigint | undefined;
}

const PAGE = "mlx5dv_create_steering_anchor(3)";

/** The record of Op.root: a table, and the first rank of a priority. */
export function rootRecord({ table }: Classifier, priority: number): Uint8Array {
  const record = new DataView(new ArrayBuffer(ROOT_SIZE));
  record.setUint32(ROOT_TABLE, table, true);
  // The slot of rules that let a frame continue comes first.
  record.setUint32(ROOT_SLOT, trappingSlot(priority) - 1, true);
  return new Uint8Array(record.buffer);
}

/** The table behind all anchors of one priority. Flow tables name it by its number. */
export class AnchorTable extends Handle {
  readonly function: FunctionBase;
  readonly tableType: FlowTableType;
  readonly priority: number;
  /** A number among those of flow tables. */
  readonly id: number;
  readonly op = Op.root;
  /** The record in the core. */
  readonly operand: number;
  private readonly _bytes: number;
  /** How many anchors share it. */
  anchors = 0;

  /** @throws ENOMEM */
  constructor(of: FunctionBase, tableType: FlowTableType, priority: number) {
    const { device } = of;
    const pipeline = of.part(TablePipeline);
    super(device, `anchor ${tableType.name} ${priority}`);
    const record = rootRecord(pipeline.pin(tableType.stage), priority);
    const operand = createRecord(device.core, record);
    if (operand === 0) pipeline.unpin(tableType.stage);
    this.operand = device.allocated(operand);
    this._bytes = record.length;
    this.function = of;
    this.tableType = tableType;
    this.priority = priority;
    this.id = device.nextNumber("flow_table id") + 1;
  }

  /** The domain type of the tables that can lead here. */
  get domainType(): DomainType {
    return this.tableType.domainType;
  }

  release(): void {
    this.destroyed = true;
    releaseRecord(this.device.core, this.operand, this._bytes);
    this.function.part(TablePipeline).unpin(this.tableType.stage);
  }
}

/** The anchor tables of a function. */
export class AnchorTables {
  private readonly _function: FunctionBase;
  private readonly _byPlace = new Map<string, AnchorTable>();

  constructor(of: FunctionBase) {
    this._function = of;
  }

  /** The table with this number. */
  at(id: number): AnchorTable | undefined {
    return [...this._byPlace.values()].find((one) => one.id === id);
  }

  /** @internal The table of a place, for one more anchor. @throws ENOMEM */
  take(tableType: FlowTableType, priority: number): AnchorTable {
    const key = `${tableType.name} ${priority}`;
    const table = this._byPlace.get(key) ?? new AnchorTable(this._function, tableType, priority);
    this._byPlace.set(key, table);
    table.anchors++;
    return table;
  }

  /** @internal Releases the table of one anchor. */
  give(table: AnchorTable): void {
    if (--table.anchors > 0) return;
    this._byPlace.delete(`${table.tableType.name} ${table.priority}`);
    table.release();
  }
}

export class SteeringAnchor extends Handle {
  readonly context: Context;
  readonly table: AnchorTable;

  private constructor(context: Context, table: AnchorTable) {
    super(context.device, `steering_anchor${context.device.nextNumber("steering_anchor")}`);
    this.context = context;
    this.table = table;
    context.users++;
  }

  /** @internal @throws EOPNOTSUPP, EPERM, EINVAL, ENOMEM */
  static create(context: Context, attr: SteeringAnchorAttr): SteeringAnchor {
    const { device, function: owner, capNetRaw } = living("context", context, Context);
    checkObject("attr", attr);
    const comp_mask = unsigned("attr.comp_mask", attr.comp_mask ?? 0, 53);
    if (comp_mask !== 0) {
      const path = "attr.comp_mask";
      refuse({ code: "EOPNOTSUPP", reason: "unsupported", path, value: comp_mask, hint: "0", cite: PAGE });
    }
    if (!capNetRaw) {
      const hint = "it lacks CAP_NET_RAW";
      refuse({ code: "EPERM", reason: "not_permitted", path: "context", value: context, hint });
    }
    const ft_type = unsigned("attr.ft_type", attr.ft_type ?? 0, 32);
    const tableType = FLOW_TABLE_TYPES[ft_type];
    if (tableType === undefined) {
      const hint = `0 to ${FLOW_TABLE_TYPES.length - 1}`;
      return refuse({ code: "EINVAL", reason: "out_of_range", path: "attr.ft_type", value: ft_type, hint });
    }
    if (tableType.transport || (tableType.domainType === "fdb" && !owner.managesSwitch)) {
      const hint = tableType.transport ? "its tables are those of a port" : "the PF manages the eSwitch";
      const path = "attr.ft_type";
      refuse({ code: "EOPNOTSUPP", reason: "unsupported", path, value: ft_type, hint });
    }
    const priority = unsigned("attr.priority", attr.priority ?? 0, 16);
    const { lastPriority } = device.profile.flows;
    if (priority > lastPriority) {
      const hint = `0 to ${lastPriority}`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "attr.priority", value: priority, hint });
    }
    return new SteeringAnchor(context, owner.part(AnchorTables).take(tableType, priority));
  }

  /** The number that entries of flow tables use as their destination. */
  get id(): number {
    return this.table.id;
  }

  /** @internal @throws EBUSY the last anchor of a table to which entries lead */
  destroy(): void {
    const { table } = this;
    if (table.anchors === 1 && table.users > 0) {
      const hint = "destroy the entries that lead to it first";
      refuse({ code: "EBUSY", reason: "in_use", path: "sa", value: this, hint });
    }
    retire("sa", this, "");
    this.context.function.part(AnchorTables).give(table);
    this.context.users--;
  }
}
