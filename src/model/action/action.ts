/**
 * Actions (mlx5dv_dr(3): Actions): their kinds, and the objects that each holds until it is
 * destroyed. domainActions.ts creates those that belong to a domain; list.ts checks and orders the
 * list of a rule.
 */
import { Op } from "../../abi/engine.js";
import { IBV_QPT_RAW_PACKET } from "../../abi/verbs.js";
import { releaseRecord } from "../../engine/records.js";
import { refuse } from "../../errors.js";
import { isVlanTpid, VLAN_TPIDS } from "../../packet/vlan.js";
import { FlowCounter } from "./counter.js";
import type { DeviceBase } from "../base/deviceBase.js";
import type { FunctionBase } from "../base/deviceBase.js";
import { devxObject, type DevxObject } from "../base/devxObject.js";
import { Table, type Domain } from "../table/domain.js";
import { unsigned } from "../../base/checks.js";
import { Handle, living, retire } from "../base/handle.js";
import { settle } from "../table/pendingRules.js";
import { QueuePair } from "../queuePair/queuePair.js";
import { Tir } from "../queuePair/tir.js";

export type ActionKind =
  | "drop"
  | "default_miss"
  | "tag"
  | "dest_ibv_qp"
  | "dest_devx_tir"
  | "dest_table"
  | "dest_root_table"
  | "dest_vport"
  | "dest_ib_port"
  | "dest_array"
  | "packet_reformat"
  | "modify_header"
  | "flow_counter"
  | "pop_vlan"
  | "push_vlan"
  | "flow_meter"
  | "flow_sampler"
  | "aso_first_hit"
  | "aso_flow_meter"
  | "aso_ct";

/** The step of an action in the execution order; `end` ends the list. */
export type ActionStep =
  "decap" | "tag" | "pop" | "first_hit" | "modify" | "push" | "meter" | "track" | "count" | "encap" | "end";

/** Tags have 24 bits, as in a completion. */
const TAG_MASK = 0xffffff;

/** The parts of an action. */
export interface ActionParts {
  readonly step: ActionStep;
  readonly op: Op;
  readonly operand?: number;
  /** The domain whose rules may use it; any where undefined. */
  readonly domain?: Domain;
  /** The function whose rules may use it; any where undefined. */
  readonly function?: FunctionBase;
  /** Whether it is for root tables (true) or other tables (false); both where undefined. */
  readonly rootLevel?: boolean;
  /** The type of a packet reformat. */
  readonly reformatType?: number;
  /** Objects that it needs: they cannot be destroyed before it. */
  readonly holds?: readonly Handle<DeviceBase | null>[];
  /**
   * The level of its next table: the table of a rule with it has a lower level. Any where
   * undefined.
   */
  readonly levelBelow?: number;
  /** Records of the core that it owns. */
  readonly records?: readonly OwnRecord[];
  /** The words of header changes, as the device takes them. */
  readonly words?: Uint8Array;
}

/** A record of the core (src/engine/records.ts). */
export interface OwnRecord {
  readonly address: number;
  readonly bytes: number;
}

const NOTHING: readonly Handle[] = Object.freeze([]);
const NO_RECORDS: readonly OwnRecord[] = Object.freeze([]);

export class Action extends Handle<DeviceBase | null> {
  readonly kind: ActionKind;
  readonly step: ActionStep;
  readonly op: Op;
  readonly operand: number;
  readonly domain: Domain | null;
  readonly function: FunctionBase | null;
  readonly rootLevel: boolean | null;
  readonly reformatType: number | null;
  /** Objects that it needs, in the order in which the caller named them. */
  readonly holds: readonly Handle<DeviceBase | null>[];
  /** The level of its next table; null for none. */
  readonly levelBelow: number | null;
  /** The words of header changes, as the device takes them; null for other kinds. */
  readonly words: Uint8Array | null;
  private readonly _records: readonly OwnRecord[];

