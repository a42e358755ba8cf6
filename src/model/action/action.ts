/**
 * Actions (mlx5dv_dr: Actions): what each does, and what it holds until it is destroyed. Those that are made in a domain
 * stand in domainActions.ts, lists of them in list.ts.
 */
import { Op } from "../../abi/engine.js";
import { IBV_QPT_RAW_PACKET } from "../../abi/verbs.js";
import { releaseRecord } from "../../engine/records.js";
import { refuse } from "../../errors.js";
import { isVlanTpid, VLAN_TPIDS } from "../../packet/vlan.js";
import { FlowCounter } from "./counter.js";
import type { DeviceBase } from "../base/deviceBase.js";
import type { FunctionBase } from "../base/deviceBase.js";
import { devxObject } from "../devx/object.js";
import { Table, type Domain } from "../table/domain.js";
import { unsigned } from "../../checks.js";
import { Handle, living, retire } from "../base/handle.js";
import { settle } from "../table/pendingRules.js";
import { QueuePair } from "../queue/queuePair.js";
import { Tir } from "../queue/tir.js";

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

/** Where an action stands in the order of execution: `end` ends the list. */
export type ActionStep =
  "decap" | "tag" | "pop" | "first_hit" | "modify" | "push" | "meter" | "track" | "count" | "encap" | "end";

/** Tags have 24 bits: they are what a completion can carry. */
const TAG_MASK = 0xffffff;

/** What an action is made of. */
export interface ActionParts {
  readonly step: ActionStep;
  readonly op: Op;
  readonly operand?: number;
  /** The domain whose rules can have it; all when left out. */
  readonly domain?: Domain;
  /** The function whose rules can have it; all when left out. */
  readonly function?: FunctionBase;
  /** Whether it is for root tables or for the others; for all when left out. */
  readonly rootLevel?: boolean;
  /** Of a packet reformat. */
  readonly reformatType?: number;
  /** What it leads to, counts on or is made of, which cannot be destroyed before. */
  readonly holds?: readonly Handle<DeviceBase | null>[];
  /** The level that the table of a rule with it is below; any when left out. */
  readonly levelBelow?: number;
  /** What of the core is its own. */
  readonly records?: readonly OwnRecord[];
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
  /** What it leads to, counts on or is made of, in the order in which it was named. */
  readonly holds: readonly Handle<DeviceBase | null>[];
  /** The level that the table of a rule with it is below; null for any. */
  readonly levelBelow: number | null;
  readonly #records: readonly OwnRecord[];

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
    this.#records = parts.records ?? NO_RECORDS;
    for (const one of holds) one.users++;
  }

  static drop(): Action {
    return new Action(null, "drop", { step: "end", op: Op.drop });
  }

  static defaultMiss(): Action {
    return new Action(null, "default_miss", { step: "end", op: Op.default_miss });
  }

  /** SPEC: bits above 24 are dropped, as the library does. */
  static tag(call: string, value: number): Action {
    const operand = unsigned(call, "tag_value", value, 32) & TAG_MASK;
    return new Action(null, "tag", { step: "tag", op: Op.tag, operand });
  }

  static toQueue(call: string, queue: QueuePair): Action {
    living(call, "ibqp", queue, QueuePair);
    if (queue.qp_type !== IBV_QPT_RAW_PACKET) {
      const hint = "a queue pair of type IBV_QPT_RAW_PACKET";
      refuse({ code: "EINVAL", call, reason: "bad_object", path: "ibqp", value: queue, hint });
    }
    const parts = { step: "end", ...queue.target, holds: [queue] } as const;
    return new Action(queue.device, "dest_ibv_qp", { ...parts, function: queue.context.function });
  }

  static toTir(call: string, tir: Tir): Action {
    devxObject(call, "devx_obj", tir, Tir);
    const parts = { step: "end", ...tir.target, holds: [tir] } as const;
    return new Action(tir.device, "dest_devx_tir", { ...parts, function: tir.context.function });
  }

  static toTable(call: string, table: Table): Action {
    living(call, "table", table, Table);
    if (table.isRoot) {
      const hint = "a destination table has a level higher than zero";
      const cite = "mlx5dv_dr: Destination";
      refuse({ code: "EINVAL", call, reason: "root_table", path: "table", value: table, hint, cite });
    }
    const { device, domain, classifier } = table;
    const parts = { step: "end", op: Op.table, operand: classifier.table, domain, holds: [table] } as const;
    return new Action(device, "dest_table", parts);
  }

  static count(call: string, counter: FlowCounter, offset: number): Action {
    devxObject(call, "devx_obj", counter, FlowCounter);
    if (unsigned(call, "offset", offset, 32) >= counter.size) {
      const hint = `the bulk has ${counter.size}`;
      refuse({ code: "EINVAL", call, reason: "out_of_range", path: "offset", value: offset, hint });
    }
    const parts = { step: "count", op: Op.count, operand: counter.addressOf(offset), holds: [counter] } as const;
    return new Action(counter.device, "flow_counter", parts);
  }

  static popVlan(): Action {
    return new Action(null, "pop_vlan", { step: "pop", op: Op.pop_vlan });
  }

  /** `vlan_hdr` is the TPID and the TCI. SPEC: it stands in rules of any domain of the device. */
  static pushVlan(call: string, device: DeviceBase, vlan_hdr: number): Action {
    const operand = unsigned(call, "vlan_hdr", vlan_hdr, 32);
    if (!isVlanTpid(operand >>> 16)) {
      const hint = `the TPID in the upper half is ${VLAN_TPIDS}`;
      const value = `0x${operand.toString(16).padStart(8, "0")}`;
      refuse({ code: "EINVAL", call, reason: "out_of_range", path: "vlan_hdr", value, hint });
    }
    return new Action(device, "push_vlan", { step: "push", op: Op.push_vlan, operand });
  }

  /** Operation and operand in turn, for a new rule of a domain; null where they are just its own. */
  record(_domain: Domain): readonly number[] | null {
    return null;
  }

  /** Whether it ends the list of a rule. */
  get isTerminal(): boolean {
    return this.step === "end";
  }

  /** Whether it puts headers in front of a frame, in a table that is not root: what a member of an array can do. */
  get encapsulates(): boolean {
    return this.step === "encap" && this.rootLevel === false;
  }

  destroy(call: string): void {
    settle(call, this);
    retire(call, "action", this, "destroy the rules and arrays that use it first");
    for (const { address, bytes } of this.#records) releaseRecord((this.device as DeviceBase).core, address, bytes);
    for (const one of this.holds) one.users--;
  }
}