  /** @internal */
  constructor(device: DeviceBase | null, kind: ActionKind, parts: ActionParts) {
    const holds = parts.holds ?? NOTHING;
    super(device, holds.length === 0 ? kind : `${kind} (${holds.map(({ name }) => name).join(", ")})`);
    this.kind = kind;
    this.step = parts.step;
    this.op = parts.op;
    this.operand = parts.operand ?? 0;
    this.domain = parts.domain ?? null;
    this.function = parts.function ?? null;
    this.rootLevel = parts.rootLevel ?? null;
    this.reformatType = parts.reformatType ?? null;
    this.holds = holds;
    this.levelBelow = parts.levelBelow ?? null;
    this.words = parts.words ?? null;
    this._records = parts.records ?? NO_RECORDS;
    for (const one of holds) one.users++;
  }

  static drop(): Action {
    return new Action(null, "drop", { step: "end", op: Op.drop });
  }

  static defaultMiss(): Action {
    return new Action(null, "default_miss", { step: "end", op: Op.default_miss });
  }

  /** SPEC: bits above the 24th are dropped, as the library does. */
  static tag(value: number): Action {
    const operand = unsigned("tag_value", value, 32) & TAG_MASK;
    return new Action(null, "tag", { step: "tag", op: Op.tag, operand });
  }

  static toQueue(queue: QueuePair): Action {
    living("ibqp", queue, QueuePair);
    if (queue.qp_type !== IBV_QPT_RAW_PACKET) {
      const hint = "a queue pair of type IBV_QPT_RAW_PACKET";
      refuse({ code: "EINVAL", reason: "bad_object", path: "ibqp", value: queue, hint });
    }
    const parts = { step: "end", ...queue.target, holds: [queue] } as const;
    return new Action(queue.device, "dest_ibv_qp", { ...parts, function: queue.context.function });
  }

  static toTir(object: DevxObject): Action {
    const tir = devxObject("devx_obj", object, Tir);
    const parts = { step: "end", ...tir.target, holds: [tir] } as const;
    return new Action(tir.device, "dest_devx_tir", { ...parts, function: tir.context.function });
  }

  static toTable(table: Table): Action {
    living("table", table, Table);
    if (table.isRoot) {
      const hint = "a destination table has a level higher than zero";
      const cite = "mlx5dv_dr: Destination";
      refuse({ code: "EINVAL", reason: "root_table", path: "table", value: table, hint, cite });
    }
    const { device, domain, classifier } = table;
    const parts = { step: "end", op: Op.table, operand: classifier.table, domain, holds: [table] } as const;
    return new Action(device, "dest_table", parts);
  }

  static count(object: DevxObject, offset: number): Action {
    const counter = devxObject("devx_obj", object, FlowCounter);
    if (unsigned("offset", offset, 32) >= counter.size) {
      const hint = `the bulk has ${counter.size}`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "offset", value: offset, hint });
    }
    const parts = { step: "count", op: Op.count, operand: counter.addressOf(offset), holds: [counter] } as const;
    return new Action(counter.device, "flow_counter", parts);
  }

  static popVlan(): Action {
    return new Action(null, "pop_vlan", { step: "pop", op: Op.pop_vlan });
  }

  /** `vlan_hdr` is the TPID and the TCI. SPEC: rules of any domain of the device may use it. */
  static pushVlan(device: DeviceBase, vlan_hdr: number): Action {
    const operand = unsigned("vlan_hdr", vlan_hdr, 32);
    if (!isVlanTpid(operand >>> 16)) {
      const hint = `the TPID in the upper half is ${VLAN_TPIDS}`;
      const value = `0x${operand.toString(16).padStart(8, "0")}`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "vlan_hdr", value, hint });
    }
    return new Action(device, "push_vlan", { step: "push", op: Op.push_vlan, operand });
  }

  /**
   * Operations and operands, alternating, for a new rule of a domain; null where the action has
   * only its own pair.
   */
  record(_domain: Domain): readonly number[] | null {
    return null;
  }

  /** Whether it ends the action list of a rule. */
  get isTerminal(): boolean {
    return this.step === "end";
  }

  /** Whether it encapsulates frames of tables that are not root, as a member of an array may. */
  get encapsulates(): boolean {
    return this.step === "encap" && this.rootLevel === false;
  }

  destroy(): void {
    settle(this);
    retire("action", this, "destroy the rules and arrays that use it first");
    for (const { address, bytes } of this._records) releaseRecord((this.device as DeviceBase).core, address, bytes);
    for (const one of this.holds) one.users--;
  }
}
